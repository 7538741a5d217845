package input

import (
	"strings"

	"replan/tui/draw"
	"replan/tui/keymap"
)

// list returns the list above the input that takes the keys, nil for none.
func (p *Pane) list() *draw.List {
	switch {
	case p.Covered || !p.Focused || p.height == 0:
		return nil
	case p.history.opened():
		return &p.history.List
	case p.completer.shown(p.Text()):
		return &p.completer.List
	default:
		return nil
	}
}

// Listing reports whether a list above the input takes the keys.
func (p *Pane) Listing() bool { return p.list() != nil }

// searching reports whether keys type into the history search.
func (p *Pane) searching() bool { return p.list() == &p.history.List }

// Mode returns the list above the input. The history search reads every key without
// an action as text; completions leave them to the input.
func (p *Pane) Mode() keymap.Mode {
	switch {
	case !p.Listing():
		return keymap.Mode{}
	case p.searching():
		return keymap.Mode{Actions: historyActions().For(p).With(p.history.erasing()), Type: p.Update}
	}
	return keymap.Mode{Actions: listActions().For(p)}
}

// listActions are the actions of the completions above the input.
func listActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "list.take", Keys: "tab", Does: "insert the chosen entry", Do: (*Pane).takeCompletion},
		{ID: "chat.send", When: func(p *Pane) bool { return p.completer.takesEnter() }, Do: (*Pane).takeCompletion},
		{ID: "list.up", Do: func(p *Pane) keymap.Requests { return p.stepCompletion(-1) }},
		{ID: "list.down", Do: func(p *Pane) keymap.Requests { return p.stepCompletion(1) }},
		{ID: "move.page_up", Do: func(p *Pane) keymap.Requests { return p.stepCompletion(-p.completer.Page()) }},
		{ID: "move.page_down", Do: func(p *Pane) keymap.Requests { return p.stepCompletion(p.completer.Page()) }},
		{ID: "dialog.leave", Do: keymap.Calls(func(p *Pane) { p.completer.dismiss() })},
	}
}

// historyActions are the actions of the history search.
func historyActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "list.take", Do: (*Pane).takeFound},
		{ID: "chat.send", Do: (*Pane).takeFound},
		{ID: "list.up", Do: keymap.Calls(func(p *Pane) { p.history.step(-1) })},
		{ID: "list.down", Do: keymap.Calls(func(p *Pane) { p.history.step(1) })},
		{ID: "chat.history", Do: keymap.Calls(func(p *Pane) { p.history.step(1) })},
		{ID: "move.page_up", Do: keymap.Calls(func(p *Pane) { p.history.step(-p.history.Page()) })},
		{ID: "move.page_down", Do: keymap.Calls(func(p *Pane) { p.history.step(p.history.Page()) })},
		{ID: "dialog.leave", Do: keymap.Calls(func(p *Pane) { p.history.leave() })},
	}
}

// ListLines returns the keys and words of the actions of the list above the input.
func ListLines() keymap.Lines { return listActions().Lines() }

// ListOver draws the list above the input, if any, over the last of the given
// lines, which are width cells wide.
func (p *Pane) ListOver(lines []string, width int) []string {
	drawn := p.ListLines(len(lines), width, width)
	copy(lines[len(lines)-len(drawn):], drawn)
	return lines
}

// ListLines draws the list above the input for the last of height lines, or else the form of
// the command that is typed. It is as wide as its rows need: at least width cells, at most
// the most.
func (p *Pane) ListLines(height, width, most int) []string {
	l := p.list()
	p.listWidth = 0
	switch {
	case l == nil && p.Focused && !p.Covered && height > 1:
		return p.completer.form(p.Text(), width)
	case l == nil:
		return nil
	}
	var drawn []string
	if p.listWidth = width; p.searching() {
		drawn = p.history.draw(width, height)
	} else {
		drawn = p.withPreview(width, height, most)
	}
	l.DrawnAt(height - len(drawn) + 1) // below the title
	return drawn
}

// ListWidth returns the width of the list above the input in cells, as it was drawn; 0 for none.
func (p *Pane) ListWidth() int { return p.listWidth }

// ClickList takes the row at a line of the area that the list was drawn over. It
// reports whether there is a row.
func (p *Pane) ClickList(line int) (w keymap.Requests, taken bool) {
	l := p.list()
	if l == nil || !l.Clicked(line, l.Count) {
		return nil, false
	}
	if p.searching() {
		return p.takeFound(), true
	}
	return p.takeCompletion(), true
}

// WheelList moves the selection by rows if the pointer is on a row of the list,
// and reports whether it is.
func (p *Pane) WheelList(line, rows int) bool {
	l := p.list()
	if l == nil || line < l.FirstLine() {
		return false
	}
	l.Move(rows, l.Count)
	return true
}

// suggest updates the completions after a change of the text.
func (p *Pane) suggest() keymap.Requests {
	w := p.completer.update(p.split())
	return append(w, p.preview()...)
}

// stepCompletion selects another completion.
func (p *Pane) stepCompletion(by int) keymap.Requests {
	p.completer.step(by)
	return p.preview()
}

// suggestAgain updates the completions if new ones have arrived for the text.
func (p *Pane) suggestAgain() keymap.Requests {
	if !p.completer.outdated(p.Text()) {
		return nil
	}
	return p.suggest()
}

// takeCompletion replaces the typed part with the selected row. After a folder
// or a command with arguments, completion continues.
func (p *Pane) takeCompletion() keymap.Requests {
	if !p.completer.hasChosen() {
		return nil
	}
	before, after := p.split()
	p.setSplit(p.completer.accept(before, after), after)
	return p.suggest()
}

// takeFound ends the history search and puts the selected text into the input.
func (p *Pane) takeFound() keymap.Requests {
	if text, ok := p.history.close(); ok {
		p.replace(text)
	}
	return nil
}

// searchHistory opens the history search. The text in the input is the initial
// query.
func (p *Pane) searchHistory() {
	query := ""
	if text := p.Text(); !strings.Contains(text, "\n") && !p.hasPaste() {
		query = strings.TrimSpace(text)
	}
	here, elsewhere := p.earlier()
	p.history.start(here, elsewhere, query)
}

// noHistory returns why there is no history to search.
func (p *Pane) noHistory() string {
	if here, elsewhere := p.earlier(); len(here)+len(elsewhere) == 0 {
		return "Nothing was sent yet."
	}
	return ""
}
