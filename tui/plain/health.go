package plain

import (
	"replan/agent"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

// health tells what becomes of the tool servers and the model of the session.
type health struct {
	*Printer
	of wording.Health
}

// tell prints a line for each server that is back, for each that steps lose their tool
// with, and for each change of the model. A note of the session explains why a server
// failed.
func (h *health) tell(now session.Status, runs []*agent.Run) {
	for _, c := range h.of.Follow(now) {
		switch c.Kind {
		case wording.ServerLost, wording.ServerNotStarted, wording.ServerMissing, wording.ServerStopped:
			h.lostTools(c.Server.Name, now.Servers, runs)
		case wording.ServerRestarts: // its steps keep their tool
		case wording.ServerBack:
			h.Line("%s %s", h.Signs.Done, wording.ServerReady(c.Server.Name, c.Server.Tools))
		case wording.ModelSilent:
			h.Line("%s the model does not answer%s", h.Signs.Failed, because(c.Why))
		case wording.ModelAnswers:
			if c.Again {
				h.Line("%s %s answers again", h.Signs.Done, c.Model.Line())
			}
		}
	}
}

// lostTools prints which steps of the runs lose their tool with a server.
func (h *health) lostTools(server string, servers []plan.ServerStatus, runs []*agent.Run) {
	for _, run := range runs {
		if steps := wording.StepsUsing(run, server, wording.LostServers(servers)); len(steps) > 0 {
			h.Line("%s without the server %s, %s", h.Signs.Note, untrusted.Line(server), wording.LostTools(steps))
		}
	}
}

// because formats a reason for use after the statement it explains.
func because(reason untrusted.Text) string {
	why := reason.Line()
	if why == "" {
		return ""
	}
	return ": " + why
}
