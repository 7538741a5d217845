package dialog

import "replan/tui/draw"

// commandLines lists the chat commands for the help dialog.
func (h *Help) commandLines(width int) []string {
	l := h.Look
	doc := &draw.Document{Look: l, Width: width}
	if len(h.Commands.Actions) == 0 {
		return nil
	}
	doc.Heading("Commands of the chat")
	column := 0
	for _, a := range h.Commands.Actions {
		column = max(column, draw.VisibleWidth(a.Key.Help().Key))
	}
	column = min(column, width/2)
	for _, a := range h.Commands.Actions {
		name := l.Cut(a.Key.Help().Key, column)
		for _, line := range draw.Wrap(a.Key.Help().Desc, max(width-column-4, 1)) {
			doc.Lines = append(doc.Lines, "  "+l.Key.Render(l.Fit(name, column))+"  "+line)
			name = ""
		}
	}
	return doc.Lines
}
