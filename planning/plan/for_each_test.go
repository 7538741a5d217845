package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"replan/planning/plan"
)

// eachPlan is a plan whose second step has these fields.
func eachPlan(fields string) string {
	return `{"title": "t", "variables": {"names": ["a", "b"], "word": "x", "many": [` + strings.TrimSuffix(strings.Repeat("1,", 51), ",") + `]}, "steps": [
		{"title": "find", "tool": "finder", "result_variable": "found"},
		{"title": "read", "tool": "reader", ` + fields + `}]}`
}

var eachCatalog = plan.Catalog{
	{Name: "finder", Server: "s", ReadOnly: true, OutputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"files":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"path":{"type":"string"}}}},"total":{"type":"integer"}}}`)},
	{Name: "reader", Server: "s", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
}

func TestForEachIsCheckedBeforeItRuns(t *testing.T) {
	for name, c := range map[string]struct{ fields, code, words string }{
		"list of a result":                  {`"for_each": "${found.files}", "args": {"path": "${item.path}"}`, "", ""},
		"list of a variable":                {`"for_each": "${names}", "as": "name", "args": {"path": "${name}"}`, "", ""},
		"list in the plan":                  {`"for_each": ["a", "${word}"], "args": {"path": "${item}"}`, "", ""},
		"position in args":                  {`"for_each": "${names}", "args": {"path": "${item} ${index}"}`, "", ""},
		"item in condition":                 {`"for_each": "${found.files}", "when": "item.path != 'a' && index < 3", "args": {"path": "${item.path}"}`, "", ""},
		"item in check":                     {`"for_each": "${names}", "args": {"path": "${item}"}, "check": {"expect": "result.path == item"}`, "", ""},
		"item in args of check":             {`"for_each": "${names}", "args": {"path": "${item}"}, "check": {"tool": "reader", "args": {"path": "${item}"}, "expect": "result != nil"}`, "", ""},
		"text in place of a list":           {`"for_each": "files", "args": {"path": "${item}"}`, "bad_for_each", "one reference to a list"},
		"text around the list":              {`"for_each": "all ${names}", "args": {"path": "${item}"}`, "bad_for_each", "one reference to a list"},
		"object in place of a list":         {`"for_each": {"for_each": "${names}"}, "args": {"path": "x"}`, "bad_type", "a list, or a reference"},
		"variable with text":                {`"for_each": "${word}", "args": {"path": "${item}"}`, "bad_for_each", "needs a list, and ${word} is text"},
		"result that is no list":            {`"for_each": "${found.total}", "args": {"path": "x"}`, "bad_for_each", "needs a list, and ${found.total} is a number"},
		"field that is not there":           {`"for_each": "${found.names}", "args": {"path": "${item}"}`, "unknown_field", `has no field "names"`},
		"variable that is not there":        {`"for_each": "${nobody}", "args": {"path": "${item}"}`, "unknown_variable", "not defined"},
		"own item in the list":              {`"for_each": "${item.files}", "args": {"path": "${item}"}`, "bad_for_each", "items of one list"},
		"51 items":                          {`"for_each": "${many}", "args": {"path": "${item}"}`, "bad_for_each", "has 51 items, and max is 50"},
		"51 items that max allows":          {`"for_each": "${many}", "max": 51, "args": {"path": "${item}"}`, "", ""},
		"max of nothing":                    {`"for_each": "${names}", "max": 0, "args": {"path": "${item}"}`, "bad_for_each", "from 1 to 10000"},
		"max of too many":                   {`"for_each": "${names}", "max": 10001, "args": {"path": "${item}"}`, "bad_for_each", "from 1 to 10000"},
		"max that is no number":             {`"for_each": "${names}", "max": "all", "args": {"path": "${item}"}`, "bad_type", "max must be a whole number"},
		"as of two words":                   {`"for_each": "${names}", "as": "a file", "args": {"path": "x"}`, "bad_for_each", "one word"},
		"as of a reserved name":             {`"for_each": "${names}", "as": "result", "args": {"path": "x"}`, "bad_for_each", "one word"},
		"as of a variable":                  {`"for_each": "${names}", "as": "word", "args": {"path": "x"}`, "bad_for_each", "a variable of the plan"},
		"item of another name":              {`"for_each": "${names}", "as": "name", "args": {"path": "${item}"}`, "unknown_variable", "${item}"},
		"item without a list":               {`"args": {"path": "${item}"}`, "unknown_variable", "${item}"},
		"field that no item has":            {`"for_each": "${found.files}", "args": {"path": "x"}, "when": "item.size > 1"`, "bad_expression", `no field "size"`},
		"own result, which is that of each": {`"for_each": "${names}", "args": {"path": "${item}"}, "result_variable": "texts", "check": {"expect": "texts.ok == item"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults, _ := plan.CheckPlan([]byte(eachPlan(c.fields)), plan.Rules{Catalog: eachCatalog, CheckTools: true})
			switch {
			case c.code == "" && len(faults) > 0:
				t.Errorf("got %v", faults)
			case c.code != "" && (len(faults) == 0 || faults[0].Code != c.code || !strings.Contains(faults[0].Message, c.words)):
				t.Errorf("got %v, want %s with %q", faults, c.code, c.words)
			}
		})
	}
}

func TestForEachSurvivesWritingAndReading(t *testing.T) {
	p, faults, _ := plan.CheckPlan([]byte(eachPlan(`"for_each": "${found.files}", "as": "file", "max": 7, "at_once": 2, "args": {"path": "${file.path}"}`)), plan.Rules{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, faults := plan.DecodePlan(text)
	if len(faults) > 0 || fmt.Sprint(*again.Steps[1].ForEach) != "{${found.files} file 7 2}" {
		t.Errorf("got %v, %v", again.Steps[1].ForEach, faults)
	}
	if d := plan.Compare(p.Steps, again.Steps); len(d.Revised) > 0 {
		t.Errorf("got %v", d)
	}
	again.Steps[1].ForEach.Max = 8
	if d := plan.Compare(p.Steps, again.Steps); len(d.Revised) != 1 {
		t.Errorf("another max is no revision: %v", d)
	}
}

func TestStepWaitsForItsListAndNotForItsItem(t *testing.T) {
	p, _, _ := plan.CheckPlan([]byte(eachPlan(`"for_each": "${found.files}", "args": {"path": "${item.path} ${index}"}`)), plan.Rules{})
	if got := plan.NewGraph(p).Dependencies("2"); fmt.Sprint(got) != "[1]" {
		t.Errorf("got %v", got)
	}
	if !plan.Needs(p.Steps[1], "found") || plan.Needs(p.Steps[1], "item") {
		t.Error("it needs its list alone")
	}
}

func TestNoStepMayBeCalledAsAnItem(t *testing.T) {
	const text = `{"title": "t", "variables": {"names": ["a"]}, "steps": [
		{"index": "1", "title": "read", "tool": "reader", "for_each": "${names}", "args": {"path": "${item}"}},
		{"index": "1.1", "title": "find", "tool": "finder"}]}`
	_, faults, _ := plan.CheckPlan([]byte(text), plan.Rules{})
	if len(faults) != 1 || faults[0].Code != plan.CodeBadForEach || !strings.Contains(faults[0].Message, "give step 1.1 another index") {
		t.Errorf("got %v", faults)
	}
}
