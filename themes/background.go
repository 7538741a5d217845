package themes

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// DiffBackground is the background of diff lines, with a stronger one behind changed words.
// Both are nil if the theme has no colors that can be mixed; then only the letters
// are colored.
type DiffBackground struct{ Line, Words color.Color }

// DiffBackgrounds returns the backgrounds of added and of removed lines.
func (t Theme) DiffBackgrounds() (added, removed DiffBackground) {
	p := t.Palette
	few := t.Mode.Depth != TrueColor // then the next available shade may be far off
	return diffBackground(p.AddedBackground, p.Added, few), diffBackground(p.RemovedBackground, p.Removed, few)
}

// diffBackground mixes more of color c into a background for the words.
func diffBackground(line, c color.Color, few bool) DiffBackground {
	if line == nil || c == nil || few {
		return DiffBackground{line, line}
	}
	switch c.(type) {
	case ansi.BasicColor, ansi.IndexedColor:
		return DiffBackground{line, line} // the terminal's own color, whose shade is unknown
	}
	return DiffBackground{line, mix(c, line, 0.12)}
}

// mix blends part of one color with the rest of another.
func mix(c, base color.Color, part float64) color.Color {
	r, g, b, _ := c.RGBA()
	br, bg, bb, _ := base.RGBA()
	one := func(v, base uint32) uint8 { return uint8((part*float64(v) + (1-part)*float64(base)) / 257) } // #nosec G115 -- both are below 65536
	return color.RGBA{R: one(r, br), G: one(g, bg), B: one(b, bb), A: 0xFF}
}
