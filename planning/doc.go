// Package planning holds what a plan is and how one comes about: the plan as
// data, its validation, its graph and variables, the difference between two
// revisions, and the pipeline that turns a goal into a plan in three phases.
//
// Everything here is a pure value. The package calls no model and no tool,
// reads no file and no clock: a pipeline says which request comes next and
// absorbs the reply, and its caller does the talking.
//
// # Plans as data
//
// A [Plan] is a directed acyclic graph of typed steps. [DecodePlan] reads one,
// those of mcp-cli too; [Validate] says everything that is wrong with it at
// once, each [Fault] with a JSON Pointer; [CheckPlan] does both. Marshalling
// writes the plan in a stable order with the fields that nobody here knows;
// [ExportMCP] writes it for mcp-cli.
//
// [NewGraph] gives the dependencies, those that come of references among them:
// order, batches, critical path, what may start first. [Resolve] fills the
// references in the args of a step in, and a [Signature] holds the result
// against the input schema of the tool.
//
// # Planners
//
// A [Planner] turns a goal into a plan. [NewPipeline] and [NewReplanner] ask a
// model; [Given] has the plan already, and [Scripted] answers each replan of a
// run from a list. A program brings planners of its own as [Planners].
package planning
