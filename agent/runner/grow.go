package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// wanted adds the most tokens that a request of a run would have taken if its window
// had not cut it, by the model that served it.
func wanted(most map[string]int, run *agent.Run) {
	for _, x := range run.Exchanges {
		model := cmp.Or(x.Request.Model, run.Model)
		most[model] = max(most[model], x.Request.Wanted)
	}
}

// fitModels looks up the further models of a run and gives all of them the windows
// they need. asks reports whether the run begins with a request to a model.
func (s preparation) fitModels(ctx context.Context, p *prepared, asks bool) error {
	if err := s.planners(ctx, p, p.job.plans() && asks || p.job.resume != "" && p.run.Revision == 0); err != nil {
		return err
	}
	if asks {
		s.grow(ctx, p)
	}
	if p.info.Name != "" && p.job.resume == "" {
		p.jobConfig.prompting.Profiles = s.windows(ctx, p)
	}
	return nil
}

// planners looks up the models that plan in place of the run's. A resumed run keeps
// those it started with, unless they are gone and others are chosen now. Only a job that
// plans for certain needs them; otherwise the run's model replans.
func (s preparation) planners(ctx context.Context, p *prepared, plans bool) error {
	if p.models = p.jobConfig.prompting.Models; p.job.resume != "" {
		p.models = p.run.Models()
	}
	if p.info.Name == "" || p.job.compact {
		return nil
	}
	err := s.describePlanners(ctx, p)
	if err != nil && p.job.resume != "" && p.jobConfig.prompting.Models != (prompt.Models{}) {
		p.models = p.jobConfig.prompting.Models
		err = s.describePlanners(ctx, p)
	}
	switch {
	case err == nil:
		return nil
	case plans || ctx.Err() != nil:
		return err
	default:
		p.models = prompt.Models{}
		s.outcomes <- outcome{events: []event.Data{event.Note{Level: "warn", Text: untrusted.Text(fmt.Sprintf("%s would make a new plan, since %v", p.info.Name, err))}}}
		return nil
	}
}

// describePlanners fills in what the server says about the models that plan.
func (s preparation) describePlanners(ctx context.Context, p *prepared) error {
	var failed error
	p.models.Each(func(m *prompt.PlanModel) {
		info, err := s.cfg.Model.Describe(ctx, m.Name)
		if err != nil && failed == nil {
			failed = &plannerError{m.Name, err}
		}
		m.ContextWindow, m.Small, m.ReadSpeed = info.ContextWindow, info.Small, info.Speed.Read
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
func (s preparation) grow(ctx context.Context, p *prepared) {
	if p.info.Name == "" || p.job.compact {
		return
	}
	most := maps.Clone(p.jobConfig.wanted)
	wanted(most, p.run)
	g := growth{name: p.jobConfig.model, info: p.info, wanted: most[p.info.Name], rate: p.jobConfig.prompting.BytesPerToken, plans: p.models.Planner.Name == ""}
	p.info = s.enlarge(ctx, p, g)
	p.models.Each(func(m *prompt.PlanModel) {
		if info, err := s.cfg.Model.Describe(ctx, m.Name); err == nil {
			m.ContextWindow = s.enlarge(ctx, p, growth{name: m.Name, info: info, wanted: most[m.Name], rate: m.BytesPerToken, plans: true}).ContextWindow
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
// than half of it, or if an earlier request had to leave something out. The other half
// is for results and replies. It returns the model as it is then.
func (s preparation) enlarge(ctx context.Context, p *prepared, g growth) prompt.ModelInfo {
	server, ok := s.cfg.Model.(ModelGrower)
	window := g.info.ContextWindow
	if !ok || window <= 0 || s.cfg.DryRun {
		return g.info
	}
	need, why := g.wanted, "an earlier request had to leave something out"
	if g.plans && p.job.plans() {
		prompting := p.jobConfig.prompting
		prompting.Mentions, prompting.BytesPerToken = p.job.mentions, g.rate
		if opening := 2 * prompt.Opening(prompt.Brief{Goal: p.job.goal, Catalogue: p.catalogue.Accepted(), Prompting: prompting}); opening > need {
			need, why = opening, "the goal with its tools, mentions and the project's notes takes half of it"
		}
	}
	if need <= window {
		return g.info
	}
	info, err := server.Grow(ctx, g.name, need)
	if err != nil || info.ContextWindow <= window {
		s.cfg.Logger.Info("the context window stays as it is", "model", g.info.Name, "wanted", need, "tokens", window, "error", err)
		p.tight = tightWords(g.info, need, why)
		return g.info
	}
	s.outcomes <- outcome{events: []event.Data{event.Note{Level: "info", Text: untrusted.Text(fmt.Sprintf(
		"the context window of %s has grown from %dk to %dk tokens, since %s; the model was loaded with it", info.Name, window/1024, info.ContextWindow/1024, why))}}}
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
