package tui

import (
	"strings"

	"replan/tui/input"
)

// noHistory returns why there is no history to search.
func (m *Model) noHistory() string {
	switch {
	case len(m.input.History)+len(m.input.Others) == 0:
		return "Nothing was sent yet."
	default:
		return ""
	}
}

// searchHistory opens the history search. The text in the input is the initial
// query.
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
