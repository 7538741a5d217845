package dag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// rowPainter draws the rows of an outline. It keeps what it painted of each row as long as
// nothing changes that the row shows.
type rowPainter struct {
	plan     *shownPlan
	styles   *draw.Styles
	keys     *keymap.Map
	outline  *outline
	painted  []rowPainting // of each row
	columns  columns
	width    int
	selected string // key of the selected row
	focused  bool

	relatives relatives
	related   string    // key of the row that has these relatives, "" for none
	spins     [2]string // the glyph of running steps, plain and selected
	spinAt    int       // beat that spins were drawn for
}

// set prepares the painter for one drawing of an outline, with row at selected.
func (w *rowPainter) set(o *outline, width, at int, focused bool) {
	if w.outline != o {
		w.outline, w.painted, w.related = o, make([]rowPainting, len(o.Rows)), ""
	}
	w.width, w.selected, w.focused = width, "", focused
	if at >= 0 {
		w.selected = o.Rows[at].Key
	}
	switch {
	case !focused || at < 0:
		w.relatives, w.related = relatives{}, ""
	case w.related != w.selected:
		w.relatives, w.related = o.relatives(at), w.selected
	}
	w.columns = w.measure()
}

// columns are the widths of a row's parts, in cells.
type columns struct {
	mark   int // 0 until there is a revision
	gutter int
	index  int
	title  int
	tool   int // 0 if there is no room
	state  int
	note   int // room left at the right; 0 if too little
}

// titleFirst is the title width, in cells, that takes precedence over the tool.
const titleFirst = 28

// noteLeast is the minimum width of a note at the right, in cells.
const noteLeast = 10

// measure computes the widths from the steps and their current states alone.
// The same run always looks the same, whatever was drawn before.
func (w *rowPainter) measure() columns {
	text := w.outline.textWidths()
	c := columns{index: text.index}
	c.gutter = w.outline.gutter()
	if len(w.plan.Run.Revisions) > 0 {
		c.mark = 2
	}
	state := 6
	if w.plan.Counts != nil {
		t := w.plan.Counts.sum()
		switch {
		case w.plan.dry():
			state = max(state, len("? dry run"))
		case t[wording.ClassDraft]+t[wording.ClassDoubt] > 0:
			state = max(state, len("in doubt"))
		case t[wording.ClassHeld] > 0:
			state = max(state, min(len(w.plan.Counts.heldWords()), len("in doubt")))
		case t[wording.ClassSkipped]+t[wording.ClassStopped]+t[wording.ClassRetry] > 0:
			state = max(state, len("stopped"))
		}
	}
	if w.plan.Run.Checks() || slices.ContainsFunc(w.plan.Run.Steps, func(s *agent.StepState) bool { return s.NotTaken }) {
		state = max(state, len("unchecked"))
	}
	if w.plan.losesAny() {
		state = max(state, len("no tool"))
	}
	c.state = state
	longest, tool := text.title, text.tool
	c.index = max(min(c.index, 6), 1)
	room := w.width - 1 - c.mark - c.gutter - 1 - c.index - 1 - 1 - c.state - 1
	c.tool = min(tool, 18)
	if c.tool > 0 && room-c.tool-2 >= min(longest, titleFirst) {
		room -= c.tool + 2
	} else {
		c.tool = 0
	}
	c.title = max(min(room, longest), 1)
	if left := room - c.title - stateGap - 3; left >= noteLeast {
		c.note = left
	}
	return c
}

// stateGap is the maximum gap before the state, in cells, so that the eye finds
// it on a wide screen.
const stateGap = 4

// face is everything a drawn row depends on besides the layout, except its
// glyph and its state. A row with the same face is not painting again.
type face struct {
	columns  columns
	width    int
	theme    int
	step     *agent.StepState
	calls    int
	items    wording.ItemCounts
	selected bool
	focused  bool
	relation relation
	lanes    uint32 // highlighted lanes
	class    wording.StepClass
	status   agent.StepStatus
	note     string
	beat     int // for a row that spins as a whole
	open     bool
	counts   wording.Counts
	over     bool // the run has ended
}

// rowPainting is what was painted of a row: the part before its glyph, and the
// part between glyph and state.
type rowPainting struct {
	face       face // that it was painted for
	done       bool
	head, body string
	room       int // for the state, in cells
	tail       string
	second     string // second line of the selected row, "" if its title fits the first

	words string // state drawn last
	state string // state as it was drawn
}

// faceOf computes the face of a row.
func (w *rowPainter) faceOf(r *Row) face {
	f := face{
		columns: w.columns, width: w.width, theme: w.styles.Themed, selected: r.Key != "" && r.Key == w.selected,
		focused: w.focused, relation: w.relatives.of(r), lanes: w.relatives.litLanes(r), over: w.plan.Run.Result != nil,
	}
	switch r.Kind {
	case RowStep:
		f.class, f.status = w.plan.Counts.of(r.at), r.Step.Status
		f.note = w.plan.note(r)
	case RowCalls, RowCall:
		if r.Kind == RowCalls {
			f.calls, f.open = len(wording.Inner(r.owner)), w.plan.Folds.showsCalls(r.owner.Step.Index)
			if r.owner.Items != nil {
				f.items = wording.CountItems(r.owner)
			}
		}
		f.step, f.status = r.Step, r.Step.Status
		if f.status == agent.StepRunning {
			f.beat = w.styles.AnimationFrame
		}
	case RowRevision:
		f.open = w.plan.unfolded(r.Revision)
	case RowGroup:
		f.counts, f.open = r.Group.Counts, r.Group.Open
		if f.counts[wording.ClassRuns] > 0 {
			f.beat = w.styles.AnimationFrame
		}
	}
	return f
}

// second returns the second line of the selected row, "" if its title fits the first.
func (w *rowPainter) second(i int) string {
	w.draw(i)
	return w.painted[i].second
}

// draw draws row i, exactly as wide as the pane.
func (w *rowPainter) draw(i int) string {
	r, t := w.outline.row(i), &w.painted[i]
	f := w.faceOf(r)
	line := w.styles.Line(f.selected, w.focused)
	if !t.done || t.face != f {
		*t = w.paintRow(r, f, line)
	}
	if r.Step == nil || t.room <= 0 {
		return t.head + t.body + t.tail
	}
	glyph := ""
	if r.owner == nil {
		glyph = w.drawGlyph(r, f, line)
	}
	words, style := w.plan.state(r, t.room)
	if words != t.words || t.state == "" {
		words = w.styles.Cut(words, t.room)
		blank := strings.Repeat(" ", t.room-ansi.StringWidth(words))
		if f.selected && w.focused {
			blank = line.Blank(len(blank))
		}
		t.words, t.state = words, blank+line.Draw(style, words)
	}
	return t.head + glyph + t.body + t.state + t.tail
}

// drawGlyph draws the glyph of a step. All running steps share one glyph per
// beat.
func (w *rowPainter) drawGlyph(r *Row, f face, line draw.LitLine) string {
	glyph, style := w.plan.glyph(r)
	if r.Kind == RowGone || f.class != wording.ClassRuns {
		return line.Draw(style, glyph)
	}
	if w.spinAt != w.styles.AnimationFrame {
		w.spinAt, w.spins = w.styles.AnimationFrame, [2]string{}
	}
	i := 0
	if f.selected && w.focused {
		i = 1
	}
	if w.spins[i] == "" {
		w.spins[i] = line.Draw(style, glyph)
	}
	return w.spins[i]
}

// paintRow paints a row except its glyph and its state.
func (w *rowPainter) paintRow(r *Row, f face, line draw.LitLine) rowPainting {
	l, c := w.styles, f.columns
	p := &draw.Painter{LitLine: line, Lights: f.selected && w.focused}
	p.Start()
	out := rowPainting{face: f, done: true}
	if r.Kind == RowRevision && len(w.outline.cells(r)) == 0 {
		p.Add(l.Faint, w.revisionWords(r.Revision, f.open, w.width-2))
		p.Gap(w.width - p.Width)
		out.head = p.Take()
		return out
	}
	w.paintMark(r, c, p)
	head := w.paintGutter(r, f, p)
	var rest draw.StepCell
	switch r.Kind {
	case RowRevision:
		p.Gap(1)
		p.Add(l.Muted, w.revisionWords(r.Revision, f.open, w.width-p.Width-1))
	case RowGroup:
		w.paintRoll(r, f, p)
	case RowCalls, RowCall:
		w.paintCall(r, &f, p)
	case RowStep, RowGone:
		rest = w.paintText(r, f, p)
	}
	if r.Step != nil {
		out.room = max(min(w.width-1-p.Width, c.state+stateGap), 0)
		if out.room == 0 && p.Width < w.width {
			p.Gap(w.width - p.Width)
		}
	}
	out.head, out.body = head, p.Take()
	p.Width += out.room
	if f.note != "" && c.note > 0 && out.room > 0 {
		p.Gap(2)
		p.Add(l.Faint, l.Cut(f.note, min(c.note, w.width-p.Width-1)))
	}
	p.Gap(w.width - p.Width)
	out.tail = p.Take()
	out.second = w.paintSecond(r, rest, f, line)
	if head == "" { // no glyph of its own: everything is head
		out.head, out.body = out.body, ""
	}
	return out
}

// paintMark paints the revision mark of the step.
func (w *rowPainter) paintMark(r *Row, c columns, p *draw.Painter) {
	l := w.styles
	if c.mark == 0 {
		return
	}
	switch {
	case r.Kind == RowGone:
		p.Add(l.Removed, l.Glyphs.Removed+" ")
	case r.Kind == RowStep && r.Step.Change == agent.ChangeAdded:
		p.Add(l.Added, l.Glyphs.Added+" ")
	case r.Kind == RowStep && r.Step.Change == agent.ChangeRevised:
		p.Add(l.Warning, l.Glyphs.Revised+" ")
	default:
		p.Gap(2)
	}
}

// paintGutter paints the lanes and the sign among or beside them. If that is the glyph of a
// step, it returns the part before it and leaves room for it.
func (w *rowPainter) paintGutter(r *Row, f face, p *draw.Painter) (head string) {
	l, cells, mark := w.styles, w.outline.cells(r), w.outline.mark(r)
	end := p.Width + f.columns.gutter
	sign := func() {
		switch {
		case r.Kind == RowGroup:
			p.Add(l.Muted, w.groupSign(r.Group))
		case r.Step != nil && r.owner == nil:
			head = p.Take()
			p.Width++
		}
	}
	if mark >= 0 {
		lit := func(i int) bool { return f.lanes&(1<<(i%32)) != 0 }
		l.Rail(p, cells[:mark], lit)
		sign()
		l.Rail(p, cells[mark+1:], func(i int) bool { return lit(mark + 1 + i) })
	} else {
		l.Rail(p, cells, func(i int) bool { return f.lanes&(1<<(i%32)) != 0 })
		if r.signBeside() || len(cells) == 0 {
			p.Gap(end - 1 - p.Width)
			sign()
		}
	}
	p.Gap(end - p.Width)
	return head
}

// paintText paints index, title and tool. It returns the part of the title that
// belongs on a second line.
func (w *rowPainter) paintText(r *Row, f face, p *draw.Painter) (rest draw.StepCell) {
	l, s, c := w.styles, r.Step, f.columns
	index, title, tool := l.Muted, l.Text, l.Faint
	switch {
	case r.Kind == RowGone:
		index, title, tool = l.Faint, l.Struck, l.Struck
	case s.Draft, s.Status == agent.StepSkipped:
		title = l.Muted
	case s.Status == agent.StepRunning, s.Status == agent.StepChecking, s.Status == agent.StepWaiting:
		title = l.Strong
	}
	switch f.relation {
	case relationLit:
		index = l.Accent.Bold(true)
	case relationDim:
		title = l.Faint
	}
	text := s.Step.Title.Line()
	columns := draw.StepColumns{Index: c.index, Title: c.title, Tool: c.tool}
	tail, room := "", columns.Title
	switch {
	case len(r.after) > 0 && (f.class != wording.ClassWaits || f.over): // else the state shows it
		tail = l.Blockers(r.after, max(room/2, room-ansi.StringWidth(text))-1)
	case f.note != "" && c.note == 0 && r.Kind == RowStep && (s.Change == agent.ChangeRevised || f.class == wording.ClassSkipped) && room >= 2*noteLeast:
		tail = f.note
		if s.NotTaken && room-ansi.StringWidth(text) <= noteLeast { // the state says it
			tail = ""
		}
	}
	if tail != "" {
		tail = l.Cut(" "+tail, max(room/2, room-ansi.StringWidth(text)))
		room -= ansi.StringWidth(tail)
	}
	text, rest.Text = l.BreakTitle(text, room, f.selected && f.focused)
	p.Step(columns,
		draw.StepCell{Style: index, Text: s.Step.Name()}, draw.StepCell{Style: title, Text: text},
		draw.StepCell{Style: l.Faint, Text: tail}, draw.StepCell{Style: tool, Text: wording.StepTool(&s.Step)})
	rest.Style = title
	return rest
}

// paintSecond paints the line below the selected row: the rest of its title beside
// the lanes to the next row.
func (w *rowPainter) paintSecond(r *Row, rest draw.StepCell, f face, line draw.LitLine) string {
	if rest.Text == "" {
		return ""
	}
	p := &draw.Painter{LitLine: line, Lights: f.selected && w.focused}
	p.Start()
	p.Gap(f.columns.mark)
	lanes := &Row{Kind: RowRevision, rails: r.rails, node: r.node}
	if lanes.rails == railsBeside {
		lanes.rails = railsBelow
	}
	w.paintGutter(lanes, face{columns: f.columns, lanes: w.relatives.litLanes(lanes)}, p)
	p.Gap(1 + f.columns.index + 1)
	p.Add(rest.Style, w.styles.Cut(rest.Text, w.width-p.Width-1))
	p.Gap(w.width - p.Width)
	return p.Take()
}

// groupSign returns the expanded or collapsed sign of a group.
func (w *rowPainter) groupSign(r *group) string {
	if r.Open {
		return w.styles.Glyphs.Unfolded
	}
	return w.styles.Glyphs.Folded
}

// paintRoll paints several steps as one line: a label and their counts by
// status. The counts take precedence over the label.
func (w *rowPainter) paintRoll(r *Row, f face, p *draw.Painter) {
	l, c := w.styles, f.columns
	words := countWords(l, &f.counts, p.Lit)
	wide := ansi.StringWidth(words)
	p.Gap(1)
	text := r.Group.Label
	end := p.Width + c.index + 1 + c.title + c.state + stateGap
	if c.tool > 0 {
		end += 2 + c.tool
	}
	end = min(end, w.width-1) // right edge of the states
	room := max(end-p.Width-wide-2, 0)
	style := l.Muted
	switch f.relation {
	case relationDim:
		style = l.Faint
	case relationLit:
		style = l.Text
	}
	name := l.Cut(text, room)
	p.Add(style, name)
	span := "  " + r.Group.First + l.Glyphs.Ellipsis + r.Group.Last
	if left := room - ansi.StringWidth(name); left >= ansi.StringWidth(span) {
		p.Add(l.Faint, span)
	}
	p.Gap(end - p.Width - wide)
	if p.Width+wide <= w.width {
		p.B.WriteString(words)
		p.Width += wide
	}
}

// revisionWords returns the reason for a revision, or a summary of an older
// one.
func (w *rowPainter) revisionWords(rev *agent.Revision, open bool, width int) string {
	l := w.styles
	sign, does := l.Glyphs.Folded, w.keys.Name("plan.open")+" opens"
	if open {
		sign, does = l.Glyphs.Unfolded, w.keys.Name("plan.open")+" collapses"
	}
	head := fmt.Sprintf("%s rev %d: ", sign, rev.Number)
	why := wording.Cause(rev.Reason)
	if rev == w.plan.newest() && why != "" {
		if text := head + "because " + why; ansi.StringWidth(text) <= width {
			return text
		}
		return l.Cut(head+"because "+wording.WithoutFolder(why), width)
	}
	var changes []string
	for _, c := range []struct {
		n    int
		what string
	}{{len(rev.Removed), "removed"}, {len(rev.Added), "added"}, {len(rev.Revised), "revised"}} {
		if c.n > 0 {
			changes = append(changes, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	text := head + strings.Join(changes, ", ")
	if full := text + " (" + does + ")"; ansi.StringWidth(full) <= width {
		text = full
	}
	return l.Cut(text, width)
}
