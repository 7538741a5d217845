package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// toldFrom is how long a goal may take to be understood without a note beforehand.
const toldFrom = time.Minute

// warnings are what a session says only once, whichever of its runs comes to it
// first. It is safe for concurrent use.
type warnings struct{ slow atomic.Bool }

// weight is what makes the prompts of a run long, beside the goal.
type weight struct {
	conversation int // bytes of earlier turns
	foreign      int // tools of MCP servers
}

// weight measures the run. Only the owner of the engine calls it.
func (e *engine) weight() weight {
	var w weight
	for _, m := range e.prompting.Conversation {
		w.conversation += len(m.Content)
	}
	for _, t := range e.run.Catalogue {
		if !t.Trusted {
			w.foreign++
		}
	}
	return w
}

// foresee reports how long the model will read, if its server can tell. Once a
// session it says beforehand that a goal takes long to be understood.
func (e *engine) foresee(ctx context.Context, c agent.CallModel, w weight) {
	f, err := e.forecast(ctx, c.Request)
	if err != nil || f.Tokens == 0 {
		return // the request itself will say what is wrong
	}
	plans := c.Index == "" && c.Request.Purpose.Phase() > 0
	if wait := f.Reading() + f.Writing(); plans && f.Speed.Known() && wait > toldFrom && e.warnings.slow.CompareAndSwap(false, true) {
		e.emit(event.Note{Level: "info", Text: untrusted.Text(slowly(c.Request, f, wait, w))})
	}
	e.emit(c.Reading(f))
}

// forecast is Forecast of the model; a panic is an error.
func (e *engine) forecast(ctx context.Context, r prompt.Request) (f prompt.Forecast, err error) {
	server, ok := e.model.(ModelForecaster)
	if !ok {
		return f, nil
	}
	defer e.catch(&err)
	return server.Forecast(ctx, r)
}

// manyTools is how many tools of MCP servers make a prompt notably longer.
const manyTools = 8

// slowly says how long the model will take to understand a goal, and what would
// help: what makes most of the prompt, else a smaller model.
func slowly(r prompt.Request, f prompt.Forecast, wait time.Duration, w weight) string {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Content)
	}
	help := "A smaller model would help."
	switch {
	case w.conversation > bytes/2:
		help = "Most of it is the conversation so far: /compact, a new session or a smaller model would help."
	case w.foreign >= manyTools:
		help = fmt.Sprintf("It describes %s of MCP servers: fewer servers or a smaller model would help.", english.Count(w.foreign, "tool"))
	}
	return fmt.Sprintf("%s %s here: understanding the goal will take about %s. %s", r.Model, f.Speed, wait.Round(time.Second), help)
}
