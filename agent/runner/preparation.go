package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"replan/agent"
	"replan/agent/runner/intake"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// preparation gathers what a job needs before it begins. A worker carries it out with
// gather, and sends it to the owner of the session, who reads what was found. It sees
// nothing of the session but its settings at the start.
type preparation struct {
	cfg   *Config
	back  *background
	waits chan<- serverWait // what the preparation waits for

	job       intake.Job
	jobConfig jobConfig // the settings at its start
	info      prompt.ModelInfo
	models    prompt.Models  // that plan in place of it
	all       plan.Catalogue // all tools
	catalogue plan.Catalogue // the tools on offer
	summary   *summary       // set if the conversation was summarized
	priors    map[string]int64
	past      pastRun      // the run to resume
	facts     intent.Facts // about the names in the goal
	awaited   []string     // servers that did not start in time
	tight     string       // why the context window is too small, and what to do; "" if it is not
	missing   []string     // tools that the run still needs and no server offers
	dirty     int          // files with uncommitted changes
	unfound   error        // why there is no model
	err       error        // why the job does not begin
}

// serverWait tells which servers a preparation waits for, and ends that wait.
type serverWait struct {
	servers []string
	skip    context.CancelFunc
}

// newPreparation returns the preparation of a job with the given settings.
func newPreparation(cfg *Config, back *background, waits chan<- serverWait, j intake.Job, t jobConfig) *preparation {
	return &preparation{cfg: cfg, back: back, waits: waits, job: j, jobConfig: t, past: pastRun{run: agent.NewRun(nil)}, priors: map[string]int64{}}
}

// drop releases a preparation that is no longer needed.
func (p *preparation) drop() { p.past.drop() }

// gather gets the resumed run, the model and the tools. It compacts the conversation if
// that leaves too little room for the goal. It stops at the first error.
func (p *preparation) gather(ctx context.Context) {
	if p.err = p.refreshCopy(ctx); p.err != nil {
		return
	}
	dirty := p.countDirty(ctx)
	if p.job.Resume != "" {
		if p.err = p.past.reopen(ctx, p.cfg, p.job.Resume); p.err != nil || !p.past.run.Resumable() {
			return
		}
	}
	if p.err = p.describeModel(ctx); p.err != nil {
		return
	}
	p.survey(ctx)
	found := p.findTools(ctx)
	if p.err = p.fitModels(ctx, found.asks()); p.err != nil {
		return
	}
	p.missing = p.past.run.MissingTools(p.catalogue)
	if p.err = p.checkArgs(ctx); p.err != nil {
		return
	}
	if p.unfound != nil && p.job.Plans() && !found.routed {
		p.err = p.unrouted(found.unclear)
		return
	}
	if p.job.Plans() && found.asks() || p.job.Compact {
		p.compact(ctx)
	}
	p.recallDurations()
	p.dirty, p.err = dirty(), ctx.Err()
}

// refreshCopy makes the copy of the workspace follow it.
func (p *preparation) refreshCopy(ctx context.Context) error {
	if p.cfg.Copy == nil || p.job.Compact {
		return nil
	}
	if err := p.cfg.Copy.Refresh(ctx, p.job.Resume); err != nil {
		return fmt.Errorf("%w: %w", errNoCopy, err)
	}
	return nil
}

// countDirty starts counting the files with uncommitted changes and returns a
// function that waits for the count.
func (p *preparation) countDirty(ctx context.Context) (count func() int) {
	j := p.job
	if p.cfg.Dirty == nil || p.cfg.DryRun || j.Resume != "" || j.Compact || j.Create && !j.Run {
		return func() int { return 0 }
	}
	counted := make(chan int, 1)
	p.back.run(func() func() {
		counted <- p.cfg.Dirty(ctx)
		return nil
	})
	return func() int { return <-counted }
}

// describeModel looks up the model if the job may need one. A missing one is an error
// only if the job cannot do without.
func (p *preparation) describeModel(ctx context.Context) (err error) {
	if !p.wantsModel() {
		return nil
	}
	p.info, err = p.cfg.Model.Describe(ctx, p.jobConfig.model)
	if errors.Is(err, prompt.ErrNoModel) && ctx.Err() == nil && (p.job.Plans() || p.doesWithout()) {
		p.info, p.unfound = prompt.ModelInfo{}, err
		return nil
	}
	return err
}

// wantsModel reports whether the job may need a model. A plan that consists of
// calls needs none, unless a failure leads to replanning.
func (p *preparation) wantsModel() bool {
	x := p.job.Execute
	if x == nil || p.cfg.Attended || x.Synthesize {
		return true
	}
	return slices.ContainsFunc(x.Plan.Steps, func(step plan.Step) bool {
		return step.Executor == plan.ExecutorAgent || step.Executor == plan.ExecutorSelf || step.Args == nil ||
			x.Plan.FailureOf(step, x.OnFailure) == plan.OnFailureReplan
	})
}

// doesWithout reports whether the job can be done without a model.
func (p *preparation) doesWithout() bool {
	switch j := p.job; {
	case j.Compact:
		return true
	case j.Execute != nil:
		return true // unless a step needs one, see checkArgs
	default:
		return j.Resume != "" && !p.past.run.NeedsModel()
	}
}

// recallDurations gets how long the tools took before.
func (p *preparation) recallDurations() {
	if p.cfg.DryRun {
		return
	}
	medians, err := p.cfg.Store.MedianDurations()
	if err != nil {
		p.cfg.Logger.Warn("durations seen before", "error", err)
	}
	maps.Copy(p.priors, medians)
}

// errNoCopy reports that a run cannot work in a copy of the workspace.
var errNoCopy = errors.New("the run cannot start")
