package plan_test

import (
	"fmt"
	"strings"

	"replan/planning/plan"
)

const moduleFile = `{
	"title": "Refactor the auth module",
	"variables": {"module": {"path": "src/auth.go", "tests": ["unit", "e2e"]}},
	"steps": [
		{"index": 1, "title": "Read the module", "tool": "fs.read", "args": {"path": "${module.path}"}, "result_variable": "code"},
		{"index": 2, "title": "Find its callers", "tool": "fs.search", "args": {"pattern": "auth\\."}, "result_variable": "callers"},
		{"index": 10, "title": "Run the tests", "tool": "test.run", "args": {"only": "${module.tests[0]}"}, "depends_on": [3]},
		{"index": 3, "title": "Patch both", "tool": "fs.patch", "args": {"callers": "${callers.files}", "note": "was: ${code}"}, "gate": true}
	]
}`

// CheckPlan reads and checks a plan file and returns all faults at once.
func ExampleCheckPlan() {
	file := `{"steps": [{"title": "Read", "tool": "fs.read", "args": {"path": "${file}"}, "depends_on": [2]}]}`
	_, faults, _ := plan.CheckPlan([]byte(file), plan.Rules{})
	for _, f := range faults {
		fmt.Printf("%s at %q: %s\n", f.Code, f.Path, f.Message)
	}
	// Output:
	// missing_title at "": the plan has no title
	// unknown_dependency at "/steps/0/depends_on/0": step 1 depends on step 2, which does not exist
	// unknown_variable at "/steps/0/args/path": step 1 refers to ${file}, and the plan defines no variables
}

// NewGraph adds the dependencies implied by references and orders steps by
// number.
func ExampleNewGraph() {
	p, faults, _ := plan.CheckPlan([]byte(moduleFile), plan.Rules{})
	if len(faults) > 0 {
		fmt.Println(plan.FaultError(faults))
		return
	}
	graph := plan.NewGraph(p)
	for i, batch := range graph.Batches() {
		fmt.Printf("batch %d: %s\n", i+1, strings.Join(batch, ", "))
	}
	fmt.Println("order:", strings.Join(graph.Order(), ", "))
	path := graph.CriticalPath(func(plan.Step) float64 { return 1 })
	fmt.Println("critical path:", strings.Join(path, ", "))
	// Output:
	// batch 1: 1, 2
	// batch 2: 3
	// batch 3: 10
	// order: 1, 2, 3, 10
	// critical path: 1, 3, 10
}

// A lone reference keeps the type of its value; inside text, a string is inserted
// as it is and any other value as JSON.
func ExampleResolveArgs() {
	p, _ := plan.DecodePlan([]byte(moduleFile))
	values := p.Variables
	values["code"] = "package auth"
	values["callers"] = map[string]any{"files": []any{"main.go", "login.go"}}
	step, _ := p.Step("3")
	args, err := plan.ResolveArgs(step.Args, values)
	fmt.Println(plan.CanonicalJSON(args), err)

	_, err = plan.Resolve("${module.file}", values)
	fmt.Println(err)
	// Output:
	// {"callers":["main.go","login.go"],"note":"was: package auth"} <nil>
	// ${module.file} cannot be filled in: there is no field "file", only path and tests
}

// In a dry run, placeholders replace results.
func ExamplePlaceholder() {
	values := map[string]any{"callers": plan.Placeholder("<fs.search result>")}
	args, err := plan.Resolve("in ${callers.files[0]}", values)
	fmt.Println(args, err)
	// Output: in <fs.search result> <nil>
}

// Compare compares two revisions step by step, by index.
func ExampleCompare() {
	before, _ := plan.DecodePlan([]byte(moduleFile))
	after, _ := plan.DecodePlan([]byte(strings.NewReplacer(`"fs.patch"`, `"fs.write"`, `"index": 10`, `"index": 11`).Replace(moduleFile)))
	diff := plan.Compare(before.Steps, after.Steps)
	fmt.Println("removed:", diff.Removed, "added:", diff.Added, "revised:", diff.Revised)
	// Output: removed: [10] added: [11] revised: [3]
}
