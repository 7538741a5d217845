// Package rule decides which calls run, ask or are denied. A [Rule] names a tool
// and conditions on its arguments. A rule that denies a call wins; else the first
// that matches decides, see [Decide]. [Uncovered] returns the untrusted text for which a call stops at
// a gate, even if a rule lets the call run.
//
// Start with [Rule] in rule.go, then condition.go. Package policy has the
// built-in rules. The package imports planning/plan and planning/prompt. It does
// not import event, because events carry its rules.
package rule
