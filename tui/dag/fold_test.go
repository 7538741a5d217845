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
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/panetest"
	"replan/tui/wording"
)

// anyRun draws a plan of any shape, whose steps have any status that a run can
// give them.
func anyRun(r *rapid.T, maxSteps int) *agent.Run {
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 1}}
	n := rapid.IntRange(1, maxSteps).Draw(r, "steps")
	wide := rapid.IntRange(1, 20).Draw(r, "width")
	for i := range n {
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: untrusted.Text(fmt.Sprintf("Step %d", i+1)), Executor: plan.ExecutorTool, Tool: rapid.SampledFrom([]string{"fs.read", "fs.write"}).Draw(r, "tool")}
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

// checkRollUps checks the rules of roll-ups: each step has one row of its own or is
// hidden in one roll-up; the counts are those of the steps; the dependencies of a
// step are above it, and all lines fill the pane.
func (d *Pane) checkRollUps(fail func(string, ...any)) {
	o, c := d.list.outline, d.plan.Chart
	rows, hidden := make([]int, len(c.Steps)), make([]int, len(c.Steps))
	for i := range o.Rows {
		r := &o.Rows[i]
		switch r.Kind {
		case RowStep:
			rows[r.at]++
			if c.Steps[r.at] != r.Step {
				fail("row %d shows %s at %d", i, r.Step.Step.Index, r.at)
			}
		case RowGroup:
			var want wording.Counts
			for _, m := range r.Group.members {
				want[wording.ClassOf(d.Run(), c.Steps[m], d.plan.Counts.waits[m])]++
				if !r.Group.Open && !slices.Contains(r.Group.shown, m) {
					hidden[m]++
				}
			}
			if want != r.Group.Counts {
				fail("%s: got counts %v, want %v", r.Key, r.Group.Counts, want)
			}
		}
	}
	for m := range rows {
		if rows[m]+hidden[m] != 1 {
			fail("step %d has %d rows and is hidden in %d roll-ups\n%s", m+1, rows[m], hidden[m], panetest.Stripped(d.View()))
		}
		if hidden[m] > 0 && c.Steps[m].Step.Index == d.Selected() {
			fail("the selection is hidden")
		}
		if d.plan.Folds.Level == foldAuto && hidden[m] > 0 && !d.plan.Counts.class[m].Quiet() && len(d.plan.Folds.chosen)+len(d.plan.Folds.collapsed) == 0 {
			fail("step %d of class %d is hidden", m+1, d.plan.Counts.class[m])
		}
		for _, p := range c.deps[m] {
			if o.of[p] > o.of[m] {
				fail("step %d depends on %d, which is below it", m+1, p+1)
			}
		}
	}
	for i := range o.nodes {
		for _, m := range o.nodes[i].members() {
			if o.of[m] != i {
				fail("step %d is in node %d, recorded in %d", m+1, i, o.of[m])
			}
		}
	}
	var total wording.Counts
	for m := range c.Steps {
		total[wording.ClassOf(d.Run(), c.Steps[m], d.plan.Counts.waits[m])]++
	}
	if total != d.plan.Counts.total {
		fail("got counts %v, want %v", d.plan.Counts.total, total)
	}
	lines := d.View()
	if len(lines) != d.state.Size.H {
		fail("got %d lines, want %d", len(lines), d.state.Size.H)
	}
	for _, line := range lines {
		if ansi.StringWidth(line) != d.state.Size.W {
			fail("got %d cells, want %d: %q", ansi.StringWidth(line), d.state.Size.W, line)
		}
	}
}

// TestEveryStepIsShownOnceOrInOneRollUp changes a plan of any shape: steps start and
// end, and the user folds, jumps and moves.
func TestEveryStepIsShownOnceOrInOneRollUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		run := anyRun(r, 90)
		d := New(panetest.DarkLook(), panetest.Keys())
		resize(d, rapid.IntRange(20, 120).Draw(r, "wide"), rapid.IntRange(1, 60).Draw(r, "high"))
		focus(d, true)
		d.Show(run)
		fail := func(format string, args ...any) { r.Helper(); r.Fatalf(format, args...) }
		d.View()
		d.checkRollUps(fail)
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
				d.ApplyEvent(run, event.StepStarted{Index: s.Step.Index})
				d.Invalidate()
			case "move":
				d.Move(rapid.IntRange(-30, 30).Draw(r, "by"))
			case "fold":
				d.toggleFold()
			case "all":
				d.foldEverything()
			case "open":
				d.toggle()
			case "jump":
				d.jump(rapid.SampledFrom([]target{toGate, toFailure, toRunning}).Draw(r, "to"))
			case "follow":
				d.setFollow(true)
			case "wheel":
				d.scroll(0, rapid.IntRange(-9, 9).Draw(r, "lines"))
			}
			d.View()
			d.checkRollUps(fail)
		}
	})
}

// planOf returns a run of steps written as "status tool deps".
func planOf(lines ...string) *agent.Run {
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 1}}
	status := map[string]agent.StepStatus{"✓": agent.StepCompleted, "⠋": agent.StepRunning, "◆": agent.StepWaiting, "✗": agent.StepFailed, "·": agent.StepPending, "—": agent.StepSkipped, "?": agent.StepInDoubt}
	for i, line := range lines {
		parts := strings.Fields(line)
		step := plan.Step{Index: fmt.Sprint(i + 1), Title: untrusted.Text(fmt.Sprintf("Step %d", i+1)), Executor: plan.ExecutorTool, Tool: parts[1]}
		if len(parts) > 2 {
			step.DependsOn = strings.Split(parts[2], ",")
		}
		run.Steps = append(run.Steps, &agent.StepState{Step: step, Status: status[parts[0]]})
	}
	return run
}

// repeat returns a line for each of n steps.
func repeat(n int, line string) []string { return slices.Repeat([]string{line}, n) }

// rowsOf returns the rows of a pane in short: the step, or a roll-up with its
// counts.
func rowsOf(d *Pane) string {
	d.View()
	var out []string
	for i := range d.list.outline.Rows {
		switch r := &d.list.outline.Rows[i]; r.Kind {
		case RowStep:
			out = append(out, r.Key)
		case RowGroup:
			out = append(out, r.Group.Label+" "+ansi.Strip(countWords(d.styles, &r.Group.Counts, asItIs)))
		}
	}
	return strings.Join(out, " | ")
}

func TestAutomaticRollUps(t *testing.T) {
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
		{"plan of fifty steps", small, "1 | " + strings.ReplaceAll(numbers(2, 50), ",", " | ")},
		{"fan-out with running and failed steps", fan, "1 | 51 x fs.read ✓18 ⠋2 ✗1 ○30 | 20 | 21 | 22 | 53"},
		{"steps of a long chain", chain, "20 steps ✓20 | 9 steps ✓9 | 30 | " + strings.ReplaceAll(numbers(31, 60), ",", " | ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook(), panetest.Keys())
			resize(d, 80, 50)
			d.Show(planOf(c.plan...))
			d.setFollow(false)
			d.cursor.put("1")
			if c.name[:5] == "steps" {
				d.cursor.put("31")
			}
			if got := rowsOf(d); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// numbers returns the numbers from a to b, with commas.
func numbers(a, b int) string {
	var out []string
	for i := a; i <= b; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, ",")
}

func TestManualFolding(t *testing.T) {
	plan := []string{"✓ list", "✓ fs.read 1", "⠋ fs.read 1", "· fs.read 1", "· sum 2,3,4", "· tell 5", "· other"}
	for _, c := range []struct {
		name    string
		from    string
		do      func(d *Pane) string
		want    string
		message string
	}{
		{"space folds sole dependents", "1", (*Pane).toggleFold, "1 | 5 steps ✓1 ⠋1 ○1 ◦2 | 7", ""},
		{"space folds siblings", "2", (*Pane).toggleFold, "1 | 3 x fs.read ✓1 ⠋1 ○1 | 5 | 6 | 7", ""},
		{"space unfolds again", "5", func(d *Pane) string { d.toggleFold(); d.View(); return d.toggleFold() }, "1 | 2 | 3 | 4 | 5 | 6 | 7", ""},
		{"space with nothing to fold", "7", (*Pane).toggleFold, "1 | 2 | 3 | 4 | 5 | 6 | 7", "No step depends on this one alone, so there is nothing to collapse."},
		{"z folds everything", "7", (*Pane).foldEverything, "1 | 3 x fs.read ✓1 ⠋1 ○1 | 5 | 6 | 7", "Everything is collapsed."},
		{"z again unfolds everything", "7", func(d *Pane) string { d.foldEverything(); d.View(); return d.foldEverything() }, "1 | 2 | 3 | 4 | 5 | 6 | 7", "Everything is expanded."},
		{"jump reveals folded step", "1", func(d *Pane) string { d.toggleFold(); d.View(); return d.jump(toRunning) }, "1 | 5 steps ✓1 ⠋1 ○1 ◦2 | 3 | 7", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook(), panetest.Keys())
			resize(d, 80, 50)
			d.Show(planOf(plan...))
			d.View()
			d.selectKey(c.from)
			message := c.do(d)
			if got := rowsOf(d); got != c.want || message != c.message {
				t.Errorf("got\n%s\nwant\n%s\nmessage %q", got, c.want, message)
			}
		})
	}
}

func TestJumps(t *testing.T) {
	plan := []string{"✓ a", "✗ a", "◆ b", "⠋ b", "✗ b", "⠋ a", "? a"}
	for _, c := range []struct {
		name, from    string
		to            target
		want, message string
	}{
		{"to the gate", "1", toGate, "3", ""},
		{"to the next failure", "2", toFailure, "5", ""},
		{"step in doubt counts as failure", "5", toFailure, "7", ""},
		{"after the last failure to the first", "7", toFailure, "2", ""},
		{"to the running step", "4", toRunning, "6", ""},
		{"only one", "3", toGate, "3", "There is no other one."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(panetest.DarkLook(), panetest.Keys())
			resize(d, 80, 50)
			d.Show(planOf(plan...))
			d.View()
			d.selectKey(c.from)
			if message := d.jump(c.to); d.Selected() != c.want || message != c.message {
				t.Errorf("got step %s and message %q", d.Selected(), message)
			}
			if d.cursor.Follows {
				t.Error("the running step is still followed")
			}
		})
	}
	d := New(panetest.DarkLook(), panetest.Keys())
	resize(d, 80, 50)
	d.Show(planOf("✓ a"))
	if message := d.jump(toRunning); message != "No step is running." {
		t.Errorf("got message %q", message)
	}
}

func TestFilterQueries(t *testing.T) {
	run := planOf("✓ fs.read", "✗ fs.write", "⠋ test.run", "· fs.read 2", "· test.run")
	run.Steps[0].Step.Title = "Look at the Handler"
	run.Steps[3].Step.Title = "Write the handler again"
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
		d := New(panetest.DarkLook(), panetest.Keys())
		resize(d, 60, 12)
		d.Show(run)
		d.View()
		d.startFilter()
		for _, letter := range text {
			d.seek(d.filter.text + string(letter))
		}
		if got := rowsOf(d); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
