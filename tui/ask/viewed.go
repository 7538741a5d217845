package ask

import (
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

// viewed is which lines of a document have been in view. Its zero value means none.
type viewed struct {
	doc   *draw.Document // the layout that lines belongs to
	lines []bool
	must  []bool // parts that were in view as a whole; they survive another layout
}

// note returns v after the lines from top on, height of them, have been in view.
func (v viewed) note(d *draw.Document, p page, top, height int) viewed {
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
func (v viewed) unseen(p page) []draw.Range {
	var out []draw.Range
	for i, part := range p.must {
		if i >= len(v.must) || !v.must[i] {
			out = append(out, part)
		}
	}
	return out
}

// unseen returns what the user must still see of the displayed request.
func (g *Dialog) unseen() []draw.Range {
	if g.doc == nil || len(g.queue) == 0 {
		return nil
	}
	return g.viewed[g.viewID()].unseen(g.page)
}

// viewID identifies what is in view: a request, or what an answer to it covers.
func (g *Dialog) viewID() string {
	if g.confirm != nil {
		return g.confirm.title + "\n" + strings.Join(g.confirm.ids, "\n")
	}
	return g.current().id()
}

// unseenCount counts the parts of the displayed request that have not been in view.
// It returns "" if there are none.
func (g *Dialog) unseenCount() string {
	n := len(g.unseen())
	switch {
	case n == 0:
		return ""
	case g.page.changes:
		return english.Count(n, "more changed line")
	default:
		return english.Count(n, "more line")
	}
}

// unseenPlace says where the unseen parts are from the lines in view: "", " below"
// or " above".
func (g *Dialog) unseenPlace() string {
	parts := g.unseen()
	top := g.topLine()
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

// reveal scrolls to the next unseen part of the displayed request.
func (g *Dialog) reveal() {
	parts := g.unseen()
	next := slices.IndexFunc(parts, func(p draw.Range) bool { return p.From >= g.topLine() })
	g.top = g.clamp(parts[max(next, 0)].From - 1)
}

// opening is the top of a document that nobody has scrolled yet: its start, or its
// first changed line if that would be out of view.
const opening = -1

// topLine returns the first line in view.
func (g *Dialog) topLine() int {
	if g.top != opening {
		return g.clamp(g.top)
	}
	if len(g.page.must) == 0 || !g.page.changes {
		return 0
	}
	const after = 3 // lines below the first changed one, if there is room
	first := g.page.must[0].From
	return g.clamp(min(first+after+1-g.body, first))
}

// clamp keeps a top line within the document.
func (g *Dialog) clamp(top int) int {
	if g.doc == nil {
		return 0
	}
	return max(min(top, len(g.doc.Lines)-g.body), 0)
}

// scroll moves the view by lines.
func (g *Dialog) scroll(lines int) {
	g.top = max(g.topLine()+lines, 0) // not clamped: the end stays in view while the bar below changes
}

// toEnd scrolls to the end. If the size of the request was said, nothing more of it must be
// seen.
func (g *Dialog) toEnd() {
	if g.doc == nil {
		return
	}
	g.scroll(len(g.doc.Lines))
	if id := g.viewID(); g.sized == id {
		g.viewed[id] = g.viewed[id].note(g.doc, g.page, 0, len(g.doc.Lines))
	}
}
