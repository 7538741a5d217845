package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// said is a call as a model without a parser writes it.
func said(tool, at string) string {
	return fmt.Sprintf("```json\n{\"name\": %q, \"arguments\": {\"at\": %q}}\n```", tool, at)
}

// turned is a call as a listed request asks for it.
func turned(tool, at string) string {
	return fmt.Sprintf(`{"thought": "see", "tool": %q, "args": {"at": %q}}`, tool, at)
}

func TestCallsWrittenAsTextAreMade(t *testing.T) {
	for _, tc := range []struct {
		name    string
		profile prompt.Profile
		small   bool
		turns   []turn
		starts  string
		result  string
		failure event.FailureKind
		listed  string // for each request: whether its tools are listed
	}{
		{"a call in a fence", prompt.Profile{}, false, []turn{{text: said("look", "a")}, {text: `{"thought":"I know","answer":"seen"}`}}, "5 5.1", "seen", "", "no yes"},
		{"a call with effects waits at its gate", prompt.Profile{}, false, []turn{{text: said("change", "a")}, {text: `{"answer":"changed"}`}}, "5 5.1", "changed", "", "no yes"},
		{"two calls at once", prompt.Profile{}, false, []turn{{text: said("look", "a") + "\n" + said("look", "b")}, {text: `{"answer":"seen"}`}}, "5 5.1 5.2", "seen", "", "no yes"},
		{"calls in the format", prompt.Profile{}, false, []turn{{text: said("look", "a")}, {text: turned("look", "b")}, {text: turned("look", "c")}, {text: `{"answer":"seen"}`}}, "5 5.1 5.2 5.3", "seen", "", "no yes yes yes"},
		{"prose in place of the format is the answer", prompt.Profile{}, false, []turn{{text: said("look", "a")}, {text: "seen"}}, "5 5.1", "seen", "", "no yes"},
		{"nearly the right name", prompt.Profile{}, false, []turn{{text: said("w.look", "a")}, {text: `{"answer":"seen"}`}}, "5 5.1", "seen", "", "no yes"},
		{"an unknown tool goes to the model", prompt.Profile{}, false, []turn{{text: said("nowhere", "a")}, {text: turned("look", "b")}, {text: `{"answer":"seen"}`}}, "5 5.2", "seen", "", "no yes yes"},
		{"two misfits in a row", prompt.Profile{}, false, []turn{{calls: []reply.ToolUse{use("nowhere", "a")}}, {calls: []reply.ToolUse{{Name: "fill"}}}, {text: turned("look", "b")}, {text: `{"answer":"seen"}`}}, "5 5.3", "seen", "", "no no yes yes"},
		{"one misfit", prompt.Profile{}, false, []turn{{calls: []reply.ToolUse{use("nowhere", "a")}}, {calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("nowhere", "a")}}, {text: "seen"}}, "5 5.2", "seen", "", "no no no no"},
		{"text after a real call", prompt.Profile{}, false, []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: said("look", "b")}, {text: "seen"}}, "5 5.1 5.2", "seen", "", "no no no"},
		{"a call is no answer in the last turn", prompt.Profile{MaxTurns: 2}, false, []turn{{text: said("look", "a")}, {text: said("look", "b")}}, "5 5.1", "", event.FailureModel, "no last"},
		{"a call that stops in the middle is asked for again", prompt.Profile{}, false, []turn{{text: `{"name":"look","arguments":{"at":"half of`}, {text: turned("look", "a")}, {text: `{"answer":"seen"}`}}, "5 5.1", "seen", "", "no yes yes"},
		{"a promise is reminded once", prompt.Profile{}, false, []turn{{text: "Sure! Let me look at it."}, {calls: []reply.ToolUse{use("look", "a")}}, {text: "seen"}}, "5 5.1", "seen", "", "no no no"},
		{"a promise after a reminder is the answer", prompt.Profile{}, false, []turn{{text: "I will look at it."}, {text: "I will check it now."}}, "5", "I will check it now.", "", "no no"},
		{"a given step of a small model", prompt.Profile{}, true, []turn{{text: said("look", "a")}, {text: `{"answer":"seen"}`}}, "5 5.1", "seen", "", "no yes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: tc.turns}
			k.join(w)
			w.failed = func(agent.Question) event.FailureResolved {
				return event.FailureResolved{Decision: event.FailureAbort}
			}
			mirror(w)
			start := scouting(t, tc.profile)
			start.Prompting.Small = tc.small
			result := w.play(start)
			if got := strings.Join(w.starts(), " "); got != tc.starts {
				t.Errorf("started %s, want %s\n%s", got, tc.starts, w.tail())
			}
			if got, _ := result.Variables["found"].(string); got != tc.result {
				t.Errorf("got the result %q, want %q", got, tc.result)
			}
			if s := w.run.Step("5"); s.Failure != tc.failure {
				t.Errorf("the step failed as %q: %s", s.Failure, s.Error)
			}
			var listed []string
			for _, r := range k.requests {
				switch {
				case len(r.Format) == 0:
					listed = append(listed, "no")
				case len(r.Listed) == 0:
					listed = append(listed, "last")
				default:
					listed = append(listed, "yes")
				}
				if len(r.Format) > 0 && (len(r.Tools) > 0 || slices.ContainsFunc(r.Messages, func(m prompt.Message) bool { return len(m.Calls) > 0 || m.Role == prompt.RoleTool })) {
					t.Errorf("a listed request has calls: %+v", r)
				}
			}
			if got := strings.Join(listed, " "); got != tc.listed {
				t.Errorf("the requests are listed %s, want %s", got, tc.listed)
			}
		})
	}
}

func TestUnknownToolIsAnsweredWithNearestNames(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: said("lookup_all", "a")}, {text: `{"answer":"seen"}`}}}
	k.join(w)
	w.play(scouting(t, prompt.Profile{}))
	messages := k.requests[1].Messages
	if !slices.ContainsFunc(messages, func(m prompt.Message) bool {
		return strings.Contains(m.Content, `no tool "lookup_all"`) && strings.Contains(m.Content, "look")
	}) {
		t.Errorf("the model is not told the names: %+v", messages)
	}
}

func TestLaterLoopsBeginWithListedTools(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*event.RunStarted)
	}{
		{"of the model of the run", func(s *event.RunStarted) { s.Prompting.WritesCalls = true }},
		{"of the model of a profile", func(s *event.RunStarted) {
			s.Prompting.Profiles[0].Model, s.Prompting.Profiles[0].WritesCalls = "other", true
		}},
		{"of an earlier step", func(s *event.RunStarted) {
			p, _ := plan.DecodePlan([]byte(`{"title":"Two","steps":[
				{"index":"4","title":"Look before","executor":"agent","profile":"scout"},
				{"index":"5","title":"Look around","executor":"agent","profile":"scout","result_variable":"found","depends_on":["4"]}]}`))
			s.Plan = &p
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: []turn{{text: turned("look", "a")}, {text: `{"answer":"seen"}`}}}
			start := scouting(t, prompt.Profile{})
			if tc.change(&start); len(start.Plan.Steps) > 1 {
				k.turns = slices.Insert(k.turns, 0, turn{text: said("look", "a")}, turn{text: `{"answer":"before"}`})
			}
			k.join(w)
			if result := w.play(start); result.Variables["found"] != "seen" {
				t.Fatalf("ended %s: %s", result.Reason, result.Error)
			}
			r := k.requests[len(k.requests)-2]
			if len(r.Tools) > 0 || len(r.Listed) == 0 || r.Think {
				t.Errorf("the first turn of the step is %+v", r)
			}
		})
	}
}

func TestChatMakesCallsWrittenAsText(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "I look. " + said("look", "a")}, {text: turned("look", "b")}, {text: `{"thought":"so","answer":"it is green"}`}}}
	start := chatting(w, k)
	mirror(w)
	result := w.play(start)
	if result.Reason != event.ReasonDirect || result.Answer != "it is green" || strings.Join(w.starts(), " ") != "chat.1 chat.2" {
		t.Fatalf("ended %s with %q after %v: %s", result.Reason, result.Answer, w.starts(), result.Error)
	}
	first := all[event.ModelReplied](w)[0].Reply
	if first.Text != "I look." || !strings.Contains(first.Written, "arguments") {
		t.Errorf("the journal has the reply %+v", first)
	}
	if len(all[event.SynthesisDelta](w)) > 0 && strings.Contains(string(all[event.SynthesisDelta](w)[0].Text), "thought") {
		t.Error("the chat shows JSON")
	}
}

func TestChatIsRemindedOfPromise(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "I'll check the files."}, {calls: []reply.ToolUse{use("look", "a")}}, {text: "green"}}}
	start := chatting(w, k)
	mirror(w)
	if result := w.play(start); result.Answer != "green" {
		t.Fatalf("ended %s with %q: %s", result.Reason, result.Answer, result.Error)
	}
	if m := k.requests[1].Messages; m[len(m)-1].Content != "Call the tool, do not describe it." {
		t.Errorf("the second turn ends with %q", m[len(m)-1].Content)
	}
}

func TestSmallModelsAreOfferedNoLoops(t *testing.T) {
	for _, tc := range []struct {
		name    string
		small   bool
		loops   prompt.Loops
		offered bool
	}{
		{"small", true, prompt.LoopsUnknown, false},
		{"small, and manages them", true, prompt.LoopsManaged, true},
		{"small, and fails", true, prompt.LoopsFailed, false},
		{"large", false, prompt.LoopsUnknown, true},
		{"large, and fails", false, prompt.LoopsFailed, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: []turn{{text: "hello"}}}
			start := chatting(w, k)
			start.Prompting.Small, start.Prompting.Loops = tc.small, tc.loops
			start.Prompting.Profiles = []prompt.Profile{{Name: "scout"}, {Name: "own", Model: "large"}, {Name: "tiny", Model: "tiny", Small: true}}
			start.Prompting.SkipAnalysis, start.Prompting.SkipPlan = true, true // a small model would plan at once
			w.play(start)
			if got := len(k.requests[0].Tools) > 0; got != tc.offered {
				t.Errorf("tools are offered in chat: %t", got)
			}
			start.Prompting.SkipPlan = false
			planner, planned := newWorld(t), ""
			planner.reply = func(r prompt.Request) (string, error) {
				planned = string(r.Format) // of a small model, the words do not name the agents
				return "", errStopped
			}
			planner.play(start)
			if got := strings.Contains(planned, `"scout"`); got != tc.offered || !strings.Contains(planned, `"own"`) || strings.Contains(planned, `"tiny"`) {
				t.Errorf("the agents on offer are not as expected:\n%s", planned)
			}
		})
	}
}

func TestCallIsNoAnswerWithoutTools(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: said("look", "a")}, {text: "as far as I know"}}}
	start := chatting(w, k)
	start.Prompting.Small, start.Prompting.SkipAnalysis, start.Prompting.SkipPlan = true, true, true
	mirror(w)
	if result := w.play(start); result.Answer != "as far as I know" || len(w.starts()) > 0 {
		t.Errorf("ended %s with %q after %v: %s", result.Reason, result.Answer, w.starts(), result.Error)
	}
}

func TestPlanInPlaceOfAnAnswerIsAskedForOnceMore(t *testing.T) {
	for _, first := range []string{
		`{"title":"Show it","steps":[{"index":"1","title":"Look","tool":"look","args":{}}]}`, said("look", "a"), "",
	} {
		w := newWorld(t)
		var formats []string
		w.reply = func(r prompt.Request) (string, error) {
			formats = append(formats, string(r.Format))
			switch {
			case len(formats) == 1 && first == "": // it repeats the request
				asked := r.Messages[len(r.Messages)-1].Content
				return asked[strings.Index(asked, "No plan is needed"):], nil
			case len(formats) == 1:
				return first, nil
			}
			return `{"answer":"There are three."}`, nil
		}
		start := given(t, `{"title":"Look","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"x"}}]}`)
		start.SkipSynthesis = false
		result := w.play(start)
		if result.Answer != "There are three." || result.Unanswered != "" || len(formats) != 2 || formats[0] != "" || !strings.Contains(formats[1], `"answer"`) {
			t.Errorf("%s: the answer is %q (%s), with the formats %q", first, result.Answer, result.Unanswered, formats)
		}
	}
}

func TestCallIsNoResultOfStepAndNoAnswer(t *testing.T) {
	w := newWorld(t)
	w.reply = func(prompt.Request) (string, error) { return said("change", "a"), nil }
	result := w.play(given(t, `{"title":"Say","steps":[{"index":"1","title":"Say it","executor":"self"}]}`))
	if result.Status != event.StatusFailed || !strings.Contains(string(w.run.Step("1").Error), "a call of change") {
		t.Errorf("the step ended %s: %s", result.Reason, result.Error)
	}

	w = newWorld(t)
	w.reply = func(prompt.Request) (string, error) { return said("change", "a"), nil }
	start := given(t, `{"title":"Look","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"x"}}]}`)
	start.SkipSynthesis = false
	if result := w.play(start); strings.Contains(string(result.Answer), "arguments") || result.Unanswered == "" {
		t.Errorf("the answer is %q (%s)", result.Answer, result.Unanswered)
	}
}

// A run whose loops get a format is cut after every event and resumed: the loop goes on
// as it did.
func TestListedLoopResumes(t *testing.T) {
	turns := []string{said("look", "a"), turned("change", "b"), `{"answer":"there"}`}
	begin := func() (*world, event.RunStarted) {
		w := newWorld(t)
		w.reply = func(r prompt.Request) (string, error) {
			replied := 0
			for _, m := range r.Messages {
				if m.Role == prompt.RoleAssistant {
					replied++
				}
			}
			if replied > 0 && len(r.Listed) == 0 {
				t.Errorf("turn %d offers tools to call", replied+1)
			}
			return turns[replied], nil
		}
		w.doubt = func(agent.Question) event.DoubtDecision { return event.DoubtRerun }
		w.choose = w.inTime
		start := scouting(t, prompt.Profile{})
		start.Attended = true
		return w, start
	}
	whole, start := begin()
	want := whole.play(start)
	if want.Variables["found"] != "there" {
		t.Fatalf("the whole run: %+v", want)
	}
	for n := 1; n < len(whole.events)-1; n++ {
		w, start := begin()
		w.play(start)
		w.kill(n)
		if result := w.resume(resumed(start)); result.Variables["found"] != "there" {
			t.Fatalf("cut after %d: %s %v\n%s", n, result.Status, result.Variables, w.tail())
		}
	}
}
