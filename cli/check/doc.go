// Package check reads the plans that are named on the command line, and checks them
// against the tools that are there.
//
// It imports cli/app and planning/plan. Start at [Checker.Check].
package check
