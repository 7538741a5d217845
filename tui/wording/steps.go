package wording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// CallArgs returns the arguments of a call: the resolved ones if known, otherwise
// the requested ones.
func CallArgs(s *agent.StepState) map[string]any {
	if s.Args != nil {
		return s.Args
	}
	return s.Step.Args
}

// Inner returns the steps that the plan shows below a step: the items of its list, or
// the calls of its sub-agent.
func Inner(s *agent.StepState) []*agent.StepState {
	switch {
	case s.Items != nil:
		return s.Items
	case s.Loop != nil:
		return s.Loop.Calls
	default:
		return nil
	}
}

// Newest returns the call or item that matters most to a reader: one waiting for the
// user, otherwise a running one, otherwise the last. It returns nil if there is none. Of
// several alike it returns the last call, or the first item, since gates open in their order.
func Newest(inner []*agent.StepState) *agent.StepState {
	order := []agent.StepStatus{agent.StepWaiting, agent.StepInDoubt, agent.StepRunning, agent.StepChecking}
	var newest *agent.StepState
	best, items := len(order)+2, false
	if len(inner) > 0 {
		_, items = inner[0].Item()
	}
	for _, s := range slices.Backward(inner) { // once, since a list may have many items
		rank := slices.Index(order, s.Status)
		switch {
		case rank >= 0:
		case s.Status != agent.StepPending:
			rank = len(order)
		default:
			rank = len(order) + 1
		}
		if rank < best || items && rank == best && rank < len(order) {
			newest, best = s, rank
		}
		if best == 0 && !items {
			break
		}
	}
	return newest
}

// MainArgument returns the most informative argument of a call, on one line.
func MainArgument(args map[string]any) string {
	names := []string{"path", "file", "goal", "query", "pattern", "name", "command", "url", "id", "text"}
	rank := func(name string) int {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
		return len(names)
	}
	best := ""
	for name, value := range args {
		if text, ok := value.(string); !ok || strings.TrimSpace(text) == "" {
			continue
		}
		if best == "" || rank(name) < rank(best) || rank(name) == rank(best) && name < best {
			best = name
		}
	}
	if best != "" {
		return untrusted.FirstLine(args[best].(string))
	}
	if len(args) == 0 {
		return ""
	}
	return untrusted.Line(JSONText(args, ""))
}

// CallsWords counts the calls of a loop. If the run is over, it counts the calls
// made.
func CallsWords(run *agent.Run, l *agent.Loop) string {
	calls := 0
	for _, c := range l.Calls {
		if c.Status != agent.StepPending || c.Attempt > 0 {
			calls++
		}
	}
	all := english.Count(len(l.Calls), "call")
	if run.Result != nil && calls < len(l.Calls) {
		return fmt.Sprintf("%d of %s", calls, all)
	}
	return all
}

// StepTool names the executor of a step as its row shows it: its tool, its agent
// or the model.
func StepTool(s *plan.Step) string {
	switch s.Executor {
	case plan.ExecutorSelf:
		return "model"
	case plan.ExecutorAgent:
		return untrusted.Line("agent " + s.Profile)
	default:
		return untrusted.Line(s.Tool)
	}
}

// CheckWords describes a check in a line: "no test fails: result.failed == 0",
// "it is there: result.exists  [fs.stat a.go]".
func CheckWords(c plan.Check) string {
	words := untrusted.Line(c.Expect)
	if c.Title != "" {
		words = c.Name() + ": " + words
	}
	if c.Tool == "" {
		return words
	}
	return words + "  [" + strings.TrimSpace(untrusted.Line(c.Tool)+" "+MainArgument(c.Args)) + "]"
}

// UntilWords says what a step waits for: "result.done, every 10s for 10m0s".
func UntilWords(u plan.Until) string {
	return untrusted.Line(u.Expect) + ", every " + u.Every.String() + " for " + u.For.String()
}

// ChecksCount counts the checks of a plan: "2 of steps, 1 of the goal"; "" if there are none.
func ChecksCount(p plan.Plan) string {
	n := 0
	for _, s := range p.Steps {
		n += len(s.Checks)
	}
	var parts []string
	if n > 0 {
		parts = append(parts, strconv.Itoa(n)+" of steps")
	}
	if len(p.Acceptance) > 0 {
		parts = append(parts, strconv.Itoa(len(p.Acceptance))+" of the goal")
	}
	return strings.Join(parts, ", ")
}

// ChecksWords is CheckWords of each check, a line each.
func ChecksWords(checks []plan.Check) string {
	lines := make([]string, len(checks))
	for i, c := range checks {
		lines[i] = CheckWords(c)
	}
	return strings.Join(lines, "\n")
}

// Milestone returns the title of the milestone that a step belongs to, or "" for
// none.
func Milestone(p plan.Plan, index string) string {
	for _, m := range p.Milestones {
		if slices.Contains(m.Steps, index) {
			return m.Title.Line()
		}
	}
	return ""
}

// ShortID is [agent.ShortID] for the screen.
func ShortID(run string) string {
	return agent.ShortID(untrusted.Line(run))
}

// StepWords names a step for use in a sentence: a step of the plan, or a model's
// call in the chat.
func StepWords(index string) string {
	if number, ok := strings.CutPrefix(index, prompt.ChatParent+"."); ok {
		return "call " + untrusted.Line(number)
	}
	return "step " + untrusted.Line(index)
}

// waitingInside returns the item or call of a step that waits for the user, nil if none
// does.
func waitingInside(s *agent.StepState) *agent.StepState {
	for _, c := range Inner(s) {
		if c.Status == agent.StepWaiting {
			return c
		}
		if inner := waitingInside(c); inner != nil {
			return inner
		}
	}
	return nil
}

// CurrentStep returns the most relevant step of a run. In order of precedence: at
// a gate, running, being replanned, in doubt, the step that halted the run, and
// the last step that ended. It returns nil if there is none.
func CurrentStep(run *agent.Run) *agent.StepState {
	var waiting, active, replanned, doubtful, stopped, ended *agent.StepState
	steps := run.Steps
	if len(steps) == 0 && run.Chat != nil {
		steps = run.Chat.Calls
	}
	for _, s := range steps {
		if waiting == nil && s.Status == agent.StepRunning {
			waiting = waitingInside(s)
		}
		switch {
		case s.Status == agent.StepWaiting && waiting == nil:
			waiting = s
		case Halted(run, s):
			stopped = s
		case s.Status == agent.StepRunning && active == nil:
			active = s
		case run.Replanning != nil && s.Step.Index == run.Replanning.Step:
			replanned = s
		case s.Status == agent.StepInDoubt && doubtful == nil:
			doubtful = s
		case s.Status.Ended() && s.Status != agent.StepSkipped:
			ended = s
		}
	}
	for _, s := range []*agent.StepState{waiting, active, replanned, doubtful, stopped, ended} {
		if s != nil {
			return s
		}
	}
	return nil
}
