package planning

import (
	"fmt"
	"strings"
)

// repairs counts how often a model was asked to put its plan right.
type repairs struct{ made int }

// next returns the request for one more repair, and false where there were as
// many as there may be. A situation is told with a repair of a replan.
func (r *repairs) next(b Brief, faulty Reply, faults []Fault, s *Situation) (Request, bool) {
	most := b.Prompting.MaxRepairs
	if most <= 0 {
		most = DefaultMaxRepairs
	}
	if r.made >= most {
		return Request{}, false
	}
	r.made++
	return repairRequest(b, stripThinking(faulty.Text), faults, s), true
}

// unrepaired is the end of a plan that stayed wrong.
func unrepaired(made int, faults []Fault) Outcome {
	return Outcome{
		Kind:   OutcomeFailed,
		Reason: fmt.Sprintf("the model's plan is still wrong after %s: %s", plural(made, "repair"), strings.Join(clauses(faults, 8), "; ")),
		Faults: faults,
	}
}

// clauses lists what is wrong in words, so many of them at most.
func clauses(faults []Fault, most int) []string {
	var parts []string
	for _, f := range faults[:min(len(faults), most)] {
		parts = append(parts, f.Message)
	}
	if rest := len(faults) - most; rest > 0 {
		parts = append(parts, "and "+plural(rest, "more fault"))
	}
	return parts
}

// plural counts things in words: "1 step", "2 steps".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// finishPlan makes a plan of what a model proposed: the goal is the user's, the
// id made of the title, and nothing but the steps decides what may fail.
func finishPlan(b Brief, p Plan, task string) Plan {
	p.Goal = b.Goal
	p.OnFailure = OnFailureDefault
	for _, title := range []string{task, b.Goal} {
		if strings.TrimSpace(p.Title) == "" {
			p.Title = oneLine(title, 80)
		}
	}
	p.ID = slug(p.Title)
	p.Steps = finishSteps(b, p.Steps)
	return p
}

// finishSteps settles what a model left open: a step without a title is called
// by its tool, and empty args of a tool that needs some are args still to come.
func finishSteps(b Brief, steps []Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		if strings.TrimSpace(s.Title) == "" {
			s.Title = s.Tool
		}
		if tool, err := b.Catalogue.Find(s.Tool); err == nil && s.Executor == ExecutorTool {
			if s.Args != nil && len(s.Args) == 0 && len(MissingArgs(tool, s.Args)) > 0 {
				s.Args = nil
			}
		}
		out[i] = s
	}
	return out
}

// slug makes an id of a title: lower case letters and digits, joined by dashes.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	if id := strings.Trim(b.String(), "-"); id != "" {
		return id
	}
	return "plan"
}

// checkProposal returns everything that is wrong with a plan: what could not be
// read, and what does not hold. One mistake is not told twice.
func checkProposal(b Brief, p Plan, unread []Fault, most int) []Fault {
	faults := append([]Fault(nil), unread...)
	seen := make(map[string]bool, len(unread))
	for _, f := range unread {
		seen[f.Path] = true
		if f.Code == CodeBadJSON && len(p.Steps) == 0 {
			return faults
		}
	}
	invalid, _ := Validate(p, Rules{Catalogue: b.Catalogue, CheckTools: true, MaxSteps: most, Planned: true, PartialArgs: true})
	for _, f := range invalid {
		if !seen[f.Path] || f.Path == "" {
			faults = append(faults, f)
		}
	}
	return faults
}
