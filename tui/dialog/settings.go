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
	Look *draw.Look
	Keys *keymap.Map
	open bool
	draw.List
	word string
	told *session.Settings // nil until the settings arrive
	Live func(key string) (value string, ok bool)
	Turn func(key string) bool // toggles a setting of the screen at once
	Path func(string) string
	Find func(id string) (*keymap.Action, keymap.Place)
	Copy func(what, text string) tea.Cmd
}

// Ask opens the dialog and requests the settings in force.
func (d *Settings) Ask() keymap.Query {
	d.open, d.List, d.word, d.told = true, draw.List{}, "", nil
	return keymap.QuerySettings
}

// Shown reports whether the dialog is open.
func (d *Settings) Shown() bool { return d.open }

// Take stores the settings in force.
func (d *Settings) Take(s session.Settings) { d.told = &s }

func (d *Settings) count() int {
	if d.told == nil {
		return 0
	}
	return len(d.told.Settings)
}

// setting returns the current state of a setting, including changes made in this
// session.
func (d *Settings) setting(i int) session.Setting {
	s := d.told.Settings[i]
	if value, ok := d.Live(s.Key); ok && value != s.Value && (value != "" || s.Value != "") {
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

// opener returns the action that changes a setting, or "" if none does.
func opener(key string) string {
	return map[string]string{"model.name": "models", "profile": "models", "screen.theme": "themes", "review": "review.next"}[key]
}

// Forget clears messages from the session.
func (d *Settings) Forget() { d.word = "" }

// Handlers returns the actions of the dialog.
func (d *Settings) Handlers() keymap.Handlers {
	shut := keymap.Handler{Do: keymap.Just(func() { d.open = false })}
	hs := keymap.Handlers{"dialog.leave": shut, "settings": shut}.With(d.Moving(false, d.count()))
	if d.At >= d.count() {
		return hs
	}
	s := d.setting(d.At)
	change := keymap.Handler{Do: func() keymap.Wanted { return d.change(s) }}
	return hs.With(keymap.Handlers{
		"settings.keep": {Do: func() keymap.Wanted {
			if line := keptLine(s); line != "" {
				return keymap.Wanted{Cmd: d.Copy("the lines for "+s.Key, line)}
			}
			d.word = "No line of the configuration keeps this."
			return keymap.Wanted{}
		}},
		"plan.open": change, "models.think_more": change,
	})
}

// change changes a setting for this session, or explains how to change it.
func (d *Settings) change(s session.Setting) keymap.Wanted {
	if id := opener(s.Key); id != "" {
		if a, at := d.Find(id); a != nil {
			d.open = id == "review.next" // this action opens no dialog
			return keymap.Wanted{Do: a, At: at}
		}
	}
	if s.Key == "model.think" {
		levels := prompt.ThinkLevels()
		next := levels[(slices.Index(levels, s.Value)+1)%len(levels)]
		if level, ok := prompt.ParseThinkLevel(next); ok {
			return keymap.Sending(runner.Choose{Think: &level})
		}
	}
	switch {
	case d.Turn(s.Key):
	case s.Key == "keys":
		d.word = "Keys are changed under [keys] in the configuration, from the next start on."
	case s.Key == "screen.no_color":
		d.word = "What the terminal can show is settled at the start: give --no-color or NO_COLOR. The theme mono has no colours either."
	case s.Literal == "":
		d.word = "It cannot be changed from here."
	default:
		d.word = "It holds from the next start on: keep it in the configuration, or give the flag."
	}
	return keymap.Wanted{}
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

// Clicked handles a mouse click.
func (d *Settings) Clicked(y int) { d.List.Clicked(y, d.count()) }

// Wheeled handles a turn of the mouse wheel.
func (d *Settings) Wheeled(lines int) { d.Move(lines/draw.WheelStep, d.count()) }

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Settings) Draw(screenWidth, height int) []string {
	const widest = 110
	l := d.Look
	width := min(screenWidth, widest)
	inner := width - 4
	foot := d.foot(inner)
	foot = foot[:min(len(foot), max(height/3, 1))]
	room := max(height-3-len(foot), 1)
	var lines []string
	note := ""
	if d.told == nil {
		lines = []string{l.Faint.Render("Looking" + l.Glyphs.Ellipsis)}
	} else {
		end := d.Window(d.count(), room, 1)
		column := 0
		for _, s := range d.told.Settings {
			column = max(column, ansi.StringWidth(s.Key))
		}
		for i := d.Top; i < end; i++ {
			lines = append(lines, d.row(i, min(column+2, inner/2), inner))
		}
		note = l.Span(d.Top, end, d.count())
	}
	for i, line := range foot {
		foot[i] = l.Fit(line, inner)
	}
	framed := l.Frame(width, l.Focus,
		draw.Section{Title: l.Strong.Render("Settings"), Note: note, Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus},
		draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
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
	if d.word != "" {
		lines = draw.Paint(l.Warning, draw.Wrap(d.word, width))
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
	if d.told != nil {
		file := d.Path(d.told.File)
		if d.told.Missing {
			file += " (not there yet)"
		}
		lines = append(lines, l.Faint.Render(l.CutLeft(file, width)))
	}
	return lines
}
