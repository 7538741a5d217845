package dag

import (
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// list is the plan as rows below one another: their outline, which of them are in view, and
// the painter that draws them.
type list struct {
	plan    *shownPlan
	outline *outline // nil before the first layout
	view    viewport
	painter rowPainter
}

// newList returns the list of a plan without rows.
func newList(l *draw.Styles, keys *keymap.Map, v *shownPlan) *list {
	return &list{plan: v, painter: rowPainter{plan: v, styles: l, keys: keys, spinAt: -1}}
}

// count returns the number of rows.
func (t *list) count() int {
	if t.outline == nil {
		return 0
	}
	return len(t.outline.Rows)
}

// built reports whether the rows are laid out.
func (t *list) built() bool { return t.outline != nil }

// find returns the row of a key, or -1.
func (t *list) find(key string) int {
	if t.outline == nil {
		return -1
	}
	return t.outline.find(key)
}

// row returns row i as it is now; nil if there is none.
func (t *list) row(i int) *Row {
	if i < 0 || i >= t.count() {
		return nil
	}
	return t.outline.row(i)
}

// key returns the key of row i, "" if there is none or it is not selectable.
func (t *list) key(i int) string {
	if i < 0 || i >= t.count() {
		return ""
	}
	return t.outline.Rows[i].Key
}

// layOut lays out the rows: the steps that a filter found, else the plan as it is folded. The
// row that the user looks at stays in place; key is the selected one.
func (t *list) layOut(f *planFilter, key string, limit, height int) {
	held, line := t.holding(key, height)
	v := t.plan
	switch {
	case v.ofChat():
		t.outline = chatOutline(v.Run.Chat)
	case f.on():
		t.outline = foundOutline(v, f.search(v.Chart, v.Counts))
	default:
		keep := -1
		if i, ok := v.Chart.position(key); ok {
			keep = i
		}
		nodes, of := nodesOf(v.Folds, v.Chart, v.Counts, keep)
		t.outline = newOutline(v, nodes, of, limit)
	}
	if i := t.outline.find(held); i >= 0 {
		t.view.put(i, line)
	}
}

// holding returns the key of the row the user looks at, and its line in the view.
func (t *list) holding(selected string, height int) (key string, line int) {
	if t.outline == nil {
		return "", 0
	}
	at := t.find(selected)
	if t.view.loose || !t.view.shows(at, height) {
		at = t.nearest(t.view.top)
	}
	if at < 0 {
		return "", 0
	}
	return t.outline.Rows[at].Key, at - t.view.top
}

// hold keeps the selection in view from now on.
func (t *list) hold() { t.view.hold() }

// isLoose reports whether the selection may be out of view.
func (t *list) isLoose() bool { return t.view.loose }

// leave lets the selection be out of view, if it was so before.
func (t *list) leave(loose bool) { t.view.leave(loose) }

// inView returns a selectable row in view, or near it; -1 if there is none.
func (t *list) inView() int { return t.nearest(t.view.top) }

// next returns the nearest selectable row from row i in steps of by, or -1.
func (t *list) next(i, by int) int {
	for i += by; i >= 0 && i < len(t.outline.Rows); i += by {
		if t.outline.Rows[i].Key != "" {
			return i
		}
	}
	return -1
}

// nearest returns the selectable row at i, else the next one after it, else the
// last one before it.
func (t *list) nearest(i int) int {
	i = max(min(i, len(t.outline.Rows)), 0)
	if at := t.next(i-1, 1); at >= 0 {
		return at
	}
	return t.next(i, -1)
}

// move returns the row that is n selectable rows from the row of a key. If the user scrolled
// that out of view, it begins with the rows in view.
func (t *list) move(key string, n, height int) int {
	by := 1
	if n < 0 {
		n, by = -n, -1
	}
	at := t.find(key)
	if t.view.loose && !t.view.shows(at, height) {
		at = t.inView() - by
	}
	for range min(n, len(t.outline.Rows)) {
		i := t.next(at, by)
		if i < 0 {
			break
		}
		at = i
	}
	return at
}

// nextStep returns the next row of a step of the plan from the row of a key, or the previous
// one. It goes round at the end.
func (t *list) nextStep(key string, by int) int {
	step := func(at int) int {
		for at = t.next(at, by); at >= 0 && t.outline.Rows[at].Kind != RowStep; {
			at = t.next(at, by)
		}
		return at
	}
	if at := step(t.find(key)); at >= 0 {
		return at
	}
	if by < 0 {
		return step(len(t.outline.Rows))
	}
	return step(-1)
}

// search returns the key of the next step after a selected row that a jump looks for. The step
// may be collapsed, and the search goes round at the end. If there is only the selected one,
// here is true.
func (t *list) search(selected string, to target) (key string, here bool) {
	at, first := t.find(selected), ""
	for i := range t.outline.Rows {
		for _, key := range t.goals(&t.outline.Rows[i], to) {
			switch {
			case i == at && key == selected:
				here = true
			case i > at || i == at && t.outline.Rows[i].Kind == RowGroup:
				return key, here
			case first == "":
				first = key
			}
		}
	}
	return first, here
}

// goals returns the keys of the targets in a row: the row itself, or steps
// collapsed into it.
func (t *list) goals(r *Row, to target) []string {
	v := t.plan
	switch r.Kind {
	case RowStep:
		if to.is(r.Step, v.Counts.of(r.at)) {
			return []string{r.Key}
		}
	case RowGone, RowCall:
		if to.is(r.Step, wording.ClassOf(v.Run, r.Step, 1)) {
			return []string{r.Key}
		}
	case RowCalls:
		if v.Folds.showsCalls(r.owner.Step.Index) {
			return nil // each call has its own row
		}
		for _, c := range wording.Inner(r.owner) {
			if to.is(c, wording.ClassOf(v.Run, c, 1)) {
				return []string{r.Key}
			}
		}
	case RowGroup:
		var keys []string
		for _, m := range r.Group.Members() {
			s := v.Chart.Steps[m]
			if t.outline.find(s.Step.Index) < 0 && to.is(s, v.Counts.of(m)) {
				keys = append(keys, s.Step.Index)
			}
		}
		return keys
	}
	return nil
}

// folded reports whether a row is collapsed, and whether any heading can be.
func (t *list) folded() (some, any bool) {
	for i := range t.outline.Rows {
		collapsed, heads := t.plan.heading(&t.outline.Rows[i])
		some, any = some || heads && collapsed, any || heads
	}
	return some, any
}

// scroll scrolls by lines, and reports whether the view has moved.
func (t *list) scroll(lines int, selected string, height int) bool {
	return t.outline != nil && t.view.scroll(lines, len(t.outline.Rows), height, t.find(selected))
}

// at returns the row drawn at line y, or -1.
func (t *list) at(y int, selected string) int {
	if y < 0 {
		return -1
	}
	if i := t.view.rowAt(y, t.find(selected)); i < t.count() {
		return i
	}
	return -1
}

// draw draws the rows in view, at most height lines.
func (t *list) draw(selected string, width, height int, focused bool) []string {
	at := t.find(selected)
	t.painter.set(t.outline, width, at, focused)
	second := ""
	if at >= 0 {
		second = t.painter.second(at)
	}
	t.view.tall = second != ""
	t.view.keep(len(t.outline.Rows), height, at)
	lines := make([]string, 0, max(height, 0))
	for i := t.view.top; i < len(t.outline.Rows) && len(lines) < height; i++ {
		lines = append(lines, t.painter.draw(i))
		if i == at && second != "" && len(lines) < height {
			lines = append(lines, second)
		}
	}
	return lines
}
