// Package dag implements the plan pane: the list of steps with its rails, the
// box graph, older revisions, calls of agent steps, filters and the selection.
//
// Start with [Pane] in dag.go; paint.go draws a row, graph.go the graph.
// Package planning/plan/layout computes the positions.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package dag
