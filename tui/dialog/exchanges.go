package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/wording"
)

// Exchanges lists every model request of the runs on the screen and shows a
// selected one in full.
type Exchanges struct {
	list
	runs *live.Runs // runs on the screen

	opened *exchange // shown in full; nil shows the list
	text   scroll    // of opened
	done   bool      // text includes the reply
}

// NewExchanges returns the dialog about the runs on the screen, closed.
func NewExchanges(l *draw.Styles, k *keymap.Map, runs *live.Runs) *Exchanges {
	return &Exchanges{list: newList(l, k), runs: runs}
}

// exchange is an entry of the list.
type exchange struct {
	*agent.Exchange
	by string // call that started the run; "" if the user did
}

// words describes the purpose of the request.
func (x exchange) words(l *draw.Styles) string {
	words := untrusted.Line(string(x.Purpose))
	if x.Step != "" {
		words += " of " + wording.StepWords(x.Step)
	}
	if x.by != "" {
		words += " " + l.Glyphs.Separator + " " + wording.StepWords(x.by)
	}
	return words
}

// Open opens the dialog with the newest exchange selected.
func (d *Exchanges) Open() {
	*d = *NewExchanges(d.Styles, d.Keys, d.runs)
	d.appear()
}

// exchanges returns the exchanges of all runs, ordered by request time.
func (d *Exchanges) exchanges() []exchange {
	var all []exchange
	runs := d.runs.All()
	for _, s := range runs {
		for _, x := range s.State.Exchanges {
			all = append(all, exchange{x, s.ParentCall})
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

// Actions returns the actions of the dialog. None of them sends anything to the
// session.
func (d *Exchanges) Actions() keymap.Handlers {
	if d.opened != nil {
		return openedActions().For(d).With(d.text.keys()).First(d.nextKey)
	}
	return exchangesActions().For(d).With(d.Moving(false, len(d.exchanges()))).First(d.nextKey)
}

// exchangesActions are the actions of the list of exchanges.
func exchangesActions() keymap.Table[*Exchanges] {
	return keymap.Table[*Exchanges]{
		{ID: "plan.open", When: func(d *Exchanges) bool { return d.At < len(d.exchanges()) }, Do: keymap.Calls(func(d *Exchanges) { d.show(&d.exchanges()[d.At]) })},
		closing[*Exchanges]("dialog.leave"),
		closing[*Exchanges]("exchanges"),
	}
}

// openedActions are the actions of an exchange that is shown in full.
func openedActions() keymap.Table[*Exchanges] {
	return keymap.Table[*Exchanges]{
		{ID: "step.next_tab", Do: keymap.Calls(func(d *Exchanges) { d.leaf(1) })},
		{ID: "step.previous_tab", Do: keymap.Calls(func(d *Exchanges) { d.leaf(-1) })},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Exchanges) { d.opened = nil })},
		closing[*Exchanges]("exchanges"),
	}
}

// show shows an exchange in full.
func (d *Exchanges) show(x *exchange) {
	d.opened = x
	d.text.reset()
}

// Hints lists the keys that are active now.
func (d *Exchanges) Hints() []keymap.Hint {
	switch {
	case d.opened != nil:
		return []keymap.Hint{d.Keys.Hint("list", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"), d.Keys.Hint("top, end", "move.first", "move.last"), d.Keys.Hint("previous, next", "step.previous_tab", "step.next_tab")}
	case len(d.exchanges()) == 0:
		return []keymap.Hint{d.Keys.Hint("close", "dialog.leave")}
	default:
		return []keymap.Hint{d.Keys.Hint("open", "plan.open"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint("choose", "move.up", "move.down"), d.Keys.Hint("first, last", "move.first", "move.last")}
	}
}

// leaf opens the exchange by positions after the current one.
func (d *Exchanges) leaf(by int) {
	all := d.exchanges()
	d.SetCount(len(all))
	d.Choose(d.place(all))
	d.Move(by, len(all))
	if d.At < len(all) {
		d.show(&all[d.At])
	}
}

// Update handles the mouse.
func (d *Exchanges) Update(msg tea.Msg) keymap.Requests {
	if d.opened == nil {
		return d.update(msg, d)
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		d.text.by(draw.WheelLines(tea.Mouse(wheel)))
	}
	return nil
}

// Retheme discards the drawing in the previous theme.
func (d *Exchanges) Retheme() { d.text.redraw() }

// View draws the list or the opened exchange in the middle of the screen.
func (d *Exchanges) View(size draw.Rect) []string {
	const widest, oneLine = 120, 66 // cells
	l := d.Styles
	width, inner := d.width(size, widest)
	all := d.exchanges()
	if d.opened != nil {
		return d.drawOpened(size, all, width)
	}
	v := listView{title: l.Strong.Render("Exchanges with the model"), width: width, count: len(all), each: 1}
	if inner < oneLine {
		v.each = 2
	}
	if d.At >= d.Count-1 { // follow the newest
		d.Choose(max(len(all)-1, 0))
	}
	named := 0
	if len(all) > 0 {
		end := d.Window(len(all), size.H-2, v.each)
		for _, x := range all[d.Top:end] {
			named = max(named, draw.VisibleWidth(x.words(l)))
		}
	}
	v.row = func(i int) []string { return d.row(all[i], i == d.At, named, inner) }
	v.empty = draw.Paint(l.Faint, draw.Wrap("No model has been asked yet. This dialog shows every request and its reply.", inner))
	return d.view(size, v)
}

// drawOpened draws an exchange in full. It writes it again only if the width changes
// or the reply arrives.
func (d *Exchanges) drawOpened(size draw.Rect, all []exchange, width int) []string {
	l, x := d.Styles, d.opened
	if d.done != x.Done {
		d.text.redraw()
		d.done = x.Done
	}
	d.text.render(l, width-4, func(doc *draw.Document) { writeExchange(doc, x.Exchange) })
	name := "Exchange of an earlier run"
	if at := d.place(all); at >= 0 {
		name = fmt.Sprintf("Exchange %d of %d", at+1, len(all))
	}
	lines, note := d.text.visible(size.H - 2)
	title := l.Strong.Render(name) + l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Text.Render(x.words(l))
	return d.middle(size, width, d.section(title, note, l.Block(lines, width-4, size.H-2)))
}

// row draws one exchange: its purpose, tokens in and out, the server's reading and
// writing times, and any error. named is the width of the name column.
func (d *Exchanges) row(x exchange, chosen bool, named, width int) []string {
	l := d.Styles
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
		facts, why = []string{x.Error.FirstLine()}, l.Danger
	}
	if d.Each > 1 {
		facts = facts[:min(len(facts), 3)]
		text := l.Cut(strings.Join(facts, " "+l.Glyphs.Separator+" "), width-3)
		return []string{line.Fill(head, width), line.Fill(line.Cursor+line.Draw(why, "  "+text), width)}
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
func exchangeFacts(l *draw.Styles, x *agent.Exchange) []string {
	if !x.Done {
		return []string{"under way " + wording.Ticking(l.Since(x.StartedAt))}
	}
	facts := []string{wording.Tokens(x.Reply.PromptTokens) + " in", wording.Tokens(x.Reply.CompletionTokens) + " out", wording.Milliseconds(x.Reply.MS), ""}
	if x.Reply.PromptMS > 0 {
		facts[3] = "read " + wording.Milliseconds(x.Reply.PromptMS)
	}
	return facts
}

// writeExchange writes the request and the reply. The reply comes first because the
// request is long and mostly familiar.
func writeExchange(d *draw.Document, x *agent.Exchange) {
	l, q := d.Styles, x.Request
	writeReply(d, x)
	d.Heading("request")
	for _, f := range []struct{ name, value string }{
		{"model", q.Model},
		{"think", thinkWords(q)},
		{"tools", strings.Join(plan.Catalog(q.Tools).Names(), ", ")},
		{"limit", boundWords(q)},
		{"cut", q.Shortened},
		{"took", costWords(x)},
		{"note", x.Reply.Note},
	} {
		if f.value != "" {
			d.Field(f.name, l.Text, f.value)
		}
	}
	for _, m := range q.Messages {
		d.Heading("sent " + l.Glyphs.Separator + " " + messageName(m))
		writeTurn(d, m.Content, m.Calls)
	}
	if len(q.Format) > 0 {
		d.Heading("sent " + l.Glyphs.Separator + " the form of the reply")
		var form any
		if json.Unmarshal(q.Format, &form) == nil {
			d.Code(l.Muted, wording.JSONText(form, "  "))
		} else {
			d.Code(l.Muted, string(q.Format))
		}
	}
}

// writeReply writes the model's reply.
func writeReply(d *draw.Document, x *agent.Exchange) {
	l := d.Styles
	d.Heading("reply")
	if x.Error != "" {
		d.Output(l.Danger, x.Error.Visible())
	}
	switch {
	case !x.Done:
		d.Prose(l.Faint, "The reply is not complete yet.")
	case x.Reply.Text != "" || len(x.Reply.Calls) > 0:
		writeTurn(d, x.Reply.Text, x.Reply.Calls)
	case x.Error == "":
		d.Prose(l.Faint, "An empty reply.")
	}
	if x.Reply.CutOff {
		d.Prose(l.Warning, "(cut off at the limit of a reply)")
	}
	if x.Reply.Thinking != "" {
		d.Heading("thought")
		d.Output(l.Muted, x.Reply.Thinking)
	}
}

// writeTurn adds the text of a message and the calls it requests.
func writeTurn(d *draw.Document, text string, calls []reply.ToolUse) {
	l := d.Styles
	if text != "" {
		d.Output(l.Text, strings.TrimRight(text, "\n"))
	} else if len(calls) == 0 {
		d.Prose(l.Faint, "(nothing)")
	}
	for _, c := range calls {
		d.Code(l.Accent, "calls "+untrusted.Line(c.Name)+" "+wording.JSONText(c.Args, ""))
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
		parts = append(parts, wording.Seconds(q.Timeout))
	}
	return strings.Join(parts, ", ")
}

// costWords describes the cost of the reply.
func costWords(x *agent.Exchange) string {
	if !x.Done || x.Error != "" && x.Reply.MS == 0 {
		return ""
	}
	words := fmt.Sprintf("%s tokens in, %s out, %s", wording.Tokens(x.Reply.PromptTokens), wording.Tokens(x.Reply.CompletionTokens), wording.Milliseconds(x.Reply.MS))
	if x.Reply.PromptMS > 0 {
		words += ", of that " + wording.Milliseconds(x.Reply.PromptMS) + " to read the prompt"
	}
	if x.Reply.ContextWindow > 0 {
		words += "; window " + wording.WindowSize(x.Reply.ContextWindow)
	}
	return words
}
