package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/planning/plan"
)

// The model of these benchmarks serves one request at a time. It takes 10 ms to
// write a token and 0.5 ms to read one that is not cached.
var pace = ollamatest.Cache{PerToken: 10 * time.Millisecond, PerPromptToken: 500 * time.Microsecond, BytesPerToken: 4}

const analysedReply = `{"mode":"plan","task":"Look at the four parts","goal":"each was looked at","complexity":"medium","reflect":false}`

// goal is a run of a goal with a model that takes time.
type goal struct {
	replies []ollamatest.Reply
	tools   plan.Catalogue
	call    func(context.Context, plan.ToolCall) (any, error)
	plan    *plan.Plan // an existing plan, such as a stored or routed one
	warm    bool       // an earlier run of the session filled the cache
}

// measured holds the figures of one run of a goal.
type measured struct {
	planned   time.Duration // from the first byte of the plan to the first call of a tool
	beyond    time.Duration // from the end of the analysis to the end
	calls     int           // model requests after the analysis
	before    int           // model requests before the first tool call
	bytes     int           // size of all prompts without the list of tools
	longest   int           // size of the longest prompt
	tails     int           // size of all prompts after the shared first message
	use       ollamatest.CacheUse
	cachedNow float64 // share of the prompt tokens that came from the cache
}

// run runs the goal and measures it; a warm goal runs twice and the second run
// counts.
func (g goal) run(b *testing.B) measured {
	b.Helper()
	for i := range g.replies {
		g.replies[i].Times = -1
	}
	cost := pace
	server, err := ollamatest.Start(b.Context(), ollamatest.Script{Model: "m", ContextLength: 32768, Replies: g.replies, Cache: &cost})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // discarded after the run
	client, err := ollama.New(ollama.Config{Host: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // discarded after the run
	if g.warm {
		g.once(b, server, client)
	}
	return g.once(b, server, client)
}

// once runs the goal once.
func (g goal) once(b *testing.B, server *ollamatest.Server, client *ollama.Client) measured {
	b.Helper()
	var out measured
	before, asked0 := server.Cache(), len(server.Requests())
	var analysed, writing time.Time
	var asked atomic.Int32
	var first atomic.Int64
	call := func(ctx context.Context, c plan.ToolCall) (any, error) {
		if first.CompareAndSwap(0, time.Now().UnixNano()) {
			out.before = int(asked.Load())
		}
		return g.call(ctx, c)
	}
	result, err := runner.Run(b.Context(), runner.Job{
		Goal: "look at the four parts and say how they fit", Plan: g.plan, Model: client, Call: call, Catalogue: g.tools, Synthesize: true,
		Events: func(e event.Event) {
			switch d := e.Data.(type) {
			case event.RunStarted:
				analysed = time.Now()
			case event.PhaseStarted, event.ModelRequested, event.SynthesisStarted:
				asked.Add(1)
			case event.PhaseCompleted:
				if d.Phase == 1 {
					analysed = time.Now()
					asked.Store(0)
				}
			case event.PhaseDelta:
				if d.Phase == 3 && writing.IsZero() {
					writing = time.Now()
				}
			}
		},
	})
	out.beyond = time.Since(analysed)
	if err != nil || result.Reason != event.ReasonGoalMet {
		b.Fatalf("%s %s: %v", result.Reason, result.Error, err)
	}
	if writing.IsZero() {
		writing = analysed // the plan existed before the run
	}
	out.planned = time.Unix(0, first.Load()).Sub(writing)
	out.calls = int(asked.Load())
	for _, r := range server.Requests()[asked0:] {
		n := 0
		for i, m := range r.Messages {
			text, _, _ := strings.Cut(m.Content, "\n# Tools\n")
			n += len(text)
			if i > 0 {
				out.tails += len(text)
			}
		}
		out.bytes += n
		out.longest = max(out.longest, n)
	}
	out.use = server.Cache()
	out.use.PromptTokens -= before.PromptTokens
	out.use.CachedTokens -= before.CachedTokens
	out.cachedNow = float64(out.use.CachedTokens) / float64(out.use.PromptTokens)
	return out
}

// measure reports the medians over runs of a goal.
func (g goal) measure(b *testing.B) {
	var runs []measured
	for b.Loop() {
		runs = append(runs, g.run(b))
	}
	middle := func(of func(measured) float64) float64 {
		values := make([]float64, len(runs))
		for i, r := range runs {
			values[i] = of(r)
		}
		return median(values)
	}
	b.ReportMetric(middle(func(s measured) float64 { return s.planned.Seconds() * 1000 }), "first-tool-ms")
	b.ReportMetric(middle(func(s measured) float64 { return s.beyond.Seconds() * 1000 }), "beyond-analysis-ms")
	b.ReportMetric(middle(func(s measured) float64 { return float64(s.calls) }), "model-calls")
	b.ReportMetric(middle(func(s measured) float64 { return float64(s.before) }), "calls-before-tool")
	b.ReportMetric(middle(func(s measured) float64 { return float64(s.bytes) }), "prompt-bytes")
	b.ReportMetric(middle(func(s measured) float64 { return float64(s.longest) }), "longest-prompt-bytes")
	b.ReportMetric(middle(func(s measured) float64 { return float64(s.tails) }), "tail-bytes")
	b.ReportMetric(middle(func(s measured) float64 { return 4 * float64(s.use.PromptTokens-s.use.CachedTokens) }), "read-bytes")
	b.ReportMetric(middle(func(s measured) float64 { return 100 * s.cachedNow }), "cached-%")
}

func lookTool(name string) plan.Tool {
	return plan.Tool{
		Name: name, Server: "w", ReadOnly: true, Annotated: true, Description: "Look at one part.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}},"required":["at"]}`),
	}
}

// slow returns a tool that takes 200 ms.
func slow(result string) func(context.Context, plan.ToolCall) (any, error) {
	return func(ctx context.Context, _ plan.ToolCall) (any, error) {
		select {
		case <-time.After(200 * time.Millisecond):
			return result, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// diamondPlan is the shortest form of a plan with four steps.
const diamondPlan = `{"title":"Look","steps":[{"index":"1","title":"A","tool":"look","args":{"at":"a"},"depends_on":[],"expected_outcome":"a"},` +
	`{"index":"2","title":"B","tool":"look","args":{"at":"b"},"depends_on":["1"],"expected_outcome":"b"},` +
	`{"index":"3","title":"C","tool":"look","args":{"at":"c"},"depends_on":["1"],"expected_outcome":"c"},` +
	`{"index":"4","title":"D","tool":"look","args":{"at":"d"},"depends_on":["2","3"],"expected_outcome":"d"}]}`

// outcomes matches the optional expected outcomes of a plan's steps.
var outcomes = regexp.MustCompile(`,"expected_outcome":"[^"]*"`)

// BenchmarkGoalDiamond plans and runs four tools of 200 ms in a diamond. The
// targets are a first tool within 300 ms of the plan's first byte, an end within
// 1400 ms of the analysis, and two model calls after it; with a given plan, no
// call before the first tool. Writing the plan costs most of the time: planned
// has every field of the schema, planned-tersely omits expected_outcome.
func BenchmarkGoalDiamond(b *testing.B) {
	replies := []ollamatest.Reply{
		{Heading: "# Phase 1: analysis", Text: analysedReply},
		{Heading: "# Phase 3: execution plan", Text: diamondPlan},
		{Heading: "# Synthesis", Text: "All four parts fit."},
	}
	g := goal{replies: replies, tools: plan.Catalogue{lookTool("look")}, call: slow("seen")}
	b.Run("planned", g.measure)
	b.Run("planned-tersely", func(b *testing.B) {
		terse := g
		terse.replies = slices.Clone(replies)
		terse.replies[1].Text = outcomes.ReplaceAllString(diamondPlan, "")
		terse.measure(b)
	})
	b.Run("given", func(b *testing.B) {
		plan, faults := plan.DecodePlan([]byte(diamondPlan))
		if len(faults) > 0 {
			b.Fatal(faults)
		}
		given := g
		given.plan = &plan
		given.measure(b)
	})
}

// lanes returns a plan of four lanes in which each step uses the result of the
// one before; join adds a step that uses the ends of all lanes.
func lanes(join bool) string {
	var steps []string
	for lane := range 4 {
		for n := range 3 {
			args := `{"at":"x"}`
			if n > 0 {
				args = fmt.Sprintf(`{"at":"${r%d%d}"}`, lane, n-1)
			}
			steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"S","tool":"look","args":%s,"depends_on":[],"result_variable":"r%d%d","expected_outcome":"s"}`, lane*3+n+1, args, lane, n))
		}
	}
	if join {
		steps = append(steps, `{"index":"13","title":"J","tool":"look","args":{"at":["${r02}","${r12}","${r22}","${r32}"]},"depends_on":[],"expected_outcome":"j"}`)
	}
	return `{"title":"Lanes","steps":[` + strings.Join(steps, ",") + `]}`
}

// BenchmarkGoalLanes plans and runs four lanes of three steps with results of 2
// KB each. The target is 5 KB of prompts: tail-bytes counts what follows the
// first message, which holds the rules and the tools and is read once;
// prompt-bytes counts that message with each request, without the list of tools.
func BenchmarkGoalLanes(b *testing.B) {
	for name, join := range map[string]bool{"four-ends": false, "joined": true} {
		b.Run(name, func(b *testing.B) {
			goal{
				replies: []ollamatest.Reply{
					{Heading: "# Phase 1: analysis", Text: analysedReply},
					{Heading: "# Phase 3: execution plan", Text: lanes(join)},
					{Heading: "# Synthesis", Text: "All of it fits."},
				},
				tools: plan.Catalogue{lookTool("look")}, call: slow(strings.Repeat("what was found there ", 98)),
			}.measure(b)
		})
	}
}

// BenchmarkGoalReplan measures how much of the prompts comes from the cache in a
// run with one replan. The target is 80 %. A first run makes five requests, of
// which the server can cache four at best, so 80 % would leave nothing for what
// is new in them. A later run of the session finds the rules and the tools
// cached.
func BenchmarkGoalReplan(b *testing.B) {
	g := goal{
		replies: []ollamatest.Reply{
			{Heading: "# Phase 1: analysis", Text: strings.Replace(analysedReply, `"reflect":false`, `"reflect":true`, 1)},
			{Heading: "# Phase 2: review", Text: "## Critic\n\n- It may fail.\n\n## Pragmatist\n\n- Fine.\n\n## Detailer\n\n- Fine.\n\n## Plan Adjustments\n\n- None."},
			{Heading: "# Phase 3: execution plan", Text: diamondPlan},
			{Heading: "# Replan", Text: `{"title":"Again","steps":[{"index":"5","title":"E","tool":"look","args":{"at":"e"},"depends_on":["2"],"expected_outcome":"e"}]}`},
			{Heading: "# Synthesis", Text: "All of it fits."},
		},
	}
	for i := range 20 {
		g.tools = append(g.tools, lookTool(fmt.Sprintf("other.%d", i)))
	}
	g.tools = append(g.tools, lookTool("look"))
	wait := slow("seen")
	g.call = func(ctx context.Context, c plan.ToolCall) (any, error) {
		if c.Args["at"] == "d" {
			return nil, fmt.Errorf("part d is not there")
		}
		return wait(ctx, c)
	}
	b.Run("first", g.measure)
	b.Run("later", func(b *testing.B) {
		later := g
		later.warm = true
		later.measure(b)
	})
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
