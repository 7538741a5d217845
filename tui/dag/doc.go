// Package dag is the pane of the plan: the list of steps with its rails, the graph of
// boxes, older revisions, calls of agent steps, filters and the selection.
//
// Start with [Pane] in dag.go; paint.go draws a row, graph.go the graph. Positions
// come from planning/plan/layout.
//
// Like every pane it imports draw, keymap, telling, timing and the core, never another
// pane; the root model routes between them.
package dag
