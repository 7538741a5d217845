package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// hints are the keys of the dialog for the footer.
func (g *askDialog) hints() []hint {
	arrows := g.keys.hint("scroll", "move.up", "move.down")
	switch {
	case g.editor != nil:
		return []hint{g.keys.hint("send", "question.send"), g.keys.hint("leave as it was", "dialog.leave"), g.keys.hint("undo", "question.undo_edit")}
	case g.confirm != nil:
		return []hint{g.keys.hint(g.confirm.short, "gate.once"), g.keys.hint("back", "dialog.leave"), arrows}
	}
	hints := []hint{arrows}
	if len(g.queue) > 1 {
		hints = append(hints, g.keys.hint("next", "gate.next"))
	}
	hints = append(hints, g.keys.hint("look around", "dialog.leave"))
	if g.noSides() == "" {
		hints = append(hints, g.keys.hint("diff", "gate.sides"))
	}
	return append(hints, g.keys.hint("allowed", "gate.allowed"), g.keys.hint("quit", "quit"))
}

// listMost is how many of what waits the dialog lists at once.
const listMost = 5

// listHeight is how many lines the list of what waits takes with the edge below
// it, 0 where it would say nothing.
func (g *askDialog) listHeight() int {
	if len(g.queue) < 2 || g.editor != nil || g.confirm != nil {
		return 0
	}
	return min(len(g.queue), listMost) + 1
}

// list is what waits: those around the one in the dialog.
func (g *askDialog) list(width int) []string {
	first, end := g.window()
	lines := make([]string, 0, g.listed)
	for i := first; i < end; i++ {
		lines = append(lines, g.look.fit(g.listLine(g.queue[i], i == g.at, width), width))
	}
	return lines
}

// window says which of what waits the list shows.
func (g *askDialog) window() (first, end int) {
	first = max(min(g.at-g.listed/2, len(g.queue)-g.listed), 0)
	return first, min(first+g.listed, len(g.queue))
}

func (g *askDialog) listLine(a asking, chosen bool, width int) string {
	l := g.look
	line := l.line(chosen, true)
	glyph, style := a.sign(l)
	step, what, args := a.brief()
	drawn := line.cursor + line.draw(style, glyph) + line.blank(1)
	if step != "" {
		drawn += line.draw(l.Text, step) + line.blank(2)
	}
	drawn += line.draw(l.Strong, what) + line.blank(2) + line.draw(l.Muted, args)
	return line.fill(drawn, width)
}

// clickSheet shows what is listed under the pointer, where the dialog that asks
// lists something there.
func (m *Model) clickSheet(at tea.Mouse) tea.Cmd {
	if m.over() != nil || m.quitting || m.layout.small || at.Button != tea.MouseLeft || !m.layout.sheet.contains(at.X, at.Y) {
		return nil
	}
	return m.ask.clickedAt(at.Y - m.layout.sheet.y)
}

// clickedAt shows what is listed at a line of the dialog, its border included.
func (g *askDialog) clickedAt(y int) tea.Cmd {
	if !g.showing() || y < 1 || y > g.listed {
		return nil
	}
	first, _ := g.window()
	g.at = first + y - 1
	return g.front()
}

// step goes to another of what waits.
func (g *askDialog) step(by int) wanted {
	n := len(g.queue)
	g.at = (g.at + n + by) % n
	g.early = false
	return wanted{cmd: g.front()}
}

// brief is a call on one line: its arguments, the short ones first.
func brief(args map[string]any) string {
	names := slices.Sorted(maps.Keys(args))
	texts := make(map[string]string, len(args))
	for _, name := range names {
		text := jsonText(args[name], "")
		if len(text) > 200 {
			text = strings.ToValidUTF8(text[:200], "")
		}
		texts[name] = untrusted.Line(name) + " " + untrusted.Line(text)
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(texts[a]) - len(texts[b]) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = texts[name]
	}
	return strings.Join(parts, "  ")
}

// confirming is an answer that reaches further than the call in the dialog. What
// it does is shown before it is given.
type confirming struct {
	title  string
	about  []string // beside the title; nil is what the call is about
	does   string   // what a yes does, in words and in fewer
	short  string
	unread string // said where a yes comes before the end of what it is about
	ids    []string
	send   []runner.Command
	write  func(*document)
}

// holds reports whether all that it answers still waits.
func (c *confirming) holds(queue []asking) bool {
	for _, id := range c.ids {
		if !slices.ContainsFunc(queue, func(a asking) bool { return a.id() == id }) {
			return false
		}
	}
	return true
}

// turn shows what an answer reaches, or with nil the question again.
func (g *askDialog) turn(c *confirming) {
	g.confirm, g.doc, g.top, g.read = c, nil, 0, 0
}

// confirmHandlers are the actions while an answer is about to be confirmed.
func (g *askDialog) confirmHandlers() handlers {
	back := handler{do: just(func() { g.turn(nil) })}
	return handlers{
		"gate.once": {do: func() wanted {
			if g.doc == nil || g.read < g.doc.must {
				return saying(g.confirm.unread)
			}
			c := g.confirm
			return wanted{send: c.send, cmd: g.answer(c.ids...)}
		}},
		"dialog.leave": back, "gate.deny": back,
	}
}

// savingRule is the choice that saves a rule.
func savingRule(ask asking, c choice) *confirming {
	return &confirming{
		title: "Allow always", does: "save it, and allow", short: "save",
		unread: "Read the rule to its end first: down shows the rest of it.",
		ids:    []string{ask.id()}, send: []runner.Command{c.send},
		write: func(d *document) { writeRule(d, c.saves) },
	}
}

// like are the open gates that are like the one in the dialog, that one among
// them: calls of the same tool in the same run, about which the same rule asks.
func (g *askDialog) like() []openGate {
	if len(g.queue) == 0 {
		return nil
	}
	this, gate := g.current().(openGate)
	if !gate || this.session {
		return nil
	}
	var out []openGate
	for _, a := range g.queue {
		if other, ok := a.(openGate); ok && !other.session && other.run == this.run &&
			other.ask.QualifiedTool() == this.ask.QualifiedTool() && other.ask.Rule.Equal(this.ask.Rule) {
			out = append(out, other)
		}
	}
	return out
}

// notAlike says why there is nothing to be approved with the one in the dialog.
func (g *askDialog) notAlike() string {
	switch {
	case len(g.queue) == 0:
		return "No gate and no question is open."
	case len(g.like()) < 2:
		return "No other gate that waits is like this one: the same tool, and the same rule asks."
	default:
		return ""
	}
}

// approveAll shows which calls an approval of all that are like this one would
// let pass. It says why there are none.
func (g *askDialog) approveAll() (word string) {
	if word = g.notAlike(); word != "" {
		return word
	}
	all := g.like()
	tool := untrusted.Line(all[0].ask.Tool)
	c := &confirming{
		title: "Approve all like this", about: []string{tool, fmt.Sprintf("%d calls", len(all))},
		does: fmt.Sprintf("allow these %d, once each", len(all)), short: "allow",
		unread: "Look at the whole list first: down shows the rest of it.",
		write:  func(d *document) { writeAlike(d, all) },
	}
	for _, gate := range all {
		c.ids = append(c.ids, gate.id())
		c.send = append(c.send, runner.Resolve{Run: gate.run, Gate: gate.ask.Gate, Decision: event.Allow, Scope: event.ScopeOnce})
	}
	g.turn(c)
	return ""
}

// writeAlike writes the calls that are to be approved together: first the list, which
// has to be seen to its end, then each of them whole.
func writeAlike(d *document, all []openGate) {
	l := d.look
	d.prose(l.Text, fmt.Sprintf("A yes lets these %d calls of %s pass, once each. What asks later is not covered.", len(all), untrusted.Line(all[0].ask.Tool)))
	d.field("rule", l.Text, plain.Rule(all[0].ask.Rule))
	d.blank()
	for i, gate := range all {
		number := fmt.Sprintf("%d ", i+1)
		step, _, args := gate.brief()
		parts := []string{step, args}
		if gate.untrustedText() {
			parts = append(parts, "untrusted text")
		}
		for n, line := range wrap(strings.Join(parts, " "+l.glyphs.Separator+" "), max(d.width-len(number), 1)) {
			lead := l.Accent.Render(number)
			if n > 0 {
				lead = strings.Repeat(" ", len(number))
			}
			d.lines = append(d.lines, lead+l.Text.Render(line))
		}
	}
	d.must = len(d.lines)
	for i, gate := range all {
		d.heading(fmt.Sprintf("%d of %d", i+1, len(all)))
		gate.write(l, d)
	}
}

// refusal is why an answer cannot be given now, "" where it can.
func (g *askDialog) refusal(id string) string {
	if len(g.queue) == 0 {
		return "No gate and no question is open."
	}
	for _, c := range g.current().choices(g.keys) {
		if c.id == id {
			return c.refuse
		}
	}
	return noSuchAnswer
}

// noSuchAnswer is why what is open takes no such answer.
const noSuchAnswer = "What is open now takes no such answer."

// alone is why there is no other question to step to.
func (g *askDialog) alone() string {
	if len(g.queue) < 2 {
		return "Nothing else waits for an answer."
	}
	return ""
}

// noSides is why the diff in the dialog cannot be turned.
func (g *askDialog) noSides() string {
	if g.doc == nil || !g.doc.diffs {
		return "No diff is in view that could stand side by side."
	}
	return ""
}
