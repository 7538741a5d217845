// Package tui is the full screen: one Bubble Tea model that folds the events of
// a session into the very same [agent.Run] as the engine does, draws it in panes
// (chat, plan, step) and sends commands back. It knows no model server and no
// tool server; both reach it as events.
package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Session is what the screen shows and talks to.
type Session interface {
	// Events is everything that happens, in order. It is closed when the
	// session is.
	Events() <-chan event.Event
	// Send gives the session a command. It may wait until the session takes it.
	Send(runner.Command)
	// Queries answer what the screen asks. Each sees the commands sent before it.
	runner.Queries
}

// Options say how the screen opens.
type Options struct {
	Theme   themes.Name // "" is auto
	Themes  *themes.Set // those that can be chosen; nil is the program's own
	Config  string      // the configuration file, where a theme can be kept; "" for none
	ASCII   bool        // draw with nothing beyond ASCII
	NoColor bool        // draw without colour

	ReducedMotion bool // nothing spins, and the time moves on once a second

	Notify     Notify                      // how to call a user who looks elsewhere; "" is auto
	Version    string                      // shown in help
	Goal       string                      // sent at the start, unless it is ""
	Intro      string                      // Markdown, shown while the chat is empty
	Examples   []string                    // goals that fit this folder, shown in the greeting
	Suggestion string                      // text that the input opens with
	Editor     []string                    // the user's, with its arguments; none opens none
	Planners   planning.Planners           // make the session's plans; nil is the three phases and a model
	Keys       keymap.Keys                 // in place of the usual ones; see [CheckKeys]
	Commands   func() []session.Completion // the commands of the chat, for palette and help; nil is none
	Drawn      func()                      // called once, beside the drawing, when the first frame is made; may be nil
	Replay     bool                        // the session only tells what was: nothing is asked, sent or stopped
	Now        func() time.Time            // nil means time.Now
	Pauses     draw.Pauses                 // zero fields have the usual length

	// GoOn takes the conversation that the user goes on with once the screen is
	// left; nil: none can be opened.
	GoOn func(session string)
	// Recorded is what a replay plays by itself; none: the session tells it. Speed
	// is how many times as fast as it was, 0 at once.
	Recorded []event.Event
	Speed    float64
}

// Run shows the session on the terminal until the user quits or ctx ends; a ctx
// that ends is no error. It reads the session's events only while the screen is
// there: whoever closes the session afterwards reads the rest. It handles no
// signals: whoever does ends ctx. Where the screen panics the error is a [*Panic].
func Run(ctx context.Context, s Session, o Options, options ...tea.ProgramOption) error {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	// Bubble Tea's own handler of signals waits for ever where the program ends at
	// the same signal, and a context given to it closes the terminal while that is
	// still read. The end of ctx is therefore put to it as a message.
	// A key waits for the next frame: with the usual 60 a second that alone is 17 ms.
	options = append([]tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithFPS(120)}, options...)
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	screen := New(s, o)
	guarded := newGuard(screen)
	program := tea.NewProgram(guarded, options...)
	defer context.AfterFunc(ctx, program.Quit)()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		Forward(feeding, s.Events(), program.Send)
	}()
	ended := make(chan error, 1)
	go func() {
		_, err := program.Run()
		screen.shut()
		ended <- err
	}()
	err := untilEnded(ctx, program, ended)
	stop()
	<-fed
	if caught := guarded.caught.Load(); caught != nil {
		return caught
	}
	if errors.Is(err, ErrStuck) {
		return err
	}
	if err != nil && ctx.Err() != nil && (errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted)) {
		return nil
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("draw the screen: %w", err)
	}
	return nil
}

// ErrStuck is the error of a screen that was still busy with something when it
// had to end. The terminal has been given back; whatever it is busy with goes on
// until the process ends.
var ErrStuck = errors.New("the screen did not end in time and was left")

// endTime is how long the screen may take to end once ctx has.
const endTime = time.Second

// untilEnded waits for the end of a program. One that is busy when ctx has ended
// is left, and the terminal given back without it.
func untilEnded(ctx context.Context, program *tea.Program, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(endTime)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
	}
	program.Kill()
	select {
	case err := <-ended: // it was about to
		return err
	default:
		return ErrStuck
	}
}
