package tui

import (
	"strings"

	"replan/tui/input"
)

// noHistory is why nothing can be searched.
func (m *Model) noHistory() string {
	switch {
	case len(m.input.History)+len(m.input.Others) == 0:
		return "Nothing was sent yet."
	default:
		return ""
	}
}

// searchHistory opens the search; what stands in the input is what is searched
// for first.
func (m *Model) searchHistory() {
	r := m.recall
	r.Open, r.All, r.Query = true, nil, ""
	for n := len(m.input.History) - 1; n >= 0; n-- {
		r.All = append(r.All, input.Remembered{Text: m.input.History[n]})
	}
	for n := len(m.input.Others) - 1; n >= 0; n-- {
		r.All = append(r.All, input.Remembered{Text: m.input.Others[n], Elsewhere: true})
	}
	if text := m.input.Area.Value(); !strings.Contains(text, "\n") && !m.input.HasPaste() {
		r.Query = strings.TrimSpace(text)
	}
	r.Find()
	if len(r.Found) == 0 {
		r.Query = ""
		r.Find()
	}
}
