package dag

import (
	"slices"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// lostTools knows which steps of a chart have lost the server of their tool.
type lostTools struct {
	servers []string   // that were lost, sorted
	chart   *chart     // that of was made for
	of      [][]string // for each step, the lost servers of its tools if none is left
}

// setServers sets the names of the servers that were lost, sorted. It reports whether they are
// others than before.
func (t *lostTools) setServers(names []string) (changed bool) {
	if slices.Equal(names, t.servers) {
		return false
	}
	*t = lostTools{servers: names}
	return true
}

// again returns the lost servers for another run.
func (t *lostTools) again() *lostTools { return &lostTools{servers: t.servers} }

// none reports whether no server was lost.
func (t *lostTools) none() bool { return len(t.servers) == 0 }

// ofStep returns the servers without which a step of a chart cannot run.
func (t *lostTools) ofStep(run *agent.Run, c *chart, i int) []string {
	if t.chart != c {
		t.chart, t.of = c, make([][]string, len(c.Steps))
		for i, s := range c.Steps {
			t.of[i] = wording.Lacks(run, s, t.servers)
		}
	}
	return t.of[i]
}

// lackWords says why a step cannot run.
func lackWords(servers []string) string {
	names := make([]string, len(servers))
	for i, name := range servers {
		names[i] = untrusted.Line(name)
	}
	return "needs the server " + english.List(names, "or")
}
