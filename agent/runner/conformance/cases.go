package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/planning/plan"
)

// Case is a plan to run in a world that answers by its seed.
type Case struct {
	Seed    uint64
	Plan    plan.Plan
	Approve policy.Approve      // how gates are answered
	InDoubt event.DoubtDecision // about steps in doubt
}

// Cases returns the first n cases, always the same.
func Cases(n int) []Case {
	var out []Case
	for seed := uint64(1); len(out) < n; seed++ {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same in every run
		p, faults := plan.DecodePlan([]byte(randomPlan(random, 1, random.IntN(3) > 0)))
		if len(faults) > 0 {
			continue // a plan that no host takes
		}
		out = append(out, Case{
			Seed: seed, Plan: p,
			Approve: pick(random, policy.ApproveAll, policy.ApproveAll, policy.ApproveAll, policy.ApproveNone),
			InDoubt: pick(random, event.DoubtAbort, event.DoubtDone, event.DoubtRerun),
		})
	}
	return out
}

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// randomPlan returns a plan with steps of every kind, whose indices begin with first.
// The steps of most plans wait for all before them. The others only read: a gate that
// opens, or a model that replies, beside a call does so in no fixed order.
func randomPlan(random *rand.Rand, first int, chain bool) string {
	var steps []any
	kinds, most := 1, 3
	if chain {
		kinds = 8
	}
	if first > 1 {
		most = 1 // in a new plan, items have gates
	}
	for i := range 1 + random.IntN(6) {
		step := map[string]any{"index": fmt.Sprint(first + i), "title": fmt.Sprint("Step ", first+i), "result_variable": fmt.Sprint("r", first+i)}
		switch random.IntN(kinds) {
		case 1:
			step["executor"] = "self"
		case 2:
			step["executor"], step["profile"] = "agent", "scout"
		case 3, 4, 5:
			step["tool"], step["args"] = "change", map[string]any{"where": step["index"]}
		case 6:
			step["tool"] = "fill" // the model writes its arguments
		default:
			step["tool"], step["args"] = "look", map[string]any{"where": step["index"]}
		}
		var deps []string
		for d := range i {
			if chain || random.IntN(2) == 0 {
				deps = append(deps, fmt.Sprint(first+d))
			}
		}
		step["depends_on"] = deps
		decorate(random, step, chain, most)
		steps = append(steps, step)
	}
	drawn := map[string]any{"title": "Random", "variables": map[string]any{"on": true}, "steps": steps}
	if random.IntN(3) == 0 {
		drawn["acceptance"] = []any{map[string]any{"tool": "look", "args": map[string]any{"where": "end"}, "expect": "result.n == 1"}}
	}
	text, err := json.Marshal(drawn)
	if err != nil {
		panic(err) // it holds JSON values alone
	}
	return string(text)
}

// decorate adds what any step may have, and a list of at most so many items.
func decorate(random *rand.Rand, step map[string]any, chain bool, most int) {
	args, _ := step["args"].(map[string]any)
	items := step["tool"] == "look" && random.IntN(3) == 0
	checks := []any{map[string]any{"expect": "result.n == 1"}, map[string]any{"tool": "look", "args": map[string]any{"where": "c"}, "expect": "result.n == 1"}}
	if items {
		step["for_each"] = []any{"a", "b", "c"}[:random.IntN(most+1)]
		args["where"] = "${item}"
		checks = checks[:1]
	}
	if chain && !items && random.IntN(6) == 0 {
		step["gate"] = true
	}
	if random.IntN(5) == 0 {
		step["when"] = pick(random, "on", "not on")
	}
	if random.IntN(4) == 0 {
		step["check"] = []any{pick(random, checks...)}
	}
	if step["tool"] == "look" && !items && random.IntN(6) == 0 {
		step["until"] = map[string]any{"expect": "result.n == 1", "every": "1s", "for": "60s"}
	}
	if failure := pick(random, "", "abort", "skip", "replan"); failure != "" {
		step["on_failure"] = failure
	}
}

// Lines returns the events of a run and its inner runs as text without what differs from
// one run to the next. That is times, durations and ids.
func Lines(events []event.Event, run string) ([]string, error) {
	var out []string
	for _, e := range events {
		if e.Data.Kind().Passing() || strings.HasPrefix(e.Run, "s-") {
			continue
		}
		text, err := json.Marshal(e.Data)
		if err != nil {
			return nil, fmt.Errorf("write the event %d of %s: %w", e.Seq, e.Run, err)
		}
		var data any
		if err := json.Unmarshal(text, &data); err != nil {
			return nil, fmt.Errorf("read the event %d of %s: %w", e.Seq, e.Run, err)
		}
		inner := ""
		if e.Run != run {
			inner = "inner "
		}
		out = append(out, inner+string(e.Data.Kind())+" "+plan.CanonicalJSON(timeless(data)))
	}
	return out, nil
}

// timeless removes times, durations and ids of runs and sessions from a JSON value.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch key {
			case "ms", "duration_ms", "session", "run", "call", "at", "workspace":
				delete(v, key)
				continue
			}
			v[key] = timeless(value)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return v
}
