// Package themes holds what the screen looks like: one semantic palette in a
// dark and a light variant, the styles for Lip Gloss and Glamour that derive
// from it, and the glyphs in Unicode and ASCII. A state is never told by colour
// alone: each has a glyph of its own, and the colours are chosen so that people
// with the common kinds of colour blindness can tell them apart.
package themes

import (
	"fmt"
	"image/color"
	"strings"
)

// Name is a theme as the user asks for it.
type Name string

// The themes there are. Auto follows the terminal's background.
const (
	Auto  Name = "auto"
	Dark  Name = "dark"
	Light Name = "light"
)

// Parse reads the name of a theme; nothing at all means [Auto].
func Parse(name string) (Name, error) {
	switch n := Name(strings.ToLower(strings.TrimSpace(name))); n {
	case "":
		return Auto, nil
	case Auto, Dark, Light:
		return n, nil
	default:
		return "", fmt.Errorf("there is no theme %q: choose auto, dark or light", name)
	}
}

// Mode says what the terminal may be sent.
type Mode struct {
	ASCII   bool // nothing beyond ASCII is drawn
	NoColor bool // no colour; bold, faint, underline and strikethrough remain
}

// Theme is all that drawing needs to know of looks. Make one with [New].
type Theme struct {
	Palette Palette
	Styles  Styles
	Glyphs  Glyphs
	Mode    Mode
	Dark    bool // drawn for a dark background

	pens pens   // of code
	code string // the name of its chroma style
}

// New makes the theme of that name. Auto follows darkBackground, the others do
// as they are told.
func New(name Name, darkBackground bool, mode Mode) Theme {
	dark := name == Dark || (name != Light && darkBackground)
	palette := LightPalette()
	if dark {
		palette = DarkPalette()
	}
	if mode.NoColor {
		palette = Palette{}
	}
	glyphs := UnicodeGlyphs()
	if mode.ASCII {
		glyphs = ASCIIGlyphs()
	}
	t := Theme{
		Palette: palette,
		Styles:  newStyles(palette, mode.NoColor),
		Glyphs:  glyphs,
		Mode:    mode,
		Dark:    dark,
		pens:    newPens(palette),
		code:    codeName(dark, mode.NoColor),
	}
	drawn.Store(t.code, t.pens)
	return t
}

// Palette names colours by what they mean. A nil colour is the terminal's own.
type Palette struct {
	Text      color.Color // what is read
	Muted     color.Color // what stands beside it
	Faint     color.Color // what may be overlooked
	Accent    color.Color // what is chosen or can be acted on
	Success   color.Color
	Warning   color.Color // what waits for the user
	Danger    color.Color
	Running   color.Color
	Added     color.Color
	Removed   color.Color
	Border    color.Color
	Focus     color.Color // the border of the pane that takes the keys
	Selection color.Color // background of the chosen row
	Code      color.Color // code in prose
}

// DarkPalette is drawn on a dark background. The text itself keeps the
// terminal's own colour, so that it can be read even where the background was
// guessed wrong.
func DarkPalette() Palette {
	return Palette{
		Muted:     hex(0xA3A9B5),
		Faint:     hex(0x7C8493),
		Accent:    hex(0x9DB2F5),
		Success:   hex(0x62C2A2),
		Warning:   hex(0xE3B866),
		Danger:    hex(0xEE8A6F),
		Running:   hex(0x6DB8EE),
		Added:     hex(0x62C2A2),
		Removed:   hex(0xEE8A6F),
		Border:    hex(0x474D5B),
		Focus:     hex(0x8399DC),
		Selection: hex(0x2B3245),
		Code:      hex(0xC9B8F0),
	}
}

// LightPalette is drawn on a light background.
func LightPalette() Palette {
	return Palette{
		Muted:     hex(0x555C69),
		Faint:     hex(0x747B88),
		Accent:    hex(0x3350B4),
		Success:   hex(0x00755A),
		Warning:   hex(0x8A5A00),
		Danger:    hex(0xB23C17),
		Running:   hex(0x1A68A8),
		Added:     hex(0x00755A),
		Removed:   hex(0xB23C17),
		Border:    hex(0xC3C8D2),
		Focus:     hex(0x4C66C0),
		Selection: hex(0xE1E7F6),
		Code:      hex(0x6B3FA0),
	}
}

// hex makes a colour of 0xRRGGBB.
func hex(rgb uint32) color.Color {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xFF} // #nosec G115 -- each is one byte
}
