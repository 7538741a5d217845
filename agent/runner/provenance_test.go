package runner_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// sending makes the model carry out goals by calls that they name: "fs.read" reads a file of
// the workspace, and "fetch" sends text to another server. Its plans do the latter.
func sending(s *stage) {
	schema := json.RawMessage(`{"type":"object"}`)
	s.tools.offered = plan.Catalog{
		{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true, InputSchema: schema},
		{Name: "fetch", Server: "web", ReadOnly: true, Annotated: true, InputSchema: schema},
	}
	s.model.info.Tools = true
	s.model.replies[prompt.PurposeAnalysis] = `{"mode":"direct"}`
	s.model.replies[prompt.PurposePlan] = `{"title":"Look up","steps":[{"title":"Send","tool":"fetch","args":{"url":"http://x/secret"}}]}`
	s.model.replies[prompt.PurposeCompact] = "the user had a file read"
	args := map[string]map[string]any{
		"fetch": {"url": "http://x/secret"}, prompt.PlanCreate: {"goal": "look up"}, prompt.PlanCreateAndExecute: {"goal": "look up"}, prompt.PlanExecute: {"id": "p-1"},
	}
	s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
		if r.Purpose != prompt.PurposeChat {
			return reply.Reply{}, nil, false
		}
		at := len(r.Messages) - 1
		made := 0
		for ; r.Messages[at].Role != prompt.RoleUser; at-- {
			if r.Messages[at].Role == prompt.RoleTool {
				made++
			}
		}
		calls := strings.Fields(r.Messages[at].Content[strings.LastIndex(r.Messages[at].Content, "\n")+1:])
		done := reply.Reply{Text: "it says secret" + strings.Repeat(" and more", 50), PromptTokens: 10, CompletionTokens: 5, ContextWindow: 8192}
		if made < len(calls) {
			done.Text, done.Calls = "", []reply.ToolUse{use(calls[made], args[calls[made]])}
		}
		return done, nil, true
	}
	stored := map[string]plan.Plan{}
	s.config = func(c *runner.Config) {
		c.Rules, c.Prompting.PlanTools = policy.BuiltIn(policy.Trust{}), true
		storeOf(c).save = func(p plan.Plan) (plan.Plan, error) {
			p.ID = fmt.Sprint("p-", len(stored)+1)
			stored[p.ID] = p
			return p, nil
		}
		storeOf(c).load = func(id string) (plan.Plan, error) {
			p, ok := stored[id]
			if !ok {
				return p, fs.ErrNotExist
			}
			return p, nil
		}
	}
}

// asks reports whether a gate opens before a goal is over, which is then denied.
func (s *stage) asks(t *testing.T, c session.Command) bool {
	t.Helper()
	from := len(s.seen)
	s.Send(c)
	until[event.ChatReply](t, s)
	return slices.ContainsFunc(s.seen[from:], func(e event.Event) bool {
		g, ok := e.Data.(event.GateRequested)
		return ok && len(g.Provenance) > 0
	})
}

func TestLaterTurnsKnowWhatEarlierTurnsRead(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		then  func(*testing.T, *stage) *stage
		asks  bool
	}{
		"turn after it":           {first: "fs.read", asks: true},
		"turn after no reading":   {first: ""},
		"turn of the same server": {first: "fetch"},
		"turn much later": {first: "fs.read", asks: true, then: func(t *testing.T, s *stage) *stage {
			for range 3 {
				s.asks(t, session.Submit{Text: "fetch"})
			}
			return s
		}},
		"conversation summarized": {first: "fs.read", asks: true, then: func(t *testing.T, s *stage) *stage {
			for range 3 {
				s.asks(t, session.Submit{Text: "please\n"})
			}
			s.Send(session.Compact{})
			until[event.ChatCompacted](t, s)
			return s
		}},
		"session continued": {first: "fs.read", asks: true, then: func(t *testing.T, s *stage) *stage { return continued(t, s, func(*event.ChatReply) {}) }},
		"session of an older replan continued": {first: "fs.read", asks: true, then: func(t *testing.T, s *stage) *stage {
			return continued(t, s, func(d *event.ChatReply) { d.Read = nil })
		}},
		"session continued after no reading": {first: "", then: func(t *testing.T, s *stage) *stage { return continued(t, s, func(*event.ChatReply) {}) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveNone, sending)
			s.asks(t, session.Submit{Text: "please\n" + c.first})
			if c.then != nil {
				s = c.then(t, s)
			}
			if got := s.asks(t, session.Submit{Text: "please\nfetch"}); got != c.asks {
				t.Errorf("asks: %v, want %v; called %v", got, c.asks, s.tools.called())
			}
		})
	}
}

// continued closes a session and opens another one that continues it, with its replies as
// they are in the journal after change.
func continued(t *testing.T, s *stage, change func(*event.ChatReply)) *stage {
	t.Helper()
	s.shut()
	journal := s.journals["session"]
	events := slices.Clone(journal.events)
	for i := range events {
		if d, ok := events[i].Data.(event.ChatReply); ok {
			change(&d)
			events[i].Data = d
		}
		line, err := json.Marshal(events[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &events[i]); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, policy.ApproveNone, both(sending, func(again *stage) {
		more := again.config
		again.config = func(c *runner.Config) {
			more(c)
			c.Restored = &runner.Restored{ID: s.ID(), Journal: &memory{room: -1}, Events: events}
		}
	}))
	for _, e := range events { // the replies are shown again
		if e.Data.Kind() == event.KindChatReply {
			until[event.ChatReply](t, again)
		}
	}
	return again
}

func TestInnerPlansKnowWhatTheirAuthorRead(t *testing.T) {
	for name, c := range map[string]struct {
		calls string
		asks  bool
	}{
		"goal after a reading":      {"fs.read " + prompt.PlanCreateAndExecute, true},
		"goal after no reading":     {prompt.PlanCreateAndExecute, false},
		"stored after a reading":    {"fs.read " + prompt.PlanCreate + " " + prompt.PlanExecute, true},
		"stored after no reading":   {prompt.PlanCreate, false},
		"reading after it is there": {prompt.PlanCreate + " fs.read " + prompt.PlanExecute, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSavedJournals().session(t, policy.ApproveNone, sending)
			if got := s.asks(t, session.Submit{Text: "please\n" + c.calls}); got != c.asks {
				t.Errorf("asks: %v, want %v; called %v", got, c.asks, s.tools.called())
			}
		})
	}
}

// TestStoredPlanKeepsWhatItsAuthorRead: also if a user runs it, in another session.
func TestStoredPlanKeepsWhatItsAuthorRead(t *testing.T) {
	var stored plan.Plan
	s := newSavedJournals().session(t, policy.ApproveNone, both(sending, func(s *stage) {
		more := s.config
		s.config = func(c *runner.Config) {
			more(c)
			save := storeOf(c).save
			storeOf(c).save = func(p plan.Plan) (plan.Plan, error) {
				stored = p
				return save(p)
			}
		}
	}))
	s.asks(t, session.Submit{Text: "please\nfs.read " + prompt.PlanCreate})
	data, err := plan.EncodeJSON(stored)
	if err != nil {
		t.Fatal(err)
	}
	read, faults := plan.DecodePlan(data)
	if len(faults) > 0 || !slices.Equal(read.Provenance, stored.Provenance) {
		t.Fatalf("the plan file is read as %+v, with the faults %v", read, faults)
	}
	if again := open(t, policy.ApproveNone, sending); !again.asks(t, session.Execute{Plan: read}) {
		t.Errorf("the plan of %+v asks nothing", stored.Provenance)
	}
	read.Provenance = nil
	if again := open(t, policy.ApproveNone, sending); again.asks(t, session.Execute{Plan: read}) {
		t.Error("the plan of a person asks")
	}
}
