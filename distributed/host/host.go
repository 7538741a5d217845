package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/distributed/records"
)

// Config configures a host.
type Config struct {
	Database *records.Database // closed with the host
	// Worker is what this process offers. Its ID must be new in every process, since
	// a process that is gone must not be taken for this one.
	Worker remote.Worker
	// Open prepares what a run works with: its checkout, its tools and its model. The
	// error says, in a sentence, why the run cannot be carried out here. A
	// [*remote.Problem] is one of the run, which fails; others may be of this machine, so
	// that another worker tries.
	Open func(ctx context.Context, task remote.Task) (Opened, error)
	// Recorded, if not nil, is called with events that this process has just recorded of
	// a run, in order. It must not block.
	Recorded func(run string, events []event.Event)
	// Left, if not nil, is called when a run has ended here, or continues elsewhere.
	Left func(run string)
	// AtOnce is the largest number of runs under way; 0 is 10.
	AtOnce int
	// Rhythm is the pause between two looks for commands, and a tenth of that between
	// two signs of life; 0 is 100 ms. A worker silent for 50 times as long is dead.
	Rhythm time.Duration
	Logger *slog.Logger // nil is none
}

// Opened is what a run works with.
type Opened struct {
	Config runner.Config // without what the task decides
	// Snapshot, if not nil, puts what the run has changed where another worker finds it. It
	// is called before the end of a step is recorded.
	Snapshot func(ctx context.Context) error
	// HandBack, if not nil, is called when the run has ended. It says in a sentence what
	// became of the changes, "" if there are none. If it succeeds for a run that has
	// completed, their snapshot is dropped once the end is recorded.
	HandBack func(ctx context.Context, end records.Outcome) (string, error)
	Close    func() error // called when the run has ended or was given up
}

// Host carries out runs until it is closed.
type Host struct {
	cfg  Config
	dbos dbos.Context

	mu       sync.Mutex
	live     map[string]*live // by run
	slots    chan struct{}    // of the runs under way
	queues   []string         // that it listens to
	closing  bool
	takenUp  int       // see Health
	answered time.Time // when the database last took a sign of life
	steady   time.Time // since when it has done so without a gap
	alive    int       // workers, then
	workers  sync.WaitGroup

	openings *openings
	tools    *toolLimits
	sweeper  *sweeper

	stopLooking context.CancelFunc
}

// The rhythm of a host, in looks for commands.
const (
	usualRhythm = 100 * time.Millisecond

	beats   = 10 // between two signs of life
	silence = 50 // after which a worker is dead

	// lookers is how many workers look for dead ones after a sign of life, of all that are
	// alive. A look costs more with each worker and run.
	lookers = 5
)

// isTimeout reports whether nothing was received in time.
func isTimeout(err error) bool { return errors.Is(err, dbos.ErrTimeout) }

// Start starts a host. Close ends it.
func Start(ctx context.Context, cfg Config) (*Host, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Rhythm == 0 {
		cfg.Rhythm = usualRhythm
	}
	if cfg.AtOnce == 0 {
		cfg.AtOnce = 10
	}
	h := newHost(cfg)
	ctx = context.WithoutCancel(ctx)
	err := cfg.Database.Alone(ctx, func() (err error) {
		h.dbos, err = dbos.NewContext(ctx, cfg.Database.Config(cfg.Worker.ID, cfg.Worker.Version, cfg.Logger))
		return err
	})
	if err != nil {
		return nil, cfg.Database.Refused(err)
	}
	dbos.RegisterWorkflow(h.dbos, h.run, dbos.WithWorkflowName(records.Workflow), dbos.WithMaxRecoveryAttempts(maxRecoveries))
	err = cfg.Database.CheckTables(ctx)
	if err == nil {
		err = cfg.Database.Prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, dbos.Shutdown(h.dbos, shutdownTime))
	}
	if err := errors.Join(h.beat(ctx), h.tools.read(ctx), h.listen(h.dbos)); err != nil {
		return nil, errors.Join(err, dbos.Shutdown(h.dbos, shutdownTime))
	}
	if err := dbos.Launch(h.dbos); err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	ctx, h.stopLooking = context.WithCancel(ctx)
	h.workers.Go(func() { h.look(ctx) })
	return h, nil
}

// newHost returns a host that does not work yet.
func newHost(cfg Config) *Host {
	h := &Host{
		cfg: cfg, live: map[string]*live{}, slots: make(chan struct{}, cfg.AtOnce),
		openings: &openings{log: cfg.Logger}, sweeper: &sweeper{database: cfg.Database},
	}
	h.tools = &toolLimits{database: cfg.Database, worker: cfg.Worker.ID, rhythm: cfg.Rhythm, log: cfg.Logger, deadAfter: h.deadAfter}
	return h
}

// noQueue is a name to listen to that no queue has: without a name DBOS listens to all.
const noQueue = "none"

const (
	// A host closes within leaveTime and closeTime; see docs/distributed.md.
	leaveTime = 20 * time.Second // for the sessions to stop and to record that
	closeTime = 5 * time.Second  // for all else
	// shutdownTime is the patience with each part of the engine.
	shutdownTime = 3 * time.Second
	// A run that makes progress may be taken up as often as its workers die; see maxDeaths.
	maxRecoveries = 1_000_000
)

// Close leaves the runs under way to other workers: their sessions stop, which is
// recorded, and the worker is forgotten.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closing = true
	var left []<-chan struct{}
	for _, l := range h.live {
		left = append(left, l.handOver())
	}
	h.mu.Unlock()
	dbos.ListenQueues(h.dbos, noQueue)
	patience := time.After(leaveTime)
	for _, l := range left {
		select {
		case <-l:
		case <-patience: // what is not recorded is in doubt
		}
	}
	ended := make(chan error, 1)
	go func() { // the process ends anyway
		h.stopLooking()
		h.workers.Wait() // no more signs of life
		err := h.cfg.Database.Leave(context.Background(), h.cfg.Worker.ID)
		ended <- errors.Join(err, dbos.Shutdown(h.dbos, shutdownTime), h.cfg.Database.Close())
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(closeTime):
		return fmt.Errorf("the worker did not end within %s: what it still does is not recorded", leaveTime+closeTime)
	}
}

// attach makes commands reach a run, and Close await its records. It reports whether
// the host takes runs.
func (h *Host) attach(l *live) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closing {
		if lost := h.live[l.run()]; lost != nil { // see ringLost
			lost.ring()
		}
		h.live[l.run()] = l
	}
	return !h.closing
}

// detach is the opposite of attach.
func (h *Host) detach(l *live) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live[l.run()] == l {
		delete(h.live, l.run())
	}
}

// look looks for commands, gives signs of life, and takes up the runs of dead workers,
// until ctx ends. It logs once that the database does not answer, and once that it does.
func (h *Host) look(ctx context.Context) {
	tick := time.NewTicker(h.cfg.Rhythm)
	defer tick.Stop()
	failing := false
	for count := 1; ; count++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		whole := count%beats == 0
		switch err := h.lookOnce(ctx, whole); {
		case err != nil && !failing && ctx.Err() == nil:
			failing = true
			h.cfg.Logger.Warn("look at the database; trying again", "error", err)
		case err == nil && whole && failing:
			failing = false
			h.cfg.Logger.Warn("the database answers again")
		}
	}
}

// lookOnce looks for commands, and with whole does the rest too. It is limited, since a
// connection may break without a word.
func (h *Host) lookOnce(ctx context.Context, whole bool) error {
	ctx, cancel := context.WithTimeout(ctx, silence*h.cfg.Rhythm)
	defer cancel()
	err := h.ringWaiting(ctx)
	if !whole {
		return err
	}
	if err := errors.Join(err, h.beat(ctx)); err != nil {
		return err
	}
	// The engine tries again by itself, at last every two minutes.
	engine, cancel := dbos.WithTimeout(h.dbos, silence*h.cfg.Rhythm)
	defer cancel()
	err = errors.Join(h.ringLost(ctx), h.tools.read(ctx), h.listen(engine), h.sweeper.sweep(ctx))
	h.mu.Lock()
	alive := max(1, h.alive)
	h.mu.Unlock()
	if rand.IntN(alive) < lookers { // #nosec G404 -- it is no secret who looks
		err = errors.Join(err, h.takeUp(ctx, engine))
	}
	return err
}

// Health is the state of a host.
type Health struct {
	Runs    int           // under way
	TakenUp int           // runs of dead workers that it put back into their queues
	Silence time.Duration // of the database
	Lost    bool          // the database is silent for so long that others take this host for dead
	Problem string        // why it could not open the last run; "" if it could
}

// Health returns the state of the host.
func (h *Host) Health() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := time.Since(h.answered)
	return Health{Runs: len(h.live), TakenUp: h.takenUp, Silence: since, Lost: since >= silence*h.cfg.Rhythm, Problem: h.openings.lastProblem()}
}

// ringWaiting rings for the runs that commands wait for.
func (h *Host) ringWaiting(ctx context.Context) error {
	waiting, err := h.cfg.Database.Waiting(ctx, h.runs())
	h.ring(waiting)
	return err
}

// ringLost rings for the runs that others took up while this worker gave no sign of life.
// The engine does not let them record that a command came, which ends them here.
func (h *Host) ringLost(ctx context.Context) error {
	runs := h.runs()
	kept, err := h.cfg.Database.Kept(ctx, runs, h.cfg.Worker.ID)
	if err != nil {
		return err
	}
	h.ring(slices.DeleteFunc(runs, func(run string) bool { return slices.Contains(kept, run) }))
	return nil
}

// runs returns the runs under way.
func (h *Host) runs() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.live))
}

// ring tells runs to look for commands.
func (h *Host) ring(runs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, run := range runs {
		if l := h.live[run]; l != nil {
			l.ring()
		}
	}
}

// beat gives a sign of life.
func (h *Host) beat(ctx context.Context) error {
	h.mu.Lock()
	worker := h.cfg.Worker
	worker.Runs = len(h.live)
	h.mu.Unlock()
	workers, err := h.cfg.Database.Beat(ctx, worker, silence*h.cfg.Rhythm)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.alive = workers
	now := time.Now()
	if now.Sub(h.answered) > silence*h.cfg.Rhythm/2 {
		h.steady = now
	}
	h.answered = now
	h.mu.Unlock()
	return nil
}

// never is the age of no sign of life.
const never = time.Duration(math.MaxInt64)

// deadAfter returns the age of the last sign of life of dead workers. A database that
// was lost took none from anyone, so it says nothing until it has answered for a while.
func (h *Host) deadAfter() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.steady) < silence*h.cfg.Rhythm {
		return never
	}
	return silence * h.cfg.Rhythm
}

// takeUp puts the runs of workers that are dead, or have left, back into their queues.
func (h *Host) takeUp(ctx context.Context, in dbos.Context) error {
	age := h.deadAfter()
	if age < never {
		if err := h.cfg.Database.Forget(ctx); err != nil {
			return err
		}
	}
	dead, err := h.cfg.Database.Dead(ctx, age, h.cfg.Worker.ID)
	if err != nil {
		return err
	}
	if len(dead) == 0 {
		return nil
	}
	engine, ok := in.(interface {
		RecoverPendingWorkflows(executors []string) ([]dbos.WorkflowHandle[any], error)
	})
	if !ok {
		return errors.New("take up the runs of dead workers: this version of DBOS cannot")
	}
	taken, err := engine.RecoverPendingWorkflows(dead)
	if err != nil {
		return fmt.Errorf("take up the runs of dead workers: %w", err)
	}
	h.mu.Lock()
	h.takenUp += len(taken)
	h.mu.Unlock()
	for _, run := range taken {
		h.cfg.Logger.Info("a run of a dead worker is queued again", "run", run.GetWorkflowID())
	}
	return nil
}

// Alive reports whether a worker with the usual rhythm has given a sign of life lately.
func Alive(w remote.Worker) bool { return w.SilentMS < silence*usualRhythm.Milliseconds() }

// listen listens to the queues whose runs need no more than this worker offers.
func (h *Host) listen(engine dbos.Context) error {
	all, err := dbos.ListQueues(engine)
	if err != nil {
		return fmt.Errorf("list the queues: %w", err)
	}
	var mine []string
	for _, queue := range all {
		if needs, ok := records.NeedsOf(queue.GetName()); ok && records.Lacks(h.cfg.Worker, needs) == nil {
			mine = append(mine, queue.GetName())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(mine) == 0 || h.closing || len(h.slots) == cap(h.slots) || h.openings.paused() { // what it took it would keep from others
		mine = []string{noQueue}
	}
	if !slices.Equal(mine, h.queues) {
		h.queues = mine
		dbos.ListenQueues(h.dbos, mine...)
	}
	return nil
}
