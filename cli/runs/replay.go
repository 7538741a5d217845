package runs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/host"
	"replan/cli/lines"
	"replan/cli/screen"
	"replan/tui"
)

// NewReplay returns the command replan replay.
func NewReplay(a *app.App) *cobra.Command {
	o := replayOptions{app: a}
	command := &cobra.Command{
		Use:   "replay [RUN]",
		Short: "Replay a run from its journal; nothing is called",
		Long: "replay shows a run as it was: on the full screen at its own pace, with long pauses shortened, or without a\n" +
			"terminal as lines or JSON, at once. It calls no model and no tool, and does not disturb a run that is\n" +
			"active elsewhere. Without RUN, it replays the newest run of this folder.",
		Example: "  replan replay --speed 4\n  replan replay a61ec9 --plain",
		Args:    args.Shell(args.AtMostOne("RUN")),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.speed < 0 {
				return exit.Usage("--speed cannot be below 0: it is %g; 0 is at once", o.speed)
			}
			if !cmd.Flags().Changed("speed") && !a.IO().Terminal {
				o.speed = 0
			}
			return o.run(cmd.Context(), args)
		},
	}
	command.Flags().Float64Var(&o.speed, "speed", 1, "play `N` times as fast as it was; 0 is at once, the default without a terminal")
	return command
}

// replayOptions are the options of replan replay.
type replayOptions struct {
	app   *app.App
	speed float64 // times as fast as it was; 0 is at once
}

// run replays a run.
func (o replayOptions) run(ctx context.Context, args []string) error {
	id, events, err := host.Of(o.app).Recorded(ctx, args)
	if err != nil {
		return err
	}
	if o.app.Screen() {
		shown := tui.Options{Replay: true, Recorded: session.ReplayEvents(id, events), Speed: o.speed}
		watch := o.app.NewWatch()
		if watch != nil {
			defer watch.Stop()
		}
		return exit.Wrap("the screen", screen.Show(ctx, o.app, runner.Closed(), watch, shown))
	}
	r := newJournalSession(id, events, o.speed)
	r.start(ctx)
	defer r.close()
	out := lines.NewPrinter(o.app, replaySession, o.app.Out().Colored(o.app.IO().Out))
	for event := range r.Events() {
		if event.Run == replaySession {
			continue // created for the screen
		}
		if err := out.Event(event); err != nil {
			return exit.Wrap(exit.Writing, err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// replaySession is the id of the replayed session.
const replaySession = session.ReplayID

// journalSession plays the events of a journal, and those of a session around them.
type journalSession struct {
	events []event.Event
	pauses []time.Duration // before each event

	out   chan event.Event
	stop  context.CancelFunc
	ended chan struct{}
}

// newJournalSession returns the session around a run: the request, the run and the
// answer.
func newJournalSession(id string, events []event.Event, speed float64) *journalSession {
	all := session.ReplayEvents(id, events)
	return &journalSession{events: all, pauses: pauses(all, speed), out: make(chan event.Event), ended: make(chan struct{})}
}

// pauses returns the pause before each event.
func pauses(events []event.Event, speed float64) []time.Duration {
	out := make([]time.Duration, len(events))
	for i := 1; i < len(events); i++ {
		out[i] = session.Rest(events[i].Time.Sub(events[i-1].Time), speed)
	}
	return out
}

// Events returns the events of the run and the session around it.
func (r *journalSession) Events() <-chan event.Event { return r.out }

// start plays until the journal ends or ctx does.
func (r *journalSession) start(ctx context.Context) {
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.ended)
		defer close(r.out)
		rest := time.NewTimer(0)
		defer rest.Stop()
		for i, e := range r.events {
			if r.pauses[i] > 0 {
				rest.Reset(r.pauses[i])
				select {
				case <-rest.C:
				case <-ctx.Done():
					return
				}
			}
			select {
			case r.out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// close ends the replay and waits for it.
func (r *journalSession) close() {
	r.stop()
	<-r.ended
}
