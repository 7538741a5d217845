package intent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
)

// step returns a completed step with its result as JSON.
func step(index, tool, result string) plan.HistoryItem {
	v, err := plan.DecodeValue([]byte(result))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", result, err))
	}
	return plan.HistoryItem{Index: index, Tool: tool, Title: untrusted.Text(tool), Status: plan.ItemCompleted, Attempt: 1, Result: v}
}

func failed(index, tool, message string) plan.HistoryItem {
	return plan.HistoryItem{Index: index, Tool: tool, Title: untrusted.Text(tool), Status: plan.ItemFailed, Error: untrusted.Text(message)}
}

func skipped(index, tool string) plan.HistoryItem {
	return plan.HistoryItem{Index: index, Tool: tool, Title: untrusted.Text(tool), Status: plan.ItemSkipped}
}

func manyMatches(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"path":"a%d.go","line":%d,"text":"\tuse(Foo)"}`, i%3, i+1)
	}
	return `{"matches":[` + b.String()[1:] + `],"total":900,"truncated":true}`
}

const (
	renamed  = `{"kind":"rename","by":"types","diff":"--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-Foo\n+Bar\n","files":[{"path":"a.go","added":1,"removed":1},{"path":"b.go","added":2,"removed":2}],"edits":3,"hashes":{},"note":"comments that name it were left"}`
	patched  = `{"files":[{"path":"a.go","added":1,"removed":1},{"path":"b.go","added":2,"removed":2}],"diff":"…"}`
	redTests = `{"passed":false,"summary":"1 of 3 tests failed","total":3,"ok":2,"skipped":0,"failed":["TestFoo","TestOther"],"failures":[{"name":"TestFoo","package":"a","file":"a/a_test.go","line":12,"message":"got 1, want 2\n\tmore"}],"command":"go test ./...","output":"…"}`
	green    = `{"passed":true,"summary":"the tests passed: 1 package; 3 tests","total":3,"ok":3,"failed":[],"failures":[]}`
)

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		done  []plan.HistoryItem
		left  string
	}{
		"find": {"find Foo", []plan.HistoryItem{
			step("1", "fs.search", `{"matches":[{"path":"a.go","line":3,"text":"func Foo() {"},{"path":"b.go","line":7,"text":"\tFoo()"}],"total":2,"truncated":false}`),
		}, ""},
		"find much":    {"find Foo", []plan.HistoryItem{step("1", "workspace:fs.search", manyMatches(200))}, ""},
		"find nothing": {"find Foo", []plan.HistoryItem{step("1", "fs.search", `{"matches":[],"total":0,"truncated":false}`)}, ""},
		"find symbols": {"find Foo", []plan.HistoryItem{step("1", "code.symbols", `{"symbols":[{"name":"Foo","qualified":"T.Foo","kind":"method","path":"a.go","line":3,"signature":"func (T) Foo() error"}],"total":1}`)}, ""},
		"find a file":  {"find main.go", []plan.HistoryItem{step("1", "fs.search", `{"matches":[],"total":0}`), step("2", "fs.list", `{"entries":[{"path":"cmd/main.go","type":"file"},{"path":"cmd/domain.go","type":"file"}]}`)}, ""},
		"hostile text": {"find `a``b`", []plan.HistoryItem{step("1", "fs.search", "{\"matches\":[{\"path\":\"a`.md\",\"line\":1,\"text\":\"``` [x](http://evil) <b>\\u001b[31m `\"}],\"total\":1}")}, ""},
		"file":         {"show a.go", []plan.HistoryItem{step("1", "fs.read", `"package a\n\nfunc F() {}\n"`)}, ""},
		"a file changed twice": {"replace a with b", []plan.HistoryItem{
			step("1", "fs.patch", `{"diff":"","files":[{"path":"a.go","action":"changed","added":1,"removed":0}]}`),
			step("2", "fs.patch", `{"diff":"","files":[{"path":"a.go","action":"changed","added":2,"removed":1},{"path":"b.go","action":"changed","added":1,"removed":1}]}`),
		}, ""},
		"file of JSON":            {"open a.json", []plan.HistoryItem{step("1", "fs.read", `{"a":[1]}`)}, ""},
		"empty file":              {"read a.txt", []plan.HistoryItem{step("1", "fs.read", `""`)}, ""},
		"references":              {"where is Foo used", []plan.HistoryItem{step("1", "code.references", `{"symbol":"pkg.Foo","name":"Foo","by":"types","definition":{"path":"a.go","line":3,"column":6,"text":"func Foo() {"},"references":[{"path":"a.go","line":3,"text":"func Foo() {","in":"","definition":true},{"path":"b.go","line":9,"text":"Foo()","in":"main"},{"path":"b.go","line":10,"text":"Foo()","in":"main"}],"total":3,"truncated":false}`)}, ""},
		"only a definition":       {"where is Foo used", []plan.HistoryItem{step("1", "code.references", `{"symbol":"Foo","references":[{"path":"a.go","line":3,"text":"func Foo() {","definition":true}],"total":1}`)}, ""},
		"many references":         {"where is Foo used", []plan.HistoryItem{step("1", "code.references", `{"symbol":"Foo","references":[`+strings.Repeat(`{"path":"b/b.go","line":9,"text":"Foo()","in":"main"},`, 31)+`{"path":"a.go","line":3,"text":"func Foo() {","definition":true}],"total":32}`)}, ""},
		"list files":              {"list files in b", []plan.HistoryItem{step("1", "fs.list", `{"entries":[{"path":"b/c","type":"dir"},{"path":"b/a.go","type":"file"}]}`)}, ""},
		"debug passing tests":     {"why does TestFoo fail", []plan.HistoryItem{step("1", "test.run", green), step("2", "vcs.log", `{"commits":[]}`), step("3", "code.summarize", `{"kind":"log","title":"two commits","summary":"two commits"}`)}, ""},
		"replace without tests":   {`replace "foo" with ""`, []plan.HistoryItem{step("1", "code.transform", renamed), step("3", "fs.patch", patched), step("4", "test.run", `{"passed":true,"summary":"there are no tests to run here","failed":[],"failures":[]}`)}, ""},
		"ordered tests missing":   {"rename Foo to Bar, run the tests", []plan.HistoryItem{step("2", "code.transform", renamed), step("4", "fs.patch", patched), step("5", "test.run", `{"passed":true,"summary":"there are no tests to run here","failed":[],"failures":[]}`)}, ""},
		"no references":           {"where is Foo used", []plan.HistoryItem{step("1", "code.references", `{"symbol":"Foo","definition":null,"references":[],"total":0}`)}, ""},
		"definition":              {"where is Foo defined", []plan.HistoryItem{step("1", "code.definition", `{"symbol":"Foo","by":"types","definitions":[{"name":"Foo","qualified":"pkg.Foo","kind":"func","path":"a.go","line":3,"text":"func Foo() {","signature":"func Foo(ctx context.Context) error","doc":"Foo does a thing.\n\n    code"}],"total":1}`)}, ""},
		"unread file":             {"where is Foo defined", []plan.HistoryItem{step("1", "code.definition", `{"definitions":[],"total":0,"note":"1 file was not searched (a.py: it is large)"}`)}, ""},
		"no definition":           {"where is Foo defined", []plan.HistoryItem{step("1", "code.definition", `{"definitions":[],"total":0}`)}, ""},
		"outline":                 {"outline a.go", []plan.HistoryItem{step("1", "code.symbols", `{"path":"a.go","by":"types","symbols":[{"name":"Foo","kind":"func","path":"a.go","line":3},{"name":"T","kind":"type","path":"a.go","line":9,"signature":"type T struct"}],"total":2}`)}, ""},
		"explain":                 {"what is Foo", []plan.HistoryItem{step("1", "fs.search", `{"matches":[{"path":"a.go","line":3,"text":"func Foo() {"}],"total":1}`), step("2", "code.summarize", `{"kind":"matches","title":"Foo","summary":"Foo is a function in `+"`a.go`"+`."}`)}, ""},
		"explain without summary": {"what is Foo", []plan.HistoryItem{step("1", "fs.search", `{"matches":[{"path":"a.go","line":3,"text":"func Foo() {"}],"total":1}`), failed("2", "code.summarize", "it broke")}, ""},
		"rename":                  {"rename Foo to Bar", []plan.HistoryItem{step("1", "code.references", `{"total":3}`), step("2", "code.transform", renamed), step("3", "code.summarize", `{"summary":"…"}`), step("4", "fs.patch", patched), step("5", "test.run", green)}, ""},
		"rename denied":           {"rename Foo to Bar", []plan.HistoryItem{step("2", "code.transform", renamed), failed("4", "fs.patch", "denied at the gate"), skipped("5", "test.run")}, ""},
		"order with a dot denied": {"make fmt", []plan.HistoryItem{{Index: "1", Title: "Run gofmt -l -w .", Tool: "proc.run", Status: plan.ItemFailed, Error: "denied at the gate"}, {Index: "2", Title: "Look at .", Status: plan.ItemSkipped}}, ""},
		"rename with red tests":   {"rename Foo to Bar", []plan.HistoryItem{step("2", "code.transform", renamed), step("4", "fs.patch", patched), {Index: "5", Tool: "test.run", Status: plan.ItemFailed, Error: "1 of 3 tests failed", Result: step("", "", redTests).Result}}, ""},
		"rename nothing":          {"rename Foo to Bar", []plan.HistoryItem{failed("1", "code.references", "nothing is called Foo; did you mean Food?"), skipped("2", "code.transform"), skipped("4", "fs.patch")}, ""},
		"move":                    {"rename a.go to b.go", []plan.HistoryItem{{Index: "1", Tool: "fs.move", Status: plan.ItemCompleted, Args: map[string]any{"from": "a.go", "to": "b.go"}}, step("2", "test.run", green)}, ""},
		"fix without model":       {"fix bug in a.go", []plan.HistoryItem{step("1", "fs.read", `"package a"`), step("2", "code.parse", `{"path":"a.go","language":"Go","lines":1,"outline":[]}`)}, "The fix itself needs a model, and there is none."},
		"test":                    {"run the tests", []plan.HistoryItem{step("1", "test.run", green)}, ""},
		"red tests":               {"run the tests", []plan.HistoryItem{step("1", "test.run", redTests)}, ""},
		"red Go tests":            {"run the tests", []plan.HistoryItem{step("1", "test.run", `{"passed":false,"summary":"2 failed: TestAdd, TestTotal","failed":["TestAdd","TestTotal"],"failures":[{"name":"TestAdd","file":"calc/calc_test.go","line":7,"message":"calc_test.go:7: Add(2, 3) = -1, want 5"},{"name":"TestTotal"}]}`)}, ""},
		"skipped steps":           {"fix the tests", []plan.HistoryItem{{Index: "2", Title: "Fix the tests", Status: plan.ItemSkipped}, {Index: "3", Title: "Apply the change", Tool: "fs.patch", Status: plan.ItemSkipped}}, ""},
		"tests do not start":      {"run the tests", []plan.HistoryItem{failed("1", "test.run", "go is not there")}, ""},
		"tests fail the step":     {"run the tests", []plan.HistoryItem{failed("1", "test.run", "1 of 3 tests failed\n\nTestFoo (a/a_test.go:12)\n\tgot 1, want 2\n```")}, ""},
		"nothing to push":         {"push", []plan.HistoryItem{step("2", "vcs.push", `{"remote":"origin","branch":"main","up_to_date":true}`)}, ""},
		"lint":                    {"lint", []plan.HistoryItem{step("1", "test.lint", `{"passed":false,"summary":"1 finding","findings":[{"file":"a.go","line":4,"message":"unused"}]}`)}, ""},
		"debug":                   {"why does TestFoo fail", []plan.HistoryItem{step("1", "test.run", redTests), step("2", "vcs.log", `{"commits":[]}`), step("3", "code.summarize", `{"kind":"tests","title":"TestFoo fails","summary":"TestFoo fails at a_test.go:12."}`)}, ""},
		"debug without summary":   {"why does TestFoo fail", []plan.HistoryItem{step("1", "test.run", redTests), step("2", "vcs.log", `{"commits":[{"hash":"0123456789abcdef","author":"Ann","date":"2026-11-22","subject":"Change Foo"}],"total":41}`)}, ""},
		"status":                  {"git status", []plan.HistoryItem{step("1", "vcs.status", `{"branch":"main","upstream":"origin/main","ahead":1,"behind":0,"clean":false,"files":[{"path":"a.go","status":"modified","staged":true}]}`)}, ""},
		"clean status":            {"git status", []plan.HistoryItem{step("1", "vcs.status", `{"branch":"main","upstream":"","ahead":0,"behind":0,"clean":true,"files":[]}`)}, ""},
		"diff":                    {"git diff", []plan.HistoryItem{step("1", "vcs.diff", `{"diff":"--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-x\n+`+"```"+`\n","files":[{"path":"a.md","added":1,"removed":1,"status":"modified"}],"added":1,"removed":1,"truncated":true}`)}, ""},
		"log":                     {"log", []plan.HistoryItem{step("1", "vcs.log", `{"commits":[{"hash":"0123456789abcdef","author":"Ann","date":"2026-11-22T07:13:55+00:00","subject":"Change *Foo*"}],"total":1}`)}, ""},
		"a commit":                {"show the last commit", []plan.HistoryItem{step("1", "vcs.show", `{"hash":"0123456789abcdef","author":"Ann","date":"2026-11-22T07:13:55+00:00","subject":"Change *Foo*","body":"Two users\nasked.","diff":"--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-x\n+y\n","files":[{"path":"a.md","added":1,"removed":1,"status":"modified"}],"added":1,"removed":1,"truncated":false}`)}, ""},
		"an empty commit":         {"show commit 0123456", []plan.HistoryItem{step("1", "vcs.show", `{"hash":"0123456789abcdef","author":"Ann","date":"2026-11-22","subject":"Begin","body":"","diff":"","files":[],"note":"this is a merge"}`)}, ""},
		"branches":                {"list branches", []plan.HistoryItem{step("1", "vcs.branches", `{"current":"main","branches":[{"name":"main","current":true,"subject":"x"},{"name":"dev","current":false,"subject":"y"}]}`)}, ""},
		"branch":                  {"create a branch called dev", []plan.HistoryItem{step("1", "vcs.branch", `{"branch":"dev"}`)}, ""},
		"commit":                  {"commit", []plan.HistoryItem{step("2", "code.summarize", `{"title":"Change a.go"}`), step("3", "vcs.commit", `{"hash":"0123456789abcdef","branch":"main","subject":"Change a.go","files":["a.go"]}`)}, ""},
		"push":                    {"push to origin", []plan.HistoryItem{step("1", "vcs.status", `{"branch":"main"}`), step("2", "vcs.push", `{"remote":"origin","branch":"main","up_to_date":false}`)}, ""},
		"in doubt":                {"push", []plan.HistoryItem{{Index: "2", Tool: "vcs.push", Status: plan.ItemInDoubt}}, ""},
		"functions":               {"list functions", []plan.HistoryItem{step("1", "code.symbols", `{"path":".","symbols":[{"name":"Foo","kind":"function","path":"a.go","line":3},{"name":"Bar","kind":"method","path":"a.go","line":9}],"total":2}`)}, ""},
		"no exported functions":   {"list exported functions", []plan.HistoryItem{step("1", "code.symbols", `{"path":".","symbols":[],"total":0}`)}, ""},
		"no such symbol":          {"find Foo", []plan.HistoryItem{step("1", "code.symbols", `{"symbols":[],"total":0}`)}, ""},
		"detached branches":       {"list branches", []plan.HistoryItem{step("1", "vcs.branches", `{"current":"","branches":[{"name":"main","subject":"x"}]}`)}, ""},
		"nothing":                 {"find Foo", nil, ""},
		"second attempt":          {"find Foo", []plan.HistoryItem{failed("1", "fs.search", "once"), step("1", "fs.search", `{"matches":[{"path":"a.go","line":3,"text":"Foo"}],"total":1}`), {Index: "1.1", Parent: "1", Tool: "fs.read", Status: plan.ItemFailed, Error: "inner"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, []byte(intent.Answer(intent.Parse(c.words), c.done, c.left)+"\n"))
		})
	}
}

// anyValue generates JSON values of any shape, with the fields of results.
func anyValue(depth int) *rapid.Generator[any] {
	keys := []string{
		"matches", "path", "line", "text", "total", "truncated", "symbols", "definitions", "references", "definition", "symbol", "summary", "title", "files",
		"edits", "diff", "passed", "failures", "failed", "findings", "commits", "hash", "branches", "current", "branch", "entries", "outline", "name", "added", "note", "by",
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"```", "`", "~~~\nx", "\x1b[0m", "a\nb", "main.go", strings.Repeat("x`", 500), strings.Repeat("l\n", 500), "\xff"}))
	plain := []*rapid.Generator[any]{
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.SampledFrom([]string{"0", "1", "-7", "1e400", "2.5", "99999999999999999999"}), func(s string) any { return json.Number(s) }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil), rapid.Just[any](3), rapid.Just[any](2.5),
	}
	if depth > 0 {
		inner := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
		plain = append(
			plain,
			rapid.Map(rapid.SliceOfN(inner, 0, 5), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom(keys), inner, 0, 6), func(m map[string]any) any { return m }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom(keys), inner, 2, 12), func(m map[string]any) any { return m }),
		)
	}
	return rapid.OneOf(plain...)
}

func TestAnswersAcceptAnyResult(t *testing.T) {
	tools := []string{"", "fix", "other:thing", "workspace:fs.search"}
	for tool := range schemas {
		tools = append(tools, tool)
	}
	result := anyValue(4)
	rapid.Check(t, func(t *rapid.T) {
		var history []plan.HistoryItem
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			args, _ := result.Draw(t, "args").(map[string]any)
			history = append(history, plan.HistoryItem{
				Index: rapid.SampledFrom([]string{"", "1", "2", "3", "x"}).Draw(t, "index"), Tool: rapid.SampledFrom(tools).Draw(t, "tool"),
				Args: args, Result: result.Draw(t, "result"), Error: untrusted.Text(rapid.String().Draw(t, "error")), Title: untrusted.Text(rapid.String().Draw(t, "title")),
				Status: rapid.SampledFrom([]plan.ItemStatus{plan.ItemCompleted, plan.ItemFailed, plan.ItemSkipped, plan.ItemInDoubt, "odd"}).Draw(t, "status"),
			})
		}
		answer := intent.Answer(anyIntent(t), history, "")
		if strings.TrimSpace(answer) == "" || len(answer) > 400_000 {
			t.Fatalf("got an answer of %d bytes", len(answer))
		}
		if open := openFence(answer); open {
			t.Fatalf("got an open fence in\n%s", answer)
		}
	})
}

// openFence reports whether a fenced block is left open at the end.
func openFence(markdown string) bool {
	open := ""
	for _, line := range strings.Split(markdown, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch rest := strings.TrimSpace(line[len(run):]); {
		case len(run) < 3:
		case open == "" && !strings.Contains(rest, "`"):
			open = run
		case open != "" && len(run) >= len(open) && rest == "":
			open = ""
		}
	}
	return open != ""
}

func FuzzAnswer(f *testing.F) {
	f.Add("find Foo", "fs.search", manyMatches(3), true)
	f.Add("rename Foo to Bar", "code.transform", renamed, true)
	f.Add("run the tests", "test.run", redTests, false)
	f.Fuzz(func(t *testing.T, words, tool, result string, done bool) {
		v, err := plan.DecodeValue([]byte(result))
		if err != nil {
			v = result
		}
		item := plan.HistoryItem{Index: "1", Tool: tool, Status: plan.ItemFailed, Result: v}
		if done {
			item.Status = plan.ItemCompleted
		}
		if intent.Answer(intent.Parse(words), []plan.HistoryItem{item}, "") == "" {
			t.Fatal("no answer")
		}
	})
}
