package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

// theming is what decides about the theme: what the user chose, and what the
// terminal has told of itself.
type theming struct {
	set    *themes.Set
	chosen themes.Name // as it is shown, auto where the terminal is followed
	mode   themes.Mode
	dark   bool // the terminal's background, as far as it is known
	method ansi.Method
}

func newTheming(o Options) theming {
	name := o.Theme
	if name == "" {
		name = themes.Auto
	}
	return theming{
		set: o.Themes, chosen: name, dark: true,
		mode: themes.Mode{ASCII: o.ASCII, NoColor: o.NoColor, Still: o.ReducedMotion},
	}
}

// theme is the theme as it is now.
func (t *theming) theme() themes.Theme { return t.set.New(t.chosen, t.dark, t.mode) }

// hears takes what the terminal tells of itself, and reports whether it was that.
func (t *theming) hears(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		if msg.Color == nil {
			return false
		}
		t.dark, t.mode.Known = msg.IsDark(), true
	case tea.ColorProfileMsg:
		switch {
		case msg.Profile >= colorprofile.TrueColor:
			t.mode.Depth = themes.TrueColour
		case msg.Profile == colorprofile.ANSI256:
			t.mode.Depth = themes.Colours256
		case msg.Profile == colorprofile.ANSI:
			t.mode.Depth = themes.Colours16
		default:
			t.mode.NoColor = true
		}
	case tea.ModeReportMsg:
		// Such a terminal is told by Bubble Tea to count by what belongs together.
		if msg.Mode != ansi.ModeUnicodeCore || msg.Value != ansi.ModeReset && msg.Value != ansi.ModeSet && msg.Value != ansi.ModePermanentlySet {
			return false
		}
		t.method = ansi.GraphemeWidth
	default:
		return false
	}
	return true
}

// hear takes what the terminal tells of itself.
func (m *Model) hear(msg tea.Msg) {
	if m.theming.hears(msg) {
		m.dress()
	}
}

// rethemer is whatever keeps something that it has drawn in a theme.
type rethemer interface{ Retheme() }

// dress shows everything in the theme as it is now.
func (m *Model) dress() {
	t, before := m.theming.theme(), m.look.Theme
	if t.Name == before.Name && t.Mode == before.Mode && t.Palette == before.Palette && t.Ground == before.Ground && m.theming.method == m.look.Method {
		return
	}
	m.look.Method = m.theming.method
	m.look.Retheme(t)
	for _, r := range []rethemer{m.chat, m.input, m.ask, &m.servers} {
		r.Retheme()
	}
	for _, o := range m.overlays {
		if r, ok := o.(rethemer); ok {
			r.Retheme()
		}
	}
	m.refresh()
}

// wear shows everything in a theme; to have it back afterwards is for whoever
// tries it on.
func (m *Model) wear(name themes.Name) {
	m.theming.chosen = name
	m.dress()
}
