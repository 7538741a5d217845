package plan_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"replan/internal/jsonsize"
	"replan/planning/plan"

	"pgregory.net/rapid"
)

func TestReferences(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"a name", `"${v}"`, `v`},
		{"fields and list positions", `"${v.field.0[1].x}"`, `v/field/0/1/x`},
		{"a position right after the name", `"${v[0]}"`, `v/0`},
		{"blanks inside the braces", `"a ${ v.f } b"`, `v/f`},
		{"several in one text", `"${a}${b}"`, `a b`},
		{"lists and objects, by key", `{"z":"${a}","b":[{"c":"${b}"}]}`, `b a`},
		{"object keys", `{"${k}":1}`, ``},
		{"escaped reference", `"$${v}"`, ``},
		{"reference after an escaped one", `"$${v} ${w}"`, `w`},
		{"unclosed reference", `"${v"`, ``},
		{"empty reference", `"${} ${ }"`, ``},
		{"shell variable", `"$v $1 $$"`, ``},
		{"numbers", `[1,null,true]`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range plan.References(mustValue(t, tt.value)) {
				got = append(got, strings.Join(append([]string{r.Name}, r.Path...), "/"))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReferencesKeepTheirText(t *testing.T) {
	if got := plan.References("x ${ v.f } y"); len(got) != 1 || got[0].Text != "${ v.f }" {
		t.Errorf("got %+v", got)
	}
}

func TestResolve(t *testing.T) {
	values := mustValue(t, `{
		"text": "t", "number": 12345678901234567890, "huge": 1e400, "no": null, "yes": true,
		"list": [10, {"k": "<v>"}], "object": {"f": {"g": "deep"}, "0": "zero"}, "trap": "${text} $${text}"
	}`).(map[string]any)
	for _, tt := range []struct{ name, value, want string }{
		{"lone text", `"${text}"`, `"t"`},
		{"lone number keeps every digit", `"${number}"`, `12345678901234567890`},
		{"lone number beyond any float", `"${huge}"`, `1e400`},
		{"lone null", `"${no}"`, `null`},
		{"lone object", `"${object.f}"`, `{"g":"deep"}`},
		{"blanks around a reference make text", `" ${yes}"`, `" true"`},
		{"string inside text", `"a ${text} b"`, `"a t b"`},
		{"null inside text", `"<${no}>"`, `"<null>"`},
		{"list inside text is compact JSON", `"is ${list}"`, `"is [10,{\"k\":\"<v>\"}]"`},
		{"numbers inside text keep every digit", `"${number}${huge}"`, `"123456789012345678901e400"`},
		{"a list position by dot", `"${list.0}"`, `10`},
		{"a list position by brackets, and a field below it", `"${list[1].k}"`, `"<v>"`},
		{"a field named like a number", `"${object.0}"`, `"zero"`},
		{"blanks inside the braces are trimmed", `"${  text }"`, `"t"`},
		{"values are not expanded again", `["${trap}","x${trap}"]`, `["${text} $${text}","x${text} $${text}"]`},
		{"$${ is a literal ${", `"$${text}"`, `"${text}"`},
		{"three dollars", `"$$${text}"`, `"$${text}"`},
		{"an escape and a reference in one text", `"$${a} ${text}"`, `"${a} t"`},
		{"escape after an unclosed reference", `"${text $${"`, `"${text ${"`},
		{"empty reference", `"${} ${  }"`, `"${} ${  }"`},
		{"shell variable", `"$text $1 $"`, `"$text $1 $"`},
		{"object keys", `{"${text}":"${text}"}`, `{"${text}":"t"}`},
		{"lists", `[["${text}"],1,null]`, `[["t"],1,null]`},
		{"empty text", `""`, `""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := plan.Resolve(mustValue(t, tt.value), values)
			if err != nil {
				t.Fatal(err)
			}
			if text := plan.CanonicalJSON(got); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

func TestResolveErrorsNameMissingAndExistingFields(t *testing.T) {
	values := mustValue(t, `{"o":{"b":1,"a":2},"l":[1,2],"s":"text","n":null}`).(map[string]any)
	for _, tt := range []struct {
		name, text, field string
		there             []string
	}{
		{"variable", "${x.y}", "", []string{"l", "n", "o", "s"}},
		{"a field of an object", "see ${o.c}", "c", []string{"a", "b"}},
		{"a position past the end", "${l[2]}", "2", []string{"0", "1"}},
		{"a negative position", "${l.-1}", "-1", []string{"0", "1"}},
		{"a field of a list", "${l.name}", "name", []string{"0", "1"}},
		{"a field of a text", "${s.length}", "length", nil},
		{"a field of null", "${n.f}", "f", nil},
		{"a position with a leading zero", "${l.01}", "01", []string{"0", "1"}},
		{"a position with a sign", "${l[+1]}", "+1", []string{"0", "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := plan.Resolve([]any{tt.text}, values)
			var variable *plan.MissingVariableError
			var field *plan.MissingFieldError
			switch {
			case errors.As(err, &variable):
				if !strings.Contains(err.Error(), `no variable "x", only l, n, o and s`) {
					t.Errorf("the message does not list the existing names: %v", err)
				}
				if tt.name != "variable" || !slices.Equal(variable.There, tt.there) || variable.Reference.Name != "x" {
					t.Errorf("got %+v", variable)
				}
			case errors.As(err, &field):
				if field.Field != tt.field || !slices.Equal(field.There, tt.there) {
					t.Errorf("got %+v", field)
				}
				if len(tt.there) > 0 && !strings.Contains(err.Error(), tt.there[0]) {
					t.Errorf("the message does not list the existing names: %v", err)
				}
			default:
				t.Errorf("got %v", err)
			}
		})
	}
}

// malformedReferences are references without a value, with their errors.
var malformedReferences = []struct{ name, text, why string }{
	{"an unclosed bracket", "${o[0}", "a bracket is not closed"},
	{"an unclosed bracket after a field", "${o.x[0}", "a bracket is not closed"},
	{"an empty field", "${o..x}", "it holds an empty field"},
	{"an empty field at the end", "${o.}", "it holds an empty field"},
	{"empty brackets", "${o[ ]}", "it holds an empty field"},
	{"a name after a bracket", "${o[0]x}", "something follows a closing bracket that is neither a dot nor a bracket"},
	{"a path without a name", "${.x}", "it names no variable"},
	{"a position without a name", "${[0]}", "it names no variable"},
}

func TestMalformedReferencesAreErrors(t *testing.T) {
	values := mustValue(t, `{"o":{"":{"x":1},"0":1,"[0":1,"x":[1]},"":{"x":1,"0":1}}`).(map[string]any)
	for _, tt := range malformedReferences {
		t.Run(tt.name, func(t *testing.T) {
			_, err := plan.Resolve("see "+tt.text, values)
			var malformed *plan.MalformedReferenceError
			if !errors.As(err, &malformed) || malformed.Reference.Text != tt.text || err.Error() != tt.text+" cannot be filled in: its path is malformed: "+tt.why {
				t.Errorf("got %v", err)
			}
			_, faults, _ := plan.CheckPlan([]byte(`{"title":"T","variables":{"o":{}},"steps":[{"title":"a","tool":"t","args":{"x":["`+tt.text+`"]}}]}`), plan.Rules{})
			if len(faults) != 1 || faults[0].Code != plan.CodeUnknownVariable || faults[0].Path != "/steps/0/args/x/0" ||
				faults[0].Message != "step 1 refers to "+tt.text+", whose path is malformed: "+tt.why {
				t.Errorf("checked: %+v", faults)
			}
		})
	}
}

func TestLongNameListsAreCutWithCount(t *testing.T) {
	_, err := plan.Resolve("${v[100]}", map[string]any{"v": make([]any, 100)})
	if err == nil || !strings.HasSuffix(err.Error(), "19 and 80 more") {
		t.Errorf("got %v", err)
	}
	if _, err := plan.Resolve("${v}", nil); err == nil || !strings.Contains(err.Error(), "no variable has a value yet") {
		t.Errorf("got %v", err)
	}
}

func TestResolveArgsKeepsMissingArgsMissing(t *testing.T) {
	if got, err := plan.ResolveArgs(nil, nil); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := plan.ResolveArgs(map[string]any{"a": "${x}"}, nil); err == nil {
		t.Error("a missing variable is no error")
	}
	got, err := plan.ResolveArgs(map[string]any{"a": "${x}"}, map[string]any{"x": nil})
	if err != nil || plan.CanonicalJSON(got) != `{"a":null}` {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestResolveNeverExpandsValues(t *testing.T) {
	// Any value comes out unchanged.
	pieces := rapid.SampledFrom([]string{"${v}", "$${v}", "${", "}", "$", "v", ".", "[0]", " "})
	rapid.Check(t, func(t *rapid.T) {
		value := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "value"), "")
		values := map[string]any{"v": value}
		alone, err := plan.Resolve("${v}", values)
		if err != nil || alone != any(value) {
			t.Fatalf("alone: %q became %q, %v", value, alone, err)
		}
		inside, err := plan.Resolve("<${v}|${v}>", values)
		if err != nil || inside != any("<"+value+"|"+value+">") {
			t.Fatalf("inside: %q became %q, %v", value, inside, err)
		}
	})
}

func TestReferencesFillInOnlySoMuch(t *testing.T) {
	values := map[string]any{"v": strings.Repeat("x", 1<<20), "list": []any{strings.Repeat("y", 1<<20)}, "bomb": "${v}"}
	for name, c := range map[string]struct {
		args any
		fits bool
	}{
		"fifteen megabytes":                {strings.Repeat("${v}", 15), true},
		"sixteen megabytes and a word":     {strings.Repeat("${v}", 16) + " x", false},
		"the same text two thousand times": {strings.Repeat("${v}", 2000), false},
		"parts of a list":                  {[]any{strings.Repeat("${v}", 10), map[string]any{"a": strings.Repeat("${list}", 10)}}, false},
		"a value that looks like more":     {strings.Repeat("${bomb}", 1000), true},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := plan.Resolve(c.args, values)
			runtime.ReadMemStats(&after)
			if (err == nil) != c.fits {
				t.Errorf("got %v", err)
			}
			if built := after.TotalAlloc - before.TotalAlloc; !c.fits && built > 1<<20 {
				t.Errorf("%d bytes were built before it was refused", built)
			}
		})
	}
}

func TestResolveKeepsTextWithoutReferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "${", "")
		if got, err := plan.Resolve(text, nil); err != nil || got != any(text) {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
	})
}

func TestEscapingHidesEveryReference(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"${v}", "${", "}", "v", "x", " ", "{"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "text"), "")
		escaped := strings.ReplaceAll(text, "${", "$${")
		if found := plan.References(escaped); len(found) != 0 {
			t.Fatalf("%q has the references %v", escaped, found)
		}
		if got, err := plan.Resolve(escaped, nil); err != nil || got != any(text) {
			t.Fatalf("%q became %q, %v", escaped, got, err)
		}
	})
}

func TestPlaceholderCoversItsFields(t *testing.T) {
	const unknown = plan.Placeholder("<fs.read result>")
	values := map[string]any{"r": unknown, "o": map[string]any{"in": unknown}}
	for _, tt := range []struct{ name, text, want string }{
		{"alone", "${r}", "<fs.read result>"},
		{"path below a placeholder", "${r.files[0].name}", "<fs.read result>"},
		{"inside text", "see ${r} and ${r.x}", "see <fs.read result> and <fs.read result>"},
		{"below a known value", "${o.in.x}", "<fs.read result>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := plan.Resolve(tt.text, values)
			if err != nil || got != tt.want {
				t.Errorf("got %#v, %v; want the text %q", got, err, tt.want)
			}
		})
	}
}

func TestLoneReferencesKeepTheirType(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := drawJSON(3).Draw(t, "value")
		values := map[string]any{"v": value, "o": map[string]any{"f": []any{nil, value}}}
		for _, text := range []string{"${v}", "${ o.f[1] }", "${o.f.1}"} {
			got, err := plan.Resolve(map[string]any{"x": []any{text}}, values)
			if err != nil {
				t.Fatal(err)
			}
			// Compared as text, because the digits must stay, too.
			if want := plan.CanonicalJSON(map[string]any{"x": []any{value}}); plan.CanonicalJSON(got) != want {
				t.Fatalf("%s became %s, want %s", text, plan.CanonicalJSON(got), want)
			}
		}
	})
}

func TestResolveStopsAboveTheNumberOfValues(t *testing.T) {
	values := map[string]any{"r": make([]any, jsonsize.Most/2)}
	_, err := plan.Resolve(map[string]any{"x": []any{"${r}", "${r}"}}, values)
	if err == nil || err.Error() != "with its references filled in it would have more than 500000 values: pass a file, or refer to fields" {
		t.Errorf("got %v", err)
	}
	if _, err := plan.Resolve("${r}", values); err != nil {
		t.Error(err)
	}
}
