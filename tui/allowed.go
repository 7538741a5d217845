package tui

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// allowedDialog shows what passes without a gate in a run, what does not pass at
// all, and what was answered at its gates.
type allowedDialog struct {
	look *look
	keys *keyMap
	run  *agent.Run
	open bool
	doc  *document
	top  int
	body int
}

// showAllowed opens the dialog for the run in the plan pane.
func (m *Model) showAllowed() {
	*m.allowed = allowedDialog{look: m.look, keys: m.keys, run: m.shown.run, open: true}
}

// noRun is why nothing can be shown of a run.
func (m *Model) noRun() string {
	if m.shown.run == nil {
		return "There is no run yet."
	}
	return ""
}

func (d *allowedDialog) shown() bool { return d.open }

// handlers are the actions of the dialog.
func (d *allowedDialog) handlers() handlers {
	shut := handler{do: just(func() { d.open = false })}
	return handlers{"dialog.leave": shut, "gate.allowed": shut}.with(scrolling(d.body, func(lines int) { d.top += lines }))
}

func (d *allowedDialog) clicked(int)       {}
func (d *allowedDialog) wheeled(lines int) { d.top += lines }

func (d *allowedDialog) hints() []hint {
	return []hint{d.keys.hint("close", "dialog.leave"), d.keys.hint("scroll", "move.up", "move.down")}
}

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells.
func (d *allowedDialog) draw(screenWidth, height int) []string {
	const widest = 100
	l, width := d.look, min(screenWidth, widest)
	d.doc = &document{look: l, width: width - 4}
	d.write(d.doc)
	d.body = max(min(len(d.doc.lines), height-2), 1)
	framed := l.frame(width, l.Focus, section{
		title: l.Focus.Bold(true).Render("Allowed and asked " + l.glyphs.Separator + " " + shortID(d.run.ID)),
		lines: padded(d.doc.rows(&d.top, d.body)), note: d.doc.place(d.top, d.body), style: l.Focus,
	})
	return l.middle(framed, width, screenWidth, height)
}

func (d *allowedDialog) write(doc *document) {
	l := d.look
	doc.heading("you allowed, for longer than once")
	allowed := plain.Allowed(d.run)
	for _, words := range allowed {
		writeItem(doc, l.Success.Render(l.glyphs.Done), words)
	}
	if len(allowed) == 0 {
		doc.prose(l.Faint, "Nothing: each call that a rule asks about opens a gate.")
	}
	doc.heading("answered at gates")
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
		doc.prose(l.Faint, "None so far.")
	}
	doc.heading("rules, the first that fits a call decides")
	for _, r := range d.run.Rules() {
		sign := l.Warning.Render(l.glyphs.Gate)
		switch r.Verdict {
		case rule.VerdictRun:
			sign = l.Success.Render(l.glyphs.Done)
		case rule.VerdictBlock:
			sign = l.Danger.Render(l.glyphs.Failed)
		}
		writeItem(doc, sign, plain.Rule(r))
	}
}

// answer writes what was answered at the gate of an attempt.
func (d *allowedDialog) answer(doc *document, a agent.Attempt, q agent.Asked) {
	l := d.look
	what := a.Step
	if s := d.run.Step(a.Step); s != nil {
		what = s.Step.Tool
	}
	sign, words := l.Success.Render(l.glyphs.Done), "allowed"
	switch event.Decision(q.Decision) {
	case event.Deny:
		sign, words = l.Danger.Render(l.glyphs.Failed), "denied"
	case event.Edit:
		sign, words = l.Warning.Render(l.glyphs.Revised), "edited: asked anew"
	default:
		words += map[event.Scope]string{event.ScopeRun: " for this run", event.ScopeAlways: " always"}[q.Scope]
	}
	parts := []string{stepWords(a.Step), untrusted.Line(what), words + byWords(q.By)}
	writeItem(doc, sign, strings.Join(parts, " "+l.glyphs.Separator+" "))
}

// writeItem adds text with a sign before its first line.
func writeItem(d *document, sign, text string) {
	for i, line := range wrap(untrusted.Visible(text), max(d.width-2, 1)) {
		if i > 0 {
			sign = " "
		}
		d.lines = append(d.lines, sign+" "+d.look.Text.Render(line))
	}
}
