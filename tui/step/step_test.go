package step

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// counted is a leaf that counts how many of its lines were drawn.
type counted struct {
	draw.Leaf
	drawn int
}

func (c *counted) Rows(i, width int) []string {
	c.drawn++
	return c.Leaf.Rows(i, width)
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of a file that says what it says, and says it at some length\n", i)
	}
	return b.String()
}

func TestSheetDrawsOnlyVisibleLines(t *testing.T) {
	l := panetest.DarkLook()
	for name, height := range map[string]int{"a pane": 12, "a screen": 60} {
		c := &counted{Leaf: draw.NewText(l, l.Text, manyLines(100_000))}
		s := draw.NewSheet(l, 40, []draw.Leaf{draw.Drawn{"head"}, c})
		top := draw.SheetSpot{}
		s.View(&top, height)
		top = s.Last(height)
		s.View(&top, height)
		for range 10 {
			top = s.Move(top, -1)
			s.View(&top, height)
		}
		if most := 4*height + 10; c.drawn > most {
			t.Errorf("%s: drew %d of 100000 lines, want at most %d", name, c.drawn, most)
		}
	}
}

func TestLongLineIsDrawnInParts(t *testing.T) {
	l := panetest.DarkLook()
	text := strings.Repeat("ä", 100_000)
	f := draw.NewCode(l, "", text)
	if parts := f.Count(); parts < len(text)/draw.LongestLine {
		t.Fatalf("the line is drawn in %d parts", parts)
	}
	got := 0
	for i := range f.Count() {
		for _, row := range f.Rows(i, 40) {
			if w := ansi.StringWidth(row); w > 40 {
				t.Fatalf("a row is %d cells wide", w)
			}
			got += strings.Count(ansi.Strip(row), "ä")
		}
	}
	if got != 100_000 {
		t.Errorf("drew %d of 100000 letters", got)
	}
}

// TestSheetShowsAllOfItsLeaves scrolls any sheet to any place: the view is always a
// part of all its rows, and the end can be reached.
func TestSheetShowsAllOfItsLeaves(t *testing.T) {
	l := panetest.DarkLook()
	rapid.Check(t, func(r *rapid.T) {
		width, height := rapid.IntRange(4, 60).Draw(r, "width"), rapid.IntRange(1, 20).Draw(r, "height")
		var leaves []draw.Leaf
		for range rapid.IntRange(0, 4).Draw(r, "leaves") {
			text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n世\t")), 0, 200, -1).Draw(r, "text")
			if rapid.Bool().Draw(r, "code") {
				leaves = append(leaves, draw.NewCode(l, "go", text))
			} else {
				leaves = append(leaves, draw.NewText(l, l.Text, text), draw.Drawn(nil))
			}
		}
		s := draw.NewSheet(l, width, leaves)
		var all []string
		for i := range s.Total {
			all = append(all, s.Rows(i)...)
		}
		all = l.Block(all, width, max(len(all), height))
		at := func(top draw.SheetSpot) int {
			n := top.Row
			for i := range top.Line {
				n += len(s.Rows(i))
			}
			return n
		}
		top := draw.SheetSpot{}
		for range rapid.IntRange(0, 6).Draw(r, "moves") {
			top = s.Move(top, rapid.IntRange(-30, 30).Draw(r, "by"))
			got := s.View(&top, height)
			first := at(top)
			if first+height > len(all) {
				r.Fatalf("row %d of %d is at the top of %d rows", first, len(all), height)
			}
			if want := all[first : first+height]; strings.Join(got, "\n") != strings.Join(want, "\n") {
				r.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if end := at(s.Last(height)); s.Total > 0 && end != max(len(all)-height, 0) {
			r.Fatalf("the end begins at row %d of %d", end, len(all))
		}
	})
}

// inspected returns a pane that shows the output of one step.
func inspected(result any) (*Pane, *agent.Run) {
	run := panetest.WideRun(1)
	s := run.Steps[0]
	s.Step.Tool, s.Step.Args = "fs.read", map[string]any{"path": "a.go"}
	s.Status, s.Attempt, s.Args, s.Result = agent.StepCompleted, 1, s.Step.Args, result
	d := New(panetest.DarkLook(), panetest.Keys())
	d.setSize(80, 30)
	d.Show(run, &Subject{Kind: SubjectStep, Key: "1", Step: s})
	d.choose(tabOutput)
	return d, run
}

func TestStreamedOutputIsFollowedUntilScrolledUp(t *testing.T) {
	d, run := inspected(nil)
	s := run.Steps[0]
	s.Step = plan.Step{Index: "1", Title: "Test", Executor: plan.ExecutorTool, Tool: "test.run"}
	s.Status, s.Output = agent.StepRunning, manyLines(200)
	d.Invalidate()
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "line 199 of") {
		t.Fatalf("the end is not in view:\n%s", got)
	}
	d.scroll(-5)
	s.Output += "line 200 of it\n"
	d.Invalidate()
	if got := panetest.Stripped(d.View()); strings.Contains(got, "line 200 of") {
		t.Errorf("the output is followed after scrolling up:\n%s", got)
	}
	d.scroll(1 << 20)
	s.Output += "line 201 of it\n"
	d.Invalidate()
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "line 201 of") {
		t.Errorf("the output is not followed again:\n%s", got)
	}
}

func TestOutputIsDrawnByKind(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		result any
		want   string // a part of it with its style
	}{
		"code of a read file": {"fs.read", "package a\n\nfunc b() {}\n", panetest.DarkLook().Theme.Highlight("package a", "go")[0]},
		"a diff":              {"vcs.diff", "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-old\n+new\n", "@@ -1 +1 @@"},
		"test output":         {"test.run", "--- FAIL: TestX\nok  \tpkg\n", panetest.DarkLook().Danger.Render("--- FAIL: TestX")},
		"JSON":                {"list", []any{map[string]any{"a": 1.0}}, panetest.DarkLook().Theme.Highlight("[\n  {\n    \"a\": 1\n  }\n]", "json")[2]},
		"a summary":           {"code.summarize", map[string]any{"kind": "file", "summary": "# Two\n\n- one `word`\n"}, "• one "},
	} {
		d, run := inspected(c.result)
		run.Steps[0].Step.Tool = c.tool
		d.Invalidate()
		if got := strings.Join(d.View(), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q is not in\n%s", name, c.want, got)
		}
	}
}

func BenchmarkOutputScrolls(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			d, _ := inspected(strings.Repeat("\tif err != nil { return fmt.Errorf(\"it failed: %w\", err) }\n", size/60))
			d.View()
			for b.Loop() {
				d.scroll(1)
				d.View()
				if d.sheet.ended() {
					d.scroll(-1 << 20)
				}
			}
		})
	}
}
