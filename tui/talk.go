package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/untrusted"
)

// talkDialog shows every request that the runs on the screen have put to a
// model, and opens one of them whole.
type talkDialog struct {
	look *look
	keys *keyMap
	open bool
	runs func() []talkRun // on the screen
	list
	newest bool // the newest is chosen, and stays so as more come

	opened *exchange // that is shown whole, nil for the list
	doc    *document // of it
	drawn  bool      // the document has its reply
	line   int       // of the document at the top
	body   int       // lines of the document in view
}

// talkRun is a run whose exchanges are listed.
type talkRun struct {
	run *agent.Run
	by  string // the call that has started it, "" where the user has
}

// exchange is one of the list.
type exchange struct {
	*agent.Exchange
	by string // the call that has started its run, "" where the user has
}

// words name what a model was asked for.
func (x exchange) words(l *look) string {
	words := untrusted.Line(string(x.Purpose))
	if x.Step != "" {
		words += " of " + stepWords(x.Step)
	}
	if x.by != "" {
		words += " " + l.glyphs.Separator + " " + stepWords(x.by)
	}
	return words
}

// show opens the dialog, with the newest chosen.
func (d *talkDialog) show() {
	*d = talkDialog{look: d.look, keys: d.keys, runs: d.runs, open: true, newest: true}
}

// exchanges are those of all runs, in the order in which the models were asked.
func (d *talkDialog) exchanges() []exchange {
	var all []exchange
	runs := d.runs()
	for _, s := range runs {
		for _, x := range s.run.Exchanges {
			all = append(all, exchange{x, s.by})
		}
	}
	if len(runs) > 1 {
		slices.SortStableFunc(all, func(a, b exchange) int { return a.StartedAt.Compare(b.StartedAt) })
	}
	return all
}

// place is where the one that is opened stands among all, -1 where the run that
// it belongs to is not on the screen any more.
func (d *talkDialog) place(all []exchange) int {
	return slices.IndexFunc(all, func(x exchange) bool { return x.Exchange == d.opened.Exchange })
}

// handlers are the actions of the dialog. It asks nothing of the session.
func (d *talkDialog) handlers() handlers {
	all := d.exchanges()
	shut := handler{do: just(func() { d.open = false })}
	hs := handlers{"exchanges": shut, "dialog.leave": shut}
	if d.opened != nil {
		return hs.with(handlers{
			"dialog.leave":      {do: just(func() { d.opened, d.doc = nil, nil })},
			"step.next_tab":     {do: just(func() { d.leaf(all, 1) })},
			"step.previous_tab": {do: just(func() { d.leaf(all, -1) })},
		}, scrolling(d.body, func(lines int) { d.line += lines }))
	}
	hs = hs.with(d.moving(false, len(all)).then(func() { d.newest = d.at == len(all)-1 }))
	if d.at < len(all) {
		hs["plan.open"] = handler{do: just(func() { d.opened, d.doc, d.line = &all[d.at], nil, 0 })}
	}
	return hs
}

func (d *talkDialog) shown() bool { return d.open }

func (d *talkDialog) hints() []hint {
	switch {
	case d.opened != nil:
		return []hint{d.keys.hint("list", "dialog.leave"), d.keys.hint("scroll", "move.up", "move.down"), d.keys.hint("top, end", "move.first", "move.last"), d.keys.hint("previous, next", "step.previous_tab", "step.next_tab")}
	case len(d.exchanges()) == 0:
		return []hint{d.keys.hint("close", "dialog.leave")}
	default:
		return []hint{d.keys.hint("look in", "plan.open"), d.keys.hint("close", "dialog.leave"), d.keys.hint("choose", "move.up", "move.down"), d.keys.hint("first, last", "move.first", "move.last")}
	}
}

// leaf opens the exchange that many behind.
func (d *talkDialog) leaf(all []exchange, by int) {
	d.at = d.place(all)
	d.move(by, len(all))
	d.newest = d.at == len(all)-1
	if d.at < len(all) {
		d.opened, d.doc, d.line = &all[d.at], nil, 0
	}
}

func (d *talkDialog) wheeled(lines int) {
	if d.opened != nil {
		d.line += lines
		return
	}
	n := len(d.exchanges())
	d.move(lines/wheelStep, n)
	d.newest = d.at == n-1
}

// clicked chooses what is drawn at that line of the dialog's area.
func (d *talkDialog) clicked(y int) {
	n := len(d.exchanges())
	if d.opened == nil && d.list.clicked(y, n) {
		d.newest = d.at == n-1
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
		name := "Exchange of a run before"
		if at := d.place(all); at >= 0 {
			name = fmt.Sprintf("Exchange %d of %d", at+1, len(all))
		}
		title = l.Strong.Render(name) + l.Faint.Render(" "+l.glyphs.Separator+" ") + l.Text.Render(d.opened.words(l))
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
func (d *talkDialog) rows(all []exchange, width int) (lines []string, note string) {
	const oneLine = 66 // cells
	each := 1
	if width < oneLine {
		each = 2
	}
	if d.newest {
		d.at = len(all) - 1
	}
	end := d.window(len(all), d.body, each)
	named := 0
	for _, x := range all[d.top:end] {
		named = max(named, visibleWidth(x.words(d.look)))
	}
	for i := d.top; i < end; i++ {
		lines = append(lines, d.row(all[i], i == d.at, named, width)...)
	}
	return lines, d.look.span(d.top, end, len(all))
}

// row draws one exchange: what it was for, how many tokens went and came, how
// long the server read and wrote, and why no reply came. named is how long the
// names are.
func (d *talkDialog) row(x exchange, chosen bool, named, width int) []string {
	l := d.look
	line := l.line(chosen, true)
	glyph, style := l.glyphs.Done, l.Success
	switch {
	case x.Error != "":
		glyph, style = l.glyphs.Failed, l.Danger
	case !x.Done:
		glyph, style = l.spinner(), l.Running
	}
	head := line.cursor + line.draw(style, glyph) + line.draw(l.Text, " "+x.words(l))
	facts, why := exchangeFacts(l, x.Exchange), l.Muted
	if x.Error != "" {
		facts, why = []string{untrusted.FirstLine(x.Error)}, l.Danger
	}
	if d.each > 1 {
		facts = facts[:min(len(facts), 3)]
		told := l.cut(strings.Join(facts, " "+l.glyphs.Separator+" "), width-3)
		return []string{line.fill(head, width), line.fill(line.cursor+line.draw(why, "  "+told), width)}
	}
	columns := []int{9, 11, 9, 0} // the numbers end below each other
	const beside = 44             // cells of the facts
	drawn := line.fill(head, max(min(named+5, width-beside), 12))
	if len(facts) == 1 {
		return []string{line.fill(drawn+line.draw(why, "  "+facts[0]), width)}
	}
	for i, f := range facts[:3] {
		drawn += line.blank(columns[i]-visibleWidth(f)) + line.draw(why, f)
	}
	return []string{line.fill(drawn+line.draw(why, "   "+facts[3]), width)}
}

// exchangeFacts are the measures of an exchange: tokens in and out, how long it
// took, and how much of that to read the prompt.
func exchangeFacts(l *look, x *agent.Exchange) []string {
	if !x.Done {
		return []string{"under way " + ticking(l.since(x.StartedAt))}
	}
	facts := []string{tokens(x.Reply.PromptTokens) + " in", tokens(x.Reply.CompletionTokens) + " out", milliseconds(x.Reply.MS), ""}
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
	writeExchange(d.doc, x.Exchange)
}

// writeExchange writes all that a model was sent and sent back: what came of it first,
// since what it was sent is long and mostly known.
func writeExchange(d *document, x *agent.Exchange) {
	l, q := d.look, x.Request
	writeReply(d, x)
	d.heading("asked")
	for _, f := range []struct{ name, value string }{
		{"model", q.Model},
		{"think", thinkWords(q)},
		{"tools", strings.Join(plan.Catalogue(q.Tools).Names(), ", ")},
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
		writeSaid(d, m.Content, m.Calls)
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
}

// writeReply writes what a model sent back.
func writeReply(d *document, x *agent.Exchange) {
	l := d.look
	d.heading("sent back")
	if x.Error != "" {
		d.output(l.Danger, x.Error)
	}
	switch {
	case !x.Done:
		d.prose(l.Faint, "The reply is not whole yet.")
	case x.Reply.Text != "" || len(x.Reply.Calls) > 0:
		writeSaid(d, x.Reply.Text, x.Reply.Calls)
	case x.Error == "":
		d.prose(l.Faint, "An empty reply.")
	}
	if x.Reply.CutOff {
		d.prose(l.Warning, "(cut off at the bound of the reply)")
	}
	if x.Reply.Thinking != "" {
		d.heading("thought")
		d.output(l.Muted, x.Reply.Thinking)
	}
}

// writeSaid adds the words of a message, and the calls that it asks for.
func writeSaid(d *document, text string, calls []reply.ToolUse) {
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

func messageName(m prompt.Message) string {
	name := untrusted.Line(string(m.Role))
	if m.Tool != "" {
		name += " " + untrusted.Line(m.Tool)
	}
	return name
}

func thinkWords(q prompt.Request) string {
	switch {
	case !q.Think:
		return "off"
	case q.Level == prompt.ThinkAuto:
		return "may"
	default:
		return string(q.Level)
	}
}

// boundWords says what bounds the reply.
func boundWords(q prompt.Request) string {
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
	words := fmt.Sprintf("%s tokens in, %s out, %s", tokens(x.Reply.PromptTokens), tokens(x.Reply.CompletionTokens), milliseconds(x.Reply.MS))
	if x.Reply.PromptMS > 0 {
		words += ", of that " + milliseconds(x.Reply.PromptMS) + " to read the prompt"
	}
	if x.Reply.ContextWindow > 0 {
		words += "; window " + windowSize(x.Reply.ContextWindow)
	}
	return words
}
