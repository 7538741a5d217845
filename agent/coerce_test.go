package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// coercions returns the coercions recorded in the starts of a step.
func (w *world) coercions(index string) []plan.Coercion {
	var all []plan.Coercion
	for _, e := range w.events {
		if d, ok := e.Data.(event.StepStarted); ok && d.Index == index {
			all = append(all, d.Coerced...)
		}
	}
	return all
}

func TestResultIsCoercedToSchemaType(t *testing.T) {
	const plan = `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"n"},
	 {"index":"2","title":"Fill","tool":"fill","args":{"at":"${n}"}}]}`
	for name, c := range map[string]struct {
		result  any
		strict  bool
		want    event.Reason
		coerced bool
	}{
		"number as string":                 {result: json.Number("7"), want: event.ReasonGoalMet, coerced: true},
		"string":                           {result: "7", want: event.ReasonGoalMet},
		"object":                           {result: map[string]any{"n": json.Number("7")}, want: event.ReasonStepFailed},
		"number as string in a strict run": {result: json.Number("7"), strict: true, want: event.ReasonStepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tool = func(call agent.CallTool) event.Data {
				if call.Index == "2" && call.Args["at"] != "7" {
					t.Errorf("called with %#v", call.Args)
				}
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: c.result}
			}
			start := given(t, plan)
			start.Strict = c.strict
			if got := w.play(start); got.Reason != c.want {
				t.Errorf("ended %s (%s), want %s", got.Reason, got.Error, c.want)
			}
			coerced := w.coercions("2")
			if c.coerced != (len(coerced) == 1 && coerced[0].String() == `at: 7 is taken as "7"`) || !c.coerced && len(coerced) > 0 {
				t.Errorf("got the coercions %v", coerced)
			}
			if step := w.run.Step("2"); len(step.Coerced) != len(coerced) {
				t.Errorf("the step has the coercions %v", step.Coerced)
			}
		})
	}
}

// takes is a tool with arguments that may be left out.
var takes = plan.Tool{Name: "take", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(
	`{"type":"object","properties":{"files":{"type":"array","items":{"type":"string"}},"most":{"type":"integer"},"note":{"type":"string"}},"additionalProperties":false}`)}

const takesResult = `{"title":"x","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"r"},
 {"index":"2","title":"Take","tool":"take","args":{"files":"${r.files}","most":"${r.most}","note":"${r.note}"}}]}`

func TestResolvedReferencesAreFittedToTheSchema(t *testing.T) {
	for name, c := range map[string]struct {
		result  string
		args    string // of the call; "" for none
		coerced []string
		strict  string // the error of a strict run; "" for none
	}{
		"valid": {`{"files":["a"],"most":3,"note":"n"}`, `{"files":["a"],"most":3,"note":"n"}`, nil, ""},
		"text, whole number and null": {
			`{"files":"${a}","most":3.0,"note":null}`, `{"files":["${a}"],"most":3}`,
			[]string{`files: "${a}" is taken as ["${a}"]`, `most: 3.0 is taken as 3`, `note: null is left out`},
			"the args of take do not fit: files: got string, want array; note: got null, want string",
		},
		"whole number": {
			`{"files":[],"most":3.0,"note":""}`, `{"files":[],"most":3,"note":""}`,
			[]string{`most: 3.0 is taken as 3`},
			"the args of take do not fit: most: 3.0 is not written as an integer",
		},
		"object for text": {`{"files":[],"most":3,"note":{}}`, "", nil, "the args of take do not fit: note: got object, want string"},
	} {
		for _, strict := range []bool{false, true} {
			w := newWorld(t)
			result, err := plan.DecodeValue([]byte(c.result))
			if err != nil {
				t.Fatal(err)
			}
			called := ""
			w.tool = func(call agent.CallTool) event.Data {
				if call.Index == "2" {
					called = plan.CanonicalJSON(call.Args)
				}
				return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: result}
			}
			start := given(t, takesResult)
			start.Catalog, start.Prompting.Strict = append(start.Catalog[:len(start.Catalog):len(start.Catalog)], takes), strict
			got := w.play(start)
			args, coerced, fails := c.args, c.coerced, ""
			if strict && c.strict != "" {
				args, coerced, fails = "", nil, c.strict
			}
			var reported []string
			for _, c := range w.coercions("2") {
				reported = append(reported, c.String())
			}
			if called != args || !slices.Equal(reported, coerced) || !strings.Contains(string(got.Error), fails) {
				t.Errorf("%s, strict %v: called with %s, reported %q, ended %s (%s); want %s, %q, %s", name, strict, called, reported, got.Reason, got.Error, args, coerced, fails)
			}
		}
	}
}

func TestSumOfAResultIsCalculated(t *testing.T) {
	for result, want := range map[string]string{`{"most":3}`: `{"most":13}`, `{"most":"3"}`: `{"most":13}`, `{"most":"all"}`: ""} {
		w := newWorld(t)
		called := ""
		w.tool = func(call agent.CallTool) event.Data {
			if call.Index == "2" {
				called = plan.CanonicalJSON(call.Args)
			}
			found, err := plan.DecodeValue([]byte(result))
			if err != nil {
				t.Error(err)
			}
			return event.StepCompleted{Index: call.Index, Attempt: call.Attempt, Result: found}
		}
		start := given(t, takesResult)
		start.Catalog = append(start.Catalog[:len(start.Catalog):len(start.Catalog)], takes)
		start.Plan.Steps[1].Args = map[string]any{"most": "${r.most} + 10"}
		if w.play(start); called != want {
			t.Errorf("%s: called with %s, want %s", result, called, want)
		}
	}
}

func TestDryRunFitsNothingUnknown(t *testing.T) {
	w := newWorld(t)
	start := dry(t, takesResult)
	start.Catalog = append(start.Catalog[:len(start.Catalog):len(start.Catalog)], takes)
	start.Plan.Steps[1].Args["most"] = "7"
	w.play(start)
	done := all[event.StepCompleted](w)
	if got := plan.CanonicalJSON(done[len(done)-1].Args); got != `{"files":"<look result>","most":7,"note":"<look result>"}` {
		t.Errorf("got the args %s", got)
	}
}

func TestArgsOfAStrictGoalAreRepaired(t *testing.T) {
	for _, strict := range []bool{false, true} {
		w := newWorld(t)
		repaired := false
		w.reply = func(r prompt.Request) (string, error) {
			most := `"7"`
			if r.Purpose == prompt.PurposeRepair {
				most, repaired = `7`, true
			}
			return `{"title":"Take","steps":[{"index":"1","title":"Take the files","tool":"take","args":{"most":` + most + `},"depends_on":[]}]}`, nil
		}
		start := started(event.DefaultLimits())
		start.Catalog, start.Prompting.Strict, start.SkipSynthesis = plan.Catalog{takes}, strict, true
		got := w.play(start)
		if got.Reason != event.ReasonGoalMet || repaired != strict || (len(w.coercions("1")) > 0) == strict {
			t.Errorf("strict %v: repaired %v, ended %s (%s)", strict, repaired, got.Reason, got.Error)
		}
	}
}
