package runner

import (
	"context"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/markdown"
	"replan/internal/untrusted"
)

// undoer undoes what runs changed, and takes that back.
type undoer struct {
	events       *publisher
	background   *background
	overview     *overview
	conversation *conversation
	do           func(ctx context.Context, c session.Undo, dry bool) (event.Undo, error) // nil undoes nothing
}

// refused returns why a run cannot be undone or redone now, "" if it can. active tells that
// it is in progress, and busy that any is.
func (u *undoer) refused(c session.Undo, active, busy bool) string {
	verb := "undo"
	if c.Redo {
		verb = "redo"
	}
	switch {
	case u.do == nil:
		return "no changes are kept here that can be restored"
	case active:
		return "the run " + c.Run + " is active: stop it first, or wait until it ends"
	case busy:
		return "a run is active: " + verb + " when it has ended"
	default:
		return ""
	}
}

// undo undoes or redoes a run, unless that was refused.
func (u *undoer) undo(ctx context.Context, c session.Undo, refused string) {
	if refused != "" {
		u.report(event.Undo{Run: c.Run, Redo: c.Redo, Refused: refused})
		return
	}
	u.background.run(func() func() {
		undone := u.carryOut(ctx, c, false)
		return func() {
			u.report(undone)
			u.overview.findBranch(ctx)
		}
	})
}

// carryOut undoes or redoes a run, or only previews that, in a worker.
func (u *undoer) carryOut(ctx context.Context, c session.Undo, preview bool) event.Undo {
	undone, err := u.do(ctx, c, preview)
	if err != nil {
		undone = event.Undo{Run: c.Run, Refused: err.Error()}
	}
	undone.Redo = c.Redo
	return undone
}

// report publishes the result of an undo. It also tells the model, whose
// knowledge of the files is now out of date.
func (u *undoer) report(undone event.Undo) {
	if undone.Refused != "" {
		_ = u.events.publish(session.UndoRefused{Undo: undone})
		_ = u.events.publish(failedReply(event.ReasonNotOpened, undone.Refused))
		return
	}
	undone.Diff = ""
	record := event.ChatUndone{Undo: undone}
	_ = u.events.publish(record)
	u.conversation.tellUndone(record)
	_ = u.events.publish(event.ChatReply{Text: untrusted.Text(undoReply(undone))})
	u.overview.weigh()
}

// undoReply describes a successful undo or redo in Markdown.
func undoReply(u event.Undo) string {
	id := agent.ShortID(u.Run)
	message := "Undid run " + id
	switch {
	case u.Redo && u.Already:
		message = "Run " + id + " is already redone: nothing was changed"
	case u.Redo && len(u.Files) == 0:
		message = "Run " + id + " is redone: its files are as it left them"
	case u.Redo:
		message = "Redid run " + id
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
		lines = append(lines, "- "+f.Done(u.Redo)+" "+markdown.Code(f.Path, 400))
	}
	for _, n := range u.Notes {
		lines = append(lines, "- note: "+markdown.Legible(n, 400))
	}
	return strings.Join(lines, "\n")
}
