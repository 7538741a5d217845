package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store/journal"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/crash"
	"replan/cli/exit"
	"replan/cli/folder"
	"replan/cli/logs"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/mcpclient"
	"replan/mcpclient/workspace/undo"
	"replan/tui"
	"replan/tui/wording"
)

// Open runs the full screen until the user leaves it, and then says how the
// last run can be continued or undone. It continues a session if one is given.
func Open(ctx context.Context, a *app.App, screen tui.Options, before Continued) error {
	opened := time.Now()
	sessions, err := OpenSessions(ctx, a, screen, before)
	run, found, unread := a.Store().NewestOfSessions(sessions, opened)
	if found && unread == nil {
		err = errors.Join(err, printExitHint(a, &run))
	}
	return err
}

// printExitHint prints a line about the last run of a screen that was left, if there is
// something to do with it.
func printExitHint(a *app.App, run *agent.Run) error {
	words := exitHint(run.Summary(), undo.Changed(a.Store().Runs.Dir, run.ID))
	if words == "" {
		return nil
	}
	return a.Out().PrintFaint(words)
}

// exitHint says how a run ended and which commands are about it, or "" if there is
// nothing to do with it. changed means that an undo would restore files.
func exitHint(s agent.Summary, changed bool) string {
	id, words := wording.ShortID(s.Run), wording.RunWords(s)
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

// OpenSessions runs the full screen until the user leaves it, and returns the sessions
// that were open. If the user chooses another conversation, it closes this one before
// it opens that.
func OpenSessions(ctx context.Context, a *app.App, screen tui.Options, before Continued) (sessions []string, err error) {
	for {
		next := ""
		if !a.Execution().DryRun {
			screen.GoOn = func(session string) { next = session }
		}
		a.TakeChoices()
		left, err := openOne(ctx, a, screen, before)
		sessions = append(sessions, left)
		if err != nil || next == "" || ctx.Err() != nil {
			return sessions, err
		}
		screen.Intro, screen.Goal, screen.Suggestions = "", "", nil
		if before.Session, err = openConversation(a, next); err != nil {
			// The previous conversation is still there.
			screen.Intro = "The conversation cannot be opened: " + exit.OneLine(err.Error())
			if before.Session, err = openConversation(a, left); err != nil {
				return sessions, err
			}
		}
		before.Run = ""
	}
}

// openConversation opens a conversation to continue.
func openConversation(a *app.App, id string) (*runner.Restored, error) {
	j, events, err := a.Store().Sessions.Open(id)
	switch {
	case errors.Is(err, event.ErrNoEvents):
		return nil, nil //nolint:nilnil // nothing was said in it: a new one is the same
	case errors.Is(err, journal.ErrLocked):
		return nil, &exit.Error{Status: exit.BadUsage, Code: "locked", Err: fmt.Errorf("the session %s is open in another replan: close that one first", id)}
	case err != nil:
		return nil, a.Out().Unopened(err)
	}
	return &runner.Restored{ID: id, Journal: j, Events: events}, nil
}

// openOne runs the screen of one session and returns the session's id.
func openOne(ctx context.Context, a *app.App, screen tui.Options, before Continued) (id string, err error) {
	trust := mcpclient.TrustNone
	if a.Gates().Approve == policy.ApproveAsk {
		trust = mcpclient.TrustAsk
	}
	w, err := a.Open(ctx, app.Opening{Trust: trust, Attended: true, Runs: true, Resume: before.Run, Screen: true, Restored: before.Session})
	if err != nil {
		return "", errors.Join(err, before.Close())
	}
	if before.Run != "" {
		w.Session().Send(session.Resume{Run: before.Run})
	}
	if notes := slices.Concat(w.Notes(), w.Ignored("")); len(notes) > 0 {
		screen.Intro = strings.TrimSpace(screen.Intro + "\n\n- " + strings.Join(notes, "\n- "))
	}
	screen.Examples = folder.ExampleGoals(a.Folders().Workspace)
	screen.Left = func(words string) { a.Out().Note("%s", words) }
	screen.Editor, screen.Commands = Editor(a.IO().Getenv), a.Commands().List
	screen.Pictures = newPictures(a.Folders())
	screen.Drawn = w.Tools().Start
	restore := logs.StandardError(w.Logger())
	err = exit.Wrap("the screen", Show(ctx, a, w.Session(), w.Watch(), screen))
	restore()
	err = errors.Join(err, exit.Wrap("end in order", w.Close()))
	a.Out().Notes(w.ExitNotes())
	return w.Session().ID(), err
}

// Show runs the screen of a session. A panic in it leaves a report; a panic on another
// goroutine does so through the watcher.
func Show(ctx context.Context, a *app.App, s tui.Session, watch *crash.Watch, screen tui.Options) error {
	screen.Version = a.Version()
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
	err := tui.Run(ctx, s, a.Appearance().Dress(screen, a.Folders().Dirs.Recents()))
	if errors.Is(err, tui.ErrStuck) {
		return &exit.Error{Status: exit.Interrupted, Code: "interrupted", Err: err}
	}
	if panicked, ok := errors.AsType[*tui.Panic](err); ok {
		return &exit.Error{Status: exit.Crashed, Code: "crashed", Err: errors.New(crash.Report(a.Folders().Dirs.Crashes(), a.Version(), panicked.Value, panicked.Stack))}
	}
	return err
}

// Editor returns the user's editor with its arguments; nil if unset.
func Editor(getenv func(string) string) []string {
	line := config.First(getenv("VISUAL"), getenv("EDITOR"))
	if strings.TrimSpace(line) == "" {
		return nil
	}
	words, err := slash.Split(line)
	if err != nil {
		return strings.Fields(line)
	}
	return words
}
