package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

func TestChoiceOfToolsFitsItsWindow(t *testing.T) {
	for _, window := range []int{4096, 8192, 16384} {
		b := prompttest.CrowdOf(prompttest.Brief(), 1000, window)
		req, ok := prompt.SelectionRequest(b, reply.Analysis{})
		n := prompt.ConversationTokens(b.Prompting, req.Messages)
		if !ok || n > window-req.MaxTokens || req.TooLong != "" || !strings.Contains(last(req), "spare_") {
			t.Errorf("window %d: %d tokens, %q in\n%s", window, n, req.TooLong, last(req))
		}
	}
}

func TestToolsWithoutRoomAreAskedFor(t *testing.T) {
	b := prompttest.Crowd(prompttest.Brief())
	analysis := reply.Analysis{}
	req, ok := prompt.SelectionRequest(b, analysis)
	if !ok || req.Purpose != prompt.PurposeTools {
		t.Fatalf("got %s: %s", req.Purpose, last(req))
	}
	list := toolsMessage(t, b)
	asks, ok := strings.CutPrefix(last(req), list)
	if !ok {
		t.Fatalf("the request does not begin with\n%s\nbut is\n%s", list, last(req))
	}
	for _, name := range b.Catalog.Names() {
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

	chosen := prompt.Chosen(b.Catalog, reply.Reply{Text: `{"tools":["spare_0900","depot:spare_0777","no_such_tool"]}`})
	req = prompt.PlanRequest(b, analysis, "", chosen...)
	typed, nameable := typedTools(t, req.Format)
	for _, name := range []string{"spare_0900", "spare_0777"} {
		if !slices.Contains(typed, name) || !strings.Contains(last(req), "\n"+name+"(part: string)") {
			t.Errorf("%s is missing in\n%s", name, last(req))
		}
	}
	if req.Purpose != prompt.PurposePlan || len(nameable) > len(b.Catalog)/2 || strings.Contains(last(req), "no_such_tool") {
		t.Errorf("got %s with %d tools", req.Purpose, len(nameable))
	}
	again := wrongPlan(b)
	again.Chosen = chosen
	if typed, _ := typedTools(t, prompt.RepairRequest(b, again).Format); !slices.Contains(typed, "spare_0900") {
		t.Error("the repair has forgotten the chosen tools")
	}
}

func TestToolsAreNotAskedForIfAllAreNamed(t *testing.T) {
	for name, b := range map[string]prompt.Brief{
		"few tools":         prompttest.Full(),
		"two hundred tools": {Goal: "x", Catalog: plantest.Beside(t, 200, nil), Prompting: prompt.Prompting{ContextWindow: 16384}},
		"a thousand in a large window": func() prompt.Brief {
			b := prompttest.Crowd(prompttest.Brief())
			b.Prompting.ContextWindow = 65536
			return b
		}(),
		"a thousand in a window unknown": func() prompt.Brief {
			b := prompttest.Crowd(prompttest.Brief())
			b.Prompting.ContextWindow = 0
			return b
		}(),
	} {
		if req, asks := prompt.SelectionRequest(b, reply.Analysis{}); asks {
			t.Errorf("%s: got %s", name, last(req))
		}
	}
}

func TestFewToolsAreChosen(t *testing.T) {
	tools := prompttest.Crowd(prompt.Brief{}).Catalog
	greedy := strings.Join(tools.Names(), ", ")
	if n := len(prompt.Chosen(tools, reply.Reply{Text: greedy})); n != 24 {
		t.Errorf("a reply that names all tools chooses %d", n)
	}
}
