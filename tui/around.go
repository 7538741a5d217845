package tui

import (
	"replan/agent"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/replay"
)

// around is what the screen keeps of what stands around runs: the notices, and
// what is known of the servers.
type around struct {
	toasts  toasts          // short notices
	lost    map[string]bool // servers that were there, or were to be
	quiet   bool            // what is told happened before: nothing of it is worth a notice
	looking bool            // the session looks anew for a model

	player  *replay.Player // plays a run in place of this screen; nil where none is played
	control *replay.Player // that plays on this screen; nil where none does
	frozen  bool           // nothing moves, since it rests
	again   keymap.Recall  // what is to be shown again

	settings *dialog.Settings
	servers  *dialog.Servers
	stale    bool // what the servers offer is to be asked for again
}

// begin makes the parts.
func (a *around) begin(m *Model) {
	a.lost = map[string]bool{}
	m.chat.Welcome = m.welcome
	m.runs.GoOn, m.runs.Busy = m.options.GoOn, m.running
	m.runs.Undo = func(s agent.Summary) keymap.Query { return m.undo.Ask(s.Run, dialog.RunWords(m.look, s)) }
	a.settings = &dialog.Settings{Look: m.look, Keys: m.keys, Live: m.liveSetting, Turn: m.turnSetting, Path: m.shortPath, Find: m.actionOf, Copy: m.copyText}
	a.servers = &dialog.Servers{Look: m.look, Keys: m.keys}
}

// aroundActions are its actions, which work in every pane.
func (m *Model) aroundActions() keymap.Handlers {
	return keymap.Handlers{
		"look":     {Do: keymap.Command(m.lookAgain)},
		"servers":  {Opens: true, Do: keymap.Command(m.openServers)},
		"settings": {Opens: true, Do: keymap.Command(m.openSettings)},
	}
}

// dialogs are its dialogs, the uppermost first.
func (a *around) dialogs() []overlay { return []overlay{a.servers, a.settings} }

// Retheme draws the dialogs anew.
func (a *around) Retheme() { a.servers.Doc = nil }
