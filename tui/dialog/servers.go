package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// Servers lists the tool servers with their states, and shows the tools of the
// selected one.
type Servers struct {
	list
	servers []plan.ServerStatus
	tools   []session.OfferedTool
	known   bool   // offers have arrived
	whole   bool   // show the selected server with its tools
	offers  scroll // the selected server with its tools

	login session.LoginProgress // under way; no Server means none
}

// NewServers returns the dialog, closed.
func NewServers(l *draw.Look, k *keymap.Map) *Servers { return &Servers{list: newList(l, k)} }

// Open opens the dialog with the known states and requests the servers' offers.
func (d *Servers) Open(s session.Status) keymap.Query {
	login := d.login
	*d = *NewServers(d.Look, d.Keys)
	d.shown, d.servers, d.login = true, s.Servers, login
	return keymap.QueryServers
}

// Update handles the mouse and the servers' offers.
func (d *Servers) Update(msg tea.Msg) keymap.Request {
	switch msg := msg.(type) {
	case keymap.AnswerMsg[session.Servers]:
		d.tools, d.known = msg.Value.Tools, true
		d.Changed(msg.Value.Servers)
		return keymap.Request{}
	case tea.MouseWheelMsg:
		if d.whole {
			d.offers.by(draw.WheelLines(tea.Mouse(msg)))
			return keymap.Request{}
		}
	case tea.MouseClickMsg:
		if d.whole {
			return keymap.Request{}
		}
	}
	return d.update(msg, d)
}

// Retheme discards the drawing in the previous theme.
func (d *Servers) Retheme() { d.offers.doc = nil }

// Changed stores the current states and reports whether the offers may have changed.
func (d *Servers) Changed(now []plan.ServerStatus) (changed bool) {
	changed = !slices.EqualFunc(d.servers, now, func(a, b plan.ServerStatus) bool {
		return a.Name == b.Name && a.State == b.State && a.Tools == b.Tools
	})
	if changed {
		d.message = "" // the state says it better
	}
	d.servers, d.offers.doc = now, nil
	d.Move(0, len(now))
	return changed
}

// chosen returns the selected server, or nil if there is none.
func (d *Servers) chosen() *plan.ServerStatus {
	if d.At >= len(d.servers) {
		return nil
	}
	return &d.servers[d.At]
}

// Actions returns the actions of the dialog.
func (d *Servers) Actions() keymap.Handlers {
	hs := d.closing("servers")
	s := d.chosen()
	if d.whole {
		back := keymap.Handler{Do: keymap.Just(func() { d.whole = false })}
		hs["dialog.leave"], hs["models.think_less"] = back, back
	}
	if s == nil {
		return hs.First(d.nextKey)
	}
	hs["servers.restart"] = keymap.Handler{Do: func() keymap.Request { return d.restart(s) }}
	if s.URL != "" {
		hs["servers.login"] = keymap.Handler{Do: func() keymap.Request { return d.logIn(s) }}
	}
	if d.whole {
		return hs.With(d.offers.keys()).First(d.nextKey)
	}
	whole := keymap.Handler{Do: keymap.Just(func() {
		d.whole = true
		d.offers.reset()
	})}
	hs["plan.open"], hs["models.think_more"] = whole, whole
	if s.State == plan.ServerWaiting {
		hs["plan.open"] = keymap.Handler{Do: func() keymap.Request {
			d.shown = false
			return keymap.Request{Gate: true}
		}}
	}
	return hs.With(d.Moving(false, len(d.servers))).First(d.nextKey)
}

// restart requests a restart of a server.
func (d *Servers) restart(s *plan.ServerStatus) keymap.Request {
	if s.State == plan.ServerWaiting {
		d.message = "It waits for your approval: " + d.Keys.Open.Help().Key + " shows the question."
		return keymap.Request{}
	}
	if s.Declined {
		d.message = "You said no to it; the question opens again."
		return keymap.SendCommands(session.Restart{Server: s.Name})
	}
	if s.State == plan.ServerStopped {
		d.message = untrusted.Line(s.Name) + " does not start: " + s.Error.Visible() + "."
		return keymap.Request{}
	}
	d.message = "Starting " + untrusted.Line(s.Name) + " anew" + d.Look.Glyphs.Ellipsis
	return keymap.SendCommands(session.Restart{Server: s.Name})
}

// logIn requests a login to a server, or cancels the one to it that is under way.
func (d *Servers) logIn(s *plan.ServerStatus) keymap.Request {
	if d.login.Server == s.Name {
		d.message = "The login is cancelled."
		return keymap.SendCommands(session.CancelLogin{})
	}
	d.message = "Asking " + untrusted.Line(s.Name) + " where to log in" + d.Look.Glyphs.Ellipsis
	return keymap.SendCommands(session.Login{Server: s.Name})
}

// LoggedIn shows the progress of a login.
func (d *Servers) LoggedIn(p session.LoginProgress) {
	d.login, d.offers.doc = p, nil
	switch {
	case p.Problem != "":
		d.message = p.Problem.Line()
	case p.Address != "" || p.Ended && !p.Cancelled:
		d.message = ""
	}
	if p.Ended {
		d.login = session.LoginProgress{}
	}
}

// Hints lists the keys that are active now.
func (d *Servers) Hints() []keymap.Hint {
	leave := d.Keys.Hint("close", "dialog.leave")
	s := d.chosen()
	switch {
	case s == nil:
		return []keymap.Hint{leave}
	case d.login.Server == s.Name:
		return []keymap.Hint{d.Keys.Hint("cancel the login", "servers.login"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
	case s.NeedsLogin && !d.whole:
		return []keymap.Hint{d.Keys.Hint("log in", "servers.login"), d.Keys.Hint("its tools", "plan.open"), d.Keys.Hint("restart", "servers.restart"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
	case d.whole:
		return []keymap.Hint{d.Keys.Hint("list", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"), d.Keys.Hint("restart", "servers.restart")}
	case s.State == plan.ServerWaiting:
		return []keymap.Hint{d.Keys.Hint("answer", "plan.open"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
	}
	return []keymap.Hint{d.Keys.Hint("its tools", "plan.open"), d.Keys.Hint("restart", "servers.restart"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
}

// View draws the dialog in the middle of the screen.
func (d *Servers) View(size draw.Rect) []string {
	const widest = 110
	width, inner := d.width(size, widest)
	if d.whole && d.chosen() != nil {
		return d.drawWhole(size, width)
	}
	l := d.Look
	foot := d.foot(inner)
	return d.view(size, listView{
		title: l.Strong.Render("Tool servers"), width: width, count: len(d.servers), each: 1,
		row:   func(i int) []string { return []string{d.row(i, inner)} },
		empty: draw.Paint(l.Faint, draw.Wrap("There are no tool servers: add one with replan mcp add, or those of another program with replan mcp import.", inner)),
		foot:  foot[:min(len(foot), max(size.H/3, 1))],
	})
}

// row draws one server.
func (d *Servers) row(i, width int) string {
	l, s := d.Look, d.servers[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.state(s)
	const from = 20 // cells
	state, tools, offers := 12, 9, d.offered(s)
	if width >= 68 {
		tools = 23
	} else {
		state = 10
		word, _ = strings.CutPrefix(word, "needs ")
		offers, _, _ = strings.Cut(offers, ",")
	}
	name := min(max(width-state-tools-from-10, 14), 30)
	drawn := line.Cursor + line.Draw(style, glyph) + line.Blank(1) + line.Fill(line.Draw(l.Text, l.Cut(untrusted.Line(s.Name), name-1)), name)
	drawn += line.Fill(line.Draw(style, word), state)
	drawn += line.Fill(line.Draw(l.Muted, offers), tools)
	if width-draw.VisibleWidth(drawn) >= from {
		drawn += line.Fill(line.Draw(l.Faint, untrusted.Line(s.Source)), from)
	}
	if s.StartMS > 0 && width-draw.VisibleWidth(drawn) >= 8 {
		drawn += line.Draw(l.Faint, telling.Milliseconds(s.StartMS))
	}
	return line.Fill(drawn, width)
}

// offered says how many tools a server offers and what they cost, if that is
// known: "41 tools, 6.2k tokens".
func (d *Servers) offered(s plan.ServerStatus) string {
	if s.Tools == 0 {
		return ""
	}
	tokens := 0
	for _, t := range d.tools {
		if t.Server == s.Name {
			tokens += t.Tokens
		}
	}
	words := english.Count(s.Tools, "tool")
	if tokens > 0 {
		words += ", " + telling.Tokens(tokens) + " tokens"
	}
	return words
}

// state returns the glyph, word and style for the state of a server.
func (d *Servers) state(s plan.ServerStatus) (glyph, word string, style lipgloss.Style) {
	l := d.Look
	if s.NeedsLogin && s.State == plan.ServerFailed {
		return l.Glyphs.Failed, "needs login", l.Warning
	}
	switch s.State {
	case plan.ServerReady:
		return l.Glyphs.Done, "ready", l.Success
	case plan.ServerStarting:
		return l.Glyphs.Folded, "starting", l.Running
	case plan.ServerFailed:
		return l.Glyphs.Failed, "failed", l.Danger
	case plan.ServerWaiting:
		return l.Glyphs.Gate, "asks", l.Warning
	default:
		return l.Glyphs.Stopped, "stopped", l.Faint
	}
}

// foot describes the selected server and the effect of the last key.
func (d *Servers) foot(width int) []string {
	l, s := d.Look, d.chosen()
	var lines []string
	if d.message != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.message, width))...)
	}
	if s == nil {
		return append(lines, l.Faint.Render("MCP servers bring tools that plans may use."))
	}
	doc := &draw.Document{Look: l, Width: width}
	d.facts(doc, *s)
	return append(lines, doc.Whole()...)
}

// facts writes how a server is reached and any problem with it.
func (d *Servers) facts(doc *draw.Document, s plan.ServerStatus) {
	l := d.Look
	if d.login.Server == s.Name && d.login.Address != "" {
		doc.Field("log in", l.Warning, "in the browser that opens. If none does, open the address, which is sent to the clipboard:")
		doc.Prose(l.Text, d.login.Address.Visible())
	}
	switch {
	case s.State == plan.ServerWaiting:
		doc.Field("asks", l.Warning, "defined by the project: it starts after your yes")
	case s.Error != "" && s.State == plan.ServerReady:
		doc.Field("note", l.Warning, s.Error.Visible())
	case s.Error != "" && s.State == plan.ServerStarting:
		doc.Field("lost", l.Warning, s.Error.Visible())
	case s.Error != "":
		doc.Field("why", l.Danger, s.Error.Visible())
	}
	if s.Doing != "" {
		doc.Field("says", l.Running, s.Doing.Visible())
	}
	if address := telling.ServerAddress(s); address != "" {
		doc.Field(s.Transport, l.Text, address)
	}
	if s.Source != "" {
		words := s.Source
		if s.StartMS > 0 {
			words += " " + l.Glyphs.Separator + " started in " + telling.Milliseconds(s.StartMS)
		}
		doc.Field("from", l.Muted, words)
	}
	if s.LastError != "" && s.LastError != s.Error {
		doc.Field("earlier", l.Muted, s.LastError.Visible())
	}
	if s.Log != "" {
		doc.Field("log", l.Muted, untrusted.Line(s.Log))
	}
}

// drawWhole draws the selected server with all its offers.
func (d *Servers) drawWhole(size draw.Rect, width int) []string {
	l, s := d.Look, *d.chosen()
	d.offers.render(l, width-4, func(doc *draw.Document) { d.write(doc, s) })
	room := size.H - 2
	if d.message != "" {
		room -= 2
	}
	glyph, word, style := d.state(s)
	title := style.Render(glyph) + " " + l.Strong.Render(untrusted.Line(s.Name)) + l.Muted.Render(" "+l.Glyphs.Separator+" "+word)
	lines, note := d.offers.visible(room)
	sections := []draw.Section{d.section(title, note, lines)}
	if d.message != "" {
		sections = append(sections, d.section("", "", []string{l.Fit(l.Warning.Render(l.Cut(d.message, width-4)), width-4)}))
	}
	return d.middle(size, width, sections...)
}

// write writes a server with all its offers.
func (d *Servers) write(doc *draw.Document, s plan.ServerStatus) {
	l := d.Look
	d.facts(doc, s)
	if !d.known {
		doc.Prose(l.Faint, "Asking for its tools"+l.Glyphs.Ellipsis)
		return
	}
	var tools []session.OfferedTool
	for _, t := range d.tools {
		if t.Server == s.Name {
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 {
		doc.Prose(l.Faint, "It offers no tools.")
		return
	}
	s.Tools = len(tools)
	doc.Heading(d.offered(s))
	for _, t := range tools {
		d.tool(doc, t)
	}
}

// tool writes a tool's permissions, the rules that apply to it, and its own
// description.
func (d *Servers) tool(doc *draw.Document, t session.OfferedTool) {
	l := d.Look
	effect, style := "changes things", l.Warning
	switch {
	case t.ReadOnly:
		effect, style = "only reads", l.Success
	case t.Destructive:
		effect, style = "may destroy", l.Danger
	}
	verdict := map[rule.Verdict]string{
		rule.VerdictRun: "runs", rule.VerdictAsk: l.Glyphs.Gate + " asks", rule.VerdictBlock: l.Glyphs.Failed + " denied", "": "depends on its arguments",
	}[t.Verdict]
	between := l.Faint.Render(" " + l.Glyphs.Separator + " ")
	head := l.Strong.Render(untrusted.Line(t.Name)) + between + style.Render(effect) + between + l.Muted.Render(verdict)
	doc.Lines = append(doc.Lines, l.Cut(head, doc.Width))
	if description := strings.TrimSpace(t.Description.FirstLine()); description != "" {
		doc.Item("  ", l.Faint, description)
	}
}
