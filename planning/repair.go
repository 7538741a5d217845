package planning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// repairs knows how often a model was asked to put its plan right, and what was
// wrong with it last.
type repairs struct {
	made     int
	answered bool         // a whole reply came, were it an empty one
	reply    string       // the last that came whole, "" for none
	partly   string       // what came since, before it broke off; "" for nothing
	faults   []plan.Fault // of that reply, and of what did not come since
	notes    plan.Plan    // what was read so far that is only shown: milestones, risks, how to know that the goal is met
}

// faulty notes a reply with what is wrong with it, and returns that.
func (r *repairs) faulty(answer reply.Reply, faults []plan.Fault) []plan.Fault {
	r.answered, r.reply, r.partly, r.faults = true, reply.StripThinking(answer.Text), "", faults
	return faults
}

// keepNotes takes from a proposal what is only shown, and gives it what an earlier
// one had and it leaves out: a repair is about the steps.
func (r *repairs) keepNotes(p plan.Plan) plan.Plan {
	if len(p.Milestones) == 0 {
		p.Milestones = r.notes.Milestones
	}
	if len(p.Risks) == 0 {
		p.Risks = r.notes.Risks
	}
	p.DoneWhen = cmp.Or(p.DoneWhen, r.notes.DoneWhen)
	r.notes = plan.Plan{Milestones: p.Milestones, Risks: p.Risks, DoneWhen: p.DoneWhen}
	return p
}

// unanswered notes that no whole reply came to a request, and returns all that
// is wrong: a reply from before is still the one to put right. What came of one
// that broke off is kept beside it, until more comes of another.
func (r *repairs) unanswered(stage prompt.Purpose, reason string, answer reply.Reply) []plan.Fault {
	f := plan.Fault{Code: plan.CodeBadJSON, Message: "no " + stageName(stage) + " came from the model: " + reason}
	if partly := reply.StripThinking(answer.Text); partly != "" {
		r.partly = partly
		f.Message = "the " + stageName(stage) + " broke off before it was whole: " + reason
	}
	if r.reply == "" {
		r.faults = nil
	}
	r.faults = append(slices.DeleteFunc(slices.Clone(r.faults), func(old plan.Fault) bool { return old.Message == f.Message }), f)
	return r.faults
}

// next returns the request for one more repair, and false where there were as
// many as there may be.
func (r *repairs) next(b prompt.Brief, from prompt.RepairContext) (prompt.Request, bool) {
	most := b.Prompting.MaxRepairs
	if most <= 0 {
		most = prompt.DefaultMaxRepairs
	}
	if r.made >= most {
		return prompt.Request{}, false
	}
	r.made++
	from.Reply, from.Partly, from.Faults = r.reply, r.partly, r.faults
	return prompt.RepairRequest(b, from), true
}

// silent reports whether nothing at all came from the model.
func (r *repairs) silent() bool { return !r.answered && r.partly == "" }

// unrepaired is the end of a plan that stayed wrong, or that never came.
func (r *repairs) unrepaired(kind OutcomeKind) Outcome {
	what := "the model's plan is still wrong"
	if r.reply == "" {
		what = "there is still no plan"
	}
	return Outcome{
		Kind:   kind,
		Reason: fmt.Sprintf("%s after %s: %s", what, english.Count(r.made, "repair"), strings.Join(prompt.Clauses(r.faults, 8), "; ")),
		Faults: r.faults,
	}
}

// finishPlan makes a plan of what a model proposed: the goal is the user's, and the
// id made of the title. What the model says of the goal is how one will know that
// it is met.
func finishPlan(b prompt.Brief, p plan.Plan, task, doneWhen string) plan.Plan {
	p.Goal, p.DoneWhen = b.Goal, cmp.Or(p.DoneWhen, doneWhen)
	if p.DoneWhen == p.Goal {
		p.DoneWhen = ""
	}
	for _, title := range []string{task, b.Goal} {
		if strings.TrimSpace(p.Title) == "" {
			p.Title = plan.OneLine(title, 80)
		}
	}
	p.ID = plan.Slug(p.Title)
	p.Milestones = plan.KeepMilestones(p.Milestones, p.Steps)
	p.Steps = reply.FinishSteps(b.Catalogue, b.Prompting.ProfileNames(), p.Steps)
	for i := range p.Steps {
		p.Steps[i].Leads = false // there is nothing before it
	}
	return p
}

// checkProposal returns everything that is wrong with a plan: what could not be
// read, and what does not hold. One mistake is not told twice.
func checkProposal(b prompt.Brief, p plan.Plan, unread []plan.Fault, most int) []plan.Fault {
	faults := append([]plan.Fault(nil), unread...)
	seen := make(map[string]bool, len(unread))
	for _, f := range unread {
		seen[f.Path] = true
		if f.Code == plan.CodeBadJSON && len(p.Steps) == 0 {
			return faults
		}
	}
	invalid, _ := plan.Validate(p, plan.Rules{Catalogue: b.Catalogue, CheckTools: true, MaxSteps: most, Planned: true, PartialArgs: true, Profiles: b.Prompting.ProfileNames(), Toolless: b.Toolless})
	for _, f := range invalid {
		if !seen[f.Path] || f.Path == "" {
			faults = append(faults, f)
		}
	}
	return faults
}
