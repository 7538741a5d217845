package planning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// repairs counts the repairs of a plan, and stores its last faults.
type repairs struct {
	rounds   int
	answered bool         // a complete reply came, even an empty one
	reply    string       // the last complete reply, or ""
	partly   string       // the part of a later reply before it broke off, or ""
	faults   []plan.Fault // of that reply, and of missing replies since
	notes    plan.Plan    // the parts besides the steps: acceptance, milestones, risks, criteria for meeting the goal
}

// faulty records a reply with its faults, and returns them.
func (r *repairs) faulty(answer reply.Reply, faults []plan.Fault) []plan.Fault {
	r.answered, r.reply, r.partly, r.faults = true, reply.StripThinking(answer.Text), "", faults
	return faults
}

// keepNotes stores the parts of a proposal besides its steps. It fills in missing ones from
// an earlier proposal, since a repair is about the steps.
func (r *repairs) keepNotes(p plan.Plan) plan.Plan {
	if len(p.Acceptance) == 0 {
		p.Acceptance = r.notes.Acceptance
	}
	if len(p.Milestones) == 0 {
		p.Milestones = r.notes.Milestones
	}
	if len(p.Risks) == 0 {
		p.Risks = r.notes.Risks
	}
	p.DoneWhen = cmp.Or(p.DoneWhen, r.notes.DoneWhen)
	r.notes = plan.Plan{Acceptance: p.Acceptance, Milestones: p.Milestones, Risks: p.Risks, DoneWhen: p.DoneWhen}
	return p
}

// unanswered records a missing reply to a request, and returns all faults. The
// reply to repair is still the previous one. The latest part of a broken reply is
// stored next to it.
func (r *repairs) unanswered(stage prompt.Purpose, reason string, answer reply.Reply) []plan.Fault {
	f := plan.Fault{Code: plan.CodeBadJSON, Message: "the model returned no " + stageName(stage) + ": " + reason}
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

// next returns the request for one more repair, and false beyond the limit.
func (r *repairs) next(b prompt.Brief, from prompt.RepairContext) (prompt.Request, bool) {
	most := b.Prompting.MaxRepairs
	if most <= 0 {
		most = prompt.DefaultMaxRepairs
	}
	if r.rounds >= most {
		return prompt.Request{}, false
	}
	r.rounds++
	from.Reply, from.Partly, from.Faults = r.reply, r.partly, r.faults
	return prompt.RepairRequest(b, from), true
}

// silent reports whether nothing at all came from the model.
func (r *repairs) silent() bool { return !r.answered && r.partly == "" }

// unrepaired returns the outcome of a plan that stayed invalid or never came.
func (r *repairs) unrepaired(kind OutcomeKind) Outcome {
	what := "the model's plan cannot be used"
	if r.reply == "" {
		what = "the model wrote no plan"
	}
	return Outcome{
		Kind:   kind,
		Reason: fmt.Sprintf("%s, after %s: %s", what, english.Count(r.rounds, "repair"), strings.Join(prompt.Clauses(r.faults, 8), "; ")),
		Faults: r.faults,
	}
}

// finishPlan completes a model's proposal. The goal is the user's, the id comes
// from the title, and the model's own wording of the goal becomes the completion
// condition.
func finishPlan(b prompt.Brief, p plan.Plan, task, doneWhen string) plan.Plan {
	p = titled(b, p, task, doneWhen)
	p.Milestones = plan.KeepMilestones(p.Milestones, p.Steps)
	p.Steps = reply.FinishSteps(b.Catalog, b.Prompting.ProfileNames(), p.Steps)
	for i := range p.Steps {
		p.Steps[i].Leads = false // nothing comes before it
	}
	p.Steps = complete(b, p.Steps)
	p.Acceptance = slices.Clone(p.Acceptance)
	for i, c := range p.Acceptance {
		call := plan.Step{Title: c.Title, Executor: plan.ExecutorTool, Tool: c.Tool, Args: c.Args}
		call = reply.FinishSteps(b.Catalog, nil, []plan.Step{call})[0]
		p.Acceptance[i].Tool, p.Acceptance[i].Args = call.Tool, call.Args
	}
	return p
}

// titled returns a plan with its goal, a title and the id that follows from it.
func titled(b prompt.Brief, p plan.Plan, task, doneWhen string) plan.Plan {
	p.Goal, p.DoneWhen = untrusted.Text(b.Goal), cmp.Or(p.DoneWhen, untrusted.Text(doneWhen))
	if p.DoneWhen == p.Goal {
		p.DoneWhen = ""
	}
	for _, title := range []string{task, b.Goal} {
		if strings.TrimSpace(string(p.Title)) == "" {
			p.Title = untrusted.Text(plan.OneLine(title, 80))
		}
	}
	p.ID = plan.Slug(string(p.Title))
	return p
}

// dropChecks takes the checks with faults out of the acceptance of a model's plan, and
// their faults from the others: they are worth no repair. It returns a warning for each.
func dropChecks(p plan.Plan, faults []plan.Fault) (plan.Plan, []plan.Fault, []plan.Fault) {
	var kept []plan.Check
	var warnings []plan.Fault
	for i, check := range p.Acceptance {
		at := plan.JSONPointer("/acceptance", strconv.Itoa(i))
		of := func(f plan.Fault) bool { return f.Path == at || strings.HasPrefix(f.Path, at+"/") }
		first := slices.IndexFunc(faults, of)
		if first < 0 {
			kept = append(kept, check)
			continue
		}
		f := faults[first]
		f.Message = "a check of the model's plan is left out: " + f.Message
		warnings = append(warnings, f)
		faults = slices.DeleteFunc(faults, of)
	}
	p.Acceptance = kept
	return p, faults, warnings
}

// checkProposal returns all faults of a plan: unreadable parts, and invalid ones.
// It reports each fault once. known holds results of finished steps by their variables.
func checkProposal(b prompt.Brief, p plan.Plan, unread []plan.Fault, most int, known map[string]any) []plan.Fault {
	faults := append([]plan.Fault(nil), unread...)
	seen := make(map[string]bool, len(unread))
	for _, f := range unread {
		seen[f.Path] = true
		if f.Code == plan.CodeBadJSON && len(p.Steps) == 0 {
			return faults
		}
	}
	invalid, _ := plan.Validate(p, plan.Rules{
		Catalog: b.Catalog, Withheld: b.Withheld, CheckTools: true, MaxSteps: most, Planned: true, PartialArgs: true,
		Profiles: b.Prompting.ProfileNames(), Toolless: b.Toolless, Known: known, Strict: b.Prompting.Strict,
	})
	for _, f := range invalid {
		if !seen[f.Path] || f.Path == "" {
			faults = append(faults, f)
		}
	}
	return faults
}
