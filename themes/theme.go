package themes

import (
	"image/color"

	"github.com/charmbracelet/colorprofile"
)

// Name is the name of a theme as the user enters it.
type Name string

// The original themes. Auto follows the terminal's background.
const (
	Auto  Name = "auto"
	Dark  Name = "dark"
	Light Name = "light"
)

// Depth is the number of colors of a terminal.
type Depth uint8

// The color depths.
const (
	TrueColor Depth = iota
	Colors256
	Colors16
)

// Mode describes what the terminal may receive.
type Mode struct {
	ASCII   bool  // draw only ASCII
	NoColor bool  // no color; bold, faint, underline and strikethrough remain
	Still   bool  // no animation; ongoing work has one fixed sign
	Depth   Depth // number of colors
	// Known reports whether the terminal has revealed its background, which means
	// that it can also set another one.
	Known bool
}

// For returns the mode for a terminal with these colors.
func (m Mode) For(profile colorprofile.Profile) Mode {
	switch {
	case profile >= colorprofile.TrueColor:
		m.Depth = TrueColor
	case profile == colorprofile.ANSI256:
		m.Depth = Colors256
	case profile == colorprofile.ANSI:
		m.Depth = Colors16
	default:
		m.NoColor = true
	}
	return m
}

// Theme holds everything drawing needs to know about looks. Create one with [Set.New].
type Theme struct {
	Name    Name // auto only from [Either]; otherwise it becomes dark or light here
	Palette Palette
	Styles  Styles
	Glyphs  Glyphs
	Mode    Mode
	Dark    bool // for a dark background

	// Background and Text replace the terminal's background and text colors while the
	// theme is in use; nil keeps them.
	Background, Text color.Color

	pens pens   // for code
	code string // name of its chroma style
}

// theme returns the theme for a terminal.
func (d Definition) theme(darkBackground bool, mode Mode) Theme {
	palette := d.Palette
	switch {
	case mode.NoColor || d.Plain:
		palette = Palette{}
	case mode.Depth == Colors16:
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
	if palette.Background != nil && mode.Known && (!d.Keeps || d.Dark != darkBackground) {
		t.Background, t.Text = palette.Background, d.text()
	}
	drawn.Store(t.code, t.pens)
	return t
}

// text returns the text color on the theme's own background.
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
