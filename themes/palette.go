package themes

import "image/color"

// Palette names colors by their meaning. A nil color is the terminal's own.
type Palette struct {
	Background color.Color // general background
	Text       color.Color // main text
	Muted      color.Color // secondary text
	Faint      color.Color // unimportant text
	Accent     color.Color // selected or actionable
	Success    color.Color
	Warning    color.Color // waits for the user
	Danger     color.Color
	Running    color.Color
	Added      color.Color
	Removed    color.Color
	Border     color.Color
	Focus      color.Color // border of the focused pane
	Selection  color.Color // background of the selected row
	Code       color.Color // code in prose, and its keywords

	AddedBackground   color.Color // background of added diff lines
	RemovedBackground color.Color // background of removed diff lines
	Match             color.Color // background of search matches
}

// slot is a palette color with its name in user theme files.
type slot struct {
	name string
	of   func(*Palette) *color.Color
}

// slots lists all colors of a palette in display order.
var slots = []slot{
	{"ground", func(p *Palette) *color.Color { return &p.Background }},
	{"text", func(p *Palette) *color.Color { return &p.Text }},
	{"muted", func(p *Palette) *color.Color { return &p.Muted }},
	{"faint", func(p *Palette) *color.Color { return &p.Faint }},
	{"accent", func(p *Palette) *color.Color { return &p.Accent }},
	{"success", func(p *Palette) *color.Color { return &p.Success }},
	{"warning", func(p *Palette) *color.Color { return &p.Warning }},
	{"danger", func(p *Palette) *color.Color { return &p.Danger }},
	{"running", func(p *Palette) *color.Color { return &p.Running }},
	{"added", func(p *Palette) *color.Color { return &p.Added }},
	{"removed", func(p *Palette) *color.Color { return &p.Removed }},
	{"border", func(p *Palette) *color.Color { return &p.Border }},
	{"focus", func(p *Palette) *color.Color { return &p.Focus }},
	{"selection", func(p *Palette) *color.Color { return &p.Selection }},
	{"code", func(p *Palette) *color.Color { return &p.Code }},
	{"added_ground", func(p *Palette) *color.Color { return &p.AddedBackground }},
	{"removed_ground", func(p *Palette) *color.Color { return &p.RemovedBackground }},
	{"match", func(p *Palette) *color.Color { return &p.Match }},
}

// ColorNames returns the names of the palette colors in user theme files.
func ColorNames() []string {
	names := make([]string, len(slots))
	for i, s := range slots {
		names[i] = s.name
	}
	return names
}

// hex returns the color 0xRRGGBB.
func hex(rgb uint32) color.Color {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xFF} // #nosec G115 -- each is one byte
}
