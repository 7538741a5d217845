package step

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// tab is one view of a step.
type tab int

// Tabs of the pane.
const (
	tabArgs   tab = iota
	tabItems      // only of a step that runs for each item of a list
	tabOutput     // next to the expected outcome
	tabChecks     // what its checks saw; only of a plan with checks
	tabDiff
	tabStory // attempts and decisions
	tabTiming
	tabs
)

var tabNames = [tabs]string{"args", "items", "output", "checks", "diff", "story", "timing"}

// Pane shows one step in full: the call and its sources, its result, its
// changes, its attempts and its times.
type Pane struct {
	styles *draw.Styles
	words  *draw.Markdown // draws what a model wrote
	keys   *keymap.Map
	run    *agent.Run
	shown  *Subject
	key    string
	tab    tab
	chosen bool // the user chose the tab; it stays until the pane shows another step
	width  int
	height int
	tabbed bool // the pane draws its own tabs, since it has no frame
	gated  bool // the gate on the screen shows the change
	top    draw.SheetSpot
	atEnd  bool // the view follows new output

	head  []string    // redrawn each time
	back  []draw.Leaf // potentially long part, kept while built is valid
	built version
	sheet *draw.Sheet
	body  int // visible rows of the sheet
	view  []string
	drawn bool
	tabAt [tabs]draw.Rect // position in the title, from its start
}

// version is everything the long part of a tab depends on.
type version struct {
	key      string
	tab      tab
	width    int
	theme    themes.Name
	dark     bool
	diffs    draw.DiffView
	status   agent.StepStatus
	attempt  int
	ms       int64
	gate     string
	revision int
	failed   untrusted.Text
	output   string // received so far
	checked  int    // checks that are evaluated
	diff     string
	gated    bool
	seq      uint64 // of the run, while something may still change the step
}

// New returns the pane without a step.
func New(l *draw.Styles, keys *keymap.Map) *Pane {
	return &Pane{styles: l, words: draw.NewMarkdown(l), keys: keys}
}

// State is what the pane needs to know of the rest of the screen.
type State struct {
	Size   draw.Rect
	Tabbed bool // the pane draws its own tabs, since it has no frame
	Gated  bool // the gate of the step is on the screen, and shows what the call would change
}

// SetState tells the pane about the rest of the screen.
func (d *Pane) SetState(s State) {
	d.setSize(s.Size.W, s.Size.H)
	d.setTabbed(s.Tabbed)
	if s.Gated != d.gated {
		d.gated, d.drawn = s.Gated, false
		d.prefer()
	}
}

// setSize sets the size of the pane, in cells.
func (d *Pane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn = width, height, false
	}
}

// setTabbed sets whether the pane draws its own tabs.
func (d *Pane) setTabbed(tabbed bool) {
	if tabbed != d.tabbed {
		d.tabbed, d.drawn = tabbed, false
	}
}

// Show sets the subject of the pane; nil shows nothing.
func (d *Pane) Show(run *agent.Run, s *Subject) {
	key := ""
	if s != nil && s.Step != nil {
		key = run.ID + " " + s.Key
	}
	if key != d.key {
		d.key, d.top, d.chosen, d.atEnd = key, draw.SheetSpot{}, false, true
		d.drawn = false
	}
	d.run, d.shown = run, s
	if d.tab == tabChecks && (run == nil || !run.Checks()) {
		d.chosen = false
	}
	d.prefer()
}

// prefer shows the preferred tab, unless the user chose one.
func (d *Pane) prefer() {
	if t := d.preferredTab(); !d.chosen && t != d.tab {
		d.tab, d.top, d.drawn = t, draw.SheetSpot{}, false
	}
}

// preferredTab returns the most informative tab for the current state of the step.
func (d *Pane) preferredTab() tab {
	s := d.state()
	switch {
	case s == nil, s.DryRun && s.Items == nil:
		return tabArgs
	case s.Items != nil:
		return tabItems
	case s.Loop != nil && (s.Status == agent.StepRunning || wording.Halted(d.run, s)) && s.Loop.Text != "":
		return tabOutput
	case s.Failure == event.FailureCheck, s.Status == agent.StepChecking:
		return tabChecks
	case s.Status == agent.StepWaiting && s.Diff != "" && !d.gated:
		return tabDiff
	case s.Status == agent.StepRunning && s.Output != "", s.Status == agent.StepCompleted, s.Status == agent.StepFailed:
		return tabOutput
	default:
		return tabArgs
	}
}

// Invalidate forces a redraw on the next call of View.
func (d *Pane) Invalidate() { d.drawn = false }

func (d *Pane) state() *agent.StepState {
	if d.shown == nil {
		return nil
	}
	return d.shown.Step
}

// offered returns the tabs in their order.
func (d *Pane) offered() []tab {
	offered := make([]tab, 0, tabs)
	for t := range tabs {
		switch s := d.state(); {
		case t == tabChecks && (d.run == nil || !d.run.Checks()), t == tabItems && (s == nil || s.Step.ForEach == nil):
		default:
			offered = append(offered, t)
		}
	}
	return offered
}

// beside returns the tab that is so many tabs after the chosen one.
func (d *Pane) beside(by int) tab {
	offered := d.offered()
	return offered[(max(slices.Index(offered, d.tab), 0)+by+len(offered))%len(offered)]
}

// choose shows a tab.
func (d *Pane) choose(t tab) {
	d.tab, d.chosen, d.top, d.atEnd, d.drawn = t, true, draw.SheetSpot{}, true, false
}

// clicked chooses the tab at a cell of the title, and reports whether there is
// one.
func (d *Pane) clicked(x int) bool {
	for t, r := range d.tabAt {
		if d.state() != nil && r.Contains(x, 0) {
			d.choose(tab(t))
			return true
		}
	}
	return false
}

// scroll scrolls the view by rows, down if rows is positive.
func (d *Pane) scroll(rows int) {
	const far = 1 << 16 // rows; scrolls to the start or the end
	if d.sheet == nil {
		return
	}
	end := d.sheet.Last(d.body)
	switch {
	case rows <= -far:
		d.top = draw.SheetSpot{}
	case rows >= far:
		d.top = end
	default:
		d.top = d.sheet.Move(d.top, rows)
	}
	d.atEnd = rows > 0 && !d.top.Before(end)
	d.drawn = false
}

// Title returns the name of the step and its tabs.
func (d *Pane) Title(width int) string {
	l, s := d.styles, d.state()
	if s == nil {
		return l.Muted.Render("Step")
	}
	step := draw.StepTitle(l, s.Step.Index)
	offered := d.offered()
	names, count := 0, len(offered)
	for _, t := range offered {
		names += len(tabNames[t])
	}
	for _, between := range []string{" " + l.Glyphs.Separator + " ", "  ", " "} {
		gap := ansi.StringWidth(between)
		switch {
		case !d.tabbed && ansi.StringWidth(step)+names+count*gap <= width:
			return l.Muted.Render(step) + l.Faint.Render(between) + d.tabRow(between, ansi.StringWidth(step)+gap)
		case d.tabbed && names+(count-1)*gap <= width, gap == 1 && names+count-1 <= width:
			return d.tabRow(between, 0)
		}
	}
	d.tabAt = [tabs]draw.Rect{}
	return l.Muted.Render(step+" ") + l.Accent.Bold(true).Underline(true).Render(tabNames[d.tab]) +
		l.Muted.Render(fmt.Sprintf(" %d/%d", slices.Index(offered, d.tab)+1, count))
}

// tabRow draws the tabs from cell x and records their positions.
func (d *Pane) tabRow(between string, x int) string {
	l := d.styles
	var b strings.Builder
	d.tabAt = [tabs]draw.Rect{}
	for i, t := range d.offered() {
		name := tabNames[t]
		if i > 0 {
			b.WriteString(l.Faint.Render(between))
			x += ansi.StringWidth(between)
		}
		style := l.Muted
		if t == d.tab {
			style = l.Accent.Bold(true).Underline(true)
		}
		d.tabAt[t] = draw.Rect{X: x, Y: 0, W: len(name), H: 1}
		x += len(name)
		b.WriteString(style.Render(name))
	}
	return b.String()
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
		d.drawRevision(&front.Document, d.shown.Revision)
	case d.shown != nil && d.shown.Kind == SubjectGroup:
		d.drawGroup(&front.Document, d.shown.Group)
	case s == nil && d.run != nil && d.run.Result != nil && len(d.run.Steps) == 0:
		front.Prose(l.Faint, "This run has no step to inspect.")
	case s == nil:
		front.Prose(l.Faint, "Choose a step of the plan to inspect it.")
	}
	if s == nil {
		d.built = version{}
		d.sheet, d.body = draw.NewSheet(l, d.width, front.All()), height
		return d.sheet.View(&d.top, height)
	}
	d.head = d.drawHead(s, height)
	d.body = max(height-len(d.head), 1)
	width, beside := d.columns(s), d.besides(s)
	front.Width = width
	d.drawFront(front, s)
	if v := d.version(s, width); v != d.built || d.back == nil {
		back := draw.NewSheetPage(l, width)
		d.drawBack(back, s)
		d.back, d.built = back.All(), v
	}
	d.sheet = draw.NewSheet(l, width, append(front.All(), d.back...))
	if d.tab == tabOutput && s.Status == agent.StepRunning && d.atEnd {
		d.top = d.sheet.Last(d.body)
	}
	body := d.sheet.View(&d.top, d.body)
	if beside > 0 {
		body = d.besideOutput(s, body, beside)
	}
	return l.Block(append(append([]string{}, d.head...), body...), d.width, height)
}

// version returns the current version of the tab's long part.
func (d *Pane) version(s *agent.StepState, width int) version {
	v := version{
		key: d.key, tab: d.tab, width: width, theme: d.styles.Theme.Name, dark: d.styles.Theme.Dark, diffs: d.styles.Diffs, status: s.Status, attempt: s.Attempt,
		ms: s.MS, gate: s.Gate, revision: d.run.Revision, failed: s.Error, diff: s.Diff, gated: d.gated,
	}
	switch {
	case d.tab == tabOutput:
		v.output = s.Output
		if s.Loop != nil {
			v.output = s.Loop.Text
		}
	case d.tab == tabChecks:
		v.checked = len(s.Checked)
	case d.tab == tabItems, d.tab == tabStory, d.tab == tabTiming, !s.Status.Ended() && s.Status != agent.StepRunning:
		v.seq = d.run.Seq
	}
	return v
}

// drawFront draws the part before the long part of a tab. It is redrawn
// each time.
func (d *Pane) drawFront(p *draw.SheetPage, s *agent.StepState) {
	switch d.tab {
	case tabArgs:
		d.drawCall(p, s)
	case tabItems:
		d.drawEach(p, s)
	case tabOutput:
		d.drawSoFar(p, s)
	case tabTiming:
		d.drawTiming(p, s)
	}
}

// drawBack draws the long part of a tab.
func (d *Pane) drawBack(p *draw.SheetPage, s *agent.StepState) {
	switch d.tab {
	case tabArgs:
		d.drawArgs(p, s)
	case tabItems:
		d.drawItems(p, s)
	case tabOutput:
		d.drawOutput(p, s)
	case tabChecks:
		d.drawChecks(&p.Document, s)
	case tabDiff:
		d.drawDiff(p, s)
	case tabStory:
		d.drawStory(p, s)
	}
}

// Place returns which part of the step is in view.
func (d *Pane) Place() string {
	if d.sheet == nil {
		return ""
	}
	return d.sheet.Place(d.top, d.body)
}

// drawHead draws the summary of the step, which stays in view while the rest
// scrolls.
func (d *Pane) drawHead(s *agent.StepState, height int) []string {
	l, run := d.styles, d.run
	const roomy = 16 // lines
	if d.tab == tabDiff && height < roomy {
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

// drawCall draws the step, its dependencies and its expected outcome.
func (d *Pane) drawCall(p *draw.SheetPage, s *agent.StepState) {
	l := d.styles
	p.Field("does", l.Text, wording.StepTool(&s.Step))
	removedBy := 0
	if d.shown.Kind == SubjectGone {
		removedBy = d.shown.Revision.Number
	}
	p.Field("state", l.Text, wording.StateSentence(d.run, s, removedBy, l.Since(s.StartedAt)))
	if d.shown.Kind == SubjectStep {
		if deps := d.dependencies(); len(deps) > 0 {
			p.Field("after", l.Text, strings.Join(deps, ", "))
		}
	}
	d.drawItem(p, s)
	if s.Step.ForEach != nil {
		d.drawEach(p, s)
	}
	if s.Step.When != "" {
		p.Field("when", l.Text, untrusted.Line(s.Step.When))
	}
	if u := s.Step.Until; u != nil {
		p.Field("until", l.Text, wording.UntilWords(*u))
	}
	if title := wording.Milestone(d.run.Plan, s.Step.Index); title != "" {
		p.Field("stage", l.Text, title)
	}
	if s.Step.ExpectedOutcome != "" {
		d.drawExpected(&p.Document, s)
	}
	if _, item := s.Item(); s.Step.ResultVariable != "" && !item {
		p.Field("gives", l.Text, s.Step.ResultVariable)
	}
	if loop := s.Loop; loop != nil {
		words := english.Count(loop.Turns, "turn") + ", " + wording.CallsWords(d.run, loop)
		if loop.Tokens > 0 {
			words += ", " + wording.Tokens(loop.Tokens) + " tokens"
		}
		p.Field("so far", l.Text, words)
	}
	if s.Run != "" {
		p.Field("run", l.Text, s.Run)
	}
	if failure := cmp.Or(s.Error, wording.FailureOf(s)); failure != "" {
		p.Field("error", l.Danger, draw.Clip(strings.TrimSpace(failure.Visible())))
	}
	if s.DryRun && s.DryGate != nil {
		p.Field("gate", l.Warning, wording.WouldWords(*s.DryGate)+": "+wording.RuleReason(*s.DryGate))
	}
}

// dependencies returns the direct dependencies of the step.
func (d *Pane) dependencies() []string {
	var out []string
	for _, dep := range d.shown.Step.Step.DependsOn {
		out = append(out, untrusted.Line(dep))
	}
	return out
}

// drawRevision draws the changes of an older revision and its reason.
func (d *Pane) drawRevision(p *draw.Document, r *agent.Revision) {
	l := d.styles
	p.Prose(l.Strong, fmt.Sprintf("Revision %d", r.Number))
	var removed []string
	for i := range r.Removed {
		removed = append(removed, r.Removed[i].Step.Index)
	}
	for _, part := range wording.RevisionParts(removed, r.Added, r.Revised) {
		p.Field(part.Name, l.Text, part.Steps)
	}
	if r.Reason != "" {
		p.Field("because", l.Text, strings.TrimSpace(r.Reason.Visible()))
	}
}
