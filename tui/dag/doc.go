// Package dag implements the plan pane. It has the list of steps with its rails, the box
// graph, older revisions, calls of agent steps, filters and the selection.
//
// Start with [Pane] in pane.go. Its parts are the plan as it stands (plan.go, with chart.go,
// counts.go, fold.go and lost.go) and the selection (cursor.go). The list is in list.go, with
// outline.go for its rows and paint.go for drawing them. The graph is in graph.go, and the
// filter in filter.go. Package planning/plan/layout computes the positions.
//
// Like every pane, it may import draw, keymap, live, timing, wording, the core and
// the session of agent/runner, but no other pane. The root model routes between
// panes.
package dag
