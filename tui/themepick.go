package tui

import (
	"fmt"
	"strings"

	"replan/themes"
	"replan/tui/untrusted"
)

// themesDialog lists the themes there are. The one that is chosen is worn at
// once; leaving puts the one before on again.
type themesDialog struct {
	look   *look
	keys   *keyMap
	wear   func(themes.Name)
	set    *themes.Set
	config string // the file that keeps a theme for good, "" for none
	open   bool
	before themes.Name
	items  []themeItem
	sample [][]themes.CodeSpan
	list
	word string
}

// themeItem is a theme, or one that cannot be used.
type themeItem struct {
	name  themes.Name
	about string
	fault string // why it cannot be used
}

// openThemes opens the list with the theme that is worn chosen.
func (m *Model) openThemes() {
	d := m.picker
	*d = themesDialog{look: d.look, keys: d.keys, wear: m.wear, set: m.options.Themes, config: m.shortPath(m.options.Config), open: true, before: m.theming.chosen, sample: d.sample}
	d.items = append(d.items, themeItem{name: themes.Auto, about: "dark or light as the terminal is"})
	for _, t := range d.set.All() {
		d.items = append(d.items, themeItem{name: t.Name, about: untrusted.Line(t.About)})
	}
	for _, b := range d.set.Broken() {
		d.items = append(d.items, themeItem{name: b.Name, fault: untrusted.Line(b.Err.Error())})
	}
	for i, t := range d.items {
		if t.name == d.before && t.fault == "" {
			d.at = i
		}
	}
	if d.sample == nil {
		d.sample = themes.Code("// verify asks who it is.\nfunc verify(u User) error {\n    return deny(u, \"who?\", 403)\n}", "go")
	}
}

// shortPath is a path with the home folder shortened.
func (m *Model) shortPath(path string) string {
	if rest, ok := strings.CutPrefix(path, m.home+"/"); ok && m.home != "" {
		return "~/" + rest
	}
	return path
}

func (d *themesDialog) shown() bool { return d.open }

func (d *themesDialog) hints() []hint {
	return []hint{d.keys.hint("keep", "list.choose"), d.keys.hint("as before", "dialog.leave"), d.keys.hint("try on", "move.up", "move.down")}
}

func (d *themesDialog) forget() { d.word = "" }

// handlers are the actions of the dialog.
func (d *themesDialog) handlers() handlers {
	leave := handler{do: just(func() {
		d.open = false
		d.wear(d.before)
	})}
	at := d.at
	return d.moving(false, len(d.items)).then(func() { d.tryOn(at) }).with(handlers{
		"dialog.leave": leave, "themes": leave,
		"list.choose": {do: func() wanted {
			if d.items[d.at].fault != "" {
				d.word = "This theme cannot be used; its file says why above."
				return wanted{}
			}
			d.open = false
			return wanted{told: "theme " + string(d.items[d.at].name) + ", for this session"}
		}},
	})
}

// tryOn wears what is chosen where that has changed.
func (d *themesDialog) tryOn(before int) {
	if d.at != before && d.items[d.at].fault == "" {
		d.wear(d.items[d.at].name)
	}
}

// keeping says how the chosen theme is kept for good.
func (d *themesDialog) keeping() string {
	file := d.config
	if file == "" {
		file = "config.toml"
	}
	return fmt.Sprintf("For good: theme = %q under [screen] in %s", d.items[d.at].name, file)
}

func (d *themesDialog) wheeled(lines int) {
	at := d.at
	d.move(lines/wheelStep, len(d.items))
	d.tryOn(at)
}

// clicked chooses what is drawn at that line of the dialog's area.
func (d *themesDialog) clicked(y int) {
	at := d.at
	if d.list.clicked(y, len(d.items)) {
		d.word = ""
		d.tryOn(at)
	}
}

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells: the list, and beside or under it what the theme looks like.
func (d *themesDialog) draw(screenWidth, height int) []string {
	const most, beside = 104, 66 // cells
	l := d.look
	width := min(screenWidth, most)
	inner := width - 4
	foot := d.foot(inner)
	room := max(height-3-len(foot), 1)
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
	end := d.window(len(d.items), listed, 1)
	var lines []string
	for i := d.top; i < end; i++ {
		lines = append(lines, d.row(d.items[i], i == d.at, listWidth))
	}
	switch {
	case wide:
		lines = l.block(lines, listWidth, max(len(lines), min(len(sample), room)))
		for i := range lines {
			shown := ""
			if i < len(sample) {
				shown = sample[i]
			}
			lines[i] += "  " + l.fit(shown, sampleWidth)
		}
	case gap:
		lines = append(append(lines, ""), sample...)
	default:
		lines = append(lines, sample...)
	}
	for i, line := range foot {
		foot[i] = l.fit(line, inner)
	}
	framed := l.frame(width, l.Focus,
		section{title: l.Strong.Render("Themes"), note: l.span(d.top, end, len(d.items)), lines: padded(l.block(lines, inner, len(lines))), style: l.Focus},
		section{lines: padded(foot), style: l.Focus})
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// foot is how the theme is kept, and what keeps its colours from the screen.
func (d *themesDialog) foot(width int) []string {
	l := d.look
	style, text := l.Muted, d.keeping()
	switch item := d.items[d.at]; {
	case d.word != "":
		style, text = l.Warning, d.word
	case item.fault != "":
		style, text = l.Warning, item.fault
	case l.theme.Mode.NoColor:
		text = "No theme has colours here: NO_COLOR or --no-color says so."
	}
	lines := wrap(text, width)
	if len(lines) > 3 {
		lines = lines[:3]
	}
	return paint(style, lines)
}

// row draws a theme of the list.
func (d *themesDialog) row(t themeItem, chosen bool, width int) string {
	l := d.look
	line := l.line(chosen, true)
	const column = 20 // cells for a name
	mark, style := " ", l.Text
	about := line.draw(l.Muted, t.about)
	switch {
	case t.fault != "":
		style, about = l.Faint, line.draw(l.Danger, "cannot be used")
	case t.name == d.before:
		mark, style = l.glyphs.Done, l.Strong
	}
	head := line.cursor + line.draw(l.Success, mark) + line.blank(1) + line.draw(style, l.cut(string(t.name), width-3))
	if width < column+24 {
		return line.fill(head, width)
	}
	return line.fill(line.fill(head, column+3)+about, width)
}

// swatch is the specimen in two lines of width cells, for where it has no room.
func (d *themesDialog) swatch(width int) []string {
	l, g := d.look, d.look.glyphs
	line := l.line(true, true)
	states := l.Success.Render(g.Done+" ok") + " " + l.Running.Render(l.spinner()+" runs") + " " + l.Warning.Render(g.Gate+" gate") + " " + l.Danger.Render(g.Failed+" bad") + " " + l.Matched(l.Text).Render("found")
	diff := line.draw(l.Strong, "chosen") + line.blank(1) + l.Removed.Render(" "+g.Removed+"old") + l.Added.Render(" "+g.Added+"new") + "  " + l.theme.Paint(d.sample[min(1, len(d.sample)-1)])
	return []string{l.fit(states, width), l.fit(diff, width)}
}

// sampleWidth is how wide the specimen is, in cells.
const sampleWidth = 38

// specimen is what the theme that is worn looks like.
func (d *themesDialog) specimen() []string {
	l, g := d.look, d.look.glyphs
	chosen := l.line(true, true)
	lines := []string{
		l.Strong.Render("Strong") + "  " + l.Text.Render("text") + "  " + l.Muted.Render("muted") + "  " + l.Faint.Render("faint") + "  " + l.Matched(l.Text).Render("found"),
		"",
		l.Success.Render(g.Done) + " " + l.Accent.Render("1") + " " + l.Text.Render("Read the handler") + "      " + l.Faint.Render("fs.read"),
		l.Running.Render(l.spinner()) + " " + l.Accent.Render("2") + " " + l.Text.Render("Run the tests") + "         " + l.Running.Render("1.5s"),
		chosen.fill(chosen.cursor+chosen.draw(l.Warning, g.Gate)+chosen.blank(1)+chosen.draw(l.Strong, "3 Patch both files")+chosen.blank(2)+chosen.draw(l.Warning, "gate"), sampleWidth),
		l.Danger.Render(g.Failed) + " " + l.Accent.Render("4") + " " + l.Text.Render("Ask the server") + "        " + l.Danger.Render("failed"),
		"",
	}
	for _, line := range d.sample {
		lines = append(lines, l.theme.Paint(line))
	}
	added, removed := l.theme.Grounds()
	taken, put := l.Removed, l.Added
	if removed.Line != nil {
		taken, put = taken.Background(removed.Line), put.Background(added.Line)
	}
	return append(lines, "",
		taken.Render(l.fit(g.Removed+" authenticate(user)", sampleWidth)),
		put.Render(l.fit(g.Added+" verify(user)", sampleWidth)))
}
