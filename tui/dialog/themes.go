package dialog

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Themes lists the themes. Selecting one applies it at once; leaving restores the
// previous one.
type Themes struct {
	list
	config string      // configuration file that stores the theme; "" for none
	before themes.Name // when the dialog opened
	worn   themes.Name // tried on
	items  []themeItem
	sample [][]themes.CodeSpan
}

// NewThemes returns the dialog, closed. config names the configuration file.
func NewThemes(l *draw.Styles, k *keymap.Map, config string) *Themes {
	return &Themes{list: newList(l, k), config: config}
}

// Open lists the themes of a set, with the current one selected.
func (d *Themes) Open(set *themes.Set, current themes.Name) {
	d.open()
	d.before, d.worn = current, current
	d.items = []themeItem{{name: themes.Auto, about: "dark or light like the terminal"}}
	for _, t := range set.All() {
		d.items = append(d.items, themeItem{name: t.Name, about: untrusted.Line(t.About)})
	}
	for _, b := range set.Broken() {
		d.items = append(d.items, themeItem{name: b.Name, fault: untrusted.Line(b.Err.Error())})
	}
	for i, t := range d.items {
		if t.name == current && t.fault == "" {
			d.Choose(i)
		}
	}
	if d.sample == nil {
		d.sample = themes.Code("// verify asks who it is.\nfunc verify(u User) error {\n    return deny(u, \"who?\", 403)\n}", "go")
	}
}

// themeItem is a theme, possibly an unusable one.
type themeItem struct {
	name  themes.Name
	about string
	fault string // why it is unusable
}

// Hints lists the keys that are active now.
func (d *Themes) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("keep", "list.choose"), d.Keys.Hint("revert", "dialog.leave"), d.Keys.Hint("try on", "move.up", "move.down")}
}

// Actions returns the actions of the dialog.
func (d *Themes) Actions() keymap.Handlers {
	hs := d.Moving(false, len(d.items))
	for id, h := range hs {
		hs[id] = keymap.Handler{Do: func() keymap.Requests {
			h.Do()
			return d.tryOn()
		}}
	}
	return hs.With(themesActions().For(d)).First(d.nextKey)
}

// themesActions are the actions of the dialog.
func themesActions() keymap.Table[*Themes] {
	return keymap.Table[*Themes]{
		{ID: "list.choose", Do: (*Themes).save},
		{ID: "dialog.leave", Do: (*Themes).revert},
		{ID: "themes", Do: (*Themes).revert},
	}
}

// save saves the selected theme for later starts.
func (d *Themes) save() keymap.Requests {
	if d.items[d.At].fault != "" {
		d.say("This theme cannot be used, for the reason above.")
		return nil
	}
	d.Close()
	name := string(d.items[d.At].name)
	return keymap.SendCommands(session.SaveSetting{Key: "screen.theme", Value: &name})
}

// revert closes the dialog and restores the previous theme.
func (d *Themes) revert() keymap.Requests {
	d.Close()
	return keymap.Requests{keymap.ShowTheme(d.before)}
}

// Update handles the mouse.
func (d *Themes) Update(msg tea.Msg) keymap.Requests {
	if w := d.update(msg, d); keymap.Has[keymap.Clicked](w) {
		return w
	}
	return d.tryOn()
}

// tryOn requests the selected theme if another one is shown.
func (d *Themes) tryOn() keymap.Requests {
	if d.At >= len(d.items) {
		return nil
	}
	t := d.items[d.At]
	if t.name == d.worn || t.fault != "" {
		return nil
	}
	d.worn = t.name
	return keymap.Requests{keymap.ShowTheme(t.name)}
}

// savedWhere says where the selected theme is saved.
func (d *Themes) savedWhere() string {
	return fmt.Sprintf("%s saves it in %s", d.Keys.Name("list.choose"), cmp.Or(d.config, "config.toml"))
}

// View draws the list in the middle of the screen, with a sample of the theme beside
// or below it.
func (d *Themes) View(size draw.Rect) []string {
	const maxWidth, beside = 104, 66 // cells
	l := d.Styles
	width, inner := d.width(size, maxWidth)
	foot := d.foot(inner)
	room := max(size.H-3-len(foot), 1)
	sample := d.specimen()
	listed := min(len(d.items), room)
	listWidth := inner
	wide := inner >= beside
	switch {
	case wide:
		listWidth = inner - sampleWidth - 2
		room = max(min(room, max(len(d.items), len(sample))), 1)
		listed = min(len(d.items), room)
	case room-listed > len(sample):
	case room > len(sample)+6:
		listed = room - len(sample) - 1
	default:
		sample = d.swatch(inner)[:min(2, max(room-2, 0))]
		listed = max(min(listed, room-len(sample)), 1)
	}
	gap := !wide && len(sample) > 2
	lines, note := d.rows(len(d.items), listed, 1, func(i int) []string { return []string{d.row(d.items[i], i == d.At, listWidth)} })
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
	return d.framed(size, width, 0,
		d.section(l.Strong.Render("Themes"), note, l.Block(lines, inner, len(lines))),
		d.section("", "", l.Block(foot, inner, len(foot))))
}

// foot says where the theme is saved, and why its colors may not show.
func (d *Themes) foot(width int) []string {
	l := d.Styles
	style, text := l.Muted, d.savedWhere()
	switch item := d.items[d.At]; {
	case d.lastMessage() != "":
		style, text = l.Warning, d.lastMessage()
	case item.fault != "":
		style, text = l.Warning, item.fault
	case l.Theme.Mode.NoColor:
		text = "Themes have no colors here, because of NO_COLOR or --no-color."
	}
	lines := draw.Wrap(text, width)
	if len(lines) > 3 {
		lines = lines[:3]
	}
	return draw.Paint(style, lines)
}

// row draws a theme in the list.
func (d *Themes) row(t themeItem, chosen bool, width int) string {
	l := d.Styles
	line := l.Line(chosen, true)
	const column = 20 // cells for a name
	mark, style := " ", l.Text
	about := line.Draw(l.Muted, t.about)
	switch {
	case t.fault != "":
		style, about = l.Faint, line.Draw(l.Danger, "cannot be used")
	case t.name == d.before:
		mark, style = l.Glyphs.Done, l.Strong
	}
	head := line.Cursor + line.Draw(l.Success, mark) + line.Blank(1) + line.Draw(style, l.Cut(string(t.name), width-3))
	if width < column+24 {
		return line.Fill(head, width)
	}
	return line.Fill(line.Fill(head, column+3)+about, width)
}

// swatch is a specimen in two lines of width cells, for narrow dialogs.
func (d *Themes) swatch(width int) []string {
	l, g := d.Styles, d.Styles.Glyphs
	line := l.Line(true, true)
	states := l.Success.Render(g.Done+" ok") + " " + l.Running.Render(l.Spinner()+" runs") + " " + l.Warning.Render(g.Gate+" gate") + " " + l.Danger.Render(g.Failed+" bad") + " " + l.Matched(l.Text).Render("found")
	diff := line.Draw(l.Strong, "chosen") + line.Blank(1) + l.Removed.Render(" "+g.Removed+"old") + l.Added.Render(" "+g.Added+"new") + "  " + l.Theme.Paint(d.sample[min(1, len(d.sample)-1)])
	return []string{l.Fit(states, width), l.Fit(diff, width)}
}

// sampleWidth is the width of the specimen, and sampleColumn where its steps name
// their state, in cells.
const (
	sampleWidth  = 38
	sampleColumn = 26
)

// specimen draws a sample of the current theme.
func (d *Themes) specimen() []string {
	l, g := d.Styles, d.Styles.Glyphs
	step := func(chosen bool, glyph string, state lipgloss.Style, index, title, words string, last lipgloss.Style) string {
		line, name := l.Line(chosen, chosen), l.Text
		if chosen {
			name = l.Strong
		}
		drawn := line.Cursor + line.Draw(state, glyph) + line.Blank(1) + line.Draw(l.Accent, index) + line.Blank(1) + line.Draw(name, title)
		return line.Fill(line.Fill(drawn, sampleColumn)+line.Draw(last, words), sampleWidth)
	}
	lines := []string{
		l.Strong.Render("Strong") + "  " + l.Text.Render("text") + "  " + l.Muted.Render("muted") + "  " + l.Faint.Render("faint") + "  " + l.Matched(l.Text).Render("found"),
		"",
		step(false, g.Done, l.Success, "1", "Read the handler", "fs.read", l.Faint),
		step(false, l.Spinner(), l.Running, "2", "Run the tests", "1.5s", l.Running),
		step(true, g.Gate, l.Warning, "3", "Patch both files", "gate", l.Warning),
		step(false, g.Failed, l.Danger, "4", "Ask the server", "failed", l.Danger),
		"",
	}
	for _, line := range d.sample {
		lines = append(lines, l.Theme.Paint(line))
	}
	added, removed := l.Theme.DiffBackgrounds()
	taken, put := l.Removed, l.Added
	if removed.Line != nil {
		taken, put = taken.Background(removed.Line), put.Background(added.Line)
	}
	return append(lines, "",
		taken.Render(l.Fit(g.Removed+" authenticate(user)", sampleWidth)),
		put.Render(l.Fit(g.Added+" verify(user)", sampleWidth)))
}
