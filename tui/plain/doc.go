// Package plain prints a run as lines of text, for pipes, logs and screen readers.
// It applies the same events to the same run type as the full screen.
//
// Start with [Log]. What it prints comes from story, and its drawings of plans from
// plantext. No other package of tui imports it.
package plain
