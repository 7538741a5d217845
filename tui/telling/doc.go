// Package telling words every sentence and figure about a run that several parts of
// the screen show: states of steps, rules, decisions, failures, times and counts.
//
// Start with events.go and decisions.go. The package draws nothing and knows no keys.
package telling
