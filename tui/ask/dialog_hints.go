package ask

import "replan/tui/keymap"

// Hints returns the keys of the dialog for the footer.
func (g *Dialog) Hints() []keymap.Hint {
	arrows := g.keys.Hint("scroll", "move.up", "move.down")
	switch {
	case g.editor.on():
		hints := []keymap.Hint{g.keys.Hint(g.current().resends(), "question.send"), g.keys.Hint("next field", "question.next_field"), g.keys.Hint("discard", "dialog.leave"), g.keys.Hint("undo", "question.undo_edit")}
		if g.noFile() == "" {
			hints = append(hints, g.keys.Hint("file in editor", "gate.editor"))
		}
		return hints
	case g.refusal.on():
		return []keymap.Hint{g.keys.Hint("deny", "gate.refuse"), g.keys.Hint("back", "dialog.leave")}
	case g.confirm != nil:
		return append(g.confirm.hints(g.keys), arrows)
	}
	hints := []keymap.Hint{arrows}
	if g.noDetails() == "" {
		does := "why"
		if g.reading.detailed() {
			does = "less"
		}
		hints = append(hints, g.keys.Hint(does, "gate.details"))
	}
	if g.noFile() == "" {
		hints = append(hints, g.keys.Hint("editor", "gate.editor"))
	}
	if g.queue.count() > 1 {
		hints = append(hints, g.keys.Hint("next", "gate.next"))
	}
	if g.queue.picks() {
		hints = append(hints, g.keys.Hint("leave out", "gate.leave_out"))
	}
	leave := "look around"
	if g.reading.detailed() {
		leave = "back"
	}
	hints = append(hints, g.keys.Hint(leave, "dialog.leave"))
	scrolls := g.reading.lines() > g.reading.inView()
	if scrolls && severalFiles(g) {
		hints = append(hints, g.keys.Hint("file", "gate.previous_file", "gate.next_file"))
	}
	if scrolls && severalHunks(g) {
		hints = append(hints, g.keys.Hint("change", "gate.previous_hunk", "gate.next_hunk"))
	}
	if g.noSides() == "" {
		hints = append(hints, g.keys.Hint("diff", "gate.sides"))
	}
	return append(hints, g.keys.Hint("rules", "gate.allowed"), g.keys.Hint("quit", "quit"))
}
