package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// survey searches the workspace for the names in the job's goal, and sketches it.
func (p *preparation) survey(ctx context.Context) {
	if p.from.survey != nil && p.job.Plans() && !intent.IsCommandLine(p.job.Goal) && (p.from.routing.Planner != event.PlannerNone || p.job.Create) {
		p.facts = p.from.survey(ctx, prompt.Unmentioned(p.job.Goal, p.job.Mentions))
	}
}

// route is the operator chain for a goal, if words alone suffice.
type route struct {
	chain   intent.Chain
	routed  bool
	unclear error // why words that were understood produce no chain
}

// asks reports whether the run begins with a request to a model.
func (r route) asks() bool { return !r.routed || r.chain.NeedsModel() }

// findTools gets the tools that the job needs, and the route of its goal. It waits only
// for servers that a plan names; a goal without a plan waits briefly for all of them.
func (p *preparation) findTools(ctx context.Context) route {
	names := p.names()
	p.await(ctx, names, func(awaited []string) time.Duration {
		return plan.ServerWait(p.from.readyWithin, p.from.tools.Status(), awaited)
	})
	found := p.route()
	goal := p.job.Plans() && p.unfound == nil && found.asks() || p.job.Resume != "" && p.past.started().Plan == nil
	if also := p.mayCall(); goal || len(also) > 0 {
		if goal {
			also = []string{everyTool}
		}
		p.await(ctx, append(names, also...), p.goalWithin)
		found = p.route()
	}
	return found
}

// goalWithin returns how long a goal waits for servers that it may need: until the
// last of them has had its time to start.
func (p *preparation) goalWithin(awaited []string) time.Duration {
	return p.from.goalWithin - p.from.tools.StartingFor(awaited)
}

// everyTool matches all tools of all servers.
const everyTool = "*:*"

// await waits for the servers that offer the named tools, up to a limit that may
// depend on the servers. It tells the owner which ones it waits for and how to end that.
func (p *preparation) await(ctx context.Context, names []string, limit func(awaited []string) time.Duration) {
	now, stop := context.WithCancel(ctx)
	stop()
	if p.all, p.awaited = p.from.tools.ReadyFor(now, names); len(p.awaited) > 0 {
		within, cancel := context.WithTimeout(ctx, limit(p.awaited))
		defer cancel()
		p.waits <- serverWait{p.awaited, cancel}
		p.all, p.awaited = p.from.tools.ReadyFor(within, names)
	}
	p.catalog = p.all // a resumed run may use the tools it started with
	if p.job.Resume == "" {
		p.catalog = p.jobConfig.offered(p.all)
	}
	p.catalog = p.from.experience.recall(p.catalog)
}

// names returns the tools that the plan of the job calls.
func (p *preparation) names() []string {
	if p.job.Execute == nil {
		return p.past.run.ToolsToCall()
	}
	return p.job.Execute.Plan.Tools()
}

// mayCall returns the tools that the sub-agents of a given plan may call.
func (p *preparation) mayCall() []string {
	if p.job.Execute == nil {
		return nil
	}
	var names []string
	for _, step := range p.job.Execute.Plan.Steps {
		profile, known := p.jobConfig.prompting.Profile(step.Profile)
		switch {
		case step.Executor != plan.ExecutorAgent || !known:
		case profile.Tools == nil:
			return []string{everyTool}
		default:
			names = append(names, profile.Tools...)
		}
	}
	return names
}

// route returns the route of the job's goal.
func (p *preparation) route() (r route) {
	if p.job.Plans() {
		r.chain, r.routed, r.unclear = agent.Route(p.routing(p.from.routing), prompt.Unmentioned(p.job.Goal, p.job.Mentions), p.catalog, p.info.Name != "")
	}
	return r
}

// errNoWords lists what can be asked without a model.
var errNoWords = errors.New(agent.WithoutModel) //nolint:staticcheck // the second sentence of an error

// unrouted returns the error for a goal that needs a model when there is none. It says what
// was not understood, which orders are similar, and then how to get a model.
func (p *preparation) unrouted(unclear error) error {
	noModel := p.unfound
	if !p.from.routing.Planner.ByWords() {
		return noModel
	}
	refused, isUnclear := errors.AsType[agent.UnclearGoalError](unclear)
	switch {
	case unclear == nil:
		return sentences(noModel, errNoWords)
	case errors.As(unclear, new(agent.InvalidGoalError)), isUnclear && refused.Final:
		return unclear
	case isUnclear && len(refused.Near) == 0:
		return sentences(unclear, noModel, errNoWords)
	default: // orders are named, or a model may not help either
		return sentences(unclear, noModel)
	}
}

// sentences joins errors. Each ends like a sentence before the next one begins.
func sentences(errs ...error) error {
	joined := errs[0]
	for _, next := range errs[1:] {
		between := ". "
		if text := joined.Error(); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
			between = " "
		}
		joined = fmt.Errorf("%w%s%w", joined, between, next)
	}
	return joined
}
