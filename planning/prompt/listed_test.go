package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

// listedTurn is the request for turn n of a sub-agent whose model writes its calls.
func listedTurn(n int, last bool, window int) prompt.Request {
	b := prompttest.Brief()
	b.Prompting.WritesCalls, b.Prompting.ContextWindow = true, window
	return prompt.AgentRequest(b, plan.Plan{}, plan.Step{Index: "5", Title: "Look"}, prompt.Profile{}, nil, calls("5", n-1), prompt.Turn{Number: n, Last: last})
}

func TestListedRequestHoldsToolsAndForm(t *testing.T) {
	for _, window := range []int{0, 16384} {
		r := listedTurn(2, false, window)
		text := ""
		for _, m := range r.Messages {
			text += m.Content + "\n"
		}
		for _, want := range []string{"fs.read(path", `{"thought": "…", "answer": "…"}`, `"tool":"`} {
			if !strings.Contains(text, want) {
				t.Errorf("window %d: the messages lack %s:\n%s", window, want, text)
			}
		}
		if format := string(r.Format); !strings.Contains(format, `"maxLength":200`) || !strings.Contains(format, `"fs.read"`) || !strings.Contains(format, `"anyOf"`) {
			t.Errorf("window %d: the format is %s", window, r.Format)
		}
		if len(r.Tools) > 0 || len(r.Listed) == 0 || r.Think {
			t.Errorf("window %d: %d tools, %d listed, thinks: %t", window, len(r.Tools), len(r.Listed), r.Think)
		}
	}
}

func TestListedTurnsShareTheirBeginning(t *testing.T) {
	first, last := listedTurn(1, false, 16384), listedTurn(3, true, 16384)
	for i, m := range first.Messages {
		if last.Messages[i].Content != m.Content {
			t.Errorf("message %d differs:\n%s\n%s", i, m.Content, last.Messages[i].Content)
		}
	}
	if len(last.Listed) > 0 || strings.Contains(string(last.Format), `"tool"`) {
		t.Errorf("the last turn may call: %s", last.Format)
	}
}

// turnOf is the first request of a sub-agent whose model writes its calls of these tools.
func turnOf(tools plan.Catalog) prompt.Request {
	b := prompttest.Brief()
	b.Catalog, b.Prompting.WritesCalls = tools, true
	return prompt.AgentRequest(b, plan.Plan{}, plan.Step{Index: "1", Title: "Look"}, prompt.Profile{}, nil, nil, prompt.Turn{Number: 1})
}

func TestListedCallHasTheArgumentsOfItsTool(t *testing.T) {
	tools := append(plantest.Operators(t), plan.Tool{Name: "any", Server: "other"}, plan.Tool{Name: "fs.read", Server: "other", InputSchema: []byte(`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`)})
	format := compile(t, turnOf(tools).Format)
	for reply, fits := range map[string]bool{
		`{"thought":"a","tool":"fs.read","args":{"path":"a.go"}}`:           true,
		`{"thought":"a","tool":"fs.read","args":{"path":"a.go","limit":9}}`: true,
		`{"thought":"a","tool":"vcs.status","args":{}}`:                     true,
		`{"thought":"a","tool":"any","args":{"x":1}}`:                       true,
		`{"thought":"a","tool":"other:fs.read","args":{"url":"x"}}`:         true,
		`{"thought":"a","answer":"It is 8080."}`:                            true,
		`{"thought":"a","tool":"fs.read","args":{}}`:                        false,
		`{"thought":"a","tool":"fs.read","args":{"path":7}}`:                false,
		`{"thought":"a","tool":"fs.search","args":{"path":"a.go"}}`:         false, // no query
		`{"thought":"a","tool":"fs.look","args":{"path":"a.go"}}`:           false,
		`{"thought":"a","tool":"other:fs.read","args":{"path":"a.go"}}`:     false,
		`{"tool":"fs.read","args":{"path":"a.go"}}`:                         false,
	} {
		if err := format.Validate(plantest.Decoded(t, reply)); (err == nil) != fits {
			t.Errorf("%s: %v, want it to fit: %v", reply, err, fits)
		}
	}
}

func TestListedFormatIsBounded(t *testing.T) {
	var tools plan.Catalog
	for i := range 60 {
		var fields []string
		for k := range 20 {
			fields = append(fields, fmt.Sprintf(`"argument_%d":{"type":"string"}`, k))
		}
		tools = append(tools, plan.Tool{Name: fmt.Sprintf("tool_%d", i), Server: "other", InputSchema: []byte(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`)})
	}
	r := turnOf(tools)
	if len(r.Listed) == 0 || len(r.Format) > 24<<10 {
		t.Fatalf("%d tools are listed in a format of %d bytes", len(r.Listed), len(r.Format))
	}
	format := compile(t, r.Format)
	for _, tool := range r.Listed {
		if err := format.Validate(plantest.Decoded(t, fmt.Sprintf(`{"thought":"a","tool":%q,"args":{}}`, tool.Name))); err != nil {
			t.Errorf("%s cannot be called: %v", tool.Name, err)
		}
	}
	if strings.Count(string(r.Format), `"argument_1"`) < 5 || !strings.Contains(string(r.Format), `"args":{"type":"object"}`) {
		t.Error("want some tools with their arguments, and the others with any")
	}
}
