package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/prompt"
	"replan/tui/wording"
)

// modelTimeout bounds all questions to Ollama.
const modelTimeout = 10 * time.Second

// leastWindow is the smallest context window, in tokens, that has room for a few
// results beside the prompt and the tools.
const leastWindow = 8192

// Models answers what the checks ask of Ollama.
type Models interface {
	Host() string
	Describe(ctx context.Context, name string) (prompt.ModelInfo, error)
	Models(ctx context.Context) ([]prompt.ModelInfo, error)
}

// Ollama checks that the server answers, and that a model can plan: the configured
// one, else the first that can use tools. planners are further models that plan.
func Ollama(models Models, planners ...string) func(context.Context) []Check {
	return func(ctx context.Context) []Check {
		ctx, cancel := context.WithTimeout(ctx, modelTimeout)
		defer cancel()
		const subject = "Ollama"
		installed, err := models.Models(ctx)
		if err != nil {
			return []Check{{subject, "server", Failed, sentence(err), remedy(prompt.TroubleOf(err))}}
		}
		checks := []Check{{
			Subject: subject, Name: "server", State: OK,
			Detail: untrusted.Text(models.Host() + ", " + english.Count(len(installed), "model")),
		}}
		chosen, err := models.Describe(ctx, "")
		if err != nil {
			return append(checks, Check{subject, "model", Failed, sentence(err), remedy(prompt.TroubleOf(err))})
		}
		for _, m := range installed {
			if prompt.SameModel(m.Name, chosen.Name) {
				chosen.Growable = m.Growable
			}
		}
		planner := Check{Subject: subject, Name: "model", State: OK, Detail: untrusted.Text(chosen.Name + ": " + abilities(chosen))}
		switch {
		case !chosen.Tools:
			planner.State, planner.Fix = Warning, "choose a model that can use tools: --model NAME"
		case chosen.ContextWindow > 0 && chosen.ContextWindow < leastWindow && chosen.Longest >= leastWindow:
			planner.State, planner.Fix = Warning, "give it room for tools and results: context_window = 16384 in [model]"
		case chosen.ContextWindow > 0 && chosen.ContextWindow < leastWindow:
			planner.State, planner.Fix = Warning, "its context is too small for tools and results: choose another model with --model NAME"
		}
		checks = append(checks, planner)
		checks = append(checks, speed(chosen)...)
		checks = append(checks, driven(chosen)...)
		for _, name := range planners {
			checks = append(checks, plannerModel(name, installed))
		}
		checks = append(checks, defects(installed)...)
		for _, m := range installed {
			if !prompt.SameModel(m.Name, chosen.Name) {
				checks = append(checks, Check{Subject: subject, Name: untrusted.Text(m.Name), State: OK, Detail: untrusted.Text(abilities(m))})
			}
		}
		return checks
	}
}

// The prompt of a plan with replan's own tools, and how long a plan may take before
// doctor warns.
const (
	planTokens = 1000
	planTime   = time.Minute
)

// speed says what the measured speed of a model means for a goal; it is nil before
// anything was measured.
func speed(m prompt.ModelInfo) []Check {
	if !m.Speed.Known() {
		return nil
	}
	f := pace.Forecast{Tokens: planTokens, Reply: prompt.UsualReply(prompt.Request{Purpose: prompt.PurposePlan}), Speed: m.Speed}
	takes := f.Reading() + f.Writing()
	check := Check{Subject: "Ollama", Name: "speed", State: OK, Detail: untrusted.Text(fmt.Sprintf("%s %s: a plan takes about %s", m.Name, m.Speed, takes.Round(time.Second)))}
	if takes > planTime {
		check.State, check.Fix = Warning, "a smaller model is faster (--model NAME), and so are fewer MCP servers"
	}
	return []Check{check}
}

// driven says how replan drives a model, and what that rests on; it is nil if nothing
// was measured.
func driven(m prompt.ModelInfo) []Check {
	if m.Fit == nil {
		return nil
	}
	return []Check{{Subject: "Ollama", Name: "fit", State: OK, Detail: untrusted.Text(fmt.Sprintf("%s: %s (%s goals); driven with %s", m.Name, m.Fit.Expect(), m.Fit.Goals(), m.Fit.Record()))}}
}

// plannerModel checks a model that plans. It need not call tools.
func plannerModel(name string, installed []prompt.ModelInfo) Check {
	check := Check{Subject: "Ollama", Name: "planner model", State: Failed}
	at := slices.IndexFunc(installed, func(m prompt.ModelInfo) bool { return prompt.SameModel(m.Name, name) })
	switch {
	case at < 0:
		check.Detail, check.Fix = untrusted.Text(name+" is not installed"), untrusted.Text("ollama pull "+name)
	case !installed[at].Chats:
		check.Detail, check.Fix = untrusted.Text(name+" cannot chat"), "plan with another model: --planner-model NAME"
	default:
		check.State, check.Detail = OK, untrusted.Text(name+": "+abilities(installed[at]))
	}
	return check
}

// defects returns what replan works around with each model.
func defects(installed []prompt.ModelInfo) []Check {
	var checks []Check
	for _, m := range installed {
		if m.Defect != "" {
			checks = append(checks, Check{"Ollama", "defect", Warning, m.Defect, "update Ollama to 0.34 or later"})
		}
	}
	return checks
}

// abilities returns a model's size, what it can do, and its context window.
func abilities(m prompt.ModelInfo) string {
	var parts []string
	add := func(part string, holds bool) {
		if holds {
			parts = append(parts, part)
		}
	}
	add(m.Parameters.Line(), m.Parameters != "")
	add("cannot chat", !m.Chats)
	add("tools", m.Tools)
	add("no tools", m.Chats && !m.Tools)
	add("thinking", m.Thinks)
	switch {
	case m.ContextWindow == 0:
	case m.Longest > m.ContextWindow:
		parts = append(parts, fmt.Sprintf("window of %d of %d tokens", m.ContextWindow, m.Longest))
	default:
		parts = append(parts, fmt.Sprintf("window of %d tokens", m.ContextWindow))
	}
	add(m.Speed.String(), m.Speed.Known())
	add(fmt.Sprintf("grows to %d if needed", m.Growable), m.Growable > m.ContextWindow)
	return strings.Join(parts, ", ")
}

// remedy returns what to do about a missing model.
func remedy(trouble prompt.ModelTrouble) untrusted.Text {
	switch trouble.Kind {
	case prompt.TroubleUnreachable:
		return "ollama serve"
	case prompt.TroubleNoModels, prompt.TroubleMissing:
		return "ollama pull " + cmp.Or(trouble.Pull, trouble.Model, wording.SuggestedModel)
	case prompt.TroubleUnfit:
		return "ollama pull " + cmp.Or(trouble.Pull, wording.SuggestedModel)
	case prompt.TroubleOther:
	}
	return ""
}

// sentence returns an error as text.
func sentence(err error) untrusted.Text { return untrusted.Text(err.Error()) }
