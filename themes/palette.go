package themes

import "image/color"

// Palette names colours by what they mean. A nil colour is the terminal's own.
type Palette struct {
	Ground    color.Color // what everything is drawn on
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
	Code      color.Color // code in prose, and its keywords

	AddedGround   color.Color // background of what a diff adds
	RemovedGround color.Color // and of what it takes out
	Match         color.Color // background of what was searched for
}

// slot is a colour of a palette by its name in the files of user themes.
type slot struct {
	name string
	of   func(*Palette) *color.Color
}

// slots are all colours of a palette, in the order in which they are told.
var slots = []slot{
	{"ground", func(p *Palette) *color.Color { return &p.Ground }},
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
	{"added_ground", func(p *Palette) *color.Color { return &p.AddedGround }},
	{"removed_ground", func(p *Palette) *color.Color { return &p.RemovedGround }},
	{"match", func(p *Palette) *color.Color { return &p.Match }},
}

// Colours are the names of the colours of a palette, as the files of user themes
// have them.
func Colours() []string {
	names := make([]string, len(slots))
	for i, s := range slots {
		names[i] = s.name
	}
	return names
}

// hex makes a colour of 0xRRGGBB.
func hex(rgb uint32) color.Color {
	return color.RGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 0xFF} // #nosec G115 -- each is one byte
}
