package tui

import (
	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/wording"
)

// serverNews tells what happens to the tool servers.
type serverNews struct {
	lost  map[string]bool // servers that were lost (true), or have never started (false)
	stale bool            // the tools and figures of the servers must be fetched again
}

// notices shows which servers were lost and which steps of a run lose their tool
// with them, which servers are back, and when a model answers at last.
func (s *serverNews) notices(was, now session.Status, run *agent.Run, notify func(level, text string)) {
	before := map[string]plan.ServerState{}
	for _, server := range was.Servers {
		before[server.Name] = server.State
	}
	for _, server := range now.Servers {
		name := server.Name
		_, missed := s.lost[name]
		switch {
		case server.State == plan.ServerFailed && before[name] == plan.ServerReady:
			s.lost[name] = true
			notify("error", "lost the server "+name+lostTools(run, name, now.Servers)+": "+server.Error.Visible())
		case server.State == plan.ServerStarting && server.Error != "" && before[name] == plan.ServerReady:
			s.lost[name] = true
			notify("warn", "lost the server "+name+", which restarts: "+server.Error.Visible())
		case server.State == plan.ServerFailed && s.lost[name] && before[name] == plan.ServerStarting:
			notify("error", "lost the server "+name+lostTools(run, name, now.Servers)+": "+server.Error.Visible())
		case server.State == plan.ServerFailed && before[name] == plan.ServerStarting:
			s.lost[name] = false
			notify("error", "the server "+name+" did not start")
		case server.State == plan.ServerReady && missed:
			delete(s.lost, name)
			notify("info", wording.ServerReady(name, server.Tools))
		}
	}
	if was.Problem != "" && now.Problem == "" && now.Model != "" {
		notify("info", now.Model.Visible()+" answers")
	}
}

// lostTools adds to a sentence which steps of a run lose their tool with a server.
func lostTools(run *agent.Run, server string, servers []plan.ServerStatus) string {
	steps := wording.StepsUsing(run, server, wording.LostServers(servers))
	if len(steps) == 0 {
		return ""
	}
	return "; " + wording.LostTools(steps)
}

// observe notes that an event may have changed the figures of servers: those that are
// on the screen are fetched again.
func (s *serverNews) observe(data event.Data, shown bool) {
	switch data.(type) {
	case event.StepCompleted, event.StepFailed, event.StepRetry, event.StepInDoubt:
		s.stale = s.stale || shown
	}
}

// changed notes that the servers on the screen must be fetched again.
func (s *serverNews) changed() { s.stale = true }

// takeStale reports whether the servers must be fetched again, once.
func (s *serverNews) takeStale() bool {
	stale := s.stale
	s.stale = false
	return stale
}
