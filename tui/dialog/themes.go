package dialog

import (
	"fmt"

	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Themes lists the themes. Selecting one applies it at once; leaving restores the
// previous one.
type Themes struct {
	Look   *draw.Look
	Keys   *keymap.Map
	Wear   func(themes.Name)
	Set    *themes.Set
	Config string // configuration file that stores the theme; "" for none
	Open   bool
	Before themes.Name
	Items  []ThemeItem
	Sample [][]themes.CodeSpan
	draw.List
	word string
}

// ThemeItem is a theme, possibly an unusable one.
type ThemeItem struct {
	Name  themes.Name
	About string
	Fault string // why it is unusable
}

// Shown reports whether the dialog is open.
func (d *Themes) Shown() bool { return d.Open }

// Hints lists the keys that are active now.
func (d *Themes) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("keep", "list.choose"), d.Keys.Hint("as before", "dialog.leave"), d.Keys.Hint("try on", "move.up", "move.down")}
}

// Forget clears messages from the session.
func (d *Themes) Forget() { d.word = "" }

// Handlers returns the actions of the dialog.
func (d *Themes) Handlers() keymap.Handlers {
	leave := keymap.Handler{Do: keymap.Just(func() {
		d.Open = false
		d.Wear(d.Before)
	})}
	at := d.At
	return d.Moving(false, len(d.Items)).Then(func() { d.tryOn(at) }).With(keymap.Handlers{
		"dialog.leave": leave, "themes": leave,
		"list.choose": {Do: func() keymap.Wanted {
			if d.Items[d.At].Fault != "" {
				d.word = "This theme cannot be used; its file says why above."
				return keymap.Wanted{}
			}
			d.Open = false
			return keymap.Wanted{Told: "theme " + string(d.Items[d.At].Name) + ", for this session"}
		}},
	})
}

// tryOn applies the selected theme if the selection has changed.
func (d *Themes) tryOn(before int) {
	if d.At != before && d.Items[d.At].Fault == "" {
		d.Wear(d.Items[d.At].Name)
	}
}

// keeping explains how to make the selected theme permanent.
func (d *Themes) keeping() string {
	file := d.Config
	if file == "" {
		file = "config.toml"
	}
	return fmt.Sprintf("For good: theme = %q under [screen] in %s", d.Items[d.At].Name, file)
}

// Wheeled handles a turn of the mouse wheel.
func (d *Themes) Wheeled(lines int) {
	at := d.At
	d.Move(lines/draw.WheelStep, len(d.Items))
	d.tryOn(at)
}

// Clicked selects the entry drawn at line y of the dialog's area.
func (d *Themes) Clicked(y int) {
	at := d.At
	if d.List.Clicked(y, len(d.Items)) {
		d.word = ""
		d.tryOn(at)
	}
}

// Draw draws the dialog centered in exactly height lines of screenWidth cells: the
// list, with a sample of the theme beside or below it.
func (d *Themes) Draw(screenWidth, height int) []string {
	const most, beside = 104, 66 // cells
	l := d.Look
	width := min(screenWidth, most)
	inner := width - 4
	foot := d.foot(inner)
	room := max(height-3-len(foot), 1)
	sample := d.specimen()
	listed := min(len(d.Items), room)
	listWidth := inner
	wide := inner >= beside
	switch {
	case wide:
		listWidth = inner - sampleWidth - 2
		room = max(min(room, max(len(d.Items), len(sample))), 1)
		listed = min(len(d.Items), room)
	case room-listed > len(sample):
	case room > len(sample)+6:
		listed = room - len(sample) - 1
	default:
		sample = d.swatch(inner)[:min(2, max(room-2, 0))]
		listed = max(min(listed, room-len(sample)), 1)
	}
	gap := !wide && len(sample) > 2
	end := d.Window(len(d.Items), listed, 1)
	var lines []string
	for i := d.Top; i < end; i++ {
		lines = append(lines, d.row(d.Items[i], i == d.At, listWidth))
	}
	switch {
	case wide:
		lines = l.Block(lines, listWidth, max(len(lines), min(len(sample), room)))
		for i := range lines {
			shown := ""
			if i < len(sample) {
				shown = sample[i]
			}
			lines[i] += "  " + l.Fit(shown, sampleWidth)
		}
	case gap:
		lines = append(append(lines, ""), sample...)
	default:
		lines = append(lines, sample...)
	}
	for i, line := range foot {
		foot[i] = l.Fit(line, inner)
	}
	framed := l.Frame(width, l.Focus,
		draw.Section{Title: l.Strong.Render("Themes"), Note: l.Span(d.Top, end, len(d.Items)), Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus},
		draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
}

// foot explains how to make the theme permanent, and why its colours may not show.
func (d *Themes) foot(width int) []string {
	l := d.Look
	style, text := l.Muted, d.keeping()
	switch item := d.Items[d.At]; {
	case d.word != "":
		style, text = l.Warning, d.word
	case item.Fault != "":
		style, text = l.Warning, item.Fault
	case l.Theme.Mode.NoColor:
		text = "No theme has colours here: NO_COLOR or --no-color says so."
	}
	lines := draw.Wrap(text, width)
	if len(lines) > 3 {
		lines = lines[:3]
	}
	return draw.Paint(style, lines)
}

// row draws a theme in the list.
func (d *Themes) row(t ThemeItem, chosen bool, width int) string {
	l := d.Look
	line := l.Line(chosen, true)
	const column = 20 // cells for a name
	mark, style := " ", l.Text
	about := line.Draw(l.Muted, t.About)
	switch {
	case t.Fault != "":
		style, about = l.Faint, line.Draw(l.Danger, "cannot be used")
	case t.Name == d.Before:
		mark, style = l.Glyphs.Done, l.Strong
	}
	head := line.Cursor + line.Draw(l.Success, mark) + line.Blank(1) + line.Draw(style, l.Cut(string(t.Name), width-3))
	if width < column+24 {
		return line.Fill(head, width)
	}
	return line.Fill(line.Fill(head, column+3)+about, width)
}

// swatch is a specimen in two lines of width cells, for narrow dialogs.
func (d *Themes) swatch(width int) []string {
	l, g := d.Look, d.Look.Glyphs
	line := l.Line(true, true)
	states := l.Success.Render(g.Done+" ok") + " " + l.Running.Render(l.Spinner()+" runs") + " " + l.Warning.Render(g.Gate+" gate") + " " + l.Danger.Render(g.Failed+" bad") + " " + l.Matched(l.Text).Render("found")
	diff := line.Draw(l.Strong, "chosen") + line.Blank(1) + l.Removed.Render(" "+g.Removed+"old") + l.Added.Render(" "+g.Added+"new") + "  " + l.Theme.Paint(d.Sample[min(1, len(d.Sample)-1)])
	return []string{l.Fit(states, width), l.Fit(diff, width)}
}

// sampleWidth is the width of the specimen, in cells.
const sampleWidth = 38

// specimen draws a sample of the current theme.
func (d *Themes) specimen() []string {
	l, g := d.Look, d.Look.Glyphs
	chosen := l.Line(true, true)
	lines := []string{
		l.Strong.Render("Strong") + "  " + l.Text.Render("text") + "  " + l.Muted.Render("muted") + "  " + l.Faint.Render("faint") + "  " + l.Matched(l.Text).Render("found"),
		"",
		l.Success.Render(g.Done) + " " + l.Accent.Render("1") + " " + l.Text.Render("Read the handler") + "      " + l.Faint.Render("fs.read"),
		l.Running.Render(l.Spinner()) + " " + l.Accent.Render("2") + " " + l.Text.Render("Run the tests") + "         " + l.Running.Render("1.5s"),
		chosen.Fill(chosen.Cursor+chosen.Draw(l.Warning, g.Gate)+chosen.Blank(1)+chosen.Draw(l.Strong, "3 Patch both files")+chosen.Blank(2)+chosen.Draw(l.Warning, "gate"), sampleWidth),
		l.Danger.Render(g.Failed) + " " + l.Accent.Render("4") + " " + l.Text.Render("Ask the server") + "        " + l.Danger.Render("failed"),
		"",
	}
	for _, line := range d.Sample {
		lines = append(lines, l.Theme.Paint(line))
	}
	added, removed := l.Theme.Grounds()
	taken, put := l.Removed, l.Added
	if removed.Line != nil {
		taken, put = taken.Background(removed.Line), put.Background(added.Line)
	}
	return append(lines, "",
		taken.Render(l.Fit(g.Removed+" authenticate(user)", sampleWidth)),
		put.Render(l.Fit(g.Added+" verify(user)", sampleWidth)))
}
