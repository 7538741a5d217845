package telling

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// CallArgs returns the arguments of a call: the resolved ones if known, otherwise
// the requested ones.
func CallArgs(s *agent.StepState) map[string]any {
	if s.Args != nil {
		return s.Args
	}
	return s.Step.Args
}

// Newest returns the call of a loop that matters most to a reader: a call waiting
// for the user, otherwise a running one, otherwise the last. It returns nil if
// there is none.
func Newest(l *agent.Loop) *agent.StepState {
	if l == nil || len(l.Calls) == 0 {
		return nil
	}
	for _, status := range []agent.StepStatus{agent.StepWaiting, agent.StepInDoubt, agent.StepRunning} {
		for _, c := range slices.Backward(l.Calls) {
			if c.Status == status {
				return c
			}
		}
	}
	for _, c := range slices.Backward(l.Calls) {
		if c.Status != agent.StepPending {
			return c
		}
	}
	return l.Calls[len(l.Calls)-1]
}

// MainArgument returns the most informative argument of a call, on one line.
func MainArgument(args map[string]any) string {
	telling := []string{"path", "file", "goal", "query", "pattern", "name", "command", "url", "id", "text"}
	rank := func(name string) int {
		if i := slices.Index(telling, name); i >= 0 {
			return i
		}
		return len(telling)
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
	made := 0
	for _, c := range l.Calls {
		if c.Status != agent.StepPending || c.Attempt > 0 {
			made++
		}
	}
	all := english.Count(len(l.Calls), "call")
	if run.Result != nil && made < len(l.Calls) {
		return fmt.Sprintf("%d of %s", made, all)
	}
	return all
}

// StepTool names the executor of a step as its row shows it.
func StepTool(s *agent.StepState) string {
	switch s.Step.Executor {
	case plan.ExecutorSelf:
		return "model"
	case plan.ExecutorAgent:
		return untrusted.Line("agent " + s.Step.Profile)
	default:
		return untrusted.Line(s.Step.Tool)
	}
}

// Milestone returns the title of the milestone that a step belongs to, or "" for
// none.
func Milestone(p plan.Plan, index string) string {
	for _, m := range p.Milestones {
		for _, step := range m.Steps {
			if step == index {
				return untrusted.Line(m.Title)
			}
		}
	}
	return ""
}

// ShortID returns the part of a run id after its date, which distinguishes runs of
// the same day.
func ShortID(run string) string {
	run = untrusted.Line(run)
	if i := strings.LastIndexByte(run, '-'); i >= 0 && strings.Count(run, "-") > 1 {
		return run[i+1:]
	}
	return run
}
