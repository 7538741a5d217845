package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner/intake"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// preparation gathers what a job needs before it begins. A worker carries it out with
// gather, and sends the prepared job to the owner of the session. It sees nothing of the
// session but its settings at the start.
type preparation struct {
	from       supplies
	background *background
	waits      chan<- serverWait // what the preparation waits for
	preparedJob
}

// supplies are where preparations find what a job needs.
type supplies struct {
	model      Model
	tools      Tools
	copy       WorkingCopy // nil is the workspace itself
	archive    archive
	experience experience
	survey     func(ctx context.Context, goal string) intent.Facts // nil finds nothing
	dirty      func(ctx context.Context) int                       // counts uncommitted files; nil skips the count
	routing    event.Routing
	attended   bool // a user can answer questions
	dryRun     bool
	log        *slog.Logger

	// How long a plan waits for the servers that it names, and a goal for those that it may
	// need.
	readyWithin, goalWithin time.Duration
}

// serverWait tells which servers a preparation waits for, and ends that wait.
type serverWait struct {
	servers []string
	skip    context.CancelFunc
}

// newPreparation returns the preparation of a job with the given settings.
func newPreparation(from supplies, background *background, waits chan<- serverWait, j intake.Job, t jobConfig) *preparation {
	found := preparedJob{job: j, jobConfig: t, past: pastRun{run: agent.NewRun(nil)}, priors: map[string]int64{}}
	return &preparation{from: from, background: background, waits: waits, preparedJob: found}
}

// gather prepares the job. It stops at the first error.
func (p *preparation) gather(ctx context.Context) preparedJob {
	p.err = p.carryOut(ctx)
	return p.preparedJob
}

// carryOut gets the resumed run, the model and the tools. It compacts the conversation if
// that leaves too little room for the goal.
func (p *preparation) carryOut(ctx context.Context) error {
	if err := p.refreshCopy(ctx); err != nil {
		return err
	}
	dirty := p.countDirty(ctx)
	if p.job.Resume != "" {
		past, err := p.from.archive.reopen(ctx, p.job.Resume)
		if p.past = past; err != nil || !past.run.Resumable() {
			return err
		}
	}
	if err := p.describeModel(ctx); err != nil {
		return err
	}
	p.survey(ctx)
	found := p.findTools(ctx)
	if err := p.fitModels(ctx, found.asks()); err != nil {
		return err
	}
	p.missing = p.past.run.MissingTools(p.catalog)
	if err := p.checkArgs(ctx); err != nil {
		return err
	}
	switch {
	case !p.job.Plans() || found.routed:
	case intent.IsCommandLine(p.job.Goal): // no model could help
		return found.unclear
	case p.unfound != nil:
		return p.unrouted(found.unclear)
	}
	if p.job.Plans() && found.asks() || p.job.Compact {
		p.compact(ctx)
	}
	maps.Copy(p.priors, p.from.experience.durations())
	p.dirty = dirty()
	return ctx.Err()
}

// refreshCopy makes the copy of the workspace follow it.
func (p *preparation) refreshCopy(ctx context.Context) error {
	if p.from.copy == nil || p.job.Compact {
		return nil
	}
	if err := p.from.copy.Refresh(ctx, p.job.Resume); err != nil {
		return fmt.Errorf("%w: %w", errNoCopy, err)
	}
	return nil
}

// countDirty starts counting the files with uncommitted changes and returns a
// function that waits for the count.
func (p *preparation) countDirty(ctx context.Context) (count func() int) {
	j := p.job
	if p.from.dirty == nil || p.from.dryRun || j.Resume != "" || j.Compact || j.Create && !j.Run {
		return func() int { return 0 }
	}
	counted := make(chan int, 1)
	p.background.run(func() func() {
		counted <- p.from.dirty(ctx)
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
	p.info, err = p.from.model.Describe(ctx, p.jobConfig.model)
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
	if x == nil || p.from.attended || x.Synthesize {
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

// errNoCopy reports that a run cannot work in a copy of the workspace.
var errNoCopy = errors.New("the run cannot start")
