package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"replan/planning/plan"
)

// FuzzDecodePlan checks that no file makes the reader panic, that each fault has
// a message and a path, and that a plan without faults of form reads back
// unchanged.
func FuzzDecodePlan(f *testing.F) {
	f.Add([]byte(mcpFile))
	f.Add([]byte(`{"title":"T","steps":[{"title":"a","tool":"fs.read","args":{"path":"${x.y[0]}"},"depends_on":[2,"2"]},{"title":"b","executor":"self","result_variable":"x"}]}`))
	f.Add(planWithChecks(`[{"title":"t","tool":"fs.read","args":{"path":"${tests.a}","lines":"1"},"expect":"result.x == nil and tests.y > limit"}, {"expect":"true"}]`, `{"expect":"said matches \"a\""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, faults := plan.DecodePlan(data)
		rules := plan.Rules{CheckTools: true, Catalog: someTools, MaxSteps: 4}
		_, all, warnings := plan.CheckPlan(data, rules)
		for _, fault := range slices.Concat(faults, all, warnings) {
			if fault.Code == "" || fault.Message == "" || fault.Path != "" && fault.Path[0] != '/' {
				t.Fatalf("got a fault without a message: %+v", fault)
			}
		}
		if len(all) < len(faults) {
			t.Fatalf("reading finds %q, checking only %q", faultsAt(faults), faultsAt(all))
		}
		g := plan.NewGraph(p)
		if len(g.Order()) == g.Len() != (g.Cycle() == nil) {
			t.Fatalf("order %q, cycle %q", g.Order(), g.Cycle())
		}
		if len(faults) > 0 {
			return
		}
		requireSameAfterReading(t, p)
		exported, err := plan.ExportMCP(p)
		if err != nil {
			return
		}
		if _, faults, _ := plan.CheckPlan(exported, plan.Rules{}); len(faults) > 0 {
			t.Fatalf("%s was exported as %s, which has the faults %v", data, exported, plan.FaultError(faults))
		}
	})
}

// FuzzResolve checks what holds for every text: the references found are those
// filled in, values are not expanded again, and an escaped text or one without
// references comes out unchanged.
func FuzzResolve(f *testing.F) {
	for _, text := range []string{"${v}", "a ${v.f[0]} $${w} ${", "$$${x}${ y }${}", "${a[b].c[}", "$1 ${v"} {
		f.Add(text, "${v} $${x}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		references := plan.References(text)
		rest := text
		unknown, given := map[string]any{}, map[string]any{}
		const mark = "\x00"
		for _, r := range references {
			_, after, found := strings.Cut(rest, r.Text)
			if !found {
				t.Fatalf("%q has no %q after the previous references", text, r.Text)
			}
			rest = after
			unknown[r.Name] = plan.Placeholder(mark)
			given[r.Name] = plan.Placeholder(value)
		}
		if slices.ContainsFunc(references, func(r plan.Reference) bool { return r.Malformed != "" }) {
			var malformed *plan.MalformedReferenceError
			if _, err := plan.Resolve(text, given); !errors.As(err, &malformed) {
				t.Fatalf("%q gave the error %v", text, err)
			}
			return
		}
		marked, err := plan.Resolve(text, unknown)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, mark) && strings.Count(marked.(string), mark) != len(references) {
			t.Fatalf("%q with %d references was filled in as %q", text, len(references), marked)
		}
		filled, err := plan.Resolve(text, given)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(marked.(string), mark, value); !strings.Contains(text, mark) && filled != want {
			t.Fatalf("%q with %q became %q, want %q", text, value, filled, want)
		}
		if len(references) > 0 {
			if got, err := plan.Resolve(text, nil); err == nil {
				t.Fatalf("%q was filled in without values as %q", text, got)
			}
		}
		escaped := strings.ReplaceAll(text, "${", "$${")
		if found := plan.References(escaped); len(found) > 0 {
			t.Fatalf("%q still has the references %v", escaped, found)
		}
		if got, err := plan.Resolve(escaped, nil); err != nil || got != text {
			t.Fatalf("%q became %q, %v, want %q", escaped, got, err, text)
		}
	})
}

// FuzzReadPlanText checks that plan files are read as encoding/json reads them,
// and rejected if it rejects them.
func FuzzReadPlanText(f *testing.F) {
	for _, text := range []string{
		mcpFile, `{"a":[1,{"b":null}],"a":{},"c":"\u00e9\ud83d"}`, `[0,-0,-1.5e+10,1E5,01]`, `[1.]`, `[-]`, `{"a":1,}`, `[1,]`, `{"a" : [ ] }`, `"a`, `"\x"`,
		"\"\x01\"", `nul`, `[]]`, ` `, `{"":{"":1}}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		got, err := plan.ReadValue([]byte(text))
		want, wantErr := plan.DecodeValue([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%.200q was read as %.200s, %v; want %.200s, %v", text, fmt.Sprint(got), err, fmt.Sprint(want), wantErr)
		}
	})
}

// requireSameAfterReading requires that a plan without faults is written the same after it was
// written and read.
func requireSameAfterReading(t interface {
	Helper()
	Fatalf(form string, args ...any)
}, p plan.Plan,
) {
	t.Helper()
	written, err := plan.EncodeJSON(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, faults := plan.DecodePlan(written)
	if len(faults) > 0 {
		t.Fatalf("the plan was written as %s, which has the faults %v", written, plan.FaultError(faults))
	}
	if again, err := plan.EncodeJSON(back); err != nil || string(again) != string(written) {
		t.Fatalf("written first as %s\nthen as %s, %v", written, again, err)
	}
}
