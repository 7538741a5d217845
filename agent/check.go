package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/intent"
	"replan/planning/plan"
)

// CallCheck calls the read-only tool of a check. Next returns it until the
// check.completed event comes; the runner executes it once per round of checks.
type CallCheck struct {
	Check   event.CheckCompleted // without its outcome
	Values  map[string]any       // of the names in its expression, but for the result of the call
	Tool    plan.Tool
	Paths   map[string]string // see CallTool
	Round   int
	Timeout time.Duration
	Limit   string // whose limit Timeout is, in a few words
}

// Once returns the key of the check.
func (c CallCheck) Once() string {
	return fmt.Sprintf("check/%s/%d/%d/%d", c.Check.Index, c.Check.Attempt, c.Round, c.Check.Check)
}

// Returned returns the event for a call that took ms.
func (c CallCheck) Returned(result any, ms int64) event.CheckCompleted {
	c.Values["result"] = result
	done := evaluated(c.Check, c.Values)
	if runsTests(c.Tool) && intent.Untested(result) {
		done = untested(done)
	}
	done.MS = ms
	return done
}

// ToolFailed returns the event for a call that its tool answered with an error. The
// tool looked, so the check does not hold.
func (c CallCheck) ToolFailed(reason string, ms int64) event.CheckCompleted {
	done := c.Check
	done.State, done.Reason, done.MS = plan.StateRefuted, untrusted.Text(reason), ms
	return done
}

// Unanswered returns the event for a call that brought no answer, which says nothing
// about the world.
func (c CallCheck) Unanswered(reason string, ms int64) event.CheckCompleted {
	done := c.Check
	done.State, done.Reason, done.MS = plan.StateUnchecked, untrusted.Text(reason), ms
	return done
}

// evaluated returns a check with the outcome of its expression. An expression without
// an answer, such as one about a field that is not there, does not hold.
func evaluated(c event.CheckCompleted, values map[string]any) event.CheckCompleted {
	c.State, c.Saw = plan.StateRefuted, []expression.Sight{}
	compiled, err := expression.Compile(c.Expect, nil)
	if err != nil {
		c.Reason = untrusted.Text(err.Error())
		return c
	}
	holds, saw, err := compiled.Holds(values)
	c.Saw = append(c.Saw, saw...)
	switch {
	case err != nil:
		c.Reason = untrusted.Text(err.Error())
	case holds:
		c.State = plan.StateVerified
	}
	return c
}

// untested returns a check about tests where there were none: that none of them fails
// shows nothing.
func untested(c event.CheckCompleted) event.CheckCompleted {
	if c.State == plan.StateVerified {
		c.State, c.Reason = plan.StateUnchecked, plan.NoTests
	}
	return c
}

// runsTests reports whether a tool is the workspace's own that runs tests.
func runsTests(t plan.Tool) bool { return t.Trusted && t.Name == "test.run" }

// checkSubject is a step whose work is done, or, without one, the plan's acceptance.
type checkSubject struct {
	step   *StepState // nil for the acceptance
	checks []plan.Check
	done   []event.CheckCompleted
	number int // of the step's attempt, or of the revision
	round  int
}

// ChecksOf returns the checks of a step: what it waits for, and then its own.
func ChecksOf(s plan.Step) []plan.Check {
	if s.ForEach != nil {
		return nil // its items have them
	}
	if s.Until == nil {
		return s.Checks
	}
	return append([]plan.Check{{Expect: s.Until.Expect}}, s.Checks...)
}

// titleOf returns what events call a check: its title, or its expression.
func titleOf(c plan.Check) untrusted.Text { return cmp.Or(c.Title, untrusted.Text(c.Expect)) }

func subjectOf(s *StepState) checkSubject {
	return checkSubject{step: s, checks: ChecksOf(s.Step), done: s.Checked, number: s.Attempt, round: s.checkRound()}
}

// over reports whether all checks are evaluated.
func (c checkSubject) over() bool { return len(c.done) >= len(c.checks) }

// applyCheck records a check, and ends its step if it was the last one and all hold.
func (r *Run) applyCheck(d event.CheckCompleted) {
	if d.Index == "" {
		r.applyAccepted(d)
		return
	}
	s := r.Step(d.Index)
	if s == nil || s.Status != StepChecking || s.Attempt != d.Attempt || d.Check != len(s.Checked)+1 {
		return
	}
	r.countCheck(d)
	s.check(d, r.Seq)
	if !subjectOf(s).over() || refutation(s.Checked) != "" {
		r.scheduler().enqueue(s)
		return
	}
	s.completeChecked()
	r.recorder().amend(s, plan.ItemCompleted)
	r.scheduler().release(s)
	r.scheduler().enqueue(s)
}

// checkUnchecked has the checks evaluated again of completed steps and items with one that
// was not.
func (r *Run) checkUnchecked() {
	unchecked := func(s *StepState) bool {
		return s.Status == StepCompleted && slices.ContainsFunc(s.Checked, func(c event.CheckCompleted) bool { return c.State == plan.StateUnchecked })
	}
	for _, s := range r.Steps {
		if unchecked(s) {
			r.beginChecks(s)
		}
		if s.Status != StepCompleted || !slices.ContainsFunc(s.Items, unchecked) {
			continue
		}
		s.runOn() // until its items have ended again
		r.Ledger.remove(s.Step.Index, s.Attempt)
		for _, item := range s.Items {
			if unchecked(item) {
				r.beginChecks(item)
				item.reopenItem()
			}
		}
	}
}

// countCheck counts the call of a check.
func (r *Run) countCheck(d event.CheckCompleted) {
	if d.Tool != "" {
		r.facts(d.Tool).called()
		r.Meter.call(true)
	}
}

// beginChecks has the checks of a step evaluated, from the first.
func (r *Run) beginChecks(s *StepState) {
	s.beginChecks(r.Seq)
}

// applyRefuted fails a step whose work is done, but not what was expected of it.
func (r *Run) applyRefuted(s *StepState, d event.StepFailed) {
	s.refute(d)
	r.recorder().amend(s, plan.ItemFailed)
	r.deal(s)
	r.scheduler().enqueue(s)
}

// refersToFinished reports whether the results that the args of a step refer to are
// there already, so that a new plan cannot change what they mean.
func (r *Run) refersToFinished(step plan.Step, old map[string]*StepState) bool {
	finished := map[string]bool{}
	for _, s := range old {
		if name := s.Step.ResultVariable; name != "" {
			finished[name] = s.Status == StepCompleted
		}
	}
	return !slices.ContainsFunc(plan.References(step.Args), func(ref plan.Reference) bool {
		done, result := finished[ref.Name]
		return result && !done
	})
}

// applyAccepted records a check of the plan's acceptance. After the last one, a refuted
// one leads to a replan, or ends the run.
func (r *Run) applyAccepted(d event.CheckCompleted) {
	if d.Attempt != r.Revision || d.Check != len(r.Accepted)+1 {
		return
	}
	r.countCheck(d)
	r.Acceptance.accept(d)
	sentence := refutation(r.Accepted)
	if !r.Acceptance.acceptanceOf(&r.Board).over() || sentence == "" {
		return
	}
	follows := cmp.Or(r.Plan.OnFailure, r.fallback)
	if follows == plan.OnFailureReplan && !r.Limits.NoReplan && r.origins().canReplan() && !r.ends() {
		r.Planning.refute("the steps have ended, but " + sentence)
		return
	}
	r.end(event.StatusFailed, event.ReasonRefuted, "the steps have ended, but "+sentence)
}

// refutation says which checks do not hold, and what they saw; "" if none is refuted.
func refutation(checked []event.CheckCompleted) string {
	var refuted []string
	for _, c := range checked {
		if c.State != plan.StateRefuted {
			continue
		}
		words := fmt.Sprintf("the check %q does not hold", c.Title)
		if string(c.Title) != c.Expect {
			words += ": " + c.Expect
		}
		switch saw := plan.SawWords(c.Saw); {
		case c.Reason != "":
			words += " (" + string(c.Reason) + ")"
		case saw != "":
			words += ", since " + saw
		}
		refuted = append(refuted, words)
	}
	return strings.Join(refuted, "; ")
}
