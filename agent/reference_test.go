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

// TestTheQueuesAgreeWithALookAtEveryStep holds what Next says of the steps of a
// plan, which it knows from queues that are kept up to date, against a slow
// function that looks at every step each time.
func TestTheQueuesAgreeWithALookAtEveryStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors-1)
		start.Limits = event.Limits{MaxConcurrency: start.Limits.MaxConcurrency, MaxReplans: 2} // other budgets would only end it early
		start.Review = false                                                                    // the look does not know of it
		start.Rules = slices.Clone(start.Rules)
		start.Rules[0].Untrusted = true // text may be sent to what only reads
		start.Plan, start.SkipSynthesis = randomGiven(t, executors-1), true
		look := &look{start: start}
		w.check = func(e event.Event) { look.compare(t, w, e) }
		w.apply(start)
		w.playOrStop(t)

		w.check = func(event.Event) {}
		w.kill(rapid.IntRange(2, len(w.events)).Draw(t, "kept"))
		if r := w.run.Result; r != nil && r.Status == event.StatusCompleted {
			return
		}
		look.again(t, w)
		w.check = func(e event.Event) { look.compare(t, w, e) }
		again := resumed(start)
		again.Attended = rapid.Bool().Draw(t, "attended")
		w.resume(again)
	})
}

// look knows what the events say of the steps besides what a run shows, and
// looks at every step to say what can be done.
type look struct {
	start     event.RunStarted
	model     string
	stopped   bool                           // nothing new starts until a resume
	ended     bool                           // the run is over, or about to be
	base      map[string]int                 // step → attempts before its retries were counted anew
	approved  map[string]bool                // step → its gate was passed
	denied    map[string]bool                // step → its gate was not
	granted   map[string]bool                // tools that were allowed for the run
	exact     map[string]bool                // arguments of them that carried text from a result when they were
	held      map[string]bool                // steps whose call was refused, since most of a file would go
	leftOut   map[string]bool                // failed steps that the user said to go on without
	replan    map[string]bool                // failed steps that the user wants a new plan for
	filled    map[string]bool                // steps whose args the model wrote
	unfilled  map[string]bool                // steps whose args it did not
	asking    map[string]bool                // steps whose args it is asked for
	edited    map[string]bool                // steps whose args the user gave
	lost      map[string]bool                // steps with effects that were under way when the program ended
	fired     map[string]bool                // timers
	gated     map[string]bool                // tools that a revision put behind a gate
	replanned map[string]bool                // steps that a replan added or revised
	shown     map[string]event.GateRequested // by gate
	statuses  map[string]agent.StepStatus    // after the event before
	asked     map[string]bool                // failed steps with a question, after the event before
}

// again begins anew, with what was kept of the events.
func (l *look) again(t *rapid.T, w *world) {
	*l = look{start: l.start}
	run := agent.NewRun(w.planners)
	for _, e := range w.events {
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		l.follow(run, e.Data)
	}
}

// compare holds Next against what a look at every step says.
func (l *look) compare(t *rapid.T, w *world, e event.Event) {
	l.follow(w.run, e.Data)
	said, warned := heard(w.run.Next())
	if want := l.todo(w.run); !warned && fmt.Sprint(said) != fmt.Sprint(want) {
		t.Fatalf("Next says\n%v\nand a look at every step\n%v\nafter\n%s", said, want, tell(w.events))
	}
}

// heard sorts what Next says of steps by what is to be done: in order what
// starts, and else by name. It reports whether there is a warning to be told
// before anything else.
func heard(next []agent.Action) (said map[string][]string, warned bool) {
	said = map[string][]string{}
	say := func(what, who string) { said[what] = append(said[what], who) }
	for _, a := range next {
		switch d := a.Record.(type) {
		case event.StepStarted:
			say("start", d.Index)
		case event.StepRetry:
			say("retry", d.Index)
		case event.StepSkipped:
			say("skip", d.Index)
		case event.StepFailed:
			say("fail", d.Index)
		case event.BudgetWarned:
			warned = true
		case event.ModelRequested:
			if d.Step != "" {
				say("start", d.Step)
			}
		case nil:
			switch e := a.Effect.(type) {
			case agent.OpenGate:
				say("gate", e.Gate.Step)
			case agent.Wake:
				say("timer", e.ID)
			}
		}
	}
	for _, what := range []string{"retry", "skip", "fail", "gate", "timer"} {
		slices.Sort(said[what])
	}
	return said, warned
}

// follow takes one event in, after the run did.
func (l *look) follow(r *agent.Run, d event.Data) {
	switch d := d.(type) {
	case event.RunStarted:
		model := d.Model
		*l = look{start: l.start, model: model}
		for _, m := range []*map[string]bool{
			&l.approved, &l.denied, &l.granted, &l.exact, &l.held, &l.leftOut, &l.replan, &l.filled, &l.unfilled,
			&l.asking, &l.edited, &l.lost, &l.fired, &l.gated, &l.replanned,
		} {
			*m = map[string]bool{}
		}
		l.base, l.shown = map[string]int{}, map[string]event.GateRequested{}
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
	case event.StepFailed:
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

func (l *look) decide(r *agent.Run, step string, again, abort bool) {
	if again {
		l.anew(r.Step(step))
	}
	l.stopped = l.stopped || abort
}

// anew has a step be tried as if it never had been.
func (l *look) anew(s *agent.StepState) {
	l.base[s.Step.Index] = s.Attempt
	for _, m := range []map[string]bool{l.approved, l.denied, l.held, l.unfilled, l.leftOut, l.replan} {
		delete(m, s.Step.Index)
	}
}

func (l *look) resume(r *agent.Run, d event.RunResumed) {
	for _, s := range r.Steps {
		index := s.Step.Index
		delete(l.asking, index)
		switch l.statuses[index] {
		case agent.StepFailed:
			if l.ended || l.asked[index] && !d.Attended {
				l.anew(s)
			}
		case agent.StepSkipped, agent.StepWaiting:
			if l.ended {
				l.anew(s)
			}
		case agent.StepRunning:
			l.lost[index] = s.Step.Tool == "change"
		}
	}
	l.stopped, l.ended, l.model = false, false, d.Model
}

func (l *look) revise(r *agent.Run, d event.PlanDiff) {
	for _, m := range []map[string]bool{l.approved, l.denied, l.held, l.filled, l.unfilled, l.leftOut, l.replan, l.edited} {
		clear(m)
	}
	for _, e := range r.History {
		l.base[e.Index] = max(l.base[e.Index], e.Attempt)
	}
	for _, index := range slices.Concat(d.Added, d.Revised) {
		l.replanned[index] = true
	}
	l.gates(r)
}

func (l *look) gates(r *agent.Run) {
	for _, s := range r.Steps {
		l.gated[s.Step.Tool] = l.gated[s.Step.Tool] || s.Step.Gate
	}
}

// ends reports whether a failed step ends the run, or would if nobody were
// there to be asked.
func (l *look) ends(r *agent.Run, s *agent.StepState) bool {
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

func (l *look) policy(r *agent.Run, s *agent.StepState) plan.OnFailure {
	fallback := l.start.OnFailure
	if fallback == "" {
		fallback = plan.OnFailureAbort
	}
	return r.Plan.FailureOf(s.Step, fallback)
}

func (l *look) retries(s *agent.StepState) bool {
	switch s.Failure {
	case event.FailureTool, event.FailureTimeout, event.FailureModel:
	default:
		return false
	}
	reads := s.Step.Tool == "look" || s.Step.Tool == "fill"
	return s.Status == agent.StepFailed && reads && s.Step.Retries > 0 && s.Attempt-l.base[s.Step.Index] <= s.Step.Retries
}

// todo looks at every step.
func (l *look) todo(r *agent.Run) map[string][]string {
	out := map[string][]string{}
	if l.ended || r.Revision == 0 || r.Replanning != nil || len(r.Questions()) > 0 {
		return out
	}
	for _, s := range r.Steps {
		index := s.Step.Index
		retried := l.retries(s)
		failed := s.Status == agent.StepFailed && !retried && !l.leftOut[index]
		if failed && (l.replan[index] || s.Failure == event.FailureInterrupted || l.policy(r, s) == plan.OnFailureReplan) {
			return map[string][]string{} // the planner is asked next
		}
		if s.Status == agent.StepInDoubt || l.lost[index] {
			return map[string][]string{} // its doubt is told or decided next
		}
	}
	var tools, models, timers []*agent.StepState
	for _, s := range r.Steps {
		what, who := l.need(r, s)
		switch what {
		case "":
		case "tool":
			tools = append(tools, s)
		case "model":
			models = append(models, s)
		case "timer":
			timers = append(timers, s)
		default:
			out[what] = append(out[what], who)
		}
	}
	// The earliest alone, since the others will be asked for after it.
	timers = l.first(r, timers, len(timers))
	slices.SortStableFunc(timers, func(a, b *agent.StepState) int { return a.RetryAt.Compare(b.RetryAt) })
	for _, s := range timers[:min(len(timers), 1)] {
		_, who := l.need(r, s)
		out["timer"] = []string{who}
	}
	if len(out["fail"]) > 0 { // what it comes to is seen first
		maps.DeleteFunc(out, func(what string, _ []string) bool { return what == "gate" || what == "timer" })
	} else {
		toolSlots, modelSlots := l.free(r)
		for _, s := range slices.Concat(l.first(r, tools, toolSlots), l.first(r, models, modelSlots)) {
			out["start"] = append(out["start"], s.Step.Index)
		}
	}
	for _, what := range []string{"retry", "skip", "fail", "gate", "timer"} {
		slices.Sort(out[what])
	}
	return out
}

// free counts the slots that nothing is in.
func (l *look) free(r *agent.Run) (tools, models int) {
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

// first returns up to n steps, longest remaining path first and equal ones by
// number.
func (l *look) first(r *agent.Run, steps []*agent.StepState, n int) []*agent.StepState {
	longest := r.Graph().Longest(func(s plan.Step) float64 { return agent.Weigh(s, r.Catalogue, l.start.Priors) })
	slices.SortStableFunc(steps, func(a, b *agent.StepState) int {
		return cmp.Or(cmp.Compare(longest[b.Step.Index], longest[a.Step.Index]), plan.CompareIndices(a.Step.Index, b.Step.Index))
	})
	return steps[:min(n, len(steps))]
}

// need says what is to be done about a step now, and by what name; "" for
// nothing.
func (l *look) need(r *agent.Run, s *agent.StepState) (what, who string) {
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
