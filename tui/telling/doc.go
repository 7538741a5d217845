// Package telling has every sentence and figure about a run that more than one part
// of the screen shows: states of steps, rules, decisions, failures, times and counts.
//
// Start with sentences.go. It draws nothing and knows no keys.
package telling
