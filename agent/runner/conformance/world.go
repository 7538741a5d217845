package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Config returns the configuration of a session in the world of the case, without its
// store, ids and answers. One call at a time is under way, so that the order of the
// events is the same everywhere.
func (c Case) Config() runner.Config {
	w := &world{seed: c.Seed, seen: map[string]int{}}
	limits := event.DefaultLimits()
	limits.MaxConcurrency, limits.ModelSlots, limits.MaxReplans = 1, 1, 2
	return runner.Config{
		Model: w, Tools: w, Workspace: "/conformance", Limits: limits,
		Prompting: prompt.Prompting{Profiles: []prompt.Profile{{Name: "scout", MaxTurns: 3}}},
	}
}

// world is a model and a server of tools. What they answer depends on the seed, the
// question, and how often it was asked.
type world struct {
	runner.NoServers

	seed uint64
	mu   sync.Mutex
	seen map[string]int
}

// chance returns random numbers for a question.
func (w *world) chance(question string) *rand.Rand {
	w.mu.Lock()
	w.seen[question]++
	count := w.seen[question]
	w.mu.Unlock()
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, question, count)           // it never fails
	return rand.New(rand.NewPCG(w.seed, sum.Sum64())) //nolint:gosec // the same in every run
}

// Describe describes the model, whatever its name.
func (w *world) Describe(context.Context, string) (prompt.ModelInfo, error) {
	return prompt.ModelInfo{Name: "m", ContextWindow: 32768, Tools: true, Chats: true}, nil
}

// Ask answers a request.
func (w *world) Ask(_ context.Context, r prompt.Request, _ func(text, thinking string)) (reply.Reply, error) {
	random := w.chance("model " + string(r.Purpose))
	out := reply.Reply{PromptTokens: 10, CompletionTokens: 5, ContextWindow: 32768}
	switch r.Purpose {
	case prompt.PurposePlan, prompt.PurposeRepair, prompt.PurposeReplan:
		out.Text = randomPlan(random, 10*(1+w.seen["model "+string(r.Purpose)]), true)
	case prompt.PurposeStep:
		out.Text = pick(random, `{"where":"x"}`, "words")
	case prompt.PurposeAgent:
		if random.IntN(3) > 0 { // two calls would end in no fixed order
			out.Calls = append(out.Calls, reply.ToolUse{Name: pick(random, "look", "change"), Args: map[string]any{"where": pick(random, "a", "b")}})
		}
		if out.Calls == nil {
			out.Text = "found it"
		}
	default:
		out.Text = "words"
	}
	return out, nil
}

var catalog = plan.Catalog{
	{Server: "w", Name: "look", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"where":{}}}`)},
	{Server: "w", Name: "change", Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"where":{}}}`)},
	{Server: "w", Name: "fill", Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"where":{"type":"string"}},"required":["where"]}`)},
}

// Call carries out a call.
func (w *world) Call(_ context.Context, c plan.ToolCall) (any, error) {
	switch w.chance("call " + c.Tool.Name + plan.CanonicalJSON(c.Args)).IntN(10) {
	case 0:
		return nil, &plan.ToolError{Tool: c.Tool.Name, Message: "not now"}
	case 1:
		return nil, errors.New("the server is gone")
	case 2:
		return map[string]any{"n": json.Number("2")}, nil
	default:
		return map[string]any{"n": json.Number("1")}, nil
	}
}

// Preview previews nothing.
func (*world) Preview(context.Context, plan.ToolCall) (plan.ToolPreview, error) {
	return plan.ToolPreview{}, nil
}

// Ready returns the tools.
func (*world) Ready(context.Context) plan.Catalog { return catalog }

// ReadyFor returns the tools, which are all there.
func (*world) ReadyFor(context.Context, []string) (plan.Catalog, []string) { return catalog, nil }

// Status returns the state of the server.
func (*world) Status() []plan.ServerStatus {
	return []plan.ServerStatus{{Name: "w", State: plan.ServerReady, Tools: len(catalog)}}
}
