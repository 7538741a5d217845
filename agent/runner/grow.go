package runner

import (
	"context"
	"fmt"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// wanted returns the most tokens that a request of a run, but for those of
// sub-agents with a model of their own, would have taken if its window had not cut
// it; 0 if none was cut.
func wanted(run *agent.Run) int {
	most := 0
	for _, x := range run.Exchanges {
		if x.Request.Model == "" || prompt.SameModel(x.Request.Model, run.Model) {
			most = max(most, x.Request.Wanted)
		}
	}
	return most
}

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
	need, why := max(p.jobConfig.wanted, wanted(p.run)), "an earlier request had to leave something out"
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
