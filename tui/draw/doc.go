// Package draw lays out text for the screen: styles, wrapping, Markdown, code, diffs,
// lists, editors, buttons and the canvas of the graph.
//
// Start with [Look], the styles and signs of a theme, and [Sheet], a text that is
// folded and scrolled. It knows keys and sentences, and no pane.
package draw
