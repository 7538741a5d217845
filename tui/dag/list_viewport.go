package dag

// viewport is which lines of the list are in view.
type viewport struct {
	top   int  // first row
	loose bool // the user scrolled, so the selection need not be in view
	tall  bool // the selected row takes two lines
}

// hold keeps the selection in view from now on.
func (v *viewport) hold() { v.loose = false }

// leave lets the selection be out of view if the view is or was loose.
func (v *viewport) leave(loose bool) { v.loose = v.loose || loose }

// put puts a row at a line of the view.
func (v *viewport) put(row, line int) { v.top = row - line }

// shows reports whether a row is in view.
func (v *viewport) shows(row, height int) bool { return row >= v.top && row < v.top+height }

// scroll scrolls by lines among so many rows, of which one is selected (-1 for none). It
// reports whether the view has moved.
func (v *viewport) scroll(lines, rows, height, selected int) bool {
	top := max(min(v.top+lines, v.last(rows, height, selected)), 0)
	if top == v.top {
		return false
	}
	v.top, v.loose = top, true
	return true
}

// keep keeps the selected row in view, with one line of context.
func (v *viewport) keep(rows, height, selected int) {
	if selected >= 0 && !v.loose {
		context := min(1, (height-1)/2)
		last := selected + context // line that stays in view
		if v.tall {
			last++
		}
		v.top = max(min(v.top, selected-context), last-height+1)
	}
	v.top = max(min(v.top, v.last(rows, height, selected)), 0)
}

// last returns the first row of the view that is scrolled to its end.
func (v *viewport) last(rows, height, selected int) int {
	top := rows - height
	if v.tall && selected >= top {
		top++
	}
	return top
}

// rowAt returns the row drawn at line y.
func (v *viewport) rowAt(y, selected int) int {
	if v.tall && selected >= v.top && y > selected-v.top {
		y--
	}
	return v.top + y
}
