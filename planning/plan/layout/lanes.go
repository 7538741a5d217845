package layout

import (
	"cmp"
	"slices"
)

// run is the blocks of one lane, each beginning with the last nodes of the one
// before it.
type run []laneBlock

// current is the last block begun in a row.
func (r run) current(row int) int {
	at := 0
	for i := range r {
		if r[i].first() <= row {
			at = i
		}
	}
	return at
}

func (r run) first() int { return r[0].first() }
func (r run) last() int  { return r[len(r)-1].last() }

// joinBlocks chains blocks, each beginning with the end of the one before.
func joinBlocks(blocks []laneBlock) []run {
	slices.SortFunc(blocks, func(a, b laneBlock) int {
		return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(b.last(), a.last()))
	})
	begin := make(map[int][]int, len(blocks)) // blocks by their first unit, the longest first
	for i := range blocks {
		if s := blocks[i].source; s >= 0 {
			begin[s] = append(begin[s], i)
		}
	}
	joined := make([]bool, len(blocks))
	var runs []run
	for i := range blocks {
		if joined[i] {
			continue
		}
		r := run{blocks[i]}
		for {
			unit := r[len(r)-1].target
			if unit < 0 || len(begin[unit]) == 0 {
				break
			}
			next := begin[unit][0]
			begin[unit] = begin[unit][1:]
			joined[next] = true
			r = append(r, blocks[next])
		}
		runs = append(runs, r)
	}
	return runs
}

// fit gives each run a column, of runs with the same beginning the longest first.
// If more than limit would run side by side, it drops blocks, those taking the
// room for longest first.
func fit(runs []run, rows, limit int) (lanes []Lane, dropped []laneBlock) {
	begin := make([][]run, rows)
	for _, r := range runs {
		begin[r.first()] = append(begin[r.first()], r)
	}
	type taken struct {
		run    run
		column int // -1 until it has one
	}
	var active, ended []taken
	for row := range rows {
		active = slices.DeleteFunc(active, func(t taken) bool {
			if over := t.run.last() < row; over {
				ended = append(ended, t)
				return true
			}
			return false
		})
		slices.SortStableFunc(begin[row], func(a, b run) int {
			return cmp.Or(cmp.Compare(b.last(), a.last()), cmp.Compare(a[0].last(), b[0].last()))
		})
		for _, r := range begin[row] {
			active = append(active, taken{r, -1})
		}
		for len(active) > limit {
			longest := 0
			for i := range active {
				if end(active[i].run, row) > end(active[longest].run, row) {
					longest = i
				}
			}
			r := active[longest].run
			at := r.current(row)
			dropped = append(dropped, r[at])
			if rest := r[at+1:]; len(rest) > 0 {
				begin[rest.first()] = append(begin[rest.first()], rest)
			}
			switch {
			case at == 0:
				active = slices.Delete(active, longest, longest+1)
			case r[at-1].last() < row:
				active[longest].run = r[:at]
				ended = append(ended, active[longest])
				active = slices.Delete(active, longest, longest+1)
			default:
				active[longest].run = r[:at]
			}
		}
		used := make([]bool, limit)
		for _, t := range active {
			if t.column >= 0 {
				used[t.column] = true
			}
		}
		for i := range active {
			if active[i].column < 0 {
				active[i].column = slices.Index(used, false)
				used[active[i].column] = true
			}
		}
	}
	for _, t := range append(ended, active...) {
		l := Lane{Column: t.column, Groups: [][]int{t.run[0].from}}
		for i := range t.run {
			l.Groups = append(l.Groups, t.run[i].to)
		}
		lanes = append(lanes, l)
	}
	slices.SortFunc(lanes, func(a, b Lane) int { return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.Column, b.Column)) })
	return lanes, dropped
}

// end is the end of the block last begun by a run in a row.
func end(r run, row int) int { return r[r.current(row)].last() }
