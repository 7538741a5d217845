package runner_test

import (
	"context"
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

// undoer undoes every run alike.
type undoer struct {
	mu    sync.Mutex
	asked []string // runs, with "preview " before those that were only previewed
	came  event.Undo
	err   error
}

func (u *undoer) undo(_ context.Context, run string, dry bool) (event.Undo, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if dry {
		u.asked = append(u.asked, "preview "+run)
	} else {
		u.asked = append(u.asked, run)
	}
	came := u.came
	came.Run = run
	return came, u.err
}

// undoable is a session whose runs changed a file.
func undoable(u *undoer) func(*stage) {
	return func(s *stage) {
		s.config = func(c *runner.Config) { c.Undo = u.undo }
	}
}

func changedOne() event.Undo {
	return event.Undo{Files: []event.UndoneFile{{Path: "a.txt", Action: "restored"}}, Diff: "-b\n+a\n"}
}

func TestAnUndoIsShownThenDoneAndHeardByTheModel(t *testing.T) {
	u := &undoer{came: changedOne()}
	s := open(t, policy.ApproveAll, undoable(u))
	s.run(t, "do it")
	if shown, err := s.PreviewUndo(t.Context(), "r-2"); err != nil || shown.Run != "r-2" || shown.Diff == "" || len(shown.Files) != 1 || shown.Refused != "" {
		t.Errorf("it shows %+v", shown)
	}
	s.Send(runner.Undo{Run: "r-2"})
	if told := until[event.ChatUndone](t, s); told.Run != "r-2" || told.Diff != "" || len(told.Files) != 1 {
		t.Errorf("it tells %+v", told)
	}
	if reply := until[event.ChatReply](t, s); !strings.Contains(reply.Text, "undid the run r-2") || !strings.Contains(reply.Text, "restored `a.txt`") {
		t.Errorf("it says %q", reply.Text)
	}
	heard := func(m prompt.Message) bool {
		return m.Role == prompt.RoleUser && strings.Contains(m.Content, "I undid the run r-2") && strings.Contains(m.Content, "a.txt")
	}
	if started := s.run(t, "go on"); !slices.ContainsFunc(started.Prompting.Conversation, heard) {
		t.Errorf("the next run remembers %q", started.Prompting.Conversation)
	}
	s.shut()
	kept := s.journals["session"]
	if !slices.ContainsFunc(kept.events, func(e event.Event) bool { return e.Data.Kind() == event.KindChatUndone }) {
		t.Error("the session's journal does not tell of it")
	}
	again := open(t, policy.ApproveAll, func(a *stage) {
		a.config = func(c *runner.Config) {
			c.Restored = &runner.Restored{ID: s.ID(), Journal: &memory{room: -1}, Events: slices.Clone(kept.events)}
		}
	})
	if started := again.run(t, "and on"); !slices.ContainsFunc(started.Prompting.Conversation, heard) {
		t.Errorf("a session that is gone on with remembers %q", started.Prompting.Conversation)
	}
}

func TestAnUndoThatIsRefusedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		undoer *undoer
		says   string
	}{
		"a file changed since": {&undoer{came: event.Undo{Refused: "a.txt changed since", Diff: "-a\n+mine\n"}}, "a.txt changed since"},
		"it cannot be read":    {&undoer{err: errors.New("the list is damaged")}, "the list is damaged"},
		"nothing is kept here": {nil, "nothing is kept here"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				if c.undoer != nil {
					undoable(c.undoer)(s)
				}
			})
			s.Send(runner.Undo{Run: "r-2"})
			if told := until[session.UndoRefused](t, s); !strings.Contains(told.Refused, c.says) {
				t.Errorf("it tells %+v", told)
			}
			if reply := until[event.ChatReply](t, s); reply.Status != event.StatusFailed || !strings.Contains(reply.Text, c.says) {
				t.Errorf("it says %+v", reply)
			}
		})
	}
}

func TestNoRunIsUndoneWhileOneGoesOn(t *testing.T) {
	u := &undoer{came: changedOne()}
	s := open(t, policy.ApproveAll, func(s *stage) {
		undoable(u)(s)
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: make(chan struct{})}
	})
	s.Send(runner.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	run := s.seen[len(s.seen)-1].Run
	for _, c := range []runner.Undo{{Run: run}, {Run: "r-other"}} {
		s.Send(c)
		if told := until[session.UndoRefused](t, s); !strings.Contains(told.Refused, "goes on") {
			t.Errorf("%+v: %+v", c, told)
		}
	}
	if told, err := s.PreviewUndo(t.Context(), run); err != nil || !strings.Contains(told.Refused, "goes on") {
		t.Errorf("a preview of the run in progress: %+v, %v", told, err)
	}
	if told, err := s.PreviewUndo(t.Context(), "r-other"); err != nil || told.Refused != "" || len(told.Files) != 1 { // a preview changes nothing
		t.Errorf("%+v, %v", told, err)
	}
	s.shut()
	if len(u.asked) != 1 {
		t.Errorf("it was asked for %+v", u.asked)
	}
}

func TestEveryCallNamesItsRun(t *testing.T) {
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
	s.Send(runner.Submit{Text: "do it"})
	until[event.RunStarted](t, s)
	run := s.seen[len(s.seen)-1].Run
	until[event.ChatReply](t, s)
	if !slices.Equal(runs, []string{run, run}) {
		t.Errorf("the calls name %q, not %q", runs, run)
	}
}

func TestARunOnADirtyTreeSaysSoOnce(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string
		files int
		says  string
	}{
		"files that are not committed":   {twoSteps, 3, "3 files have changes that git has not committed"},
		"one file that is not committed": {twoSteps, 1, "1 file has changes that git has not committed"},
		"a clean tree":                   {twoSteps, 0, ""},
		"a plan that only reads":         {`{"title":"One","steps":[{"title":"Look","tool":"look","args":{}}]}`, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.replies[prompt.PurposePlan] = c.plan
				s.config = func(cfg *runner.Config) { cfg.Dirty = func(context.Context) int { return c.files } }
			})
			if started := s.run(t, "do it"); started.Dirty != c.files {
				t.Errorf("the run began with %d", started.Dirty)
			}
			var notes []string
			for _, e := range s.seen {
				if n, ok := e.Data.(event.Note); ok {
					notes = append(notes, n.Level+" "+n.Text)
				}
			}
			switch {
			case c.says == "" && len(notes) > 0, c.says != "" && (len(notes) != 1 || !strings.HasPrefix(notes[0], "warn "+c.says)):
				t.Errorf("the notes are %q", notes)
			}
		})
	}
}
