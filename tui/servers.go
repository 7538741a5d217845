package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/planning/plan"
)

// openServers opens the list of servers.
func (m *Model) openServers() tea.Cmd { return m.outbox.ask(m.servers.Ask(m.status)) }

// serversStand gives the open list how the servers stand now. Where that may have
// changed what they offer, that is asked for again.
func (m *Model) serversStand(now []plan.ServerStatus) {
	if m.servers.Open && m.servers.Stand(now) {
		m.stale = true
	}
}
