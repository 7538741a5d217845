package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/themes"
	"replan/tui/untrusted"
)

// tab is one side of a step.
type tab int

const (
	tabArgs   tab = iota
	tabOutput     // beside what was expected
	tabDiff
	tabStory // its attempts, and who decided what
	tabTiming
	tabs
)

var tabNames = [tabs]string{"args", "output", "diff", "story", "timing"}

// detailPane shows one step whole: the call and where it comes from, what came of
// it, what it changes, its attempts and its times.
type detailPane struct {
	look   *look
	run    *agent.Run
	shown  *subject
	key    string
	tab    tab
	chosen bool // the user chose the tab; it stays until another step is shown
	width  int
	height int
	tabbed bool // the tabs stand in the pane itself, since nothing frames it
	top    sheetSpot
	atEnd  bool // output is followed as it comes

	head  []string // drawn anew each time
	back  []leaf   // what may be long, kept while built holds
	built version
	sheet *sheet
	body  int // rows of the sheet in view
	view  []string
	drawn bool
	tabAt [tabs]rect // of the title, from where it begins
}

// version is all that the long part of a tab depends on.
type version struct {
	key      string
	tab      tab
	width    int
	theme    themes.Name
	dark     bool
	diffs    diffView
	status   agent.StepStatus
	attempt  int
	ms       int64
	gate     string
	revision int
	failed   string
	output   string // as far as it has come
	diff     string
	seq      uint64 // while anything may change the step, of the run
}

func newDetailPane(l *look) *detailPane { return &detailPane{look: l} }

func (d *detailPane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn = width, height, false
	}
}

// setTabbed says whether the tabs stand in the pane itself.
func (d *detailPane) setTabbed(tabbed bool) {
	if tabbed != d.tabbed {
		d.tabbed, d.drawn = tabbed, false
	}
}

// show takes what the pane is to show, or nil for nothing.
func (d *detailPane) show(run *agent.Run, s *subject) {
	key := ""
	if s != nil && s.step != nil {
		key = run.ID + " " + s.key
	}
	if key != d.key {
		d.key, d.top, d.chosen, d.atEnd = key, sheetSpot{}, false, true
		d.drawn = false
	}
	d.run, d.shown = run, s
	if !d.chosen {
		if t := d.telling(); t != d.tab {
			d.tab, d.top, d.drawn = t, sheetSpot{}, false
		}
	}
}

// telling is the tab that says most about the step as it stands.
func (d *detailPane) telling() tab {
	s := d.state()
	switch {
	case s == nil, s.DryRun:
		return tabArgs
	case s.Loop != nil && (s.Status == agent.StepActive || halted(d.run, s)) && s.Loop.Text != "":
		return tabOutput
	case s.Status == agent.StepWaiting && s.Diff != "":
		return tabDiff
	case s.Status == agent.StepActive && s.Output != "", s.Status == agent.StepDone, s.Status == agent.StepBroken:
		return tabOutput
	default:
		return tabArgs
	}
}

// touch says that the step has changed.
func (d *detailPane) touch() { d.drawn = false }

func (d *detailPane) state() *agent.StepState {
	if d.shown == nil {
		return nil
	}
	return d.shown.step
}

// choose shows a tab.
func (d *detailPane) choose(t tab) {
	d.tab, d.chosen, d.top, d.atEnd, d.drawn = (t+tabs)%tabs, true, sheetSpot{}, true, false
}

// clicked chooses the tab at a cell of the title, and reports whether there is one.
func (d *detailPane) clicked(x int) bool {
	for t, r := range d.tabAt {
		if d.state() != nil && r.contains(x, 0) {
			d.choose(tab(t))
			return true
		}
	}
	return false
}

// scroll moves the view by rows, down where they are positive.
func (d *detailPane) scroll(rows int) {
	const far = 1 << 16 // rows: to the first, or the last
	if d.sheet == nil {
		return
	}
	end := d.sheet.last(d.body)
	switch {
	case rows <= -far:
		d.top = sheetSpot{}
	case rows >= far:
		d.top = end
	default:
		d.top = d.sheet.move(d.top, rows)
	}
	d.atEnd = rows > 0 && !d.top.before(end)
	d.drawn = false
}

// title names the step and its tabs.
func (d *detailPane) title(width int) string {
	l, s := d.look, d.state()
	if s == nil {
		return l.Muted.Render("Step")
	}
	step := stepTitle(l, s.Step.Index)
	names := 0
	for _, name := range tabNames {
		names += len(name)
	}
	for _, between := range []string{" " + l.glyphs.Separator + " ", "  ", " "} {
		gap := ansi.StringWidth(between)
		switch {
		case !d.tabbed && ansi.StringWidth(step)+names+int(tabs)*gap <= width:
			return l.Muted.Render(step) + l.Faint.Render(between) + d.tabRow(between, ansi.StringWidth(step)+gap)
		case d.tabbed && names+int(tabs-1)*gap <= width, gap == 1 && names+int(tabs-1) <= width:
			return d.tabRow(between, 0)
		}
	}
	d.tabAt = [tabs]rect{}
	return l.Muted.Render(step+" ") + l.Accent.Bold(true).Underline(true).Render(tabNames[d.tab]) +
		l.Muted.Render(fmt.Sprintf(" %d/%d", d.tab+1, tabs))
}

// tabRow draws the tabs from a cell on and notes where they stand.
func (d *detailPane) tabRow(between string, x int) string {
	l := d.look
	var b strings.Builder
	for t, name := range tabNames {
		if t > 0 {
			b.WriteString(l.Faint.Render(between))
			x += ansi.StringWidth(between)
		}
		style := l.Muted
		if tab(t) == d.tab {
			style = l.Accent.Bold(true).Underline(true)
		}
		d.tabAt[t] = rect{x, 0, len(name), 1}
		x += len(name)
		b.WriteString(style.Render(name))
	}
	return b.String()
}

// lines is the pane's content: height lines of exactly width cells.
func (d *detailPane) lines() []string {
	if d.drawn {
		return d.view
	}
	d.drawn = true
	d.view = nil
	height := d.height
	if d.tabbed && d.state() != nil && height > 0 {
		d.view = append(d.view, d.look.fit(d.title(d.width), d.width))
		height--
	}
	if d.width <= 0 || height <= 0 {
		return d.view
	}
	d.view = append(d.view, d.draw(height)...)
	return d.view
}

// draw draws the tab in that many lines.
func (d *detailPane) draw(height int) []string {
	l, s := d.look, d.state()
	front := newSheetPage(l, d.width)
	switch {
	case d.shown != nil && d.shown.kind == subjectRevision:
		d.drawRevision(&front.document, d.shown.revision)
	case d.shown != nil && d.shown.kind == subjectGroup:
		d.drawGroup(&front.document, d.shown.group)
	case s == nil:
		front.prose(l.Faint, "Choose a step of the plan to look into it.")
	}
	if s == nil {
		d.built = version{}
		d.sheet, d.body = newSheet(l, d.width, front.all()), height
		return d.sheet.view(&d.top, height)
	}
	d.head = d.drawHead(s, height)
	d.body = max(height-len(d.head), 1)
	width, beside := d.width, d.besides(s)
	if beside > 0 {
		width = d.width - beside - 2
	}
	front.width = width
	d.drawFront(front, s)
	if v := d.version(s, width); v != d.built || d.back == nil {
		back := newSheetPage(l, width)
		d.drawBack(back, s)
		d.back, d.built = back.all(), v
	}
	d.sheet = newSheet(l, width, append(front.all(), d.back...))
	if d.tab == tabOutput && s.Status == agent.StepActive && d.atEnd {
		d.top = d.sheet.last(d.body)
	}
	body := d.sheet.view(&d.top, d.body)
	if beside > 0 {
		body = d.besideOutput(s, body, beside)
	}
	return l.block(append(append([]string{}, d.head...), body...), d.width, height)
}

// version is what the long part of the tab depends on now.
func (d *detailPane) version(s *agent.StepState, width int) version {
	v := version{
		key: d.key, tab: d.tab, width: width, theme: d.look.theme.Name, dark: d.look.theme.Dark, diffs: d.look.diffs, status: s.Status, attempt: s.Attempt,
		ms: s.MS, gate: s.Gate, revision: d.run.Revision, failed: s.Error, diff: s.Diff,
	}
	switch {
	case d.tab == tabOutput:
		v.output = s.Output
		if s.Loop != nil {
			v.output = s.Loop.Text
		}
	case d.tab == tabStory, d.tab == tabTiming, !s.Status.Ended() && s.Status != agent.StepActive:
		v.seq = d.run.Seq
	}
	return v
}

// drawFront draws what stands before the long part of a tab, which is drawn each
// time.
func (d *detailPane) drawFront(p *sheetPage, s *agent.StepState) {
	switch d.tab {
	case tabArgs:
		d.drawCall(p, s)
	case tabOutput:
		d.drawSoFar(p, s)
	case tabTiming:
		d.drawTiming(p, s)
	}
}

// drawBack draws the long part of a tab.
func (d *detailPane) drawBack(p *sheetPage, s *agent.StepState) {
	switch d.tab {
	case tabArgs:
		d.drawArgs(p, s)
	case tabOutput:
		d.drawOutput(p, s)
	case tabDiff:
		d.drawDiff(p, s)
	case tabStory:
		d.drawStory(p, s)
	}
}

// place says which part of the step is in view.
func (d *detailPane) place() string {
	if d.sheet == nil {
		return ""
	}
	return d.sheet.place(d.top, d.body)
}

// drawHead draws what the step is, which stays in view while the rest scrolls.
func (d *detailPane) drawHead(s *agent.StepState, height int) []string {
	l, run := d.look, d.run
	const roomy = 16 // lines
	if d.tab == tabDiff && height < roomy {
		return nil // a diff needs the room, and names what it changes
	}
	if d.shown.kind == subjectGone {
		run = nil
	}
	glyph, style := stateGlyph(l, run, s)
	title := wrap(untrusted.Line(s.Step.Title), max(d.width-2, 1))
	if most := max(min(2, height/6), 1); len(title) > most {
		title = append(title[:most-1], l.cut(strings.Join(title[most-1:], " "), d.width-2))
	}
	var out []string
	for i, line := range title {
		lead := "  "
		if i == 0 {
			lead = style.Render(glyph) + " "
		}
		out = append(out, lead+l.Strong.Render(line))
	}
	return out
}

// drawCall draws what the step is, what it depends on and should come to.
func (d *detailPane) drawCall(p *sheetPage, s *agent.StepState) {
	l := d.look
	p.field("does", l.Text, stepTool(s))
	p.field("state", l.Text, d.stateWords(s))
	if d.shown.kind == subjectStep {
		if deps := d.dependencies(); len(deps) > 0 {
			p.field("after", l.Text, strings.Join(deps, ", "))
		}
	}
	if title := milestone(d.run.Plan, s.Step.Index); title != "" {
		p.field("stage", l.Text, title)
	}
	if s.Step.ExpectedOutcome != "" {
		p.field("expects", l.Text, s.Step.ExpectedOutcome)
	}
	if s.Step.ResultVariable != "" {
		p.field("gives", l.Text, s.Step.ResultVariable)
	}
	if loop := s.Loop; loop != nil {
		words := plural(loop.Turns, "turn") + ", " + callsWords(d.run, loop)
		if loop.Tokens > 0 {
			words += ", " + tokens(loop.Tokens) + " tokens"
		}
		p.field("so far", l.Text, words)
	}
	if s.Run != "" {
		p.field("run", l.Text, s.Run)
	}
	if failure := cmp.Or(s.Error, failureOf(s)); failure != "" {
		p.field("error", l.Danger, clip(strings.TrimSpace(failure)))
	}
	if s.DryRun && s.DryGate != nil {
		p.field("gate", l.Warning, wouldWords(*s.DryGate)+": "+ruleWords(*s.DryGate))
	}
}

// dependencies are the steps that the shown one names itself.
func (d *detailPane) dependencies() []string {
	var out []string
	for _, dep := range d.shown.step.Step.DependsOn {
		out = append(out, untrusted.Line(dep))
	}
	return out
}

// stateWords says how the step stands, in words.
func (d *detailPane) stateWords(s *agent.StepState) string {
	words := map[agent.StepStatus]string{
		agent.StepPending:   "waits for its turn",
		agent.StepWaiting:   "waits for your answer",
		agent.StepActive:    "running",
		agent.StepDone:      "done in " + doneIn(s.MS),
		agent.StepBroken:    "failed after " + doneIn(s.MS),
		agent.StepLeftOut:   "skipped",
		agent.StepUncertain: "in doubt: it may have taken effect",
	}[s.Status]
	if s.Status == agent.StepBroken && s.Failure == event.FailureDenied {
		words = "denied: it was not called"
	}
	switch {
	case s.DryRun:
		return "dry run: nothing was called"
	case d.shown.kind == subjectGone:
		words += fmt.Sprintf("; taken out by revision %d", d.shown.revision.Number)
		if s.Status == agent.StepPending {
			words = fmt.Sprintf("taken out by revision %d before it ran", d.shown.revision.Number)
		}
	case s.Draft:
		words = "planned; the plan is not whole yet"
	case halted(d.run, s):
		words = "stopped before it was done"
	case s.Status == agent.StepPending:
		words = d.pendingWords(s)
	case s.Status == agent.StepActive:
		words += " for " + ticking(d.look.since(s.StartedAt))
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	return words
}

// pendingWords says what a step waits for that has not begun.
func (d *detailPane) pendingWords(s *agent.StepState) string {
	asking := d.run.Asking()
	switch {
	case d.run.Result != nil:
		return "not run: the run ended before it"
	case d.run.Held():
		return "held: the plan waits to be looked over"
	case asking != "" && s.Parent == "":
		return "held: nothing starts before you have said how to go on after " + stepWords(asking)
	default:
		return "waits for its turn"
	}
}

// drawRevision draws what an older revision changed and why.
func (d *detailPane) drawRevision(p *document, r *agent.Revision) {
	l := d.look
	p.prose(l.Strong, fmt.Sprintf("Revision %d", r.Number))
	var removed []string
	for i := range r.Removed {
		removed = append(removed, r.Removed[i].Step.Index)
	}
	for _, part := range []struct {
		name  string
		steps []string
	}{{"removed", removed}, {"added", r.Added}, {"revised", r.Revised}} {
		if len(part.steps) > 0 {
			p.field(part.name, l.Text, untrusted.Line(strings.Join(part.steps, ", ")))
		}
	}
	if r.Reason != "" {
		p.field("because", l.Text, strings.TrimSpace(r.Reason))
	}
}
