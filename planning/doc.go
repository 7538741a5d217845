// Package planning turns a goal into a plan. A [Planner] says which request comes
// next and absorbs the reply; its caller does the talking. [NewPipeline] plans in
// three phases (analysis, review, execution plan), [NewReplanner] plans what
// remains after a failure, [Given] already has its plan, and [Scripted] answers
// each replan of a run from a list. Other programs bring planners of their own as
// [Planners].
//
// Start with [Planner] in planner.go, then pipeline.go. The plan as data is in
// package plan, what a model is asked in package prompt, and how its reply is read
// in package reply; package intent routes words to a chain of operators without a
// model.
//
// Everything here is a pure value: no model or tool is called, no file and no clock
// is read. The package imports plan, prompt and reply, and no other room.
package planning
