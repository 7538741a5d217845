package dag

import (
	"slices"

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

// Lose stores the names of the servers that were lost, sorted.
func (d *Pane) Lose(servers []string) {
	if !slices.Equal(servers, d.lost.servers) {
		d.lost, d.drawn = lostTools{servers: servers}, false
	}
}

// lacks returns the servers without which a step that is still to come cannot run.
func (v *planView) lacks(r *Row) []string {
	if len(v.lost.servers) == 0 || r.Kind != RowStep || v.Run.Result != nil || !wording.ToCome(r.Step) {
		return nil
	}
	v.findLost()
	return v.lost.of[r.at]
}

// losesAny reports whether a step that is still to come cannot run.
func (v *planView) losesAny() bool {
	if len(v.lost.servers) == 0 || v.chart == nil || v.Run.Result != nil {
		return false
	}
	v.findLost()
	for i, servers := range v.lost.of {
		if servers != nil && wording.ToCome(v.chart.Steps[i]) {
			return true
		}
	}
	return false
}

// findLost finds the lost servers of the steps of a new chart.
func (v *planView) findLost() {
	if v.lost.chart == v.chart {
		return
	}
	v.lost.chart, v.lost.of = v.chart, make([][]string, len(v.chart.Steps))
	for i, s := range v.chart.Steps {
		v.lost.of[i] = wording.Lacks(v.Run, s, v.lost.servers)
	}
}

// lackWords says why a step cannot run.
func lackWords(servers []string) string {
	names := make([]string, len(servers))
	for i, name := range servers {
		names[i] = untrusted.Line(name)
	}
	return "needs the server " + english.List(names, "or")
}
