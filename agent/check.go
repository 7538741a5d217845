package agent

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/expression"
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
	done := untested(evaluated(c.Check, c.Values), nothingRan(c.Tool, result))
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

// untested returns a check about tests of which none ran, and why: that none of them fails
// shows nothing. why is "" if tests ran.
func untested(c event.CheckCompleted, why untrusted.Text) event.CheckCompleted {
	if why != "" && c.State == plan.StateVerified {
		c.State, c.Reason = plan.StateUnchecked, why
	}
	return c
}

// runsTests reports whether a tool is the workspace's own that runs tests.
func runsTests(t plan.Tool) bool { return t.Trusted && t.Name == "test.run" }

// checkSubject is a step whose work is done, or, without one, the plan's acceptance.
type checkSubject struct {
	step   stepView // nil for the acceptance
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

func subjectOf(s stepView) checkSubject {
	return checkSubject{step: s, checks: ChecksOf(s.planned()), done: s.checked(), number: s.attempt(), round: s.checksState().round()}
}

// over reports whether all checks are evaluated.
func (c checkSubject) over() bool { return len(c.done) >= len(c.checks) }

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
