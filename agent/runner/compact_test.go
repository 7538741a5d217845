package runner_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// talkative has answers so long that a few of them fill the window.
func talkative(s *stage) {
	s.model.info.ContextWindow = 16384
	s.model.replies[prompt.PurposeSynthesis] = "done " + strings.Repeat("and done ", 500) + "again"
	s.model.replies[prompt.PurposeCompact] = "the user had things done"
}

// untilCompacted submits goals until the conversation is summed up.
func untilCompacted(t *testing.T, s *stage) (told event.ChatCompacted, before []prompt.Message) {
	t.Helper()
	for i := range 40 {
		started := s.run(t, fmt.Sprint("goal ", i))
		for _, e := range s.seen {
			if told, ok := e.Data.(event.ChatCompacted); ok {
				return told, before
			}
		}
		before = append(started.Prompting.Conversation,
			prompt.Message{Role: prompt.RoleUser, Content: started.Goal},
			prompt.Message{Role: prompt.RoleAssistant, Content: s.model.replies[prompt.PurposeSynthesis]})
	}
	t.Fatal("the conversation was never summed up")
	return told, nil
}

func TestAConversationThatFillsTheWindowIsSummedUp(t *testing.T) {
	s := open(t, policy.ApproveAll, talkative)
	told, before := untilCompacted(t, s)
	if told.Summary != "the user had things done" || told.Kept != 4 || told.Turns != len(before)-4 || told.After >= told.Before || told.ByRule || told.Tokens != 15 || told.Reason == "" {
		t.Errorf("%+v", told)
	}
	_, started := last[event.RunStarted](t, s)
	if want := prompt.Compact(before, told.Summary, 4); !reflect.DeepEqual(started.Prompting.Conversation, want) {
		t.Errorf("the next run remembers %d turns, of which the first are %q", len(started.Prompting.Conversation), started.Prompting.Conversation[:2])
	}
	asked := s.model.requests(prompt.PurposeCompact)
	if len(asked) != 1 || asked[0].Model != "m" {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	for _, m := range asked[0].Messages {
		if m.Content == "goal "+fmt.Sprint(len(before)/2-1) {
			t.Error("what stays as it is was to be summed up, too")
		}
	}
	s.shut()
	journalled := false
	for _, e := range s.journals["session"].events {
		journalled = journalled || e.Data.Kind() == event.KindChatCompacted
	}
	if !journalled {
		t.Error("nothing of it is in the journal")
	}
}

func TestAModelThatCannotSumUpIsReplacedByARule(t *testing.T) {
	for rule, theReply := range map[string]reply.Reply{
		"it says nothing":           {Text: "  "},
		"it is cut off":             {Text: "the user", CutOff: true},
		"it repeats the whole talk": {Text: strings.Repeat("and done ", 5000)},
	} {
		t.Run(rule, func(t *testing.T) {
			s := open(t, policy.ApproveAll, both(talkative, func(s *stage) {
				s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
					return theReply, nil, r.Purpose == prompt.PurposeCompact
				}
			}))
			told, before := untilCompacted(t, s)
			if !told.ByRule || told.Summary != prompt.Digest(before[:told.Turns]) {
				t.Errorf("%+v", told)
			}
		})
	}
	s := open(t, policy.ApproveAll, both(talkative, func(s *stage) { delete(s.model.replies, prompt.PurposeCompact) }))
	if told, _ := untilCompacted(t, s); !told.ByRule || told.Tokens != 0 {
		t.Errorf("of a model that fails: %+v", told)
	}
}

func TestASummaryIsUndone(t *testing.T) {
	k := newShelf()
	s := k.session(t, policy.ApproveAll, talkative)
	told, before := untilCompacted(t, s)
	s.Send(runner.Compact{Undo: true})
	undone := until[event.ChatCompacted](t, s)
	if !undone.Undone || undone.After <= undone.Before || undone.Turns != told.Turns || undone.Kept != 6 {
		t.Errorf("%+v", undone)
	}
	_, answered := last[event.RunStarted](t, s)
	want := append(before,
		prompt.Message{Role: prompt.RoleUser, Content: answered.Goal},
		prompt.Message{Role: prompt.RoleAssistant, Content: s.model.replies[prompt.PurposeSynthesis]})
	if started := s.run(t, "after all"); !reflect.DeepEqual(started.Prompting.Conversation, want) {
		t.Errorf("the conversation is %d turns long, not %d", len(started.Prompting.Conversation), len(want))
	}
	s.Send(runner.Compact{Undo: true})
	if note := until[event.Note](t, s); !strings.Contains(note.Text, "nothing to put back") {
		t.Errorf("said %+v", note)
	}
}

func TestASessionThatIsGoneOnWithKeepsItsSummaries(t *testing.T) {
	for rule, undo := range map[string]bool{"as they are": false, "unless they were undone": true} {
		t.Run(rule, func(t *testing.T) {
			k := newShelf()
			s := k.session(t, policy.ApproveAll, talkative)
			untilCompacted(t, s)
			if undo {
				s.Send(runner.Compact{Undo: true})
				until[event.ChatCompacted](t, s)
			}
			want := s.run(t, "last").Prompting.Conversation
			s.shut()
			j := k.sessions[s.ID()]
			again := k.session(t, policy.ApproveAll, both(talkative, func(again *stage) {
				again.config = func(c *runner.Config) {
					c.Restored = &runner.Restored{ID: s.ID(), Journal: j, Events: j.events}
				}
			}))
			got := again.run(t, "next").Prompting.Conversation
			if n := len(want) + 2; len(got) != n || !reflect.DeepEqual(got[:n-2], want) {
				t.Errorf("the conversation is\n%s\nand was\n%s", opening(got), opening(want))
			}
			if undo {
				return
			}
			again.Send(runner.Compact{Undo: true})
			if undone := until[event.ChatCompacted](t, again); !undone.Undone || undone.After <= undone.Before {
				t.Errorf("%+v", undone)
			}
		})
	}
}

// opening is how each turn of a conversation begins.
func opening(talk []prompt.Message) string {
	var out []string
	for _, m := range talk {
		out = append(out, fmt.Sprintf("%s: %.40s", m.Role, m.Content))
	}
	return strings.Join(out, "\n")
}

func TestAConversationIsSummedUpWhenTheUserAsks(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.model.replies[prompt.PurposeCompact] = "three things" })
	s.Send(runner.Compact{})
	if note := until[event.Note](t, s); !strings.Contains(note.Text, "nothing to sum up") {
		t.Errorf("said %+v", note)
	}
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.Send(runner.Compact{})
	told := until[event.ChatCompacted](t, s)
	if told.Turns != 2 || told.Kept != 4 || told.Summary != "three things" {
		t.Errorf("%+v", told)
	}
	s.Send(runner.Compact{})
	if note := until[event.Note](t, s); !strings.Contains(note.Text, "nothing to sum up") {
		t.Errorf("of a summary: %+v", note)
	}
}

func TestASummaryIsWrittenAfterTheRunThatGoesOn(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) { s.model.replies[prompt.PurposeCompact] = "three things" })
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	s.Send(runner.Submit{Text: "more"})
	until[event.RunStarted](t, s)
	s.Send(runner.Compact{})
	for q := until[session.Queue](t, s); len(q.Waiting) == 0; q = until[session.Queue](t, s) {
		continue // of the run that was got ready
	}
	close(hold)
	until[event.ChatReply](t, s)
	if told := until[event.ChatCompacted](t, s); told.Turns != 4 {
		t.Errorf("%+v", told)
	}
}

func TestAStopLeavesTheConversationAsItIs(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeCompact: make(chan struct{})}
	})
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.Send(runner.Compact{})
	s.Send(runner.Stop{})
	if note := until[event.Note](t, s); !strings.Contains(note.Text, "stays as it is") {
		t.Errorf("said %+v", note)
	}
	if started := s.run(t, "next"); len(started.Prompting.Conversation) != 6 {
		t.Errorf("%d turns are left", len(started.Prompting.Conversation))
	}
}

func TestASummaryCountsInTheBudgetOfTheSession(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits.MaxTokens = 200 }
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			return reply.Reply{Text: "short", PromptTokens: 150, CompletionTokens: 5}, nil, r.Purpose == prompt.PurposeCompact
		}
	})
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	used := int64(0)
	for range 3 {
		s.Send(runner.Submit{Text: "more"})
		used += until[event.ChatReply](t, s).Usage.Tokens()
	}
	if used >= 200 || used+155 < 200 {
		t.Fatalf("the runs alone used %d tokens", used)
	}
	s.Send(runner.Compact{})
	until[event.ChatCompacted](t, s)
	s.Send(runner.Submit{Text: "more"})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonTokenBudget {
		t.Errorf("%+v", reply)
	}
}
