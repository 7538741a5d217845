package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
)

func TestArgsByOtherNamesAreTaken(t *testing.T) {
	catalog := plantest.Operators(t)
	for _, c := range []struct{ tool, args, want string }{
		{"fs.read", `{"file_path":"a.go"}`, `{"path":"a.go"}`},
		{"fs.read", `{"filePath":"a.go","start_line":3,"lines":7}`, `{"limit":7,"offset":3,"path":"a.go"}`},
		{"fs.read", `{"name":"a.go"}`, `{"path":"a.go"}`},
		{"fs.read", `{"Path":"a.go"}`, `{"path":"a.go"}`},
		{"fs.list", `{"directory":"docs","max_depth":2}`, `{"depth":2,"path":"docs"}`},
		{"fs.search", `{"pattern":"TODO","include":"*.go","ignoreCase":true}`, `{"glob":"*.go","ignore_case":true,"query":"TODO"}`},
		{"fs.search", `{"text":"TODO","max_results":5}`, `{"max":5,"query":"TODO"}`},
		{"fs.search", `{"query":"a","path":"b","dir":"c"}`, ``},
		{"fs.write", `{"filename":"a","content":"x"}`, `{"path":"a","text":"x"}`},
		{"fs.patch", `{"file":"a","old_string":"x","new_string":"y","replace_all":true}`, `{"all":true,"new":"y","old":"x","path":"a"}`},
		{"fs.patch", `{"file":"a","old_text":"x","replacement":"y"}`, `{"new":"y","old":"x","path":"a"}`},
		{"fs.move", `{"source":"a","destination":"b"}`, `{"from":"a","to":"b"}`},
		{"fs.move", `{"path":"a","new_name":"b"}`, `{"from":"a","to":"b"}`},
		{"code.definition", `{"name":"Parse"}`, `{"symbol":"Parse"}`},
		{"code.references", `{"function":"Parse","file":"a.go"}`, `{"path":"a.go","symbol":"Parse"}`},
		{"code.symbols", `{"name":"Parse"}`, `{"query":"Parse"}`},
		{"code.symbols", `{"file":"a.go"}`, `{"path":"a.go"}`},
		{"code.transform", `{"kind":"rename","symbol":"A","newName":"B"}`, `{"kind":"rename","new_name":"B","symbol":"A"}`},
		{"code.transform", `{"kind":"rename","old_name":"A","new_name":"B"}`, `{"kind":"rename","new_name":"B","symbol":"A"}`},
		{"code.transform", `{"type":"rename","from":"A","to":"B"}`, `{"kind":"rename","new_name":"B","symbol":"A"}`},
		{"code.transform", `{"kind":"rename","symbol":"A","new":"B"}`, `{"kind":"rename","new_name":"B","symbol":"A"}`},
		{"code.transform", `{"kind":"replace","query":"A","replace":"B"}`, `{"kind":"replace","pattern":"A","replacement":"B"}`},
		{"code.summarize", `{"file":"a.go"}`, `{"path":"a.go"}`},
		{"test.run", `{"test":"TestA","file":"a"}`, `{"path":"a","run":"TestA"}`},
		{"vcs.log", `{"limit":3}`, `{"max":3}`},
		{"vcs.log", `{"n":"3"}`, `{"max":3}`},
		{"vcs.show", `{"commit":"HEAD"}`, `{"ref":"HEAD"}`},
		{"vcs.diff", `{"revision":"HEAD~1"}`, `{"ref":"HEAD~1"}`},
		{"vcs.commit", `{"msg":"m","files":["a"]}`, `{"message":"m","paths":["a"]}`},
		{"vcs.commit", `{"commit_message":"m","files":"a"}`, `{"message":"m","paths":["a"]}`},
		{"vcs.branch", `{"branch_name":"x"}`, `{"name":"x"}`},
		{"vcs.push", `{"name":"x"}`, `{"branch":"x"}`},
		{"memory.write", `{"fact":"x"}`, `{"text":"x"}`},
		{"proc.run", `{"command":"go test ./..."}`, `{"argv":["go","test","./..."]}`},
		{"proc.run", `{"cmd":["go","test"]}`, `{"argv":["go","test"]}`},
		{"proc.run", `{"argv":"go test ./... -run=TestA"}`, `{"argv":["go","test","./...","-run=TestA"]}`},
		{"proc.run", `{"command":"go","args":["test"],"cwd":"sub"}`, `{"argv":["go","test"],"dir":"sub"}`},
		{"proc.run", `{"command":"ls *.go | wc -l"}`, `{"shell":"ls *.go | wc -l"}`},
		{"proc.run", `{"command":"echo 'a b'"}`, `{"shell":"echo 'a b'"}`},
		{"proc.run", `{"script":"ls"}`, `{"shell":"ls"}`},
		// What has no meaning, or more than one, is left for the check to refuse.
		{"fs.read", `{"path":"a","file":"b"}`, ``},
		{"fs.read", `{"path":"a","colour":"b"}`, ``},
		{"code.summarize", `{"title":"x"}`, ``},
		{"code.transform", `{"kind":"rename","new":"B"}`, ``},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			tool, err := catalog.Find(c.tool)
			if err != nil {
				t.Fatal(err)
			}
			signature, err := plan.NewSignature(tool)
			if err != nil {
				t.Fatal(err)
			}
			args := decodedArgs(t, c.args)
			got, coercions := signature.Coerce(args)
			switch {
			case plan.CanonicalJSON(args) != plan.CanonicalJSON(decodedArgs(t, c.args)):
				t.Error("Fit changed its argument")
			case c.want == "" && signature.Check(got) == nil:
				t.Errorf("got %s, which the check accepts", plan.CanonicalJSON(got))
			case c.want != "" && (plan.CanonicalJSON(got) != c.want || signature.Check(got) != nil || len(signature.Missing(args)) > 0):
				t.Errorf("got %s (%v, missing %v), want %s", plan.CanonicalJSON(got), signature.Check(got), signature.Missing(args), c.want)
			case c.want != "" && len(coercions) == 0:
				t.Error("no coercion tells of it")
			}
		})
	}
}

func TestOnlyRefusedNamesAreTaken(t *testing.T) {
	const fields = `{"path":{"type":"string"},"max":{"type":"integer"}}`
	for name, c := range map[string]struct{ schema, args, want string }{
		"an open schema takes any name":           {`{"type":"object","properties":` + fields + `}`, `{"file":"a"}`, `{"file":"a"}`},
		"what an open schema requires is lacking": {`{"type":"object","properties":` + fields + `,"required":["path"]}`, `{"file":"a","limit":3}`, `{"limit":3,"path":"a"}`},
		"a closed schema":                         {`{"type":"object","properties":` + fields + `,"additionalProperties":false}`, `{"file":"a","limit":3}`, `{"max":3,"path":"a"}`},
		"a schema without names":                  {`{"type":"object"}`, `{"file":"a"}`, `{"file":"a"}`},
		"a name that the schema knows":            {`{"type":"object","properties":{"file":{"type":"string"},"path":{"type":"string"}},"required":["path"]}`, `{"file":"a"}`, `{"file":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(c.schema)})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := signature.Coerce(decodedArgs(t, c.args)); plan.CanonicalJSON(got) != c.want {
				t.Errorf("got %s, want %s", plan.CanonicalJSON(got), c.want)
			}
		})
	}
}

func TestOtherNamesInAPlanFileAreAWarning(t *testing.T) {
	p := []byte(`{"title":"T","steps":[{"title":"Read","tool":"fs.read","args":{"file_path":"a.go"}},{"title":"Run","tool":"proc.run","args":{"command":"go vet"}}]}`)
	rules := plan.Rules{CheckTools: true, Catalog: plantest.Operators(t)}
	_, faults, warnings := plan.CheckPlan(p, rules)
	var got []string
	for _, w := range warnings {
		got = append(got, w.Code+" "+w.Path+": "+w.Message)
	}
	want := "coerced /steps/0/args/file_path: step 1 calls fs.read with another name than it asks for; file_path is taken as path\n" +
		`coerced /steps/1/args/command: step 2 calls proc.run with another name than it asks for; command: "go vet" is taken as argv: ["go","vet"]`
	if len(faults) > 0 || strings.Join(got, "\n") != want {
		t.Errorf("faults %+v, warnings\n%s", faults, strings.Join(got, "\n"))
	}
	rules.Strict = true
	if _, faults, _ = plan.CheckPlan(p, rules); len(faults) == 0 || faults[0].Code != plan.CodeBadArgs {
		t.Errorf("strict: faults %+v", faults)
	}
}
