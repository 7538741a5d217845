package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/reply"
)

// shapeTools are a tool of this program and one of another server.
var shapeTools = plan.Catalog{
	{Name: "fs.read", Server: "workspace", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "chart", Server: "odd", InputSchema: json.RawMessage(`{"type":"object","properties":{"data":{"type":"object","properties":{"type":{"type":"string"}},"required":["type"]},"list":{"type":"array","items":{"type":"integer"}}},"required":["data"]}`)},
}

func TestShapesOfModelsNeedNoRepair(t *testing.T) {
	const args, tick = `{"path":"a.txt"}`, "```"
	quoted := func(text string) string { return plan.CanonicalJSON(text) }
	read := `{"title":"t","steps":[{"index":"1","title":"Read a","tool":"fs.read","args":` + args + `}]}`
	for name, c := range map[string]struct {
		reply reply.Reply
		tool  string
		args  string
	}{
		"args as text":               {reply.Reply{Text: `{"steps":[{"title":"Read a","tool":"fs.read","args":` + quoted(args) + `}]}`}, "fs.read", args},
		"args in a code fence":       {reply.Reply{Text: `{"steps":[{"title":"Read a","tool":"fs.read","args":` + quoted(tick+"json\n"+args+"\n"+tick) + `}]}`}, "fs.read", args},
		"args in a fence of a line":  {reply.Reply{Text: `{"steps":[{"title":"Read a","tool":"fs.read","args":` + quoted(tick+args+tick) + `}]}`}, "fs.read", args},
		"tool as an object":          {reply.Reply{Text: `{"steps":[{"index":1,"title":"Read a","tool":{"name":"fs.read","arguments":` + args + `}}]}`}, "fs.read", args},
		"tool with text arguments":   {reply.Reply{Text: `{"steps":[{"title":"Read a","tool":{"name":"fs.read","arguments":` + quoted(args) + `}}]}`}, "fs.read", args},
		"tool with a name alone":     {reply.Reply{Text: `{"steps":[{"title":"Read a","tool":{"name":"fs.read"},"args":` + args + `}]}`}, "fs.read", args},
		"functions. before the name": {reply.Reply{Text: strings.Replace(read, "fs.read", "functions.fs.read", 1)}, "fs.read", args},
		"DeepSeek's tokens": {reply.Reply{Text: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs.read\n" + tick + "json\n" + args + "\n" + tick +
			"<｜tool▁call▁end｜><｜tool▁calls▁end｜>"}, "fs.read", args},
		"DeepSeek's newer tokens":     {reply.Reply{Text: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>fs.read<｜tool▁sep｜>" + args + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"}, "fs.read", args},
		"a plan in the thoughts":      {reply.Reply{Thinking: read}, "fs.read", args},
		"a fenced one":                {reply.Reply{Thinking: tick + "json\n" + read + "\n" + tick}, "fs.read", args},
		"a call":                      {reply.Reply{Calls: []reply.ToolUse{{Name: "fs.read", Args: map[string]any{"path": "a.txt"}}}}, "fs.read", args},
		"a call with words":           {reply.Reply{Text: "I read it.", Calls: []reply.ToolUse{{Name: "fs.read", Args: map[string]any{"path": "a.txt"}}}}, "fs.read", args},
		"an object of another server": {reply.Reply{Text: `{"steps":[{"title":"Draw","tool":"chart","args":{"data":"{\"type\":\"bar\"}","list":"[1, 2]"}}]}`}, "chart", `{"data":{"type":"bar"},"list":[1,2]}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := reply.ReadProposal(c.reply, false)
			if len(p.Faults) > 0 || len(p.Plan.Steps) != 1 {
				t.Fatalf("got %+v", p)
			}
			step := reply.FinishSteps(shapeTools, nil, p.Plan.Steps)[0]
			if step.Tool != c.tool || step.Executor != plan.ExecutorTool || plan.CanonicalJSON(step.Args) != c.args {
				t.Errorf("got %+v", step)
			}
		})
	}
}

func TestThoughtsAndHalfCallsAreNoPlan(t *testing.T) {
	const read = `{"title":"t","steps":[{"index":"1","title":"Read a","tool":"fs.read","args":{"path":"a.txt"}}]}`
	for name, r := range map[string]reply.Reply{
		"a draft among thoughts":  {Thinking: "Perhaps " + read + "? No."},
		"thoughts that were cut":  {Thinking: read, CutOff: true},
		"a call that stops":       {Text: `<｜tool▁call▁begin｜>fs.read<｜tool▁sep｜>{"path":"a`, CutOff: true},
		"words about a call":      {Text: "I would call fs.read."},
		"a refusal":               {Text: "I'm sorry, but I cannot help with that."},
		"a plan beside the other": {Text: "no", Thinking: read},
	} {
		t.Run(name, func(t *testing.T) {
			if p := reply.ReadProposal(r, false); len(p.Plan.Steps) > 0 || len(p.Faults) == 0 {
				t.Errorf("got %+v", p)
			}
		})
	}
}
