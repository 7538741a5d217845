package prompt

import (
	"slices"
	"strings"

	"replan/planning/plan"
)

// About is the run that a side question is about, as it was when the user asked. The zero
// value is none: the question is about the project.
type About struct {
	Goal    string             `json:"goal,omitempty"`
	State   string             `json:"state,omitempty"`   // of the run, such as "waiting for the user at step 3"
	Over    bool               `json:"over,omitempty"`    // it has ended
	Plan    plan.Plan          `json:"plan,omitzero"`     // the current one
	States  map[string]string  `json:"states,omitempty"`  // of its steps, by index
	Waits   string             `json:"waits,omitempty"`   // the call that the user is asked to allow: its tool, and its diff or arguments
	History []plan.HistoryItem `json:"history,omitempty"` // every ended attempt, oldest first
}

// askAbout makes the request of the chat one of a side question, unless there is none.
func (c *composition) askAbout(a *About) {
	if a == nil {
		return
	}
	if c.last = c.about(a); c.brief.Prompting.Small {
		c.tokens = smallAnswer
	}
}

// about returns the last message of a side question: the state of the run, and the question.
func (c *composition) about(a *About) func(*cutter) string {
	b, p, tools := c.brief, a.Plan, len(c.tools) > 0 && !c.final
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].ResultVariable = "" // the answer can refer to none
	}
	return func(cut *cutter) string {
		items := slices.DeleteFunc(slices.Clone(a.History), func(item plan.HistoryItem) bool { return item.Parent != "" })
		newest := map[string]bool{} // the others share one budget: any of them may be asked about
		if len(items) > 0 {
			newest[items[len(items)-1].Index] = true
		}
		return render("about", aboutData{
			Goal: disarm(plan.OneLine(a.Goal, 2000)), State: disarm(plan.OneLine(a.State, 400)), Plan: outlined(p, a.States),
			Waits:   named("the call that waits", cut.text(readable(a.Waits), "")),
			Results: cut.results(items, p, newest), Question: b.Goal, Tools: tools, Small: b.Prompting.Small,
		})
	}
}

// outlined lists the steps of a plan with their states, a line each.
func outlined(p plan.Plan, states map[string]string) string {
	lines := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		lines[i] = "- " + stepLine(s)
		if state := states[s.Index]; state != "" {
			lines[i] += ": " + plan.OneLine(state, 200)
		}
	}
	return named("the plan of the run", strings.Join(lines, "\n"))
}

// reading returns the tools of a catalog that only read.
func reading(c plan.Catalog) plan.Catalog {
	return slices.DeleteFunc(slices.Clone(c), func(t plan.Tool) bool { return !t.ReadOnly })
}
