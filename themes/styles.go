package themes

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Styles is the palette as Lip Gloss styles. None has a margin, a padding or a
// width; the caller controls the layout.
type Styles struct {
	Text    lipgloss.Style
	Strong  lipgloss.Style // emphasized text, such as titles
	Muted   lipgloss.Style
	Faint   lipgloss.Style
	Accent  lipgloss.Style
	Success lipgloss.Style
	Warning lipgloss.Style
	Danger  lipgloss.Style
	Running lipgloss.Style
	Added   lipgloss.Style
	Removed lipgloss.Style
	Struck  lipgloss.Style // steps removed by a revision: faint and struck through
	Hunk    lipgloss.Style // headings inside a diff
	Border  lipgloss.Style
	Focus   lipgloss.Style // border of the focused pane
	Key     lipgloss.Style // keys in the footer and in help
	Code    lipgloss.Style
	Brand   lipgloss.Style // program name
	Match   lipgloss.Style // search matches

	palette Palette
}

// newStyles returns the styles of a palette. Attributes distinguish whatever has no
// color.
func newStyles(p Palette) Styles {
	ink := func(c color.Color) lipgloss.Style {
		if c == nil {
			return lipgloss.NewStyle()
		}
		return lipgloss.NewStyle().Foreground(c)
	}
	s := Styles{
		Text:    ink(p.Text),
		Strong:  ink(p.Text).Bold(true),
		Muted:   ink(p.Muted),
		Faint:   ink(p.Faint),
		Accent:  ink(p.Accent),
		Success: ink(p.Success),
		Warning: ink(p.Warning),
		Danger:  ink(p.Danger),
		Running: ink(p.Running),
		Added:   ink(p.Added),
		Removed: ink(p.Removed),
		Struck:  ink(p.Faint).Strikethrough(true),
		Hunk:    ink(p.Accent),
		Border:  ink(p.Border),
		Focus:   ink(p.Focus),
		Key:     ink(p.Accent),
		Code:    ink(p.Code),
		Brand:   ink(p.Accent).Bold(true),
		palette: p,
	}
	if p.Faint == nil {
		s.Faint = s.Faint.Faint(true)
		s.Struck = s.Struck.Faint(true)
	}
	if p.Border == nil {
		s.Border = s.Border.Faint(true)
	}
	if p.Accent == nil {
		s.Key = s.Key.Bold(true)
	}
	if p.Warning == nil {
		s.Warning = s.Warning.Bold(true)
	}
	if p.Danger == nil {
		s.Danger = s.Danger.Bold(true)
	}
	s.Match = s.Matched(s.Strong)
	return s
}

// Selected adds the selection background to a style. If the palette has none, it
// draws the row uniformly in reverse, because reversed colors become illegible
// patches.
func (s Styles) Selected(style lipgloss.Style) lipgloss.Style {
	return s.on(s.palette.Selection, style)
}

// Matched adds the style of a search match.
func (s Styles) Matched(style lipgloss.Style) lipgloss.Style {
	return s.on(s.palette.Match, style)
}

func (s Styles) on(ground color.Color, style lipgloss.Style) lipgloss.Style {
	if ground == nil {
		return style.UnsetForeground().Faint(false).Reverse(true)
	}
	return style.Background(ground)
}
