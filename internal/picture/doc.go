// Package picture reads pictures from outside within bounds, and makes them smaller for a
// model.
//
// It imports nothing of replan. Start reading at [Read] and [ForModel].
package picture
