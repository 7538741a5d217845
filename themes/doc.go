// Package themes defines the look of the screen: semantic palettes, glyphs in
// Unicode and ASCII, and derived styles for Lip Gloss, Glamour and code.
//
// Color alone never conveys a state: each state has its own glyph. People with the
// common kinds of color blindness can distinguish the colors. Users can add
// themes as TOML.
//
// It imports no other package of the program. Start with [Theme].
package themes
