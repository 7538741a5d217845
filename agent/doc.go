// Package agent is the deterministic core of a run. Everything that happens is an
// [event.Event]: [Run.Apply] applies one event to the run, and [Run.Next] returns
// what may be done next. The core does no I/O and reads no clock; time comes from
// the events. The same events therefore give the same run, whether they come from
// a live engine, a journal or a test.
//
// # As a library
//
// A Go program that has a plan and functions to execute it needs three more
// packages. planning/plan reads the plan, [replan/agent/runner] runs it, and
// agent/event reports progress.
//
//	p, faults, _ := plan.CheckPlan(file, plan.Rules{})
//	result, err := runner.Run(ctx, runner.Job{
//		Plan:   &p,
//		Call:   func(ctx context.Context, call plan.ToolCall) (any, error) { … },
//		Events: func(e event.Event) { … },
//	})
//
// Each function runs as soon as the dependencies of its step are done. Functions
// run concurrently, in goroutines of the runner; events arrive one at a time. A
// plan with gates needs a function that answers them. A run that must survive its
// program needs a journal (replan/agent/store/journal). A goal without a plan
// needs a planner: a model, or a custom planning.Planners.
//
// # The core by itself
//
// A [Run] is a value determined by its events. A custom runner, such as a
// simulation that plays a thousand plans instantly, calls Next and answers with
// Apply:
//
//   - The first event is [event.RunStarted]. It carries everything that decides what
//     the run may do: limits, gate rules, tools, and the plan or the goal.
//   - Next returns actions. Apply the record of an action (and write it to the
//     journal, if there is one) before executing its effect.
//   - The outcome of an effect is the next event. For [CallTool] it is
//     [event.StepCompleted], [event.StepFailed] or [event.StepInDoubt]. For CallModel it
//     is the event that [CallModel.Replied] or [CallModel.Failed] returns. For
//     [OpenGate] it is [event.GateRequested], and later [event.GateResolved]. For [Wake]
//     it is [event.TimerFired].
//   - The last event is [event.RunCompleted], with the [event.Result]. A run that was not
//     completed can still continue, by [event.RunResumed].
//
// # Parts
//
// A Run consists of parts, each with its own data and the methods that change it.
// Its conditions are [Terms], [Clock], [Toolbox] and [Meter] (limits and usage).
// Its plans are [Planning], [Board] (the plan and its steps), [PlanReviews] and
// [Acceptance]. The user answers [Permissions] (gates and grants) and
// [OpenQuestions]. Models are in [Conversations] and [ModelCalls]. [Ledger] holds
// what was done, and [Outcome] the end.
// What a step is, and how it changes, is in step*.go. Its own parts (its gate, its call, its
// items and so on) are listed in step_parts.go, and each is in the file of its name.
//
// What needs several parts is a small type that names the parts it reaches. run.go
// makes all of these types, once a run, and shows who reaches what:
//
//   - After an event: tracker follows the steps, gatekeeper their gates, and expander those for
//     each item of a list. decider decides what follows from failures and doubts. drafter
//     starts steps before their plan is whole, planwriter makes planners, and arranger puts
//     plans on the board. approver applies reviews, resumer resumes steps. scheduler queues what
//     each step needs next, and preparer resolves its call. dialogue takes the replies of
//     models, counter counts what is used, and recorder writes down attempts.
//   - For the next action: decision chooses what comes first. starter starts steps: their
//     gates (gateopener), calls (callstarter), requests to models (requester) and records
//     (reporter). planmaker has plans made, closer ends the run, doubts is about steps in
//     doubt, and notices reports what follows from the state alone.
//   - For both: roster finds steps, caller the rules about calls, and origins where the text of
//     a call comes from. guards hold the limits, checker evaluates checks, and briefing tells the
//     models about the run. answers writes answers without a model. evidence says what shows
//     that the work is done.
//
// Start reading at [Run.Apply] in run_apply.go, which routes each kind of event, and at
// [Run.Next] in run_next.go. The types behind Next see the run by the views in view*.go.
// These name no method that changes a part, and hand out values and other views, so the
// compiler holds that Next changes nothing. Maps and lists that they hand out are shared:
// there a test holds it.
//
// The package imports its events and rules, planning and packages of internal.
//
// Next never returns more than there are free slots for, and returns nothing
// twice. Calling it after each batch of events is all the scheduling there is.
package agent
