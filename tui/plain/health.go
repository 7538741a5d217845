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
	status session.Status  // last one received
	lost   map[string]bool // servers that have failed
	silent bool            // a line said that the model does not answer
}

// tell prints a line for each recovered tool server, for each that steps lose their
// tool with, and for each change of the model. A note of the session explains why a
// server failed.
func (h *health) tell(now session.Status, runs []*agent.Run) {
	was := map[string]plan.ServerState{}
	for _, s := range h.status.Servers {
		was[s.Name] = s.State
	}
	for _, s := range now.Servers {
		switch {
		case s.State == was[s.Name]:
		case s.State == plan.ServerFailed, s.State == plan.ServerStarting && s.Error != "":
			h.lost[s.Name] = true
			h.lostTools(s, now.Servers, runs)
		case wording.IsLost(s):
			h.lostTools(s, now.Servers, runs)
		case s.State == plan.ServerReady && h.lost[s.Name]:
			delete(h.lost, s.Name)
			h.Line("%s %s", h.Signs.Done, wording.ServerReady(s.Name, s.Tools))
		}
	}
	answered := h.status.Model != "" && h.status.Problem == ""
	switch {
	case answered && now.Problem != "":
		h.silent = true
		h.Line("%s the model does not answer%s", h.Signs.Failed, because(now.Problem))
	case h.silent && now.Problem == "" && now.Model != "":
		h.silent = false
		h.Line("%s %s answers again", h.Signs.Done, now.Model.Line())
	}
	h.status = now
}

// lostTools prints which steps of the runs lose their tool with a server.
func (h *health) lostTools(s plan.ServerStatus, servers []plan.ServerStatus, runs []*agent.Run) {
	if !wording.IsLost(s) {
		return
	}
	for _, run := range runs {
		if steps := wording.StepsUsing(run, s.Name, wording.LostServers(servers)); len(steps) > 0 {
			h.Line("%s without the server %s, %s", h.Signs.Note, untrusted.Line(s.Name), wording.LostTools(steps))
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
