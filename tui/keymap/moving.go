package keymap

import "slices"

// mover is a pane that moves by lines.
type mover struct {
	height func() int // its visible lines
	move   func(lines int)
}

// far is more lines than a pane has.
const far = 1 << 20

// byLines are the actions of every pane that moves by lines. Some of their keys are letters.
func byLines() Table[mover] {
	return Table[mover]{
		{ID: "move.up", Keys: "up k", Shown: "up/k", Does: "up", Do: lines(-1)},
		{ID: "move.down", Keys: "down j", Shown: "down/j", Does: "down", Do: lines(1)},
		{ID: "move.first", Keys: "g home", Does: "first", Do: lines(-far)},
		{ID: "move.last", Keys: "G end", Does: "last", Do: lines(far)},
	}
}

// byPages are the actions of every pane that moves by pages.
func byPages() Table[mover] {
	return Table[mover]{
		{ID: "move.page_up", Keys: "pgup", Does: "page up", Do: page(-1)},
		{ID: "move.page_down", Keys: "pgdown", Shown: "pgdn", Does: "page down", Do: page(1)},
		{ID: "move.half_up", Keys: "ctrl+u", Does: "half a page up", Do: halfPage(-1)},
		{ID: "move.half_down", Keys: "ctrl+d", Does: "half a page down", Do: halfPage(1)},
	}
}

// onward are the actions of a pane that takes no text.
func onward() Table[mover] {
	return Table[mover]{
		{ID: "move.onward", Keys: "space", Does: "page down, unless you type", Do: page(1)},
	}
}

// wholePages are the actions by half a page of a pane that scrolls whole ones.
func wholePages() Table[mover] {
	return Table[mover]{
		{ID: "move.half_up", Do: page(-1)},
		{ID: "move.half_down", Do: page(1)},
	}
}

// MovingLines returns the keys and words of the actions that move a pane.
func MovingLines() Lines { return slices.Concat(byLines().Lines(), byPages().Lines()) }

// OnwardLines returns those of the actions that move a pane which takes no text.
func OnwardLines() Lines { return onward().Lines() }

// Moving returns handlers that move a pane by lines. height returns its visible
// lines.
func Moving(height func() int, move func(lines int)) Handlers {
	m := mover{height, move}
	return byLines().For(m).With(byPages().For(m))
}

// Scrolling returns handlers that scroll a pane of body visible lines. Half a page
// is a whole one.
func Scrolling(body int, move func(lines int)) Handlers {
	m := mover{func() int { return body }, move}
	return ScrollingPages(body, move).With(byLines().For(m), onward().For(m))
}

// ScrollingPages returns those of the handlers that act where letters are text.
func ScrollingPages(body int, move func(lines int)) Handlers {
	m := mover{func() int { return body }, move}
	return byPages().For(m).With(wholePages().For(m))
}

// lines makes an action that moves a pane by so many lines.
func lines(by int) func(mover) Requests {
	return Calls(func(m mover) { m.move(by) })
}

// page makes an action that moves a pane by so many pages. One line stays in view.
func page(by int) func(mover) Requests {
	return Calls(func(m mover) { m.move(by * m.page()) })
}

// halfPage makes an action that moves a pane by so many halves of a page.
func halfPage(by int) func(mover) Requests {
	return Calls(func(m mover) { m.move(by * max(m.page()/2, 1)) })
}

func (m mover) page() int { return max(m.height()-1, 1) }

// eraser is a search line in a place that accepts no other text.
type eraser struct {
	text string
	set  func(text string)
}

// searching are the actions that edit a search line.
func searching() Table[eraser] {
	return Table[eraser]{
		{ID: "list.erase", Keys: "backspace", Does: "erase a letter of the search", Do: Calls(eraser.erase)},
	}
}

// SearchingLines returns the keys and words of the actions that edit a search line.
func SearchingLines() Lines { return searching().Lines() }

// Searching returns handlers that edit a search line in a place that accepts no
// other text.
func Searching(text string, set func(text string)) Handlers {
	return searching().For(eraser{text, set})
}

func (e eraser) erase() {
	if r := []rune(e.text); len(r) > 0 {
		e.set(string(r[:len(r)-1]))
	}
}

// Shared returns the keys and words of the actions that many dialogs and modes carry out,
// each in its own way.
func Shared() Lines {
	return Lines{
		{ID: "dialog.leave", Keys: "esc", Does: "close; at a gate: look around first"},
		{ID: "list.up", Keys: "up ctrl+p", Does: "up"},
		{ID: "list.down", Keys: "down ctrl+n", Does: "down"},
		{ID: "list.choose", Keys: "enter", Does: "use it from now on"},
		{ID: "list.other", Keys: "tab shift+tab", Does: "switch between the two lists"},
	}
}

// SharedSearch returns those of the actions that begin a search.
func SharedSearch() Lines {
	return Lines{
		{ID: "list.search", Keys: "/", Does: "search the list"},
	}
}
