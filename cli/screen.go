package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store/journal"
	"replan/cli/config"
	"replan/cli/crash"
	"replan/cli/exit"
	"replan/cli/folder"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/mcpclient"
	"replan/mcpclient/workspace/undo"
	"replan/tui"
	"replan/tui/telling"
)

// start opens the full screen, or without one acts like replan run.
func (o *options) start(ctx context.Context, goal string) error {
	if o.elsewhere() {
		return o.submitGoal(ctx, goal, o.screen())
	}
	if o.goOn {
		return o.screens().continueSession(ctx, goal)
	}
	if o.inDoubt != "" {
		return exit.Usage("--in-doubt applies to a resumed run: add --continue, or use replan plan resume RUN")
	}
	if !o.screen() {
		if goal == "" {
			return exit.Usage("there is no terminal for the full screen: use replan run GOAL")
		}
		return o.runHeadless(ctx, goal)
	}
	return o.screens().openScreen(ctx, tui.Options{Goal: goal}, continued{})
}

// openScreen runs the full screen until the user leaves it, and then says how the
// last run can be continued or undone. It continues a session if one is given.
func (o screens) openScreen(ctx context.Context, screen tui.Options, before continued) error {
	opened := time.Now()
	sessions, err := o.openScreens(ctx, screen, before)
	run, found, unread := o.store.NewestOfSessions(sessions, opened)
	if found && unread == nil {
		err = errors.Join(err, o.printExitHint(&run))
	}
	return err
}

// printExitHint prints a line about the last run of a screen that was left, if there is
// something to do with it.
func (o screens) printExitHint(run *agent.Run) error {
	words := exitHint(run.Summary(), undo.Changed(o.store.Runs.Dir, run.ID))
	if l := o.look(); l != nil {
		words = l.Faint.Render(words)
	}
	if words == "" {
		return nil
	}
	_, err := fmt.Fprintln(o.coloured(o.io.Out), words)
	return exit.Wrap(exit.Writing, err)
}

// exitHint says how a run ended and which commands are about it, or "" if there is
// nothing to do with it. changed means that an undo would restore files.
func exitHint(s agent.Summary, changed bool) string {
	id, words := telling.ShortID(s.Run), telling.RunWords(s)
	steps := fmt.Sprintf("%d of %s", s.Done, english.Count(s.Steps, "step"))
	switch {
	case s.Undone, !s.Resumable && s.Steps == 0:
		return ""
	case s.Resumable && s.Steps > 0:
		return "Run " + id + " " + words + " after " + steps + ". Continue: replan plan resume " + id
	case s.Resumable:
		return "Run " + id + " " + words + ". Continue: replan plan resume " + id
	case s.Reason == event.ReasonPartial:
		words += ", " + steps
	}
	hint := "Run " + id + ": " + words + ". Show it: replan runs show " + id
	if changed {
		hint += ", undo it: replan undo " + id
	}
	return hint
}

// openScreens runs the full screen until the user leaves it, and returns the sessions
// that were open. If the user chooses another conversation, it closes this one before
// it opens that.
func (o screens) openScreens(ctx context.Context, screen tui.Options, before continued) (sessions []string, err error) {
	for {
		next := ""
		if !o.DryRun {
			screen.GoOn = func(session string) { next = session }
		}
		o.TakeChoices()
		left, err := o.openScreenOn(ctx, screen, before)
		sessions = append(sessions, left)
		if err != nil || next == "" || ctx.Err() != nil {
			return sessions, err
		}
		screen.Intro, screen.Goal, screen.Suggestions = "", "", nil
		if before.session, err = o.openConversation(next); err != nil {
			// The previous conversation is still there.
			screen.Intro = "The conversation cannot be opened: " + exit.OneLine(err.Error())
			if before.session, err = o.openConversation(left); err != nil {
				return sessions, err
			}
		}
		before.run = ""
	}
}

// openConversation opens a conversation to continue.
func (o screens) openConversation(id string) (*runner.Restored, error) {
	j, events, err := o.store.Sessions.Open(id)
	switch {
	case errors.Is(err, event.ErrNoEvents):
		return nil, nil //nolint:nilnil // nothing was said in it: a new one is the same
	case errors.Is(err, journal.ErrLocked):
		return nil, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: fmt.Errorf("the session %s is open in another replan: close that one first", id)}
	case err != nil:
		return nil, o.unopened(err)
	}
	return &runner.Restored{ID: id, Journal: j, Events: events}, nil
}

// openScreenOn runs the screen of one session and returns the session's id.
func (o screens) openScreenOn(ctx context.Context, screen tui.Options, before continued) (id string, err error) {
	trust := mcpclient.TrustNone
	if o.Approve == policy.ApproveAsk {
		trust = mcpclient.TrustAsk
	}
	w, err := o.wiring().open(ctx, opening{trust: trust, attended: true, runs: true, resume: before.run, screen: true, restored: before.session})
	if err != nil {
		return "", errors.Join(err, before.close())
	}
	if before.run != "" {
		w.session.Send(session.Resume{Run: before.run})
	}
	if notes := slices.Concat(w.notes, w.ignored("")); len(notes) > 0 {
		screen.Intro = strings.TrimSpace(screen.Intro + "\n\n- " + strings.Join(notes, "\n- "))
	}
	screen.Examples = folder.ExampleGoals(o.Workspace)
	screen.Left = func(words string) { _, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", words) }
	screen.Editor, screen.Commands = o.editor(), o.chat().chatCommands
	screen.Drawn = w.tools.Start
	restore := sendStandardError(w.logger)
	err = exit.Wrap("the screen", o.show(ctx, w.session, w.watch, o.dressed(screen)))
	restore()
	err = errors.Join(err, exit.Wrap("end in order", w.close()))
	o.printExitNote(w)
	return w.session.ID(), err
}

// show runs the screen. A panic in it leaves a report; a panic on another
// goroutine does so through the watcher.
func (o screens) show(ctx context.Context, s tui.Session, watch *crash.Watch, screen tui.Options) error {
	if watch != nil {
		watch.Screen(true)
		defer watch.Screen(false)
		// It starts when the first frame is there, which it would only delay, or
		// with the first child.
		drawn := screen.Drawn
		screen.Drawn = func() {
			_ = watch.Start() // without one such a crash is as bad as it was
			if drawn != nil {
				drawn()
			}
		}
	}
	err := tui.Run(ctx, s, screen)
	if errors.Is(err, tui.ErrStuck) {
		return &exit.Error{Status: exit.Interrupted, Code: "interrupted", Err: err}
	}
	if panicked, ok := errors.AsType[*tui.Panic](err); ok {
		return &exit.Error{Status: exit.Crashed, Code: "crashed", Err: errors.New(crash.Report(o.store.Dirs.Crashes(), Version, panicked.Value, panicked.Stack))}
	}
	return err
}

// newWatch returns the watcher of this process; nil if there can be none.
func (o wiring) newWatch() *crash.Watch {
	tty, _ := o.io.Out.(*os.File)
	if !o.io.Terminal {
		tty = nil
	}
	watch, err := crash.New(o.store.Dirs.Crashes(), Version, tty)
	if err != nil {
		return nil // crashes then go unreported
	}
	return watch
}

// editor returns the user's editor with its arguments; nil if unset.
func (o screens) editor() []string {
	line := config.First(o.io.Getenv("VISUAL"), o.io.Getenv("EDITOR"))
	if strings.TrimSpace(line) == "" {
		return nil
	}
	words, err := slash.Split(line)
	if err != nil {
		return strings.Fields(line)
	}
	return words
}

// dressed returns the screen options with the appearance applied.
func (o screens) dressed(screen tui.Options) tui.Options {
	screen.Version = Version
	return o.Dressed(screen)
}

// continued is what replan --continue continues.
type continued struct {
	session *runner.Restored // nil if the conversation is gone
	run     string           // to resume; "" if the newest run is complete
	note    string
}

// continueSession implements replan --continue: it continues the newest session
// of this folder, resumes its newest run if unfinished, and then takes the goal,
// if any.
func (o screens) continueSession(ctx context.Context, goal string) error {
	if o.DryRun {
		return o.noDryResume()
	}
	inDoubt, err := o.parseInDoubt(o.inDoubt)
	if err != nil {
		return err
	}
	// On the screen the answer would also apply to every later run.
	if o.screen() && inDoubt != "" {
		return exit.Usage("the full screen asks about steps in doubt: omit --in-doubt, or add --plain")
	}
	c, err := o.findContinued()
	if err != nil {
		return err
	}
	if o.screen() {
		return o.openScreen(ctx, tui.Options{Intro: c.note, Goal: goal}, c)
	}
	var commands []session.Command
	if c.run != "" {
		commands = append(commands, session.Resume{Run: c.run})
	}
	if goal != "" {
		commands = append(commands, session.Submit{Text: goal})
	}
	if len(commands) == 0 {
		return errors.Join(exit.Usage("no run of this folder was interrupted, and there is no terminal for the full screen: name the next goal with replan --continue GOAL, or resume a failed run with replan plan resume RUN"), c.close())
	}
	if c.note != "" {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", c.note)
	}
	err = o.headless(ctx, headlessJob{commands: commands, restored: c.session, inDoubt: inDoubt})
	return errors.Join(err, o.plans().printDoubts(c.run, err))
}

// close releases a session that is not continued.
func (c continued) close() error {
	if c.session == nil {
		return nil
	}
	return c.session.Journal.Close()
}

// findContinued finds and opens the session to continue.
func (o screens) findContinued() (continued, error) {
	var c continued
	run, ok, err := o.store.NewestRun(o.Workspace)
	if err != nil {
		return c, o.unopened(err)
	}
	if !ok {
		return c, exit.Usage("there is nothing to continue in this folder: no run was started here; start with replan, or replan run GOAL")
	}
	if !o.screen() {
		if err := o.canReview(&run); err != nil {
			return c, err
		}
	}
	if run.Resumable() && (run.Result == nil || run.Result.Reason == event.ReasonInterrupted) {
		c.run = run.ID
	}
	id := run.Summary().Session
	j, events, err := o.store.Sessions.Open(strings.TrimSpace(id))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, event.ErrNoEvents), id == "":
		c.note = "the conversation is gone; its newest run is still there"
		return c, nil
	case errors.Is(err, journal.ErrLocked):
		return c, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: fmt.Errorf("the session %s is open in another replan: close that one, or omit --continue", id)}
	case err != nil:
		return c, o.unopened(err)
	}
	c.session = &runner.Restored{ID: id, Journal: j, Events: events}
	return c, nil
}
