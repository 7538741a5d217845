package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/tui/untrusted"
)

// columns are the widths of a row's parts, in cells.
type columns struct {
	mark     int // 0 until there is a revision
	gutter   int
	index    int
	title    int
	tool     int // 0 where there is no room
	parallel int // of the mark on steps that may run at the same time; 0 for none
	state    int
	note     int // what is left at the right; 0 where that is too little
}

// titleFirst is the width up to which a title has the room before the tool has
// any, in cells.
const titleFirst = 18

// titleLeast is the width up to which a title has the room before anything else
// has any, in cells.
const titleLeast = 10

// noteLeast is how many cells a remark at the right takes at least.
const noteLeast = 10

// columns measures the rows by the steps' own lengths and by the states that there
// are now, whatever was drawn before: one run always looks one way.
func (d *dagPane) columns() columns {
	c := columns{gutter: d.outline.width, index: d.outline.index}
	if len(d.run.Revisions) > 0 {
		c.mark = 2
	}
	state := 6
	if d.tally != nil {
		t := &d.tally.total
		switch {
		case d.dry():
			state = max(state, len("? dry run"))
		case t[classDraft]+t[classDoubt] > 0:
			state = max(state, len("in doubt"))
		case t[classHeld] > 0:
			state = max(state, min(len(d.tally.held), len("in doubt")))
		case t[classSkipped]+t[classStopped]+t[classRetry] > 0:
			state = max(state, len("stopped"))
		}
	}
	c.state = state
	longest, tool := d.outline.longest, d.outline.tool
	c.index = max(min(c.index, 6), 1)
	room := d.width - 1 - c.mark - c.gutter - 1 - c.index - 1 - 1 - c.state - 1
	if d.outline.chart != nil {
		c.parallel = d.look.parallelWidth(d.outline.chart.parallel)
	}
	if room-c.parallel < min(longest, titleLeast) {
		c.parallel = 0
	}
	room -= c.parallel
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

// dry reports whether nothing of the run is called.
func (d *dagPane) dry() bool {
	for _, s := range d.run.Steps {
		if s.Status == agent.StepDone {
			return s.DryRun // all are, or none
		}
	}
	return false
}

// stateGap is how far the state may stand from the rest of the row, so that the
// eye finds it on a wide screen.
const stateGap = 4

// face is all that a drawn row depends on besides the plan's layout, but for its
// glyph and its state. A row with the same face need not be painted again.
type face struct {
	columns  columns
	width    int
	theme    int
	step     *agent.StepState
	calls    int
	selected bool
	focused  bool
	kin      kin
	lanes    uint32 // that are lit
	class    stepClass
	status   agent.StepStatus
	note     string
	beat     int // of a row that spins all over
	open     bool
	counts   counts
	over     bool // the run is
}

// painted is a row as it was painted last: what stands before its glyph, and what
// stands between that and its state.
type painted struct {
	done       bool
	head, body string
	room       int // for the state, in cells
	tail       string

	said  string // the state that was drawn last
	state string // and how
}

// faceOf looks at a row.
func (d *dagPane) faceOf(r *row, c columns) face {
	f := face{
		columns: c, width: d.width, theme: d.look.themed, selected: r.key != "" && r.key == d.selected,
		focused: d.focused, kin: d.kinOf(r), lanes: d.litLanes(r), over: d.run.Result != nil,
	}
	switch r.kind {
	case rowStep:
		f.class, f.status = d.tally.class[r.at], r.step.Status
		f.note = d.note(r)
	case rowCalls, rowCall:
		if r.kind == rowCalls {
			f.calls, f.open = len(r.owner.Loop.Calls), d.calls[r.owner.Step.Index]
		}
		f.step, f.status = r.step, r.step.Status
		if f.status == agent.StepActive {
			f.beat = d.look.beat
		}
	case rowRevision:
		f.open = d.unfolded(r.revision)
	case rowRoll:
		f.counts, f.open = r.roll.counts, r.roll.open
		if f.counts[classRuns] > 0 {
			f.beat = d.look.beat
		}
	}
	return f
}

// drawRow draws one row, exactly as wide as the pane.
func (d *dagPane) drawRow(r *row, c columns) string {
	f := d.faceOf(r, c)
	line := d.look.line(f.selected, d.focused)
	if !r.text.done || r.face != f {
		r.text, r.face = d.paintRow(r, f, line), f
	}
	t := &r.text
	if r.step == nil || t.room <= 0 {
		return t.head + t.body + t.tail
	}
	glyph := ""
	if r.owner == nil {
		glyph = d.drawGlyph(r, f, line)
	}
	said, style := d.state(r, t.room)
	if said != t.said || t.state == "" {
		said = d.look.cut(said, t.room)
		blank := strings.Repeat(" ", t.room-ansi.StringWidth(said))
		if f.selected && d.focused {
			blank = line.blank(len(blank))
		}
		t.said, t.state = said, blank+line.draw(style, said)
	}
	return t.head + glyph + t.body + t.state + t.tail
}

// drawGlyph draws the sign of a step. That of what runs is the same for all rows
// of a beat.
func (d *dagPane) drawGlyph(r *row, f face, line litLine) string {
	glyph, style := d.glyph(r)
	if r.kind == rowGone || f.class != classRuns {
		return line.draw(style, glyph)
	}
	if d.spinAt != d.look.beat {
		d.spinAt, d.spins = d.look.beat, [2]string{}
	}
	i := 0
	if f.selected && d.focused {
		i = 1
	}
	if d.spins[i] == "" {
		d.spins[i] = line.draw(style, glyph)
	}
	return d.spins[i]
}

// paintRow paints all of a row but its glyph and its state.
func (d *dagPane) paintRow(r *row, f face, line litLine) painted {
	l, c := d.look, f.columns
	p := &painter{litLine: line, lights: f.selected && d.focused}
	p.b.WriteString(line.cursor)
	p.width = 1
	out := painted{done: true}
	if r.kind == rowRevision && len(d.outline.cells(r)) == 0 {
		p.add(l.Faint, d.revisionWords(r.revision, f.open, d.width-2))
		p.gap(d.width - p.width)
		out.head = p.take()
		return out
	}
	d.paintMark(r, c, p)
	head := d.paintGutter(r, f, p)
	switch r.kind {
	case rowRevision:
		p.gap(1)
		p.add(l.Muted, d.revisionWords(r.revision, f.open, d.width-p.width-1))
	case rowRoll:
		d.paintRoll(r, f, p)
	case rowCalls, rowCall:
		d.paintCall(r, &f, p)
	case rowStep, rowGone:
		d.paintText(r, f, p)
	}
	if r.step != nil {
		if c.parallel > 0 && d.width-1-p.width > c.state {
			p.gap(1)
		}
		out.room = max(min(d.width-1-p.width, c.state+stateGap), 0)
		if out.room == 0 && p.width < d.width {
			p.gap(d.width - p.width)
		}
	}
	out.head, out.body = head, p.take()
	p.width += out.room
	if f.note != "" && c.note > 0 && out.room > 0 {
		p.gap(2)
		p.add(l.Faint, l.cut(f.note, min(c.note, d.width-p.width-1)))
	}
	p.gap(d.width - p.width)
	out.tail = p.take()
	if head == "" { // no glyph of its own: all of it is head
		out.head, out.body = out.body, ""
	}
	return out
}

// paintMark paints what a revision did to the step.
func (d *dagPane) paintMark(r *row, c columns, p *painter) {
	l := d.look
	if c.mark == 0 {
		return
	}
	switch {
	case r.kind == rowGone:
		p.add(l.Removed, l.glyphs.Removed+" ")
	case r.kind == rowStep && r.step.Change == agent.ChangeAdded:
		p.add(l.Added, l.glyphs.Added+" ")
	case r.kind == rowStep && r.step.Change == agent.ChangeRevised:
		p.add(l.Warning, l.glyphs.Revised+" ")
	default:
		p.gap(2)
	}
}

// paintGutter paints the lanes. Where the row has a glyph among them, it returns
// what stands left of it, and leaves the room.
func (d *dagPane) paintGutter(r *row, f face, p *painter) (head string) {
	l := d.look
	calm, lit := l.Border, l.Accent.Bold(true)
	var run strings.Builder
	bright := false
	flush := func() {
		if run.Len() > 0 {
			style := calm
			if bright {
				style = lit
			}
			p.add(style, run.String())
			run.Reset()
		}
	}
	end := p.width + f.columns.gutter
	for i, cell := range d.outline.cells(r) {
		if now := f.lanes&(1<<(i%32)) != 0; now != bright {
			flush()
			bright = now
		}
		run.WriteString(l.glyphs.Lanes.Cell(cell.Sides))
	}
	flush()
	sign := end - d.outline.signs
	if r.nested {
		sign = end - 1
	}
	p.gap(sign - p.width)
	switch {
	case r.kind == rowRoll:
		p.add(l.Muted, d.rollSign(r.roll))
	case r.step != nil && r.owner == nil:
		head = p.take()
		p.width++
	}
	p.gap(end - p.width)
	return head
}

// paintText paints index, title and tool.
func (d *dagPane) paintText(r *row, f face, p *painter) {
	l, s, c := d.look, r.step, f.columns
	index, title, tool := l.Muted, l.Text, l.Faint
	switch {
	case r.kind == rowGone:
		index, title, tool = l.Faint, l.Struck, l.Struck
	case s.Draft, s.Status == agent.StepLeftOut:
		title = l.Muted
	case s.Status == agent.StepActive, s.Status == agent.StepWaiting:
		title = l.Strong
	}
	switch f.kin {
	case kinLit:
		index = l.Accent.Bold(true)
	case kinDim:
		title = l.Faint
	}
	text := untrusted.Line(s.Step.Title)
	tail, room := "", c.title
	switch {
	case len(r.after) > 0 && (f.class != classWaits || f.over): // else the state says it
		tail = l.blockers(r.after, max(room/2, room-ansi.StringWidth(text))-1)
	case f.note != "" && c.note == 0 && r.kind == rowStep && (s.Change == agent.ChangeRevised || f.class == classSkipped) && room >= 2*noteLeast:
		tail = f.note
	}
	if tail != "" {
		tail = l.cut(" "+tail, max(room/2, room-ansi.StringWidth(text)))
		room -= ansi.StringWidth(tail)
	}
	text = l.cut(text, room)
	number := l.cut(untrusted.Line(s.Step.Index), c.index)
	p.gap(1 + c.index - ansi.StringWidth(number))
	p.add(index, number)
	p.gap(1)
	p.add(title, text)
	p.add(l.Faint, tail)
	p.gap(c.title - ansi.StringWidth(text) - ansi.StringWidth(tail))
	if c.tool > 0 {
		name := l.cut(stepTool(s), c.tool)
		p.gap(2)
		p.add(tool, name)
		p.gap(c.tool - ansi.StringWidth(name))
	}
	l.paintParallel(p, c.parallel, r.kind == rowStep && d.chart.parallel[s.Step.Index])
}

// rollSign says whether a roll-up is folded.
func (d *dagPane) rollSign(r *rollup) string {
	if r.open {
		return d.look.glyphs.Unfolded
	}
	return d.look.glyphs.Folded
}

// paintRoll paints several steps as one line: what they are, and how many of
// them stand how, which is never left out for the words.
func (d *dagPane) paintRoll(r *row, f face, p *painter) {
	l, c := d.look, f.columns
	words := countWords(l, &f.counts, p.lit)
	wide := ansi.StringWidth(words)
	p.gap(1)
	text := r.roll.label
	end := p.width + c.index + 1 + c.title + c.state + stateGap
	if c.tool > 0 {
		end += 2 + c.tool
	}
	end += c.parallel
	end = min(end, d.width-1) // where the states end
	room := max(end-p.width-wide-2, 0)
	style := l.Muted
	switch f.kin {
	case kinDim:
		style = l.Faint
	case kinLit:
		style = l.Text
	}
	name := l.cut(text, room)
	p.add(style, name)
	span := "  " + r.roll.first + l.glyphs.Ellipsis + r.roll.last
	if left := room - ansi.StringWidth(name); left >= ansi.StringWidth(span) {
		p.add(l.Faint, span)
	}
	p.gap(end - p.width - wide)
	if p.width+wide <= d.width {
		p.b.WriteString(words)
		p.width += wide
	}
}

// revisionWords are why a revision was made, or what an older one did.
func (d *dagPane) revisionWords(rev *agent.Revision, open bool, width int) string {
	l := d.look
	sign, does := l.glyphs.Folded, "enter opens"
	if open {
		sign, does = l.glyphs.Unfolded, "enter folds"
	}
	head := fmt.Sprintf("%s rev %d: ", sign, rev.Number)
	why := untrusted.FirstLine(rev.Reason)
	if rev == d.newest() && why != "" {
		return l.cut(head+"because "+why, width)
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
	return l.cut(text, width)
}
