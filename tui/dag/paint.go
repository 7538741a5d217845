package dag

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// columns are the widths of a row's parts, in cells.
type columns struct {
	mark     int // 0 until there is a revision
	gutter   int
	index    int
	title    int
	tool     int // 0 if there is no room
	parallel int // mark for steps that may run concurrently; 0 for none
	state    int
	note     int // room left at the right; 0 if too little
}

// titleFirst is the title width, in cells, that takes precedence over the tool.
const titleFirst = 18

// titleLeast is the title width, in cells, that takes precedence over
// everything else.
const titleLeast = 10

// noteLeast is the minimum width of a note at the right, in cells.
const noteLeast = 10

// columns computes the widths from the steps and their current states alone.
// The same run always looks the same, whatever was drawn before.
func (d *Pane) columns() columns {
	c := columns{gutter: d.Outline.width, index: d.Outline.index}
	if len(d.Run.Revisions) > 0 {
		c.mark = 2
	}
	state := 6
	if d.tally != nil {
		t := &d.tally.total
		switch {
		case d.dry():
			state = max(state, len("? dry run"))
		case t[telling.ClassDraft]+t[telling.ClassDoubt] > 0:
			state = max(state, len("in doubt"))
		case t[telling.ClassHeld] > 0:
			state = max(state, min(len(d.tally.held), len("in doubt")))
		case t[telling.ClassSkipped]+t[telling.ClassStopped]+t[telling.ClassRetry] > 0:
			state = max(state, len("stopped"))
		}
	}
	c.state = state
	longest, tool := d.Outline.longest, d.Outline.tool
	c.index = max(min(c.index, 6), 1)
	room := d.Width - 1 - c.mark - c.gutter - 1 - c.index - 1 - 1 - c.state - 1
	if d.Outline.chart != nil {
		c.parallel = d.Look.ParallelWidth(d.Outline.chart.parallel)
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

// dry reports whether the run is a dry run, which calls nothing.
func (d *Pane) dry() bool {
	for _, s := range d.Run.Steps {
		if s.Status == agent.StepCompleted {
			return s.DryRun // all steps are, or none
		}
	}
	return false
}

// stateGap is the maximum gap before the state, in cells, so that the eye finds
// it on a wide screen.
const stateGap = 4

// face is everything a drawn row depends on besides the layout, except its
// glyph and its state. A row with the same face is not painted again.
type face struct {
	columns  columns
	width    int
	theme    int
	step     *agent.StepState
	calls    int
	selected bool
	focused  bool
	kin      Kin
	lanes    uint32 // highlighted lanes
	class    telling.StepClass
	status   agent.StepStatus
	note     string
	beat     int // for a row that spins as a whole
	open     bool
	counts   telling.Counts
	over     bool // the run has ended
}

// painted is the cached painting of a row: the part before its glyph, and the
// part between glyph and state.
type painted struct {
	done       bool
	head, body string
	room       int // for the state, in cells
	tail       string

	said  string // state drawn last
	state string // state as it was drawn
}

// faceOf computes the face of a row.
func (d *Pane) faceOf(r *Row, c columns) face {
	f := face{
		columns: c, width: d.Width, theme: d.Look.Themed, selected: r.Key != "" && r.Key == d.Selected,
		focused: d.focused, kin: d.KinOf(r), lanes: d.litLanes(r), over: d.Run.Result != nil,
	}
	switch r.Kind {
	case RowStep:
		f.class, f.status = d.tally.class[r.at], r.Step.Status
		f.note = d.note(r)
	case RowCalls, RowCall:
		if r.Kind == RowCalls {
			f.calls, f.open = len(r.owner.Loop.Calls), d.calls[r.owner.Step.Index]
		}
		f.step, f.status = r.Step, r.Step.Status
		if f.status == agent.StepRunning {
			f.beat = d.Look.Beat
		}
	case RowRevision:
		f.open = d.unfolded(r.Revision)
	case RowRoll:
		f.counts, f.open = r.Roll.Counts, r.Roll.Open
		if f.counts[telling.ClassRuns] > 0 {
			f.beat = d.Look.Beat
		}
	}
	return f
}

// drawRow draws one row, exactly as wide as the pane.
func (d *Pane) drawRow(r *Row, c columns) string {
	f := d.faceOf(r, c)
	line := d.Look.Line(f.selected, d.focused)
	if !r.text.done || r.face != f {
		r.text, r.face = d.paintRow(r, f, line), f
	}
	t := &r.text
	if r.Step == nil || t.room <= 0 {
		return t.head + t.body + t.tail
	}
	glyph := ""
	if r.owner == nil {
		glyph = d.drawGlyph(r, f, line)
	}
	said, style := d.state(r, t.room)
	if said != t.said || t.state == "" {
		said = d.Look.Cut(said, t.room)
		blank := strings.Repeat(" ", t.room-ansi.StringWidth(said))
		if f.selected && d.focused {
			blank = line.Blank(len(blank))
		}
		t.said, t.state = said, blank+line.Draw(style, said)
	}
	return t.head + glyph + t.body + t.state + t.tail
}

// drawGlyph draws the glyph of a step. All running steps share one glyph per
// beat.
func (d *Pane) drawGlyph(r *Row, f face, line draw.LitLine) string {
	glyph, style := d.glyph(r)
	if r.Kind == RowGone || f.class != telling.ClassRuns {
		return line.Draw(style, glyph)
	}
	if d.spinAt != d.Look.Beat {
		d.spinAt, d.spins = d.Look.Beat, [2]string{}
	}
	i := 0
	if f.selected && d.focused {
		i = 1
	}
	if d.spins[i] == "" {
		d.spins[i] = line.Draw(style, glyph)
	}
	return d.spins[i]
}

// paintRow paints a row except its glyph and its state.
func (d *Pane) paintRow(r *Row, f face, line draw.LitLine) painted {
	l, c := d.Look, f.columns
	p := &draw.Painter{LitLine: line, Lights: f.selected && d.focused}
	p.B.WriteString(line.Cursor)
	p.Width = 1
	out := painted{done: true}
	if r.Kind == RowRevision && len(d.Outline.cells(r)) == 0 {
		p.Add(l.Faint, d.revisionWords(r.Revision, f.open, d.Width-2))
		p.Gap(d.Width - p.Width)
		out.head = p.Take()
		return out
	}
	d.paintMark(r, c, p)
	head := d.paintGutter(r, f, p)
	switch r.Kind {
	case RowRevision:
		p.Gap(1)
		p.Add(l.Muted, d.revisionWords(r.Revision, f.open, d.Width-p.Width-1))
	case RowRoll:
		d.paintRoll(r, f, p)
	case RowCalls, RowCall:
		d.paintCall(r, &f, p)
	case RowStep, RowGone:
		d.paintText(r, f, p)
	}
	if r.Step != nil {
		if c.parallel > 0 && d.Width-1-p.Width > c.state {
			p.Gap(1)
		}
		out.room = max(min(d.Width-1-p.Width, c.state+stateGap), 0)
		if out.room == 0 && p.Width < d.Width {
			p.Gap(d.Width - p.Width)
		}
	}
	out.head, out.body = head, p.Take()
	p.Width += out.room
	if f.note != "" && c.note > 0 && out.room > 0 {
		p.Gap(2)
		p.Add(l.Faint, l.Cut(f.note, min(c.note, d.Width-p.Width-1)))
	}
	p.Gap(d.Width - p.Width)
	out.tail = p.Take()
	if head == "" { // no glyph of its own: everything is head
		out.head, out.body = out.body, ""
	}
	return out
}

// paintMark paints the revision mark of the step.
func (d *Pane) paintMark(r *Row, c columns, p *draw.Painter) {
	l := d.Look
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

// paintGutter paints the lanes. If the row has a glyph among them, it returns
// the part left of the glyph and leaves room for it.
func (d *Pane) paintGutter(r *Row, f face, p *draw.Painter) (head string) {
	l := d.Look
	calm, lit := l.Border, l.Accent.Bold(true)
	var run strings.Builder
	bright := false
	flush := func() {
		if run.Len() > 0 {
			style := calm
			if bright {
				style = lit
			}
			p.Add(style, run.String())
			run.Reset()
		}
	}
	end := p.Width + f.columns.gutter
	for i, cell := range d.Outline.cells(r) {
		if now := f.lanes&(1<<(i%32)) != 0; now != bright {
			flush()
			bright = now
		}
		run.WriteString(l.Glyphs.Lanes.Cell(cell.Sides))
	}
	flush()
	sign := end - d.Outline.signs
	if r.nested {
		sign = end - 1
	}
	p.Gap(sign - p.Width)
	switch {
	case r.Kind == RowRoll:
		p.Add(l.Muted, d.rollSign(r.Roll))
	case r.Step != nil && r.owner == nil:
		head = p.Take()
		p.Width++
	}
	p.Gap(end - p.Width)
	return head
}

// paintText paints index, title and tool.
func (d *Pane) paintText(r *Row, f face, p *draw.Painter) {
	l, s, c := d.Look, r.Step, f.columns
	index, title, tool := l.Muted, l.Text, l.Faint
	switch {
	case r.Kind == RowGone:
		index, title, tool = l.Faint, l.Struck, l.Struck
	case s.Draft, s.Status == agent.StepSkipped:
		title = l.Muted
	case s.Status == agent.StepRunning, s.Status == agent.StepWaiting:
		title = l.Strong
	}
	switch f.kin {
	case KinLit:
		index = l.Accent.Bold(true)
	case KinDim:
		title = l.Faint
	}
	text := untrusted.Line(s.Step.Title)
	tail, room := "", c.title
	switch {
	case len(r.after) > 0 && (f.class != telling.ClassWaits || f.over): // else the state shows it
		tail = l.Blockers(r.after, max(room/2, room-ansi.StringWidth(text))-1)
	case f.note != "" && c.note == 0 && r.Kind == RowStep && (s.Change == agent.ChangeRevised || f.class == telling.ClassSkipped) && room >= 2*noteLeast:
		tail = f.note
	}
	if tail != "" {
		tail = l.Cut(" "+tail, max(room/2, room-ansi.StringWidth(text)))
		room -= ansi.StringWidth(tail)
	}
	text = l.Cut(text, room)
	number := l.Cut(untrusted.Line(s.Step.Index), c.index)
	p.Gap(1 + c.index - ansi.StringWidth(number))
	p.Add(index, number)
	p.Gap(1)
	p.Add(title, text)
	p.Add(l.Faint, tail)
	p.Gap(c.title - ansi.StringWidth(text) - ansi.StringWidth(tail))
	if c.tool > 0 {
		name := l.Cut(telling.StepTool(s), c.tool)
		p.Gap(2)
		p.Add(tool, name)
		p.Gap(c.tool - ansi.StringWidth(name))
	}
	l.PaintParallel(p, c.parallel, r.Kind == RowStep && d.Chart.parallel[s.Step.Index])
}

// rollSign returns the expanded or collapsed sign of a roll-up.
func (d *Pane) rollSign(r *rollup) string {
	if r.Open {
		return d.Look.Glyphs.Unfolded
	}
	return d.Look.Glyphs.Folded
}

// paintRoll paints several steps as one line: a label and their counts by
// status. The counts take precedence over the label.
func (d *Pane) paintRoll(r *Row, f face, p *draw.Painter) {
	l, c := d.Look, f.columns
	words := CountWords(l, &f.counts, p.Lit)
	wide := ansi.StringWidth(words)
	p.Gap(1)
	text := r.Roll.Label
	end := p.Width + c.index + 1 + c.title + c.state + stateGap
	if c.tool > 0 {
		end += 2 + c.tool
	}
	end += c.parallel
	end = min(end, d.Width-1) // right edge of the states
	room := max(end-p.Width-wide-2, 0)
	style := l.Muted
	switch f.kin {
	case KinDim:
		style = l.Faint
	case KinLit:
		style = l.Text
	}
	name := l.Cut(text, room)
	p.Add(style, name)
	span := "  " + r.Roll.First + l.Glyphs.Ellipsis + r.Roll.Last
	if left := room - ansi.StringWidth(name); left >= ansi.StringWidth(span) {
		p.Add(l.Faint, span)
	}
	p.Gap(end - p.Width - wide)
	if p.Width+wide <= d.Width {
		p.B.WriteString(words)
		p.Width += wide
	}
}

// revisionWords returns the reason for a revision, or a summary of an older
// one.
func (d *Pane) revisionWords(rev *agent.Revision, open bool, width int) string {
	l := d.Look
	sign, does := l.Glyphs.Folded, d.Keys.Name("plan.open")+" opens"
	if open {
		sign, does = l.Glyphs.Unfolded, d.Keys.Name("plan.open")+" folds"
	}
	head := fmt.Sprintf("%s rev %d: ", sign, rev.Number)
	why := untrusted.FirstLine(rev.Reason)
	if rev == d.newest() && why != "" {
		return l.Cut(head+"because "+why, width)
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
