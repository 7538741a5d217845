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

// Allowed shows which calls of a run pass without a gate, which are blocked, and
// how the user answered its gates.
type Allowed struct {
	document
	run *agent.Run
}

// NewAllowed returns the dialog, closed.
func NewAllowed(l *draw.Styles, k *keymap.Map) *Allowed { return &Allowed{document: newDocument(l, k)} }

// Open shows the calls of a run.
func (d *Allowed) Open(run *agent.Run) {
	d.run, d.shown = run, true
	d.reset()
}

// Actions returns the actions of the dialog.
func (d *Allowed) Actions() keymap.Handlers { return d.closing("gate.allowed").With(d.keys()) }

// Hints lists the keys that are active now.
func (d *Allowed) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down")}
}

// View draws the dialog in the middle of the screen.
func (d *Allowed) View(size draw.Rect) []string {
	const widest = 100
	l := d.Styles
	width, inner := d.width(size, widest)
	d.doc = nil // the run may have changed
	d.render(l, inner, d.write)
	lines, note := d.visible(size.H - 2)
	title := l.Focus.Bold(true).Render("Answers and rules " + l.Glyphs.Separator + " " + wording.ShortID(d.run.ID))
	return d.middle(size, width, d.section(title, note, lines))
}

func (d *Allowed) write(doc *draw.Document) {
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
func (d *Allowed) answer(doc *draw.Document, a agent.Attempt, q agent.Asked) {
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
