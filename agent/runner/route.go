package runner

import (
	"context"
	"errors"
	"fmt"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// survey searches the workspace for the names in a job's goal, and sketches it.
func (s preparation) survey(ctx context.Context, j job) intent.Facts {
	if s.cfg.Survey == nil || !j.plans() || s.cfg.Routing.Planner == event.PlannerNone && !j.create {
		return intent.Facts{}
	}
	return s.cfg.Survey(ctx, prompt.Unmentioned(j.goal, j.mentions))
}

// routes returns the chain that words alone produce for a job's goal. unclear
// says why words that were understood produce none.
func (s preparation) routes(p prepared) (chain intent.Chain, ok bool, unclear error) {
	if !p.job.plans() {
		return chain, false, nil
	}
	return agent.Route(s.routing(p.jobConfig.prompting, p.facts), prompt.Unmentioned(p.job.goal, p.job.mentions), p.catalogue, p.info.Name != "")
}

// routing returns how goals are planned with the given prompting. If the user
// switched planning off, every goal is a chat turn.
func (s preparation) routing(t prompt.Prompting, facts intent.Facts) event.Routing {
	routing := s.cfg.Routing
	routing.Facts = facts
	if routing.Planner == event.PlannerAuto && t.SkipAnalysis && t.SkipPlan {
		routing.Planner = event.PlannerPhases
	}
	return routing
}

// errNoWords lists what can be asked without a model.
var errNoWords = errors.New(agent.WithoutModel) //nolint:staticcheck // the second sentence of an error

// unrouted returns the error for a goal that needs a model when there is none. It
// names what works without one.
func (s preparation) unrouted(noModel, unclear error) error {
	if !s.cfg.Routing.Planner.ByWords() {
		return noModel
	}
	switch {
	case errors.As(unclear, new(agent.InvalidGoalError)):
		return unclear
	case errors.As(unclear, new(agent.IncompleteGoalError)): // a model may not help either
		return fmt.Errorf("%w. %w", unclear, noModel)
	case unclear != nil:
		return fmt.Errorf("%w. Without a model, %w", noModel, unclear)
	}
	return fmt.Errorf("%w. %w", noModel, errNoWords)
}
