package planning_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"replan/planning"
)

// explore is a turn of a sub-agent after n calls.
func explore(b planning.Brief, n int) planning.Request {
	s := situation()
	step := planning.Step{Index: "5", Title: "Find out why it fails", Executor: planning.ExecutorAgent, Profile: "explorer"}
	return planning.AgentRequest(b, s.Plan, step, planning.Profile{Name: "explorer", Model: "small"}, s.History[:1], talk("5", n), planning.Turn{Number: n + 1})
}

func TestATurnOfAnAgentOpensWithTheTurnBefore(t *testing.T) {
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

func TestAnAgentSeesNothingOfTheConversation(t *testing.T) {
	b := full()
	b.Prompting.Conversation = []planning.Message{{Role: planning.RoleUser, Content: "My password is swordfish"}}
	for _, m := range explore(b, 1).Messages {
		if strings.Contains(m.Content, "swordfish") || strings.Contains(m.Content, "${") {
			t.Errorf("it is told\n%s", m.Content)
		}
	}
}

func TestAnAgentIsOfferedWhatItsProfileAllowsAndNothingInItsLastTurn(t *testing.T) {
	b := full()
	step := planning.Step{Index: "5", Title: "x"}
	for name, tt := range map[string]struct {
		profile planning.Profile
		turn    planning.Turn
		want    string
	}{
		"all of them":      {planning.Profile{}, planning.Turn{Number: 1}, `["fs.patch","fs.read","fs.search","memory.read","memory.write","test.run"]`},
		"those of a group": {planning.Profile{Tools: []string{"fs.*"}}, planning.Turn{Number: 1}, `["fs.patch","fs.read","fs.search"]`},
		"none":             {planning.Profile{Tools: []string{}}, planning.Turn{Number: 1}, `[]`},
		"the last turn":    {planning.Profile{}, planning.Turn{Number: 9, Last: true}, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			req := planning.AgentRequest(b, planning.Plan{}, step, tt.profile, nil, nil, tt.turn)
			if got := planning.CanonicalJSON(req.Tools); got != tt.want {
				t.Errorf("offered %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOldResultsMakeWayForNewOnesAndSaySo(t *testing.T) {
	for name, request := range map[string]func(planning.Brief, int) planning.Request{
		"an agent": explore,
		"the chat": func(b planning.Brief, n int) planning.Request {
			return planning.ChatRequest(b, false, talk("chat", n)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := full()
			b.Prompting.ContextWindow, b.Prompting.MaxTokens = 16384, 1000
			whole, short, gone, same := 0, 0, 0, 0
			var before planning.Request
			for n := range 100 {
				req := request(b, n)
				if weight(req) > 16384-1000 && !strings.Contains(req.Shortened, "too long all the same") {
					t.Fatalf("%d calls: about %d tokens, and it says %q", n, weight(req), req.Shortened)
				}
				whole, short, gone = 0, 0, 0
				oldest := 0 // how much is left of the result before: nothing, its ends, all
				for _, m := range req.Messages {
					if m.Role != planning.RoleTool {
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

func TestAResultThatIsTooLongSaysWhereTheWholeOfItLies(t *testing.T) {
	use := planning.ToolUse{ID: "7", Name: "fs.read"}
	m := planning.Answered(use, strings.Repeat("x", 5000), "", "the result of step 5.2")
	if m.Role != planning.RoleTool || m.CallID != "7" || m.Tool != "fs.read" || !strings.Contains(m.Content, "[… 1000 characters left out; the whole is the result of step 5.2 …]") {
		t.Errorf("it says %+v", m)
	}
	m = planning.Answered(use, nil, "no such file", "")
	if !strings.Contains(m.Content, "error: no such file") || strings.Contains(m.Content, "null") {
		t.Errorf("a failure says %q", m.Content)
	}
	items := []planning.HistoryItem{{Index: "1", Title: "Read", Status: planning.ItemCompleted, Attempt: 1, Result: strings.Repeat("x", 6000)}}
	plan := planning.Plan{Steps: []planning.Step{{Index: "1", Title: "Read", ResultVariable: "source"}}}
	if text := last(planning.SynthesisRequest(brief(), plan, items)); !strings.Contains(text, "[… 2000 characters left out; the whole is ${source} …]") {
		t.Errorf("a result with a variable says\n%s", text)
	}
}

func TestThinkingIsSettledByPurposeAndLevel(t *testing.T) {
	type thinks struct {
		agent, chat bool
		level       planning.ThinkLevel // of the chat
	}
	for name, tt := range map[string]struct {
		prompting planning.Prompting
		profile   planning.ThinkLevel
		want      thinks
	}{
		"left to itself":                     {planning.Prompting{}, "", thinks{true, false, ""}},
		"left to itself without an analysis": {planning.Prompting{SkipAnalysis: true, SkipPlan: true}, "", thinks{true, true, ""}},
		"off":                                {planning.Prompting{Think: planning.ThinkOff}, "", thinks{false, false, ""}},
		"on":                                 {planning.Prompting{Think: planning.ThinkOn}, "", thinks{true, true, ""}},
		"at a level":                         {planning.Prompting{Think: planning.ThinkHigh}, "", thinks{true, true, "high"}},
		"off, and on for the profile":        {planning.Prompting{Think: planning.ThinkOff}, planning.ThinkOn, thinks{true, false, ""}},
		"on, and off for the profile":        {planning.Prompting{Think: planning.ThinkOn}, planning.ThinkOff, thinks{false, true, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			b := brief()
			b.Prompting = tt.prompting
			agent := planning.AgentRequest(b, planning.Plan{}, planning.Step{Index: "1"}, planning.Profile{Think: tt.profile}, nil, nil, planning.Turn{Number: 1})
			chat := planning.ChatRequest(b, false)
			if got := (thinks{agent.Think, chat.Think, chat.Level}); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if agent.MaxThinking == 0 || chat.MaxThinking != 0 {
				t.Errorf("an agent may think %d bytes, a chat turn %d", agent.MaxThinking, chat.MaxThinking)
			}
			for purpose, req := range everyRequest(b) { // a format would bind only after the thinking
				if req.Think && req.Purpose != planning.PurposeChat {
					t.Errorf("%s thinks", purpose)
				}
			}
		})
	}
}

func TestAnAgentPlansWithItsOwnToolsWithoutAReview(t *testing.T) {
	step := planning.Step{Index: "5", Title: "Find the fault", ExpectedOutcome: "file and line"}
	b := planning.AgentBrief(full(), step, planning.Profile{Tools: []string{"fs.read"}})
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

func TestTheLastTurnOfTheChatCanCallNothing(t *testing.T) {
	b := full()
	going, last := planning.ChatRequest(b, false, talk("chat", 1)...), planning.ChatRequest(b, true, talk("chat", 1)...)
	if len(going.Tools) == 0 || len(last.Tools) > 0 {
		t.Errorf("a turn is offered %v, the last %v", going.Tools, last.Tools)
	}
	if fmt.Sprint(last.Messages) != fmt.Sprint(going.Messages) {
		t.Error("the last turn has other messages")
	}
}

func TestWhatAModelThoughtAloudIsNotAmongWhatItSaid(t *testing.T) {
	for text, want := range map[string]string{
		"<think>hm</think>I look.": "I look.", "\n<thinking>hm\n</thinking>\n\nI look.": "I look.", "hm</think>I look.": "I look.",
		"<think>hm</think><think>hm</think>I look.": "I look.", "<think>hm": "", "I look.": "I look.",
	} {
		if got := planning.Said(planning.Reply{Text: text, Thinking: "so"}).Content; got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
}

func TestASubAgentWithAModelOfItsOwnHasThatModelsWindow(t *testing.T) {
	step := planning.Step{Index: "5", Title: "Find out", Executor: planning.ExecutorAgent, Profile: "p"}
	for _, tt := range []struct {
		name    string
		profile planning.Profile
		window  string // that its prompts are fitted to
		dense   bool   // by what was measured of the run's model
	}{
		{"its window is known", planning.Profile{Model: "small", ContextWindow: 4096}, "4096", false},
		{"its window is not known", planning.Profile{Model: "small"}, "16384", false},
		{"it runs on the run's model", planning.Profile{}, "16384", true},
		{"a window without a model says nothing", planning.Profile{ContextWindow: 4096}, "16384", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := full()
			b.Prompting.ContextWindow, b.Prompting.BytesPerToken = 16384, 1
			b.Prompting.Instructions = strings.Repeat("Test it. ", 20_000)
			own, _ := planning.NewPipeline(planning.AgentBrief(b, step, tt.profile)).Next()
			for what, req := range map[string]planning.Request{
				"a turn": planning.AgentRequest(b, planning.Plan{}, step, tt.profile, nil, nil, planning.Turn{Number: 1}), "its own plan": own,
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

func TestOffersAndMessagesKeepWhatTheyHoldInJSON(t *testing.T) {
	req := explore(full(), 1)
	data, err := planning.EncodeJSON(req)
	if err != nil {
		t.Fatal(err)
	}
	var back planning.Request
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := planning.EncodeJSON(back)
	if err != nil || string(again) != string(data) {
		t.Errorf("written as\n%s\nread and written as\n%s, %v", data, again, err)
	}
	if fmt.Sprint(planning.Catalogue(back.Tools).Names()) != fmt.Sprint(planning.Catalogue(req.Tools).Names()) {
		t.Errorf("the offer came back as %v", back.Tools)
	}
}
