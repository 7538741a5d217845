package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// fitModels looks up the further models of a run and gives all of them the windows
// they need. asks reports whether the run begins with a request to a model.
func (p *preparation) fitModels(ctx context.Context, asks bool) error {
	if err := p.planners(ctx, p.job.Plans() && asks || p.job.Resume != "" && p.past.run.Revision == 0); err != nil {
		return err
	}
	if asks {
		p.grow(ctx)
	}
	if p.info.Name != "" && p.job.Resume == "" {
		p.jobConfig.prompting.Profiles = p.windows(ctx)
	}
	return nil
}

// planners looks up the models that plan in place of the run's. A resumed run keeps
// those it started with, unless they are gone and others are chosen now. Only a job that
// plans for certain needs them; otherwise the run's model replans.
func (p *preparation) planners(ctx context.Context, plans bool) error {
	if p.models = p.jobConfig.prompting.Models; p.job.Resume != "" {
		p.models = p.past.run.Models()
	}
	if p.info.Name == "" || p.job.Compact {
		return nil
	}
	err := p.describePlanners(ctx)
	if err != nil && p.job.Resume != "" && p.jobConfig.prompting.Models != (prompt.Models{}) {
		p.models = p.jobConfig.prompting.Models
		err = p.describePlanners(ctx)
	}
	switch {
	case err == nil:
		return nil
	case plans || ctx.Err() != nil:
		return err
	default:
		p.models = prompt.Models{}
		p.background.publishLater(event.Note{Level: "warn", Text: untrusted.Text(fmt.Sprintf("%s would make a new plan, since %v", p.info.Name, err))})
		return nil
	}
}

// describePlanners fills in what the server says about the models that plan.
func (p *preparation) describePlanners(ctx context.Context) error {
	var failed error
	p.models.Each(func(m *prompt.PlanModel) {
		info, err := p.from.model.Describe(ctx, m.Name)
		if err != nil && failed == nil {
			failed = &plannerError{m.Name, err}
		}
		m.ContextWindow, m.Small, m.Vision, m.ReadSpeed = info.ContextWindow, info.Small, info.Vision, info.Speed.Read
		m.BytesPerToken = cmp.Or(p.jobConfig.rates[m.Name], info.BytesPerToken)
	})
	return failed
}

// plannerError reports that a model that is to plan cannot be used, and what to do.
type plannerError struct {
	model string
	err   error
}

func (e *plannerError) Error() string {
	const choose = "plan with another (--planner-model, or planner_model in the configuration)"
	switch prompt.TroubleOf(e.err).Kind {
	case prompt.TroubleMissing, prompt.TroubleNoModels:
		return fmt.Sprintf("the planner model %[1]s is not installed: `ollama pull %[1]s`, or %[2]s", e.model, choose)
	case prompt.TroubleUnfit:
		return fmt.Sprintf("the planner model %s cannot chat: %s", e.model, choose)
	default:
		return e.err.Error()
	}
}

func (e *plannerError) Unwrap() error { return e.err }

// grow asks the server for larger context windows before a run begins, for each model
// that needs one. The windows are part of the run's first event, so they never change
// during a run.
func (p *preparation) grow(ctx context.Context) {
	if p.info.Name == "" || p.job.Compact {
		return
	}
	most := maps.Clone(p.jobConfig.wanted)
	addWanted(most, p.past.run)
	g := growth{name: p.jobConfig.model, info: p.info, wanted: most[p.info.Name], rate: p.jobConfig.prompting.BytesPerToken, plans: p.models.Planner.Name == ""}
	p.info = p.enlarge(ctx, g)
	p.models.Each(func(m *prompt.PlanModel) {
		if info, err := p.from.model.Describe(ctx, m.Name); err == nil {
			m.ContextWindow = p.enlarge(ctx, growth{name: m.Name, info: info, wanted: most[m.Name], rate: m.BytesPerToken, plans: true}).ContextWindow
		}
	})
}

// growth is the context window that a run needs of one model.
type growth struct {
	name   string // as chosen; "" is the server's choice
	info   prompt.ModelInfo
	wanted int     // the most tokens of a request that the window cut
	rate   float64 // bytes per token, 0 if unknown
	plans  bool    // requests of planning go to it, which open with the tools
}

// enlarge asks for a larger context window if what the run starts with would take more
// than half of it. It also does if an earlier request had to leave something out. The
// other half is for results and replies. It returns the model as it is then.
func (p *preparation) enlarge(ctx context.Context, g growth) prompt.ModelInfo {
	server, ok := p.from.model.(ModelGrower)
	window := g.info.ContextWindow
	if !ok || window <= 0 || p.from.dryRun {
		return g.info
	}
	need, why := g.wanted, "an earlier request had to leave something out"
	if g.plans && p.job.Plans() {
		prompting := p.jobConfig.prompting
		prompting.Mentions, prompting.Vision, prompting.BytesPerToken = p.job.Mentions, g.info.Vision, g.rate
		if opening := 2 * prompt.Opening(prompt.Brief{Goal: p.job.Goal, Catalog: p.catalog.Accepted(), Prompting: prompting}); opening > need {
			need, why = opening, "the goal with its tools, mentions and the project's notes takes half of it"
		}
	}
	if need <= window {
		return g.info
	}
	info, err := server.Grow(ctx, g.name, need)
	if err != nil || info.ContextWindow <= window {
		p.from.log.Info("the context window stays as it is", "model", g.info.Name, "wanted", need, "tokens", window, "error", err)
		p.tight = tightWords(g.info, need, why)
		return g.info
	}
	p.background.publishLater(event.Note{Level: "info", Text: untrusted.Text(fmt.Sprintf(
		"the context window of %s has grown from %dk to %dk tokens, since %s; the model was loaded with it", info.Name, window/1024, info.ContextWindow/1024, why))})
	return info
}

// tightWords names the setting to change if a context window is too small for a run
// and does not grow by itself.
func tightWords(info prompt.ModelInfo, need int, why string) string {
	larger := info.ContextWindow
	for larger < min(need, info.Longest) {
		larger = min(2*larger, info.Longest)
	}
	remedy := "choose a model with a larger context"
	if larger > info.ContextWindow {
		remedy = fmt.Sprintf("set context_window = %d in [model] if the server has the memory", larger)
	}
	return fmt.Sprintf("the context window of %s has only %dk tokens, but %s: %s", info.Name, info.ContextWindow/1024, why, remedy)
}

// windows looks up the context windows of sub-agents whose profile names its own
// model. A failed lookup is logged and does not keep the run from starting.
func (p *preparation) windows(ctx context.Context) []prompt.Profile {
	profiles := slices.Clone(p.jobConfig.prompting.Profiles)
	for i, profile := range profiles {
		if profile.Model == "" {
			continue
		}
		info, err := p.from.model.Describe(ctx, profile.Model)
		if err != nil {
			p.from.log.Warn("the model of a profile is not known", "profile", profile.Name, "model", profile.Model, "error", err)
			continue
		}
		info = p.enlarge(ctx, growth{name: profile.Model, info: info, wanted: p.jobConfig.wanted[profile.Model]})
		profiles[i].ContextWindow, profiles[i].Small, profiles[i].Loops, profiles[i].WritesCalls = info.ContextWindow, info.Small, info.Loops, info.WritesCalls
		profiles[i].ReadSpeed = info.Speed.Read
	}
	return profiles
}

// errNoArgs reports that a plan cannot run without a model.
var errNoArgs = errors.New("the plan needs a model")

// checkArgs returns why a plan cannot start without a model: a model has to carry
// out a step or fill in its arguments.
func (p *preparation) checkArgs(ctx context.Context) error {
	if p.job.Execute == nil || p.from.dryRun {
		return nil
	}
	proposed := p.job.Execute.Plan
	var open []string
	for _, step := range proposed.Steps {
		tool, err := p.catalog.Find(step.Tool)
		if step.Executor != plan.ExecutorTool || err != nil {
			continue
		}
		if missing := plan.MissingArgs(tool, step.Args); len(missing) > 0 {
			what := "all"
			if step.Args != nil {
				what = strings.Join(missing, " and ")
			}
			open = append(open, fmt.Sprintf("%s of step %s (%s)", what, step.Index, step.Tool))
		}
	}
	if len(open) > 0 && p.info.Name == "" && p.unfound == nil { // not looked up yet
		info, err := p.from.model.Describe(ctx, p.jobConfig.model)
		if err != nil && !errors.Is(err, prompt.ErrNoModel) {
			return err
		}
		p.info, p.unfound = info, err
	}
	switch {
	case p.unfound == nil:
		return nil
	case len(open) > 0:
		return fmt.Errorf("%w to fill in args: %s; write them into the plan, or choose a model: %w", errNoArgs, strings.Join(open, ", "), p.unfound)
	default:
		if at := slices.IndexFunc(proposed.Steps, needsWords); at >= 0 {
			step := proposed.Steps[at]
			return fmt.Errorf("step %s (%s) needs a model: %w", step.Index, step.Title, p.unfound)
		}
		return nil
	}
}

// needsWords reports whether only a model can carry out a step. Without one a plan
// with such a step does not start, rather than run halfway.
func needsWords(step plan.Step) bool {
	return step.Executor == plan.ExecutorAgent || step.Executor == plan.ExecutorSelf
}
