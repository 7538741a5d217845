package ask

import (
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/tui/draw"
)

// page describes the drawn document of a request.
type page struct {
	must    []draw.Range // what the user must see before a yes, in order
	changes bool         // must are changed lines of a diff
	details int          // first line of the details, if they are shown
	calls   []int        // first lines of the calls of a joint approval
}

// requestView is the document of the displayed request: which lines of it are in view, and
// which have been.
type requestView struct {
	id      string         // what doc is about: a request, or what an answer to it covers
	doc     *draw.Document // nil until it is drawn again
	page    page           // of doc
	top     int            // first line in view, or opening
	body    int            // lines in view
	details bool           // the details are shown below the call
	viewed  map[string]seenLines
	sized   string // the id whose size was said, so that its end is enough to see
}

// seenLines is which lines of a document have been in view. Its zero value means none.
type seenLines struct {
	doc   *draw.Document // the layout that lines belongs to
	lines []bool
	must  []bool // parts that were in view as a whole; they survive another layout
}

// note returns v after the lines from top on, height of them, have been in view.
func (v seenLines) note(d *draw.Document, p page, top, height int) seenLines {
	if v.doc != d || len(v.lines) != len(d.Lines) {
		v.doc, v.lines = d, make([]bool, len(d.Lines))
	}
	if len(v.must) != len(p.must) {
		v.must = make([]bool, len(p.must))
	}
	for i := max(top, 0); i < min(top+height, len(v.lines)); i++ {
		v.lines[i] = true
	}
	for i, part := range p.must {
		v.must[i] = v.must[i] || !slices.Contains(v.lines[part.From:part.To], false)
	}
	return v
}

// unseen returns the parts of a page that have not been in view.
func (v seenLines) unseen(p page) []draw.Range {
	var out []draw.Range
	for i, part := range p.must {
		if i >= len(v.must) || !v.must[i] {
			out = append(out, part)
		}
	}
	return out
}

// begin shows another request from its opening.
func (r *requestView) begin() { r.doc, r.top, r.details, r.sized = nil, opening, false, "" }

// restart shows the document from its opening, since it is another one of the same request.
func (r *requestView) restart() { r.doc, r.top = nil, opening }

// redraw drops the drawing.
func (r *requestView) redraw() { r.doc = nil }

// prepare draws the document id on lines of width cells, unless it is drawn.
func (r *requestView) prepare(l *draw.Styles, width int, id string, write func(d *draw.Document, details bool) page) {
	if r.doc != nil && r.doc.Width == width {
		return
	}
	r.id, r.doc = id, &draw.Document{Styles: l, Width: width}
	r.page = write(r.doc, r.details)
}

// setLines sets how many lines are in view.
func (r *requestView) setLines(n int) { r.body = n }

// inView returns how many lines are in view.
func (r *requestView) inView() int { return r.body }

// detailed reports whether the details are shown.
func (r *requestView) detailed() bool { return r.details }

// drawn reports whether there is a drawing.
func (r *requestView) drawn() bool { return r.doc != nil }

// lines returns how many lines the document has, 0 without a drawing.
func (r *requestView) lines() int {
	if r.doc == nil {
		return 0
	}
	return len(r.doc.Lines)
}

// width returns the width of the drawing in cells.
func (r *requestView) width() int { return r.doc.Width }

// diffs reports whether the drawing has diffs that can be shown side by side.
func (r *requestView) diffs() bool { return r.doc != nil && r.doc.Diffs }

// rows returns the lines in view, and where they are in the document.
func (r *requestView) rows() (rows []string, place string) {
	top := r.topLine()
	rows = r.doc.Rows(&top, r.body)
	return rows, r.doc.Place(top, r.body)
}

// note notes that the lines in view have been seen.
func (r *requestView) note() {
	r.viewed[r.id] = r.viewed[r.id].note(r.doc, r.page, r.topLine(), r.body)
}

// forget forgets what was seen of answered requests.
func (r *requestView) forget(ids []string) {
	maps.DeleteFunc(r.viewed, func(id string, _ seenLines) bool { id, _, _ = strings.Cut(id, "\n"); return slices.Contains(ids, id) })
}

// saySize notes that the user was told how much is left to see, so that the end is enough.
func (r *requestView) saySize() { r.sized = r.id }

// toCall scrolls to a call of a joint approval, if it is drawn.
func (r *requestView) toCall(at int) {
	if at < len(r.page.calls) {
		r.top = r.page.calls[at]
	}
}

// turnDetails shows the details, or hides them again. prepare draws the document.
func (r *requestView) turnDetails(prepare func(width int)) {
	width := r.doc.Width
	r.details = !r.details
	r.restart()
	prepare(width)
	if r.details {
		r.top = r.page.details
	}
}

// unseen returns what the user must still see.
func (r *requestView) unseen() []draw.Range {
	if r.doc == nil {
		return nil
	}
	return r.viewed[r.id].unseen(r.page)
}

// unseenCount counts the parts of the document that have not been in view.
// It returns "" if there are none.
func (r *requestView) unseenCount() string {
	n := len(r.unseen())
	switch {
	case n == 0:
		return ""
	case r.page.changes:
		return english.Count(n, "more changed line")
	default:
		return english.Count(n, "more line")
	}
}

// unseenPlace says where the unseen parts are from the lines in view: "", " below"
// or " above".
func (r *requestView) unseenPlace() string {
	parts := r.unseen()
	top := r.topLine()
	switch {
	case len(parts) == 0:
		return ""
	case parts[0].From >= top:
		return " below"
	case parts[len(parts)-1].From < top:
		return " above"
	default:
		return ""
	}
}

// reveal scrolls to the next unseen part.
func (r *requestView) reveal() {
	parts := r.unseen()
	next := slices.IndexFunc(parts, func(p draw.Range) bool { return p.From >= r.topLine() })
	r.top = r.clamp(parts[max(next, 0)].From - 1)
}

// opening is the top of a document that was not scrolled yet. It is its start, or its
// first changed line if that would be out of view.
const opening = -1

// topLine returns the first line in view.
func (r *requestView) topLine() int {
	if r.top != opening {
		return r.clamp(r.top)
	}
	if len(r.page.must) == 0 || !r.page.changes {
		return 0
	}
	const after = 3 // lines below the first changed one, if there is room
	first := r.page.must[0].From
	return r.clamp(min(first+after+1-r.body, first))
}

// clamp keeps a top line within the document.
func (r *requestView) clamp(top int) int {
	if r.doc == nil {
		return 0
	}
	return max(min(top, len(r.doc.Lines)-r.body), 0)
}

// scroll moves the view by lines.
func (r *requestView) scroll(lines int) {
	r.top = max(r.topLine()+lines, 0) // not clamped: the end stays in view while the bar below changes
}

// toEnd scrolls to the end. If the size of the request was said, nothing more of it must be
// seen.
func (r *requestView) toEnd() {
	if r.doc == nil {
		return
	}
	r.scroll(len(r.doc.Lines))
	if r.sized == r.id {
		r.viewed[r.id] = r.viewed[r.id].note(r.doc, r.page, 0, len(r.doc.Lines))
	}
}
