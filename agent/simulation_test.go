package agent_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/planning"
)

// randomPlan draws a plan whose steps depend on earlier ones only.
func randomPlan(t *rapid.T, first int) string {
	n := rapid.IntRange(0, 6).Draw(t, "steps")
	steps := []map[string]any{}
	for i := range n {
		index := fmt.Sprint(first + i)
		step := map[string]any{"index": index, "title": "Step " + index, "args": map[string]any{"at": index}}
		switch rapid.IntRange(0, 9).Draw(t, "executor") {
		case 0:
			step["executor"] = "self"
			delete(step, "args")
		case 1:
			step["tool"] = "nowhere"
		case 2, 3, 4:
			step["tool"] = "change"
		case 5:
			step["tool"] = "fill"
			delete(step, "args")
		default:
			step["tool"] = "look"
		}
		var deps []string
		for d := range i {
			if rapid.Bool().Draw(t, "dep") {
				deps = append(deps, fmt.Sprint(first+d))
			}
		}
		step["depends_on"] = deps
		step["retries"] = rapid.IntRange(0, 2).Draw(t, "retries")
		step["on_failure"] = rapid.SampledFrom([]string{"", "abort", "skip", "replan"}).Draw(t, "on_failure")
		if step["on_failure"] == "" {
			delete(step, "on_failure")
		}
		steps = append(steps, step)
	}
	text, err := json.Marshal(map[string]any{"title": "Random", "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSimulation plays random plans in a random world, and holds what must be
// true of every run whatever happens.
func TestSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		limits := agent.DefaultLimits()
		limits.MaxConcurrency = rapid.IntRange(1, 3).Draw(t, "slots")
		limits.MaxReplans = rapid.IntRange(1, 3).Draw(t, "replans")
		limits.MaxSteps, limits.GrowSteps = rapid.IntRange(1, 12).Draw(t, "max steps"), rapid.Bool().Draw(t, "grow")
		limits.MaxTokens = rapid.SampledFrom([]int{0, 0, 0, 300, 2000}).Draw(t, "tokens")
		next := 1
		w.reply = func(r planning.Request) (string, error) {
			if rapid.IntRange(0, 11).Draw(t, "silent") == 0 {
				return "", fmt.Errorf("the model fell silent")
			}
			switch r.Purpose {
			case planning.PurposePlan, planning.PurposeRepair, planning.PurposeReplan:
				plan := randomPlan(t, next)
				next += rapid.IntRange(0, 6).Draw(t, "renumber")
				return plan, nil
			case planning.PurposeStep:
				return rapid.SampledFrom([]string{`{"at":"x"}`, "words"}).Draw(t, "words"), nil
			default:
				return "words", nil
			}
		}
		w.tool = func(c agent.CallTool) agent.Data {
			kind := agent.FailureTool
			switch rapid.IntRange(0, 9).Draw(t, "outcome") {
			case 0:
				kind = agent.FailureTimeout
			case 1, 2:
			case 3:
				if !c.Tool.ReadOnly {
					return agent.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: "lost"}
				}
			default:
				return agent.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"n": json.Number("1.50")}, MS: 1}
			}
			return agent.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "broke", Failure: kind}
		}
		w.gate = func(agent.GateRequested) agent.Decision {
			if rapid.IntRange(0, 7).Draw(t, "deny") == 0 {
				return agent.Deny
			}
			return agent.Allow
		}
		w.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
		w.watch = func(_ []agent.Data, pending []agent.Effect) { checkSlots(t, limits, pending) }

		result := w.play(started(limits))

		checkOrder(t, w.events)
		if limits.MaxSteps > 0 && !limits.GrowSteps && result.Usage.Steps > limits.MaxSteps {
			t.Fatalf("%d steps were executed, %d may be", result.Usage.Steps, limits.MaxSteps)
		}
		if result.Usage.Replans > limits.MaxReplans {
			t.Fatalf("%d replans, %d may be", result.Usage.Replans, limits.MaxReplans)
		}
		if next := w.run.Next(); next != nil {
			t.Fatalf("a run that is over wants %v", next)
		}
		checkFold(t, w)
	})
}

// checkSlots holds that no more is under way than there are slots.
func checkSlots(t *rapid.T, limits agent.Limits, pending []agent.Effect) {
	tools, models := 0, 0
	for _, e := range pending {
		switch e.(type) {
		case agent.CallTool:
			tools++
		case agent.CallModel:
			models++
		}
	}
	if tools > limits.MaxConcurrency || models > 1 {
		t.Fatalf("%d tool calls in %d slots and %d model calls in 1", tools, limits.MaxConcurrency, models)
	}
}

// checkOrder holds that a step starts once only what it depends on is done, is
// not started again after it was completed, and is let through its gate first.
func checkOrder(t *rapid.T, events []agent.Event) {
	var plan *planning.Graph
	done, allowed, open := map[string]bool{}, map[string]bool{}, map[string]agent.GateRequested{}
	running := map[string]int{} // step → attempt that counts
	drafted, early := map[string]planning.Step{}, map[string]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case agent.PlanDrafting:
			drafted[d.Step.Index] = d.Step
		case agent.PlanCreated:
			plan = planning.NewGraph(d.Plan)
			before := running
			running = map[string]int{}
			for _, s := range d.Plan.Steps {
				draft := drafted[s.Index]
				adopted := draft.Tool == s.Tool && planning.EqualValues(draft.Args, s.Args) && len(plan.Dependencies(s.Index)) == 0
				done[s.Index] = early[s.Index] && adopted
				if adopted {
					running[s.Index] = before[s.Index]
				}
			}
		case agent.PlanDiff:
			plan = planning.NewGraph(d.Plan)
			for index, yes := range done {
				if _, stays := d.Plan.Step(index); yes && !stays {
					t.Fatalf("revision %d lost the finished step %s:\n%s", d.Revision, index, tell(events))
				}
			}
		case agent.GateRequested:
			open[d.Gate] = d
		case agent.GateResolved:
			if d.Decision == agent.Allow {
				allowed[open[d.Gate].Step] = true
			}
		case agent.StepStarted:
			running[d.Index] = d.Attempt
			if done[d.Index] {
				t.Fatalf("step %s was started after it was completed", d.Index)
			}
			if d.Tool == "change" && !allowed[d.Index] {
				t.Fatalf("step %s changes things and passed no gate", d.Index)
			}
			if plan == nil {
				if d.Tool != "look" {
					t.Fatalf("step %s (%s) was started before there was a plan", d.Index, d.Tool)
				}
				continue
			}
			for _, dep := range plan.Dependencies(d.Index) {
				if !done[dep] {
					t.Fatalf("step %s was started before step %s was done", d.Index, dep)
				}
			}
		case agent.StepCompleted:
			if plan == nil {
				early[d.Index] = true
				continue
			}
			if running[d.Index] == d.Attempt {
				done[d.Index] = true
			}
		}
	}
}

// checkFold holds that the events alone make the run, also once they have been
// written and read.
func checkFold(t *rapid.T, w *world) {
	var again agent.Run
	for _, e := range w.events {
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var read agent.Event
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Data.Kind().Passing() {
			continue
		}
		if err := again.Apply(read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Next(), again.Next()) {
			t.Fatal("Next says something else the second time")
		}
	}
	first, err := json.Marshal(w.run.Result)
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again.Result)
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Fatalf("folded again the run came to\n%s\nwhere it was\n%s", second, first)
	}
}

// tell writes events as lines, each cut short.
func tell(events []agent.Event) string {
	text := ""
	for _, e := range events {
		line, _ := e.MarshalJSON()
		text += fmt.Sprintf("%.600s\n", line)
	}
	return text
}
