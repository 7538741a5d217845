package plain

import (
	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// health tells what has changed with the tool servers and the model since the
// status before: what was lost, what did not start and what is back. What is as
// it should be from the beginning makes no line.
func (l *Log) health(now agent.SessionStatus) {
	was := map[string]planning.ServerState{}
	for _, s := range l.status.Servers {
		was[s.Name] = s.State
	}
	for _, s := range now.Servers {
		name := untrusted.Line(s.Name)
		switch before := was[s.Name]; {
		case s.State == before:
		case s.State == planning.ServerFailed && before == planning.ServerReady:
			l.lost[s.Name] = true
			l.line("%s lost the server %s%s", l.marks.failed, name, because(s.Error))
		case s.State == planning.ServerFailed && before == planning.ServerStarting:
			l.lost[s.Name] = true
			l.line("%s the server %s did not start%s", l.marks.failed, name, because(s.Error))
		case s.State == planning.ServerReady && l.lost[s.Name]:
			delete(l.lost, s.Name)
			l.line("%s the server %s is ready: %s", l.marks.done, name, count(s.Tools, "tool"))
		}
	}
	answered := l.status.Model != "" && l.status.Problem == ""
	switch {
	case answered && now.Problem != "":
		l.silent = true
		l.line("%s the model does not answer%s", l.marks.failed, because(now.Problem))
	case l.silent && now.Problem == "" && now.Model != "":
		l.silent = false
		l.line("%s %s answers again", l.marks.done, untrusted.Line(now.Model))
	}
	l.status = now
}

// because is a reason behind what it is a reason for.
func because(why string) string {
	if why = untrusted.Line(why); why == "" {
		return ""
	}
	return ": " + why
}
