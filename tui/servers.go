package tui

import (
	"replan/agent/session"
	"replan/internal/english"
	"replan/planning/plan"
	"replan/tui/dialog"
)

// servers is what the screen knows of the tool servers, with their dialog.
type servers struct {
	*dialog.Servers
	lost    map[string]bool // were there, or were to be
	stale   bool            // what they offer is to be asked for again
	looking bool            // the session looks anew for a model
}

// Retheme draws the dialog anew.
func (s *servers) Retheme() { s.Doc = nil }

// changed gives the open dialog the state of the servers. Where that may have
// changed what they offer, that is asked for again.
func (s *servers) changed(now []plan.ServerStatus) {
	if s.Open && s.Stand(now) {
		s.stale = true
	}
}

// notices tells which servers were lost and which are back, and that a model
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
