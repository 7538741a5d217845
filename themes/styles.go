package themes

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Styles are the palette as Lip Gloss styles. None has a margin, a padding or a
// width: whoever draws decides about space.
type Styles struct {
	Text    lipgloss.Style
	Strong  lipgloss.Style // text that stands out: titles
	Muted   lipgloss.Style
	Faint   lipgloss.Style
	Accent  lipgloss.Style
	Success lipgloss.Style
	Warning lipgloss.Style
	Danger  lipgloss.Style
	Running lipgloss.Style
	Added   lipgloss.Style
	Removed lipgloss.Style
	Struck  lipgloss.Style // steps that a revision took out: faint and struck through
	Hunk    lipgloss.Style // headings inside a diff
	Border  lipgloss.Style
	Focus   lipgloss.Style // border of the focused pane
	Key     lipgloss.Style // keys in the footer and in help
	Code    lipgloss.Style
	Brand   lipgloss.Style // the program's name

	palette Palette
	noColor bool
}

func newStyles(p Palette, noColor bool) Styles {
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
		noColor: noColor,
	}
	if noColor {
		// Without colours only the attributes are left to tell the layers apart.
		s.Faint = s.Faint.Faint(true)
		s.Struck = s.Struck.Faint(true)
		s.Border = s.Border.Faint(true)
		s.Key = s.Key.Bold(true)
		s.Warning = s.Warning.Bold(true)
		s.Danger = s.Danger.Bold(true)
	}
	return s
}

// Selected lays the selection's background under a style; without colours the
// row is shown in reverse.
func (s Styles) Selected(style lipgloss.Style) lipgloss.Style {
	if s.noColor {
		return style.Faint(false).Reverse(true)
	}
	if s.palette.Selection == nil {
		return style
	}
	return style.Background(s.palette.Selection)
}
