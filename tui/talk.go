package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/planning"
	"replan/tui/untrusted"
)

// talkDialog shows every request that the runs on the screen have put to a
// model, and opens one of them whole.
type talkDialog struct {
	look   *look
	keys   *keyMap
	open   bool
	stages []*stage // the runs on the screen
	at     int
	newest bool // the newest is chosen, and stays so as more come
	top    int  // first in view
	body   int  // lines in view
	first  int  // line of the first, from the top of the dialog's area
	each   int  // lines of one

	opened *agent.Exchange // that is shown whole, nil for the list
	doc    *document       // of it
	drawn  bool            // the document has its reply
	line   int             // of the document at the top
}

// show opens the dialog, with the newest chosen.
func (d *talkDialog) show() {
	*d = talkDialog{look: d.look, keys: d.keys, open: true, newest: true}
}

// exchanges are those of all runs, in the order in which the models were asked.
func (d *talkDialog) exchanges() []*agent.Exchange {
	var all []*agent.Exchange
	for _, s := range d.stages {
		all = append(all, s.run.Exchanges...)
	}
	if len(d.stages) > 1 {
		slices.SortStableFunc(all, func(a, b *agent.Exchange) int { return a.StartedAt.Compare(b.StartedAt) })
	}
	return all
}

// press takes a key while the dialog is open. It asks nothing of the session.
func (d *talkDialog) press(k tea.KeyPressMsg) runner.Command {
	all := d.exchanges()
	page := max(d.body-1, 1)
	move := d.move
	if d.opened != nil {
		move = func(n int) { d.line += n }
	} else {
		page = max(page/max(d.each, 1), 1)
	}
	switch {
	case key.Matches(k, d.keys.Exchanges):
		d.open = false
	case key.Matches(k, d.keys.Away) && d.opened != nil:
		d.opened, d.doc = nil, nil
	case key.Matches(k, d.keys.Away):
		d.open = false
	case key.Matches(k, d.keys.Open) && d.opened == nil && d.at < len(all):
		d.opened, d.doc, d.line = all[d.at], nil, 0
	case d.opened != nil && key.Matches(k, d.keys.NextTab, d.keys.PreviousTab):
		d.leaf(all, key.Matches(k, d.keys.NextTab))
	case key.Matches(k, d.keys.Up):
		move(-1)
	case key.Matches(k, d.keys.Down):
		move(1)
	case key.Matches(k, d.keys.PageUp, d.keys.HalfUp):
		move(-page)
	case key.Matches(k, d.keys.PageDown, d.keys.HalfDown) || k.String() == "space":
		move(page)
	case key.Matches(k, d.keys.First):
		move(-1 << 30)
	case key.Matches(k, d.keys.Last):
		move(1 << 30)
	}
	return nil
}

// leaf opens the next exchange, or the one before.
func (d *talkDialog) leaf(all []*agent.Exchange, next bool) {
	d.at = max(slices.Index(all, d.opened), 0)
	if next {
		d.move(1)
	} else {
		d.move(-1)
	}
	if d.at < len(all) {
		d.opened, d.doc, d.line = all[d.at], nil, 0
	}
}

func (d *talkDialog) move(n int) {
	last := len(d.exchanges()) - 1
	d.at = max(min(d.at+n, last), 0)
	d.newest = d.at == last
}

func (d *talkDialog) wheeled(lines int) {
	if d.opened != nil {
		d.line += lines
		return
	}
	d.move(lines / wheelStep)
}

// clicked chooses what is drawn at that line of the dialog's area.
func (d *talkDialog) clicked(y int) {
	if d.opened != nil || y < d.first || d.each == 0 {
		return
	}
	if i := (y - d.first) / d.each; i < d.body/d.each && d.top+i < len(d.exchanges()) {
		d.at = d.top + i
		d.move(0)
	}
}

// draw draws the list, or what is opened, in exactly height lines of screenWidth
// cells.
func (d *talkDialog) draw(screenWidth, height int) []string {
	const widest = 120 // cells
	l := d.look
	width := min(screenWidth, widest)
	all := d.exchanges()
	d.body = max(height-2, 1)
	title, note := l.Strong.Render("Exchanges with the model"), ""
	var lines []string
	switch {
	case d.opened != nil:
		title = l.Strong.Render(fmt.Sprintf("Exchange %d of %d", slices.Index(all, d.opened)+1, len(all))) +
			l.Faint.Render(" "+l.glyphs.Separator+" ") + l.Text.Render(exchangeWords(d.opened))
		d.write(width - 4)
		lines = d.doc.rows(&d.line, d.body)
		note = d.doc.place(d.line, d.body)
	case len(all) == 0:
		lines = paint(l.Faint, wrap("No model has been asked yet: every request and its reply can be looked at here.", width-4))
	default:
		lines, note = d.rows(all, width-4)
	}
	framed := l.frame(width, l.Focus, section{title: title, note: note, lines: padded(l.block(lines, width-4, min(len(lines), d.body))), style: l.Focus})
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// rows draws the part of the list in view.
func (d *talkDialog) rows(all []*agent.Exchange, width int) (lines []string, note string) {
	const oneLine = 66 // cells
	d.each = 1
	if width < oneLine {
		d.each = 2
	}
	if d.newest {
		d.at = len(all) - 1
	}
	d.at = min(d.at, len(all)-1)
	fits := max(d.body/d.each, 1)
	d.top = max(min(d.top, d.at, len(all)-fits), d.at-fits+1, 0)
	last := min(d.top+fits, len(all))
	for i := d.top; i < last; i++ {
		lines = append(lines, d.row(all[i], i == d.at, width)...)
	}
	if len(all) > fits {
		note = d.look.Faint.Render(fmt.Sprintf("%d-%d of %d", d.top+1, last, len(all)))
	}
	return lines, note
}

// exchangeWords names what a model was asked for.
func exchangeWords(x *agent.Exchange) string {
	words := untrusted.Line(string(x.Purpose))
	if x.Step != "" {
		words += " of " + stepWords(x.Step)
	}
	return words
}

// row draws one exchange: what it was for, how many tokens went and came, how
// long the server read and wrote, and why no reply came.
func (d *talkDialog) row(x *agent.Exchange, chosen bool, width int) []string {
	l := d.look
	lit := func(s lipgloss.Style) lipgloss.Style { return s }
	cursor := " "
	if chosen {
		lit = l.Selected
		cursor = lit(l.Accent).Render(l.glyphs.Cursor)
	}
	fill := func(line string, w int) string {
		line = l.cut(line, w)
		return line + lit(l.Text).Render(strings.Repeat(" ", max(w-visibleWidth(line), 0)))
	}
	glyph, style := l.glyphs.Done, l.Success
	switch {
	case x.Error != "":
		glyph, style = l.glyphs.Failed, l.Danger
	case !x.Done:
		glyph, style = l.spinner(), l.Running
	}
	head := cursor + lit(style).Render(glyph) + lit(l.Text).Render(" "+exchangeWords(x))
	facts, why := exchangeFacts(l, x), lit(l.Muted)
	if x.Error != "" {
		facts, why = []string{untrusted.FirstLine(x.Error)}, lit(l.Danger)
	}
	if d.each > 1 {
		facts = facts[:min(len(facts), 3)]
		return []string{fill(head, width), fill(cursor+why.Render("  "+l.cut(strings.Join(facts, " "+l.glyphs.Separator+" "), width-3)), width)}
	}
	const named = 26 // cells
	line := fill(head, named)
	if len(facts) == 1 {
		return []string{fill(line+why.Render(l.cut(facts[0], width-named)), width)}
	}
	for i, f := range facts {
		w := []int{11, 11, 10, 15}[min(i, 3)]
		line += why.Render(l.fit(f, w))
	}
	return []string{fill(line, width)}
}

// exchangeFacts are the measures of an exchange: tokens in and out, how long it
// took, and how much of that to read the prompt.
func exchangeFacts(l *look, x *agent.Exchange) []string {
	if !x.Done {
		return []string{"under way " + seconds(l.since(x.StartedAt))}
	}
	facts := []string{thousands(x.Reply.PromptTokens) + " in", thousands(x.Reply.CompletionTokens) + " out"}
	facts = append(facts, milliseconds(x.Reply.MS), "")
	if x.Reply.PromptMS > 0 {
		facts[3] = "read " + milliseconds(x.Reply.PromptMS)
	}
	return facts
}

// write writes what is opened, once for each width, and again when its reply
// comes.
func (d *talkDialog) write(width int) {
	x := d.opened
	if d.doc != nil && d.doc.width == width && d.drawn == x.Done {
		return
	}
	d.doc, d.drawn = &document{look: d.look, width: width}, x.Done
	d.doc.exchange(x)
}

// exchange writes all that a model was sent and sent back.
func (d *document) exchange(x *agent.Exchange) {
	l, q := d.look, x.Request
	for _, f := range []struct{ name, value string }{
		{"model", q.Model},
		{"think", thinkWords(q)},
		{"tools", strings.Join(planning.Catalogue(q.Tools).Names(), ", ")},
		{"bound", boundWords(q)},
		{"cut", q.Shortened},
		{"took", tookWords(x)},
	} {
		if f.value != "" {
			d.field(f.name, l.Text, f.value)
		}
	}
	for _, m := range q.Messages {
		d.heading("sent " + l.glyphs.Separator + " " + messageName(m))
		d.said(m.Content, m.Calls)
	}
	if len(q.Format) > 0 {
		d.heading("sent " + l.glyphs.Separator + " the form of the reply")
		var form any
		if json.Unmarshal(q.Format, &form) == nil {
			d.code(l.Muted, jsonText(form, "  "))
		} else {
			d.code(l.Muted, string(q.Format))
		}
	}
	if x.Reply.Thinking != "" {
		d.heading("thought")
		d.output(l.Muted, x.Reply.Thinking)
	}
	d.heading("sent back")
	if x.Error != "" {
		d.output(l.Danger, x.Error)
	}
	switch {
	case !x.Done:
		d.prose(l.Faint, "The reply is not whole yet.")
	case x.Reply.Text != "" || len(x.Reply.Calls) > 0:
		d.said(x.Reply.Text, x.Reply.Calls)
	case x.Error == "":
		d.prose(l.Faint, "An empty reply.")
	}
	if x.Reply.CutOff {
		d.prose(l.Warning, "(cut off at the bound of the reply)")
	}
}

// said adds the words of a message, and the calls that it asks for.
func (d *document) said(text string, calls []planning.ToolUse) {
	l := d.look
	if text != "" {
		d.output(l.Text, strings.TrimRight(text, "\n"))
	} else if len(calls) == 0 {
		d.prose(l.Faint, "(nothing)")
	}
	for _, c := range calls {
		d.code(l.Accent, "calls "+untrusted.Line(c.Name)+" "+jsonText(c.Args, ""))
	}
}

func messageName(m planning.Message) string {
	name := untrusted.Line(string(m.Role))
	if m.Tool != "" {
		name += " " + untrusted.Line(m.Tool)
	}
	return name
}

func thinkWords(q planning.Request) string {
	switch {
	case !q.Think:
		return "off"
	case q.Level == planning.ThinkAuto:
		return "may"
	default:
		return string(q.Level)
	}
}

// boundWords says what bounds the reply.
func boundWords(q planning.Request) string {
	var parts []string
	if q.MaxTokens > 0 {
		parts = append(parts, plural(q.MaxTokens, "token"))
	}
	if q.Timeout > 0 {
		parts = append(parts, seconds(q.Timeout))
	}
	return strings.Join(parts, ", ")
}

// tookWords says what the reply cost.
func tookWords(x *agent.Exchange) string {
	if !x.Done || x.Error != "" && x.Reply.MS == 0 {
		return ""
	}
	words := fmt.Sprintf("%s tokens in, %s out, %s", thousands(x.Reply.PromptTokens), thousands(x.Reply.CompletionTokens), milliseconds(x.Reply.MS))
	if x.Reply.PromptMS > 0 {
		words += ", of that " + milliseconds(x.Reply.PromptMS) + " to read the prompt"
	}
	if x.Reply.ContextWindow > 0 {
		words += "; window " + thousands(x.Reply.ContextWindow)
	}
	return words
}
