// Package planning turns a goal into a plan. A [Planner] returns the next request
// and absorbs the reply; its caller talks to the model. [NewPipeline] plans in
// three phases (analysis, review, execution plan), and [NewReplanner] plans the
// remaining work after a failure. [Given] already has its plan, and [FixedPlans]
// answers each replan of a run from a list. Other programs provide their own
// planners as [Planners].
//
// Start with [Planner] in planner.go, then pipeline.go. The plan as data is in package
// plan, and the requests to a model are in package prompt. The reader of its replies is in
// package reply. Package intent routes words to a chain of operators without a model.
//
// Everything here is a pure value: the package calls no model or tool, and reads
// no file or clock. It imports plan, prompt, reply and packages of
// internal.
package planning
