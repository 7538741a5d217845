package runner

import (
	"context"
	"fmt"
	"strings"

	"replan/agent"
	"replan/agent/session"
	"replan/planning/prompt"
)

// undoRun puts back what a run changed, or says what that would do.
func (s *Session) undoRun(ctx context.Context, c Undo) {
	refused := ""
	switch {
	case s.cfg.Undo == nil:
		refused = "nothing is kept here that could be put back"
	case s.running(c.Run) != nil:
		refused = "the run " + c.Run + " goes on: stop it first, or wait until it has ended"
	case s.busy() && !c.Dry:
		refused = "a run goes on: undo when it has ended"
	}
	if refused != "" {
		s.notUndone(agent.Undo{Run: c.Run, Refused: refused}, c.Dry)
		return
	}
	s.workers.Go(func() {
		u, err := s.cfg.Undo(ctx, c.Run, c.Dry)
		if err != nil {
			u = agent.Undo{Run: c.Run, Refused: err.Error()}
		}
		s.said <- said{then: undone{Undo: u, dry: c.Dry}}
	})
}

// undone is what came of an undo.
type undone struct {
	agent.Undo
	dry bool
}

func (undone) command() {}

// notUndone tells what an undo would do, or why it does nothing.
func (s *Session) notUndone(u agent.Undo, dry bool) {
	_ = s.say(session.UndoAnswer{Undo: u})
	if !dry {
		_ = s.say(failed(agent.ReasonNotOpened, u.Refused))
	}
}

// undone tells what came of an undo. The model hears of it too: what it has
// read and written before is no longer so.
func (s *Session) undone(c undone) {
	if c.dry || c.Refused != "" {
		s.notUndone(c.Undo, c.dry)
		return
	}
	c.Diff = ""
	told := agent.ChatUndone{Undo: c.Undo}
	_ = s.say(told)
	s.unsay(told)
	_ = s.say(agent.ChatReply{Text: c.Words()})
	s.weigh()
}

// unsay adds to the conversation that a run was undone.
func (s *Session) unsay(d agent.ChatUndone) {
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
