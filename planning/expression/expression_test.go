package expression_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"replan/planning/expression"
)

// value reads JSON as results are read.
func value(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestConditionsHoldOrNot(t *testing.T) {
	values := value(t, `{
		"result": {"failed": 0, "ok": true, "name": "main.go", "ratio": 0.5, "whole": 3.0, "none": null, "big": 9007199254740993,
			"items": [{"id": 1, "ok": true}, {"id": 2, "ok": false}], "codes": [1, 2, 3], "flags": [true, false], "a-b": 1},
		"args": {"path": "src"}, "found": {"files": ["a.go", "b.go"]}, "item": 7, "index": 0}`).(map[string]any)
	for source, want := range map[string]bool{
		`result.failed == 0`: true,
		`result.failed > 0`:  false,
		`result.ok`:          true,
		`not result.ok`:      false,
		`result.name == "main.go" and args.path == "src"`:      true,
		`result.name matches "^ma.*go$"`:                       true,
		`result.name contains "x"`:                             false,
		`result.ratio < 1`:                                     true,
		`result.whole == 3`:                                    true,
		`result.big == 9007199254740993`:                       true,
		`result.big == 9007199254740992`:                       false,
		`result.none == nil`:                                   true,
		`len(found.files) == 2`:                                true,
		`found.files[1] == "b.go"`:                             true,
		`found.files[-1] == "b.go"`:                            true,
		`found.files == ["a.go", "b.go"]`:                      true,
		`"a.go" in found.files`:                                true,
		`3 in result.codes`:                                    true,
		`4 in result.codes`:                                    false,
		`sum(result.codes) == 6`:                               true,
		`max(result.codes) == 3`:                               true,
		`all(result.items, .id > 0)`:                           true,
		`all(result.items, .ok)`:                               false,
		`any(result.flags, #)`:                                 true,
		`count(result.codes, # > 1) == 2`:                      true,
		`find(result.items, .id == 2).ok`:                      false,
		`sum(map(result.items, .id)) == 3`:                     true,
		`result["a-b"] == 1`:                                   true,
		`(result.missing ?? 5) == 5`:                           true,
		`result?.missing == nil`:                               true,
		`"failed" in result`:                                   true,
		`item + index == 7`:                                    true,
		`result.ok ? result.failed == 0 : false`:               true,
		`len(split(result.name, ".")) == 2`:                    true,
		`result.ok or result.missing`:                          true,
		`result.failed in 0..3`:                                true,
		`lower(trim(" A ")) == "a" and upper("b") == "B"`:      true,
		`all(found.files, hasSuffix(#, ".go")) && !(1 == 2)`:   true,
		`findIndex(result.codes, # == 2) == 1 and item in [7]`: true,
	} {
		t.Run(source, func(t *testing.T) {
			e, err := expression.Compile(source, nil)
			if err != nil {
				t.Fatal(err)
			}
			if holds, _, err := e.Holds(values); err != nil || holds != want {
				t.Errorf("holds: %v, %v; want %v", holds, err, want)
			}
		})
	}
}

func TestConditionWithoutAnswerSaysWhy(t *testing.T) {
	values := value(t, `{"result": {"failed": 0, "text": "x", "list": [1], "huge": 1e999, "empty": {}}}`).(map[string]any)
	for source, want := range map[string]string{
		`result.faild == 0`:              `column 8: there is no field "faild", only empty, failed, huge, list and text`,
		`result.faild != 3`:              `there is no field "faild"`,
		`result.empty.x == 1`:            `there is no field "x", the object is empty`,
		`result.list[3] == 1`:            `there is no position 3 in a list of 1`,
		`result.text.x == 1`:             `a text has no field "x"`,
		`result.text > 1`:                `text`,
		`result.huge > 1`:                `too large to compute with`,
		`result.failed`:                  `gave a number, not true or false`,
		`found.files == 1`:               `found has no value yet`,
		`all(result.list, .x)`:           `a number has no field "x"`,
		`all(result.list, result.nope)`:  `there is no field "nope"`,
		`any(1..900000, any(1..9, #<0))`: `too large for this expression`,
		`len(1..2000000) == 1`:           `too large for this expression`,
	} {
		t.Run(source, func(t *testing.T) {
			e, err := expression.Compile(source, nil)
			if err != nil {
				t.Fatal(err)
			}
			holds, _, err := e.Holds(values)
			if holds || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("holds: %v, %v; want the error %q", holds, err, want)
			}
		})
	}
}

func TestMistakesAreFoundBeforeTheRun(t *testing.T) {
	result := &expression.Type{Kind: expression.Object, Fields: map[string]*expression.Type{
		"failed": {Kind: expression.Whole}, "name": {Kind: expression.Text}, "any": nil,
		"items": {Kind: expression.List, Item: &expression.Type{Kind: expression.Object, Fields: map[string]*expression.Type{"ok": {Kind: expression.Truth}}}},
	}}
	scope := expression.Scope{"result": result, "args": nil, "found": nil}
	for source, want := range map[string]string{
		``:                                     `the expression is empty`,
		`reslt.failed == 0`:                    `column 1: there is no name "reslt", only args, found and result; did you mean result?`,
		`found == null`:                        `column 10: there is no name "null"; did you mean nil?`,
		"result.failed == 0 and\n  nope":       `line 2, column 3: there is no name "nope"`,
		`result.faild == 0`:                    `column 8: there is no field "faild", only any, failed, items and name; did you mean failed?`,
		`result.failed == "0"`:                 `mismatched types int and text`,
		`result.name > 1`:                      `mismatched types text and int`,
		`result.failed`:                        `gives int, and it must give true or false`,
		`all(result.items, .okay)`:             `okay`,
		`result.failed ==`:                     `column 16: unexpected token EOF`,
		`now() == 1`:                           `column 1: now is no function that an expression may call`,
		`lenn(result.name) == 1`:               `did you mean len?`,
		`keys(args) == []`:                     `keys is no function`,
		`let x = 1; x == 1`:                    `let is not allowed`,
		`args; true`:                           `no semicolon`,
		`$env.result == 1`:                     `no name begins with $`,
		`args == b"x"`:                         `bytes are not allowed`,
		`args.x matches found.y`:               `in quotes`,
		`args.x matches "("`:                   `missing closing )`,
		`args.x matches "((a{50}){30}){30}"`:   `repeat`,
		`args.run() == 1`:                      `is no function`,
		strings.Repeat("!", 600) + `args`:      `more than 500 parts`,
		`"` + strings.Repeat("x", 4096) + `"`:  `4098 bytes, and 4096 are the most`,
		strings.Repeat("(", 4000):              `unexpected token`,
		`reduce(args.x, #, 0) == 1`:            `reduce is no function`,
		`repeat("x", 100) == args.x`:           `repeat is no function`,
		`sortBy(args.x, #) == []`:              `sortBy is no function`,
		`args | toJSON() == ""`:                `toJSON`,
		`all(args.x, #acc == 1)`:               `#acc is not allowed`,
		`args.x == "` + "\x00" + `" and nope`:  `nope`,
		`1 + 2`:                                `gives int, and it must`,
		`args.x matches "` + "a\\xff" + `" !!`: ``,
	} {
		name := source[:min(len(source), 40)]
		t.Run(name, func(t *testing.T) {
			_, err := expression.Compile(source, scope)
			var fault *expression.Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
				t.Errorf("compile: %v; want %q", err, want)
			}
		})
	}
}

func TestExpressionThatCannotBeFalseIsConstant(t *testing.T) {
	for source, want := range map[string]bool{
		`true`: true, `1 == 1`: true, `len("x") == 1`: true, `result.ok`: false, `result.ok or true`: true, `result.n == result.n`: true,
		`not (false and result.ok)`: true, `result.n != result.n`: true, `result.ok and true`: false, `result.a == result.b`: false,
	} {
		e, err := expression.Compile(source, nil)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if e.Constant() != want {
			t.Errorf("%s: constant is %v", source, e.Constant())
		}
	}
}

func TestEvidenceHoldsThePathsAndTheirValues(t *testing.T) {
	values := value(t, `{"result": {"failed": 2, "items": [1,2,3], "text": "`+strings.Repeat("é", 300)+`",
		"long": [1,2,3,4,5,6,7,8,9,10,11,12], "odd name": null,
		"names": ["TestMake/no_dash_at_either_end","TestMake"], "longer": ["`+strings.Repeat("a", 201)+`"]}}`).(map[string]any)
	e, err := expression.Compile(`result.failed == 0 and result.failed < 1 and len(result.items) == 3 and result.items[0] == 1
		and result.text == "" and result.long == [] and result["odd name"] == 1 and result.names == [] and result.longer == [] and result.missing == 1`, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, saw, _ := e.Holds(values)
	got, err := json.Marshal(saw)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"path":"result.failed","value":2},{"path":"len(result.items)","value":3},{"path":"result.items[0]","value":1},` +
		`{"path":"result.text","value":"` + strings.Repeat("é", 200) + `…"},{"path":"result.long","value":"a list of 12"},` +
		`{"path":"result[\"odd name\"]","value":null},{"path":"result.names","value":["TestMake/no_dash_at_either_end","TestMake"]},` +
		`{"path":"result.longer","value":"a list of 1"}]`
	if string(got) != want {
		t.Errorf("saw %s\nwant %s", got, want)
	}
}

func TestWorkIsBoundedBySizeAndNotByTime(t *testing.T) {
	list := make([]any, 10_000)
	for i := range list {
		list[i] = map[string]any{"n": json.Number("1"), "text": "some text"}
	}
	text := strings.Repeat("x", 1<<20)
	values := map[string]any{"result": map[string]any{"list": list, "text": text}}
	for source, want := range map[string]string{
		`all(result.list, .n == 1)`:                                        "",
		`len(result.list) == 10000`:                                        "",
		`result.text contains "y"`:                                         "",
		`all(result.list, all(result.list, .n == 1))`:                      "too large",
		`all(result.list, not (result.text contains "y"))`:                 "too large",
		`all(result.list, not (result.text matches "(x+x+)+y"))`:           "too large",
		strings.Repeat("result.text + ", 100) + `"" == ""`:                 "too large",
		`len(split(result.text, "")) == 1`:                                 "",
		`all(result.list, result.list == result.list or .n == 1)`:          "too large",
		`all(result.list, len(map(result.list, #)) > 0 and .n in [1,2,3])`: "too large",
	} {
		t.Run(source[:min(len(source), 60)], func(t *testing.T) {
			e, err := expression.Compile(source, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = e.Holds(values)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

func TestRenamedVariableKeepsFieldsAndTextOfItsName(t *testing.T) {
	got := expression.Rename(`é == "found" and found.found + found["found"] > 0`, "found", "found_2")
	if want := `é == "found" and found_2.found + found_2["found"] > 0`; got != want {
		t.Errorf("got %s", got)
	}
	if names := expression.NamesOf(`len(found.files) > args.n`); strings.Join(names, " ") != "args found" {
		t.Errorf("names %q", names)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`result.failed == 0`, `all(result.items, .id > 0 and #index < 3)`, `result?.x ?? 1 == 1`, `"a" in result`, `result.text matches "^a"`,
		`find(result.items, .ok).id + -1 > 2 ** 3`, `result.items[0:1] == []`, `1..3 == [1,2,3]`, `{"a": result}.a.x`, `if result.ok { true } else { false }`, `result | len() > 1`,
	} {
		f.Add(seed)
	}
	values := value(f, `{"result": {"ok": true, "text": "abc", "items": [{"id": 1}, {"id": 2.5}], "none": null}, "args": {}}`).(map[string]any)
	f.Fuzz(func(t *testing.T, source string) {
		e, err := expression.Compile(source, nil)
		if err != nil {
			return
		}
		first, _, errFirst := e.Holds(values)
		again, _, errAgain := e.Holds(values)
		if first != again || (errFirst == nil) != (errAgain == nil) {
			t.Errorf("%q: %v %v, then %v %v", source, first, errFirst, again, errAgain)
		}
		if e.Constant() && len(e.Names()) > 0 && errFirst == nil {
			changed, _, err := e.Holds(map[string]any{"result": value(t, `{"ok": false, "text": "", "items": [], "none": 1}`), "args": map[string]any{}})
			if err == nil && changed != first {
				t.Errorf("%q is constant, and gives both answers", source)
			}
		}
		_, _ = expression.Compile(source, expression.Scope{"result": {Kind: expression.Object}, "args": nil})
	})
}

func BenchmarkHolds(b *testing.B) {
	values := value(b, `{"result": {"failed": 0, "passed": 12, "name": "main"}}`).(map[string]any)
	e, err := expression.Compile(`result.failed == 0 and result.passed > 0`, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if holds, _, err := e.Holds(values); !holds || err != nil {
			b.Fatal(holds, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := expression.Compile(`result.failed == 0 and result.passed > 0`, nil); err != nil {
			b.Fatal(err)
		}
	}
}
