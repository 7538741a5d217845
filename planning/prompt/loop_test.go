package prompt_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// explore returns the request of a sub-agent's turn after n calls.
func explore(b prompt.Brief, n int) prompt.Request {
	s := prompttest.Situation()
	step := plan.Step{Index: "5", Title: "Find out why it fails", Executor: plan.ExecutorAgent, Profile: "explorer"}
	return prompt.AgentRequest(b, s.Plan, step, prompt.Profile{Name: "explorer", Model: "small"}, s.History[:1], calls("5", n), prompt.Turn{Number: n + 1})
}

func TestAgentTurnsStartWithPreviousTurn(t *testing.T) {
	for _, window := range []int{0, 32768} {
		b := prompttest.Full()
		b.Prompting.ContextWindow = window
		before := explore(b, 0)
		for n := 1; n < 8; n++ {
			turn := explore(b, n)
			if len(turn.Messages) != len(before.Messages)+3 || !reflect.DeepEqual(turn.Messages[:len(before.Messages)], before.Messages) {
				t.Fatalf("window %d: turn %d does not start with the messages of the previous turn", window, n+1)
			}
			if turn.Shortened != "" || turn.Model != "small" {
				t.Errorf("turn %d: shortened %q, model %q", n+1, turn.Shortened, turn.Model)
			}
			before = turn
		}
	}
}

func TestAgentSeesNoConversation(t *testing.T) {
	b := prompttest.Full()
	b.Prompting.Conversation = []prompt.Message{{Role: prompt.RoleUser, Content: "My password is swordfish"}}
	for _, m := range explore(b, 1).Messages {
		if strings.Contains(m.Content, "swordfish") || strings.Contains(m.Content, "${") {
			t.Errorf("got the message\n%s", m.Content)
		}
	}
}

func TestAgentGetsToolsOfProfileExceptInLastTurn(t *testing.T) {
	b := prompttest.Full()
	step := plan.Step{Index: "5", Title: "x"}
	for name, tt := range map[string]struct {
		profile prompt.Profile
		turn    prompt.Turn
		want    string
	}{
		"all tools":      {prompt.Profile{}, prompt.Turn{Number: 1}, `["fs.patch","fs.read","fs.search","memory.read","memory.write","test.run"]`},
		"group of tools": {prompt.Profile{Tools: []string{"fs.*"}}, prompt.Turn{Number: 1}, `["fs.patch","fs.read","fs.search"]`},
		"no tools":       {prompt.Profile{Tools: []string{}}, prompt.Turn{Number: 1}, `[]`},
		"last turn":      {prompt.Profile{}, prompt.Turn{Number: 9, Last: true}, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			req := prompt.AgentRequest(b, plan.Plan{}, step, tt.profile, nil, nil, tt.turn)
			if got := plan.CanonicalJSON(req.Tools); got != tt.want {
				t.Errorf("offered %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOldResultsAreCutFirstWithANote(t *testing.T) {
	for name, request := range map[string]func(prompt.Brief, int) prompt.Request{
		"agent": explore,
		"chat": func(b prompt.Brief, n int) prompt.Request {
			return prompt.ChatRequest(b, false, calls("chat", n)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := prompttest.Full()
			b.Prompting.ContextWindow, b.Prompting.MaxTokens = 16384, 1000
			whole, short, gone, same := 0, 0, 0, 0
			var before prompt.Request
			for n := range 100 {
				req := request(b, n)
				if weight(req) > 16384-1000 && !strings.Contains(req.Shortened, "too long all the same") {
					t.Fatalf("%d calls: about %d tokens, with the note %q", n, weight(req), req.Shortened)
				}
				whole, short, gone = 0, 0, 0
				oldest := 0 // how much of the previous result is left: nothing, its ends, all
				for _, m := range req.Messages {
					if m.Role != prompt.RoleTool {
						continue
					}
					left := 2
					if strings.Contains(m.Content, "\n[… left out; the whole is the result of step") {
						left = strings.Count(m.Content, "package a")
					}
					switch left {
					case 0:
						gone++
					case 1:
						short++
					default:
						whole++
					}
					if left < oldest {
						t.Fatalf("%d calls: a newer result is shorter than an older one", n)
					}
					oldest = left
				}
				if whole+short+gone != n {
					t.Fatalf("%d calls: got %d whole, %d short and %d removed results", n, whole, short, gone)
				}
				if (short+gone > 0) != strings.Contains(req.Shortened, "oldest results of calls shortened") {
					t.Errorf("%d calls: %d short and %d removed results, with the note %q", n, short, gone, req.Shortened)
				}
				if k := len(before.Messages); k > 0 && len(req.Messages) > k && reflect.DeepEqual(req.Messages[:k], before.Messages) {
					same++
				}
				before = req
			}
			if short == 0 || gone == 0 {
				t.Errorf("at the end: got %d whole, %d short and %d removed results", whole, short, gone)
			}
			if same < 65 {
				t.Errorf("only %d of 100 turns start with the previous turn", same)
			}
		})
	}
}

func TestCutResultsNameTheirSource(t *testing.T) {
	use := reply.ToolUse{ID: "7", Name: "fs.read"}
	m := prompt.Answered(use, strings.Repeat("x", 5000), "", "", "the result of step 5.2")
	if m.Role != prompt.RoleTool || m.CallID != "7" || m.Tool != "fs.read" || !strings.Contains(m.Content, "[… 1000 characters left out; the whole is the result of step 5.2 …]") {
		t.Errorf("got the message %+v", m)
	}
	m = prompt.Answered(use, nil, "", "no such file", "")
	if !strings.Contains(m.Content, "error: no such file") || strings.Contains(m.Content, "null") {
		t.Errorf("got the message %q for a failure", m.Content)
	}
	items := []plan.HistoryItem{{Index: "1", Title: "Read", Status: plan.ItemCompleted, Attempt: 1, Result: strings.Repeat("x", 6000)}}
	plan := plan.Plan{Steps: []plan.Step{{Index: "1", Title: "Read", ResultVariable: "source"}}}
	if text := last(prompt.SynthesisRequest(prompttest.Brief(), plan, items, nil)); !strings.Contains(text, "[… 2000 characters left out; the whole is ${source} …]") {
		t.Errorf("for a result with a variable: got the prompt\n%s", text)
	}
}

func TestThinkingDependsOnPurposeAndLevel(t *testing.T) {
	type thinks struct {
		agent, chat bool
		level       prompt.ThinkLevel // of the chat
	}
	for name, tt := range map[string]struct {
		prompting prompt.Prompting
		profile   prompt.ThinkLevel
		want      thinks
	}{
		"default":                     {prompt.Prompting{}, "", thinks{true, false, ""}},
		"default without an analysis": {prompt.Prompting{SkipAnalysis: true, SkipPlan: true}, "", thinks{true, true, ""}},
		"off":                         {prompt.Prompting{Think: prompt.ThinkOff}, "", thinks{false, false, ""}},
		"on":                          {prompt.Prompting{Think: prompt.ThinkOn}, "", thinks{true, true, ""}},
		"level":                       {prompt.Prompting{Think: prompt.ThinkHigh}, "", thinks{true, true, "high"}},
		"off, on for the profile":     {prompt.Prompting{Think: prompt.ThinkOff}, prompt.ThinkOn, thinks{true, false, ""}},
		"on, off for the profile":     {prompt.Prompting{Think: prompt.ThinkOn}, prompt.ThinkOff, thinks{false, true, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting = tt.prompting
			agent := prompt.AgentRequest(b, plan.Plan{}, plan.Step{Index: "1"}, prompt.Profile{Think: tt.profile}, nil, nil, prompt.Turn{Number: 1})
			chat := prompt.ChatRequest(b, false)
			if got := (thinks{agent.Think, chat.Think, chat.Level}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if agent.MaxThinking == 0 || chat.MaxThinking != 0 {
				t.Errorf("MaxThinking is %d for an agent and %d for a chat turn", agent.MaxThinking, chat.MaxThinking)
			}
			for purpose, req := range everyRequest(b) { // a format takes effect only after the thinking
				if req.Think && req.Purpose != prompt.PurposeChat {
					t.Errorf("%s thinks", purpose)
				}
			}
		})
	}
}

func TestLastChatTurnHasNoTools(t *testing.T) {
	b := prompttest.Full()
	other, last := prompt.ChatRequest(b, false, calls("chat", 1)...), prompt.ChatRequest(b, true, calls("chat", 1)...)
	if len(other.Tools) == 0 || len(last.Tools) > 0 {
		t.Errorf("a turn has the tools %v, the last turn %v", other.Tools, last.Tools)
	}
	if fmt.Sprint(last.Messages) != fmt.Sprint(other.Messages) {
		t.Error("the last turn has other messages")
	}
}

func TestThoughtsAreNotPartOfTheConversation(t *testing.T) {
	for text, want := range map[string]string{
		"<think>hm</think>I look.": "I look.", "\n<thinking>hm\n</thinking>\n\nI look.": "I look.", "hm</think>I look.": "I look.",
		"<think>hm</think><think>hm</think>I look.": "I look.", "<think>hm": "", "I look.": "I look.",
	} {
		if got := prompt.ReplyMessage(reply.Reply{Text: text, Thinking: "so"}).Content; got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestSubAgentUsesWindowOfItsModel(t *testing.T) {
	step := plan.Step{Index: "5", Title: "Find out", Executor: plan.ExecutorAgent, Profile: "p"}
	for _, tt := range []struct {
		name    string
		profile prompt.Profile
		window  string // context window that its prompts fit
		dense   bool   // uses the measured token rate of the run's model
	}{
		{"known window", prompt.Profile{Model: "small", ContextWindow: 4096}, "4096", false},
		{"unknown window", prompt.Profile{Model: "small"}, "16384", false},
		{"model of the run", prompt.Profile{}, "16384", true},
		{"window without a model", prompt.Profile{ContextWindow: 4096}, "16384", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := prompttest.Full()
			b.Prompting.ContextWindow, b.Prompting.BytesPerToken = 16384, 1
			b.Prompting.Instructions = strings.Repeat("Test it. ", 20_000)
			own := prompt.AnalysisRequest(prompt.AgentBrief(b, step, tt.profile))
			for name, req := range map[string]prompt.Request{
				"a turn": prompt.AgentRequest(b, plan.Plan{}, step, tt.profile, nil, nil, prompt.Turn{Number: 1}), "its own plan": own,
			} {
				if !strings.Contains(req.Shortened, "for a window of "+tt.window+" tokens") {
					t.Errorf("%s: %s", name, req.Shortened)
				}
				bytes := 0
				for _, m := range req.Messages {
					bytes += len(m.Content)
				}
				// At one byte per token, fewer bytes fit.
				if dense := tt.window == "16384" && bytes < 16384; dense != tt.dense {
					t.Errorf("%s has %d bytes", name, bytes)
				}
			}
		})
	}
}

func TestOffersAndMessagesSurviveJSON(t *testing.T) {
	req := explore(prompttest.Full(), 1)
	data, err := plan.EncodeJSON(req)
	if err != nil {
		t.Fatal(err)
	}
	var back prompt.Request
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := plan.EncodeJSON(back)
	if err != nil || string(again) != string(data) {
		t.Errorf("got\n%s\nafter reading and writing again\n%s, %v", data, again, err)
	}
	if fmt.Sprint(plan.Catalog(back.Tools).Names()) != fmt.Sprint(plan.Catalog(req.Tools).Names()) {
		t.Errorf("read back the tools %v", back.Tools)
	}
}
