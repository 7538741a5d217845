// Package agent is the deterministic core of a run. Everything that happens is
// an [event.Event]; [Run.Apply] folds one event into the run and [Run.Next] says what
// may be done now. The core does no I/O and reads no clock: time is what the
// events say it is, so folding the same events gives the same run, whether they
// come from a live engine, a journal or a test.
//
// # As a library
//
// A Go program that has a plan and functions to carry it out needs four
// packages: planning/plan reads the plan, [replan/agent/runner] runs it, agent/event
// says what happened.
//
//	p, faults, _ := plan.CheckPlan(file, plan.Rules{})
//	result, err := runner.Run(ctx, runner.Job{
//		Plan:   &p,
//		Call:   func(ctx context.Context, call plan.ToolCall) (any, error) { … },
//		Events: func(e event.Event) { … },
//	})
//
// The functions run as soon as what their step depends on is done, several at
// once, in goroutines of the runner; events come one after the other. A plan
// with gates wants a function that answers them, a run that is to survive its
// program a journal (replan/agent/store/journal), and a goal without a plan somebody to
// plan it: a model, or planning.Planners of one's own.
//
// # The core by itself
//
// A [Run] is a value that its events determine. Whoever needs another runner,
// such as a simulation that plays a thousand plans in no time at all, asks Next
// and answers with Apply:
//
//   - The first event is [event.RunStarted]. It carries all that decides what the run
//     may do: limits, gate rules, tools, and the plan or the goal.
//   - Next returns actions. The record of one is to be applied (and, where there
//     is a journal, to be on disk) before its effect is carried out.
//   - What comes of an effect is the next event: [event.StepCompleted], [event.StepFailed] or
//     [event.StepInDoubt] for [CallTool]; what [CallModel.Replied] and
//     [CallModel.Failed] return for CallModel; [event.GateRequested], and later
//     [event.GateResolved], for [OpenGate]; [event.TimerFired] for [Wake].
//   - [event.RunCompleted] is the last, with the [event.Result]. A run that has not completed
//     can go on even so, by [event.RunResumed].
//
// Inside, four layers each embed the one below, so that what only reads cannot
// change anything: ledger books what happened, scheduler finds out what steps
// need next, dialogue carries the conversations with models, and fold has a
// method for each kind of event. Next is a decision, which sees the run alone.
// Start reading at [Run.Apply] in apply.go and [Run.Next] in next.go.
//
// Next gives no more than there are free slots for and nothing twice, so that
// asking it after each batch of events is all the scheduling there is.
package agent
