package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/themes"
	"replan/tui/chat"
	"replan/tui/panes"
)

// theming determines the theme from the user's choice and the terminal's
// reports.
type theming struct {
	set    *themes.Set
	chosen themes.Name // as displayed; auto follows the terminal
	mode   themes.Mode
	dark   bool // whether the terminal's background is dark, if known
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

// theme returns the current theme.
func (t *theming) theme() themes.Theme { return t.set.New(t.chosen, t.dark, t.mode) }

// handle processes a terminal's report about itself. It reports whether msg was
// one.
func (t *theming) handle(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		if msg.Color == nil {
			return false
		}
		t.dark, t.mode.Known = msg.IsDark(), true
	case tea.ColorProfileMsg:
		t.mode = t.mode.For(msg.Profile)
	case tea.ModeReportMsg:
		// Bubble Tea makes such a terminal measure width by grapheme clusters.
		if msg.Mode != ansi.ModeUnicodeCore || msg.Value != ansi.ModeReset && msg.Value != ansi.ModeSet && msg.Value != ansi.ModePermanentlySet {
			return false
		}
		t.method = ansi.GraphemeWidth
	default:
		return false
	}
	return true
}

// values adds the settings of the screen.
func (t *theming) values(values map[string]string) {
	values["screen.theme"] = string(t.chosen)
	values["screen.ascii"] = strconv.FormatBool(t.mode.ASCII)
	values["screen.reduced_motion"] = strconv.FormatBool(t.mode.Still)
}

// apply puts a setting of the screen into effect that the user saves.
func (m *Model) apply(k session.Keep) {
	mode, on := &m.theming.mode, k.Value != nil && *k.Value == "true"
	switch k.Key {
	case "screen.ascii":
		mode.ASCII = on
	case "screen.reduced_motion":
		mode.Still, m.clock.Calm = on, on
	case chat.KeyShowThinking:
		m.chat.ShowThinking(on)
	case panes.ChatWidth, panes.PlanHeight:
		m.panes.Set(k.Key, k.Value)
	}
	m.applyTheme()
}

// applyTheme redraws everything in the current theme.
func (m *Model) applyTheme() {
	t, before := m.theming.theme(), m.look.Theme
	if t.Name == before.Name && t.Mode == before.Mode && t.Palette == before.Palette && t.Background == before.Background && m.theming.method == m.look.Method {
		return
	}
	m.look.Method = m.theming.method
	m.look.Retheme(t)
	m.chat.Retheme()
	m.input.Retheme()
	m.ask.Retheme()
	m.dialogs.retheme()
	m.refresh()
}
