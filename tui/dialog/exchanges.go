package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Exchanges lists every model request of the runs on the screen and shows a
// selected one in full.
type Exchanges struct {
	Look *draw.Look
	Keys *keymap.Map
	open bool
	Runs func() []ExchangesRun // runs on the screen
	draw.List
	newest bool // follow the newest exchange as more arrive

	opened *exchange      // shown in full; nil shows the list
	doc    *draw.Document // of opened
	drawn  bool           // doc includes the reply
	line   int            // first visible line of doc
	body   int            // visible lines of doc
}

// ExchangesRun is a run whose exchanges are listed.
type ExchangesRun struct {
	Run *agent.Run
	By  string // call that started the run; "" if the user did
}

// exchange is an entry of the list.
type exchange struct {
	*agent.Exchange
	by string // call that started the run; "" if the user did
}

// words describes the purpose of the request.
func (x exchange) words(l *draw.Look) string {
	words := untrusted.Line(string(x.Purpose))
	if x.Step != "" {
		words += " of " + telling.StepWords(x.Step)
	}
	if x.by != "" {
		words += " " + l.Glyphs.Separator + " " + telling.StepWords(x.by)
	}
	return words
}

// Show opens the dialog with the newest exchange selected.
func (d *Exchanges) Show() {
	*d = Exchanges{Look: d.Look, Keys: d.Keys, Runs: d.Runs, open: true, newest: true}
}

// exchanges returns the exchanges of all runs, ordered by request time.
func (d *Exchanges) exchanges() []exchange {
	var all []exchange
	runs := d.Runs()
	for _, s := range runs {
		for _, x := range s.Run.Exchanges {
			all = append(all, exchange{x, s.By})
		}
	}
	if len(runs) > 1 {
		slices.SortStableFunc(all, func(a, b exchange) int { return a.StartedAt.Compare(b.StartedAt) })
	}
	return all
}

// place returns the index of the opened exchange in all, or -1 if its run has left
// the screen.
func (d *Exchanges) place(all []exchange) int {
	return slices.IndexFunc(all, func(x exchange) bool { return x.Exchange == d.opened.Exchange })
}

// Handlers returns the actions of the dialog. None of them sends anything to the
// session.
func (d *Exchanges) Handlers() keymap.Handlers {
	all := d.exchanges()
	shut := keymap.Handler{Do: keymap.Just(func() { d.open = false })}
	hs := keymap.Handlers{"exchanges": shut, "dialog.leave": shut}
	if d.opened != nil {
		return hs.With(keymap.Handlers{
			"dialog.leave":      {Do: keymap.Just(func() { d.opened, d.doc = nil, nil })},
			"step.next_tab":     {Do: keymap.Just(func() { d.leaf(all, 1) })},
			"step.previous_tab": {Do: keymap.Just(func() { d.leaf(all, -1) })},
		}, keymap.Scrolling(d.body, func(lines int) { d.line += lines }))
	}
	hs = hs.With(d.Moving(false, len(all)).Then(func() { d.newest = d.At == len(all)-1 }))
	if d.At < len(all) {
		hs["plan.open"] = keymap.Handler{Do: keymap.Just(func() { d.opened, d.doc, d.line = &all[d.At], nil, 0 })}
	}
	return hs
}

// Shown reports whether the dialog is open.
func (d *Exchanges) Shown() bool { return d.open }

// Hints lists the keys that are active now.
func (d *Exchanges) Hints() []keymap.Hint {
	switch {
	case d.opened != nil:
		return []keymap.Hint{d.Keys.Hint("list", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"), d.Keys.Hint("top, end", "move.first", "move.last"), d.Keys.Hint("previous, next", "step.previous_tab", "step.next_tab")}
	case len(d.exchanges()) == 0:
		return []keymap.Hint{d.Keys.Hint("close", "dialog.leave")}
	default:
		return []keymap.Hint{d.Keys.Hint("look in", "plan.open"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down"), d.Keys.Hint("first, last", "move.first", "move.last")}
	}
}

// leaf opens the exchange by positions after the current one.
func (d *Exchanges) leaf(all []exchange, by int) {
	d.At = d.place(all)
	d.Move(by, len(all))
	d.newest = d.At == len(all)-1
	if d.At < len(all) {
		d.opened, d.doc, d.line = &all[d.At], nil, 0
	}
}

// Wheeled handles a turn of the mouse wheel.
func (d *Exchanges) Wheeled(lines int) {
	if d.opened != nil {
		d.line += lines
		return
	}
	n := len(d.exchanges())
	d.Move(lines/draw.WheelStep, n)
	d.newest = d.At == n-1
}

// Clicked selects the entry drawn at line y of the dialog's area.
func (d *Exchanges) Clicked(y int) {
	n := len(d.exchanges())
	if d.opened == nil && d.List.Clicked(y, n) {
		d.newest = d.At == n-1
	}
}

// Draw draws the list or the opened exchange in exactly height lines of screenWidth
// cells.
func (d *Exchanges) Draw(screenWidth, height int) []string {
	const widest = 120 // cells
	l := d.Look
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
		title = l.Strong.Render(name) + l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Text.Render(d.opened.words(l))
		d.write(width - 4)
		lines = d.doc.Rows(&d.line, d.body)
		note = d.doc.Place(d.line, d.body)
	case len(all) == 0:
		lines = draw.Paint(l.Faint, draw.Wrap("No model has been asked yet: every request and its reply can be looked at here.", width-4))
	default:
		lines, note = d.rows(all, width-4)
	}
	framed := l.Frame(width, l.Focus, draw.Section{Title: title, Note: note, Lines: draw.Padded(l.Block(lines, width-4, min(len(lines), d.body))), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
}

// rows draws the visible part of the list.
func (d *Exchanges) rows(all []exchange, width int) (lines []string, note string) {
	const oneLine = 66 // cells
	each := 1
	if width < oneLine {
		each = 2
	}
	if d.newest {
		d.At = len(all) - 1
	}
	end := d.Window(len(all), d.body, each)
	named := 0
	for _, x := range all[d.Top:end] {
		named = max(named, draw.VisibleWidth(x.words(d.Look)))
	}
	for i := d.Top; i < end; i++ {
		lines = append(lines, d.row(all[i], i == d.At, named, width)...)
	}
	return lines, d.Look.Span(d.Top, end, len(all))
}

// row draws one exchange: its purpose, tokens in and out, the server's reading and
// writing times, and any error. named is the width of the name column.
func (d *Exchanges) row(x exchange, chosen bool, named, width int) []string {
	l := d.Look
	line := l.Line(chosen, true)
	glyph, style := l.Glyphs.Done, l.Success
	switch {
	case x.Error != "":
		glyph, style = l.Glyphs.Failed, l.Danger
	case !x.Done:
		glyph, style = l.Spinner(), l.Running
	}
	head := line.Cursor + line.Draw(style, glyph) + line.Draw(l.Text, " "+x.words(l))
	facts, why := exchangeFacts(l, x.Exchange), l.Muted
	if x.Error != "" {
		facts, why = []string{untrusted.FirstLine(x.Error)}, l.Danger
	}
	if d.Each > 1 {
		facts = facts[:min(len(facts), 3)]
		told := l.Cut(strings.Join(facts, " "+l.Glyphs.Separator+" "), width-3)
		return []string{line.Fill(head, width), line.Fill(line.Cursor+line.Draw(why, "  "+told), width)}
	}
	columns := []int{9, 11, 9, 0} // right-aligns the numbers
	const beside = 44             // cells for the facts
	drawn := line.Fill(head, max(min(named+5, width-beside), 12))
	if len(facts) == 1 {
		return []string{line.Fill(drawn+line.Draw(why, "  "+facts[0]), width)}
	}
	for i, f := range facts[:3] {
		drawn += line.Blank(columns[i]-draw.VisibleWidth(f)) + line.Draw(why, f)
	}
	return []string{line.Fill(drawn+line.Draw(why, "   "+facts[3]), width)}
}

// exchangeFacts returns the tokens in and out, the total time, and the time spent
// reading the prompt.
func exchangeFacts(l *draw.Look, x *agent.Exchange) []string {
	if !x.Done {
		return []string{"under way " + telling.Ticking(l.Since(x.StartedAt))}
	}
	facts := []string{telling.Tokens(x.Reply.PromptTokens) + " in", telling.Tokens(x.Reply.CompletionTokens) + " out", telling.Milliseconds(x.Reply.MS), ""}
	if x.Reply.PromptMS > 0 {
		facts[3] = "read " + telling.Milliseconds(x.Reply.PromptMS)
	}
	return facts
}

// write renders the opened exchange. It renders again only if the width changes or
// the reply arrives.
func (d *Exchanges) write(width int) {
	x := d.opened
	if d.doc != nil && d.doc.Width == width && d.drawn == x.Done {
		return
	}
	d.doc, d.drawn = &draw.Document{Look: d.Look, Width: width}, x.Done
	writeExchange(d.doc, x.Exchange)
}

// writeExchange writes the request and the reply. The reply comes first because the
// request is long and mostly familiar.
func writeExchange(d *draw.Document, x *agent.Exchange) {
	l, q := d.Look, x.Request
	writeReply(d, x)
	d.Heading("asked")
	for _, f := range []struct{ name, value string }{
		{"model", q.Model},
		{"think", thinkWords(q)},
		{"tools", strings.Join(plan.Catalogue(q.Tools).Names(), ", ")},
		{"bound", boundWords(q)},
		{"cut", q.Shortened},
		{"took", tookWords(x)},
	} {
		if f.value != "" {
			d.Field(f.name, l.Text, f.value)
		}
	}
	for _, m := range q.Messages {
		d.Heading("sent " + l.Glyphs.Separator + " " + messageName(m))
		writeSaid(d, m.Content, m.Calls)
	}
	if len(q.Format) > 0 {
		d.Heading("sent " + l.Glyphs.Separator + " the form of the reply")
		var form any
		if json.Unmarshal(q.Format, &form) == nil {
			d.Code(l.Muted, telling.JSONText(form, "  "))
		} else {
			d.Code(l.Muted, string(q.Format))
		}
	}
}

// writeReply writes the model's reply.
func writeReply(d *draw.Document, x *agent.Exchange) {
	l := d.Look
	d.Heading("sent back")
	if x.Error != "" {
		d.Output(l.Danger, x.Error)
	}
	switch {
	case !x.Done:
		d.Prose(l.Faint, "The reply is not whole yet.")
	case x.Reply.Text != "" || len(x.Reply.Calls) > 0:
		writeSaid(d, x.Reply.Text, x.Reply.Calls)
	case x.Error == "":
		d.Prose(l.Faint, "An empty reply.")
	}
	if x.Reply.CutOff {
		d.Prose(l.Warning, "(cut off at the bound of the reply)")
	}
	if x.Reply.Thinking != "" {
		d.Heading("thought")
		d.Output(l.Muted, x.Reply.Thinking)
	}
}

// writeSaid adds the text of a message and the calls it requests.
func writeSaid(d *draw.Document, text string, calls []reply.ToolUse) {
	l := d.Look
	if text != "" {
		d.Output(l.Text, strings.TrimRight(text, "\n"))
	} else if len(calls) == 0 {
		d.Prose(l.Faint, "(nothing)")
	}
	for _, c := range calls {
		d.Code(l.Accent, "calls "+untrusted.Line(c.Name)+" "+telling.JSONText(c.Args, ""))
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

// boundWords describes the limits on the reply.
func boundWords(q prompt.Request) string {
	var parts []string
	if q.MaxTokens > 0 {
		parts = append(parts, english.Count(q.MaxTokens, "token"))
	}
	if q.Timeout > 0 {
		parts = append(parts, telling.Seconds(q.Timeout))
	}
	return strings.Join(parts, ", ")
}

// tookWords describes the cost of the reply.
func tookWords(x *agent.Exchange) string {
	if !x.Done || x.Error != "" && x.Reply.MS == 0 {
		return ""
	}
	words := fmt.Sprintf("%s tokens in, %s out, %s", telling.Tokens(x.Reply.PromptTokens), telling.Tokens(x.Reply.CompletionTokens), telling.Milliseconds(x.Reply.MS))
	if x.Reply.PromptMS > 0 {
		words += ", of that " + telling.Milliseconds(x.Reply.PromptMS) + " to read the prompt"
	}
	if x.Reply.ContextWindow > 0 {
		words += "; window " + telling.WindowSize(x.Reply.ContextWindow)
	}
	return words
}
