// Package fit holds what is known of how models plan. It has the findings of replan
// fit, and a table of the models that were measured for this version. It also has the
// tasks that measure a model, in a small project of their own.
//
// Pure values: it imports planning/plan and planning/pace and calls no model. Start with
// [Finding] in finding.go, then [Tasks] in task.go. The tasks are in tasks.json, the
// project in project, the table in measured.json.
package fit
