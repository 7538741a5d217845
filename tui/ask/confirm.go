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

// confirmation is an answer that covers more than the displayed call. The dialog
// shows its effect before the user confirms it.
type confirmation struct {
	title  string
	about  []string // shown beside the title; nil for the subject of the call
	does   string   // effect of a yes; short is a shorter wording
	short  string
	unread string // message for a yes before the user has read to the end
	ids    []string
	send   []session.Command
	refuse []session.Command // a no to all; none if the key for no only goes back
	write  func(*draw.Document) page
	picks  bool          // the user may leave calls out
	other  *confirmation // what the same key offers instead; nil for nothing
	offers string        // this one, as the other names it
}

// heading returns the title and what it is about; about is the subject of the call.
func (c confirmation) heading(about []string) (string, []string) {
	if c.about != nil {
		about = c.about
	}
	return c.title, about
}

// id identifies what is shown.
func (c confirmation) id() string { return c.title + "\n" + strings.Join(c.ids, "\n") }

// choices returns the answers.
func (c confirmation) choices() []choice {
	choices := []choice{{id: "gate.once", does: c.does, short: c.short}}
	if c.refuse != nil {
		choices = append(choices, choice{id: "gate.deny", does: "no to all", short: "no to all"})
	}
	if c.other != nil {
		choices = append(choices, choice{id: "gate.always", does: c.other.offers + " instead", short: c.other.offers})
	}
	return choices
}

// hints returns the keys for the footer.
func (c confirmation) hints(k *keymap.Map) []keymap.Hint {
	hints := []keymap.Hint{k.Hint(c.short, "gate.once")}
	if c.other != nil {
		hints = append(hints, k.Hint(c.other.offers+" instead", "gate.always"))
	}
	hints = append(hints, k.Hint("back", "dialog.leave"))
	if c.picks {
		hints = append(hints, k.Hint("next", "gate.next"), k.Hint("leave out", "gate.leave_out"))
	}
	return hints
}

// savingRule returns the confirmation of a choice that saves a rule.
func savingRule(k *keymap.Map, ask Request, c choice) *confirmation {
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

func savingThis(k *keymap.Map, ask Request, c choice) *confirmation {
	return &confirmation{
		title: "Allow always", does: "save it, and allow", short: "save",
		unread: "Read the whole rule first: " + k.Name("move.down") + " shows the rest of it.",
		ids:    []string{ask.id()}, send: []session.Command{c.send},
		write: func(d *draw.Document) page { return writeRule(d, c.saves) },
	}
}

// jointApproval returns the joint approval of all similar gates, nil if all are left out.
func jointApproval(k *keymap.Map, q *queue) *confirmation {
	all := q.like()
	out := 0
	for _, gate := range all {
		if q.isOut(gate) {
			out++
		}
	}
	if out == len(all) {
		return nil
	}
	c := &confirmation{
		title: "Approve all similar calls", about: []string{untrusted.Line(all[0].Ask.Tool), fmt.Sprintf("%d calls", len(all)-out)},
		does: fmt.Sprintf("allow these %d, once each", len(all)-out), short: "allow",
		unread: "Read the whole list first: " + k.Name("move.down") + " shows the rest of it.",
		write:  func(d *draw.Document) page { return writeAlike(d, all, q) },
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
		if q.isOut(gate) {
			answer = denied
		}
		c.ids, c.send, c.refuse = append(c.ids, gate.id()), append(c.send, answer), append(c.refuse, denied)
	}
	return c
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
