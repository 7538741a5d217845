package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Models lists the server's models and the profiles so that the user can pick one
// for the session.
type Models struct {
	Look     *draw.Look
	Keys     *keymap.Map
	open     bool
	asked    bool // waiting for the list
	there    session.Models
	profiles bool   // show profiles instead of models
	search   string // name filter
	level    prompt.ThinkLevel
	draw.List
	word string
}

// Ask opens the dialog and requests the list.
func (d *Models) Ask(s session.Status) keymap.Query {
	*d = Models{Look: d.Look, Keys: d.Keys, open: true, asked: true, level: s.Think}
	return keymap.QueryModels
}

// Take stores the list and selects the session's current model or profile.
func (d *Models) Take(l session.Models) {
	d.there = l
	if d.asked {
		d.asked, d.level = false, l.Think
		d.home()
	}
	d.Move(0, len(d.entries()))
}

// home selects the session's current model or profile.
func (d *Models) home() {
	d.At, d.Top = 0, 0
	for i, e := range d.entries() {
		if d.current(e) {
			d.At = i
		}
	}
}

// entry is a selectable line: a model or a profile.
type entry struct {
	name  string // "" means no profile
	model *prompt.ModelInfo
	says  string // profile description
}

func (d *Models) current(e entry) bool {
	if e.model != nil {
		return prompt.SameModel(e.name, d.there.Model)
	}
	return e.name == d.there.Profile
}

// entries returns the entries whose names match the search.
func (d *Models) entries() []entry {
	var all []entry
	if d.profiles {
		all = append(all, entry{says: "the session's own way of working"})
		for _, p := range d.there.Profiles {
			all = append(all, entry{name: p.Name, says: p.Description})
		}
	} else {
		for i := range d.there.Models {
			all = append(all, entry{name: d.there.Models[i].Name, model: &d.there.Models[i]})
		}
	}
	search := strings.ToLower(d.search)
	return slices.DeleteFunc(all, func(e entry) bool { return !strings.Contains(strings.ToLower(e.name), search) })
}

// Forget clears messages from the session.
func (d *Models) Forget() { d.word = "" }

// Handlers returns the actions of the dialog.
func (d *Models) Handlers() keymap.Handlers {
	leave := func() {
		if d.search == "" {
			d.open = false
			return
		}
		d.seek("")
	}
	return keymap.Handlers{
		"dialog.leave":      {Do: keymap.Just(leave)},
		"models":            {Do: keymap.Just(func() { d.open = false })},
		"models.think_more": {Do: keymap.Just(func() { d.think(1) })},
		"models.think_less": {Do: keymap.Just(func() { d.think(-1) })},
		"list.other": {Do: keymap.Just(func() {
			d.profiles = !d.profiles
			d.seek("")
		})},
		"list.choose": {Do: func() keymap.Wanted {
			if c := d.choose(); c != nil {
				return keymap.Sending(c)
			}
			return keymap.Wanted{}
		}},
	}.With(d.Moving(true, len(d.entries())), keymap.Searching(d.search, d.seek))
}

// seek sets the search text and selects the session's current model or profile.
func (d *Models) seek(text string) {
	d.search = text
	d.home()
}

// Typed adds typed text to the search.
func (d *Models) Typed(k tea.KeyPressMsg) keymap.Wanted {
	if k.Text != "" && k.Text != " " {
		d.search += untrusted.Line(k.Text)
		d.At, d.Top = 0, 0
	}
	return keymap.Wanted{}
}

// Shown reports whether the dialog is open.
func (d *Models) Shown() bool { return d.open }

// Types reports whether keys go to a text field.
func (d *Models) Types() bool { return true }

// Hints lists the keys that are active now.
func (d *Models) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("choose", "list.choose"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint(d.other(), "list.other"), d.Keys.Hint("think", "models.think_less", "models.think_more"), d.Keys.Hint("move", "list.up", "list.down")}
}

// think switches to the next or previous thinking level.
func (d *Models) think(by int) {
	levels := prompt.ThinkLevels()
	at := slices.Index(levels, LevelName(d.level))
	level, ok := prompt.ParseThinkLevel(levels[max(min(at+by, len(levels)-1), 0)])
	if ok {
		d.level = level
	}
}

// LevelName returns the configuration name of a thinking level.
func LevelName(l prompt.ThinkLevel) string {
	if l == prompt.ThinkAuto {
		return "auto"
	}
	return string(l)
}

// choose returns a command for the settings that differ from the session's.
func (d *Models) choose() runner.Command {
	entries := d.entries()
	if d.asked || len(entries) == 0 {
		return nil
	}
	e := entries[d.At]
	var c runner.Choose
	if level := d.level; level != d.there.Think {
		c.Think = &level
	}
	switch {
	case e.model != nil && !e.model.Chats:
		d.word = "This model cannot answer, it only turns text into vectors: choose another."
		return nil
	case d.current(e):
	case e.model != nil:
		c.Model = &e.name
	default:
		c.Profile = &e.name
	}
	if c == (runner.Choose{}) {
		d.word = "The session works that way already; " + d.Keys.Name("dialog.leave") + " leaves it so."
		return nil
	}
	d.open = false
	return c
}

// Wheeled handles a turn of the mouse wheel.
func (d *Models) Wheeled(lines int) { d.Move(lines/draw.WheelStep, len(d.entries())) }

// Clicked selects the entry drawn at line y of the dialog's area.
func (d *Models) Clicked(y int) {
	if d.List.Clicked(y, len(d.entries())) {
		d.word = ""
	}
}

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Models) Draw(screenWidth, height int) []string {
	const widest, oneLine = 104, 84 // cells
	l := d.Look
	width := min(screenWidth, widest)
	inner := width - 4
	foot := d.foot(inner)
	each := 1
	if inner < oneLine {
		each = 2
	}
	room := max(height-3-len(foot), each)
	entries := d.entries()
	var lines []string
	note := ""
	switch {
	case len(entries) == 0:
		lines = draw.Paint(l.Faint, draw.Wrap(d.empty(), inner))
		if d.there.Problem != "" && !d.profiles {
			lines = draw.Paint(l.Warning, draw.Wrap(untrusted.Line(d.there.Problem), inner))
		}
	default:
		end := d.Window(len(entries), room, each)
		for i := d.Top; i < end; i++ {
			lines = append(lines, d.row(entries[i], i == d.At, inner)...)
		}
		note = l.Span(d.Top, end, len(entries))
	}
	if len(lines) > room {
		lines = lines[:room]
	}
	for i, line := range foot {
		foot[i] = l.Fit(line, inner)
	}
	framed := l.Frame(width, l.Focus,
		draw.Section{Title: d.title(), Note: note, Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus},
		draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
}

// empty explains why the list is empty.
func (d *Models) empty() string {
	switch {
	case d.asked:
		return "Asking the server for its models" + d.Look.Glyphs.Ellipsis
	case d.search != "":
		return "No name contains " + d.search + "; " + d.Keys.Name("list.erase") + " takes a letter back."
	default:
		return "The server has no models yet: ollama pull qwen3:8b gets one that can use tools."
	}
}

// other names the list that is not in view.
func (d *Models) other() string {
	if d.profiles {
		return "models"
	}
	return "profiles"
}

// title names both lists and underlines the one in view.
func (d *Models) title() string {
	l := d.Look
	draw := func(name string, chosen bool) string {
		if chosen {
			return l.Accent.Bold(true).Underline(true).Render(name)
		}
		return l.Muted.Render(name)
	}
	return draw("Models", !d.profiles) + l.Faint.Render(" "+l.Glyphs.Separator+" ") + draw("Profiles", d.profiles)
}

// foot shows the search text, the thinking level and why the last key had no
// effect.
func (d *Models) foot(width int) []string {
	l := d.Look
	search := l.Faint.Render("type to search")
	if d.search != "" {
		search = l.Faint.Render("search ") + l.Strong.Render(l.Cut(d.search, 20))
	}
	var levels []string
	for _, name := range prompt.ThinkLevels() {
		style := l.Faint
		if name == LevelName(d.level) {
			style = l.Accent.Bold(true).Underline(true)
		}
		levels = append(levels, style.Render(name))
	}
	think := l.Muted.Render("think ") + strings.Join(levels, " ")
	lines := draw.Flow([]string{think, search}, "    ", width)
	for i, line := range lines {
		lines[i] = l.Cut(line, width)
	}
	if d.word != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.word, width))...)
	}
	return lines
}

// row draws a model or a profile.
func (d *Models) row(e entry, chosen bool, width int) []string {
	l := d.Look
	line := l.Line(chosen, true)
	mark := " "
	if d.current(e) {
		mark = l.Glyphs.Done
	}
	name, style := untrusted.Line(e.name), l.Text
	switch {
	case e.name == "":
		name, style = "none", l.Muted
	case e.model != nil && !e.model.Chats:
		style = l.Faint
	case d.current(e):
		style = l.Strong
	}
	facts := []string{untrusted.Line(e.says)}
	if e.model != nil {
		facts = modelFacts(*e.model, d.Each == 1)
	}
	between := " " + l.Glyphs.Separator + " "
	head := line.Cursor + line.Draw(l.Success, mark) + line.Blank(1)
	if d.Each > 1 {
		told := strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), between)
		return []string{
			line.Fill(head+line.Draw(style, name), width),
			line.Fill(line.Cursor+line.Draw(l.Muted, "  "+l.Cut(told, width-3)), width),
		}
	}
	const beside = 62 // cells for the columns beside model names
	column := min(d.longest()+2, max(width-beside, 12))
	drawn := line.Fill(head+line.Draw(style, l.Cut(name, column-1)), column+3)
	if e.model == nil {
		return []string{line.Fill(drawn+line.Draw(l.Muted, facts[0]), width)}
	}
	for i, w := range []int{8, 9, 9, 9} { // parameters, quantization, size, context
		drawn += line.Draw(l.Muted, l.Fit(facts[i], w))
	}
	return []string{line.Fill(drawn+line.Draw(l.Muted, strings.Join(facts[4:], between)), width)}
}

// longest returns the width of the longest name, in cells.
func (d *Models) longest() int {
	w := len("none")
	for _, e := range d.entries() {
		w = max(w, ansi.StringWidth(untrusted.Line(e.name)))
	}
	return w
}

// modelFacts returns a model's parameters, quantization, size, context and
// abilities for display in columns. Without columns, it returns them in order of
// importance. Unknown facts are "".
func modelFacts(m prompt.ModelInfo, columns bool) []string {
	size, context := "", ""
	if m.Bytes > 0 {
		size = bytesWords(m.Bytes)
	}
	if room := cmp.Or(m.ContextWindow, m.Longest); room > 0 {
		context = telling.WindowSize(room)
		if !columns {
			context += " ctx"
		}
	}
	facts := []string{untrusted.Line(m.Parameters), untrusted.Line(m.Quantization), size, context}
	var abilities []string
	for _, ability := range []struct {
		has  bool
		word string
	}{{m.Tools, "tools"}, {m.Thinks, "thinks"}, {!m.Chats, "no chat"}, {m.Loaded, "loaded"}} {
		if ability.has {
			abilities = append(abilities, ability.word)
		}
	}
	if columns {
		return append(facts, abilities...)
	}
	return append(abilities, context, facts[0], size, facts[1])
}

// bytesWords formats a size on disk: 640 MB, 5.2 GB.
func bytesWords(n int64) string {
	const mega, giga = 1_000_000, 1_000_000_000
	if n < giga {
		return fmt.Sprintf("%d MB", max(n/mega, 1))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/giga)
}

// Info returns what is known about a model. Its name is empty if nothing is known.
func (d *Models) Info(name string) prompt.ModelInfo {
	for _, info := range d.there.Models {
		if prompt.SameModel(info.Name, name) {
			return info
		}
	}
	return prompt.ModelInfo{}
}
