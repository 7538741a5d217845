package ask

import (
	"testing"

	"replan/agent/event"
	"replan/agent/session"
)

func TestNoOfTheLineLogTakesAReason(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string
		reason string
	}{
		"a plain no":                {[]string{"n"}, ""},
		"the same line":             {[]string{"no, use the tests"}, "use the tests"},
		"the next line":             {[]string{"b", " use the tests "}, "use the tests"},
		"an empty line gives none":  {[]string{"because", ""}, ""},
		"another word is no answer": {[]string{"not now", "n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsker(t)
			a.q.put(gateOf("g", "1", "fs.patch"))
			for _, line := range c.lines {
				<-a.output
				a.typeLine(line)
				if line == "not now" {
					a.wantOutput("  not now is not an answer; ? lists the answers\n")
				}
			}
			a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Deny, Scope: event.ScopeOnce, Reason: c.reason})
		})
	}
}
