package runner

import (
	"context"
	"fmt"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// survey looks through the workspace for what the goal of a job names, where its
// words may plan it.
func (s preparation) survey(ctx context.Context, j job) intent.Facts {
	if s.cfg.Survey == nil || !j.plans() || !s.cfg.Routing.Planner.ByWords() {
		return intent.Facts{}
	}
	return s.cfg.Survey(ctx, prompt.Unmentioned(j.goal, j.mentions))
}

// routes returns the chain that plans the goal of a job, where its words do, and
// why they do not where they were understood.
func (s preparation) routes(p prepared) (chain intent.Chain, ok bool, unclear error) {
	if !p.job.plans() {
		return chain, false, nil
	}
	return agent.Route(s.routing(p.jobTerms.prompting, p.facts), prompt.Unmentioned(p.job.goal, p.job.mentions), p.catalogue, p.info.Name != "")
}

// routing is how goals are planned with some prompting: where the user has planning
// switched off altogether, every goal is a turn of the chat.
func (s preparation) routing(t prompt.Prompting, facts intent.Facts) event.Routing {
	routing := s.cfg.Routing
	routing.Facts = facts
	if routing.Planner == event.PlannerAuto && t.SkipAnalysis && t.SkipPlan {
		routing.Planner = event.PlannerPhases
	}
	return routing
}

// unrouted says why there is neither a model nor a way without one, and what can
// be asked without.
func (s preparation) unrouted(noModel, unclear error) error {
	if !s.cfg.Routing.Planner.ByWords() {
		return noModel
	}
	if unclear != nil {
		return fmt.Errorf("%w; and without a model, %w", noModel, unclear)
	}
	return fmt.Errorf("%w; "+agent.WithoutModel, noModel)
}
