// Package fit measures how models of a server do in a project. Each model tries the
// tasks of planning/fit three times in a throw-away copy of their project. Rules check
// what came of it. What is found decides how replan drives the model from then on.
//
// It is a part of the command line and may import every room. Start reading at
// [Measurement.Run] in measure.go; attempts.go keeps what was measured, store.go what was
// found, report.go and live.go draw.
package fit
