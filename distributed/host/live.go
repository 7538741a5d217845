package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/distributed/records"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// live is a run in this process.
type live struct {
	host *Host
	task remote.Task

	mu   sync.Mutex
	past []event.Event // recorded by now

	held held // commands

	agreed int // number of recorded events when terms were last received

	stopped   *event.ChatReply // of a run that was stopped before it began
	takenUp   bool             // by this worker, which is recorded
	deaths    int              // workers in a row that took the run up and died before it made progress
	harmless  bool             // the run cannot be why its last worker ended
	notOpened int              // workers in a row that could not open it
	last      *records.Outcome // the end, without a session

	session *runner.Session // nil until the recorded steps are exhausted
	claim   string          // of this process on the run, see [records.Database.Claim]
	opened  Opened
	handed  bool // its changes were handed back
	values  *records.Values
	batches chan records.Record
	kept    chan struct{}        // the last batch is in the database
	waiting bool                 // a batch waits for kept
	mail    chan struct{}        // a command may wait in the database
	ended   chan records.Outcome // the session has ended
	given   context.Context      // ends when this process no longer owns the run
	giveUp  context.CancelFunc   // ends given

	leaving context.Context    // ends when another worker is to take the run up
	leave   context.CancelFunc // ends leaving
	left    chan struct{}      // closed when another worker may

	mayTakeUp func() // closes left, once
}

func newLive(h *Host, task remote.Task) *live {
	l := &live{
		host: h, task: task,
		values: h.cfg.Database.Values(task.Run, h.cfg.Logger), batches: make(chan records.Record), kept: make(chan struct{}), mail: make(chan struct{}, 1), ended: make(chan records.Outcome, 1), left: make(chan struct{}),
	}
	l.mayTakeUp = sync.OnceFunc(func() { close(l.left) })
	l.given, l.giveUp = context.WithCancel(context.Background())
	l.leaving, l.leave = context.WithCancel(context.Background())
	return l
}

// next returns what is recorded next. The first call opens the session.
func (l *live) next(ctx context.Context) (records.Record, error) {
	if l.last != nil {
		return records.Record{End: l.last}, nil
	}
	if l.session == nil {
		over := l.awaitsTerms()
		if over {
			if waiting, err := l.host.cfg.Database.Waiting(ctx, []string{l.task.Run}); err != nil || len(waiting) > 0 {
				return records.Record{Mail: true}, nil // the terms of a resume may be there
			}
		}
		if !l.takenUp {
			l.takenUp = true
			if l.deaths >= maxDeaths {
				return l.refuse(event.ReasonWorkersFailed, untrusted.Text(fmt.Sprintf("its workers died %d times at this place: see what they were doing, and resume the run to try again", l.deaths))), nil
			}
			if !l.host.attach(l) {
				<-ctx.Done()
				return records.Record{}, errLeft
			}
			return records.Record{TakenUp: l.host.cfg.Worker.ID}, nil
		}
		if !over && len(l.of(l.task.Run)) == 0 {
			if l.stopped != nil {
				return l.conclude(*l.stopped), nil
			}
			if waiting, err := l.host.cfg.Database.Waiting(ctx, []string{l.task.Run}); err == nil && len(waiting) > 0 {
				return records.Record{Mail: true}, nil // a stop may be there
			}
		}
		open := l.open
		if over {
			open = l.finish
		}
		if err := open(ctx); err != nil {
			return l.failed(ctx, err)
		}
		if over {
			return records.Record{End: l.last}, nil
		}
	}
	// All that a run says is recorded before its end, and before further commands.
	select {
	case batch := <-l.batches:
		l.waiting = true
		return batch, nil
	default:
	}
	select {
	case batch := <-l.batches:
		l.waiting = true
		return batch, nil
	case <-l.mail:
		return records.Record{Mail: true}, nil
	case end := <-l.ended:
		if l.leaving.Err() != nil {
			l.mayTakeUp()
			<-ctx.Done() // a step that was canceled is not recorded
			return records.Record{}, errLeft
		}
		end.Summary = records.SummaryOf(l.task.Run, l.all())
		return records.Record{End: &end}, nil
	case <-ctx.Done():
		return records.Record{}, errLeft
	}
}

// ring tells the run to look for a command.
func (l *live) ring() {
	select {
	case l.mail <- struct{}{}:
	default: // it has been told
	}
}

// errWorkerStops is what those who follow a run read when its worker stops.
var errWorkerStops = errors.New("its worker stops, and another one continues it")

// errLeft reports that this process gives a run up, so that another takes it.
var errLeft = errors.New("the worker stops; another one takes the run up")

// record takes in a record that is in the database. With here, this process wrote it.
func (l *live) record(r records.Record, here bool) {
	l.mu.Lock()
	l.past = append(l.past, r.Events...)
	l.mu.Unlock()
	l.count(r)
	if here && len(r.Events) > 0 && l.host.cfg.Recorded != nil {
		l.host.cfg.Recorded(l.task.Run, r.Events) // before the session continues, which uses the slice again
	}
	for _, e := range r.Events {
		if here {
			l.held.see(e, l.task.Run)
		} else {
			l.held.forget(e)
		}
	}
	if here && l.waiting {
		l.waiting = false
		l.kept <- struct{}{}
		l.deliver()
	}
}

// finish ends a run whose worker died after its answer.
func (l *live) finish(ctx context.Context) (err error) {
	all := l.all()
	reply, _ := all[len(all)-1].Data.(event.ChatReply)
	end := records.OutcomeOf(reply)
	if end.Status == event.StatusCompleted {
		if l.opened, err = l.openTools(ctx); err != nil {
			return err
		}
		l.host.opened()
		end = l.handBack(end)
		l.closeOpened()
	}
	l.last = &end
	return nil
}

// handBack hands back what the run has changed, and returns the outcome with a note.
func (l *live) handBack(end records.Outcome) records.Outcome {
	if l.opened.HandBack == nil || l.given.Err() != nil {
		return end
	}
	words, err := l.opened.HandBack(l.given, end)
	l.handed = err == nil && end.Status == event.StatusCompleted
	if err != nil {
		words = "the changes of the run were not handed back: " + err.Error()
	}
	end.Note = untrusted.Text(words)
	return end
}

// dropKept forgets what was kept of the changes that this process has handed back. Before
// the end is recorded, another worker may have to hand them back again.
func (l *live) dropKept(ctx context.Context) {
	if !l.handed {
		return
	}
	if err := l.host.cfg.Database.DropSnapshot(ctx, l.task.Run); err != nil {
		l.host.cfg.Logger.Warn("forget the changes that were handed back", "run", l.task.Run, "error", err)
	}
}

// open opens the session and gives it its first command.
func (l *live) open(ctx context.Context) error {
	claim, err := l.host.cfg.Database.Claim(ctx, l.task.Run)
	if err != nil {
		return err
	}
	opened, err := l.openTools(ctx)
	if err != nil {
		return err
	}
	l.claim, l.opened = claim, opened
	cfg := opened.Config
	cfg.Store = store{Store: cfg.Store, live: l}
	cfg.NewID = l.newID(cfg.NewID)
	cfg.Approve, cfg.Review, cfg.Reviewer, cfg.Attended, cfg.InDoubt = l.task.Approve, l.task.Review, l.task.Review && l.task.Attended, l.task.Attended, l.task.InDoubt
	cfg.Delegated, cfg.Admit = true, func(ctx context.Context, t plan.Tool) (func(), error) { return l.host.admit(ctx, l, t) }
	cfg.Workspace = Workspace(l.task.Source) // the folder is another one on each worker
	if past := l.of(records.SessionID(l.task.Run)); len(past) > 0 {
		cfg.Restored = &runner.Restored{ID: records.SessionID(l.task.Run), Journal: batches{l}, Events: past}
	}
	// The workflow ends the session, after it has recorded what that says.
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	l.session, err = runner.NewSession(ctx, cfg)
	if err != nil {
		stop(err)
		return errors.Join(err, opened.Close())
	}
	go l.watch(l.lastOf(records.SessionID(l.task.Run)))
	l.session.Send(l.first())
	l.host.opened()
	context.AfterFunc(l.leaving, func() {
		stop(errWorkerStops)
		l.session.Close()
	})
	return nil
}

// openTools opens what the run works with, unless the worker stops meanwhile.
func (l *live) openTools(ctx context.Context) (Opened, error) {
	ctx, cancel := context.WithCancel(ctx) // the tools live as long
	inTime := context.AfterFunc(l.leaving, cancel)
	opened, err := l.host.cfg.Open(ctx, l.task)
	if err == nil && !inTime() {
		err = errors.Join(errWorkerStops, opened.Close())
	}
	if err != nil {
		cancel()
		return Opened{}, err
	}
	end := opened.Close
	opened.Close = func() error {
		defer cancel()
		return end()
	}
	return opened, nil
}

// first returns the command that starts or resumes the run.
func (l *live) first() session.Command {
	switch {
	case len(l.of(l.task.Run)) > 0:
		return session.Resume{Run: l.task.Run}
	case l.task.Plan != nil:
		return session.Execute{Plan: *l.task.Plan, OnFailure: l.task.OnFailure, Synthesize: l.task.Synthesize, Strict: l.task.Strict}
	default:
		return session.Submit{Text: string(l.task.Goal)}
	}
}

// watch reads the events of the session, whose last recorded one has the given number,
// and ends it with its first new answer.
func (l *live) watch(recorded uint64) {
	end := records.Outcome{Status: event.StatusFailed, Reason: event.ReasonStepFailed}
	var closing sync.WaitGroup
	for e := range l.session.Events() {
		reply, ok := e.Data.(event.ChatReply)
		if !ok || e.Seq <= recorded {
			continue
		}
		recorded = e.Seq
		end = records.OutcomeOf(reply)
		closing.Go(l.session.Close)
	}
	closing.Wait()
	if l.leaving.Err() == nil {
		end = l.handBack(end)
	}
	l.ended <- end
}

// lastOf returns the number of the last recorded event of a run or session.
func (l *live) lastOf(id string) uint64 {
	last := uint64(0)
	for _, e := range l.of(id) {
		last = e.Seq
	}
	return last
}

// of returns the recorded events of a run or session.
func (l *live) of(id string) []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []event.Event
	for _, e := range l.past {
		if e.Run == id {
			out = append(out, e)
		}
	}
	return out
}

// all returns all recorded events.
func (l *live) all() []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.past)
}

// deliver gives the session the commands that it can take.
func (l *live) deliver() {
	for _, in := range l.held.ready() {
		l.session.Send(signed(in))
	}
}

// signed returns a command with its author.
func signed(in remote.Input) session.Command {
	switch c := in.Command.(type) {
	case session.Resolve:
		c.By = in.By
		return c
	case session.Edit:
		c.By = in.By
		return c
	case session.AnswerElicitation:
		c.By = in.By
		return c
	case session.Review:
		c.By = in.By
		return c
	case session.ResolveDoubt:
		c.By = in.By
		return c
	case session.ResolveFailure:
		c.By = in.By
		return c
	case session.Steer:
		c.By = in.By
		return c
	case session.Cancel:
		c.By = in.By
		return c
	case session.Stop:
		c.By = in.By
		return c
	default:
		return c
	}
}

// close ends the session if the workflow ends before it. Nothing that it still says is
// recorded: this process does not own the run any more, or leaves it to another.
func (l *live) close() {
	l.giveUp()
	defer l.mayTakeUp()
	if l.host.cfg.Left != nil {
		defer l.host.cfg.Left(l.task.Run)
	}
	l.host.detach(l)
	if l.session == nil {
		return
	}
	l.session.Close()
	l.closeOpened()
}

func (l *live) closeOpened() {
	if err := l.opened.Close(); err != nil {
		l.host.cfg.Logger.Warn("close the tools of a run", "run", l.task.Run, "error", err)
	}
}

// newID returns the ids of the session, of the run, and then others.
func (l *live) newID(other func(time.Time) string) func(time.Time) string {
	own := 0
	if l.of(records.SessionID(l.task.Run)) == nil {
		own++
	}
	if l.of(l.task.Run) == nil {
		own++
	}
	return func(now time.Time) string {
		if own == 0 {
			return other(now)
		}
		own--
		return strings.TrimPrefix(l.task.Run, "r-")
	}
}

// Workspace returns the name of the folder that a run works in, on any worker.
func Workspace(from remote.Source) string {
	switch {
	case from.Repository == "":
		return "a new folder"
	case from.Revision == "":
		return from.Repository
	default:
		return from.Repository + "@" + from.Revision
	}
}
