package tui

import (
	"replan/agent/session"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/dialog"
)

// servers holds the known state of the tool servers, with their dialog.
type servers struct {
	*dialog.Servers
	lost    map[string]bool // servers that were lost, or never started
	stale   bool            // the tools of the servers must be fetched again
	looking bool            // the session looks again for a model
}

// Retheme discards the drawn document.
func (s *servers) Retheme() { s.Doc = nil }

// changed passes the state of the servers to the open dialog, and marks its
// contents stale if they may have changed.
func (s *servers) changed(now []plan.ServerStatus) {
	if s.Open && s.Stand(now) {
		s.stale = true
	}
}

// notices shows which servers were lost, which are back, and when a model
// answers at last.
func (s *servers) notices(was, now session.Status, tell func(level, text string)) {
	before := map[string]plan.ServerState{}
	for _, server := range was.Servers {
		before[server.Name] = server.State
	}
	for _, server := range now.Servers {
		name := server.Name
		switch {
		case server.State == plan.ServerFailed && before[name] == plan.ServerReady:
			s.lost[name] = true
			tell("error", "lost the server "+name+": "+server.Error)
		case server.State == plan.ServerFailed && before[name] == plan.ServerStarting:
			s.lost[name] = true
			tell("error", "the server "+name+" did not start")
		case server.State == plan.ServerReady && s.lost[name]:
			delete(s.lost, name)
			tell("info", "the server "+name+" is ready: "+english.Count(server.Tools, "tool"))
		}
	}
	if was.Problem != "" && now.Problem == "" && now.Model != "" {
		tell("info", now.Model+" answers")
	}
}
