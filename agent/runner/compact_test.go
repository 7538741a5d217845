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

// withLongAnswers makes answers so long that a few of them fill the window.
func withLongAnswers(s *stage) {
	s.model.info.ContextWindow = 16384
	s.model.replies[prompt.PurposeSynthesis] = "done " + strings.Repeat("and done ", 500) + "again"
	s.model.replies[prompt.PurposeCompact] = "the user had things done"
}

// untilCompacted submits goals until the conversation is summarized.
func untilCompacted(t *testing.T, s *stage) (summary event.ChatCompacted, before []prompt.Message) {
	t.Helper()
	for i := range 40 {
		started := s.run(t, fmt.Sprint("goal ", i))
		for _, e := range s.seen {
			if summary, ok := e.Data.(event.ChatCompacted); ok {
				return summary, before
			}
		}
		before = append(started.Prompting.Conversation,
			prompt.Message{Role: prompt.RoleUser, Content: string(started.Goal)},
			prompt.Message{Role: prompt.RoleAssistant, Content: s.model.replies[prompt.PurposeSynthesis]})
	}
	t.Fatal("the conversation was never summarized")
	return summary, nil
}

func TestFullConversationIsSummarized(t *testing.T) {
	s := open(t, policy.ApproveAll, withLongAnswers)
	summary, before := untilCompacted(t, s)
	if summary.Summary != "the user had things done" || summary.Kept != 4 || summary.Turns != len(before)-4 || summary.After >= summary.Before || summary.ByRule || summary.Tokens != 15 || summary.Reason == "" {
		t.Errorf("%+v", summary)
	}
	_, started := last[event.RunStarted](t, s)
	if want := prompt.Compact(before, string(summary.Summary), 4); !reflect.DeepEqual(started.Prompting.Conversation, want) {
		t.Errorf("the next run has %d turns, which start with %+v", len(started.Prompting.Conversation), started.Prompting.Conversation[:2])
	}
	asked := s.model.requests(prompt.PurposeCompact)
	if len(asked) != 1 || asked[0].Model != "m" {
		t.Fatalf("the model got %d requests, want 1", len(asked))
	}
	for _, m := range asked[0].Messages {
		if m.Content == "goal "+fmt.Sprint(len(before)/2-1) {
			t.Error("the request includes turns that are kept")
		}
	}
	s.shut()
	journaled := false
	for _, e := range s.journals["session"].events {
		journaled = journaled || e.Data.Kind() == event.KindChatCompacted
	}
	if !journaled {
		t.Error("the journal holds no summary")
	}
}

func TestSummaryFallsBackToRule(t *testing.T) {
	for name, answer := range map[string]reply.Reply{
		"blank reply":    {Text: "  "},
		"reply cut off":  {Text: "the user", CutOff: true},
		"reply too long": {Text: strings.Repeat("and done ", 5000)},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, both(withLongAnswers, func(s *stage) {
				s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
					return answer, nil, r.Purpose == prompt.PurposeCompact
				}
			}))
			summary, before := untilCompacted(t, s)
			if !summary.ByRule || string(summary.Summary) != prompt.Digest(before[:summary.Turns]) {
				t.Errorf("%+v", summary)
			}
		})
	}
	s := open(t, policy.ApproveAll, both(withLongAnswers, func(s *stage) { delete(s.model.replies, prompt.PurposeCompact) }))
	if summary, _ := untilCompacted(t, s); !summary.ByRule || summary.Tokens != 0 {
		t.Errorf("with a failing model: %+v", summary)
	}
}

func TestCompactUndoRestoresConversation(t *testing.T) {
	k := newSavedJournals()
	s := k.session(t, policy.ApproveAll, withLongAnswers)
	summary, before := untilCompacted(t, s)
	s.Send(session.Compact{Undo: true})
	undone := until[event.ChatCompacted](t, s)
	if !undone.Undone || undone.After <= undone.Before || undone.Turns != summary.Turns || undone.Kept != 6 {
		t.Errorf("%+v", undone)
	}
	_, answered := last[event.RunStarted](t, s)
	want := append(before,
		prompt.Message{Role: prompt.RoleUser, Content: string(answered.Goal)},
		prompt.Message{Role: prompt.RoleAssistant, Content: s.model.replies[prompt.PurposeSynthesis]})
	if started := s.run(t, "after all"); !reflect.DeepEqual(started.Prompting.Conversation, want) {
		t.Errorf("got a conversation of %d turns, want %d", len(started.Prompting.Conversation), len(want))
	}
	s.Send(session.Compact{Undo: true})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "nothing to restore") {
		t.Errorf("got the note %+v", note)
	}
}

func TestRestoredSessionKeepsSummary(t *testing.T) {
	for name, undo := range map[string]bool{"kept": false, "undone": true} {
		t.Run(name, func(t *testing.T) {
			k := newSavedJournals()
			s := k.session(t, policy.ApproveAll, withLongAnswers)
			untilCompacted(t, s)
			if undo {
				s.Send(session.Compact{Undo: true})
				until[event.ChatCompacted](t, s)
			}
			want := s.run(t, "last").Prompting.Conversation
			s.shut()
			j := k.sessions[s.ID()]
			again := k.session(t, policy.ApproveAll, both(withLongAnswers, func(again *stage) {
				again.config = func(c *runner.Config) {
					c.Restored = &runner.Restored{ID: s.ID(), Journal: j, Events: j.events}
				}
			}))
			got := again.run(t, "next").Prompting.Conversation
			if n := len(want) + 2; len(got) != n || !reflect.DeepEqual(got[:n-2], want) {
				t.Errorf("got the conversation\n%s\nwant\n%s", opening(got), opening(want))
			}
			if undo {
				return
			}
			again.Send(session.Compact{Undo: true})
			if undone := until[event.ChatCompacted](t, again); !undone.Undone || undone.After <= undone.Before {
				t.Errorf("%+v", undone)
			}
		})
	}
}

// opening returns the beginning of each turn of a conversation.
func opening(turns []prompt.Message) string {
	var out []string
	for _, m := range turns {
		out = append(out, fmt.Sprintf("%s: %.40s", m.Role, m.Content))
	}
	return strings.Join(out, "\n")
}

func TestCompactSummarizesConversation(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.model.replies[prompt.PurposeCompact] = "three things" })
	s.Send(session.Compact{})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "nothing to summarize") {
		t.Errorf("got the note %+v", note)
	}
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.Send(session.Compact{})
	summary := until[event.ChatCompacted](t, s)
	if summary.Turns != 2 || summary.Kept != 4 || summary.Summary != "three things" {
		t.Errorf("%+v", summary)
	}
	s.Send(session.Compact{})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "nothing to summarize") {
		t.Errorf("after a summary: got the note %+v", note)
	}
}

func TestCompactWaitsForRunningRun(t *testing.T) {
	hold := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) { s.model.replies[prompt.PurposeCompact] = "three things" })
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeAnalysis: hold}
	s.Send(session.Submit{Text: "more"})
	until[event.RunStarted](t, s)
	s.Send(session.Compact{})
	for q := until[session.Queue](t, s); len(q.Waiting) == 0; q = until[session.Queue](t, s) {
		continue // skip the queue of the run in preparation
	}
	close(hold)
	until[event.ChatReply](t, s)
	if summary := until[event.ChatCompacted](t, s); summary.Turns != 4 {
		t.Errorf("%+v", summary)
	}
}

func TestStopDuringCompactKeepsConversation(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeCompact: make(chan struct{})}
	})
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	for i := range 3 {
		s.run(t, fmt.Sprint("goal ", i))
	}
	s.Send(session.Compact{})
	s.Send(session.Stop{})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "stays as it is") {
		t.Errorf("got the note %+v", note)
	}
	if started := s.run(t, "next"); len(started.Prompting.Conversation) != 6 {
		t.Errorf("got %d turns, want 6", len(started.Prompting.Conversation))
	}
}

func TestSummaryCountsTowardSessionBudget(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits.MaxTokens = 200 }
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			return reply.Reply{Text: "short", PromptTokens: 150, CompletionTokens: 5}, nil, r.Purpose == prompt.PurposeCompact
		}
	})
	s.model.replies[prompt.PurposeSynthesis] = strings.Repeat("and done ", 100)
	used := int64(0)
	for range 3 {
		s.Send(session.Submit{Text: "more"})
		used += until[event.ChatReply](t, s).Usage.Tokens()
	}
	if used >= 200 || used+155 < 200 {
		t.Fatalf("the runs alone used %d tokens", used)
	}
	s.Send(session.Compact{})
	until[event.ChatCompacted](t, s)
	s.Send(session.Submit{Text: "more"})
	if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonTokenBudget {
		t.Errorf("%+v", reply)
	}
}
