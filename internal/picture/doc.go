// Package picture reads pictures from outside within bounds, and makes them
// smaller: for a model, and for a terminal.
//
// It imports nothing of replan. Start reading at [Read] and [Decode].
package picture
