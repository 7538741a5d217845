// Package fit holds what is known of how models plan: findings of replan fit, a table
// of those that were measured for this version, and the tasks that they are measured
// with, in a small project of their own.
//
// Pure values: it imports planning/plan and planning/pace and calls no model. Start with
// [Finding] in finding.go, then [Tasks] in task.go. The tasks are in tasks.json, the
// project in project, the table in measured.json.
package fit
