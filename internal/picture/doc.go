// Package picture reads pictures from outside within bounds, and makes them
// smaller: for a model, and for a terminal.
//
// It imports nothing of replan and does no I/O. Start reading at [Decode].
package picture
