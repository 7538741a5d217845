// Package wording words every sentence and figure about a run that several parts of the
// screen show. These are states of steps, rules, decisions, failures, times and counts.
//
// Start with ending.go and decisions.go. The package imports the core, planning and
// patch. It draws nothing and knows no keys.
package wording
