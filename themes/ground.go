package themes

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Ground is what is laid under lines of a diff, behind the words that changed a
// stronger one. Both are nil where the theme has no colours that can be mixed:
// then the letters alone are coloured.
type Ground struct{ Line, Words color.Color }

// Grounds are those under added and under removed lines.
func (t Theme) Grounds() (added, removed Ground) {
	return t.ground(t.Palette.Added), t.ground(t.Palette.Removed)
}

// ground mixes a little of a colour into the background.
func (t Theme) ground(c color.Color) Ground {
	switch c.(type) {
	case nil, ansi.BasicColor, ansi.IndexedColor:
		return Ground{} // the terminal's own: nobody knows what they look like
	}
	base, line, words := hex(0xFFFFFF), 0.13, 0.30
	if t.Dark {
		base, line, words = hex(0x16181D), 0.16, 0.36
	}
	return Ground{mix(c, base, line), mix(c, base, words)}
}

// mix is part of one colour in the rest of another.
func mix(c, base color.Color, part float64) color.Color {
	r, g, b, _ := c.RGBA()
	br, bg, bb, _ := base.RGBA()
	one := func(v, base uint32) uint8 { return uint8((part*float64(v) + (1-part)*float64(base)) / 257) } // #nosec G115 -- both are below 65536
	return color.RGBA{R: one(r, br), G: one(g, bg), B: one(b, bb), A: 0xFF}
}
