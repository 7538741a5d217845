// Package fit holds goals with known good plans, a catalogue of foreign tools around
// them, and the rules that score a model's plan against the known one. The command
// replan fit measures installed models with them.
//
// Pure values: it imports planning/plan alone and asks nobody. Start with [NewSet] in
// set.go, then [Goal.Score] in score.go. The goals are in goals.json, the tools in
// servers.txt.
package fit
