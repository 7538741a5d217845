package planning_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// crowd returns a brief with a thousand tools more, which are more than its window
// has room to name.
func crowd(b prompt.Brief) prompt.Brief { return crowdOf(b, 1000, 8192) }

func crowdOf(b prompt.Brief, tools, window int) prompt.Brief {
	b.Catalogue = slices.Clone(b.Catalogue)
	for i := range tools {
		b.Catalogue = append(b.Catalogue, plan.Tool{
			Name: fmt.Sprintf("spare_%04d", i), Server: "depot", Description: "Fetch a spare part.",
			InputSchema: []byte(`{"type":"object","properties":{"part":{"type":"string"}},"required":["part"]}`),
		})
	}
	b.Prompting.ContextWindow = window
	return b
}

const simplePlan = `{"title":"t","steps":[{"index":"1","title":"Read a.go","tool":"fs.read","args":{"path":"a.go"},"depends_on":[],"expected_outcome":"its text"}]}`

func TestToolsWithoutRoomAreAskedForBeforePlan(t *testing.T) {
	b := crowd(brief())
	p := planning.NewPipeline(b)
	p.Absorb(reply.Reply{Text: `{"mode":"plan","task":"x","goal":"y","complexity":"medium","reflect":false}`})
	req, _ := p.Next()
	if again, _ := p.Next(); req.Purpose != prompt.PurposeTools || !reflect.DeepEqual(req, again) {
		t.Fatalf("got %s, and then %s: %s", req.Purpose, again.Purpose, last(req))
	}
	list := toolsMessage(t, b)
	asks, ok := strings.CutPrefix(last(req), list)
	if !ok {
		t.Fatalf("the request does not begin with\n%s\nbut is\n%s", list, last(req))
	}
	for _, name := range b.Catalogue.Names() {
		if strings.Contains(list, name) == strings.Contains(asks, name) {
			t.Fatalf("%s is named twice or not at all", name)
		}
	}
	if n := prompt.ConversationTokens(b.Prompting, req.Messages); n > b.Prompting.ContextWindow-req.MaxTokens || strings.Contains(req.Shortened, "too long") {
		t.Errorf("%d tokens: %s", n, req.Shortened)
	}
	format := compile(t, req.Format)
	if err := format.Validate(map[string]any{"tools": []any{"spare_0900"}}); err != nil {
		t.Error(err)
	}
	if err := format.Validate(map[string]any{"tools": slices.Repeat([]any{"x"}, 25)}); err == nil {
		t.Error("25 names fit the format")
	}

	p.Absorb(reply.Reply{Text: `{"tools":["spare_0900","depot:spare_0777","no_such_tool"]}`})
	req, _ = p.Next()
	typed, nameable := typedTools(t, req.Format)
	for _, name := range []string{"spare_0900", "spare_0777"} {
		if !slices.Contains(typed, name) || !strings.Contains(last(req), "\n"+name+"(part: string)") {
			t.Errorf("%s is missing in\n%s", name, last(req))
		}
	}
	if req.Purpose != prompt.PurposePlan || len(nameable) > len(b.Catalogue)/2 || strings.Contains(last(req), "no_such_tool") {
		t.Errorf("got %s with %d tools", req.Purpose, len(nameable))
	}
	p.Absorb(reply.Reply{Text: wrongPlan})
	req, _ = p.Next()
	if typed, _ := typedTools(t, req.Format); req.Purpose != prompt.PurposeRepair || !slices.Contains(typed, "spare_0900") {
		t.Errorf("%s has forgotten the chosen tools", req.Purpose)
	}
	p.Absorb(reply.Reply{Text: simplePlan})
	if o := p.Outcome(); o.Kind != planning.OutcomePlanned {
		t.Errorf("got %+v", o)
	}
}

func TestChoiceOfToolsFitsItsWindow(t *testing.T) {
	for _, window := range []int{4096, 8192, 16384} {
		b := crowdOf(brief(), 1000, window)
		req, ok := prompt.SelectionRequest(b, reply.Analysis{})
		n := prompt.ConversationTokens(b.Prompting, req.Messages)
		if !ok || n > window-req.MaxTokens || req.TooLong != "" || !strings.Contains(last(req), "spare_") {
			t.Errorf("window %d: %d tokens, %q in\n%s", window, n, req.TooLong, last(req))
		}
	}
}

func TestUselessChoiceOfToolsIsIgnored(t *testing.T) {
	b := crowd(brief())
	b.Prompting.SkipAnalysis = true
	plain := func(answer func(planning.Planner)) prompt.Request {
		p := planning.NewPipeline(b)
		if req, _ := p.Next(); req.Purpose != prompt.PurposeTools {
			t.Fatalf("got %s first", req.Purpose)
		}
		answer(p)
		req, _ := p.Next()
		return req
	}
	want := plain(func(p planning.Planner) { p.Absorb(reply.Reply{Text: `{"tools":[]}`}) })
	if want.Purpose != prompt.PurposePlan {
		t.Fatalf("got %s", want.Purpose)
	}
	for name, text := range map[string]string{"prose": "I need nothing.", "nothing": "", "unknown tools": `{"tools":["a","b"]}`, "broken": `{"tools":[`} {
		if got := plain(func(p planning.Planner) { p.Absorb(reply.Reply{Text: text}) }); !reflect.DeepEqual(got, want) {
			t.Errorf("after %s, the request of phase 3 differs", name)
		}
	}
	if got := plain(func(p planning.Planner) { p.Fail("it took too long", reply.Reply{Text: `{"tools":["spare_0900"`}) }); !reflect.DeepEqual(got, want) {
		t.Error("after a failure, the request of phase 3 differs")
	}
	greedy := strings.Join(crowd(prompt.Brief{}).Catalogue.Names(), ", ")
	if n := len(prompt.Chosen(b.Catalogue, reply.Reply{Text: greedy})); n != 24 {
		t.Errorf("a reply that names all tools chooses %d", n)
	}
}

func TestToolsAreNotAskedForIfAllAreNamed(t *testing.T) {
	for name, b := range map[string]prompt.Brief{
		"few tools":                      full(),
		"two hundred tools":              {Goal: "x", Catalogue: beside(t, 200, nil), Prompting: prompt.Prompting{ContextWindow: 16384}},
		"a thousand in a large window":   func() prompt.Brief { b := crowd(brief()); b.Prompting.ContextWindow = 65536; return b }(),
		"a thousand in a window unknown": func() prompt.Brief { b := crowd(brief()); b.Prompting.ContextWindow = 0; return b }(),
	} {
		b.Prompting.SkipAnalysis = true
		if req := firstRequest(planning.NewPipeline(b)); req.Purpose != prompt.PurposePlan {
			t.Errorf("%s: got %s", name, req.Purpose)
		}
	}
}
