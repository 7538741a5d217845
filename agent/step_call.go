package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// args returns the arguments of a step as written: those of the user if there are
// any, else those of the plan.
func (s *StepState) args() map[string]any {
	if written := s.author().args(); written != nil {
		return written
	}
	return s.Step.Args
}

// write replaces the args of the plan with those of the user, who retries the step.
func (s *StepState) write(args map[string]any) {
	s.author().write(args)
	s.request().replace(nil)
}

// settled reports whether a review can no longer change a step. The step has
// ended or is running, or the user already wrote its call.
func (s *StepState) settled() bool {
	switch s.Status {
	case StepPending, StepWaiting, StepFailed:
		return s.author().byUser()
	default:
		return true
	}
}

// argName returns the name under which the tool takes an argument of a step.
func (s *StepState) argName(written string) string {
	for _, c := range slices.Concat(s.call().coerced(), s.Coerced) {
		if c.Name != "" && c.Arg == plan.JSONPointer("", written) {
			return c.Name
		}
	}
	return written
}

// refill makes a step whose args the tool refused wait until the model has written them once
// more. It reports false if that is not possible, see [argsRequest.refill].
func (s *StepState) refill() bool {
	if !s.request().refill(string(s.Error)) {
		return false
	}
	s.Status = StepPending
	s.call().forget()
	return true
}

// newCall returns the state of a call that a loop makes. number counts the calls of the loop.
func newCall(call *innerCall, step plan.Step, parent string, number int, attempts attemptCount) *StepState {
	c := newStep(step, attempts)
	c.Parent, c.parts.inner = parent, call
	if of := call.conversation().stepOf(); of != nil {
		c.author().replannedLike(of.author())
		c.place = of.place
	}
	c.place.rank = number
	return c
}

// number returns the number of a call among those of its loop.
func (s *StepState) number() int { return s.place.rank }

// byModel reports whether a model made the call, and none has planned it.
func (s *StepState) byModel() bool { return s.inner() != nil }

// foundTools returns the names of the tools that a completed call has found.
func (s *StepState) foundTools() []string {
	if s.Status != StepCompleted || !s.inner().findsTools() {
		return nil
	}
	return prompt.FoundNames(s.Result)
}

// answerToModel returns the message that tells a model the outcome of its call.
func (s *StepState) answerToModel() prompt.Message {
	failure := string(s.Error)
	switch {
	case s.Status == StepCompleted:
		failure = ""
	case s.Failure == event.FailureDenied && failure == deniedBy(rule.OnlyReads()):
	case s.Failure == event.FailureDenied:
		failure = "the user does not allow this call; find another way, or say what would be needed"
		if reason, _ := s.Declined(); reason != "" {
			failure += ". The user says: " + string(reason)
		}
	case s.Failure == event.FailureInterrupted:
		failure = "the user canceled this call"
	}
	return prompt.Answered(s.inner().requested(), s.Result, string(s.Beside.Text), failure, "the result of step "+s.Step.Index)
}

// Declined reports whether the user said no to the call of a step at its gate, or to all calls
// of its items, and why: "" if they gave no reason.
func (s *StepState) Declined() (why untrusted.Text, declined bool) {
	switch {
	case s.Status != StepFailed || s.Failure != event.FailureDenied:
		return "", false
	case s.Items == nil:
		return s.gate().declineReason()
	}
	for _, item := range s.Items {
		if item.NotTaken {
			continue
		}
		reason, no := item.gate().declineReason()
		if !no {
			return "", false
		}
		why, declined = cmp.Or(why, reason), true
	}
	return why, declined
}

// isDeclined reports whether the user said no to the call, or to all calls of the items.
func (s *StepState) isDeclined() bool {
	_, declined := s.Declined()
	return declined
}

// hasReason reports whether the user said why they declined the call.
func (s *StepState) hasReason() bool {
	why, _ := s.Declined()
	return why != ""
}

// deniedWords says that the call of a step was declined, and why, or that it was denied.
func (s *StepState) deniedWords() string {
	words := fmt.Sprintf("step %s (%s) was ", s.Step.Index, s.Step.Title)
	switch why, declined := s.Declined(); {
	case !declined:
		return words + "denied"
	case why == "":
		return words + "declined"
	default:
		return words + "declined: " + headline(string(why))
	}
}

// orphaned reports whether nothing waits for a call any more. The loop that
// requested it has ended with its step, which may have a newer attempt.
func (s *StepState) orphaned() bool {
	l := s.inner().conversation()
	if l == nil || l.stepOf() == nil {
		return false
	}
	of := l.stepOf()
	return of.Status != StepRunning || of.Loop != l
}

// copyTo returns a copy of the call as one of another step. was is the index of the step that
// it belonged to.
func (s *StepState) copyTo(parent, oldIndex string) *StepState {
	call := *s
	call.Step.Index, call.Parent = parent+strings.TrimPrefix(s.Step.Index, oldIndex), parent
	call.parts.inner = s.inner().copied()
	return &call
}

// spawned notes the run that its call of a plan tool started.
func (s *StepState) spawned(run string) { s.Run, s.runUsage = run, event.Usage{} }

// usedByRun returns what that run has used so far.
func (s *StepState) usedByRun() event.Usage { return s.runUsage }

// account returns what the run that a plan tool started has used since the last time, since
// both share one budget. For a resumed run, part of the usage was added before.
func (s *StepState) account(run string, used *event.Usage) (more event.Usage) {
	if run != "" && run != s.Run {
		s.spawned(run)
	}
	if used != nil {
		more, s.runUsage = used.Since(s.runUsage), *used
	}
	return more
}
