package runner

import (
	"context"
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
)

// undoRefused says why a run cannot be undone now, "" if it can. A preview
// changes nothing, so that another run does not stand in its way.
func (s *Session) undoRefused(run string, preview bool) string {
	switch {
	case s.cfg.Undo == nil:
		return "nothing is kept here that could be put back"
	case s.running(run) != nil:
		return "the run " + run + " goes on: stop it first, or wait until it has ended"
	case s.busy() && !preview:
		return "a run goes on: undo when it has ended"
	default:
		return ""
	}
}

// carryOutUndo undoes a run, or with preview only finds out what that would do.
func (s *Session) carryOutUndo(ctx context.Context, run string, preview bool) event.Undo {
	u, err := s.cfg.Undo(ctx, run, preview)
	if err != nil {
		return event.Undo{Run: run, Refused: err.Error()}
	}
	return u
}

// undoRun undoes a run, unless it cannot be undone now.
func (s *Session) undoRun(ctx context.Context, run string) {
	if refused := s.undoRefused(run, false); refused != "" {
		s.undone(event.Undo{Run: run, Refused: refused})
		return
	}
	s.workers.Go(func() {
		u := s.carryOutUndo(ctx, run, false)
		s.outcomes <- outcome{finish: func() { s.undone(u) }}
	})
}

// undone tells the result of an undo. The model is told too: what it has read
// and written before is out of date.
func (s *Session) undone(u event.Undo) {
	if u.Refused != "" {
		_ = s.say(session.UndoRefused{Undo: u})
		_ = s.say(failed(event.ReasonNotOpened, u.Refused))
		return
	}
	u.Diff = ""
	told := event.ChatUndone{Undo: u}
	_ = s.say(told)
	s.unsay(told)
	_ = s.say(event.ChatReply{Text: u.Words()})
	s.weigh()
}

// unsay adds to the conversation that a run was undone.
func (s *Session) unsay(d event.ChatUndone) {
	if len(d.Files) == 0 {
		return
	}
	const shown = 20
	var names []string
	for _, f := range d.Files[:min(len(d.Files), shown)] {
		names = append(names, f.Path)
	}
	if more := len(d.Files) - shown; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	s.conversation = append(s.conversation, prompt.Message{
		Role:    prompt.RoleUser,
		Content: "(I undid the run " + d.Run + ": what it changed is put back as it was before, in " + strings.Join(names, ", ") + ".)",
	})
}

// countsDirty begins to count the files with changes that are not committed, and
// returns what waits for the count.
func (s *Session) countsDirty(ctx context.Context, j job) (count func() int) {
	if s.cfg.Dirty == nil || s.cfg.DryRun || j.resume != "" || j.compact || j.create {
		return func() int { return 0 }
	}
	counted := make(chan int, 1)
	s.workers.Go(func() { counted <- s.cfg.Dirty(ctx) })
	return func() int { return <-counted }
}
