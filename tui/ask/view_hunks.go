package ask

import "slices"

// files returns the first line of each file of the diff.
func (r *requestView) files() []int {
	if r.doc == nil {
		return nil
	}
	return r.doc.Files()
}

// hunks returns the first line of each hunk of the diff.
func (r *requestView) hunks() []int {
	if r.doc == nil {
		return nil
	}
	return r.doc.HunkLines()
}

// toPart scrolls to the next one of parts, or to the previous one.
func (r *requestView) toPart(parts []int, by int) {
	top := r.topLine()
	if by > 0 {
		if at := slices.IndexFunc(parts, func(line int) bool { return line > top }); at >= 0 {
			r.top = r.clamp(parts[at])
		}
		return
	}
	for _, line := range slices.Backward(parts) {
		if line < top {
			r.top = line
			return
		}
	}
}
