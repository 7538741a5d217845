package agent_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/reply"
)

// TestQueuesMatchFullScan compares the actions that Next derives from its
// incremental queues with those of a slow function that scans every step each
// time.
func TestQueuesMatchFullScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors-1)
		start.Limits = event.Limits{MaxConcurrency: start.Limits.MaxConcurrency, MaxReplans: 2} // other budgets would only end the run early
		start.Review = false                                                                    // the scan does not support reviews
		start.Rules = slices.Clone(start.Rules)
		start.Rules[0].Untrusted = true // text may go to tools that only read
		start.Plan, start.SkipSynthesis = randomGiven(t, executors-1), true
		scan := &scan{start: start}
		w.check = func(e event.Event) { scan.compare(t, w, e) }
		w.apply(start)
		w.playOrStop(t)

		w.check = func(event.Event) {}
		w.kill(rapid.IntRange(2, len(w.events)).Draw(t, "kept"))
		if r := w.run.Result; r != nil && r.Status == event.StatusCompleted {
			return
		}
		scan.again(t, w)
		w.check = func(e event.Event) { scan.compare(t, w, e) }
		again := resumed(start)
		again.Attended = rapid.Bool().Draw(t, "attended")
		w.resume(again)
	})
}

// scan derives from the events what a run does not show, and scans every step for
// what can be done.
type scan struct {
	start     event.RunStarted
	model     string
	stopped   bool                           // nothing new starts until a resume
	ended     bool                           // the run is over or about to end
	base      map[string]int                 // step → attempts before its retries started over
	tried     map[string]int                 // step → its newest attempt
	approved  map[string]bool                // step → its gate was allowed
	denied    map[string]bool                // step → its gate was denied
	granted   map[string]bool                // tools that were allowed for the run
	exact     map[string]bool                // arguments of granted calls that carried text from a result
	held      map[string]bool                // steps whose call was refused because it removes most of a file
	leftOut   map[string]bool                // failed steps that the user skipped
	replan    map[string]bool                // failed steps for which the user asked for a new plan
	filled    map[string]bool                // steps whose args the model wrote
	unfilled  map[string]bool                // steps whose args the model failed to write
	asking    map[string]bool                // steps whose args are requested from the model
	edited    map[string]bool                // steps whose args the user gave
	lost      map[string]bool                // steps with effects that were running when the program ended
	fired     map[string]bool                // timers
	gated     map[string]bool                // tools that a revision gated
	replanned map[string]bool                // steps that a replan added or revised
	shown     map[string]event.GateRequested // by gate
	statuses  map[string]agent.StepStatus    // after the previous event
	asked     map[string]bool                // failed steps with a question, after the previous event
}

// again starts over from the kept events.
func (l *scan) again(t *rapid.T, w *world) {
	*l = scan{start: l.start}
	run := agent.NewRun(w.planners)
	for _, e := range w.events {
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		l.follow(run, e.Data)
	}
}

// compare compares Next with the scan.
func (l *scan) compare(t *rapid.T, w *world, e event.Event) {
	l.follow(w.run, e.Data)
	got, warned := classify(w.run.Next())
	if want := l.todo(w.run); !warned && fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("Next returns\n%v\nthe scan of every step\n%v\nafter\n%s", got, want, eventLines(w.events))
	}
}

// classify groups the actions on steps by kind: starts in order, all others by
// name. It reports whether a warning precedes everything else.
func classify(next []agent.Action) (got map[string][]string, warned bool) {
	got = map[string][]string{}
	add := func(action, name string) { got[action] = append(got[action], name) }
	for _, a := range next {
		switch d := a.Record.(type) {
		case event.StepStarted:
			add("start", d.Index)
		case event.StepRetry:
			add("retry", d.Index)
		case event.StepSkipped:
			add("skip", d.Index)
		case event.StepFailed:
			add("fail", d.Index)
		case event.BudgetWarned:
			warned = true
		case event.ModelRequested:
			if d.Step != "" {
				add("start", d.Step)
			}
		case nil:
			switch e := a.Effect.(type) {
			case agent.OpenGate:
				add("gate", e.Gate.Step)
			case agent.Wake:
				add("timer", e.ID)
			}
		}
	}
	for _, action := range []string{"retry", "skip", "fail", "gate", "timer"} {
		slices.Sort(got[action])
	}
	return got, warned
}

// follow applies one event, after the run did.
func (l *scan) follow(r *agent.Run, d event.Data) {
	switch d := d.(type) {
	case event.RunStarted:
		model := d.Model
		*l = scan{start: l.start, model: model}
		for _, m := range []*map[string]bool{
			&l.approved, &l.denied, &l.granted, &l.exact, &l.held, &l.leftOut, &l.replan, &l.filled, &l.unfilled,
			&l.asking, &l.edited, &l.lost, &l.fired, &l.gated, &l.replanned,
		} {
			*m = map[string]bool{}
		}
		l.base, l.tried, l.shown = map[string]int{}, map[string]int{}, map[string]event.GateRequested{}
	case event.RunPaused, event.GuardBlocked:
		l.stopped = true
	case event.RunResumed:
		l.resume(r, d)
	case event.PlanCreated:
		l.gates(r)
	case event.PlanDiff:
		l.revise(r, d)
	case event.GateRequested:
		l.shown[d.Gate] = d
	case event.GateResolved:
		g, yes := l.shown[d.Gate], d.Decision == event.Allow
		l.approved[g.Step], l.denied[g.Step] = yes, !yes
		if yes && d.Scope == event.ScopeRun {
			l.granted[g.Tool] = true
			for _, p := range g.Provenance {
				l.exact[p.Arg] = l.exact[p.Arg] || !p.Written
			}
		}
	case event.ModelRequested:
		l.asking[d.Step] = true
	case event.ModelReplied:
		delete(l.asking, d.Step)
		args, err := reply.ParseArgs(d.Reply.Text)
		fits := d.Error == "" && err == nil && args["at"] == "x"
		l.filled[d.Step], l.unfilled[d.Step] = l.filled[d.Step] || fits, !fits
	case event.StepRetry:
		delete(l.unfilled, d.Index)
	case event.StepStarted:
		l.tried[d.Index] = d.Attempt
	case event.StepFailed:
		l.tried[d.Index] = d.Attempt
		l.held[d.Index] = l.held[d.Index] || d.Removes != "" && !strings.Contains(d.Index, ".")
	case event.TimerFired:
		l.fired[d.ID] = true
	case event.StepInDoubt:
		delete(l.lost, d.Index)
	case event.DoubtResolved:
		l.decide(r, d.Step, d.Decision == event.DoubtRerun, d.Decision == event.DoubtAbort)
	case event.FailureResolved:
		l.decide(r, d.Step, d.Decision == event.FailureRetry, d.Decision == event.FailureAbort)
		l.leftOut[d.Step] = d.Decision == event.FailureSkip
		l.replan[d.Step] = d.Decision == event.FailureReplan
		l.edited[d.Step] = l.edited[d.Step] || d.Args != nil
	}
	l.statuses, l.asked = map[string]agent.StepStatus{}, map[string]bool{}
	for _, s := range r.Steps {
		l.statuses[s.Step.Index] = s.Status
		l.ended = l.ended || l.ends(r, s)
	}
	l.ended = l.ended || l.stopped || r.Result != nil
	for _, q := range r.Questions() {
		l.asked[q.Step] = !q.Doubt
	}
}

func (l *scan) decide(r *agent.Run, step string, again, abort bool) {
	if again {
		l.reset(r.Step(step))
	}
	l.stopped = l.stopped || abort
}

// reset resets a step as if it had never been tried.
func (l *scan) reset(s *agent.StepState) {
	l.base[s.Step.Index] = s.Attempt
	for _, m := range []map[string]bool{l.approved, l.denied, l.held, l.unfilled, l.leftOut, l.replan} {
		delete(m, s.Step.Index)
	}
}

func (l *scan) resume(r *agent.Run, d event.RunResumed) {
	for _, s := range r.Steps {
		index := s.Step.Index
		delete(l.asking, index)
		switch l.statuses[index] {
		case agent.StepFailed:
			if l.ended || l.asked[index] && !d.Attended {
				l.reset(s)
			}
		case agent.StepSkipped, agent.StepWaiting:
			if l.ended {
				l.reset(s)
			}
		case agent.StepRunning:
			l.lost[index] = s.Step.Tool == "change"
		}
	}
	l.stopped, l.ended, l.model = false, false, d.Model
}

func (l *scan) revise(r *agent.Run, d event.PlanDiff) {
	for _, m := range []map[string]bool{l.approved, l.denied, l.held, l.filled, l.unfilled, l.leftOut, l.replan, l.edited} {
		clear(m)
	}
	maps.Copy(l.base, l.tried)
	for _, index := range slices.Concat(d.Added, d.Revised) {
		l.replanned[index] = true
	}
	l.gates(r)
}

func (l *scan) gates(r *agent.Run) {
	for _, s := range r.Steps {
		l.gated[s.Step.Tool] = l.gated[s.Step.Tool] || s.Step.Gate
	}
}

// ends reports whether a failed step ends the run, or would end it if it were
// unattended.
func (l *scan) ends(r *agent.Run, s *agent.StepState) bool {
	index := s.Step.Index
	switch {
	case s.Status != agent.StepFailed || l.retries(s) || l.leftOut[index] || l.replan[index] || len(r.Questions()) > 0:
		return false
	case s.Failure == event.FailureDenied || s.Failure == event.FailureInterrupted:
		return true
	}
	switch l.policy(r, s) {
	case plan.OnFailureSkip:
		return false
	case plan.OnFailureReplan:
		return l.model == ""
	default:
		return true
	}
}

func (l *scan) policy(r *agent.Run, s *agent.StepState) plan.OnFailure {
	fallback := l.start.OnFailure
	if fallback == "" {
		fallback = plan.OnFailureAbort
	}
	return r.Plan.FailureOf(s.Step, fallback)
}

func (l *scan) retries(s *agent.StepState) bool {
	switch s.Failure {
	case event.FailureTool, event.FailureTimeout, event.FailureModel:
	default:
		return false
	}
	reads := s.Step.Tool == "look" || s.Step.Tool == "fill"
	return s.Status == agent.StepFailed && reads && s.Step.Retries > 0 && s.Attempt-l.base[s.Step.Index] <= s.Step.Retries
}

// todo scans every step.
func (l *scan) todo(r *agent.Run) map[string][]string {
	out := map[string][]string{}
	if l.ended || r.Revision == 0 || r.Replanning != nil || len(r.Questions()) > 0 {
		return out
	}
	for _, s := range r.Steps {
		index := s.Step.Index
		retried := l.retries(s)
		failed := s.Status == agent.StepFailed && !retried && !l.leftOut[index]
		if failed && (l.replan[index] || s.Failure == event.FailureInterrupted || l.policy(r, s) == plan.OnFailureReplan) {
			return map[string][]string{} // a replan comes next
		}
		if s.Status == agent.StepInDoubt || l.lost[index] {
			return map[string][]string{} // its doubt is recorded or decided next
		}
	}
	var tools, models, timers []*agent.StepState
	for _, s := range r.Steps {
		action, name := l.need(r, s)
		switch action {
		case "":
		case "tool":
			tools = append(tools, s)
		case "model":
			models = append(models, s)
		case "timer":
			timers = append(timers, s)
		default:
			out[action] = append(out[action], name)
		}
	}
	// Only the earliest timer, since the others follow it.
	timers = l.first(r, timers, len(timers))
	slices.SortStableFunc(timers, func(a, b *agent.StepState) int { return a.RetryAt.Compare(b.RetryAt) })
	for _, s := range timers[:min(len(timers), 1)] {
		_, name := l.need(r, s)
		out["timer"] = []string{name}
	}
	if len(out["fail"]) > 0 { // failures are handled first
		maps.DeleteFunc(out, func(action string, _ []string) bool { return action == "gate" || action == "timer" })
	} else {
		toolSlots, modelSlots := l.free(r)
		for _, s := range slices.Concat(l.first(r, tools, toolSlots), l.first(r, models, modelSlots)) {
			out["start"] = append(out["start"], s.Step.Index)
		}
	}
	for _, action := range []string{"retry", "skip", "fail", "gate", "timer"} {
		slices.Sort(out[action])
	}
	return out
}

// free returns the number of free slots for tools and for models.
func (l *scan) free(r *agent.Run) (tools, models int) {
	tools, models = r.Limits.MaxConcurrency, 1
	for _, s := range r.Steps {
		switch {
		case l.asking[s.Step.Index] || s.Status == agent.StepRunning && s.Step.Executor != plan.ExecutorTool:
			models--
		case s.Status == agent.StepRunning:
			tools--
		}
	}
	return max(tools, 0), max(models, 0)
}

// first returns up to n steps, longest remaining path first and ties by number.
func (l *scan) first(r *agent.Run, steps []*agent.StepState, n int) []*agent.StepState {
	weights := r.Graph().Weights(func(s plan.Step) float64 {
		return agent.Weigh(s, r.Catalog, l.start.Priors) * agent.Rounds(r.Plan, s, r.Catalog, r.Limits)
	})
	longest := func(s *agent.StepState) float64 {
		position, _ := r.Graph().Position(s.Step.Index)
		return weights[position]
	}
	slices.SortStableFunc(steps, func(a, b *agent.StepState) int {
		return cmp.Or(cmp.Compare(longest(b), longest(a)), plan.CompareIndices(a.Step.Index, b.Step.Index))
	})
	return steps[:min(n, len(steps))]
}

// need returns the action that a step needs now and its name, or "" for none.
func (l *scan) need(r *agent.Run, s *agent.StepState) (action, name string) {
	index := s.Step.Index
	if l.retries(s) {
		return "retry", index
	}
	if s.Status != agent.StepPending || l.asking[index] {
		return "", ""
	}
	ready := true
	for _, d := range r.Graph().Dependencies(index) {
		switch on := r.Step(d); {
		case on.Status == agent.StepSkipped, on.Status == agent.StepFailed && !l.retries(on):
			return "skip", index
		case on.Status != agent.StepCompleted:
			ready = false
		}
	}
	timer := fmt.Sprintf("retry/%s/%d", index, s.Attempt+1)
	switch {
	case !ready:
		return "", ""
	case !s.RetryAt.IsZero() && !l.fired[timer]:
		return "timer", timer
	case s.Step.Executor == plan.ExecutorSelf && l.model == "":
		return "fail", index
	case s.Step.Executor == plan.ExecutorSelf:
		return "model", index
	case s.Step.Tool == "nowhere" || l.denied[index]:
		return "fail", index
	}
	if s.Step.Tool == "fill" && !l.filled[index] && !l.edited[index] {
		if l.unfilled[index] || l.model == "" {
			return "fail", index
		}
		return "model", index
	}
	uncovered := slices.ContainsFunc(r.Carried(index), func(p rule.Provenance) bool { return p.Written || !l.exact[p.Arg] })
	asks := s.Step.Tool == "change" && (!l.granted["change"] || uncovered) || s.Step.Gate || l.replanned[index] && l.gated[s.Step.Tool] || l.held[index]
	if asks && !l.approved[index] {
		return "gate", index
	}
	return "tool", index
}
