// Package route holds the commands that plan by rule, without a model: replan intent,
// route and compose.
//
// It imports cli/app and planning/intent. Start at [NewRoute].
package route
