package dialog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Settings shows the settings in force and their sources. A changed setting is saved
// in the user's configuration.
type Settings struct {
	list
	home     string            // home folder, shortened in paths
	settings *session.Settings // nil until the settings arrive

	values map[string]string // in force, of the settings that this session can change

	editing bool // a number or a time is typed
	text    string
}

// NewSettings returns the dialog, closed. home is the user's home folder.
func NewSettings(l *draw.Styles, k *keymap.Map, home string) *Settings {
	return &Settings{list: newList(l, k), home: home}
}

// Open opens the dialog and requests the settings in force. values are those that
// this session can change.
func (d *Settings) Open(values map[string]string) keymap.Query {
	d.open()
	d.settings, d.values, d.editing = nil, values, false
	return keymap.QuerySettings
}

// Changed stores the values that are in force now.
func (d *Settings) Changed(values map[string]string) { d.values = values }

// Update handles the mouse and the settings in force.
func (d *Settings) Update(msg tea.Msg) keymap.Requests {
	if a, ok := msg.(keymap.AnswerMsg[session.Settings]); ok {
		d.settings = &a.Value
		return nil
	}
	if d.editing {
		d.text += typed(msg)
		return nil
	}
	return d.update(msg, d)
}

func (d *Settings) count() int {
	if d.settings == nil {
		return 0
	}
	return len(d.settings.Settings)
}

// setting returns the current state of a setting, including changes made in this
// session.
func (d *Settings) setting(i int) session.Setting {
	s := d.settings.Settings[i]
	value, ok := d.values[s.Key]
	if !ok || value == s.Value || value == "" && s.Value == "" {
		return s
	}
	switch {
	case s.Saved != nil && *s.Saved == value:
		s.Source = "user file"
	case s.Key == "model.name" && s.Value == "":
		s.Source = "the server's first"
	default:
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
	return s
}

// next returns the value that a setting has from the next start on, if that differs
// from the one in force.
func (d *Settings) next(s session.Setting) (value string, differs bool) {
	_, live := d.values[s.Key]
	fixed := s.Source == "environment" || s.Source == "this command" || strings.HasPrefix(s.Source, "flag")
	switch {
	case live, fixed, s.Literal == "" && s.Saved == nil:
		return "", false
	case s.Saved == nil:
		return "default", s.Source == "user file"
	default:
		return *s.Saved, *s.Saved != plain(s.Literal)
	}
}

// plain returns a literal of TOML as text.
func plain(literal string) string {
	if text, err := strconv.Unquote(literal); err == nil {
		return text
	}
	return literal
}

// SessionValues returns the values of settings that a session has in force.
func SessionValues(s session.Status) map[string]string {
	return map[string]string{
		"model.name": s.Model.Line(), "model.think": levelName(s.Think), "profile": cmp.Or(s.Profile.Line(), "none"),
		"screen.review": strconv.FormatBool(s.Review), "planning.planner_model": s.PlannerModel.Line(),
	}
}

// opener returns the action that changes a setting, or "" if none does.
func opener(key string) string {
	return map[string]string{"model.name": "models", "profile": "models", "planning.planner_model": "models", "screen.theme": "themes"}[key]
}

// Typing reports that letters are text while a value is edited.
func (d *Settings) Typing() bool { return d.editing }

// Actions returns the actions of the dialog.
func (d *Settings) Actions() keymap.Handlers {
	if d.editing {
		return keymap.Searching(d.text, func(text string) { d.text = text }).With(valueActions().For(d))
	}
	hs := settingsActions().For(d).With(d.Moving(false, d.count()))
	if d.At < d.count() {
		hs = hs.With(settingActions().For(d))
	}
	return hs.First(d.nextKey)
}

// settingsActions are the actions of the dialog.
func settingsActions() keymap.Table[*Settings] {
	return keymap.Table[*Settings]{
		closing[*Settings]("dialog.leave"),
		closing[*Settings]("settings"),
	}
}

// valueActions are the actions while the user edits a value.
func valueActions() keymap.Table[*Settings] {
	return keymap.Table[*Settings]{
		{ID: "list.choose", Do: (*Settings).saveText},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Settings) { d.editing = false })},
	}
}

// saveText saves the edited value.
func (d *Settings) saveText() keymap.Requests {
	d.editing = false
	return save(d.setting(d.At).Key, strings.TrimSpace(d.text))
}

// settingActions are the actions on the chosen setting.
func settingActions() keymap.Table[*Settings] {
	return keymap.Table[*Settings]{
		{ID: "settings.keep", Keys: "y", Does: "copy the configuration line of the setting", Do: (*Settings).copyLine},
		{ID: "settings.reset", Keys: "r", Does: "remove the setting from the configuration", Do: (*Settings).reset},
		{ID: "plan.open", Do: (*Settings).change},
		{ID: "models.think_more", Do: (*Settings).change},
	}
}

// copyLine copies the configuration line of the chosen setting.
func (d *Settings) copyLine() keymap.Requests {
	s := d.setting(d.At)
	if line := keptLine(s); line != "" {
		return keymap.Requests{keymap.Copy{What: "the lines for " + s.Key, Text: line}}
	}
	d.say("This setting has no line in the configuration.")
	return nil
}

// save returns a request to save a setting for later starts.
func save(key, value string) keymap.Requests {
	return keymap.SendCommands(session.SaveSetting{Key: key, Value: &value})
}

// change changes the chosen setting and saves it, or explains how to change it.
func (d *Settings) change() keymap.Requests {
	s := d.setting(d.At)
	if id := opener(s.Key); id != "" {
		d.Close()
		return keymap.Requests{keymap.DoAction(id)}
	}
	now := plain(s.Literal)
	if next, differs := d.next(s); differs && s.Saved != nil {
		now = next
	}
	choices := s.Choices
	if now == "true" || now == "false" {
		choices = []string{"false", "true"}
	}
	following := ""
	if len(choices) > 0 {
		following = choices[(slices.Index(choices, now)+1)%len(choices)]
	}
	switch {
	case s.Key == "model.think":
		level, _ := prompt.ParseThinkLevel(following)
		return keymap.SendCommands(session.Choose{Think: &level})
	case s.Key == "screen.review":
		return keymap.SendCommands(session.Hold{On: following == "true"})
	case following != "":
		return save(s.Key, following)
	case s.Key == "keys":
		d.say("Change keys under [keys] in the configuration; they apply from the next start on.")
	case isFigure(now):
		d.editing, d.text = true, now
	case s.Literal == "":
		d.say("It cannot be changed here.")
	default:
		d.say("Change it in the configuration, or with its flag.")
	}
	return nil
}

// isFigure reports whether a value is a number or a time.
func isFigure(text string) bool {
	_, err := strconv.Atoi(text)
	_, notTime := time.ParseDuration(text)
	return err == nil || notTime == nil
}

// reset removes the chosen setting from the user's file. Where the session can, it returns
// to the default at once.
func (d *Settings) reset() keymap.Requests {
	s := d.setting(d.At)
	if s.Saved == nil {
		d.say("The file does not name " + s.Key + ".")
		return nil
	}
	removed := session.SaveSetting{Key: s.Key}
	switch s.Key {
	case "model.name":
		return keymap.SendCommands(session.Choose{Model: new("")})
	case "planning.planner_model":
		return keymap.SendCommands(session.Choose{Planner: new("")})
	case "model.think":
		return keymap.Requests{session.Choose{Think: new(prompt.ThinkAuto)}, removed}
	case "screen.review":
		return keymap.SendCommands(session.Hold{})
	case "screen.theme":
		return keymap.Requests{keymap.ShowTheme(themes.Auto), removed}
	}
	return keymap.SendCommands(removed)
}

// keptLine returns the configuration line that makes a setting permanent, or "" if
// there is none.
func keptLine(s session.Setting) string {
	section, name, ok := strings.Cut(s.Key, ".")
	if !ok || s.Literal == "" {
		return ""
	}
	return "[" + section + "]\n" + name + " = " + s.Literal + "\n"
}

// Hints lists the keys that are active now.
func (d *Settings) Hints() []keymap.Hint {
	if d.editing {
		return []keymap.Hint{d.Keys.Hint("save", "list.choose"), d.Keys.Hint("discard", "dialog.leave")}
	}
	return []keymap.Hint{d.Keys.Hint("change", "plan.open"), d.Keys.Hint("reset", "settings.reset"), d.Keys.Hint("copy its line", "settings.keep"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down")}
}

// View draws the dialog in the middle of the screen.
func (d *Settings) View(size draw.Rect) []string {
	const widest = 110
	width, inner := d.width(size, widest)
	foot := d.foot(inner)
	return d.view(size, listView{
		title: d.Styles.Strong.Render("Settings"), width: width, count: d.count(), each: 1,
		row:   func(i int) []string { return []string{d.row(i, d.columns(inner), inner)} },
		empty: []string{d.Styles.Faint.Render("Looking" + d.Styles.Glyphs.Ellipsis)},
		foot:  foot[:min(len(foot), max(size.H/3, 1))],
	})
}

// settingColumns are the widths of the columns of keys, in cells.
type settingColumns struct {
	section int // 0 where the names of the sections stand before each key
	name    int
}

// columns returns the widths of the columns of keys in rows of width cells.
func (d *Settings) columns(width int) settingColumns {
	var c settingColumns
	whole := 0
	if d.settings != nil {
		for _, s := range d.settings.Settings {
			section, name := sectionOf(s.Key)
			c.section, c.name, whole = max(c.section, ansi.StringWidth(section)+2), max(c.name, ansi.StringWidth(name)+2), max(whole, ansi.StringWidth(s.Key)+2)
		}
	}
	if c.section+c.name > width/2 {
		return settingColumns{name: min(whole, width/2)}
	}
	return c
}

// sectionOf splits a key into the name of its section in the configuration and its name
// there, "" for a key outside of all sections.
func sectionOf(key string) (section, name string) {
	if section, name, found := strings.Cut(key, "."); found {
		return section, name
	}
	return key, ""
}

// heading returns the name of the section that begins with a row in view, else "".
func (d *Settings) heading(i int) string {
	section, _ := sectionOf(d.settings.Settings[i].Key)
	if i > d.Top {
		if above, _ := sectionOf(d.settings.Settings[i-1].Key); above == section {
			return ""
		}
	}
	return section
}

// row draws one setting: its section, its key, its value and its source.
func (d *Settings) row(i int, columns settingColumns, width int) string {
	l, s := d.Styles, d.setting(i)
	line := l.Line(i == d.At, true)
	style, from := l.Text, l.Faint
	switch s.Source {
	case "default":
		style = l.Muted
	case "this session":
		style, from = l.Strong, l.Accent
	}
	drawn, name := line.Cursor, s.Key
	if columns.section > 0 {
		_, name = sectionOf(s.Key)
		drawn += line.Fill(line.Draw(l.Strong, d.heading(i)), columns.section)
	}
	drawn += line.Fill(line.Draw(l.Muted, l.Cut(name, columns.name-1)), columns.name)
	const source = 22 // cells
	room := width - draw.VisibleWidth(drawn)
	value := untrusted.Line(cmp.Or(s.Value, "none"))
	if next, differs := d.next(s); differs {
		style = l.Strong
		value += " " + l.Glyphs.Separator + " " + untrusted.Line(next) + " after a restart"
	}
	if room < 2*source {
		return line.Fill(drawn+line.Draw(style, value), width)
	}
	drawn += line.Fill(line.Draw(style, l.Cut(value, room-source-1)), room-source)
	return line.Fill(drawn+line.Draw(from, s.Source), width)
}

// foot describes the selected setting: what it does, when a change takes effect,
// and what the user's file says.
func (d *Settings) foot(width int) []string {
	l := d.Styles
	var lines []string
	add := func(style lipgloss.Style, text string) {
		lines = append(lines, draw.Paint(style, draw.Wrap(text, width))...)
	}
	if d.lastMessage() != "" {
		add(l.Warning, d.lastMessage())
	}
	if d.At < d.count() {
		s := d.setting(d.At)
		if d.editing {
			lines = append(lines, l.CutLeft(l.Muted.Render(s.Key+" = ")+l.Strong.Render(untrusted.Line(d.text))+l.Selected(l.Text).Render(" "), width))
		}
		words := s.Key + " " + l.Glyphs.Separator + " " + s.Source
		if s.About != "" {
			words += ": " + s.About
		}
		add(l.Text, words)
		switch _, differs := d.next(s); {
		case differs:
			add(l.Warning, "Takes effect after a restart.")
		case s.Saved != nil && s.Source != "user file" && *s.Saved != plain(s.Literal):
			add(l.Muted, "The user file says "+untrusted.Line(*s.Saved)+".")
		}
	}
	if d.settings != nil {
		file := draw.ShortPath(d.settings.File, d.home)
		if d.settings.Missing {
			file += " (does not exist yet)"
		}
		lines = append(lines, l.Faint.Render(l.CutLeft(file, width)))
	}
	return lines
}
