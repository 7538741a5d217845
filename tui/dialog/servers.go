package dialog

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent/rule"
	"replan/agent/runner"
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
	Look *draw.Look
	Keys *keymap.Map
	Open bool
	draw.List
	word    string
	servers []plan.ServerStatus
	tools   []session.OfferedTool
	known   bool // offers have arrived
	whole   bool // show the selected server with its tools
	Doc     *draw.Document
	line    int // first visible line of the document
	body    int // visible lines of the document
}

// Ask opens the dialog with the known states and requests the servers' offers.
func (d *Servers) Ask(s session.Status) keymap.Query {
	*d = Servers{Look: d.Look, Keys: d.Keys, Open: true, servers: s.Servers}
	return keymap.QueryServers
}

// Take stores the servers' offers.
func (d *Servers) Take(s session.Servers) {
	d.tools, d.known = s.Tools, true
	d.Stand(s.Servers)
}

// Stand stores the current states and reports whether the offers may have changed.
func (d *Servers) Stand(now []plan.ServerStatus) (changed bool) {
	changed = !slices.EqualFunc(d.servers, now, func(a, b plan.ServerStatus) bool {
		return a.Name == b.Name && a.State == b.State && a.Tools == b.Tools
	})
	d.servers, d.Doc = now, nil
	d.Move(0, len(now))
	return changed
}

// Shown reports whether the dialog is open.
func (d *Servers) Shown() bool { return d.Open }

// chosen returns the selected server, or nil if there is none.
func (d *Servers) chosen() *plan.ServerStatus {
	if d.At >= len(d.servers) {
		return nil
	}
	return &d.servers[d.At]
}

// Forget clears messages from the session.
func (d *Servers) Forget() { d.word = "" }

// Handlers returns the actions of the dialog.
func (d *Servers) Handlers() keymap.Handlers {
	shut := func() { d.Open = false }
	hs := keymap.Handlers{"dialog.leave": {Do: keymap.Just(shut)}, "servers": {Do: keymap.Just(shut)}}
	s := d.chosen()
	if d.whole {
		back := keymap.Handler{Do: keymap.Just(func() { d.whole = false })}
		hs["dialog.leave"], hs["models.think_less"] = back, back
	}
	if s == nil {
		return hs
	}
	hs["servers.restart"] = keymap.Handler{Do: func() keymap.Wanted { return d.restart(s) }}
	if d.whole {
		return hs.With(keymap.Scrolling(d.body, func(lines int) { d.line += lines }))
	}
	whole := func() { d.whole, d.line, d.Doc = true, 0, nil }
	hs["plan.open"], hs["models.think_more"] = keymap.Handler{Do: keymap.Just(whole)}, keymap.Handler{Do: keymap.Just(whole)}
	if s.State == plan.ServerWaiting {
		hs["plan.open"] = keymap.Handler{Do: func() keymap.Wanted {
			d.Open = false
			return keymap.Wanted{Gate: true}
		}}
	}
	return hs.With(d.Moving(false, len(d.servers)))
}

// restart requests a restart of a server.
func (d *Servers) restart(s *plan.ServerStatus) keymap.Wanted {
	if s.State == plan.ServerWaiting {
		d.word = "It waits for a yes: " + d.Keys.Open.Help().Key + " leads to the question."
		return keymap.Wanted{}
	}
	d.word = "Starting " + untrusted.Line(s.Name) + " anew" + d.Look.Glyphs.Ellipsis
	return keymap.Sending(runner.Restart{Server: s.Name})
}

// Hints lists the keys that are active now.
func (d *Servers) Hints() []keymap.Hint {
	leave := d.Keys.Hint("close", "dialog.leave")
	s := d.chosen()
	switch {
	case s == nil:
		return []keymap.Hint{leave}
	case d.whole:
		return []keymap.Hint{d.Keys.Hint("list", "dialog.leave"), d.Keys.Hint("scroll", "move.up", "move.down"), d.Keys.Hint("start anew", "servers.restart")}
	case s.State == plan.ServerWaiting:
		return []keymap.Hint{d.Keys.Hint("answer", "plan.open"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
	}
	return []keymap.Hint{d.Keys.Hint("its tools", "plan.open"), d.Keys.Hint("start anew", "servers.restart"), leave, d.Keys.Hint("choose", "move.up", "move.down")}
}

// Clicked handles a mouse click.
func (d *Servers) Clicked(y int) {
	if !d.whole {
		d.List.Clicked(y, len(d.servers))
	}
}

// Wheeled handles a turn of the mouse wheel.
func (d *Servers) Wheeled(lines int) {
	if d.whole {
		d.line += lines
		return
	}
	d.Move(lines/draw.WheelStep, len(d.servers))
}

// Draw draws the dialog centered in exactly height lines of screenWidth cells.
func (d *Servers) Draw(screenWidth, height int) []string {
	const widest = 110
	width := min(screenWidth, widest)
	if d.whole && d.chosen() != nil {
		return d.drawWhole(width, screenWidth, height)
	}
	l, inner := d.Look, width-4
	var lines []string
	note := ""
	foot := d.foot(inner)
	foot = foot[:min(len(foot), max(height/3, 1))]
	room := max(height-3-len(foot), 1)
	if len(d.servers) == 0 {
		lines = draw.Paint(l.Faint, draw.Wrap("There are no tool servers: .mcp.json in this folder, or mcp.json beside the configuration, names some.", inner))
	} else {
		end := d.Window(len(d.servers), room, 1)
		for i := d.Top; i < end; i++ {
			lines = append(lines, d.row(i, inner))
		}
		note = l.Span(d.Top, end, len(d.servers))
	}
	lines = lines[:min(len(lines), room)]
	for i, line := range foot {
		foot[i] = l.Fit(line, inner)
	}
	framed := l.Frame(width, l.Focus,
		draw.Section{Title: l.Strong.Render("Tool servers"), Note: note, Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus},
		draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 1 // below the border
	return l.Middle(framed, width, screenWidth, height)
}

// row draws one server.
func (d *Servers) row(i, width int) string {
	l, s := d.Look, d.servers[i]
	line := l.Line(i == d.At, true)
	glyph, word, style := d.state(s)
	const state, tools, from = 10, 9, 20 // cells
	name := min(max(width-state-tools-from-10, 14), 30)
	drawn := line.Cursor + line.Draw(style, glyph) + line.Blank(1) + line.Fill(line.Draw(l.Text, l.Cut(untrusted.Line(s.Name), name-1)), name)
	drawn += line.Fill(line.Draw(style, word), state)
	offers := ""
	if s.Tools > 0 {
		offers = english.Count(s.Tools, "tool")
	}
	drawn += line.Fill(line.Draw(l.Muted, offers), tools)
	if width-draw.VisibleWidth(drawn) >= from {
		drawn += line.Fill(line.Draw(l.Faint, untrusted.Line(s.Source)), from)
	}
	if s.StartMS > 0 && width-draw.VisibleWidth(drawn) >= 8 {
		drawn += line.Draw(l.Faint, telling.Milliseconds(s.StartMS))
	}
	return line.Fill(drawn, width)
}

// state returns the glyph, word and style for the state of a server.
func (d *Servers) state(s plan.ServerStatus) (glyph, word string, style lipgloss.Style) {
	l := d.Look
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
	if d.word != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.word, width))...)
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
	switch {
	case s.State == plan.ServerWaiting:
		doc.Field("asks", l.Warning, "the project brings it along: it starts after your yes")
	case s.Error != "" && s.State == plan.ServerReady:
		doc.Field("note", l.Warning, s.Error)
	case s.Error != "":
		doc.Field("why", l.Danger, s.Error)
	}
	if s.Reached != "" {
		doc.Field(s.Transport, l.Text, s.Reached)
	}
	if s.Source != "" {
		words := s.Source
		if s.StartMS > 0 {
			words += " " + l.Glyphs.Separator + " started in " + telling.Milliseconds(s.StartMS)
		}
		doc.Field("from", l.Muted, words)
	}
	if s.LastError != "" && s.LastError != s.Error {
		doc.Field("earlier", l.Muted, s.LastError)
	}
}

// drawWhole draws the selected server with all its offers.
func (d *Servers) drawWhole(width, screenWidth, height int) []string {
	l, s := d.Look, *d.chosen()
	if d.Doc == nil || d.Doc.Width != width-4 {
		d.Doc = &draw.Document{Look: l, Width: width - 4}
		d.write(d.Doc, s)
	}
	room := height - 2
	var foot []string
	if d.word != "" {
		foot = []string{l.Fit(l.Warning.Render(l.Cut(d.word, width-4)), width-4)}
		room -= 2
	}
	d.body = max(min(len(d.Doc.Lines), room), 1)
	glyph, word, style := d.state(s)
	title := style.Render(glyph) + " " + l.Strong.Render(untrusted.Line(s.Name)) + l.Muted.Render(" "+l.Glyphs.Separator+" "+word)
	sections := []draw.Section{{Title: title, Lines: draw.Padded(d.Doc.Rows(&d.line, d.body)), Note: d.Doc.Place(d.line, d.body), Style: l.Focus}}
	if len(foot) > 0 {
		sections = append(sections, draw.Section{Lines: draw.Padded(foot), Style: l.Focus})
	}
	return l.Middle(l.Frame(width, l.Focus, sections...), width, screenWidth, height)
}

// write writes a server with all its offers.
func (d *Servers) write(doc *draw.Document, s plan.ServerStatus) {
	l := d.Look
	d.facts(doc, s)
	if !d.known {
		doc.Prose(l.Faint, "Asking what it offers"+l.Glyphs.Ellipsis)
		return
	}
	var tools []session.OfferedTool
	for _, t := range d.tools {
		if t.Server == s.Name {
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 {
		doc.Prose(l.Faint, "It offers no tools now.")
		return
	}
	doc.Heading(english.Count(len(tools), "tool"))
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
	if says := strings.TrimSpace(untrusted.FirstLine(t.Description)); says != "" {
		for _, line := range draw.Wrap(says, max(doc.Width-2, 1)) {
			doc.Lines = append(doc.Lines, "  "+l.Faint.Render(line))
		}
	}
}
