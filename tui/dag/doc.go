// Package dag implements the plan pane: the list of steps with its rails, the
// box graph, older revisions, calls of agent steps, filters and the selection.
//
// Start with [Pane] in dag.go; paint.go draws a row, graph.go the graph.
// Package planning/plan/layout computes the positions.
//
// Like every pane, it imports draw, keymap, telling, timing and the core, never
// another pane; the root model routes between them.
package dag
