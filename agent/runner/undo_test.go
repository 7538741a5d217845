package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// undoer returns the same result for every undo.
type undoer struct {
	mu       sync.Mutex
	requests []string // runs, with the prefix "preview " for previews
	result   event.Undo
	err      error
}

func (u *undoer) undo(_ context.Context, c session.Undo, dry bool) (event.Undo, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	request := c.Run
	if c.Redo {
		request = "redo " + request
	}
	if dry {
		request = "preview " + request
	}
	u.requests = append(u.requests, request)
	result := u.result
	result.Run = c.Run
	return result, u.err
}

// undoable lets a session undo runs with u.
func undoable(u *undoer) func(*stage) {
	return func(s *stage) {
		s.config = func(c *runner.Config) { c.Undo = u.undo }
	}
}

func changedOne() event.Undo {
	return event.Undo{Files: []event.UndoneFile{{Path: "a.txt", Action: "restored"}}, Diff: "-b\n+a\n"}
}

func TestUndoIsPreviewedAppliedAndReportedToModel(t *testing.T) {
	u := &undoer{result: changedOne()}
	s := open(t, policy.ApproveAll, undoable(u))
	s.run(t, "do it")
	if shown, err := s.PreviewUndo(t.Context(), "r-2"); err != nil || shown.Run != "r-2" || shown.Diff == "" || len(shown.Files) != 1 || shown.Refused != "" {
		t.Errorf("got the preview %+v", shown)
	}
	s.Send(session.Undo{Run: "r-2"})
	if got := until[event.ChatUndone](t, s); got.Run != "r-2" || got.Diff != "" || len(got.Files) != 1 {
		t.Errorf("got the event %+v", got)
	}
	if reply := until[event.ChatReply](t, s); !strings.Contains(string(reply.Text), "Undid run r-2") || !strings.Contains(string(reply.Text), "restored `a.txt`") {
		t.Errorf("got the reply %q", reply.Text)
	}
	mentionsUndo := func(m prompt.Message) bool {
		return m.Role == prompt.RoleUser && strings.Contains(m.Content, "I undid the run r-2") && strings.Contains(m.Content, "a.txt")
	}
	if started := s.run(t, "go on"); !slices.ContainsFunc(started.Prompting.Conversation, mentionsUndo) {
		t.Errorf("the next run has the conversation %+v", started.Prompting.Conversation)
	}
	s.shut()
	stored := s.journals["session"]
	if !slices.ContainsFunc(stored.events, func(e event.Event) bool { return e.Data.Kind() == event.KindChatUndone }) {
		t.Error("the session's journal does not hold the undo")
	}
	again := open(t, policy.ApproveAll, func(a *stage) {
		a.config = func(c *runner.Config) {
			c.Restored = &runner.Restored{ID: s.ID(), Journal: &memory{room: -1}, Events: slices.Clone(stored.events)}
		}
	})
	if started := again.run(t, "and on"); !slices.ContainsFunc(started.Prompting.Conversation, mentionsUndo) {
		t.Errorf("the restored session has the conversation %+v", started.Prompting.Conversation)
	}
}

func TestRedoIsPreviewedAppliedAndReportedToModel(t *testing.T) {
	u := &undoer{result: changedOne()}
	s := open(t, policy.ApproveAll, undoable(u))
	s.run(t, "do it")
	if shown, err := s.PreviewRedo(t.Context(), ""); err != nil || !shown.Redo || shown.Diff == "" {
		t.Errorf("got the preview %+v, %v", shown, err)
	}
	s.Send(session.Undo{Run: "r-2", Redo: true})
	if got := until[event.ChatUndone](t, s); got.Run != "r-2" || !got.Redo || len(got.Files) != 1 {
		t.Errorf("got the event %+v", got)
	}
	if reply := until[event.ChatReply](t, s); !strings.Contains(string(reply.Text), "Redid run r-2:\n\n- changed again `a.txt`") {
		t.Errorf("got the reply %q", reply.Text)
	}
	if !slices.Equal(u.requests, []string{"preview redo ", "redo r-2"}) {
		t.Errorf("requests: %q", u.requests)
	}
	started := s.run(t, "go on")
	if !slices.ContainsFunc(started.Prompting.Conversation, func(m prompt.Message) bool {
		return strings.Contains(m.Content, "I redid the run r-2: its changes are back in a.txt")
	}) {
		t.Errorf("the next run has the conversation %+v", started.Prompting.Conversation)
	}
}

func TestRefusedUndoGivesReason(t *testing.T) {
	for name, c := range map[string]struct {
		undoer *undoer
		want   string
	}{
		"file changed since": {&undoer{result: event.Undo{Refused: "a.txt changed since", Diff: "-a\n+mine\n"}}, "a.txt changed since"},
		"unreadable list":    {&undoer{err: errors.New("the list is damaged")}, "the list is damaged"},
		"no changes kept":    {nil, "no changes are kept here"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				if c.undoer != nil {
					undoable(c.undoer)(s)
				}
			})
			s.Send(session.Undo{Run: "r-2"})
			if got := until[session.UndoRefused](t, s); !strings.Contains(got.Refused, c.want) {
				t.Errorf("got the event %+v", got)
			}
			if reply := until[event.ChatReply](t, s); reply.Status != event.StatusFailed || !strings.Contains(string(reply.Text), c.want) {
				t.Errorf("got the reply %+v", reply)
			}
		})
	}
}

func TestUndoWaitsForRunningRun(t *testing.T) {
	u := &undoer{result: changedOne()}
	s := open(t, policy.ApproveAll, func(s *stage) {
		undoable(u)(s)
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: make(chan struct{})}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	run := s.seen[len(s.seen)-1].Run
	for _, c := range []session.Undo{{Run: run}, {Run: "r-other"}, {Run: "r-other", Redo: true}} {
		s.Send(c)
		if got := until[session.UndoRefused](t, s); !strings.Contains(got.Refused, "is active") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	if got, err := s.PreviewUndo(t.Context(), run); err != nil || !strings.Contains(got.Refused, "is active") {
		t.Errorf("preview of the running run: %+v, %v", got, err)
	}
	if got, err := s.PreviewUndo(t.Context(), "r-other"); err != nil || got.Refused != "" || len(got.Files) != 1 { // a preview changes nothing
		t.Errorf("%+v, %v", got, err)
	}
	s.shut()
	if len(u.requests) != 1 {
		t.Errorf("got the requests %+v, want one", u.requests)
	}
}

func TestCallsNameTheirRun(t *testing.T) {
	var mu sync.Mutex
	var runs []string
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			runs = append(runs, c.Run)
			return "seen", nil
		}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	run := s.seen[len(s.seen)-1].Run
	until[event.ChatReply](t, s)
	if !slices.Equal(runs, []string{run, run}) {
		t.Errorf("got the runs %q, want %q twice", runs, run)
	}
}

func TestDirtyTreeIsReportedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		files int
		want  string
	}{
		"three uncommitted files": {twoSteps, 3, "3 files have uncommitted changes; in git"},
		"one uncommitted file":    {twoSteps, 1, "1 file has uncommitted changes; in git"},
		"clean tree":              {twoSteps, 0, ""},
		"commit":                  {`{"title":"One","steps":[{"title":"Commit","tool":"vcs.commit","args":{}}]}`, 3, ""},
		"read-only plan":          {`{"title":"One","steps":[{"title":"Look","tool":"look","args":{}}]}`, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.replies[prompt.PurposePlan] = c.plan
				commit := plan.Tool{Name: "vcs.commit", Server: "workspace", Trusted: true, Annotated: true, Destructive: true, InputSchema: json.RawMessage(`{"type":"object"}`)}
				s.tools.offered = append(s.tools.Ready(t.Context()), commit)
				s.config = func(cfg *runner.Config) { cfg.Dirty = func(context.Context) int { return c.files } }
			})
			if started := s.run(t, "do it"); started.Dirty != c.files {
				t.Errorf("the run started with %d dirty files", started.Dirty)
			}
			var notes []string
			for _, e := range s.seen {
				if n, ok := e.Data.(event.Note); ok {
					notes = append(notes, n.Level+" "+string(n.Text))
				}
			}
			switch {
			case c.want == "" && len(notes) > 0, c.want != "" && (len(notes) != 1 || !strings.HasPrefix(notes[0], "warn "+c.want)):
				t.Errorf("got the notes %q", notes)
			}
		})
	}
}
