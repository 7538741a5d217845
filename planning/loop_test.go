package planning_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// explore is a turn of a sub-agent after n calls.
func explore(b prompt.Brief, n int) prompt.Request {
	s := situation()
	step := plan.Step{Index: "5", Title: "Find out why it fails", Executor: plan.ExecutorAgent, Profile: "explorer"}
	return prompt.AgentRequest(b, s.Plan, step, prompt.Profile{Name: "explorer", Model: "small"}, s.History[:1], talk("5", n), prompt.Turn{Number: n + 1})
}

func TestAgentTurnsBeginWithTheTurnBefore(t *testing.T) {
	for _, window := range []int{0, 32768} {
		b := full()
		b.Prompting.ContextWindow = window
		before := explore(b, 0)
		for n := 1; n < 8; n++ {
			turn := explore(b, n)
			if len(turn.Messages) != len(before.Messages)+3 || !reflect.DeepEqual(turn.Messages[:len(before.Messages)], before.Messages) {
				t.Fatalf("window %d: turn %d does not open with the messages of the turn before", window, n+1)
			}
			if turn.Shortened != "" || turn.Model != "small" {
				t.Errorf("turn %d: shortened %q, model %q", n+1, turn.Shortened, turn.Model)
			}
			before = turn
		}
	}
}

func TestAgentSeesNoConversation(t *testing.T) {
	b := full()
	b.Prompting.Conversation = []prompt.Message{{Role: prompt.RoleUser, Content: "My password is swordfish"}}
	for _, m := range explore(b, 1).Messages {
		if strings.Contains(m.Content, "swordfish") || strings.Contains(m.Content, "${") {
			t.Errorf("it is told\n%s", m.Content)
		}
	}
}

func TestAgentIsOfferedToolsOfItsProfileExceptInLastTurn(t *testing.T) {
	b := full()
	step := plan.Step{Index: "5", Title: "x"}
	for name, tt := range map[string]struct {
		profile prompt.Profile
		turn    prompt.Turn
		want    string
	}{
		"all of them":      {prompt.Profile{}, prompt.Turn{Number: 1}, `["fs.patch","fs.read","fs.search","memory.read","memory.write","test.run"]`},
		"those of a group": {prompt.Profile{Tools: []string{"fs.*"}}, prompt.Turn{Number: 1}, `["fs.patch","fs.read","fs.search"]`},
		"none":             {prompt.Profile{Tools: []string{}}, prompt.Turn{Number: 1}, `[]`},
		"the last turn":    {prompt.Profile{}, prompt.Turn{Number: 9, Last: true}, `[]`},
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
		"an agent": explore,
		"the chat": func(b prompt.Brief, n int) prompt.Request {
			return prompt.ChatRequest(b, false, talk("chat", n)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := full()
			b.Prompting.ContextWindow, b.Prompting.MaxTokens = 16384, 1000
			whole, short, gone, same := 0, 0, 0, 0
			var before prompt.Request
			for n := range 100 {
				req := request(b, n)
				if weight(req) > 16384-1000 && !strings.Contains(req.Shortened, "too long all the same") {
					t.Fatalf("%d calls: about %d tokens, and it says %q", n, weight(req), req.Shortened)
				}
				whole, short, gone = 0, 0, 0
				oldest := 0 // how much is left of the result before: nothing, its ends, all
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
						t.Fatalf("%d calls: less is left of a newer result than of an older one", n)
					}
					oldest = left
				}
				if whole+short+gone != n {
					t.Fatalf("%d calls: %d results are whole, %d short, %d gone", n, whole, short, gone)
				}
				if (short+gone > 0) != strings.Contains(req.Shortened, "oldest results of calls shortened") {
					t.Errorf("%d calls: %d short, %d gone, and it says %q", n, short, gone, req.Shortened)
				}
				if k := len(before.Messages); k > 0 && len(req.Messages) > k && reflect.DeepEqual(req.Messages[:k], before.Messages) {
					same++
				}
				before = req
			}
			if short == 0 || gone == 0 {
				t.Errorf("in the end %d results are whole, %d short, %d gone", whole, short, gone)
			}
			if same < 65 {
				t.Errorf("only %d of 100 turns open with the turn before", same)
			}
		})
	}
}

func TestCutResultsSayWhereTheWholeIs(t *testing.T) {
	use := reply.ToolUse{ID: "7", Name: "fs.read"}
	m := prompt.Answered(use, strings.Repeat("x", 5000), "", "the result of step 5.2")
	if m.Role != prompt.RoleTool || m.CallID != "7" || m.Tool != "fs.read" || !strings.Contains(m.Content, "[… 1000 characters left out; the whole is the result of step 5.2 …]") {
		t.Errorf("it says %+v", m)
	}
	m = prompt.Answered(use, nil, "no such file", "")
	if !strings.Contains(m.Content, "error: no such file") || strings.Contains(m.Content, "null") {
		t.Errorf("a failure says %q", m.Content)
	}
	items := []plan.HistoryItem{{Index: "1", Title: "Read", Status: plan.ItemCompleted, Attempt: 1, Result: strings.Repeat("x", 6000)}}
	plan := plan.Plan{Steps: []plan.Step{{Index: "1", Title: "Read", ResultVariable: "source"}}}
	if text := last(prompt.SynthesisRequest(brief(), plan, items)); !strings.Contains(text, "[… 2000 characters left out; the whole is ${source} …]") {
		t.Errorf("a result with a variable says\n%s", text)
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
		"left to itself":                     {prompt.Prompting{}, "", thinks{true, false, ""}},
		"left to itself without an analysis": {prompt.Prompting{SkipAnalysis: true, SkipPlan: true}, "", thinks{true, true, ""}},
		"off":                                {prompt.Prompting{Think: prompt.ThinkOff}, "", thinks{false, false, ""}},
		"on":                                 {prompt.Prompting{Think: prompt.ThinkOn}, "", thinks{true, true, ""}},
		"at a level":                         {prompt.Prompting{Think: prompt.ThinkHigh}, "", thinks{true, true, "high"}},
		"off, and on for the profile":        {prompt.Prompting{Think: prompt.ThinkOff}, prompt.ThinkOn, thinks{true, false, ""}},
		"on, and off for the profile":        {prompt.Prompting{Think: prompt.ThinkOn}, prompt.ThinkOff, thinks{false, true, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			b := brief()
			b.Prompting = tt.prompting
			agent := prompt.AgentRequest(b, plan.Plan{}, plan.Step{Index: "1"}, prompt.Profile{Think: tt.profile}, nil, nil, prompt.Turn{Number: 1})
			chat := prompt.ChatRequest(b, false)
			if got := (thinks{agent.Think, chat.Think, chat.Level}); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if agent.MaxThinking == 0 || chat.MaxThinking != 0 {
				t.Errorf("an agent may think %d bytes, a chat turn %d", agent.MaxThinking, chat.MaxThinking)
			}
			for purpose, req := range everyRequest(b) { // a format would bind only after the thinking
				if req.Think && req.Purpose != prompt.PurposeChat {
					t.Errorf("%s thinks", purpose)
				}
			}
		})
	}
}

func TestAgentPlansWithItsToolsAndNoReview(t *testing.T) {
	step := plan.Step{Index: "5", Title: "Find the fault", ExpectedOutcome: "file and line"}
	b := prompt.AgentBrief(full(), step, prompt.Profile{Tools: []string{"fs.read"}})
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "analysis", reply: complexAnalysis}, {want: "plan", reply: `["Look","Say"]`}})
	if p.Outcome().Kind != planning.OutcomePlanned {
		t.Errorf("ended %+v", p.Outcome())
	}
	for _, m := range asked[0].Messages {
		if strings.Contains(m.Content, "fs.patch(") || strings.Contains(m.Content, "# Agents") || m.Content == "Hello" {
			t.Errorf("it is told\n%s", m.Content)
		}
	}
	if goal := asked[0].Messages[1].Content; goal != "Find the fault\n\nIt is done when this holds: file and line" {
		t.Errorf("its goal is %q", goal)
	}
}

func TestLastChatTurnHasNoTools(t *testing.T) {
	b := full()
	going, last := prompt.ChatRequest(b, false, talk("chat", 1)...), prompt.ChatRequest(b, true, talk("chat", 1)...)
	if len(going.Tools) == 0 || len(last.Tools) > 0 {
		t.Errorf("a turn is offered %v, the last %v", going.Tools, last.Tools)
	}
	if fmt.Sprint(last.Messages) != fmt.Sprint(going.Messages) {
		t.Error("the last turn has other messages")
	}
}

func TestThoughtsAreNotPartOfTheConversation(t *testing.T) {
	for text, want := range map[string]string{
		"<think>hm</think>I look.": "I look.", "\n<thinking>hm\n</thinking>\n\nI look.": "I look.", "hm</think>I look.": "I look.",
		"<think>hm</think><think>hm</think>I look.": "I look.", "<think>hm": "", "I look.": "I look.",
	} {
		if got := prompt.Said(reply.Reply{Text: text, Thinking: "so"}).Content; got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
}

func TestSubAgentHasTheWindowOfItsModel(t *testing.T) {
	step := plan.Step{Index: "5", Title: "Find out", Executor: plan.ExecutorAgent, Profile: "p"}
	for _, tt := range []struct {
		name    string
		profile prompt.Profile
		window  string // that its prompts are fitted to
		dense   bool   // by the measured rate of the run's model
	}{
		{"its window is known", prompt.Profile{Model: "small", ContextWindow: 4096}, "4096", false},
		{"its window is not known", prompt.Profile{Model: "small"}, "16384", false},
		{"it runs on the run's model", prompt.Profile{}, "16384", true},
		{"a window without a model says nothing", prompt.Profile{ContextWindow: 4096}, "16384", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := full()
			b.Prompting.ContextWindow, b.Prompting.BytesPerToken = 16384, 1
			b.Prompting.Instructions = strings.Repeat("Test it. ", 20_000)
			own, _ := planning.NewPipeline(prompt.AgentBrief(b, step, tt.profile)).Next()
			for what, req := range map[string]prompt.Request{
				"a turn": prompt.AgentRequest(b, plan.Plan{}, step, tt.profile, nil, nil, prompt.Turn{Number: 1}), "its own plan": own,
			} {
				if !strings.Contains(req.Shortened, "for a window of "+tt.window+" tokens") {
					t.Errorf("%s: %s", what, req.Shortened)
				}
				bytes := 0
				for _, m := range req.Messages {
					bytes += len(m.Content)
				}
				// Where each byte was measured to be a token, fewer of them fit.
				if dense := tt.window == "16384" && bytes < 16384; dense != tt.dense {
					t.Errorf("%s has %d bytes", what, bytes)
				}
			}
		})
	}
}

func TestOffersAndMessagesSurviveJSON(t *testing.T) {
	req := explore(full(), 1)
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
		t.Errorf("written as\n%s\nread and written as\n%s, %v", data, again, err)
	}
	if fmt.Sprint(plan.Catalogue(back.Tools).Names()) != fmt.Sprint(plan.Catalogue(req.Tools).Names()) {
		t.Errorf("the offer came back as %v", back.Tools)
	}
}
