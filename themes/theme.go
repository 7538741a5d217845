// Package themes holds what the screen looks like: semantic palettes, the styles
// for Lip Gloss, Glamour and code that derive from them, and the glyphs in Unicode
// and ASCII. A state is never told by colour alone: each has a glyph of its own,
// and the colours are chosen so that people with the common kinds of colour
// blindness can tell them apart. Users bring themes of their own as TOML.
package themes

import "image/color"

// Name is a theme as the user asks for it.
type Name string

// The themes that were there first. Auto follows the terminal's background.
const (
	Auto  Name = "auto"
	Dark  Name = "dark"
	Light Name = "light"
)

// Depth is how many colours a terminal has.
type Depth uint8

// The depths there are.
const (
	TrueColour Depth = iota
	Colours256
	Colours16
)

// Mode says what the terminal may be sent.
type Mode struct {
	ASCII   bool  // nothing beyond ASCII is drawn
	NoColor bool  // no colour; bold, faint, underline and strikethrough remain
	Still   bool  // nothing moves: what goes on has one sign
	Depth   Depth // how many colours there are
	// Known says that the terminal has told its background, so that it can set
	// another one too.
	Known bool
}

// Theme is all that drawing needs to know of looks. Make one with [New].
type Theme struct {
	Name    Name // never auto: that is dark or light here
	Palette Palette
	Styles  Styles
	Glyphs  Glyphs
	Mode    Mode
	Dark    bool // drawn for a dark background

	// Ground and Text are what the terminal's own background and text have to be
	// while the theme is shown; nil leaves them as they are.
	Ground, Text color.Color

	pens pens   // of code
	code string // the name of its chroma style
}

// New makes the theme of that name. Auto follows darkBackground, the others do
// as they are told.
func New(name Name, darkBackground bool, mode Mode) Theme {
	return (*Set)(nil).New(name, darkBackground, mode)
}

// theme makes the theme for a terminal.
func (d Definition) theme(darkBackground bool, mode Mode) Theme {
	palette := d.Palette
	switch {
	case mode.NoColor || d.Plain:
		palette = Palette{}
	case mode.Depth == Colours16:
		palette = d.Basic
	}
	glyphs := UnicodeGlyphs()
	if mode.ASCII {
		glyphs = ASCIIGlyphs()
	}
	if mode.Still {
		glyphs.Spinner = []string{glyphs.Still}
	}
	t := Theme{
		Name:    d.Name,
		Palette: palette,
		Styles:  newStyles(palette),
		Glyphs:  glyphs,
		Mode:    mode,
		Dark:    d.Dark,
		pens:    newPens(palette),
		code:    codeName(d.Name, mode),
	}
	if palette.Ground != nil && mode.Known && (!d.Keeps || d.Dark != darkBackground) {
		t.Ground, t.Text = palette.Ground, d.text()
	}
	drawn.Store(t.code, t.pens)
	return t
}

// text is the colour of text on the theme's own ground.
func (d Definition) text() color.Color {
	switch {
	case d.Palette.Text != nil:
		return d.Palette.Text
	case d.Dark:
		return hex(0xE4E7EC)
	default:
		return hex(0x1F232B)
	}
}
