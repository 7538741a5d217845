package dialog

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/wording"
)

// Servers lists the tool servers with their states and figures, and shows the
// tools, the log and the details of the selected one.
type Servers struct {
	list
	runs    *live.Runs // the plan at hand may need a server
	servers []plan.ServerStatus
	tokens  map[string]int // by server: what its tools take in a model's window
	known   bool           // offers have arrived
	awaited string         // the server that the message says is starting or being disabled; "" is none

	page    serverPage
	offers  toolList
	log     logView
	details scroll

	login session.LoginProgress // under way; no Server means none
}

// serverPage is what the dialog shows.
type serverPage int

// The pages: the list, and those of one server.
const (
	listPage serverPage = iota
	toolsPage
	logPage
	detailsPage
	serverPages
)

// NewServers returns the dialog, closed. runs holds the plan at hand.
func NewServers(l *draw.Styles, k *keymap.Map, runs *live.Runs) *Servers {
	return &Servers{list: newList(l, k), runs: runs, offers: newToolList(l, k)}
}

// Open opens the dialog with the known states and requests the servers' offers.
func (d *Servers) Open(s session.Status) keymap.Query {
	login := d.login
	d.log.close()
	*d = *NewServers(d.Styles, d.Keys, d.runs)
	d.appear()
	d.servers, d.login = s.Servers, login
	return keymap.QueryServers
}

// Close takes the dialog off the screen.
func (d *Servers) Close() {
	d.log.close()
	d.list.Close()
}

// Typing reports whether letters go to the search of tools.
func (d *Servers) Typing() bool { return d.page == toolsPage && d.offers.searching }

// Update handles the mouse, letters of the search, and what the session answers.
func (d *Servers) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case keymap.AnswerMsg[session.Servers]:
		d.known = true
		d.offers.set(msg.Value.Tools)
		d.tokens = map[string]int{}
		for _, t := range msg.Value.Tools {
			d.tokens[t.Server] += t.Tokens
		}
		d.Changed(msg.Value.Servers)
		return nil
	case keymap.LogMsg:
		return keymap.Requests{d.log.take(msg)}
	}
	if d.page == listPage {
		return d.update(msg, d)
	}
	d.pageMouse(msg)
	if d.page == toolsPage {
		return d.offers.update(msg, d)
	}
	return nil
}

// Retheme discards the drawing in the previous theme.
func (d *Servers) Retheme() { d.details.redraw(); d.offers.text.redraw() }

// Changed stores the current states and reports whether the offers may have changed.
func (d *Servers) Changed(now []plan.ServerStatus) (changed bool) {
	changed = !slices.EqualFunc(d.servers, now, func(a, b plan.ServerStatus) bool {
		return a.Name == b.Name && a.State == b.State && a.Tools == b.Tools && a.Disabled == b.Disabled
	})
	starts := func(s plan.ServerStatus) bool { return s.Name == d.awaited && s.State == plan.ServerStarting }
	if changed || d.awaited != "" && !slices.ContainsFunc(now, starts) {
		d.forget() // the state says it better
		d.awaited = ""
	}
	chosen := ""
	if s := d.chosen(); s != nil {
		chosen = s.Name
	}
	d.servers = now
	d.details.redraw()
	if at := slices.IndexFunc(now, func(s plan.ServerStatus) bool { return s.Name == chosen }); at >= 0 {
		d.Choose(at)
	} else if d.page != listPage && d.offers.server != "" {
		d.leavePage() // the files no longer have the server
	}
	d.Move(0, len(now))
	return changed
}

// Refused shows why the session did not do what the last key asked for.
func (d *Servers) Refused(why string) {
	if d.Shown() && d.awaited != "" {
		d.say(why)
		d.awaited = ""
	}
}

// chosen returns the selected server, or nil if there is none.
func (d *Servers) chosen() *plan.ServerStatus {
	if d.At >= len(d.servers) {
		return nil
	}
	return &d.servers[d.At]
}

// Hints lists the keys that are active now.
func (d *Servers) Hints() []keymap.Hint {
	leave := d.Keys.Hint("close", "dialog.leave")
	if d.page != listPage {
		return d.pageHints()
	}
	s := d.chosen()
	if s == nil {
		return []keymap.Hint{leave}
	}
	choose, search := d.Keys.Hint("choose", "move.up", "move.down"), d.Keys.Hint("search all tools", "list.search")
	if s.State == plan.ServerWaiting {
		return []keymap.Hint{d.Keys.Hint("answer", "plan.open"), leave, choose, search}
	}
	if d.login.Server == s.Name {
		return []keymap.Hint{d.Keys.Hint("cancel the login", "servers.login"), leave, choose}
	}
	if s.Transport == "built-in" {
		return []keymap.Hint{d.Keys.Hint("its tools", "plan.open"), d.restartHint(s), leave, choose, search}
	}
	hints := []keymap.Hint{d.Keys.Hint("its tools", "plan.open"), d.Keys.Hint("log", "servers.log"), d.restartHint(s)}
	off := d.Keys.Hint("disable", "servers.disable")
	if s.Disabled != "" {
		off = d.Keys.Hint("enable", "servers.disable")
	}
	if s.NeedsLogin {
		hints = slices.Insert(hints, 0, d.Keys.Hint("log in", "servers.login"))
	}
	if s.Changes > 0 {
		hints = slices.Insert(hints, 0, d.Keys.Hint("see what changed", "servers.accept"))
	}
	hints = append(hints, leave, off)
	if s.Allowed {
		hints = append(hints, d.Keys.Hint("take back your yes", "servers.take_back"))
	}
	return append(hints, choose, search)
}

// View draws the dialog in the middle of the screen.
func (d *Servers) View(size draw.Rect) []string {
	const widest = 110
	width, inner := d.width(size, widest)
	if d.page != listPage {
		return d.drawPage(size, width)
	}
	l := d.Styles
	foot := d.foot(inner)
	c := d.columns(inner)
	return d.view(size, listView{
		title: l.Strong.Render("Tool servers"), width: width, count: len(d.servers), each: 1, head: c.heads(l),
		row:   func(i int) []string { return []string{d.row(i, inner, c)} },
		empty: draw.Paint(l.Faint, draw.Wrap("There are no tool servers: add one with replan mcp add, or those of another program with replan mcp import.", inner)),
		foot:  foot[:min(len(foot), max(size.H/3, 1))],
	})
}

// serverColumns are the widths of a row's parts, in cells.
type serverColumns struct {
	name, state, from int
	figures           []int // of tools, tokens, calls, their latency, and failures; nil on a narrow screen
}

// figureHeads names the columns of figures.
var figureHeads = []string{"tools", "tokens", "calls", "latency", "failed"}

// columns computes the widths of the columns.
func (d *Servers) columns(width int) serverColumns {
	c := serverColumns{state: 10}
	if width >= 68 {
		c.state = 12
	}
	longest := len("server")
	for _, s := range d.servers {
		longest = max(longest, draw.VisibleWidth(untrusted.Line(s.Name)))
	}
	if width < 68 {
		c.name = min(longest+2, max(width-c.state-13, 10))
		return c
	}
	c.figures = []int{7, 9, 8, 10, 8}
	taken := 3 + c.state
	for _, cells := range c.figures {
		taken += cells
	}
	c.name = min(longest+2, max(width-taken, 14), 40)
	const from = 22
	if width-taken-c.name >= from {
		c.from = from
	}
	return c
}

// heads names the columns.
func (c serverColumns) heads(l *draw.Styles) []string {
	if c.figures == nil {
		return nil
	}
	head := "   " + l.Fit("server", c.name) + l.Fit("state", c.state)
	for i, cells := range c.figures {
		head += strings.Repeat(" ", cells-len(figureHeads[i])) + figureHeads[i]
	}
	if c.from > 0 {
		head += "   from"
	}
	return []string{l.Faint.Render(head)}
}

// row draws one server.
func (d *Servers) row(i, width int, c serverColumns) string {
	l, s := d.Styles, d.servers[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.state(s)
	drawn := line.Cursor + line.Draw(style, glyph) + line.Blank(1) + line.Fill(line.Draw(l.Text, l.Cut(untrusted.Line(s.Name), c.name-1)), c.name)
	if c.figures == nil {
		word, _ = strings.CutPrefix(word, "needs ")
	}
	drawn += line.Fill(line.Draw(style, word), c.state)
	if c.figures == nil {
		if s.Tools > 0 {
			drawn += line.Draw(l.Muted, english.Count(s.Tools, "tool"))
		}
		return line.Fill(drawn, width)
	}
	for i, text := range d.figures(s) {
		figure := l.Muted
		if i == 4 {
			figure = l.Warning
		}
		drawn += line.Blank(c.figures[i]-draw.VisibleWidth(text)) + line.Draw(figure, text)
	}
	if c.from > 0 {
		drawn += line.Blank(3) + line.Draw(l.Faint, untrusted.Line(s.Source))
	}
	return line.Fill(drawn, width)
}

// figures returns a server's numbers of tools and tokens, of calls, their median
// latency, and the number of failures. Those that are zero are "".
func (d *Servers) figures(s plan.ServerStatus) [5]string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	figures := [5]string{number(s.Tools), "", number(s.Calls), "", number(s.Failures)}
	if tokens := d.tokens[s.Name]; tokens > 0 && s.Tools > 0 {
		figures[1] = wording.Tokens(tokens)
	}
	if s.Calls > 0 {
		figures[3] = wording.DoneIn(s.MedianMS)
	}
	return figures
}

// state returns the glyph, word and style for the state of a server.
func (d *Servers) state(s plan.ServerStatus) (glyph, word string, style lipgloss.Style) {
	l := d.Styles
	switch {
	case s.NeedsLogin && s.State == plan.ServerFailed:
		return l.Glyphs.Failed, "needs login", l.Warning
	case s.State == plan.ServerReady:
		return l.Glyphs.Done, "ready", l.Success
	case s.State == plan.ServerStarting:
		return l.Glyphs.Folded, "starting", l.Running
	case s.State == plan.ServerFailed:
		return l.Glyphs.Failed, "failed", l.Danger
	case s.State == plan.ServerWaiting:
		return l.Glyphs.Gate, "asks", l.Warning
	case s.Disabled != "":
		return l.Glyphs.Stopped, "disabled", l.Faint
	case s.Declined:
		return l.Glyphs.Stopped, "refused", l.Faint
	default:
		return l.Glyphs.Stopped, "stopped", l.Faint
	}
}

// foot describes the selected server and the effect of the last key.
func (d *Servers) foot(width int) []string {
	l, s := d.Styles, d.chosen()
	var lines []string
	if d.lastMessage() != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.lastMessage(), width))...)
	}
	if s == nil {
		return append(lines, l.Faint.Render("MCP servers bring tools that plans may use."))
	}
	doc := &draw.Document{Styles: l, Width: width}
	d.facts(doc, *s)
	return append(lines, doc.Whole()...)
}

// facts writes any problem with a server, what the plan needs of it, how it is
// reached and its figures.
func (d *Servers) facts(doc *draw.Document, s plan.ServerStatus) {
	l := d.Styles
	loggingIn := d.login.Server == s.Name && d.login.Address != ""
	if loggingIn {
		doc.Field("log in", l.Warning, "in the browser that opens. If none does, open the address, which is sent to the clipboard:")
		doc.Prose(l.Text, d.login.Address.Visible())
	}
	switch {
	case s.State == plan.ServerWaiting:
		doc.Field("asks", l.Warning, "defined by the project: it starts after your yes")
	case loggingIn && s.NeedsLogin: // the address says it, and takes the room
	case s.Note != "" && s.State == plan.ServerReady:
		doc.Field("note", l.Warning, s.Note.Visible())
	case s.Error != "" && s.State == plan.ServerStarting:
		doc.Field("lost", l.Warning, s.Error.Visible())
	case s.Note != "":
		doc.Field("why", l.Muted, s.Note.Visible())
	case s.Error != "":
		doc.Field("why", l.Danger, s.Error.Visible())
	}
	if s.Doing != "" {
		doc.Field("says", l.Running, s.Doing.Visible())
	}
	if steps := wording.StepsUsing(d.runs.Shown().State, s.Name, wording.LostServers(d.servers)); len(steps) > 0 {
		if wording.IsLost(s) {
			doc.Field("plan", l.Warning, wording.LostTools(steps))
		} else {
			doc.Field("plan", l.Text, wording.StepList(steps)+" still "+english.Agree(len(steps), "needs", "need")+" it")
		}
	}
	if words := wording.ServerCalls(s); words != "" {
		doc.Field("calls", l.Text, words)
	}
	if address := wording.ServerAddress(s); address != "" {
		doc.Field(s.Transport, l.Text, address)
	}
	if s.Source != "" {
		words := []string{s.Source}
		if s.StartMS > 0 {
			words = append(words, "started in "+wording.DoneIn(s.StartMS))
		}
		if s.Protocol != "" && s.Transport != "built-in" {
			words = append(words, "protocol "+untrusted.Line(s.Protocol))
		}
		doc.Field("from", l.Muted, strings.Join(words, " "+l.Glyphs.Separator+" "))
	}
	if words := wording.LeftOut(s); words != "" {
		doc.Field("without", l.Muted, words)
	}
	if s.LastError != "" && s.LastError != s.Error {
		doc.Field("earlier", l.Muted, s.LastError.Visible())
	}
	if s.Log != "" {
		doc.Field("log", l.Muted, untrusted.Line(s.Log))
	}
}
