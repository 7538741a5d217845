package dialog

import (
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/plain"
	"replan/tui/telling"
)

// Allowed shows which calls of a run pass without a gate, which are blocked, and
// how the user answered its gates.
type Allowed struct {
	Look *draw.Look
	Keys *keymap.Map
	Run  *agent.Run
	Open bool
	doc  *draw.Document
	top  int
	body int
}

// Shown reports whether the dialog is open.
func (d *Allowed) Shown() bool { return d.Open }

// Handlers returns the actions of the dialog.
func (d *Allowed) Handlers() keymap.Handlers {
	shut := keymap.Handler{Do: keymap.Just(func() { d.Open = false })}
	return keymap.Handlers{"dialog.leave": shut, "gate.allowed": shut}.With(keymap.Scrolling(d.body, func(lines int) { d.top += lines }))
}

// Clicked handles a mouse click.
func (d *Allowed) Clicked(int) {}

// Wheeled scrolls by a turn of the mouse wheel.
func (d *Allowed) Wheeled(lines int) { d.top += lines }

// Hints lists the keys that are active now.
func (d *Allowed) Hints() []keymap.Hint {
	return []keymap.Hint{d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down")}
}

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Allowed) Draw(screenWidth, height int) []string {
	const widest = 100
	l, width := d.Look, min(screenWidth, widest)
	d.doc = &draw.Document{Look: l, Width: width - 4}
	d.write(d.doc)
	d.body = max(min(len(d.doc.Lines), height-2), 1)
	framed := l.Frame(width, l.Focus, draw.Section{
		Title: l.Focus.Bold(true).Render("Allowed and asked " + l.Glyphs.Separator + " " + telling.ShortID(d.Run.ID)),
		Lines: draw.Padded(d.doc.Rows(&d.top, d.body)), Note: d.doc.Place(d.top, d.body), Style: l.Focus,
	})
	return l.Middle(framed, width, screenWidth, height)
}

func (d *Allowed) write(doc *draw.Document) {
	l := d.Look
	doc.Heading("you allowed, for longer than once")
	allowed := plain.Allowed(d.Run)
	for _, words := range allowed {
		writeItem(doc, l.Success.Render(l.Glyphs.Done), words)
	}
	if len(allowed) == 0 {
		doc.Prose(l.Faint, "Nothing: each call that a rule asks about opens a gate.")
	}
	doc.Heading("answered at gates")
	answered := false
	for _, a := range d.Run.Attempts {
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
	doc.Heading("rules, the first that fits a call decides")
	for _, r := range d.Run.Rules() {
		sign := l.Warning.Render(l.Glyphs.Gate)
		switch r.Verdict {
		case rule.VerdictRun:
			sign = l.Success.Render(l.Glyphs.Done)
		case rule.VerdictBlock:
			sign = l.Danger.Render(l.Glyphs.Failed)
		}
		writeItem(doc, sign, plain.Rule(r))
	}
}

// answer writes how a gate of an attempt was answered.
func (d *Allowed) answer(doc *draw.Document, a agent.Attempt, q agent.Asked) {
	l := d.Look
	what := a.Step
	if s := d.Run.Step(a.Step); s != nil {
		what = s.Step.Tool
	}
	sign, words := l.Success.Render(l.Glyphs.Done), "allowed"
	switch event.Decision(q.Decision) {
	case event.Deny:
		sign, words = l.Danger.Render(l.Glyphs.Failed), "denied"
	case event.Edit:
		sign, words = l.Warning.Render(l.Glyphs.Revised), "edited: asked anew"
	default:
		words += map[event.Scope]string{event.ScopeRun: " for this run", event.ScopeAlways: " always"}[q.Scope]
	}
	parts := []string{telling.StepWords(a.Step), untrusted.Line(what), words + telling.ByWords(q.By)}
	writeItem(doc, sign, strings.Join(parts, " "+l.Glyphs.Separator+" "))
}

// writeItem adds text with a sign on its first line.
func writeItem(d *draw.Document, sign, text string) {
	for i, line := range draw.Wrap(untrusted.Visible(text), max(d.Width-2, 1)) {
		if i > 0 {
			sign = " "
		}
		d.Lines = append(d.Lines, sign+" "+d.Look.Text.Render(line))
	}
}
