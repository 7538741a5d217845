package tui

import (
	"replan/agent"
)

// around is what the screen keeps of what stands around runs: the notices, and
// what is known of the servers.
type around struct {
	toasts  toasts          // short notices
	lost    map[string]bool // servers that were there, or were to be
	quiet   bool            // what is told happened before: nothing of it is worth a notice
	looking bool            // the session looks anew for a model

	player  *player // plays a run in place of this screen; nil where none is played
	control *player // that plays on this screen; nil where none does
	frozen  bool    // nothing moves, since it rests
	again   recall  // what is to be shown again

	settings *settingsDialog
	servers  *serversDialog
	stale    bool // what the servers offer is to be asked for again
}

// begin makes the parts.
func (a *around) begin(m *Model) {
	a.lost = map[string]bool{}
	m.chat.welcome = m.welcome
	m.runs.goOn, m.runs.busy = m.options.GoOn, m.running
	m.runs.undo = func(s agent.Summary) query { return m.undo.ask(s.Run, runWords(m.look, s)) }
	a.settings = &settingsDialog{look: m.look, keys: m.keys, live: m.liveSetting, turn: m.turnSetting, path: m.shortPath, find: m.actionOf, copy: m.copyText}
	a.servers = &serversDialog{look: m.look, keys: m.keys}
}

// aroundActions are its actions, which work in every pane.
func (m *Model) aroundActions() handlers {
	live := m.onlyLive
	return handlers{
		"look":     {refuse: live("This is a replay: no model is asked here."), do: command(m.lookAgain)},
		"servers":  {opens: true, refuse: live("This is a replay: no server is started here."), do: command(m.openServers)},
		"settings": {opens: true, refuse: live("This is a replay: nothing is set here."), do: command(m.openSettings)},
	}
}

// dialogs are its dialogs, the uppermost first.
func (a *around) dialogs() []overlay { return []overlay{a.servers, a.settings} }

// retheme draws the dialogs anew.
func (a *around) retheme() { a.servers.doc = nil }
