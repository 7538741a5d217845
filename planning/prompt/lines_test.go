package prompt_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestResultsOfOperatorsAreReadAsLines(t *testing.T) {
	for name, tt := range map[string]struct{ result, want string }{
		"matches":        {`{"matches":[{"path":"a.go","line":3,"text":"\tx := 1"}],"total":1,"files":1,"truncated":false}`, "a.go:3: x := 1"},
		"context":        {`{"matches":[{"path":"a.go","line":3,"text":"x","before":["b"],"after":["c"]}]}`, "a.go:3: x\n    b\n    c"},
		"more matches":   {`{"matches":[{"path":"a","line":1,"text":"x"}],"total":90,"truncated":true}`, "a:1: x\n… and more, of 90 in all"},
		"skipped files":  {`{"matches":[],"total":0,"skipped":["big.bin"]}`, "no line matches\nskipped: [\"big.bin\"]"},
		"references":     {`{"symbol":"Make","references":[{"path":"a.go","line":3,"text":"Make()"}],"total":1}`, "a.go:3: Make()"},
		"declarations":   {`{"symbols":[{"name":"Make","path":"a.go","line":3,"signature":"func Make()","exported":true}]}`, "a.go:3: func Make() (exported, no doc comment)"},
		"no declaration": {`{"definitions":[],"note":"nothing is called so"}`, "no declarations\nnothing is called so"},
		"files":          {`{"path":".","entries":[{"path":"a.go","type":"file"},{"path":"b","type":"dir"}],"truncated":true}`, "a.go\nb/\n… and more"},
		"commits": {
			`{"commits":[{"hash":"0123456789ab","author":"Ada","date":"2025-01-31T10:00:00Z","subject":"Fix it","body":"It was\nbroken."}],"total":7}`,
			"0123456 Fix it (Ada 2025-01-31)\n    It was\n    broken.\n… and more, of 7 in all",
		},
		"diff":                {`{"diff":"--- a\n+++ b\n","files":[{"path":"a"}],"added":1,"removed":0,"truncated":false}`, "--- a\n+++ b"},
		"cut diff":            {`{"diff":"--- a\n","truncated":true}`, "… the diff is longer than this\n--- a"},
		"shown commit":        {`{"hash":"0123456789ab","author":"Ada","date":"2025","message":"Fix it","diff":"--- a\n"}`, "commit 0123456\nauthor: Ada\ndate: 2025\nmessage: Fix it\n--- a"},
		"diagnostics":         {`{"diff":"--- a\n","files":[],"diagnostics":[{"path":"a.go","message":"undefined: x"}]}`, "diagnostics: [{\"message\":\"undefined: x\",\"path\":\"a.go\"}]\n--- a"},
		"another tool's":      {`{"diff":"","status":"merged"}`, "status: \"merged\""},
		"other items":         {`{"entries":[{"id":7}]}`, `{"entries":[{"id":7}]}`},
		"items that say more": {`{"entries":[{"path":"a","owner":"Ada"}]}`, `{"entries":[{"owner":"Ada","path":"a"}]}`},
		"other lists":         {`{"issues":[{"path":"a"}]}`, `{"issues":[{"path":"a"}]}`},
		"a list":              {`[1,2]`, `[1,2]`},
	} {
		v, err := plan.DecodeValue([]byte(tt.result))
		if err != nil {
			t.Fatal(err)
		}
		if got := prompt.Text(v); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}
