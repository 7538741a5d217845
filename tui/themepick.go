package tui

import (
	"strings"

	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/dialog"
)

// openThemes opens the list of themes at the current one.
func (m *Model) openThemes() {
	d := m.picker
	*d = dialog.Themes{Look: d.Look, Keys: d.Keys, Wear: m.wear, Set: m.options.Themes, Config: m.shortPath(m.options.Config), Open: true, Before: m.theming.chosen, Sample: d.Sample}
	d.Items = append(d.Items, dialog.ThemeItem{Name: themes.Auto, About: "dark or light as the terminal is"})
	for _, t := range d.Set.All() {
		d.Items = append(d.Items, dialog.ThemeItem{Name: t.Name, About: untrusted.Line(t.About)})
	}
	for _, b := range d.Set.Broken() {
		d.Items = append(d.Items, dialog.ThemeItem{Name: b.Name, Fault: untrusted.Line(b.Err.Error())})
	}
	for i, t := range d.Items {
		if t.Name == d.Before && t.Fault == "" {
			d.At = i
		}
	}
	if d.Sample == nil {
		d.Sample = themes.Code("// verify asks who it is.\nfunc verify(u User) error {\n    return deny(u, \"who?\", 403)\n}", "go")
	}
}

// shortPath returns a path with the home folder shortened to ~.
func (m *Model) shortPath(path string) string {
	if rest, ok := strings.CutPrefix(path, m.home+"/"); ok && m.home != "" {
		return "~/" + rest
	}
	return path
}
