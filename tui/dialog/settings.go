package dialog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Settings shows the settings in force and their sources. It changes settings for
// this session only and writes no file.
type Settings struct {
	list
	home     string            // home folder, shortened in paths
	settings *session.Settings // nil until the settings arrive

	values map[string]string // in force, of the settings that this session can change
}

// NewSettings returns the dialog, closed. home is the user's home folder.
func NewSettings(l *draw.Look, k *keymap.Map, home string) *Settings {
	return &Settings{list: newList(l, k), home: home}
}

// Open opens the dialog and requests the settings in force. values are those that
// this session can change.
func (d *Settings) Open(values map[string]string) keymap.Query {
	d.open()
	d.settings, d.values = nil, values
	return keymap.QuerySettings
}

// Changed stores the values that are in force now.
func (d *Settings) Changed(values map[string]string) { d.values = values }

// Update handles the mouse and the settings in force.
func (d *Settings) Update(msg tea.Msg) keymap.Request {
	if a, ok := msg.(keymap.AnswerMsg[session.Settings]); ok {
		d.settings = &a.Value
		return keymap.Request{}
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
	if value, ok := d.values[s.Key]; ok && value != s.Value && (value != "" || s.Value != "") {
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

// SessionValues returns the values of settings that a session has in force.
func SessionValues(s session.Status) map[string]string {
	review := "off"
	if s.Review {
		review = "on"
	}
	return map[string]string{
		"model.name": s.Model.Line(), "model.think": levelName(s.Think), "profile": cmp.Or(s.Profile.Line(), "none"), "review": review,
	}
}

// opener returns the action that changes a setting, or "" if none does.
func opener(key string) string {
	return map[string]string{"model.name": "models", "profile": "models", "screen.theme": "themes", "review": "review.next"}[key]
}

// Actions returns the actions of the dialog.
func (d *Settings) Actions() keymap.Handlers {
	hs := d.closing("settings").With(d.Moving(false, d.count()))
	if d.At >= d.count() {
		return hs.First(d.nextKey)
	}
	s := d.setting(d.At)
	change := keymap.Handler{Do: func() keymap.Request { return d.change(s) }}
	return hs.With(keymap.Handlers{
		"settings.keep": {Do: func() keymap.Request {
			if line := keptLine(s); line != "" {
				return keymap.Request{Copy: &keymap.Copied{What: "the lines for " + s.Key, Text: line}}
			}
			d.message = "This setting has no line in the configuration."
			return keymap.Request{}
		}},
		"plan.open": change, "models.think_more": change,
	}).First(d.nextKey)
}

// change changes a setting for this session, or explains how to change it.
func (d *Settings) change(s session.Setting) keymap.Request {
	if id := opener(s.Key); id != "" {
		d.shown = id == "review.next" // this action opens no dialog
		return keymap.Request{Action: id}
	}
	if s.Key == "model.think" {
		levels := prompt.ThinkLevels()
		next := levels[(slices.Index(levels, s.Value)+1)%len(levels)]
		if level, ok := prompt.ParseThinkLevel(next); ok {
			return keymap.SendCommands(runner.Choose{Think: &level})
		}
	}
	switch {
	case s.Key == "screen.ascii" || s.Key == "screen.reduced_motion":
		return keymap.Request{Toggle: s.Key}
	case s.Key == "keys":
		d.message = "Change keys under [keys] in the configuration; they apply from the next start on."
	case s.Key == "screen.no_color":
		d.message = "This is set at the start: use --no-color or NO_COLOR. The theme mono has no colours either."
	case s.Literal == "":
		d.message = "It cannot be changed here."
	default:
		d.message = "It applies from the next start on: set it in the configuration, or use the flag."
	}
	return keymap.Request{}
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
	return []keymap.Hint{d.Keys.Hint("change", "plan.open"), d.Keys.Hint("copy its line", "settings.keep"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down")}
}

// View draws the dialog in the middle of the screen.
func (d *Settings) View(size draw.Rect) []string {
	const widest = 110
	width, inner := d.width(size, widest)
	column := 0
	if d.settings != nil {
		for _, s := range d.settings.Settings {
			column = max(column, ansi.StringWidth(s.Key))
		}
	}
	foot := d.foot(inner)
	return d.view(size, listView{
		title: d.Look.Strong.Render("Settings"), width: width, count: d.count(), each: 1,
		row:   func(i int) []string { return []string{d.row(i, min(column+2, inner/2), inner)} },
		empty: []string{d.Look.Faint.Render("Looking" + d.Look.Glyphs.Ellipsis)},
		foot:  foot[:min(len(foot), max(size.H/3, 1))],
	})
}

// row draws one setting: its key, its value and its source.
func (d *Settings) row(i, column, width int) string {
	l, s := d.Look, d.setting(i)
	line := l.Line(i == d.At, true)
	style, from := l.Text, l.Faint
	switch s.Source {
	case "default":
		style = l.Muted
	case "this session":
		style, from = l.Strong, l.Accent
	}
	drawn := line.Cursor + line.Fill(line.Draw(l.Muted, l.Cut(s.Key, column-1)), column)
	const source = 22 // cells
	room := width - draw.VisibleWidth(drawn)
	value := untrusted.Line(cmp.Or(s.Value, "none"))
	if room < 2*source {
		return line.Fill(drawn+line.Draw(style, value), width)
	}
	drawn += line.Fill(line.Draw(style, l.Cut(value, room-source-1)), room-source)
	return line.Fill(drawn+line.Draw(from, s.Source), width)
}

// foot describes the selected setting, its source, and how to make it permanent.
func (d *Settings) foot(width int) []string {
	l := d.Look
	var lines []string
	if d.message != "" {
		lines = draw.Paint(l.Warning, draw.Wrap(d.message, width))
	}
	if d.At < d.count() {
		s := d.setting(d.At)
		words := s.Source
		if s.About != "" {
			words += ": " + s.About
		}
		lines = append(lines, draw.Paint(l.Text, draw.Wrap(words, width))...)
		if kept := strings.Fields(strings.ReplaceAll(keptLine(s), "\n", " ")); len(kept) > 0 {
			lines = append(lines, l.Cut(l.Code.Render(strings.Join(kept, " ")), width))
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
