package tui

import (
	"cmp"
	"strings"

	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/telling"
)

// tellChosen writes a dialog's choice to the chat once the session uses it. The
// words are those of the replies to /model, /think and /profile.
func (m *Model) tellChosen() {
	c := m.chosen
	if c == nil || c.Model != nil && !prompt.SameModel(*c.Model, m.status.Model) ||
		c.Think != nil && *c.Think != m.status.Think || c.Profile != nil && *c.Profile != m.status.Profile {
		return
	}
	m.chosen = nil
	m.chat.Add(m.chat.Listing("from the next run on: " + m.chosenWords(*c))...)
}

func (m *Model) chosenWords(c runner.Choose) string {
	var words []string
	info := m.models.Info(m.status.Model)
	if c.Model != nil {
		words = append(words, modelWords(cmp.Or(info.Name, *c.Model), info))
	}
	if c.Profile != nil {
		name := "no profile"
		if *c.Profile != "" {
			name = "the profile `" + untrusted.Line(*c.Profile) + "`"
		}
		words = append(words, name)
	}
	level := m.status.Think
	if c.Think != nil {
		words = append(words, "think "+dialog.LevelName(level))
	}
	said := strings.Join(words, "; ")
	if info.Name != "" && !info.Thinks && level != prompt.ThinkAuto && level != prompt.ThinkOff && c.Profile == nil {
		said += ". " + untrusted.Line(info.Name) + " does not think; the level holds for models that do"
	}
	return said
}

// modelWords describes a model with its context and abilities, as far as known.
func modelWords(name string, info prompt.ModelInfo) string {
	words := "`" + untrusted.Line(name) + "`"
	if info.Name == "" {
		return words
	}
	if room := cmp.Or(info.ContextWindow, info.Longest); room > 0 {
		words += ", " + telling.WindowSize(room) + " of context"
	}
	return words + ", " + abilities(info)
}

// abilities lists what a model can do besides answering.
func abilities(info prompt.ModelInfo) string {
	switch {
	case info.Tools && info.Thinks:
		return "tools, thinking"
	case info.Tools:
		return "tools"
	case info.Thinks:
		return "thinking"
	default:
		return "no tools"
	}
}
