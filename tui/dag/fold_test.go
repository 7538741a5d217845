package dag

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/panetest"
	"replan/tui/telling"
)

// anyRun is a plan of any shape, whose steps stand in any way that a run could
// have brought them to.
func anyRun(r *rapid.T, most int) *agent.Run {
	run := &agent.Run{ID: "r", Revision: 1}
	n := rapid.IntRange(1, most).Draw(r, "steps")
	wide := rapid.IntRange(1, 20).Draw(r, "width")
	for i := range n {
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: fmt.Sprintf("Step %d", i+1), Executor: plan.ExecutorTool, Tool: rapid.SampledFrom([]string{"fs.read", "fs.write"}).Draw(r, "tool")}
		status := agent.StepPending
		free := true
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(max(0, i-wide), i-1), 0, 3, rapid.ID[int]).Draw(r, "deps") {
				step.DependsOn = append(step.DependsOn, fmt.Sprint(d+1))
				free = free && run.Steps[d].Status == agent.StepCompleted
			}
		}
		if free {
			status = rapid.SampledFrom([]agent.StepStatus{agent.StepCompleted, agent.StepCompleted, agent.StepCompleted, agent.StepRunning, agent.StepWaiting, agent.StepFailed, agent.StepInDoubt, agent.StepPending}).Draw(r, "status")
		}
		run.Steps = append(run.Steps, &agent.StepState{Step: step, Status: status})
	}
	return run
}

// holds checks the rules of what is rolled up: each step has one row of its own or
// is hidden in one roll-up; the counts are those of the steps; what a step depends
// on stands above it, and nothing is lost on the way.
func (d *Pane) holds(fail func(string, ...any)) {
	o, c := d.Outline, d.Chart
	rows, hidden := make([]int, len(c.Steps)), make([]int, len(c.Steps))
	for i := range o.Rows {
		r := &o.Rows[i]
		switch r.Kind {
		case RowStep:
			rows[r.at]++
			if c.Steps[r.at] != r.Step {
				fail("row %d shows %s at %d", i, r.Step.Step.Index, r.at)
			}
		case RowRoll:
			var want telling.Counts
			for _, m := range r.Roll.members {
				want[telling.ClassOf(d.Run, c.Steps[m], d.tally.waits[m])]++
				if !r.Roll.Open && !slices.Contains(r.Roll.shown, m) {
					hidden[m]++
				}
			}
			if want != r.Roll.Counts {
				fail("%s counts %v, its steps are %v", r.Key, r.Roll.Counts, want)
			}
		}
	}
	for m := range rows {
		if rows[m]+hidden[m] != 1 {
			fail("step %d has %d rows and is hidden in %d roll-ups\n%s", m+1, rows[m], hidden[m], panetest.Stripped(d.Lines()))
		}
		if hidden[m] > 0 && c.Steps[m].Step.Index == d.Selected {
			fail("the selection is hidden")
		}
		if d.Folds.Level == FoldAuto && hidden[m] > 0 && !d.tally.class[m].Quiet() && len(d.Folds.said)+len(d.Folds.led) == 0 {
			fail("step %d is %d and hidden", m+1, d.tally.class[m])
		}
		for _, p := range c.deps[m] {
			if o.of[p] > o.of[m] {
				fail("step %d depends on %d, which stands below it", m+1, p+1)
			}
		}
	}
	for i := range o.nodes {
		for _, m := range o.nodes[i].members() {
			if o.of[m] != i {
				fail("step %d is in node %d and said to be in %d", m+1, i, o.of[m])
			}
		}
	}
	var total telling.Counts
	for m := range c.Steps {
		total[telling.ClassOf(d.Run, c.Steps[m], d.tally.waits[m])]++
	}
	if total != d.tally.total {
		fail("counted %v, there are %v", d.tally.total, total)
	}
	lines := d.Lines()
	if len(lines) != d.Height {
		fail("%d lines of %d", len(lines), d.Height)
	}
	for _, line := range lines {
		if ansi.StringWidth(line) != d.Width {
			fail("%d cells of %d: %q", ansi.StringWidth(line), d.Width, line)
		}
	}
}

// TestEveryStepIsShownOnceOrInOneRollUp plays on a plan of any shape: steps start
// and end, and the user folds, jumps and moves.
func TestEveryStepIsShownOnceOrInOneRollUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		run := anyRun(r, 90)
		d := New(panetest.DarkLook())
		d.SetSize(rapid.IntRange(20, 120).Draw(r, "wide"), rapid.IntRange(1, 60).Draw(r, "high"))
		d.SetFocus(true)
		d.Show(run)
		fail := func(format string, args ...any) { r.Helper(); r.Fatalf(format, args...) }
		d.Lines()
		d.holds(fail)
		for range rapid.IntRange(0, 12).Draw(r, "turns") {
			switch rapid.SampledFrom([]string{"event", "event", "move", "fold", "all", "open", "jump", "follow", "wheel"}).Draw(r, "does") {
			case "event":
				s := rapid.SampledFrom(run.Steps).Draw(r, "step")
				switch s.Status {
				case agent.StepPending:
					s.Status = agent.StepRunning
				case agent.StepRunning, agent.StepWaiting:
					s.Status = rapid.SampledFrom([]agent.StepStatus{agent.StepCompleted, agent.StepFailed}).Draw(r, "becomes")
				}
				d.Heard(run, event.StepStarted{Index: s.Step.Index})
				d.Touch()
			case "move":
				d.Move(rapid.IntRange(-30, 30).Draw(r, "by"))
			case "fold":
				d.Fold()
			case "all":
				d.FoldEverything()
			case "open":
				d.Toggle()
			case "jump":
				d.Jump(rapid.SampledFrom([]target{ToGate, ToFailure, ToRunning}).Draw(r, "to"))
			case "follow":
				d.SetFollow(true)
			case "wheel":
				d.Scrolled(rapid.IntRange(-9, 9).Draw(r, "lines"))
			}
			d.Lines()
			d.holds(fail)
		}
	})
}

// planOf is a run of steps written as "index tool<deps status".
func planOf(lines ...string) *agent.Run {
	run := &agent.Run{ID: "r", Revision: 1}
	status := map[string]agent.StepStatus{"✓": agent.StepCompleted, "⠋": agent.StepRunning, "◆": agent.StepWaiting, "✗": agent.StepFailed, "·": agent.StepPending, "—": agent.StepSkipped, "?": agent.StepInDoubt}
	for i, line := range lines {
		parts := strings.Fields(line)
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: fmt.Sprintf("Step %d", i+1), Executor: plan.ExecutorTool, Tool: parts[1]}
		if len(parts) > 2 {
			step.DependsOn = strings.Split(parts[2], ",")
		}
		run.Steps = append(run.Steps, &agent.StepState{Step: step, Status: status[parts[0]]})
	}
	return run
}

// repeat is a line for each of n steps.
func repeat(n int, line string) []string { return slices.Repeat([]string{line}, n) }

// kinds is the rows of a pane in short: the step, or a roll-up with its counts.
func kinds(d *Pane) string {
	d.Lines()
	var out []string
	for i := range d.Outline.Rows {
		switch r := &d.Outline.Rows[i]; r.Kind {
		case RowStep:
			out = append(out, r.Key)
		case RowRoll:
			out = append(out, r.Roll.Label+" "+ansi.Strip(CountWords(d.Look, &r.Roll.Counts, AsItIs)))
		}
	}
	return strings.Join(out, " | ")
}

func TestWhatIsRolledUpByItself(t *testing.T) {
	small := append([]string{"✓ list"}, repeat(49, "· fs.read 1")...)
	fan := slices.Concat([]string{"✓ list"}, repeat(18, "✓ fs.read 1"), repeat(2, "⠋ fs.read 1"), []string{"✗ fs.read 1"}, repeat(30, "· fs.read 1"), []string{"· sum " + numbers(2, 52)})
	chain := []string{"✓ a"}
	for i := 1; i < 60; i++ {
		sign := "✓"
		if i > 30 {
			sign = "·"
		} else if i == 30 {
			sign = "⠋"
		}
		chain = append(chain, fmt.Sprintf("%s t%d %d", sign, i%2, i))
	}
	for _, c := range []struct {
		name string
		plan []string
		want string
	}{
		{"a plan of fifty steps stays as it is", small, "1 | " + strings.ReplaceAll(numbers(2, 50), ",", " | ")},
		{"a fan-out is one line, with a row for what runs or has failed", fan, "1 | 51 x fs.read ✓18 ⠋2 ✗1 ○30 | 20 | 21 | 22 | 53"},
		{"steps that are done roll up in portions but for the last", chain, "20 steps ✓20 | 9 steps ✓9 | 30 | " + strings.ReplaceAll(numbers(31, 60), ",", " | ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook())
			d.SetSize(80, 50)
			d.Show(planOf(c.plan...))
			d.SetFollow(false)
			d.Selected = "1"
			if c.name[:5] == "steps" {
				d.Selected = "31"
			}
			if got := kinds(d); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// numbers is the numbers from a to b, with commas.
func numbers(a, b int) string {
	var out []string
	for i := a; i <= b; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, ",")
}

func TestFoldingByHand(t *testing.T) {
	plan := []string{"✓ list", "✓ fs.read 1", "⠋ fs.read 1", "· fs.read 1", "· sum 2,3,4", "· tell 5", "· other"}
	for _, c := range []struct {
		name string
		from string
		do   func(d *Pane) string
		want string
		says string
	}{
		{"space folds what a step leads to alone", "1", (*Pane).Fold, "1 | 5 steps ✓1 ⠋1 ○1 ·2 | 7", ""},
		{"space folds a step and its siblings that lead to nothing alone", "2", (*Pane).Fold, "1 | 3 x fs.read ✓1 ⠋1 ○1 | 5 | 6 | 7", ""},
		{"space opens what it folded", "5", func(d *Pane) string { d.Fold(); d.Lines(); return d.Fold() }, "1 | 2 | 3 | 4 | 5 | 6 | 7", ""},
		{"space says where there is nothing", "7", (*Pane).Fold, "1 | 2 | 3 | 4 | 5 | 6 | 7", "Nothing hangs on this step alone, so there is nothing to fold."},
		{"z folds all that it can", "7", (*Pane).FoldEverything, "1 | 3 x fs.read ✓1 ⠋1 ○1 | 5 | 6 | 7", "What can be folded is folded."},
		{"z again opens all", "7", func(d *Pane) string { d.FoldEverything(); d.Lines(); return d.FoldEverything() }, "1 | 2 | 3 | 4 | 5 | 6 | 7", "All is unfolded."},
		{"a jump shows what is folded away", "1", func(d *Pane) string { d.Fold(); d.Lines(); return d.Jump(ToRunning) }, "1 | 5 steps ✓1 ⠋1 ○1 ·2 | 3 | 7", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook())
			d.SetSize(80, 50)
			d.Show(planOf(plan...))
			d.Lines()
			d.selectKey(c.from)
			says := c.do(d)
			if got := kinds(d); got != c.want || says != c.says {
				t.Errorf("got\n%s\nwant\n%s\nsaid %q", got, c.want, says)
			}
		})
	}
}

func TestJumps(t *testing.T) {
	plan := []string{"✓ a", "✗ a", "◆ b", "⠋ b", "✗ b", "⠋ a", "? a"}
	for _, c := range []struct {
		name, from string
		to         target
		want, says string
	}{
		{"to the gate", "1", ToGate, "3", ""},
		{"to the next failure", "2", ToFailure, "5", ""},
		{"what is in doubt counts as one", "5", ToFailure, "7", ""},
		{"behind the last it is the first again", "7", ToFailure, "2", ""},
		{"to what runs", "4", ToRunning, "6", ""},
		{"the only one says so", "3", ToGate, "3", "There is no other one."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook())
			d.SetSize(80, 50)
			d.Show(planOf(plan...))
			d.Lines()
			d.selectKey(c.from)
			if says := d.Jump(c.to); d.Selected != c.want || says != c.says {
				t.Errorf("it leads to %s and says %q", d.Selected, says)
			}
			if d.Follow {
				t.Error("what runs is still followed")
			}
		})
	}
	d := New(panetest.DarkLook())
	d.SetSize(80, 50)
	d.Show(planOf("✓ a"))
	if says := d.Jump(ToRunning); says != "No step is running." {
		t.Errorf("it says %q", says)
	}
}

func TestTheFilter(t *testing.T) {
	run := planOf("✓ fs.read", "✗ fs.write", "⠋ test.run", "· fs.read 2", "· test.run")
	run.Steps[0].Step.Title = "Look at the Handler"
	run.Steps[3].Step.Title = "Write the handler anew"
	for text, want := range map[string]string{
		"handler":        "1 | 4",
		"HANDLER write":  "4",
		"fs.":            "1 | 2 | 4",
		"tool:test":      "3 | 5",
		"status:failed":  "2",
		"status:fail":    "2",
		"s:running":      "3",
		"running":        "3",
		"ready":          "5",
		"status:pending": "4 | 5",
		"fs.read done":   "1",
		"3":              "3",
		"lkhdlr":         "1",
		"nothing":        "",
		"  ":             "1 | 2 | 3 | 4 | 5",
	} {
		d := New(panetest.DarkLook())
		d.SetSize(60, 12)
		d.Show(run)
		d.Lines()
		d.StartFilter()
		for _, letter := range text {
			d.Seek(d.Filter.Text + string(letter))
		}
		if got := kinds(d); got != want {
			t.Errorf("%q finds %s, want %s", text, got, want)
		}
	}
}
