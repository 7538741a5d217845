package tui

import (
	"cmp"
	"strconv"

	"replan/tui/dialog"
	"replan/tui/keymap"
)

// liveSetting returns the current value of a setting in this session.
func (m *Model) liveSetting(key string) (value string, ok bool) {
	switch key {
	case "model.name":
		return m.status.Model, true
	case "model.think":
		return dialog.LevelName(m.status.Think), true
	case "profile":
		return cmp.Or(m.status.Profile, "none"), true
	case "screen.theme":
		return string(m.theming.chosen), true
	case "screen.ascii":
		return strconv.FormatBool(m.theming.mode.ASCII), true
	case "screen.reduced_motion":
		return strconv.FormatBool(m.theming.mode.Still), true
	case "review":
		if m.status.Review {
			return "on", true
		}
		return "off", true
	default:
		return "", false
	}
}

// turnSetting toggles a setting that can change while the screen is open, and
// reports whether key is one.
func (m *Model) turnSetting(key string) bool {
	mode := &m.theming.mode
	switch key {
	case "screen.ascii":
		mode.ASCII = !mode.ASCII
	case "screen.reduced_motion":
		mode.Still = !mode.Still
		m.clock.calm = mode.Still
	default:
		return false
	}
	m.dress()
	return true
}

// actionOf returns an action by its id, with its place.
func (m *Model) actionOf(id string) (*keymap.Action, keymap.Place) {
	for i := range m.groups {
		for j := range m.groups[i].Actions {
			if a := &m.groups[i].Actions[j]; a.ID == id {
				return a, m.groups[i].Place
			}
		}
	}
	return nil, keymap.PlaceEverywhere
}
