package dialog

import (
	tea "charm.land/bubbletea/v2"

	"replan/planning/plan"
	"replan/tui/draw"
)

// pageMouse scrolls the page of a server.
func (d *Servers) pageMouse(msg tea.Msg) {
	wheel, ok := msg.(tea.MouseWheelMsg)
	if !ok {
		return
	}
	lines := draw.WheelLines(tea.Mouse(wheel))
	switch d.page {
	case logPage:
		d.log.by(lines)
	case detailsPage:
		d.details.by(lines)
	}
}

// drawPage draws the page of a server, or the tools of all servers.
func (d *Servers) drawPage(size draw.Rect, width int) []string {
	l, s := d.Styles, d.chosen()
	inner := width - 4
	var message []string
	if d.lastMessage() != "" {
		message = draw.Paint(l.Warning, draw.Wrap(d.lastMessage(), inner))
		message = message[:min(len(message), 3)]
	}
	if d.page == toolsPage {
		return d.offers.view(size, width, d.title(s, inner), d.noTools(s, inner), message)
	}
	room := size.H - 2
	if len(message) > 0 {
		room -= len(message) + 1
	}
	var lines []string
	note := ""
	if d.page == logPage {
		lines, note = d.log.visible(l, inner, max(room, 1))
	} else {
		d.details.render(l, inner, func(doc *draw.Document) { d.writeDetails(doc, *s) })
		lines, note = d.details.visible(max(room, 1))
	}
	sections := []draw.Section{d.section(d.title(s, inner), note, l.Block(lines, inner, len(lines)))}
	if len(message) > 0 {
		sections = append(sections, d.section("", "", l.Block(message, inner, len(message))))
	}
	return d.middle(size, width, sections...)
}

// writeDetails writes everything known about a server.
func (d *Servers) writeDetails(doc *draw.Document, s plan.ServerStatus) {
	d.facts(doc, s)
	if s.Instructions != "" {
		doc.Heading("how it wants to be used")
		doc.Prose(d.Styles.Muted, s.Instructions.Visible())
	}
}

// noTools explains an empty list of tools.
func (d *Servers) noTools(s *plan.ServerStatus, width int) []string {
	l := d.Styles
	doc := &draw.Document{Styles: l, Width: width}
	switch {
	case !d.known:
		doc.Prose(l.Faint, "Asking for the tools"+l.Glyphs.Ellipsis)
	case d.offers.query != "":
		doc.Prose(l.Faint, "No tool has the words "+d.offers.query+" in its name or description; "+d.Keys.Name("dialog.leave")+" shows all.")
	case d.offers.server == "" || s == nil:
		doc.Prose(l.Faint, "No server offers tools now.")
	case s.State == plan.ServerReady:
		doc.Prose(l.Faint, "It offers no tools.")
	default:
		d.facts(doc, *s)
	}
	return doc.Whole()
}
