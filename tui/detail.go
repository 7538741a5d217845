package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// tab is one side of a step.
type tab int

const (
	tabArgs tab = iota
	tabOutput
	tabDiff
	tabs
)

var tabNames = [tabs]string{"args", "output", "diff"}

// detailPane shows one step whole: the call, what came of it, what it changes.
type detailPane struct {
	look   *look
	run    *agent.Run
	row    *row
	key    string
	tab    tab
	chosen bool // the user chose the tab; it stays until another step is shown
	width  int
	height int
	top    int
	atEnd  bool // output is followed as it comes

	doc   *document
	view  []string
	drawn bool
}

func newDetailPane(l *look) *detailPane { return &detailPane{look: l} }

func (d *detailPane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn = width, height, false
	}
}

// show takes the step of a row of the plan, or nothing.
func (d *detailPane) show(run *agent.Run, r *row) {
	key := ""
	if r != nil && r.step != nil {
		key = run.ID + " " + r.key
	}
	if key != d.key {
		d.key, d.top, d.chosen, d.atEnd = key, 0, false, true
		d.drawn = false
	}
	d.run, d.row = run, r
	if !d.chosen {
		if t := d.telling(); t != d.tab {
			d.tab, d.top, d.drawn = t, 0, false
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
	if d.row == nil {
		return nil
	}
	return d.row.step
}

// choose shows a tab.
func (d *detailPane) choose(t tab) {
	d.tab, d.chosen, d.top, d.atEnd, d.drawn = (t+tabs)%tabs, true, 0, true, false
}

// scroll moves the view by lines, down where they are positive.
func (d *detailPane) scroll(lines int) {
	d.top = max(d.top+lines, 0)
	d.atEnd = lines > 0 && d.doc != nil && d.top >= len(d.doc.lines)-d.height
	d.drawn = false
}

func (d *detailPane) toTop() { d.top, d.atEnd, d.drawn = 0, false, false }
func (d *detailPane) toEnd() { d.top, d.atEnd, d.drawn = 1<<30, true, false }

// title names the step and its tabs.
func (d *detailPane) title(width int) string {
	l, s := d.look, d.state()
	if s == nil {
		return l.Muted.Render("Step")
	}
	between := l.Faint.Render(" " + l.glyphs.Separator + " ")
	parts := []string{l.Muted.Render(stepTitle(l, s.Step.Index))}
	for t, name := range tabNames {
		style := l.Muted
		if tab(t) == d.tab {
			style = l.Accent.Bold(true).Underline(true)
		}
		parts = append(parts, style.Render(name))
	}
	if full := strings.Join(parts, between); ansi.StringWidth(full) <= width {
		return full
	}
	return strings.Join(parts, " ")
}

// lines is the pane's content: height lines of exactly width cells.
func (d *detailPane) lines() []string {
	if d.drawn {
		return d.view
	}
	d.drawn = true
	d.doc = &document{look: d.look, width: d.width}
	if d.width > 0 && d.height > 0 {
		d.draw()
	}
	if s := d.state(); s != nil && d.tab == tabOutput && s.Status == agent.StepActive && d.atEnd {
		d.top = len(d.doc.lines)
	}
	d.view = d.doc.rows(&d.top, d.height)
	return d.view
}

// place says which part of the step is in view.
func (d *detailPane) place() string {
	if d.doc == nil {
		return ""
	}
	return d.doc.place(d.top, d.height)
}

func (d *detailPane) draw() {
	s := d.state()
	switch {
	case d.row != nil && d.row.kind == rowRevision:
		d.drawRevision(d.row.revision)
	case s == nil:
		d.doc.prose(d.look.Faint, "Choose a step of the plan to look into it.")
	case d.tab == tabOutput:
		d.drawOutput(s)
	case d.tab == tabDiff:
		d.drawDiff(s)
	default:
		d.drawCall(s)
	}
}

// drawHead draws what the step is and how it stands.
func (d *detailPane) drawHead(s *agent.StepState) {
	l := d.look
	run := d.run
	if d.row.kind == rowGone {
		run = nil
	}
	glyph, style := stateGlyph(l, run, s)
	title := wrap(untrusted.Line(s.Step.Title), max(d.width-2, 1))
	for i, line := range title {
		lead := "  "
		if i == 0 {
			lead = style.Render(glyph) + " "
		}
		d.doc.lines = append(d.doc.lines, lead+l.Strong.Render(line))
	}
}

// drawCall draws the call whole, with what it depends on and should come to.
func (d *detailPane) drawCall(s *agent.StepState) {
	l := d.look
	d.drawHead(s)
	d.doc.field("does", l.Text, stepTool(s))
	d.doc.field("state", l.Text, d.stateWords(s))
	if d.row.kind == rowStep {
		if deps := d.dependencies(); len(deps) > 0 {
			d.doc.field("after", l.Text, strings.Join(deps, ", "))
		}
	}
	if s.Step.ExpectedOutcome != "" {
		d.doc.field("expects", l.Text, s.Step.ExpectedOutcome)
	}
	if s.Step.ResultVariable != "" {
		d.doc.field("gives", l.Text, s.Step.ResultVariable)
	}
	if loop := s.Loop; loop != nil {
		words := plural(loop.Turns, "turn") + ", " + callsWords(d.run, loop)
		if loop.Tokens > 0 {
			words += ", " + tokens(loop.Tokens) + " tokens"
		}
		d.doc.field("so far", l.Text, words)
	}
	if s.Run != "" {
		d.doc.field("run", l.Text, s.Run)
	}
	if failure := cmp.Or(s.Error, plain.Fruitless(s)); failure != "" {
		d.doc.field("error", l.Danger, strings.TrimSpace(failure))
	}
	args, named := s.Args, "args"
	if s.DryRun {
		named = "args, as far as they are known"
		if s.DryGate != nil {
			d.doc.field("gate", l.Warning, wouldWords(*s.DryGate)+": "+ruleWords(*s.DryGate))
		}
	}
	if s.Attempt == 0 && args == nil {
		args, named = s.Step.Args, "args, as planned"
		if s.Parent != "" {
			named = "args, as the model asks"
		}
	}
	if len(args) == 0 {
		d.doc.heading("args")
		none := "none"
		if s.Step.Executor == planning.ExecutorTool && s.Attempt == 0 && s.Step.Args == nil {
			none = "filled in when the step is ready"
		}
		d.doc.prose(l.Faint, none)
		return
	}
	d.doc.heading(named)
	d.doc.object(args)
}

// dependencies are the steps that the shown one names itself.
func (d *detailPane) dependencies() []string {
	var out []string
	for _, dep := range d.row.step.Step.DependsOn {
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
		agent.StepDone:      "done in " + milliseconds(s.MS),
		agent.StepBroken:    "failed after " + milliseconds(s.MS),
		agent.StepLeftOut:   "skipped",
		agent.StepUncertain: "in doubt: it may have taken effect",
	}[s.Status]
	switch {
	case s.DryRun:
		return "dry run: nothing was called"
	case d.row.kind == rowGone:
		words += fmt.Sprintf("; taken out by revision %d", d.row.revision.Number)
		if s.Status == agent.StepPending {
			words = fmt.Sprintf("taken out by revision %d before it ran", d.row.revision.Number)
		}
	case s.Draft:
		words = "planned; the plan is not whole yet"
	case halted(d.run, s):
		words = "stopped before it was done"
	case s.Status == agent.StepActive:
		words += " for " + seconds(d.look.since(s.StartedAt))
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	return words
}

// outputShown bounds the part of a long result that is wrapped and drawn, in
// bytes. The journal keeps the whole.
const outputShown = 256 << 10

// drawOutput draws what came of the step so far.
func (d *detailPane) drawOutput(s *agent.StepState) {
	l := d.look
	d.drawHead(s)
	if p := s.Progress; s.Status == agent.StepActive && (p.Total > 0 || p.Message != "") {
		text := untrusted.Line(p.Message)
		if p.Total > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*p.Done/p.Total, text))
		}
		d.doc.prose(l.Muted, text)
	}
	if s.Error != "" {
		d.doc.blank()
		d.doc.output(l.Danger, clip(strings.TrimSpace(s.Error)))
	}
	switch {
	case s.Status == agent.StepDone:
		d.doc.blank()
		d.drawResult(s.Result)
	case s.Output == "" && s.Loop != nil && s.Loop.Text != "":
		d.doc.blank()
		d.doc.output(l.Text, clip(strings.TrimSpace(s.Loop.Text)))
	case s.Output != "" && !strings.Contains(s.Error, strings.TrimSpace(s.Output)):
		d.doc.blank()
		d.doc.output(l.Text, clip(strings.TrimRight(s.Output, "\n")))
	case s.Error == "":
		d.doc.blank()
		d.doc.prose(l.Faint, "No output so far.")
	}
}

func (d *detailPane) drawResult(result any) {
	l := d.look
	switch r := result.(type) {
	case nil:
		d.doc.prose(l.Faint, "It gave no result.")
	case string:
		d.doc.output(l.Text, clip(strings.TrimRight(r, "\n")))
	default:
		d.doc.value(r)
	}
}

// clip keeps the end of a text that is too long to be drawn, and says so.
func clip(s string) string {
	if len(s) <= outputShown {
		return s
	}
	return fmt.Sprintf("(%d KB before this are not shown)\n", (len(s)-outputShown)>>10) +
		strings.ToValidUTF8(s[len(s)-outputShown:], "")
}

// drawDiff draws what the step changes in files, else what a revision changed
// in the step.
func (d *detailPane) drawDiff(s *agent.StepState) {
	l := d.look
	before := d.versionBefore(s)
	if s.Diff == "" && before == nil {
		d.doc.prose(l.Faint, "No diff: nothing is known that this step changes.")
		return
	}
	if s.Diff != "" {
		d.doc.diff(s.Diff)
	}
	if before != nil {
		d.doc.heading(fmt.Sprintf("changed by revision %d", d.run.Revision))
		d.doc.diff(udiff.Unified("before", "now", stepText(before), stepText(s)))
	}
}

// versionBefore is the step as it stood before the newest revision changed it.
func (d *detailPane) versionBefore(s *agent.StepState) *agent.StepState {
	if s.Change != agent.ChangeRevised || d.row.kind != rowStep || len(d.run.Revisions) == 0 {
		return nil
	}
	before := d.run.Revisions[len(d.run.Revisions)-1].Before
	for i := range before {
		if before[i].Step.Index == s.Step.Index {
			return &before[i]
		}
	}
	return nil
}

// stepText is a step's call as text that can be compared line by line.
func stepText(s *agent.StepState) string {
	return fmt.Sprintf("title: %s\ntool: %s\nargs: %s\n", s.Step.Title, s.Step.Tool, jsonText(s.Step.Args, "  "))
}

// drawRevision draws what an older revision changed and why.
func (d *detailPane) drawRevision(r *agent.Revision) {
	l := d.look
	d.doc.prose(l.Strong, fmt.Sprintf("Revision %d", r.Number))
	var removed []string
	for i := range r.Removed {
		removed = append(removed, r.Removed[i].Step.Index)
	}
	for _, part := range []struct {
		name  string
		steps []string
	}{{"removed", removed}, {"added", r.Added}, {"revised", r.Revised}} {
		if len(part.steps) > 0 {
			d.doc.field(part.name, l.Text, untrusted.Line(strings.Join(part.steps, ", ")))
		}
	}
	if r.Reason != "" {
		d.doc.field("because", l.Text, strings.TrimSpace(r.Reason))
	}
}

// noSides is why the diff of the chosen step cannot be turned.
func (m *Model) noSides() string {
	if m.detail.lines(); !m.detail.doc.diffs {
		return "No diff is in view that could stand side by side."
	}
	return ""
}

// turnStep shows the diff of the chosen step side by side, or unified.
func (m *Model) turnStep() {
	if word := m.look.turnDiffs(m.detail.width); word != "" {
		m.say(word)
	}
	m.detail.touch()
}
