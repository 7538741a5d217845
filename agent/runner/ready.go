package runner

import (
	"context"
	"time"

	"replan/planning/intent"
	"replan/planning/plan"
)

// reach gets the tools that a job needs, and the operator chain for its goal if
// words alone suffice. It waits only for servers that a plan names; a goal
// without a plan waits briefly for all of them.
func (s preparation) reach(ctx context.Context, p *prepared) (chain intent.Chain, routed bool, unclear error) {
	names := p.names()
	s.await(ctx, p, names, func(awaited []string) time.Duration {
		return plan.ServerWait(s.cfg.ReadyWithin, s.cfg.Tools.Status(), awaited)
	})
	chain, routed, unclear = s.routes(*p)
	goal := p.job.plans() && p.unfound == nil && (!routed || chain.NeedsModel()) || p.job.resume != "" && p.started().Plan == nil
	if also := p.mayCall(); goal || len(also) > 0 {
		if goal {
			also = []string{everyTool}
		}
		s.await(ctx, p, append(names, also...), s.goalWithin)
		chain, routed, unclear = s.routes(*p)
	}
	return chain, routed, unclear
}

// goalWithin returns how long a goal waits for servers that it may need: until the
// last of them has had its time to start.
func (s preparation) goalWithin(awaited []string) time.Duration {
	return s.cfg.GoalWithin - s.cfg.Tools.StartingFor(awaited)
}

// everyTool matches all tools of all servers.
const everyTool = "*:*"

// await waits for the servers that offer the named tools, up to a limit that may
// depend on the servers. It publishes which ones it waits for and how to end that.
func (s preparation) await(ctx context.Context, p *prepared, names []string, limit func(awaited []string) time.Duration) {
	now, stop := context.WithCancel(ctx)
	stop()
	if p.all, p.awaited = s.cfg.Tools.ReadyFor(now, names); len(p.awaited) > 0 {
		within, cancel := context.WithTimeout(ctx, limit(p.awaited))
		defer cancel()
		s.outcomes <- outcome{awaited: p.awaited, skip: cancel}
		p.all, p.awaited = s.cfg.Tools.ReadyFor(within, names)
	}
	p.catalogue = p.all // a resumed run may use the tools it started with
	if p.job.resume == "" {
		p.catalogue = p.jobConfig.offered(p.all)
	}
	var err error
	if p.catalogue, err = s.cfg.Store.RecallTools(s.cfg.Workspace, p.catalogue); err != nil {
		s.cfg.Logger.Warn("what earlier runs have shown of tools", "error", err)
	}
}

// names returns the tools that the plan of a job calls.
func (p prepared) names() []string {
	if p.job.execute == nil {
		return p.run.ToolsToCall()
	}
	return p.job.execute.Plan.Tools()
}

// mayCall returns the tools that the sub-agents of a given plan may call.
func (p prepared) mayCall() []string {
	if p.job.execute == nil {
		return nil
	}
	var names []string
	for _, step := range p.job.execute.Plan.Steps {
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
