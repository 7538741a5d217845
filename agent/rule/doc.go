// Package rule decides which calls run, ask or are denied. A [Rule] names a tool
// and conditions on its arguments; the first that matches a call decides, see
// [Decide]. [Uncovered] says which untrusted text in a call stops it at a gate even
// where a rule lets the call run.
//
// Start with [Rule] in rule.go, then condition.go. Package policy has the built-in
// rules. The package imports planning/plan and planning/prompt; events carry its
// rules, so that it imports no event.
package rule
