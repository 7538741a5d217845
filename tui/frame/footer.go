package frame

import (
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Footer is the last line: a question, a message about the last key, or the
// keys available now.
type Footer struct {
	Quitting bool // asks whether to quit
	Message  string
	Hints    []keymap.Hint // the most useful first
}

// footerLine draws the last line.
type footerLine struct {
	styles *draw.Styles
	keys   *keymap.Map
	replay bool // a past run is replayed
}

// Footer draws the footer.
func (f *footerLine) Footer(footer Footer, width int) string {
	l := f.styles
	switch {
	case footer.Quitting:
		return l.Fit(f.quitLine(width), width)
	case footer.Message != "":
		return l.Fit(" "+l.Warning.Render(footer.Message), width)
	}
	line := ""
	for _, h := range footer.Hints {
		next := line + " " + f.hint(h) + " "
		if draw.VisibleWidth(next) > width {
			break
		}
		line = next
	}
	return l.Fit(line, width)
}

// FooterAction returns the action of the key at column x of the footer.
func (f *footerLine) FooterAction(footer Footer, x, width int) (id string, ok bool) {
	if footer.Quitting {
		return draw.Pressed(f.quitButtons(width), x, 0)
	}
	left := 0
	for _, h := range footer.Hints {
		w := draw.VisibleWidth(f.hint(h)) + 2
		if left+w > width {
			break
		}
		if x >= left && x < left+w {
			return h.At(x - left - 1)
		}
		left += w
	}
	return "", false
}

// hint draws one key of the footer.
func (f *footerLine) hint(h keymap.Hint) string {
	l := f.styles
	if h.Armed {
		return l.ArmedKey(h.Label, h.Does)
	}
	return l.Key.Render(h.Label) + " " + l.Faint.Render(h.Does)
}

// quitLine asks whether to quit, with the longest text that leaves room for the
// keys.
func (f *footerLine) quitLine(width int) string {
	keys := ""
	for _, h := range f.quitHints() {
		keys += "  " + f.hint(h)
	}
	line := ""
	for _, text := range []string{"A run is active. Stop it and quit?", "Stop the run and quit?", "Quit?"} {
		if line = " " + f.styles.Warning.Render(text) + keys; draw.VisibleWidth(line) <= width {
			break
		}
	}
	return line
}

// quitHints returns the keys of that question.
func (f *footerLine) quitHints() []keymap.Hint {
	return []keymap.Hint{f.keys.Hint("", "quit.yes"), f.keys.Hint("", "quit.no")}
}

// quitButtons returns the positions of those keys.
func (f *footerLine) quitButtons(width int) []draw.Button {
	var labels, ids []string
	for _, h := range f.quitHints() {
		labels, ids = append(labels, f.hint(h)), append(ids, h.IDs[0])
	}
	return draw.Buttons([]string{f.quitLine(width)}, labels, ids)
}
