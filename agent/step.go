package agent

import (
	"fmt"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// StepState is the state of one plan step.
type StepState struct {
	Step      plan.Step
	Status    StepStatus
	Attempt   int             // of the running or last attempt; 0 before the first
	Args      map[string]any  // as resolved for that attempt
	Coerced   []plan.Coercion // of the scalars in Args
	ReadyAt   time.Time       // when only a gate or a slot still delayed the next attempt; zero if something else does
	StartedAt time.Time
	MS        int64
	Result    any
	Beside    plan.Beside            // the result, or the error
	Checked   []event.CheckCompleted // checks of the last attempt that are evaluated, in order
	Output    string                 // streamed so far, capped
	Progress  event.StepProgress
	Error     untrusted.Text
	Failure   event.FailureKind
	Gate      string    // id of the open gate it waits at
	Diff      string    // the diff shown at its gate, kept after the decision
	RetryAt   time.Time // of the next attempt
	Change    Change    // by the newest revision
	Draft     bool      // not yet part of a plan
	Tokens    int
	Parent    string       // of an inner call: the agent step that makes it, or prompt.ChatParent
	Loop      *Loop        // of an agent step that has started
	Items     []*StepState // of a step with for_each that has begun: "3.1", "3.2" of step 3
	Run       string       // started by a plan tool

	Polls    int  // calls so far after which what it waits for did not hold
	NotTaken bool // skipped by its condition, or because it needs the result of such a step

	DryRun  bool       // nothing was called
	DryGate *rule.Rule // of a dry run: the rule that would ask

	attempts attemptCount
	skip     skipState
	place    placeInPlan

	parts stepParts

	waitingFrom time.Duration // active time of the run at its first call, if it waits for something

	awaitsUser bool        // a question about it is open
	canBegin   bool        // of a draft: everything it needs is available
	partial    []string    // steps whose results its model saw only in part
	runUsage   event.Usage // of the run it started, as already included in the usage of this run
}

// StepStatus is the status of a step.
type StepStatus string

// Statuses of a step.
const (
	StepPending   StepStatus = "pending"
	StepWaiting   StepStatus = "waiting" // at an open gate
	StepRunning   StepStatus = "running"
	StepChecking  StepStatus = "checking" // its work is done, and its checks are not
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
	StepInDoubt   StepStatus = "in_doubt"
)

// Ended reports whether the step needs nothing more in this revision.
func (s StepStatus) Ended() bool {
	switch s {
	case StepCompleted, StepFailed, StepSkipped, StepInDoubt:
		return true
	default:
		return false
	}
}

// attemptCount counts the attempts of a step.
type attemptCount struct {
	total  int // under its index so far, across all revisions
	before int // of those, before this revision or a resume
	newest int // index of the newest in Run.Attempts, from 1; 0 before the first
}

// attemptsTotal returns the number of attempts under the index of the step.
func (s *StepState) attemptsTotal() int { return s.attempts.total }

// nextAttempt returns the number of the next attempt.
func (s *StepState) nextAttempt() int { return s.attempts.total + 1 }

// tries returns how often the step was tried since it may be retried.
func (s *StepState) tries() int { return s.Attempt - s.attempts.before }

// retryTimer returns the timer id for the next attempt of a step.
func (s *StepState) retryTimer() string {
	return fmt.Sprintf("retry/%s/%d", s.Step.Index, s.attempts.total+1)
}

// newestAttempt returns the place of its newest attempt in [Run.Attempts]; ok is false before
// the first.
func (s *StepState) newestAttempt() (at int, ok bool) {
	return s.attempts.newest - 1, s.attempts.newest > 0
}

// attempted sets the place of its newest attempt in [Run.Attempts].
func (s *StepState) attempted(at int) { s.attempts.newest = at + 1 }

// ready notes since when only a gate or a slot delays the next attempt.
func (s *StepState) ready(now time.Time) {
	if s.ReadyAt.IsZero() {
		s.ReadyAt = now
	}
}

// postpone sets that time to now for a step that was held until now.
func (s *StepState) postpone(now time.Time) {
	if !s.ReadyAt.IsZero() {
		s.ReadyAt = now
	}
}

// attemptEnds forgets that time: the next attempt sets its own.
func (s *StepState) attemptEnds() { s.ReadyAt = time.Time{} }

// start starts an attempt. elapsed is the active time of the run.
func (s *StepState) start(d event.StepStarted, now time.Time, elapsed time.Duration) {
	s.Status, s.Attempt, s.Args, s.Coerced, s.StartedAt = StepRunning, d.Attempt, d.Args, d.Coerced, now
	s.Output, s.Error, s.Failure, s.Progress, s.Beside = "", "", "", event.StepProgress{}, plan.Beside{}
	s.Checked = nil
	s.checks().attempted()
	s.interruption().started()
	if s.Polls == 0 {
		s.waitingFrom = elapsed
	}
	s.attempts.total = d.Attempt
	s.gate().forCall()
}

// expand starts an attempt for the items of a list.
func (s *StepState) expand(attempt int, now time.Time) {
	s.Status, s.Attempt, s.attempts.total, s.StartedAt = StepRunning, attempt, attempt, now
	s.Error, s.Failure, s.Output = "", "", ""
}

// failBeforeStart counts an attempt that failed before it started.
func (s *StepState) failBeforeStart(attempt int) { s.Attempt, s.attempts.total = attempt, attempt }

// progress shows how far an attempt is.
func (s *StepState) progress(d event.StepProgress) { s.Progress = d }

// output shows what an attempt has written.
func (s *StepState) output(chunk string) {
	s.Output += chunk
	if over := len(s.Output) - outputKept; over > 0 {
		s.Output = strings.ToValidUTF8(s.Output[over:], "")
	}
}

// outputKept bounds the displayed output of a running step, in bytes; the newest
// output is kept.
const outputKept = 64 << 10

// complete ends an attempt with its result.
func (s *StepState) complete(d event.StepCompleted) {
	s.Status, s.Result, s.Beside, s.MS, s.Tokens = StepCompleted, d.Result, d.Beside, d.MS, d.Tokens
	s.Error, s.Failure = "", ""
	s.gate().settled()
	if d.DryRun { // for items that are known
		text, _ := d.Result.(string)
		s.DryRun, s.Result = true, plan.Placeholder(text)
	}
}

// completeDry completes a step of a dry run without a call.
func (s *StepState) completeDry(d event.StepCompleted) {
	s.Status, s.Attempt, s.attempts.total, s.Args, s.Coerced, s.DryRun, s.DryGate = StepCompleted, d.Attempt, d.Attempt, d.Args, d.Coerced, true, d.Gate
	s.Result = d.Result
	if text, ok := d.Result.(string); ok {
		s.Result = plan.Placeholder(text)
	}
}

// completeAsTold completes a step of which the user says that its work is done.
func (s *StepState) completeAsTold() { s.Status, s.Result, s.Error = StepCompleted, nil, "" }

// completeChecked completes a step whose checks hold.
func (s *StepState) completeChecked() { s.Status = StepCompleted }

// fail ends an attempt that failed.
func (s *StepState) fail(d event.StepFailed) {
	s.Status, s.Error, s.Failure, s.MS = StepFailed, d.Error, d.Failure, d.MS
	s.Beside.Attachments = d.Attachments
	s.gate().unneeded()
}

// refute fails a step whose work is done, but not what was expected of it.
func (s *StepState) refute(d event.StepFailed) {
	s.Status, s.Error, s.Failure = StepFailed, d.Error, d.Failure
}

// failAgain lets a step count as failed that waited for another attempt.
func (s *StepState) failAgain() { s.Status = StepFailed }

// forgetFailure forgets how the step failed: the user asks for another call.
func (s *StepState) forgetFailure() { s.Failure = "" }

// doubt ends an attempt that may or may not have taken effect.
func (s *StepState) doubt(d event.StepInDoubt) {
	s.Status, s.Error, s.MS = StepInDoubt, d.Reason, d.MS
	s.interruption().asked()
}

// doubtAgain puts a step in doubt again whose answer, of an earlier resume, may no longer hold.
func (s *StepState) doubtAgain() { s.Status = StepInDoubt }

// retry makes a failed step wait for its next attempt. It reports whether the step waits for
// something that does not hold yet.
func (s *StepState) retry(d event.StepRetry) (polls bool) {
	if polls = s.Status == StepChecking; polls {
		s.Polls++
		s.Error, s.attempts.before = d.Error, s.attempts.total
	} else {
		s.Polls = 0
	}
	s.Status, s.RetryAt = StepPending, d.At
	s.request().retry()
	return polls
}

// setPending lets a step wait for its next attempt: nothing was done, or what it did may be
// repeated.
func (s *StepState) setPending() { s.Status = StepPending }

// setRunning lets a step run that was interrupted, since it continues from where it was.
func (s *StepState) setRunning() { s.Status = StepRunning }

// skipped skips a step. It reports whether its condition did.
func (s *StepState) skipped(d event.StepSkipped) (notTaken bool) {
	s.Status, s.Error = StepSkipped, d.Reason
	if s.NotTaken = d.Reason == event.NotTaken; s.NotTaken {
		s.Error = notTakenWords(d)
	}
	return s.NotTaken
}

// skipByUser notes that the user chose to skip it, which survives a resume.
// It reports whether the step was still to be executed.
func (s *StepState) skipByUser() bool {
	s.skip.byUser = true
	if s.Status != StepPending {
		return false
	}
	s.Status, s.Error = StepSkipped, "skipped by the user"
	return true
}

// staysSkipped reports whether the user chose to skip it, and skips it again.
func (s *StepState) staysSkipped() bool {
	if s.skip.byUser {
		s.Status = StepSkipped
	}
	return s.skip.byUser
}

// again makes a step wait for a new attempt, and resets everything that permits
// one.
func (s *StepState) again() {
	s.Status, s.Gate, s.RetryAt, s.NotTaken, s.Polls = StepPending, "", time.Time{}, false, 0
	s.Diff = "" // it may belong to another call
	s.gate().reset()
	s.request().retry()
	s.countAfresh()
}

// countAfresh lets the retries of a step begin anew. It will no longer be skipped.
func (s *StepState) countAfresh() {
	s.attempts.before = s.attempts.total
	s.unskip()
}

// unskip forgets why the step was skipped.
func (s *StepState) unskip() { s.skip.reason = "" }

// skipState records that a step will be skipped.
type skipState struct {
	reason string // "" if it will not be
	byUser bool   // the user chose to skip it, which survives a resume
}

// skipFor lets a step be skipped, unless it will be already. It reports whether it will be
// skipped for this reason.
func (s *StepState) skipFor(reason string) bool {
	if s.Status != StepPending || s.skip.reason != "" {
		return false
	}
	s.skip.reason = reason
	return true
}

// skipReason returns why a step will be skipped, "" if it will not be.
func (s *StepState) skipReason() string { return s.skip.reason }

// userSkips reports whether the user chose to skip it.
func (s *StepState) userSkips() bool { return s.skip.byUser }

// beginChecks has the checks of a step evaluated, from the first. at is the number of the
// event.
func (s *StepState) beginChecks(at uint64) {
	s.Status, s.Checked, s.Error, s.Failure = StepChecking, nil, "", ""
	s.checks().begin(at)
}

// check records a check.
func (s *StepState) check(d event.CheckCompleted, at uint64) {
	s.Checked = append(s.Checked, d)
	s.checks().evaluated(at)
}

// waited returns how long a step has waited for something; elapsed is the active time of
// the run.
func (s *StepState) waited(elapsed time.Duration) time.Duration { return elapsed - s.waitingFrom }

// mayRerun reports whether it has not started since the answer that it runs again.
func (s *StepState) mayRerun() bool { return s.Status == StepPending && s.interruption().reruns() }

// askUser notes that a question about the step is open, or not.
func (s *StepState) askUser(open bool) { s.awaitsUser = open }

// awaitsAnswer reports whether a question about the step is open.
func (s *StepState) awaitsAnswer() bool { return s.awaitsUser }

// notePartlySeen notes the steps whose results its model saw only in part.
func (s *StepState) notePartlySeen(steps []string) { s.partial = steps }

// partlySeen returns the steps whose results its model saw only in part.
func (s *StepState) partlySeen() []string { return s.partial }

// startLoop begins the loop of an agent step.
func (s *StepState) startLoop(l *Loop) { s.Loop = l }

// count notes the tokens of the loop so far.
func (s *StepState) count(tokens int) { s.Tokens = tokens }

// continueLoop continues the loop after the program ended: its time limit begins anew.
func (s *StepState) continueLoop(now time.Time) { s.Status, s.StartedAt = StepRunning, now }

// ofBudget returns how many steps of the budget an execution is: an item is none, since its
// step counts once for all.
func (s *StepState) ofBudget() int {
	if s.isItem() {
		return 0
	}
	return 1
}

// holdsToolText reports whether the result or the error of a call holds text of its tool. An offer of
// tools only describes them.
func (s *StepState) holdsToolText() bool {
	switch s.Status {
	case StepCompleted, StepChecking:
		return !s.inner().findsTools()
	case StepFailed:
		return !s.inner().findsTools() && (s.Failure == event.FailureTool || s.Failure == event.FailureTimeout || s.Failure == event.FailureCheck)
	default:
		return false
	}
}

// notTakenWords says why a step is not taken.
func notTakenWords(d event.StepSkipped) untrusted.Text {
	if saw := plan.SawWords(d.Saw); saw != "" {
		return untrusted.Text("not taken: " + saw)
	}
	return "not taken: it needs the result of a step that is not taken"
}
