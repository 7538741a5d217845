// Package fit measures which installed models can plan: it asks each for plans of the
// goals in planning/fit and scores them by rule. Nothing of a plan is executed.
//
// It is a part of the command line and may import every room. Start reading at
// [Measurement.Run] in measure.go; report.go draws the result, kept.go stores what was
// measured.
package fit
