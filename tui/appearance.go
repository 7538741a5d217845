package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/draw"
)

// The settings of the appearance.
const (
	settingTheme         = "screen.theme"
	settingASCII         = "screen.ascii"
	settingReducedMotion = "screen.reduced_motion"
)

// appearance is how the screen looks: the theme, by the user's choice and the terminal's
// reports.
type appearance struct {
	styles *draw.Styles // what everything is drawn with
	set    *themes.Set
	chosen themes.Name // as displayed; auto follows the terminal
	mode   themes.Mode
	dark   bool // whether the terminal's background is dark, if known
	method ansi.Method
}

func newAppearance(o Options) *appearance {
	name := o.Theme
	if name == "" {
		name = themes.Auto
	}
	a := &appearance{
		set: o.Themes, chosen: name, dark: true,
		mode: themes.Mode{ASCII: o.ASCII, NoColor: o.NoColor, Still: o.ReducedMotion},
	}
	a.styles = draw.NewStyles(a.theme())
	return a
}

// theme returns the current theme.
func (a *appearance) theme() themes.Theme { return a.set.New(a.chosen, a.dark, a.mode) }

// shared returns what everything is drawn with. It stays the same value in every theme.
func (a *appearance) shared() *draw.Styles { return a.styles }

// like takes over the choices of another screen.
func (a *appearance) like(other *appearance) {
	a.set, a.chosen, a.mode, a.dark, a.method = other.set, other.chosen, other.mode, other.dark, other.method
}

// choose shows the screen in a theme.
func (a *appearance) choose(name themes.Name) { a.chosen = name }

// chosenTheme returns the themes to choose from, nil for the built-in ones, and the name
// of the chosen one.
func (a *appearance) chosenTheme() (*themes.Set, themes.Name) { return a.set, a.chosen }

// handle processes a terminal's report about itself. It reports whether msg was
// one.
func (a *appearance) handle(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		if msg.Color == nil {
			return false
		}
		a.dark, a.mode.Known = msg.IsDark(), true
	case tea.ColorProfileMsg:
		a.mode = a.mode.For(msg.Profile)
	case tea.ModeReportMsg:
		// Bubble Tea makes such a terminal measure width by grapheme clusters.
		if msg.Mode != ansi.ModeUnicodeCore || msg.Value != ansi.ModeReset && msg.Value != ansi.ModeSet && msg.Value != ansi.ModePermanentlySet {
			return false
		}
		a.method = ansi.GraphemeWidth
	default:
		return false
	}
	return true
}

// values adds the settings in force.
func (a *appearance) values(values map[string]string) {
	values[settingTheme] = string(a.chosen)
	values[settingASCII] = strconv.FormatBool(a.mode.ASCII)
	values[settingReducedMotion] = strconv.FormatBool(a.mode.Still)
}

// apply puts a setting into effect that the user saves.
func (a *appearance) apply(key string, on bool) {
	switch key {
	case settingASCII:
		a.mode.ASCII = on
	case settingReducedMotion:
		a.mode.Still = on
	}
}

// changed brings the look up to date. It reports whether that differs from the last time,
// so that all must be drawn again.
func (a *appearance) changed() bool {
	t, before := a.theme(), a.styles.Theme
	if t.Name == before.Name && t.Mode == before.Mode && t.Palette == before.Palette && t.Background == before.Background && a.method == a.styles.Method {
		return false
	}
	a.styles.Method = a.method
	a.styles.Retheme(t)
	return true
}
