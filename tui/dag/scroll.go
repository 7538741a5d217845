package dag

// body returns the number of lines for rows.
func (d *Pane) body() int {
	if d.filter.shown() {
		return max(d.Height-1, 0)
	}
	return d.Height
}

// scrolled scrolls the view by lines and keeps the selection.
func (d *Pane) scrolled(lines int) {
	switch {
	case d.ShowsGraph():
		d.panGraph(0, lines)
		return
	case d.outline == nil:
		return
	}
	top := max(min(d.top+lines, d.lastTop()), 0)
	if top != d.top {
		d.top, d.loose, d.Follow, d.drawn = top, true, false, false
	}
}

// scroll keeps the selection in view, with one line of context.
func (d *Pane) scroll() {
	height := d.body()
	if at := d.Position(); at >= 0 && !d.loose {
		context := min(1, (height-1)/2)
		last := at + context // line that stays in view
		if d.tall {
			last++
		}
		d.top = max(min(d.top, at-context), last-height+1)
	}
	d.top = max(min(d.top, d.lastTop()), 0)
}

// lastTop returns the first row of the view that is scrolled to its end.
func (d *Pane) lastTop() int {
	top := len(d.outline.Rows) - d.body()
	if d.tall && d.Position() >= top {
		top++
	}
	return top
}

// rowAt returns the row drawn at line y of the pane.
func (d *Pane) rowAt(y int) int {
	if at := d.Position(); d.tall && at >= d.top && y > at-d.top {
		y--
	}
	return d.top + y
}
