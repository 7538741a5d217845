// Package planning turns a goal into a plan. A [Planner] names the next request
// and absorbs the reply; its caller does the talking. [NewPipeline] plans in three
// phases (analysis, review, execution plan), [NewReplanner] plans the remaining
// work after a failure, [Given] already has its plan, and [Scripted] answers each
// replan of a run from a list. Other programs bring planners of their own as
// [Planners].
//
// Start with [Planner] in planner.go, then pipeline.go. The plan as data is in
// package plan, the requests to a model in package prompt, and the reader of its
// replies in package reply; package intent routes words to a chain of operators
// without a model.
//
// Everything here is a pure value: no model or tool is called, no file and no
// clock is read. The package imports plan, prompt, reply and english, and no other
// room.
package planning
