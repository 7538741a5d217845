package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// conversation returns n questions with their answers.
func conversation(n int) []prompt.Message {
	var messages []prompt.Message
	for i := range n {
		messages = append(messages,
			prompt.Message{Role: prompt.RoleUser, Content: fmt.Sprint("Question ", i+1, "?")},
			prompt.Message{Role: prompt.RoleAssistant, Content: fmt.Sprint("Answer ", i+1, ".\n", strings.Repeat("More of it. ", 60))})
	}
	return messages
}

func contents(messages []prompt.Message) string {
	var heads []string
	for _, m := range messages {
		head, _, _ := strings.Cut(m.Content, "\n")
		heads = append(heads, string(m.Role[0])+":"+head)
	}
	return strings.Join(heads, " | ")
}

func TestSummaryReplacesOldestMessages(t *testing.T) {
	const opening = "u:[The first %s of this conversation are left out from here on.] Sum up what was said in them. | a:[Summary of what was left out]"
	for name, tt := range map[string]struct {
		turns, keep int
		want        string
	}{
		"newest turns stay":           {3, 2, fmt.Sprintf(opening, "4 messages") + " | u:Question 3? | a:Answer 3."},
		"no turns stay":               {2, 0, fmt.Sprintf(opening, "4 messages")},
		"negative number":             {2, -3, fmt.Sprintf(opening, "4 messages")},
		"answer without its question": {3, 1, fmt.Sprintf(opening, "4 messages") + " | u:Question 3? | a:Answer 3."},
		"all turns stay":              {2, 4, "u:Question 1? | a:Answer 1. | u:Question 2? | a:Answer 2."},
		"more turns than there are":   {1, 9, "u:Question 1? | a:Answer 1."},
		"single turn":                 {1, 1, "u:Question 1? | a:Answer 1."},
		"empty conversation":          {0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := conversation(tt.turns)
			got := prompt.Compact(before, " The summary. ", tt.keep)
			if contents(got) != tt.want {
				t.Errorf("got  %s\nwant %s", contents(got), tt.want)
			}
			if contents(before) != contents(conversation(tt.turns)) {
				t.Error("the given conversation changed")
			}
			if strings.Contains(tt.want, "Summary") && !strings.HasSuffix(got[1].Content, "\n\nThe summary.") {
				t.Errorf("got the summary %q", got[1].Content)
			}
		})
	}
}

func TestDigestHasTheBeginningOfEachTurn(t *testing.T) {
	digest := prompt.Digest(conversation(2))
	for _, want := range []string{"- The user: Question 1?\n- You: Answer 1. More", "- The user: Question 2?\n- You: Answer 2. More"} {
		if !strings.Contains(digest, want) {
			t.Errorf("the digest lacks %q:\n%s", want, digest)
		}
	}
	long := prompt.Digest(conversation(40))
	if len(long) > 8000 || !strings.HasPrefix(long, "- (28 earlier turns before these)\n- The user: Question 29?") || !strings.Contains(long, "Question 40?") {
		t.Errorf("the digest of 40 turns is\n%s", long)
	}
	again := prompt.Digest(prompt.Compact(conversation(6), "They want "+strings.Repeat("much, ", 100)+"and the end.", 2))
	if !strings.Contains(again, "and the end.") {
		t.Errorf("the digest cuts an earlier summary:\n%s", again)
	}
	if got := prompt.Digest(nil); got != "" {
		t.Errorf("got the digest %q of an empty conversation", got)
	}
}

func TestCompactionLeavesRoomForTheConversation(t *testing.T) {
	b := prompttest.Full()
	b.Goal = ""
	b.Prompting.Conversation, b.Prompting.ContextWindow = conversation(30), 16384
	req := prompt.CompactionRequest(b)
	if len(req.Messages) != 62 || req.Shortened != "" || req.MaxTokens > 2000 || req.Tools != nil {
		t.Errorf("got %d messages, shortened %q, at most %d tokens, tools %v", len(req.Messages), req.Shortened, req.MaxTokens, req.Tools)
	}
}

func TestTokenEstimatesFollowMeasurementsAndStayAbove(t *testing.T) {
	messages := []prompt.Message{{Role: prompt.RoleUser, Content: strings.Repeat("x", 3000)}}
	estimate := func(measured float64) int {
		return prompt.ConversationTokens(prompt.Prompting{BytesPerToken: measured}, messages)
	}
	for name, tt := range map[string]struct {
		measured    float64
		least, most int
	}{
		"no measurement":       {0, 1000, 1010},
		"four bytes per token": {4, 825, 835},   // 750 and a tenth more
		"two bytes per token":  {2, 1650, 1660}, // 1500 and a tenth more
		"implausibly low":      {0.01, 6000, 7000},
		"implausibly high":     {1000, 400, 430},
	} {
		t.Run(name, func(t *testing.T) {
			if got := estimate(tt.measured); got < tt.least || got > tt.most {
				t.Errorf("%d tokens, want %d to %d", got, tt.least, tt.most)
			}
		})
	}
	messages = []prompt.Message{{Role: prompt.RoleAssistant, Calls: []reply.ToolUse{{Name: "x", Args: map[string]any{"text": strings.Repeat("y", 3000)}}}}}
	if got := estimate(0); got < 1000 {
		t.Errorf("got %d tokens for a large call", got)
	}
}

func TestTokensOfOpeningAreThoseBeforeTheRequest(t *testing.T) {
	b := prompttest.Full()
	b.Prompting.Sketch = intent.Sketch{Languages: []string{"Go"}, Branch: "main", Files: []string{"a.go", "b.go"}}
	b.Prompting.Mentions = []prompt.Mention{{Name: "a.go", Text: "package a", Bytes: 9}}
	b.Prompting.Prompts = map[string]string{"analysis": "ASK"}
	req := prompt.AnalysisRequest(b)
	before, ok := strings.CutSuffix(last(req), "\n\nASK\n\nGoal: "+b.Goal)
	if !ok || !strings.Contains(before, "a.go, b.go") || !strings.Contains(before, "package a") || !strings.Contains(before, "fs.patch(") {
		t.Fatalf("got the request\n%s", last(req))
	}
	req.Messages[len(req.Messages)-1].Content = before
	if got, want := prompt.Tokens(b), prompt.ConversationTokens(b.Prompting, req.Messages); got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

func TestCallableToolsTakeRoom(t *testing.T) {
	b := prompttest.Full()
	b.Prompting.ContextWindow, b.Prompting.Conversation = 10000, conversation(8)
	if req := prompt.ChatRequest(b, false); req.Shortened != "" {
		t.Fatalf("got the note %q", req.Shortened)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","description":"` + strings.Repeat("long ", 2000) + `"}}}`)
	b.Catalog = append(b.Catalog, plan.Tool{Name: "big", Server: "s", InputSchema: schema})
	if req := prompt.ChatRequest(b, false); !strings.Contains(req.Shortened, "oldest messages of the conversation left out") {
		t.Errorf("with a tool of 10 KB: got the note %q", req.Shortened)
	}
}
