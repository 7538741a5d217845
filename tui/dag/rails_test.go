package dag

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/plantext"
)

// The functions below read drawn rails from their characters alone, without the
// layout.

// readRails reads which step is drawn after which, from the rails of each step with its
// mark among them. It fails if a lane ends or continues where it cannot.
func readRails(rails []string) (map[[2]int]bool, error) {
	edges := map[[2]int]bool{}
	lanes := map[int][]int{} // the steps that each column leads from
	above := -1              // column of the mark above, from which a lane may lead
	for step, text := range rails {
		cells := []rune(text)
		mark := slices.IndexFunc(cells, isMark)
		if mark < 0 {
			return nil, fmt.Errorf("step %d: no mark in %q", step+1, text)
		}
		for column := range lanes {
			if column >= len(cells) || !isMark(cells[column]) && !strings.ContainsRune("│├┤┼╯╰┴|+/\\'", cells[column]) {
				if column != above {
					return nil, fmt.Errorf("step %d: the lane in column %d breaks off in %q", step+1, column, text)
				}
				delete(lanes, column)
			}
		}
		after := func(column int) {
			for _, from := range lanes[column] {
				edges[[2]int{from, step}] = true
			}
		}
		after(mark)
		delete(lanes, mark)
		for _, side := range []int{-1, 1} {
			for column := mark + side; column >= 0 && column < len(cells) && cells[column] != ' '; column += side {
				switch c := cells[column]; {
				case strings.ContainsRune("─-│|", c):
				case strings.ContainsRune("├┼+", c) && side < 0:
					after(column)
				case strings.ContainsRune("╰┴╯'", c), c == '\\' && side < 0, c == '/' && side > 0:
					after(column)
					delete(lanes, column)
				case strings.ContainsRune("┤┼+", c) && side > 0 && lanes[column] != nil:
					lanes[column] = append(lanes[column], step)
				case strings.ContainsRune("╮┬\\.", c) && side > 0 && lanes[column] == nil:
					lanes[column] = []int{step}
				default:
					return nil, fmt.Errorf("step %d: %q of %q does not fit the row above", step+1, c, text)
				}
			}
		}
		lanes[mark], above = []int{step}, mark
	}
	return edges, nil
}

// isMark reports whether a character is the sign of a step.
func isMark(c rune) bool { return c == '✓' || c == 'v' }

// railLine matches the line of a step: rails, number, title, and noted dependencies.
var railLine = regexp.MustCompile(`^([ │├╰╭╮╯┤┬┴┼─|+/\\\\'.-]*[✓v][ │├╰╭╮╯┤┬┴┼─|+/\\\\'.-]*?) +(\d+)\.? Step(?: (?:←|<-)([\d,]+))?`)

// readList reads the dependencies from a drawn list, by the numbers of its steps. The first cells of each line are the cursor and marks of revisions.
func readList(text string, marks, steps int) (planlayout.Graph, error) {
	var rails []string
	noted := make(planlayout.Graph, steps)
	for line := range strings.SplitSeq(text, "\n") {
		cells := []rune(line)
		m := railLine.FindStringSubmatch(string(cells[min(marks, len(cells)):]))
		if m == nil {
			continue
		}
		if n, _ := strconv.Atoi(m[2]); n != len(rails)+1 {
			return nil, fmt.Errorf("step %s is drawn in row %d", m[2], len(rails)+1)
		}
		if m[3] != "" {
			for number := range strings.SplitSeq(m[3], ",") {
				n, _ := strconv.Atoi(number)
				noted[len(rails)] = append(noted[len(rails)], n-1)
			}
		}
		rails = append(rails, m[1])
	}
	if len(rails) != steps {
		return nil, fmt.Errorf("got %d steps, want %d", len(rails), steps)
	}
	edges, err := readRails(rails)
	if err != nil {
		return nil, err
	}
	for e := range edges {
		noted[e[1]] = append(noted[e[1]], e[0])
	}
	for i := range noted {
		slices.Sort(noted[i])
	}
	return noted, nil
}

// railRun returns a run of completed steps, with removed steps after some.
func railRun(deps planlayout.Graph, removed []int) *agent.Run {
	run := &agent.Run{Terms: agent.Terms{ID: "r"}, Board: agent.Board{Revision: 1}}
	for i, ds := range deps {
		s := &agent.StepState{Status: agent.StepCompleted, Step: plan.Step{Index: fmt.Sprint(i + 1), Title: "Step", Tool: "fs.read", Executor: plan.ExecutorTool}}
		for _, d := range ds {
			s.Step.DependsOn = append(s.Step.DependsOn, fmt.Sprint(d+1))
		}
		run.Steps = append(run.Steps, s)
		run.Plan.Steps = append(run.Plan.Steps, s.Step)
	}
	if len(removed) > 0 {
		revision := agent.Revision{Number: 2, Reason: "it failed"}
		for n, after := range removed {
			removed := agent.StepState{Status: agent.StepFailed, Step: plan.Step{Index: fmt.Sprint(100 + n), Title: "Gone", Tool: "fs.read", Executor: plan.ExecutorTool}}
			revision.Removed, revision.After = append(revision.Removed, removed), append(revision.After, fmt.Sprint(after+1))
		}
		run.Revision, run.Revisions = 2, []agent.Revision{revision}
	}
	return run
}

// railPane draws the whole list of a run.
func railPane(run *agent.Run, ascii bool, width int) string {
	d := New(draw.NewStyles(new(themes.Set).New(themes.Dark, true, themes.Mode{ASCII: ascii, NoColor: true})), panetest.Keys())
	resize(d, width, 2*len(run.Steps)+20)
	d.Show(run)
	d.graph.mode = graphNever
	return panetest.Stripped(d.View())
}

// TestListDrawsEveryDependency draws random plans everywhere that rails are drawn as
// text, and reads their dependencies back.
func TestListDrawsEveryDependency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "steps")
		near := rapid.IntRange(1, 40).Draw(t, "near")
		deps := make(planlayout.Graph, n)
		for i := 1; i < n; i++ {
			deps[i] = rapid.SliceOfN(rapid.IntRange(max(0, i-near), i-1), 0, 5).Draw(t, "deps")
		}
		removed := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "removed")
		want := deps.Reduce()
		ascii := rapid.Bool().Draw(t, "ascii")
		run := railRun(deps, removed)
		marks := 0
		if len(removed) > 0 {
			marks = 2
		}
		check := func(where, drawn string, marks int, whole bool) {
			got, err := readList(drawn, marks, n)
			if err != nil {
				t.Fatalf("%s: %v\n%s", where, err, drawn)
			}
			for i := range got {
				for _, d := range got[i] {
					if !slices.Contains(want[i], d) {
						t.Fatalf("%s: %d after %d is drawn, but not a dependency\n%s", where, i+1, d+1, drawn)
					}
				}
				for _, d := range want[i] {
					if whole && !slices.Contains(got[i], d) {
						t.Fatalf("%s: %d after %d is not drawn\n%s", where, i+1, d+1, drawn)
					}
				}
			}
		}
		check("pane", railPane(run, ascii, rapid.IntRange(110, 200).Draw(t, "width")), 1+marks, true)

		// Text also lists all dependencies; the rails show those that find a lane.
		lanes := planlayout.NewRails(want, 8)
		whole := !slices.ContainsFunc(lanes.Noted, func(noted []int) bool { return len(noted) > 0 })
		check("run as text", plantext.Run(run, ascii, nil), marks, whole)
		text := plantext.Plan(run.Plan, ascii)
		check("plan as text", strings.NewReplacer("○", "✓", "o", "v").Replace(text), 0, whole)
	})
}

// TestListDrawings draws plans and their replans as lists, on the screen and in
// text.
func TestListDrawings(t *testing.T) {
	for name, deps := range shapes() {
		for _, ascii := range []bool{false, true} {
			mode := "unicode"
			if ascii {
				mode = "ascii"
			}
			t.Run(name+"/"+mode, func(t *testing.T) {
				run := railRun(deps, nil)
				// The last step has replaced a failed one.
				changed := railRun(deps, []int{len(deps) - 2})
				last := changed.Steps[len(deps)-1]
				last.Status, last.Change = agent.StepPending, agent.ChangeAdded
				changed.Revisions[0].Added = []string{last.Step.Index}
				golden.RequireEqual(t, strings.Join([]string{
					railPane(run, ascii, 60), plantext.Plan(run.Plan, ascii), railPane(changed, ascii, 60), plantext.Run(changed, ascii, nil),
				}, "\n\n"))
			})
		}
	}
}
