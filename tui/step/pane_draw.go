package step

import (
	"replan/agent"
	"replan/tui/draw"
)

// Title returns the name of the step and its tabs.
func (d *Pane) Title(width int) string {
	s := d.state()
	if s == nil {
		return d.styles.Muted.Render("Step")
	}
	return d.tabs.title(d.styles, draw.StepTitle(d.styles, s.Step.Index), d.offered(), !d.tabbed, width)
}

// View draws the pane: Height lines of exactly Width cells.
func (d *Pane) View() []string {
	if d.drawn {
		return d.view
	}
	d.drawn = true
	d.view = nil
	height := d.height
	if d.tabbed && d.state() != nil && height > 0 {
		d.view = append(d.view, d.styles.Fit(d.Title(d.width), d.width))
		height--
	}
	if d.width <= 0 || height <= 0 {
		return d.view
	}
	d.view = append(d.view, d.draw(height)...)
	return d.view
}

// draw draws the tab in height lines.
func (d *Pane) draw(height int) []string {
	l, s := d.styles, d.state()
	front := draw.NewSheetPage(l, d.width)
	switch {
	case d.shown != nil && d.shown.Kind == SubjectRevision:
		drawRevision(&front.Document, d.shown.Revision)
	case d.shown != nil && d.shown.Kind == SubjectGroup:
		drawGroup(&front.Document, d.keys, d.shown.Group)
	case s == nil && d.run != nil && d.run.Result != nil && len(d.run.Steps) == 0:
		front.Prose(l.Faint, "This run has no step to inspect.")
	case s == nil:
		front.Prose(l.Faint, "Choose a step of the plan to inspect it.")
	}
	if s == nil {
		d.long.leave()
		return d.sheet.show(draw.NewSheet(l, d.width, front.All()), height, false)
	}
	head := d.drawHead(s, height)
	width, beside := d.columns(s), d.besides(s)
	front.SetWidth(width)
	d.drawFront(front, s)
	long := d.long.at(d.version(s, width), func() []draw.Leaf {
		page := draw.NewSheetPage(l, width)
		d.drawLong(page, s)
		return page.All()
	})
	grows := d.tabs.shown() == tabOutput && s.Status == agent.StepRunning
	body := d.sheet.show(draw.NewSheet(l, width, append(front.All(), long...)), max(height-len(head), 1), grows)
	if beside > 0 {
		body = besideOutput(l, d.output, s, body, beside)
	}
	return l.Block(append(append([]string{}, head...), body...), d.width, height)
}

// version returns the current version of the tab's long part.
func (d *Pane) version(s *agent.StepState, width int) version {
	t := d.tabs.shown()
	v := version{
		key: d.key, tab: t, width: width, theme: d.styles.Theme.Name, dark: d.styles.Theme.Dark, diffs: d.styles.Diffs, status: s.Status, attempt: s.Attempt,
		ms: s.MS, gate: s.Gate, revision: d.run.Revision, failed: s.Error, diff: s.Diff, gated: d.gated,
	}
	switch {
	case t == tabOutput:
		v.output = s.Output
		if s.Loop != nil {
			v.output = s.Loop.Text
		}
	case t == tabChecks:
		v.checked = len(s.Checked)
	case t == tabItems, t == tabStory, t == tabTiming, !s.Status.Ended() && s.Status != agent.StepRunning:
		v.seq = d.run.Seq
	}
	return v
}

// drawFront draws the part before the long part of a tab. It is redrawn
// each time.
func (d *Pane) drawFront(p *draw.SheetPage, s *agent.StepState) {
	switch d.tabs.shown() {
	case tabArgs:
		drawCall(p, d.run, d.shown, d.output)
	case tabItems:
		drawEach(p, s)
	case tabOutput:
		d.output.drawSoFar(p, s, d.besides(s) == 0)
	case tabTiming:
		drawTiming(p, d.run, s)
	}
}

// drawLong draws the long part of a tab.
func (d *Pane) drawLong(p *draw.SheetPage, s *agent.StepState) {
	switch d.tabs.shown() {
	case tabArgs:
		drawArgs(p, d.run, s, d.gated)
	case tabItems:
		drawItems(p, d.run, s)
	case tabOutput:
		d.output.draw(p, s)
	case tabChecks:
		drawChecks(&p.Document, d.run, s)
	case tabDiff:
		drawDiff(p, d.run, d.shown)
	case tabStory:
		drawStory(p, d.run, d.shown)
	}
}

// drawHead draws the summary of the step, which stays in view while the rest
// scrolls.
func (d *Pane) drawHead(s *agent.StepState, height int) []string {
	l, run := d.styles, d.run
	const roomy = 16 // lines
	if d.tabs.shown() == tabDiff && height < roomy {
		return nil // a diff needs the room, and names what it changes
	}
	if d.shown.Kind == SubjectGone {
		run = nil
	}
	glyph, style := draw.StateGlyph(l, run, s)
	title := draw.Wrap(s.Step.Title.Line(), max(d.width-2, 1))
	title = l.AtMost(title, max(min(2, height/3), 1), d.width-2)
	return draw.Hang(style.Render(glyph)+" ", draw.Paint(l.Strong, title))
}

// besideFrom is the width, in cells, from which the expected outcome is at the
// right of the output. On narrower panes it is above.
const besideFrom = 80

// besides returns the width of the column for the expected outcome, or 0.
func (d *Pane) besides(s *agent.StepState) int {
	if d.tabs.shown() != tabOutput || d.width < besideFrom || s.Step.ExpectedOutcome == "" {
		return 0
	}
	return d.width / 3
}

// columns returns the width of the step's text: beside the expected outcome, if that
// is there.
func (d *Pane) columns(s *agent.StepState) int {
	if beside := d.besides(s); beside > 0 {
		return d.width - beside - 2
	}
	return d.width
}
