package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/telling"
	"replan/tui/timing"
)

// Revisions steps through the original plan and its revisions. It shows what
// failed, what changed, and who planned each one.
type Revisions struct {
	base
	runs  *live.Runs // the plan pane shows one of them
	at    int        // 0 is the original plan
	top   draw.SheetSpot
	body  int
	sheet *draw.Sheet
	built revisionFace
}

// NewRevisions returns the dialog, closed.
func NewRevisions(l *draw.Look, k *keymap.Map, runs *live.Runs) *Revisions {
	return &Revisions{base: base{Look: l, Keys: k}, runs: runs}
}

// Open shows a revision of the run in the plan pane; 0 is the original plan.
func (d *Revisions) Open(at int) { d.shown, d.at, d.top = true, at, draw.SheetSpot{} }

// revisionFace holds every input of the drawing, to detect changes.
type revisionFace struct {
	run   *agent.Run
	seq   uint64
	at    int
	width int
	theme string
	diffs draw.DiffView
}

// Hints lists the keys that are active now.
func (d *Revisions) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("revision", "step.previous_tab", "step.next_tab"), d.Keys.Hint("sides", "diff.sides"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down")}
}

// Actions returns the actions of the dialog.
func (d *Revisions) Actions() keymap.Handlers {
	last := 0
	if run := d.runs.Shown().State; run != nil {
		last = len(run.Revisions)
	}
	step := func(by int) keymap.Handler {
		return keymap.Handler{Do: keymap.Just(func() { d.at, d.top = max(min(d.at+by, last), 0), draw.SheetSpot{} })}
	}
	hs := d.closing("revisions").With(d.closing("plan.revisions"), keymap.Handlers{"step.next_tab": step(1), "step.previous_tab": step(-1)})
	if d.sheet == nil {
		return hs
	}
	hs["diff.sides"] = keymap.Handler{Do: keymap.Just(func() { d.Look.TurnDiffs(max(d.sheet.Width, draw.SplitAtLeast)) })}
	return hs.With(keymap.Scrolling(d.body, d.scroll))
}

// Update handles the wheel.
func (d *Revisions) Update(msg tea.Msg) keymap.Request {
	if wheel, ok := msg.(tea.MouseWheelMsg); ok && d.sheet != nil {
		d.top = d.sheet.Move(d.top, draw.WheelLines(tea.Mouse(wheel)))
	}
	return keymap.Request{}
}

// scroll moves the view by rows; positive values move down.
func (d *Revisions) scroll(rows int) {
	const far = 1 << 16 // rows; reaches the first or last row
	switch {
	case rows <= -far:
		d.top = draw.SheetSpot{}
	case rows >= far:
		d.top = d.sheet.Last(d.body)
	default:
		d.top = d.sheet.Move(d.top, rows)
	}
}

// View draws the revision in the middle of the screen.
func (d *Revisions) View(size draw.Rect) []string {
	const widest = 160 // cells
	l, run := d.Look, d.runs.Shown().State
	if run == nil {
		return l.Block(nil, size.W, size.H)
	}
	d.at = min(d.at, len(run.Revisions))
	width, inner := d.width(size, widest)
	face := revisionFace{run, run.Seq, d.at, width, string(l.Theme.Name), l.Diffs}
	if d.sheet == nil || face != d.built {
		p := draw.NewSheetPage(l, inner)
		if d.at == 0 {
			writeFirstPlan(p, run)
		} else {
			writeRevision(p, run, d.at-1)
		}
		d.sheet, d.built = draw.NewSheet(l, inner, p.All()), face
	}
	d.body = max(size.H-2, 1)
	lines := d.sheet.View(&d.top, d.body)
	note := d.sheet.Place(d.top, d.body)
	if note == "" {
		for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
	}
	name := fmt.Sprintf("Revision %d of %d", d.at+1, len(run.Revisions)+1)
	if d.at == 0 {
		name += " " + l.Glyphs.Separator + " the plan as first made"
	}
	return d.middle(size, width, d.section(l.Strong.Render(name), note, lines))
}

// stepsAfter returns the steps of the plan made by revision i, as they stood when
// the next revision replaced it, or as they stand now.
func stepsAfter(run *agent.Run, i int) []*agent.StepState {
	if i+1 < len(run.Revisions) {
		return run.Revisions[i+1].PreviousSteps
	}
	return run.Steps
}

// writeFirstPlan adds the original plan.
func writeFirstPlan(p *draw.SheetPage, run *agent.Run) {
	l := p.Look
	if title := run.Plan.Title.Line(); title != "" {
		p.Prose(l.Strong, title)
	}
	at := timing.NewAxis(run, run.Now)
	p.Field("planned", l.Text, "by "+plannedBy(run, run.StartedAt, run.PlannedAt)+", "+telling.Seconds(at.At(run.PlannedAt))+" into the run")
	if run.Goal != "" {
		p.Field("goal", l.Text, run.Goal.Visible())
	}
	out := writeReviewed(p, run, 1)
	p.Blank()
	var rows []planRow
	for _, s := range stepsAfter(run, -1) {
		rows = append(rows, planRow{after: s})
	}
	writePlanRows(p, append(rows, out...), run)
}

// plannedBy says who made a plan between from and to: a file, the words of the
// goal, or a model, with its cost.
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
		return "rules, without a model"
	case asked == 0 && (run.Phases != [3]agent.Phase{} || from.After(run.StartedAt)) && run.Model != "":
		return "the model " + untrusted.Line(run.Model)
	case asked == 0:
		return "the author of the given plan"
	}
	words := "the model " + untrusted.Line(model) + " in " + english.Count(asked, "request")
	if used > 0 {
		words += ", " + telling.Tokens(used) + " tokens"
	}
	return words
}

// writeRevision adds what a revision changed, why, and who planned it.
func writeRevision(p *draw.SheetPage, run *agent.Run, i int) {
	l, r := p.Look, &run.Revisions[i]
	at := timing.NewAxis(run, run.Now)
	if r.Step != "" {
		words := telling.StepWords(r.Step)
		for _, s := range r.PreviousSteps {
			if s.Step.Index == r.Step {
				words += " " + l.Glyphs.Separator + " " + s.Step.Title.Line()
			}
		}
		p.Field("failed", l.Danger, words)
	}
	if reason := strings.TrimSpace(r.Reason.Visible()); reason != "" {
		p.Field("because", l.Text, draw.Clip(reason))
	}
	if r.UserRequest != "" {
		p.Field("you said", l.Text, r.UserRequest)
	}
	took := at.At(r.At) - at.At(r.AskedAt)
	p.Field("planned", l.Text, fmt.Sprintf("by %s, in %s, %s into the run", plannedBy(run, r.AskedAt, r.At), telling.Seconds(took), telling.Seconds(at.At(r.At))))
	out := writeReviewed(p, run, r.Number)
	p.Blank()
	var changes []string
	for _, c := range []struct {
		text string
		n    int
	}{
		{l.Removed.Render(fmt.Sprintf("%s%d removed", l.Glyphs.Removed, len(r.Removed))), len(r.Removed)},
		{l.Added.Render(fmt.Sprintf("%s%d added", l.Glyphs.Added, len(r.Added))), len(r.Added)},
		{l.Warning.Render(fmt.Sprintf("%s%d revised", l.Glyphs.Revised, len(r.Revised))), len(r.Revised)},
	} {
		if c.n > 0 {
			changes = append(changes, c.text)
		}
	}
	p.Lines = append(p.Lines, draw.Flow(changes, "  ", p.Width)...)
	writePlanRows(p, append(planRows(r, stepsAfter(run, i)), out...), run)
}

// writeReviewed adds the user's changes to a plan before it ran. It returns the
// steps removed then.
func writeReviewed(p *draw.SheetPage, run *agent.Run, number int) []planRow {
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
		p.Field("review", p.Look.Text, "by "+telling.WhoWords(r.By)+": "+strings.Join(words, "; "))
		for j := range r.Out {
			out = append(out, planRow{before: &r.Out[j]})
		}
	}
	return out
}

// planRow is a step before and after a revision; nil means the step is absent on
// that side.
type planRow struct {
	before, after *agent.StepState
	mark          agent.Change
}

// planRows merges the steps of both plans in the order of the new plan. Removed
// steps keep their old position.
func planRows(r *agent.Revision, after []*agent.StepState) []planRow {
	was := map[string]*agent.StepState{}
	for _, s := range r.PreviousSteps {
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

// sideFrom is the minimum width for showing both plans side by side, in cells.
const sideFrom = 100

// writePlanRows adds the steps of a plan, with both versions where they differ.
// Changes within the revised steps follow below.
func writePlanRows(p *draw.SheetPage, rows []planRow, run *agent.Run) {
	l := p.Look
	index := 1
	both := false
	for _, r := range rows {
		for _, s := range []*agent.StepState{r.before, r.after} {
			if s != nil {
				index = max(index, draw.VisibleWidth(s.Step.Name()))
			}
		}
		both = both || r.before != nil
	}
	index = min(index, 6)
	side := p.Width
	if both = both && p.Width >= sideFrom; both {
		side = (p.Width - 3) / 2
		p.Lines = append(p.Lines, l.Fit(l.Muted.Render("before"), side)+l.Border.Render(" "+l.Glyphs.Guide+" ")+l.Muted.Render("after"))
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
			p.Lines = append(p.Lines, l.Fit(left, side)+l.Border.Render(" "+l.Glyphs.Guide+" ")+l.Fit(right, side))
		case r.after == nil:
			p.Lines = append(p.Lines, left)
		default:
			p.Lines = append(p.Lines, right)
		}
		if r.mark == agent.ChangeRevised && r.before != nil {
			writeStepChanges(p, &r.before.Step, &r.after.Step)
		}
	}
}

// drawPlanStep draws a step of a plan on one line.
func drawPlanStep(p *draw.SheetPage, s *agent.StepState, run *agent.Run, index, width int, gone bool, change agent.Change) string {
	l := p.Look
	row := &draw.Painter{LitLine: l.Line(false, false)}
	switch {
	case gone:
		row.Add(l.Removed, l.Glyphs.Removed)
	case change == agent.ChangeAdded:
		row.Add(l.Added, l.Glyphs.Added)
	case change == agent.ChangeRevised:
		row.Add(l.Warning, l.Glyphs.Revised)
	default:
		row.Gap(1)
	}
	of := run
	if run.Step(s.Step.Index) != s {
		of = nil // show the step as it stood then
	}
	glyph, style := draw.StateGlyph(l, of, s)
	title := l.Text
	if gone {
		title = l.Struck
	}
	tool := telling.StepTool(&s.Step)
	if deps := s.Step.DependsOn; len(deps) > 0 && width >= 60 {
		tool += "  " + l.Blockers(deps, 12)
	}
	tool = l.Cut(tool, max(width/3, 8))
	row.Gap(1)
	row.Add(style, glyph)
	columns := draw.StepColumns{Index: index, Tool: draw.VisibleWidth(tool)}
	columns.Title = width - row.Width - index - columns.Tool - 4 // gaps between the columns
	if columns.Title < 8 {
		columns.Tool, columns.Title = 0, width-row.Width-index-2
	}
	row.Step(columns, draw.StepCell{Style: l.Muted, Text: s.Step.Name()},
		draw.StepCell{Style: title, Text: l.Cut(s.Step.Title.Line(), columns.Title)}, draw.StepCell{}, draw.StepCell{Style: l.Faint, Text: tool})
	return l.Fit(row.Take(), width)
}

// writeStepChanges adds what a revision changed in a step, with the changed words
// underlined.
func writeStepChanges(p *draw.SheetPage, before, after *plan.Step) {
	for _, c := range []struct{ name, before, after string }{
		{"title", before.Title.Visible(), after.Title.Visible()},
		{"tool", before.Tool, after.Tool},
		{"executor", string(before.Executor), string(after.Executor)},
		{"profile", before.Profile, after.Profile},
		{"after", strings.Join(before.DependsOn, ", "), strings.Join(after.DependsOn, ", ")},
		{"expects", before.ExpectedOutcome.Visible(), after.ExpectedOutcome.Visible()},
	} {
		if c.before != c.after {
			writeChange(p, c.name, c.before, c.after)
		}
	}
	for _, name := range plan.ChangedArgs(before.Args, after.Args) {
		writeChange(p, name, argText(before.Args, name), argText(after.Args, name))
	}
}

// argText returns the text of an argument, "" if it is missing.
func argText(args map[string]any, name string) string {
	value, ok := args[name]
	if !ok {
		return ""
	}
	text, _ := telling.ValueText(value)
	return text
}
