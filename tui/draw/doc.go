// Package draw lays out text for the screen: styles, wrapping, Markdown, code,
// diffs, lists, editors, buttons and the canvas of the graph.
//
// Start with [Styles], the styles and glyphs of a theme, and [Sheet], a long
// wrapped text that scrolls. The package imports keymap, wording, patch, themes and
// the core, but no pane.
package draw
