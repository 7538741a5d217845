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

// planners looks up the models that plan in place of the run's. A resumed run keeps
// those it started with, unless they are gone and others are chosen now. Only a job that
// plans for certain needs them; otherwise the run's model replans.
func (s preparation) planners(ctx context.Context, p *prepared, plans bool) error {
	if p.info.Name == "" || p.job.compact {
		return nil
	}
	p.models = p.jobConfig.prompting.Models
	if p.job.resume != "" {
		if p.models = p.run.Models(); s.describePlanners(ctx, p) == nil {
			return nil
		}
		p.models = p.jobConfig.prompting.Models
	}
	err := s.describePlanners(ctx, p)
	switch {
	case err == nil:
		return nil
	case plans || ctx.Err() != nil:
		return err
	default:
		s.cfg.Logger.Warn("the run's model replans if a step fails", "error", err)
		p.models = prompt.Models{}
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
		m.ContextWindow, m.BytesPerToken = info.ContextWindow, p.jobConfig.rates[m.Name]
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

// grow asks the model's server for a larger context window before a run begins, if
// what the run starts with would take more than half of it, or if an earlier run had
// to leave something out. The other half is for results and replies. The window is
// part of the run's first event, so it never changes during a run.
func (s preparation) grow(ctx context.Context, p *prepared) {
	server, ok := s.cfg.Model.(ModelGrower)
	window := p.info.ContextWindow
	if !ok || p.info.Name == "" || window <= 0 || p.job.compact || s.cfg.DryRun {
		return
	}
	most := maps.Clone(p.jobConfig.wanted)
	wanted(most, p.run)
	need, why := most[p.info.Name], "an earlier request had to leave something out"
	if p.job.plans() {
		prompting := p.jobConfig.prompting
		prompting.Mentions = p.job.mentions
		if opening := 2 * prompt.Opening(prompt.Brief{Goal: p.job.goal, Catalogue: p.catalogue, Prompting: prompting}); opening > need {
			need, why = opening, "the goal with its tools, mentions and the project's notes takes half of it"
		}
	}
	if need <= window {
		return
	}
	info, err := server.Grow(ctx, p.jobConfig.model, need)
	if err != nil || info.ContextWindow <= window {
		s.cfg.Logger.Info("the context window stays as it is", "wanted", need, "tokens", window, "error", err)
		p.tight = tightWords(p.info, need, why)
		return
	}
	p.info = info
	s.outcomes <- outcome{events: []event.Data{event.Note{Level: "info", Text: untrusted.Text(fmt.Sprintf(
		"the context window of %s has grown from %dk to %dk tokens, since %s; the model was loaded with it", info.Name, window/1024, info.ContextWindow/1024, why))}}}
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
