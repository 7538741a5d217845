package runner

import (
	"cmp"
	"context"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// undoRefused returns why a run cannot be undone now, "" if it can. A preview
// changes nothing, so other runs do not block it.
func (s *Session) undoRefused(run string, preview bool) string {
	switch {
	case s.cfg.Undo == nil:
		return "no changes are kept here that can be restored"
	case s.running(run) != nil:
		return "the run " + run + " is active: stop it first, or wait until it ends"
	case s.busy() && !preview:
		return "a run is active: undo when it has ended"
	default:
		return ""
	}
}

// carryOutUndo undoes a run, or only previews the undo.
func (s preparation) carryOutUndo(ctx context.Context, run string, preview bool) event.Undo {
	u, err := s.cfg.Undo(ctx, run, preview)
	if err != nil {
		return event.Undo{Run: run, Refused: err.Error()}
	}
	return u
}

// undoRun undoes a run, unless undoRefused objects.
func (s *Session) undoRun(ctx context.Context, run string) {
	if refused := s.undoRefused(run, false); refused != "" {
		s.undone(event.Undo{Run: run, Refused: refused})
		return
	}
	s.workers.Go(func() {
		u := s.preparation().carryOutUndo(ctx, run, false)
		s.outcomes <- outcome{finish: func() { s.undone(u) }}
	})
}

// undone publishes the result of an undo. It also tells the model, whose
// knowledge of the files is now out of date.
func (s *Session) undone(u event.Undo) {
	if u.Refused != "" {
		_ = s.publish(session.UndoRefused{Undo: u})
		_ = s.publish(failed(event.ReasonNotOpened, u.Refused))
		return
	}
	u.Diff = ""
	record := event.ChatUndone{Undo: u}
	_ = s.publish(record)
	s.conversation.undo(record)
	_ = s.publish(event.ChatReply{Text: untrusted.Text(undoReply(u))})
	s.weigh()
}

// offerChanges publishes the changes of runs in the copy of the workspace. If the user
// did not ask, it publishes them only while no run is active, and nothing for no changes.
func offerChanges(ctx context.Context, s *Session, asked bool) {
	if s.cfg.Copy == nil || !asked && s.busy() {
		return
	}
	s.settling = true
	s.workers.Go(func() {
		changes, err := s.cfg.Copy.Changes(ctx)
		s.outcomes <- outcome{finish: func() {
			s.settling = false
			switch {
			case err != nil:
				s.publishNote("warn", "the changes of the run cannot be found: "+err.Error())
			case !changes.Empty():
				s.offer = changes.Offer
				_ = s.publish(session.ChangesOffered{Changes: changes})
			case asked:
				s.publishNote("info", "no changes wait")
			}
			s.next(ctx)
		}}
	})
}

// settleChanges takes the chosen changes of the copy and drops the others or lets them
// wait, unless a run is active. A choice that names no offer is of the last one.
func settleChanges(ctx context.Context, s *Session, choice event.ChangesChoice) {
	choice.Offer = cmp.Or(choice.Offer, s.offer)
	switch {
	case s.cfg.Copy == nil:
		s.publishNote("info", "runs work in this folder itself: there are no changes to take")
		return
	case s.busy():
		_ = s.publish(session.ChangesSettled{SettledChanges: event.SettledChanges{Refused: "a run is active: take or drop its changes when it has ended"}})
		return
	case choice.Offer == "":
		s.publishNote("info", "nothing was taken or dropped: look at the changes first")
		offerChanges(ctx, s, true)
		return
	}
	s.settling = true
	s.workers.Go(func() {
		done, err := s.cfg.Copy.Settle(ctx, choice)
		if err != nil {
			done.Refused = err.Error()
		}
		s.outcomes <- outcome{finish: func() {
			s.settling = false
			settled(s, done)
			if done.Refused != "" {
				offerChanges(ctx, s, true) // as they are now
			}
			s.next(ctx)
		}}
	})
}

// settled publishes which changes were taken and which dropped. Runs whose changes
// were all dropped are undone.
func settled(s *Session, done event.SettledChanges) {
	_ = s.publish(session.ChangesSettled{SettledChanges: done})
	if done.Refused != "" {
		return
	}
	if len(done.Taken) == 0 && len(done.Dropped) > 0 {
		for _, run := range done.Runs {
			record := event.ChatUndone{Undo: event.Undo{Run: run, Files: []event.UndoneFile{}}}
			_ = s.publish(record)
			s.conversation.undo(record)
		}
	}
	_ = s.publish(event.ChatReply{Text: untrusted.Text(settledReply(done))})
	s.weigh()
}

// settledReply describes in Markdown which changes were taken and which dropped.
func settledReply(done event.SettledChanges) string {
	var lines []string
	list := func(heading string, paths []string) {
		if len(paths) > 0 {
			lines = append(lines, heading+":\n")
			for _, at := range paths {
				lines = append(lines, "- `"+at+"`")
			}
		}
	}
	var taken []string
	for _, f := range done.Taken {
		taken = append(taken, f.Path)
	}
	list("Took the changes of", taken)
	list("Dropped the changes of", done.Dropped)
	if len(lines) == 0 {
		lines = append(lines, "Nothing was taken")
	}
	for _, n := range done.Notes {
		lines = append(lines, "- note: "+n)
	}
	return strings.Join(lines, "\n")
}

// countsDirty starts counting the files with uncommitted changes and returns a
// function that waits for the count.
func (s preparation) countsDirty(ctx context.Context, j job) (count func() int) {
	if s.cfg.Dirty == nil || s.cfg.DryRun || j.resume != "" || j.compact || j.create && !j.run {
		return func() int { return 0 }
	}
	counted := make(chan int, 1)
	s.workers.Go(func() { counted <- s.cfg.Dirty(ctx) })
	return func() int { return <-counted }
}

// undoReply describes a successful undo in Markdown.
func undoReply(u event.Undo) string {
	id := agent.ShortID(u.Run)
	message := "Undid run " + id
	switch {
	case u.Already:
		message = "Run " + id + " is already undone: nothing was changed"
	case u.AsWas:
		message = "Run " + id + " is undone: its files are as they were before it"
	case len(u.Files) == 0:
		message = "Run " + id + " changed nothing that can be restored"
	}
	lines := []string{message}
	if len(u.Files)+len(u.Notes) > 0 {
		lines[0] += ":\n"
	}
	for _, f := range u.Files {
		lines = append(lines, "- "+f.Action+" `"+f.Path+"`")
	}
	for _, n := range u.Notes {
		lines = append(lines, "- note: "+n)
	}
	return strings.Join(lines, "\n")
}
