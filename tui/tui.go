package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/notify"
	"replan/tui/panes"
)

// Session is the session that the screen shows and sends commands to.
type Session interface {
	// Events returns the session's events in order. The channel closes with the
	// session.
	Events() <-chan event.Event
	// Send gives the session a command. It may block until the session takes
	// it.
	Send(session.Command)
	// Abilities says what the session can do, and why it cannot do the rest.
	Abilities() session.Abilities
	// Queries answer the screen's questions. Each sees the commands sent before
	// it.
	session.Queries
}

// Options configure the screen.
type Options struct {
	Theme   themes.Name // "" is auto
	Themes  *themes.Set // the themes to choose from; nil means the built-in ones
	Config  string      // the configuration file, where a theme can be stored; "" for none
	ASCII   bool        // draw with ASCII only
	NoColor bool        // draw without color

	ReducedMotion bool // no spinners; the time advances once a second

	// The chat's share of the width, and the plan's of the height above the step,
	// in percent; 0 means the usual. Each pane keeps its minimum size.
	ChatWidth, PlanHeight int
	ShowThinking          bool     // expand the model's thinking
	Recent                []string // what was chosen in the palette last, the newest first

	Notify      notify.Mode                 // how to alert a user who looks elsewhere; "" is auto
	Version     string                      // shown in help
	Goal        string                      // sent at the start; "" for none
	Intro       string                      // Markdown, shown while the chat is empty
	Examples    []string                    // goals that fit this folder, shown in the greeting
	Suggestions []string                    // texts for the input, one after another; each comes back until it is sent
	Editor      []string                    // the user's editor with its arguments; none if empty
	Planners    planning.Planners           // the session's planners; nil means the three phases and a model
	Keys        keymap.Keys                 // override the default keys; see [CheckKeys]
	Commands    func() []session.Completion // chat commands for the palette and help; nil for none
	Pictures    input.Pictures              // for messages; nil attaches none that are pasted
	Drawn       func()                      // called once, concurrently with drawing, after the first frame; may be nil
	Replay      bool                        // the session replays a past run: no questions, no sending, no stopping
	Now         func() time.Time            // nil means time.Now
	Pauses      draw.Pauses                 // zero fields mean the default length

	// GoOn receives the conversation that the user continues after leaving the
	// screen. If nil, none can be opened.
	GoOn func(session string)
	// Left receives where texts are that the user wrote and did not send, a sentence
	// each, when the screen has ended; may be nil.
	Left func(words string)
	// Recorded holds the events that a replay plays by itself; if empty, the
	// session sends them. Speed is a multiple of the original speed; 0 plays
	// everything at once.
	Recorded []event.Event
	Speed    float64
}

// UsualShare is the share of the chat and of the plan unless the user sets another,
// in percent.
const UsualShare = panes.UsualShare

// framesPerSecond is how often the screen is written at most.
const framesPerSecond = 120

// Run shows the session on the terminal until the user quits or ctx ends; the
// end of ctx is not an error. It reads the session's events only while the
// screen is up: whoever closes the session afterwards must read the rest. It
// handles no signals: the caller does, and cancels ctx. If the screen panics,
// Run returns a [*Panic].
func Run(ctx context.Context, s Session, o Options, options ...tea.ProgramOption) error {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	// Bubble Tea's own signal handler waits forever if the program ends at the
	// same signal. A context passed to it closes the terminal while it is still
	// being read. So the end of ctx is sent to it as a message. A key press
	// waits for the next frame: the default 60 frames a second alone add 17 ms.
	options = append([]tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}, options...)
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	screen := New(s, o)
	guarded := newPanicKeeper(screen)
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
		screen.halt()
		ended <- err
	}()
	err := untilEnded(ctx, program, ended)
	stop()
	<-fed
	if o.Left != nil && !errors.Is(err, ErrStuck) {
		for _, words := range screen.leave() {
			o.Left(words)
		}
	}
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

// ErrStuck is returned when the screen was still busy when it had to end. The
// terminal has been restored; the busy work continues until the process ends.
var ErrStuck = errors.New("the screen did not end in time and was left")

// endTime bounds how long the screen may take to end after ctx.
const endTime = time.Second

// untilEnded waits for the program to end. If it is still busy endTime after
// ctx ends, untilEnded restores the terminal and abandons the program.
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
	case err := <-ended: // it ended just now
		return err
	default:
		return ErrStuck
	}
}
