package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/untrusted"
)

// revisionsDialog steps through the plan as it was made and every revision of it:
// what failed, what changed, and who planned it.
type revisionsDialog struct {
	look     *look
	keys     *keyMap
	shownRun func() *agent.Run // in the plan pane
	open     bool
	at       int // 0 is the plan as it was made
	top      sheetSpot
	body     int
	sheet    *sheet
	built    revisionFace
}

// revisionFace is all that what is drawn depends on.
type revisionFace struct {
	run   *agent.Run
	seq   uint64
	at    int
	width int
	theme string
	diffs diffView
}

func (d *revisionsDialog) shown() bool { return d.open }

func (d *revisionsDialog) hints() []hint {
	return []hint{d.keys.hint("leaf", "step.previous_tab", "step.next_tab"), d.keys.hint("sides", "diff.sides"), d.keys.hint("close", "dialog.leave"), d.keys.hint("scroll", "move.up", "move.down")}
}

// noRevisions is why there are none to step through.
func (m *Model) noRevisions() string {
	if m.shown.run == nil || m.shown.run.Revision == 0 {
		return "There is no plan yet whose revisions could be looked at."
	}
	return ""
}

// openRevisions opens the dialog at the plan as it is now, or at the revision that
// is chosen in the plan.
func (m *Model) openRevisions() {
	d := m.revisions
	d.open, d.top, d.at = true, sheetSpot{}, len(m.shown.run.Revisions)
	if r := m.dag.chosen(); r != nil && r.revision != nil {
		d.at = r.revision.Number - 1
	}
}

// handlers are the actions of the dialog.
func (d *revisionsDialog) handlers() handlers {
	most := 0
	if run := d.shownRun(); run != nil {
		most = len(run.Revisions)
	}
	step := func(by int) handler {
		return handler{do: just(func() { d.at, d.top = max(min(d.at+by, most), 0), sheetSpot{} })}
	}
	shut := handler{do: just(func() { d.open = false })}
	hs := handlers{
		"dialog.leave": shut, "revisions": shut, "plan.revisions": shut,
		"step.next_tab": step(1), "step.previous_tab": step(-1),
	}
	if d.sheet == nil {
		return hs
	}
	hs["diff.sides"] = handler{do: just(func() { d.look.turnDiffs(max(d.sheet.width, splitAtLeast)) })}
	return hs.with(scrolling(d.body, d.scroll))
}

// scroll moves the view by rows, down where they are positive.
func (d *revisionsDialog) scroll(rows int) {
	const far = 1 << 16 // rows: to the first, or the last
	switch {
	case rows <= -far:
		d.top = sheetSpot{}
	case rows >= far:
		d.top = d.sheet.last(d.body)
	default:
		d.top = d.sheet.move(d.top, rows)
	}
}

func (d *revisionsDialog) clicked(int) {}

func (d *revisionsDialog) wheeled(lines int) {
	if d.sheet != nil {
		d.top = d.sheet.move(d.top, lines)
	}
}

// draw draws the revision in exactly height lines of screenWidth cells.
func (d *revisionsDialog) draw(screenWidth, height int) []string {
	const widest = 160 // cells
	l, run := d.look, d.shownRun()
	if run == nil {
		return l.block(nil, screenWidth, height)
	}
	d.at = min(d.at, len(run.Revisions))
	width := min(screenWidth, widest)
	face := revisionFace{run, run.Seq, d.at, width, string(l.theme.Name), l.diffs}
	if d.sheet == nil || face != d.built {
		p := newSheetPage(l, width-4)
		if d.at == 0 {
			writeFirstPlan(p, run)
		} else {
			writeRevision(p, run, d.at-1)
		}
		d.sheet, d.built = newSheet(l, width-4, p.all()), face
	}
	d.body = max(height-2, 1)
	lines := d.sheet.view(&d.top, d.body)
	note := d.sheet.place(d.top, d.body)
	if note == "" {
		for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
	}
	name := fmt.Sprintf("Revision %d of %d", d.at+1, len(run.Revisions)+1)
	if d.at == 0 {
		name += " " + l.glyphs.Separator + " the plan as it was made"
	}
	framed := l.frame(width, l.Focus, section{title: l.Strong.Render(name), note: note, lines: padded(lines), style: l.Focus})
	return l.middle(framed, width, screenWidth, height)
}

// stepsAfter are the steps of the plan that revision i made, as they stood when
// the next took its place, or as they stand.
func stepsAfter(run *agent.Run, i int) []*agent.StepState {
	if i+1 < len(run.Revisions) {
		return run.Revisions[i+1].Was
	}
	return run.Steps
}

// writeFirstPlan adds the plan as it was made.
func writeFirstPlan(p *sheetPage, run *agent.Run) {
	l := p.look
	if title := untrusted.Line(run.Plan.Title); title != "" {
		p.prose(l.Strong, title)
	}
	at := axis{run.StartedAt, run.Breaks}
	p.field("planned", l.Text, "by "+plannedBy(run, run.StartedAt, run.PlannedAt)+", "+seconds(at.at(run.PlannedAt))+" into the run")
	if run.Goal != "" {
		p.field("goal", l.Text, run.Goal)
	}
	out := writeReviewed(p, run, 1)
	p.blank()
	var rows []planRow
	for _, s := range stepsAfter(run, -1) {
		rows = append(rows, planRow{after: s})
	}
	writePlanRows(p, append(rows, out...), run)
}

// plannedBy says who made a plan in that time: a file, the words of the goal, or
// a model and what that cost.
func plannedBy(run *agent.Run, from, to time.Time) string {
	model, asked, used := "", 0, 0
	for _, x := range run.Exchanges {
		switch x.Purpose {
		case prompt.PurposeStep, prompt.PurposeSynthesis, prompt.PurposeChat:
			continue
		}
		if x.StartedAt.Before(from) || x.StartedAt.After(to) {
			continue
		}
		asked++
		used += x.Reply.PromptTokens + x.Reply.CompletionTokens
		if model = x.Request.Model; model == "" {
			model = run.Model
		}
	}
	switch {
	case asked == 0 && run.Route != nil:
		return "the words of the goal, without a model"
	case asked == 0 && (run.Phases != [3]agent.Phase{} || from.After(run.StartedAt)) && run.Model != "":
		return "the model " + untrusted.Line(run.Model)
	case asked == 0:
		return "whoever wrote the plan: it was given"
	}
	words := "the model " + untrusted.Line(model) + " in " + plural(asked, "request")
	if used > 0 {
		words += ", " + tokens(used) + " tokens"
	}
	return words
}

// writeRevision adds what a revision changed, why, and who planned it.
func writeRevision(p *sheetPage, run *agent.Run, i int) {
	l, r := p.look, &run.Revisions[i]
	at := axis{run.StartedAt, run.Breaks}
	if r.Step != "" {
		words := stepWords(r.Step)
		for _, s := range r.Was {
			if s.Step.Index == r.Step {
				words += " " + l.glyphs.Separator + " " + untrusted.Line(s.Step.Title)
			}
		}
		p.field("failed", l.Danger, words)
	}
	if reason := strings.TrimSpace(r.Reason); reason != "" {
		p.field("because", l.Text, clip(reason))
	}
	if r.Said != "" {
		p.field("you said", l.Text, r.Said)
	}
	took := at.at(r.At) - at.at(r.AskedAt)
	p.field("planned", l.Text, fmt.Sprintf("by %s, in %s, %s into the run", plannedBy(run, r.AskedAt, r.At), seconds(took), seconds(at.at(r.At))))
	out := writeReviewed(p, run, r.Number)
	p.blank()
	var changes []string
	for _, c := range []struct {
		text string
		n    int
	}{
		{l.Removed.Render(fmt.Sprintf("%s%d removed", l.glyphs.Removed, len(r.Removed))), len(r.Removed)},
		{l.Added.Render(fmt.Sprintf("%s%d added", l.glyphs.Added, len(r.Added))), len(r.Added)},
		{l.Warning.Render(fmt.Sprintf("%s%d revised", l.glyphs.Revised, len(r.Revised))), len(r.Revised)},
	} {
		if c.n > 0 {
			changes = append(changes, c.text)
		}
	}
	p.lines = append(p.lines, flow(changes, "  ", p.width)...)
	writePlanRows(p, append(planRows(r, stepsAfter(run, i)), out...), run)
}

// writeReviewed adds what the user changed of a plan before it ran, and returns the
// steps that were taken out of it then.
func writeReviewed(p *sheetPage, run *agent.Run, number int) []planRow {
	var out []planRow
	for i := range run.Reviews {
		r := &run.Reviews[i]
		if r.Revision != number {
			continue
		}
		words := []string{"run as it was"}
		if r.Decision == event.ReviewRefuse {
			words = []string{"refused"}
		} else if len(r.Edited)+len(r.Moved)+len(r.Removed) > 0 {
			words = nil
		}
		named := func(what string, steps []string) {
			if len(steps) > 0 {
				words = append(words, what+" "+untrusted.Line(strings.Join(steps, ", ")))
			}
		}
		named("edited", r.Edited)
		for _, m := range r.Moved {
			words = append(words, "moved "+untrusted.Line(m.Step)+" behind "+untrusted.Line(m.After))
		}
		named("taken out", r.Removed)
		var approved []string
		for _, a := range r.Approved {
			approved = append(approved, a.Step)
		}
		named("allowed", approved)
		p.field("review", p.look.Text, "by "+whoWords(r.By)+": "+strings.Join(words, "; "))
		for j := range r.Out {
			out = append(out, planRow{before: &r.Out[j]})
		}
	}
	return out
}

// planRow is a step before and after a revision; nil where it was not there.
type planRow struct {
	before, after *agent.StepState
	mark          agent.Change
}

// planRows puts the steps of both plans into one order: that of the new plan, with
// what was removed where it stood.
func planRows(r *agent.Revision, after []*agent.StepState) []planRow {
	was := map[string]*agent.StepState{}
	for _, s := range r.Was {
		was[s.Step.Index] = s
	}
	var rows []planRow
	for _, s := range after {
		row := planRow{after: s, before: was[s.Step.Index]}
		switch {
		case slices.Contains(r.Added, s.Step.Index):
			row.before, row.mark = nil, agent.ChangeAdded
		case slices.Contains(r.Revised, s.Step.Index):
			row.mark = agent.ChangeRevised
		}
		rows = append(rows, row)
	}
	for i := range r.Removed {
		at := 0
		if i < len(r.After) && r.After[i] != "" {
			for n, row := range rows {
				if row.before != nil && row.before.Step.Index == r.After[i] {
					at = n + 1
				}
			}
		}
		rows = slices.Insert(rows, at, planRow{before: &r.Removed[i]})
	}
	return rows
}

// sideFrom is the width from which both plans stand beside each other, in cells.
const sideFrom = 100

// writePlanRows adds the steps of a plan, before and after where they differ, and below
// those that were revised what changed in them.
func writePlanRows(p *sheetPage, rows []planRow, run *agent.Run) {
	l := p.look
	index := 1
	both := false
	for _, r := range rows {
		for _, s := range []*agent.StepState{r.before, r.after} {
			if s != nil {
				index = max(index, visibleWidth(untrusted.Line(s.Step.Index)))
			}
		}
		both = both || r.before != nil
	}
	index = min(index, 6)
	side := p.width
	if both = both && p.width >= sideFrom; both {
		side = (p.width - 3) / 2
		p.lines = append(p.lines, l.fit(l.Muted.Render("before"), side)+l.Border.Render(" "+l.glyphs.Guide+" ")+l.Muted.Render("after"))
	}
	for _, r := range rows {
		left, right := "", ""
		if r.before != nil && (both || r.after == nil) {
			left = drawPlanStep(p, r.before, run, index, side, r.after == nil, agent.ChangeNone)
		}
		if r.after != nil {
			right = drawPlanStep(p, r.after, run, index, side, false, r.mark)
		}
		switch {
		case both:
			p.lines = append(p.lines, l.fit(left, side)+l.Border.Render(" "+l.glyphs.Guide+" ")+l.fit(right, side))
		case r.after == nil:
			p.lines = append(p.lines, left)
		default:
			p.lines = append(p.lines, right)
		}
		if r.mark == agent.ChangeRevised && r.before != nil {
			writeStepChanges(p, &r.before.Step, &r.after.Step)
		}
	}
}

// drawPlanStep draws a step of a plan on one line.
func drawPlanStep(p *sheetPage, s *agent.StepState, run *agent.Run, index, width int, gone bool, change agent.Change) string {
	l := p.look
	mark := " "
	switch {
	case gone:
		mark = l.Removed.Render(l.glyphs.Removed)
	case change == agent.ChangeAdded:
		mark = l.Added.Render(l.glyphs.Added)
	case change == agent.ChangeRevised:
		mark = l.Warning.Render(l.glyphs.Revised)
	}
	of := run
	if run.Step(s.Step.Index) != s {
		of = nil // it is as it stood then
	}
	glyph, style := stateGlyph(l, of, s)
	title := l.Text
	if gone {
		title = l.Struck
	}
	number := l.cut(untrusted.Line(s.Step.Index), index)
	left := mark + " " + style.Render(glyph) + " " + strings.Repeat(" ", index-visibleWidth(number)) + l.Muted.Render(number) + " "
	var tail []string
	tail = append(tail, stepTool(s))
	if deps := s.Step.DependsOn; len(deps) > 0 && width >= 60 {
		tail = append(tail, l.blockers(deps, 12))
	}
	right := l.Faint.Render(l.cut(strings.Join(tail, "  "), max(width/3, 8)))
	room := width - visibleWidth(left) - visibleWidth(right) - 2
	if room < 8 {
		right, room = "", width-visibleWidth(left)
	}
	return l.sides(left+title.Render(l.cut(untrusted.Line(s.Step.Title), room)), right, width)
}

// writeStepChanges adds what a revision changed in a step, with the words that changed
// underlined.
func writeStepChanges(p *sheetPage, before, after *plan.Step) {
	for _, c := range []struct{ name, before, after string }{
		{"title", before.Title, after.Title},
		{"tool", before.Tool, after.Tool},
		{"executor", string(before.Executor), string(after.Executor)},
		{"profile", before.Profile, after.Profile},
		{"after", strings.Join(before.DependsOn, ", "), strings.Join(after.DependsOn, ", ")},
		{"expects", before.ExpectedOutcome, after.ExpectedOutcome},
	} {
		if c.before != c.after {
			writeChange(p, c.name, c.before, c.after)
		}
	}
	names := map[string]any{}
	for name := range before.Args {
		names[name] = nil
	}
	for name := range after.Args {
		names[name] = nil
	}
	sorted, _ := p.order(names)
	for _, name := range sorted {
		b, hadIt := before.Args[name]
		a, hasIt := after.Args[name]
		if hadIt == hasIt && plan.EqualValues(b, a) {
			continue
		}
		old, now := "", ""
		if hadIt {
			old, _ = valueText(b)
		}
		if hasIt {
			now, _ = valueText(a)
		}
		writeChange(p, name, old, now)
	}
}
