package step

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Update handles a click, which chooses the tab under the pointer, and a turn of
// the wheel. Tabs that are part of the frame are on line -1.
func (d *Pane) Update(msg tea.Msg) keymap.Request {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		x, title := msg.X, 0
		if !d.tabbed {
			x, title = msg.X-1, -1
		}
		if msg.Y == title && d.clicked(x) {
			return keymap.Request{Focus: keymap.PlaceStep}
		}
	case tea.MouseWheelMsg:
		d.scroll(draw.WheelLines(tea.Mouse(msg)))
	}
	return keymap.Request{}
}

// Actions returns the actions on the step.
func (d *Pane) Actions() keymap.Handlers {
	show := func(t func() tab) keymap.Handler {
		return keymap.Handler{Refuse: d.nothing, Do: keymap.Just(func() { d.choose(t()) })}
	}
	fixed := func(t tab) keymap.Handler { return show(func() tab { return t }) }
	return keymap.Handlers{
		"plan.args": fixed(tabArgs), "plan.output": fixed(tabOutput), "plan.diff": fixed(tabDiff), "plan.story": fixed(tabStory), "plan.timing": fixed(tabTiming),
		"plan.copy":         {Refuse: d.noCopy, Do: d.copyShown},
		"plan.file":         {Refuse: d.noFile, Do: d.openFile},
		"step.next_tab":     show(func() tab { return d.beside(1) }),
		"step.previous_tab": show(func() tab { return d.beside(-1) }),
		"diff.sides":        {Refuse: d.noSides, Do: d.turnDiffs},
	}.With(keymap.Moving(func() int { return d.height }, d.scroll))
}

// nothing returns why there is nothing to inspect.
func (d *Pane) nothing() string {
	if d.shown == nil {
		return "There is no step to inspect yet."
	}
	return ""
}

// noCopy returns why nothing can be copied.
func (d *Pane) noCopy() string {
	if why := d.nothing(); why != "" {
		return why
	}
	if text, what := d.copied(); text == "" {
		return "There is nothing to copy: " + what + " is empty."
	}
	return ""
}

// copyShown copies the complete text of the visible tab.
func (d *Pane) copyShown() keymap.Request {
	text, what := d.copied()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return keymap.Request{Copy: &keymap.Copied{What: what + ", " + english.Count(lines, "line"), Text: text}}
}

// turnDiffs toggles diffs between side by side and unified.
func (d *Pane) turnDiffs() keymap.Request {
	d.drawn = false
	return keymap.ShowFooter(d.styles.TurnDiffs(d.width))
}
