package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui/untrusted"
)

// settingsDialog shows what is in force and where each of it comes from. It
// changes for this session what can be changed, and writes no file.
type settingsDialog struct {
	look *look
	keys *keyMap
	open bool
	list
	word string
	told *session.Settings // nil while it is on its way
	live func(key string) (value string, ok bool)
	turn func(key string) bool // turns on or off what the screen can, at once
	path func(string) string
	find func(id string) (*action, place)
	copy func(what, text string) tea.Cmd
}

// ask opens the dialog and asks for what is in force.
func (d *settingsDialog) ask() query {
	d.open, d.list, d.word, d.told = true, list{}, "", nil
	return querySettings
}

func (d *settingsDialog) shown() bool { return d.open }

// take takes what is in force.
func (d *settingsDialog) take(s session.Settings) { d.told = &s }

func (d *settingsDialog) count() int {
	if d.told == nil {
		return 0
	}
	return len(d.told.Settings)
}

// setting is one of them as it stands now: what was changed in this session comes
// from there.
func (d *settingsDialog) setting(i int) session.Setting {
	s := d.told.Settings[i]
	if value, ok := d.live(s.Key); ok && value != s.Value && (value != "" || s.Value != "") {
		if s.Key == "model.name" && s.Value == "" {
			s.Source = "the server's first"
		} else {
			s.Source = "this session"
		}
		s.Value = value
		switch s.Literal {
		case "":
		case "true", "false":
			s.Literal = value
		default:
			s.Literal = strconv.Quote(value)
		}
	}
	return s
}

// opener is the action that changes a setting, "" where none does.
func opener(key string) string {
	return map[string]string{"model.name": "models", "profile": "models", "screen.theme": "themes", "review": "review.next"}[key]
}

func (d *settingsDialog) forget() { d.word = "" }

// handlers are the actions of the dialog.
func (d *settingsDialog) handlers() handlers {
	shut := handler{do: just(func() { d.open = false })}
	hs := handlers{"dialog.leave": shut, "settings": shut}.with(d.moving(false, d.count()))
	if d.at >= d.count() {
		return hs
	}
	s := d.setting(d.at)
	change := handler{do: func() wanted { return d.change(s) }}
	return hs.with(handlers{
		"settings.keep": {do: func() wanted {
			if line := keptLine(s); line != "" {
				return wanted{cmd: d.copy("the lines for "+s.Key, line)}
			}
			d.word = "No line of the configuration keeps this."
			return wanted{}
		}},
		"plan.open": change, "models.think_more": change,
	})
}

// change changes a setting for this session, or says what would.
func (d *settingsDialog) change(s session.Setting) wanted {
	if id := opener(s.Key); id != "" {
		if a, at := d.find(id); a != nil {
			d.open = id == "review.next" // which opens nothing
			return wanted{do: a, at: at}
		}
	}
	if s.Key == "model.think" {
		levels := prompt.ThinkLevels()
		next := levels[(slices.Index(levels, s.Value)+1)%len(levels)]
		if level, ok := prompt.ParseThinkLevel(next); ok {
			return sending(runner.Choose{Think: &level})
		}
	}
	switch {
	case d.turn(s.Key):
	case s.Key == "keys":
		d.word = "Keys are changed under [keys] in the configuration, from the next start on."
	case s.Key == "screen.no_color":
		d.word = "What the terminal can show is settled at the start: give --no-color or NO_COLOR. The theme mono has no colours either."
	case s.Literal == "":
		d.word = "It cannot be changed from here."
	default:
		d.word = "It holds from the next start on: keep it in the configuration, or give the flag."
	}
	return wanted{}
}

// keptLine is what goes into the configuration to keep a setting, "" where no
// line does.
func keptLine(s session.Setting) string {
	section, name, ok := strings.Cut(s.Key, ".")
	if !ok || s.Literal == "" {
		return ""
	}
	return "[" + section + "]\n" + name + " = " + s.Literal + "\n"
}

func (d *settingsDialog) hints() []hint {
	return []hint{d.keys.hint("change", "plan.open"), d.keys.hint("copy its line", "settings.keep"), d.keys.hint("close", "dialog.leave"), d.keys.hint("choose", "move.up", "move.down")}
}

func (d *settingsDialog) clicked(y int)     { d.list.clicked(y, d.count()) }
func (d *settingsDialog) wheeled(lines int) { d.move(lines/wheelStep, d.count()) }

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells.
func (d *settingsDialog) draw(screenWidth, height int) []string {
	const widest = 110
	l := d.look
	width := min(screenWidth, widest)
	inner := width - 4
	foot := d.foot(inner)
	foot = foot[:min(len(foot), max(height/3, 1))]
	room := max(height-3-len(foot), 1)
	var lines []string
	note := ""
	if d.told == nil {
		lines = []string{l.Faint.Render("Looking" + l.glyphs.Ellipsis)}
	} else {
		end := d.window(d.count(), room, 1)
		column := 0
		for _, s := range d.told.Settings {
			column = max(column, ansi.StringWidth(s.Key))
		}
		for i := d.top; i < end; i++ {
			lines = append(lines, d.row(i, min(column+2, inner/2), inner))
		}
		note = l.span(d.top, end, d.count())
	}
	for i, line := range foot {
		foot[i] = l.fit(line, inner)
	}
	framed := l.frame(width, l.Focus,
		section{title: l.Strong.Render("Settings"), note: note, lines: padded(l.block(lines, inner, len(lines))), style: l.Focus},
		section{lines: padded(foot), style: l.Focus})
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// row draws one setting: its key, its value and where that comes from.
func (d *settingsDialog) row(i, column, width int) string {
	l, s := d.look, d.setting(i)
	line := l.line(i == d.at, true)
	style, from := l.Text, l.Faint
	switch s.Source {
	case "default":
		style = l.Muted
	case "this session":
		style, from = l.Strong, l.Accent
	}
	drawn := line.cursor + line.fill(line.draw(l.Muted, l.cut(s.Key, column-1)), column)
	const source = 22 // cells
	room := width - visibleWidth(drawn)
	value := untrusted.Line(cmp.Or(s.Value, "none"))
	if room < 2*source {
		return line.fill(drawn+line.draw(style, value), width)
	}
	drawn += line.fill(line.draw(style, l.cut(value, room-source-1)), room-source)
	return line.fill(drawn+line.draw(from, s.Source), width)
}

// foot is what the chosen setting does, where it comes from, and how it is kept.
func (d *settingsDialog) foot(width int) []string {
	l := d.look
	var lines []string
	if d.word != "" {
		lines = paint(l.Warning, wrap(d.word, width))
	}
	if d.at < d.count() {
		s := d.setting(d.at)
		words := s.Source
		if s.About != "" {
			words += ": " + s.About
		}
		lines = append(lines, paint(l.Text, wrap(words, width))...)
		if kept := strings.Fields(strings.ReplaceAll(keptLine(s), "\n", " ")); len(kept) > 0 {
			lines = append(lines, l.cut(l.Code.Render(strings.Join(kept, " ")), width))
		}
	}
	if d.told != nil {
		file := d.path(d.told.File)
		if d.told.Missing {
			file += " (not there yet)"
		}
		lines = append(lines, l.Faint.Render(l.cutLeft(file, width)))
	}
	return lines
}

// liveSetting is what a setting has come to in this session.
func (m *Model) liveSetting(key string) (value string, ok bool) {
	switch key {
	case "model.name":
		return m.status.Model, true
	case "model.think":
		return levelName(m.status.Think), true
	case "profile":
		return cmp.Or(m.status.Profile, "none"), true
	case "screen.theme":
		return string(m.theming.chosen), true
	case "screen.ascii":
		return strconv.FormatBool(m.theming.mode.ASCII), true
	case "screen.reduced_motion":
		return strconv.FormatBool(m.theming.mode.Still), true
	case "review":
		if m.status.Review {
			return "on", true
		}
		return "off", true
	default:
		return "", false
	}
}

// turnSetting turns on or off what the screen can turn while it is open, and
// reports whether it was such a setting.
func (m *Model) turnSetting(key string) bool {
	mode := &m.theming.mode
	switch key {
	case "screen.ascii":
		mode.ASCII = !mode.ASCII
	case "screen.reduced_motion":
		mode.Still = !mode.Still
		m.clock.calm = mode.Still
	default:
		return false
	}
	m.dress()
	return true
}

// actionOf is an action by its id, with its place.
func (m *Model) actionOf(id string) (*action, place) {
	for i := range m.groups {
		for j := range m.groups[i].actions {
			if a := &m.groups[i].actions[j]; a.id == id {
				return a, m.groups[i].place
			}
		}
	}
	return nil, placeEverywhere
}

// openSettings opens what is in force.
func (m *Model) openSettings() tea.Cmd { return m.outbox.ask(m.settings.ask()) }
