package agent

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// What follows reads the displayed fields of a step for the views, which name no field.

// planned returns the step as its plan has it; the others after it read one of its fields.
func (s *StepState) planned() plan.Step      { return s.Step }
func (s *StepState) index() string           { return s.Step.Index }
func (s *StepState) title() untrusted.Text   { return s.Step.Title }
func (s *StepState) executor() plan.Executor { return s.Step.Executor }
func (s *StepState) tool() string            { return s.Step.Tool }
func (s *StepState) dependsOn() []string     { return s.Step.DependsOn }
func (s *StepState) hasGate() bool           { return s.Step.Gate }
func (s *StepState) timeout() time.Duration  { return s.Step.Timeout }

func (s *StepState) status() StepStatus { return s.Status }
func (s *StepState) isDraft() bool      { return s.Draft }
func (s *StepState) isDry() bool        { return s.DryRun }
func (s *StepState) notTaken() bool     { return s.NotTaken }
func (s *StepState) attempt() int       { return s.Attempt }
func (s *StepState) polls() int         { return s.Polls }
func (s *StepState) begun() time.Time   { return s.StartedAt }
func (s *StepState) retryAt() time.Time { return s.RetryAt }
func (s *StepState) parent() string     { return s.Parent }
func (s *StepState) runOfCall() string  { return s.Run }
func (s *StepState) diff() string       { return s.Diff }

// startedWith returns the args of the running or last attempt. The others after it return what
// became of that attempt.
func (s *StepState) startedWith() map[string]any     { return s.Args }
func (s *StepState) result() any                     { return s.Result }
func (s *StepState) why() untrusted.Text             { return s.Error }
func (s *StepState) failure() event.FailureKind      { return s.Failure }
func (s *StepState) ms() int64                       { return s.MS }
func (s *StepState) checked() []event.CheckCompleted { return s.Checked }

// planStep returns the step of the plan: that of the list for an item.
func (s *StepState) planStep() stepView { return s.whole() }

// askedIn returns the loop in which a model made the call; nil for none.
func (s *StepState) askedIn() loopView { return viewOfLoop(s.inner().conversation()) }

// loop returns the loop of an agent step that has started; nil for none.
func (s *StepState) loop() loopView { return viewOfLoop(s.Loop) }

// checkCall returns the call of a check of the step, to ask which rule decides about it. read is
// what its author had read.
func (s *StepState) checkCall(step plan.Step, args map[string]any, read []rule.Provenance) stepView {
	call := newProbe(step, args, read)
	call.Step.Index, call.parts.item = s.Step.Index, s.parts.item
	call.author().replannedLike(s.author())
	return call
}
