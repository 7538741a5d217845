package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// columns are the widths of a row's parts, in cells.
type columns struct {
	mark   int // 0 until there is a revision
	gutter int
	index  int
	title  int
	tool   int // 0 where there is no room
	state  int
}

// titleFirst is the width up to which a title has the room before the tool has
// any, in cells.
const titleFirst = 18

// columns measures the rows. It looks at the steps' own lengths, so that the
// columns stand still while the states change.
func (d *dagPane) columns() columns {
	c := columns{gutter: d.outline.width, index: d.outline.index, state: 6}
	if len(d.run.Revisions) > 0 {
		c.mark = 2
	}
	for _, s := range d.run.Steps {
		switch {
		case s.DryGate != nil:
			c.state = max(c.state, len("? dry run"))
		case s.DryRun:
			c.state = max(c.state, len("dry run"))
		case s.Status == agent.StepLeftOut, s.Status == agent.StepUncertain:
			c.state = max(c.state, len("in doubt"))
		case halted(d.run, s):
			c.state = max(c.state, len("stopped"))
		}
	}
	longest, tool := d.outline.longest, d.outline.tool
	c.index = max(min(c.index, 6), 1)
	room := d.width - 1 - c.mark - c.gutter - 1 - c.index - 1 - 1 - c.state - 1
	c.tool = min(tool, 18)
	if c.tool > 0 && room-c.tool-2 >= min(longest, titleFirst) {
		room -= c.tool + 2
	} else {
		c.tool = 0
	}
	c.title = max(min(room, longest), 1)
	return c
}

// stepTool is who carries the step out, as the row names it.
func stepTool(s *agent.StepState) string {
	switch s.Step.Executor {
	case planning.ExecutorSelf:
		return "model"
	case planning.ExecutorAgent:
		return untrusted.Line("agent " + s.Step.Profile)
	default:
		return untrusted.Line(s.Step.Tool)
	}
}

// stateGap is how far the state may stand from the rest of the row, so that the
// eye finds it on a wide screen.
const stateGap = 4

// kin says how a row relates to the chosen one.
type kin int

const (
	kinNone kin = iota // nothing is lit
	kinLit             // one depends on the other
	kinDim             // neither does
)

// kinship lights what the chosen step depends on and what depends on it, while
// the pane has the focus.
func (d *dagPane) kinship(r, chosen *row) kin {
	switch {
	case !d.focused || chosen == nil || chosen.kind != rowStep || r.kind != rowStep || r.at == chosen.at:
		return kinNone
	case d.outline.related(r.at, chosen.at):
		return kinLit
	default:
		return kinDim
	}
}

// face is all that a drawn row depends on besides the plan's layout. A row with
// the same face need not be drawn again.
type face struct {
	columns  columns
	width    int
	step     *agent.StepState
	calls    int
	selected bool
	focused  bool
	kin      kin
	status   agent.StepStatus
	draft    bool
	state    string
	beat     int // of a row that spins
	open     bool
	over     bool // the run is
	dark     bool
}

// drawRow draws one row, exactly as wide as the pane where it is chosen.
func (d *dagPane) drawRow(r, chosen *row, c columns) string {
	f := face{
		columns: c, width: d.width, selected: chosen != nil && chosen.key != "" && r.key == chosen.key,
		focused: d.focused, kin: d.kinship(r, chosen), dark: d.look.theme.Dark,
		over: d.run.Result != nil,
	}
	switch {
	case r.step != nil:
		if r.kind == rowCalls {
			f.step, f.calls, f.open = r.step, len(r.owner.Loop.Calls), d.calls[r.owner.Step.Index]
		}
		f.status, f.draft = r.step.Status, r.step.Draft
		f.state, _ = d.state(r, d.width)
		if f.status == agent.StepActive {
			f.beat = d.look.beat
		}
	case r.revision != nil:
		f.open = d.open[r.revision.Number]
	}
	if r.drawn == "" || r.face != f {
		r.drawn, r.face = d.paintRow(r, f), f
	}
	return r.drawn
}

func (d *dagPane) paintRow(r *row, f face) string {
	l, c := d.look, f.columns
	drawn := l.line(f.selected, d.focused)
	lit := drawn.lit
	if r.kind == rowRevision {
		return drawn.cursor + d.drawRevision(r, lit)
	}
	line := drawn.cursor + d.drawMark(r, c, lit) + d.drawGutter(r, c, lit)
	switch r.kind {
	case rowLink:
		return line
	case rowCalls, rowCall:
		line += d.drawCall(r, c, lit)
	default:
		line += d.drawText(r, c, lit, f.kin)
	}
	room := min(d.width-1-ansi.StringWidth(line), c.state+stateGap)
	state, style := d.state(r, room)
	state = l.cut(state, room)
	line += drawn.blank(room-ansi.StringWidth(state)) + drawn.draw(style, state)
	return line + drawn.blank(d.width-ansi.StringWidth(line))
}

// drawMark draws what a revision did to the step.
func (d *dagPane) drawMark(r *row, c columns, lit func(lipgloss.Style) lipgloss.Style) string {
	l := d.look
	if c.mark == 0 {
		return ""
	}
	switch {
	case r.kind == rowGone:
		return lit(l.Removed).Render(l.glyphs.Removed + " ")
	case r.step != nil && r.step.Change == agent.ChangeAdded:
		return lit(l.Added).Render(l.glyphs.Added + " ")
	case r.step != nil && r.step.Change == agent.ChangeRevised:
		return lit(l.Warning).Render(l.glyphs.Revised + " ")
	default:
		return lit(l.Text).Render("  ")
	}
}

// drawGutter draws the lanes with the step's glyph in its own.
func (d *dagPane) drawGutter(r *row, c columns, lit func(lipgloss.Style) lipgloss.Style) string {
	l := d.look
	var b, run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			b.WriteString(lit(l.Border).Render(run.String()))
			run.Reset()
		}
	}
	for i := range c.gutter {
		if i == r.node && r.step != nil && r.owner == nil {
			flush()
			glyph, style := d.glyph(r)
			b.WriteString(lit(style).Render(glyph))
			continue
		}
		sides := uint8(0)
		if i < len(r.gutter) {
			sides = r.gutter[i]
		}
		run.WriteString(laneGlyph(l.glyphs.Lanes, sides))
	}
	flush()
	return b.String()
}

// drawText draws index, title and tool.
func (d *dagPane) drawText(r *row, c columns, lit func(lipgloss.Style) lipgloss.Style, k kin) string {
	l, s := d.look, r.step
	index, title, tool := l.Muted, l.Text, l.Faint
	switch {
	case r.kind == rowGone:
		index, title, tool = l.Faint, l.Struck, l.Struck
	case s.Draft, s.Status == agent.StepLeftOut:
		title = l.Muted
	case s.Status == agent.StepActive, s.Status == agent.StepWaiting:
		title = l.Strong
	}
	switch k {
	case kinLit:
		index = l.Accent.Bold(true)
	case kinDim:
		title = l.Faint
	}
	text := untrusted.Line(s.Step.Title)
	tail := ""
	room := c.title
	if len(r.after) > 0 {
		if waits, _ := d.state(r, d.width); waits == "" || !strings.HasPrefix(waits, l.glyphs.Blocker) {
			tail = l.cut(" "+l.blockers(r.after, room/2-1), room/2)
			room -= ansi.StringWidth(tail)
		}
	}
	text = l.cut(text, room)
	pad := func(s string, width int) string {
		return lit(l.Text).Render(strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)))
	}
	number := l.cut(untrusted.Line(s.Step.Index), c.index)
	out := lit(l.Text).Render(" ") + pad(number, c.index) + lit(index).Render(number) + lit(l.Text).Render(" ")
	out += lit(title).Render(text)
	if tail != "" {
		out += lit(l.Faint).Render(tail)
	}
	out += pad(text+tail, c.title)
	if c.tool > 0 {
		name := l.cut(stepTool(s), c.tool)
		out += lit(l.Text).Render("  ") + lit(tool).Render(name) + pad(name, c.tool)
	}
	return out
}

// glyph is the sign of the step's state.
func (d *dagPane) glyph(r *row) (string, lipgloss.Style) {
	glyph, style := stateGlyph(d.look, d.runOf(r), r.step)
	if r.kind == rowGone && r.step.Status != agent.StepBroken {
		style = d.look.Faint
	}
	return glyph, style
}

// runOf is the run that a row's step belongs to, nil where it is gone.
func (d *dagPane) runOf(r *row) *agent.Run {
	if r.kind == rowGone {
		return nil
	}
	return d.run
}

// state is what stands at the right end of the row, in that many cells where it
// can be said in them.
func (d *dagPane) state(r *row, room int) (string, lipgloss.Style) {
	l, s := d.look, r.step
	if r.kind == rowCalls && d.calls[r.owner.Step.Index] {
		return "", l.Faint
	}
	word, style := stateWord(l, d.runOf(r), s)
	inner := r.kind == rowCalls || r.kind == rowCall
	if word != "" || inner || r.kind == rowGone || s.Draft || d.run.Result != nil {
		return word, style
	}
	if !s.RetryAt.IsZero() {
		return "retry", l.Warning
	}
	return d.look.blockers(d.waits(r), room), l.Faint
}

// waits is the steps that this one still waits for: one that failed or is in
// doubt holds it up as one that runs does.
func (d *dagPane) waits(r *row) []string {
	var waits []string
	for _, p := range d.outline.deps[r.at] {
		if s := d.outline.steps[p]; s.Status != agent.StepDone && s.Status != agent.StepLeftOut {
			waits = append(waits, s.Step.Index)
		}
	}
	return waits
}

// blockers names steps that one waits for: all of them where they fit in width
// cells, else the first, with a mark that there are more.
func (l *look) blockers(steps []string, width int) string {
	if len(steps) == 0 {
		return ""
	}
	all := l.glyphs.Blocker + untrusted.Line(strings.Join(steps, ","))
	if len(steps) == 1 || ansi.StringWidth(all) <= width {
		return all
	}
	return l.glyphs.Blocker + untrusted.Line(steps[0]) + l.glyphs.Ellipsis
}

// drawRevision draws an older revision, folded or open.
func (d *dagPane) drawRevision(r *row, lit func(lipgloss.Style) lipgloss.Style) string {
	l, rev := d.look, r.revision
	glyph, does := l.glyphs.Folded, "enter opens"
	if d.open[rev.Number] {
		glyph, does = l.glyphs.Unfolded, "enter folds"
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
	text := fmt.Sprintf("%s rev %d: %s", glyph, rev.Number, strings.Join(changes, ", "))
	if full := text + " (" + does + ")"; ansi.StringWidth(full) <= d.width-2 {
		text = full
	}
	return lit(l.Faint).Render(l.fit(text, d.width-1))
}
