package reply_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"replan/planning/reply"
)

func TestStreamIsReadAsLinesForPeople(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"analysis", `{"mode": "plan", "task": "Fix \"Make\"", "unknowns": ["one", "tw\u00f6"], "knowledge": {"read": ["a.go"], "keep": []}, "empty": [], "complexity": "medium", "reflect": true}`,
			"task: Fix \"Make\"\nunknowns: one; twö\nknowledge: a.go\ncomplexity: medium",
		},
		{
			"plan", "```json\n" + `{"title": "Fix it", "done_when": "it works", "steps": [
			{"index": "1", "title": "Read", "executor": "tool", "tool": "fs.read", "args": {"path": "a.go", "limit": 5, "all": true}, "depends_on": [], "expected_outcome": "its text"},
			{"index": 2, "title": "Patch", "tool": "fs.patch", "args": {"new": "a\n\tb"}, "depends_on": ["1"]}],
			"milestones": [{"title": "First"}, {"title": "Second"}], "risks": ["it fails"]}` + "\n```\n",
			"title: Fix it\ndone when: it works\n1 Read, fs.read, a.go, its text\n2 Patch, fs.patch, a b\nmilestones: First\nmilestones: Second\nrisks: it fails",
		},
		{"list", `[{"index": "1", "title": "Read"}, {"title": "Write"}]`, "1 Read\nWrite"},
		{"review", "## Critic\n\n- Nobody [has seen] it {fail}.\n", "Critic\n- Nobody [has seen] it {fail}."},
		{"unfinished", `{"task": "Find o`, "task: Find o"},
		{"broken", "{task: find it, }}} then ] go", "task, find, it\n}} then ] go"},
		{"pair", `{"task": "a \ud83d\ude00 b \ud83d c"}`, "task: a 😀 b c"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1 << 20} {
				var r reply.Readout
				for text := c.text; text != ""; {
					n := min(size, len(text))
					r.Feed(text[:n])
					text = text[n:]
				}
				if got := strings.Join(r.Lines(20, false), "\n"); got != c.want {
					t.Errorf("in pieces of %d bytes: got\n%s\nwant\n%s", size, got, c.want)
				}
			}
		})
	}
}

func TestReadoutLeavesOutTheGrowingLine(t *testing.T) {
	var r reply.Readout
	r.Feed("one\ntwo\nthr")
	if got := r.Lines(5, true); len(got) != 2 || got[1] != "two" {
		t.Errorf("got %q", got)
	}
	if got := r.Lines(2, false); len(got) != 2 || got[1] != "thr" {
		t.Errorf("got %q", got)
	}
}

func TestGrowingHeadingIsShownWithoutItsMarks(t *testing.T) {
	for text, want := range map[string][]string{
		"## Critic\n## Prag": {"Critic", "Prag"},
		"## Critic\n##":      {"Critic"},
		"call it:\n```go":    {"call it:"},
	} {
		var r reply.Readout
		r.Feed(text)
		if got := r.Lines(9, false); !slices.Equal(got, want) {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}

func TestReadoutIsCleanAndBounded(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"{", "[", "}", "]", `"`, `\`, `\u001b`, `\u202e`, "\x1b[31m", "\x9b", "\x00", "\n", ",", ":", `"task":`, `"steps":[{"title":"`, strings.Repeat("x", 999), strings.Repeat("é ", 500),
	}), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		r := reply.Readout{Verbatim: rapid.Bool().Draw(t, "verbatim")}
		for _, p := range rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces") {
			r.Feed(p)
			size := 0
			for _, line := range r.Lines(100, false) {
				size += len(line)
				if i := strings.IndexFunc(line, func(c rune) bool { return unicode.IsControl(c) || c == '\u202e' || c == '\u2028' }); i >= 0 {
					t.Fatalf("%q holds a control character", line)
				}
			}
			if size > 200_000 {
				t.Fatalf("it keeps %d bytes", size)
			}
		}
	})
}

func BenchmarkReadout(b *testing.B) {
	text := `{"title":"Fix it","steps":[` + strings.Repeat(`{"index":"1","title":"Read the code","executor":"tool","tool":"fs.read","args":{"path":"slug/slug.go"},"depends_on":[]},`, 200) + `]}`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var r reply.Readout
		r.Feed(text)
		r.Lines(6, false)
	}
}
