package dialog

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Permissions shows which calls of a run pass without a gate, which are blocked, and
// how the user answered its gates.
type Permissions struct {
	document
	run *agent.Run
}

// NewPermissions returns the dialog, closed.
func NewPermissions(l *draw.Styles, k *keymap.Map) *Permissions {
	return &Permissions{document: newDocument(l, k)}
}

// Open shows the calls of a run.
func (d *Permissions) Open(run *agent.Run) {
	d.run = run
	d.appear()
	d.reset()
}

// permissionsActions are the actions of the dialog.
func permissionsActions() keymap.Table[*Permissions] {
	return keymap.Table[*Permissions]{
		closing[*Permissions]("dialog.leave"),
		closing[*Permissions]("gate.allowed"),
	}
}

// Actions returns the actions of the dialog.
func (d *Permissions) Actions() keymap.Handlers { return permissionsActions().For(d).With(d.keys()) }

// Hints lists the keys that are active now.
func (d *Permissions) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down")}
}

// View draws the dialog in the middle of the screen.
func (d *Permissions) View(size draw.Rect) []string {
	const widest = 100
	l := d.Styles
	width, inner := d.width(size, widest)
	d.redraw() // the run may have changed
	d.render(l, inner, d.write)
	lines, note := d.visible(size.H - 2)
	title := l.Focus.Bold(true).Render("Answers and rules " + l.Glyphs.Separator + " " + wording.ShortID(d.run.ID))
	return d.middle(size, width, d.section(title, note, lines))
}

func (d *Permissions) write(doc *draw.Document) {
	l := d.Styles
	doc.Heading("standing approvals")
	allowed := wording.Grants(d.run)
	for _, words := range allowed {
		doc.Item(l.Success.Render(l.Glyphs.Done)+" ", d.Styles.Text, words)
	}
	if len(allowed) == 0 {
		doc.Prose(l.Faint, "None: each call that a rule asks about opens a gate.")
	}
	doc.Heading("answered at gates")
	answered := false
	for _, a := range d.run.Attempts {
		for _, q := range a.Asked {
			if q.About == agent.AskedGate && q.Decision != "" {
				d.answer(doc, a, q)
				answered = true
			}
		}
	}
	if !answered {
		doc.Prose(l.Faint, "None so far.")
	}
	doc.Heading("rules (first match wins)")
	for _, r := range d.run.Rules() {
		sign := l.Warning.Render(l.Glyphs.Gate)
		switch r.Verdict {
		case rule.VerdictRun:
			sign = l.Success.Render(l.Glyphs.Done)
		case rule.VerdictBlock:
			sign = l.Danger.Render(l.Glyphs.Failed)
		}
		doc.Item(sign+" ", d.Styles.Text, wording.RuleWords(r))
	}
}

// answer writes how a gate of an attempt was answered.
func (d *Permissions) answer(doc *draw.Document, a agent.Attempt, q agent.Asked) {
	l := d.Styles
	what := a.Step
	if s := d.run.Step(a.Step); s != nil {
		what = s.Step.Tool
	}
	sign, words := l.Success.Render(l.Glyphs.Done), "allowed"
	switch event.Decision(q.Decision) {
	case event.Deny:
		sign, words = l.Danger.Render(l.Glyphs.Failed), "denied"
	case event.Edit:
		sign, words = l.Warning.Render(l.Glyphs.Revised), "edited: asked again"
	default:
		words += map[event.Scope]string{event.ScopeRun: " for this run", event.ScopeAlways: " always"}[q.Scope]
	}
	parts := []string{wording.StepWords(a.Step), untrusted.Line(what), words + wording.ByWords(q.By)}
	doc.Item(sign+" ", d.Styles.Text, strings.Join(parts, " "+l.Glyphs.Separator+" "))
}
