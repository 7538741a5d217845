package agent

import (
	"slices"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// briefing is what the models of a run are told about it.
type briefing struct {
	terms         termsView
	tools         toolsView
	board         boardView
	conversations conversationsView
	permissions   permissionsView
	models        modelsView
	meter         meterView
}

// brief returns what a planner learns about this run. A new plan gets no tool
// that the first was not offered, even if a resume added some.
func (r *briefing) brief() prompt.Brief {
	catalog := r.tools.catalog()
	var withheld plan.Catalog
	if slices.ContainsFunc(catalog, r.permissions.hasChanged) {
		withheld = slices.DeleteFunc(slices.Clone(catalog), func(t plan.Tool) bool { return !r.permissions.hasChanged(t) })
		catalog = slices.DeleteFunc(slices.Clone(catalog), r.permissions.hasChanged)
	}
	if r.board.revision() > 0 {
		catalog = r.tools.offeredFirst(catalog)
	}
	prompting := r.terms.prompting()
	prompting.BytesPerToken, prompting.ReadSpeed = r.models.measured(r.terms.model(), prompting.BytesPerToken, prompting.ReadSpeed)
	prompting.Models.Each(func(m *prompt.PlanModel) {
		m.BytesPerToken, m.ReadSpeed = r.models.measured(m.Name, m.BytesPerToken, m.ReadSpeed)
	})
	prompting.WritesCalls = r.conversations.holdsCalls(r.terms.model())
	profiles, toolless := prompting.Loopable(r.terms.ModelTools())
	prompting.Profiles = profiles
	return prompt.Brief{Goal: string(r.terms.goal()), Catalog: catalog, Withheld: withheld, Prompting: prompting, MaxSteps: r.meter.mayPropose(), Toolless: toolless}
}

// callable returns the tools that the model of a loop may call, except for
// [prompt.FindTool].
func (r *briefing) callable(l loopView) plan.Catalog {
	if l.agentStep() == nil {
		return prompt.ChatTools(r.brief())
	}
	return prompt.AgentTools(r.brief(), l.profileOf())
}

// known returns the tools that a call of a loop may name: those that it may call. A side
// question knows all tools, so that a rule can say why one is denied.
func (r briefing) known(l loopView) plan.Catalog {
	if b := r.brief(); b.Prompting.About != nil && len(r.callable(l)) > 0 {
		return b.Catalog
	}
	return r.callable(l)
}

// briefOf returns the brief for the next turn of a loop.
func (r *briefing) briefOf(l loopView) prompt.Brief {
	b := r.brief()
	b.Found = l.foundTools()
	return b
}

// readable returns the tools by whose names calls in the text of a reply are known. They
// are those that can be called. If there are none, they are the whole catalog, since a
// call is no answer anyway.
func (r *briefing) readable(callable plan.Catalog) plan.Offer {
	if len(callable) == 0 {
		return plan.Offer(r.tools.catalog())
	}
	return append(plan.Offer(callable), prompt.FindTool())
}
