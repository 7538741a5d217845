package tui

import (
	"charm.land/bubbles/v2/key"
)

// around is what the screen keeps of what stands around runs: the notices, and
// what is known of the servers.
type around struct {
	toasts  toasts          // short notices
	lost    map[string]bool // servers that were there, or were to be
	quiet   bool            // what is told happened before: nothing of it is worth a notice
	looking bool            // the session looks anew for a model
}

// begin makes the parts.
func (a *around) begin(m *Model) {
	a.lost = map[string]bool{}
	m.chat.welcome = m.welcome
}

// aroundKeys are the keys of what stands around runs.
type aroundKeys struct {
	Look, Servers, Settings key.Binding
}

func newAroundKeys(bind func(keys []string, shown, does string) key.Binding) aroundKeys {
	return aroundKeys{
		Look:     bind([]string{"f5", "ctrl+l"}, "F5", "look for the model and the servers again"),
		Servers:  bind([]string{"alt+s"}, "alt+s", "tool servers and their tools"),
		Settings: bind([]string{"alt+o"}, "alt+o", "settings: what is in force, and from where"),
	}
}

// aroundActions are its actions, which work in every pane.
func (m *Model) aroundActions(live func(word string) func() string) []action {
	k := &m.keys
	return []action{
		{id: "look", key: &k.Look, refuse: live("This is a replay: no model is asked here."), do: m.lookAgain},
	}
}
