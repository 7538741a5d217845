package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/untrusted"
)

// serversDialog lists the tool servers, how each stands, and what the chosen one
// offers.
type serversDialog struct {
	look *look
	keys *keyMap
	open bool
	list
	word    string
	servers []plan.ServerStatus
	tools   []session.OfferedTool
	known   bool // what they offer has been told
	whole   bool // the chosen one is shown with its tools
	doc     *document
	line    int // of the document at the top
	body    int // lines of it in view
}

// ask opens the dialog on what is known, and asks for what the servers offer.
func (d *serversDialog) ask(s session.Status) query {
	*d = serversDialog{look: d.look, keys: d.keys, open: true, servers: s.Servers}
	return queryServers
}

// take takes what they offer.
func (d *serversDialog) take(s session.Servers) {
	d.tools, d.known = s.Tools, true
	d.stand(s.Servers)
}

// stand takes how they stand now, and reports whether what they offer may be
// another than before.
func (d *serversDialog) stand(now []plan.ServerStatus) (changed bool) {
	changed = !slices.EqualFunc(d.servers, now, func(a, b plan.ServerStatus) bool {
		return a.Name == b.Name && a.State == b.State && a.Tools == b.Tools
	})
	d.servers, d.doc = now, nil
	d.move(0, len(now))
	return changed
}

func (d *serversDialog) shown() bool { return d.open }

// chosen is the server that is chosen, nil where there is none.
func (d *serversDialog) chosen() *plan.ServerStatus {
	if d.at >= len(d.servers) {
		return nil
	}
	return &d.servers[d.at]
}

func (d *serversDialog) forget() { d.word = "" }

// handlers are the actions of the dialog.
func (d *serversDialog) handlers() handlers {
	shut := func() { d.open = false }
	hs := handlers{"dialog.leave": {do: just(shut)}, "servers": {do: just(shut)}}
	s := d.chosen()
	if d.whole {
		back := handler{do: just(func() { d.whole = false })}
		hs["dialog.leave"], hs["models.think_less"] = back, back
	}
	if s == nil {
		return hs
	}
	hs["servers.restart"] = handler{do: func() wanted { return d.restart(s) }}
	if d.whole {
		return hs.with(scrolling(d.body, func(lines int) { d.line += lines }))
	}
	whole := func() { d.whole, d.line, d.doc = true, 0, nil }
	hs["plan.open"], hs["models.think_more"] = handler{do: just(whole)}, handler{do: just(whole)}
	if s.State == plan.ServerWaiting {
		hs["plan.open"] = handler{do: func() wanted {
			d.open = false
			return wanted{gate: true}
		}}
	}
	return hs.with(d.moving(false, len(d.servers)))
}

// restart has a server started anew.
func (d *serversDialog) restart(s *plan.ServerStatus) wanted {
	if s.State == plan.ServerWaiting {
		d.word = "It waits for a yes: " + d.keys.Open.Help().Key + " leads to the question."
		return wanted{}
	}
	d.word = "Starting " + untrusted.Line(s.Name) + " anew" + d.look.glyphs.Ellipsis
	return sending(runner.Restart{Server: s.Name})
}

func (d *serversDialog) hints() []hint {
	leave := d.keys.hint("close", "dialog.leave")
	s := d.chosen()
	switch {
	case s == nil:
		return []hint{leave}
	case d.whole:
		return []hint{d.keys.hint("list", "dialog.leave"), d.keys.hint("scroll", "move.up", "move.down"), d.keys.hint("start anew", "servers.restart")}
	case s.State == plan.ServerWaiting:
		return []hint{d.keys.hint("answer", "plan.open"), leave, d.keys.hint("choose", "move.up", "move.down")}
	}
	return []hint{d.keys.hint("its tools", "plan.open"), d.keys.hint("start anew", "servers.restart"), leave, d.keys.hint("choose", "move.up", "move.down")}
}

func (d *serversDialog) clicked(y int) {
	if !d.whole {
		d.list.clicked(y, len(d.servers))
	}
}

func (d *serversDialog) wheeled(lines int) {
	if d.whole {
		d.line += lines
		return
	}
	d.move(lines/wheelStep, len(d.servers))
}

// draw draws the dialog in the middle of exactly height lines of screenWidth
// cells.
func (d *serversDialog) draw(screenWidth, height int) []string {
	const widest = 110
	width := min(screenWidth, widest)
	if d.whole && d.chosen() != nil {
		return d.drawWhole(width, screenWidth, height)
	}
	l, inner := d.look, width-4
	var lines []string
	note := ""
	foot := d.foot(inner)
	foot = foot[:min(len(foot), max(height/3, 1))]
	room := max(height-3-len(foot), 1)
	if len(d.servers) == 0 {
		lines = paint(l.Faint, wrap("There are no tool servers: .mcp.json in this folder, or mcp.json beside the configuration, names some.", inner))
	} else {
		end := d.window(len(d.servers), room, 1)
		for i := d.top; i < end; i++ {
			lines = append(lines, d.row(i, inner))
		}
		note = l.span(d.top, end, len(d.servers))
	}
	lines = lines[:min(len(lines), room)]
	for i, line := range foot {
		foot[i] = l.fit(line, inner)
	}
	framed := l.frame(width, l.Focus,
		section{title: l.Strong.Render("Tool servers"), note: note, lines: padded(l.block(lines, inner, len(lines))), style: l.Focus},
		section{lines: padded(foot), style: l.Focus})
	d.first = max((height-len(framed))/2, 0) + 1 // under the border
	return l.middle(framed, width, screenWidth, height)
}

// row draws one server.
func (d *serversDialog) row(i, width int) string {
	l, s := d.look, d.servers[i]
	line := l.line(i == d.at, true)
	glyph, word, style := d.state(s)
	const state, tools, from = 10, 9, 20 // cells
	name := min(max(width-state-tools-from-10, 14), 30)
	drawn := line.cursor + line.draw(style, glyph) + line.blank(1) + line.fill(line.draw(l.Text, l.cut(untrusted.Line(s.Name), name-1)), name)
	drawn += line.fill(line.draw(style, word), state)
	offers := ""
	if s.Tools > 0 {
		offers = plural(s.Tools, "tool")
	}
	drawn += line.fill(line.draw(l.Muted, offers), tools)
	if width-visibleWidth(drawn) >= from {
		drawn += line.fill(line.draw(l.Faint, untrusted.Line(s.Source)), from)
	}
	if s.StartMS > 0 && width-visibleWidth(drawn) >= 8 {
		drawn += line.draw(l.Faint, milliseconds(s.StartMS))
	}
	return line.fill(drawn, width)
}

// state is how a server stands, in a sign and a word.
func (d *serversDialog) state(s plan.ServerStatus) (glyph, word string, style lipgloss.Style) {
	l := d.look
	switch s.State {
	case plan.ServerReady:
		return l.glyphs.Done, "ready", l.Success
	case plan.ServerStarting:
		return l.glyphs.Folded, "starting", l.Running
	case plan.ServerFailed:
		return l.glyphs.Failed, "failed", l.Danger
	case plan.ServerWaiting:
		return l.glyphs.Gate, "asks", l.Warning
	default:
		return l.glyphs.Stopped, "stopped", l.Faint
	}
}

// foot is what there is to say of the chosen one, and of the last key.
func (d *serversDialog) foot(width int) []string {
	l, s := d.look, d.chosen()
	var lines []string
	if d.word != "" {
		lines = append(lines, paint(l.Warning, wrap(d.word, width))...)
	}
	if s == nil {
		return append(lines, l.Faint.Render("MCP servers bring tools that plans may use."))
	}
	doc := &document{look: l, width: width}
	d.facts(doc, *s)
	return append(lines, doc.whole()...)
}

// facts writes how a server is reached and what is wrong with it.
func (d *serversDialog) facts(doc *document, s plan.ServerStatus) {
	l := d.look
	switch {
	case s.State == plan.ServerWaiting:
		doc.field("asks", l.Warning, "the project brings it along: it starts after your yes")
	case s.Error != "" && s.State == plan.ServerReady:
		doc.field("note", l.Warning, s.Error)
	case s.Error != "":
		doc.field("why", l.Danger, s.Error)
	}
	if s.Reached != "" {
		doc.field(s.Transport, l.Text, s.Reached)
	}
	if s.Source != "" {
		words := s.Source
		if s.StartMS > 0 {
			words += " " + l.glyphs.Separator + " started in " + milliseconds(s.StartMS)
		}
		doc.field("from", l.Muted, words)
	}
	if s.LastError != "" && s.LastError != s.Error {
		doc.field("earlier", l.Muted, s.LastError)
	}
}

// drawWhole draws the chosen server with all that it offers.
func (d *serversDialog) drawWhole(width, screenWidth, height int) []string {
	l, s := d.look, *d.chosen()
	if d.doc == nil || d.doc.width != width-4 {
		d.doc = &document{look: l, width: width - 4}
		d.write(d.doc, s)
	}
	room := height - 2
	var foot []string
	if d.word != "" {
		foot = []string{l.fit(l.Warning.Render(l.cut(d.word, width-4)), width-4)}
		room -= 2
	}
	d.body = max(min(len(d.doc.lines), room), 1)
	glyph, word, style := d.state(s)
	title := style.Render(glyph) + " " + l.Strong.Render(untrusted.Line(s.Name)) + l.Muted.Render(" "+l.glyphs.Separator+" "+word)
	sections := []section{{title: title, lines: padded(d.doc.rows(&d.line, d.body)), note: d.doc.place(d.line, d.body), style: l.Focus}}
	if len(foot) > 0 {
		sections = append(sections, section{lines: padded(foot), style: l.Focus})
	}
	return l.middle(l.frame(width, l.Focus, sections...), width, screenWidth, height)
}

// write writes a server with all that it offers.
func (d *serversDialog) write(doc *document, s plan.ServerStatus) {
	l := d.look
	d.facts(doc, s)
	if !d.known {
		doc.prose(l.Faint, "Asking what it offers"+l.glyphs.Ellipsis)
		return
	}
	var tools []session.OfferedTool
	for _, t := range d.tools {
		if t.Server == s.Name {
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 {
		doc.prose(l.Faint, "It offers no tools now.")
		return
	}
	doc.heading(plural(len(tools), "tool"))
	for _, t := range tools {
		d.tool(doc, t)
	}
}

// tool writes a tool: what it may do, what the rules say of it, and what it says
// of itself.
func (d *serversDialog) tool(doc *document, t session.OfferedTool) {
	l := d.look
	effect, style := "changes things", l.Warning
	switch {
	case t.ReadOnly:
		effect, style = "only reads", l.Success
	case t.Destructive:
		effect, style = "may destroy", l.Danger
	}
	verdict := map[rule.Verdict]string{
		rule.VerdictRun: "runs", rule.VerdictAsk: l.glyphs.Gate + " asks", rule.VerdictBlock: l.glyphs.Failed + " denied", "": "depends on its arguments",
	}[t.Verdict]
	between := l.Faint.Render(" " + l.glyphs.Separator + " ")
	head := l.Strong.Render(untrusted.Line(t.Name)) + between + style.Render(effect) + between + l.Muted.Render(verdict)
	doc.lines = append(doc.lines, l.cut(head, doc.width))
	if says := strings.TrimSpace(untrusted.FirstLine(t.Description)); says != "" {
		for _, line := range wrap(says, max(doc.width-2, 1)) {
			doc.lines = append(doc.lines, "  "+l.Faint.Render(line))
		}
	}
}

// openServers opens the list of servers.
func (m *Model) openServers() tea.Cmd { return m.outbox.ask(m.servers.ask(m.status)) }

// serversStand gives the open list how the servers stand now. Where that may have
// changed what they offer, that is asked for again.
func (m *Model) serversStand(now []plan.ServerStatus) {
	if m.servers.open && m.servers.stand(now) {
		m.stale = true
	}
}
