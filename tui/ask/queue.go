package ask

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Hints returns the keys of the dialog for the footer.
func (g *Dialog) Hints() []keymap.Hint {
	arrows := g.keys.Hint("scroll", "move.up", "move.down")
	switch {
	case g.editor != nil:
		hints := []keymap.Hint{g.keys.Hint(g.current().resends(), "question.send"), g.keys.Hint("next field", "question.next_field"), g.keys.Hint("discard", "dialog.leave"), g.keys.Hint("undo", "question.undo_edit")}
		if g.noFile() == "" {
			hints = append(hints, g.keys.Hint("file in editor", "gate.editor"))
		}
		return hints
	case g.confirm != nil:
		hints := []keymap.Hint{g.keys.Hint(g.confirm.short, "gate.once")}
		if other := g.confirm.other; other != nil {
			hints = append(hints, g.keys.Hint(other.offers+" instead", "gate.always"))
		}
		hints = append(hints, g.keys.Hint("back", "dialog.leave"))
		if g.confirm.picks {
			hints = append(hints, g.keys.Hint("next", "gate.next"), g.keys.Hint("leave out", "gate.leave_out"))
		}
		return append(hints, arrows)
	}
	hints := []keymap.Hint{arrows}
	if g.noDetails() == "" {
		does := "why"
		if g.reading.details {
			does = "less"
		}
		hints = append(hints, g.keys.Hint(does, "gate.details"))
	}
	if g.noFile() == "" {
		hints = append(hints, g.keys.Hint("editor", "gate.editor"))
	}
	if g.queue.count() > 1 {
		hints = append(hints, g.keys.Hint("next", "gate.next"))
	}
	if g.picks() {
		hints = append(hints, g.keys.Hint("leave out", "gate.leave_out"))
	}
	hints = append(hints, g.keys.Hint("look around", "dialog.leave"))
	if g.noSides() == "" {
		hints = append(hints, g.keys.Hint("diff", "gate.sides"))
	}
	return append(hints, g.keys.Hint("rules", "gate.allowed"), g.keys.Hint("quit", "quit"))
}

// listMost is the maximum number of requests listed at once.
const listMost = 5

// listHeight returns the height of the request list in lines, including the edge
// below it. It is 0 if a list would add nothing.
func (g *Dialog) listHeight() int {
	if g.queue.count() < 2 || g.editor != nil || g.confirm != nil {
		return 0
	}
	return min(g.queue.count(), listMost) + 1
}

// list draws the pending requests around the displayed one.
func (g *Dialog) list(width int) []string {
	first, end := g.window()
	lines := make([]string, 0, g.listed)
	for i := first; i < end; i++ {
		lines = append(lines, g.styles.Fit(g.listLine(g.queue.all[i], i == g.queue.at, width), width))
	}
	return lines
}

// window returns the range of requests that the list shows.
func (g *Dialog) window() (first, end int) {
	first = max(min(g.queue.at-g.listed/2, g.queue.count()-g.listed), 0)
	return first, min(first+g.listed, g.queue.count())
}

func (g *Dialog) listLine(a Asking, chosen bool, width int) string {
	l := g.styles
	line := l.Line(chosen, true)
	glyph, style := a.sign(l)
	if g.queue.isOut(a) {
		glyph, style = l.Glyphs.Skipped, l.Muted
	}
	step, what, args := a.Brief()
	drawn := line.Cursor + line.Draw(style, glyph) + line.Blank(1)
	if step != "" {
		drawn += line.Draw(l.Text, step) + line.Blank(2)
	}
	drawn += line.Draw(l.Strong, what) + line.Blank(2) + line.Draw(l.Muted, args)
	return line.Fill(drawn, width)
}

// step moves to another request.
func (g *Dialog) step(by int) keymap.Request {
	g.queue.step(by)
	g.guard.ClearMessage()
	return keymap.Request{Cmd: g.front()}
}

// confirming is an answer that covers more than the displayed call. The dialog
// shows its effect before the user confirms it.
type confirming struct {
	title  string
	about  []string // shown beside the title; nil for the subject of the call
	does   string   // effect of a yes; short is a shorter wording
	short  string
	unread string // message for a yes before the user has read to the end
	ids    []string
	send   []session.Command
	refuse []session.Command // a no to all; none if the key for no only goes back
	write  func(*draw.Document) page
	picks  bool        // the user may leave calls out
	other  *confirming // what the same key offers instead; nil for nothing
	offers string      // this one, as the other names it
}

// turn shows the scope of an answer, or the question again if c is nil.
func (g *Dialog) turn(c *confirming) {
	g.confirm = c
	g.reading.restart()
	g.guard.Disarm()
}

// savingRule returns the confirmation of a choice that saves a rule.
func savingRule(k *keymap.Map, ask Asking, c choice) *confirming {
	narrow := savingThis(k, ask, c)
	if c.wider == nil {
		return narrow
	}
	wide := savingThis(k, ask, *c.wider)
	narrow.title, wide.title = "Allow this call always", "Allow this tool always"
	narrow.offers, wide.offers = "this call", "this tool"
	narrow.other, wide.other = wide, narrow
	return narrow
}

func savingThis(k *keymap.Map, ask Asking, c choice) *confirming {
	return &confirming{
		title: "Allow always", does: "save it, and allow", short: "save",
		unread: "Read the whole rule first: " + k.Name("move.down") + " shows the rest of it.",
		ids:    []string{ask.id()}, send: []session.Command{c.send},
		write: func(d *draw.Document) page { return writeRule(d, c.saves) },
	}
}

// picks reports whether the displayed call is one of several similar ones, some of which
// the user may leave out.
func (g *Dialog) picks() bool {
	like := g.queue.like()
	return len(like) > 1 && !like[0].Session
}

// approveAll shows which calls a joint approval of all similar gates would let
// pass. If there are none, it returns the reason.
func (g *Dialog) approveAll() keymap.Request {
	if word := g.notAlike(); word != "" {
		return keymap.ShowFooter(word)
	}
	c := g.jointly()
	if c == nil {
		return keymap.ShowFooter("All of them are left out: " + g.keys.Name("gate.leave_out") + " takes this one back, and " + g.keys.Name("gate.deny") + " denies it")
	}
	g.turn(c)
	return keymap.Request{Cmd: g.guard.StartStage()}
}

// jointly returns the joint approval of all similar gates, nil if all are left out.
func (g *Dialog) jointly() *confirming {
	all := g.queue.like()
	out := 0
	for _, gate := range all {
		if g.queue.isOut(gate) {
			out++
		}
	}
	if out == len(all) {
		return nil
	}
	c := &confirming{
		title: "Approve all similar calls", about: []string{untrusted.Line(all[0].Ask.Tool), fmt.Sprintf("%d calls", len(all)-out)},
		does: fmt.Sprintf("allow these %d, once each", len(all)-out), short: "allow",
		unread: "Read the whole list first: " + g.keys.Name("move.down") + " shows the rest of it.",
		write:  func(d *draw.Document) page { return writeAlike(d, all, &g.queue) },
		picks:  true,
	}
	if all[0].Session {
		c.title, c.about, c.picks = "Start all of them?", []string{fmt.Sprintf("%d questions", len(all))}, false
		if all[0].Ask.Changed != "" {
			c.title = "Use all of them as they are now?"
		}
		c.does, c.short = fmt.Sprintf("yes to these %d", len(all)), "yes to all"
		c.write = func(d *draw.Document) page { return writeServers(d, all) }
	}
	if out > 0 {
		c.does += fmt.Sprintf(", and deny the %d left out", out)
	}
	for _, gate := range all {
		answer := session.Resolve{Run: gate.Run, Gate: gate.Ask.Gate, Call: gate.Ask.Call, Decision: event.Allow, Scope: event.ScopeOnce}
		denied := answer
		denied.Decision = event.Deny
		if g.queue.isOut(gate) {
			answer = denied
		}
		c.ids, c.send, c.refuse = append(c.ids, gate.id()), append(c.send, answer), append(c.refuse, denied)
	}
	return c
}

// pickActions returns the actions that leave a call out of a joint approval.
func (g *Dialog) pickActions() keymap.Handlers {
	return keymap.Handlers{
		"gate.next":     {Do: keymap.Just(func() { g.pickNext(1) })},
		"gate.previous": {Do: keymap.Just(func() { g.pickNext(-1) })},
		"gate.leave_out": {Do: func() keymap.Request {
			g.queue.leaveOut()
			c := g.jointly()
			if c == nil {
				g.queue.leaveOut()
				return keymap.ShowFooter("All others are left out: " + g.keys.Name("gate.deny") + " denies all of them")
			}
			g.confirm = c
			g.reading.redraw()
			return keymap.Request{}
		}},
	}
}

// pickNext chooses another call of a joint approval and scrolls to it.
func (g *Dialog) pickNext(by int) {
	g.reading.toCall(g.queue.stepWithin(g.confirm.ids, by))
	g.reading.redraw()
}

// writeServers writes the servers and programs to be answered together, each as its
// own question shows it. The user must see all of it.
func writeServers(d *draw.Document, all []OpenGate) page {
	var whole page
	for i, gate := range all {
		if i > 0 {
			d.Blank()
		}
		whole.must = append(whole.must, gate.write(d.Styles, d, false).must...)
	}
	return whole
}

// writeAlike writes the calls to be approved together. The list comes first, and
// the user must scroll to its end. The full calls follow.
func writeAlike(d *draw.Document, all []OpenGate, q *queue) page {
	l := d.Styles
	out := func(gate OpenGate) bool { return q.isOut(gate) }
	allowed := fmt.Sprintf("these %d calls", len(all))
	if slices.ContainsFunc(all, out) {
		allowed = fmt.Sprintf("%d of ", len(slices.DeleteFunc(slices.Clone(all), out))) + allowed
	}
	d.Prose(l.Text, fmt.Sprintf("Allows %s of %s once each. Later calls ask again.", allowed, untrusted.Line(all[0].Ask.Tool)))
	d.Field("rule", l.Text, wording.RuleWords(all[0].Ask.Rule))
	d.Blank()
	for i, gate := range all {
		number := fmt.Sprintf(" %d ", i+1)
		if q.is(gate.id()) {
			number = l.Glyphs.Cursor + number[1:]
		}
		step, _, args := gate.Brief()
		parts := []string{step, args}
		if gate.untrustedText() {
			parts = append(parts, untrustedMark)
		}
		style := l.Text
		if out(gate) {
			style, parts = l.Muted, append(parts, "left out")
		}
		d.Item(l.Accent.Render(number), style, strings.Join(parts, " "+l.Glyphs.Separator+" "))
	}
	whole := page{must: []draw.Range{{From: 0, To: len(d.Lines)}}}
	for i, gate := range all {
		whole.calls = append(whole.calls, len(d.Lines))
		heading := fmt.Sprintf("%d of %d", i+1, len(all))
		if out(gate) {
			heading += ", left out"
		}
		d.Heading(heading)
		gate.write(l, d, true)
	}
	return whole
}
