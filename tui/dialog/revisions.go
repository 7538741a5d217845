package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/patch"
	"replan/tui/timing"
	"replan/tui/wording"
)

// Revisions steps through the original plan and its revisions. It shows what failed, what
// changed, and who planned each one.
type Revisions struct {
	document
	runs  *live.Runs // the plan pane shows one of them
	at    int        // 0 is the original plan
	drawn revisionFace
}

// revisionFace holds what the drawing depends on besides its width and theme.
type revisionFace struct {
	run   *agent.Run
	seq   uint64
	at    int
	diffs draw.DiffView
}

// NewRevisions returns the dialog, closed.
func NewRevisions(l *draw.Styles, k *keymap.Map, runs *live.Runs) *Revisions {
	return &Revisions{document: newDocument(l, k), runs: runs}
}

// Open shows a revision of the run in the plan pane; 0 is the original plan.
func (d *Revisions) Open(at int) {
	d.appear()
	d.at = at
	d.toTop()
}

// Hints lists the keys that are active now.
func (d *Revisions) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("revision", "step.previous_tab", "step.next_tab"), d.Keys.Hint("sides", "diff.sides"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down")}
}

// revisionsActions are the actions of the dialog.
func revisionsActions() keymap.Table[*Revisions] {
	return keymap.Table[*Revisions]{
		{ID: "step.next_tab", Do: keymap.Calls(func(d *Revisions) { d.leaf(1) })},
		{ID: "step.previous_tab", Do: keymap.Calls(func(d *Revisions) { d.leaf(-1) })},
		{ID: "diff.sides", When: (*Revisions).isDrawn, Do: keymap.Calls((*Revisions).turnDiffs)},
		closing[*Revisions]("dialog.leave"),
		closing[*Revisions]("revisions"),
		closing[*Revisions]("plan.revisions"),
	}
}

// Actions returns the actions of the dialog.
func (d *Revisions) Actions() keymap.Handlers { return d.keys().With(revisionsActions().For(d)) }

// leaf shows another revision. The view knows the last one.
func (d *Revisions) leaf(by int) {
	d.at = max(d.at+by, 0)
	d.toTop()
}

// View draws the revision in the middle of the screen.
func (d *Revisions) View(size draw.Rect) []string {
	const widest = 160 // cells
	l, run := d.Styles, d.runs.Shown().State
	if run == nil {
		return l.Block(nil, size.W, size.H)
	}
	d.at = min(d.at, len(run.Revisions))
	if face := (revisionFace{run, run.Seq, d.at, l.Diffs}); face != d.drawn {
		d.redraw()
		d.drawn = face
	}
	width, inner := d.width(size, widest)
	d.render(l, inner, func(doc *draw.Document) { (&revisionPage{doc, run}).write(d.at) })
	lines, note := d.visible(size.H - 2)
	name := fmt.Sprintf("Revision %d of %d", d.at+1, len(run.Revisions)+1)
	if d.at == 0 {
		name += " " + l.Glyphs.Separator + " the plan as first made"
	}
	return d.middle(size, width, d.section(l.Strong.Render(name), note, lines))
}

// revisionPage is the document of a revision.
type revisionPage struct {
	*draw.Document
	run *agent.Run
}

// write adds what revision n changed, why, and who planned it; 0 is the original
// plan.
func (p *revisionPage) write(n int) {
	l, run, at := p.Styles, p.run, timing.NewAxis(p.run, p.run.Now)
	r, after, asked, plannedAt, duration := &agent.Revision{}, run.Steps, run.StartedAt, run.PlannedAt, ""
	if n < len(run.Revisions) {
		after = run.Revisions[n].PreviousSteps // as they stood when the next revision replaced them
	}
	if n > 0 {
		r = &run.Revisions[n-1]
		asked, plannedAt, duration = r.AskedAt, r.At, ", in "+wording.Seconds(at.At(r.At)-at.At(r.AskedAt))
	} else if title := run.Plan.Title.Line(); title != "" {
		p.Prose(l.Strong, title)
	}
	if r.Step != "" {
		words := wording.StepWords(r.Step)
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
	p.Field("planned", l.Text, "by "+plannedBy(run, asked, plannedAt)+duration+", "+wording.Seconds(at.At(plannedAt))+" into the run")
	if n == 0 && run.Goal != "" {
		p.Field("goal", l.Text, run.Goal.Visible())
	}
	out := p.reviewed(n + 1)
	p.Blank()
	p.changed(r)
	p.rows(append(planRows(r, after), out...))
}

// changed adds how many steps a revision changed.
func (p *revisionPage) changed(r *agent.Revision) {
	l := p.Styles
	var changes []string
	for _, c := range []struct {
		style lipgloss.Style
		sign  string
		n     int
		what  string
	}{{l.Removed, l.Glyphs.Removed, len(r.Removed), "removed"}, {l.Added, l.Glyphs.Added, len(r.Added), "added"}, {l.Warning, l.Glyphs.Revised, len(r.Revised), "revised"}} {
		if c.n > 0 {
			changes = append(changes, c.style.Render(fmt.Sprintf("%s%d %s", c.sign, c.n, c.what)))
		}
	}
	p.Add(draw.Flow(changes, "  ", p.Width)...)
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
		words += ", " + wording.Tokens(used) + " tokens"
	}
	return words
}

// reviewed adds the user's changes to a plan before it ran. It returns the steps
// removed then.
func (p *revisionPage) reviewed(number int) (out []planRow) {
	for i := range p.run.Reviews {
		r := &p.run.Reviews[i]
		if r.Revision != number {
			continue
		}
		var words []string
		named := func(what string, steps []string) {
			if len(steps) > 0 {
				words = append(words, what+" "+untrusted.Line(strings.Join(steps, ", ")))
			}
		}
		switch {
		case r.Decision == event.ReviewRefuse:
			words = []string{"refused"}
		case len(r.Edited)+len(r.Moved)+len(r.Removed) == 0 && !r.Acceptance:
			words = []string{"run as it was"}
		}
		named("edited", r.Edited)
		for _, m := range r.Moved {
			words = append(words, "moved "+untrusted.Line(m.Step)+" behind "+untrusted.Line(m.After))
		}
		named("taken out", r.Removed)
		if r.Acceptance {
			words = append(words, "edited the acceptance")
		}
		var approved []string
		for _, a := range r.Approved {
			approved = append(approved, a.Step)
		}
		named("allowed", approved)
		p.Field("review", p.Styles.Text, "by "+wording.WhoWords(r.By)+": "+strings.Join(words, "; "))
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
	change        agent.Change
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
			row.before, row.change = nil, agent.ChangeAdded
		case slices.Contains(r.Revised, s.Step.Index):
			row.change = agent.ChangeRevised
		}
		rows = append(rows, row)
	}
	for i := range r.Removed {
		at := slices.IndexFunc(rows, func(row planRow) bool {
			return row.before != nil && i < len(r.After) && row.before.Step.Index == r.After[i]
		})
		rows = slices.Insert(rows, at+1, planRow{before: &r.Removed[i]})
	}
	return rows
}

// rows adds the steps of a plan, with both versions side by side if there is room.
// What changed within a revised step follows below it.
func (p *revisionPage) rows(rows []planRow) {
	const sideFrom = 100 // minimum width for both versions, in cells
	l, index, side, both := p.Styles, 1, p.Width, false
	for _, r := range rows {
		for _, s := range []*agent.StepState{r.before, r.after} {
			if s != nil {
				index = min(max(index, draw.VisibleWidth(s.Step.Name())), 6)
			}
		}
		both = both || r.before != nil && p.Width >= sideFrom
	}
	beside := func(left, right string) {
		p.Add(l.Fit(left, side) + l.Border.Render(" "+l.Glyphs.Guide+" ") + l.Fit(right, side))
	}
	if both {
		side = (p.Width - 3) / 2
		beside(l.Muted.Render("before"), l.Muted.Render("after"))
	}
	for _, r := range rows {
		left, right := "", ""
		if r.before != nil && (both || r.after == nil) {
			left = p.step(planRow{before: r.before}, r.after == nil, index, side)
		}
		if r.after != nil {
			right = p.step(r, false, index, side)
		}
		if both {
			beside(left, right)
		} else {
			p.Add(left + right)
		}
		if r.change == agent.ChangeRevised && r.before != nil {
			p.changes(&r.before.Step, &r.after.Step)
		}
	}
}

// step draws one version of a step on one line.
func (p *revisionPage) step(r planRow, removed bool, index, width int) string {
	l, s, of, title := p.Styles, r.after, p.run, p.Styles.Text
	if s == nil {
		s = r.before
	}
	if of.Step(s.Step.Index) != s {
		of = nil // show the step as it stood then
	}
	row := &draw.Painter{LitLine: l.Line(false, false)}
	switch {
	case removed:
		title = l.Struck
		row.Add(l.Removed, l.Glyphs.Removed)
	case r.change == agent.ChangeAdded:
		row.Add(l.Added, l.Glyphs.Added)
	case r.change == agent.ChangeRevised:
		row.Add(l.Warning, l.Glyphs.Revised)
	}
	row.Gap(2 - row.Width)
	glyph, style := draw.StateGlyph(l, of, s)
	row.Add(style, glyph)
	tool := wording.StepTool(&s.Step)
	if deps := s.Step.DependsOn; len(deps) > 0 && width >= 60 {
		tool += "  " + l.Blockers(deps, 12)
	}
	tool = l.Cut(tool, max(width/3, 8))
	c := draw.StepColumns{Index: index, Tool: draw.VisibleWidth(tool)}
	c.Title = width - row.Width - index - c.Tool - 4 // gaps between the columns
	if c.Title < 8 {
		c.Tool, c.Title = 0, width-row.Width-index-2
	}
	row.Step(c, draw.StepCell{Style: l.Muted, Text: s.Step.Name()},
		draw.StepCell{Style: title, Text: l.Cut(s.Step.Title.Line(), c.Title)}, draw.StepCell{}, draw.StepCell{Style: l.Faint, Text: tool})
	return l.Fit(row.Take(), width)
}

// changes adds what a revision changed in a step.
func (p *revisionPage) changes(before, after *plan.Step) {
	for _, c := range wording.StepChanges(before, after) {
		p.change(c.Name, c.Before, c.After)
	}
}

// change adds a value before and after a change. It takes one line each with the differing
// words underlined, or a diff if a value spans several lines. An empty string means no
// value.
func (p *revisionPage) change(name, before, after string) {
	const indent = "    "
	l := p.Styles
	if name = untrusted.Line(name); strings.Contains(before+after, "\n") {
		p.Add(indent + l.Accent.Render(l.Cut(name, p.Width-len(indent))))
		text, _, _ := plan.UnifiedDiff("before", "after", before+"\n", after+"\n")
		p.Diff(text)
		return
	}
	before, after = untrusted.Visible(before), untrusted.Visible(after)
	was, now := patch.Words(before, after)
	name = l.Cut(name+" ", max(p.Width/3, 1))
	for _, side := range []struct {
		style lipgloss.Style
		sign  string
		text  string
		words []patch.Span
	}{{l.Removed, l.Glyphs.Removed, before, was}, {l.Added, l.Glyphs.Added, after, now}} {
		if side.text == "" {
			continue
		}
		runs := []draw.Run{{Span: patch.Span{From: 0, To: len(side.text)}, Style: side.style}}
		for _, w := range side.words {
			runs = draw.Emphasize(runs, w, nil)
		}
		var rows []string
		for _, row := range draw.CodeRows(side.text, max(p.Width-len(indent)-2-draw.VisibleWidth(name), 1)) {
			rows = append(rows, draw.PaintRow(side.text, runs, row))
		}
		p.Add(draw.Hang(indent+side.style.Render(side.sign)+" "+l.Muted.Render(name), rows)...)
	}
}
