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
	health wording.Health
	stale  bool // the tools and figures of the servers must be fetched again
}

// notices shows which servers were lost and which steps of a run lose their tool with
// them. It also shows which servers are back, and when a model answers at last.
func (s *serverNews) notices(now session.Status, run *agent.Run, notify func(level, text string)) {
	for _, c := range s.health.Follow(now) {
		switch name := c.Server.Name; c.Kind {
		case wording.ServerLost:
			notify("error", "lost the server "+name+lostTools(run, name, now.Servers)+": "+c.Server.Error.Visible())
		case wording.ServerRestarts:
			notify("warn", "lost the server "+name+", which restarts: "+c.Server.Error.Visible())
		case wording.ServerNotStarted:
			notify("error", "the server "+name+" did not start")
		case wording.ServerBack:
			notify("info", wording.ServerReady(name, c.Server.Tools))
		case wording.ModelAnswers:
			notify("info", c.Model.Visible()+" answers")
		case wording.ServerMissing, wording.ServerStopped, wording.ModelSilent: // the header shows it
		}
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
