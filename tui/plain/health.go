package plain

import (
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

// health prints a line for each recovered tool server, for each that steps lose their
// tool with, and for each change of the model. A note of the session explains why a
// server failed.
func (l *Log) health(now session.Status) {
	was := map[string]plan.ServerState{}
	for _, s := range l.status.Servers {
		was[s.Name] = s.State
	}
	for _, s := range now.Servers {
		switch {
		case s.State == was[s.Name]:
		case s.State == plan.ServerFailed, s.State == plan.ServerStarting && s.Error != "":
			l.lost[s.Name] = true
			l.lostTools(s, now.Servers)
		case wording.IsLost(s):
			l.lostTools(s, now.Servers)
		case s.State == plan.ServerReady && l.lost[s.Name]:
			delete(l.lost, s.Name)
			l.Line("%s %s", l.Signs.Done, wording.ServerReady(s.Name, s.Tools))
		}
	}
	answered := l.status.Model != "" && l.status.Problem == ""
	switch {
	case answered && now.Problem != "":
		l.silent = true
		l.Line("%s the model does not answer%s", l.Signs.Failed, because(now.Problem))
	case l.silent && now.Problem == "" && now.Model != "":
		l.silent = false
		l.Line("%s %s answers again", l.Signs.Done, now.Model.Line())
	}
	l.status = now
}

// lostTools prints which steps of the runs lose their tool with a server.
func (l *Log) lostTools(s plan.ServerStatus, servers []plan.ServerStatus) {
	if !wording.IsLost(s) {
		return
	}
	for _, run := range l.runs {
		if steps := wording.StepsUsing(run, s.Name, wording.LostServers(servers)); len(steps) > 0 {
			l.Line("%s without the server %s, %s", l.Signs.Note, untrusted.Line(s.Name), wording.LostTools(steps))
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
