package step

import (
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/editor"
	"replan/tui/keymap"
)

// Update handles a click, which chooses the tab under the pointer, and a turn of
// the wheel. Tabs that are part of the frame are on line -1.
func (d *Pane) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		x, title := msg.X, 0
		if !d.tabbed {
			x, title = msg.X-1, -1
		}
		if msg.Y == title && d.clicked(x) {
			return keymap.Requests{keymap.Focus(keymap.PlaceStep)}
		}
	case tea.MouseWheelMsg:
		d.scroll(draw.WheelLines(tea.Mouse(msg)))
	}
	return nil
}

// tabActions are the actions on the tabs of the step, which the plan has too.
func tabActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "plan.args", Keys: "1", Does: "show arguments", Refuse: (*Pane).nothing, Do: show(tabArgs)},
		{ID: "plan.output", Keys: "2", Does: "show output", Refuse: (*Pane).nothing, Do: show(tabOutput)},
		{ID: "plan.diff", Keys: "3", Does: "show diff", Refuse: (*Pane).nothing, Do: show(tabDiff)},
		{ID: "plan.story", Keys: "4", Does: "show story; attempts, decisions", Refuse: (*Pane).nothing, Do: show(tabStory)},
		{ID: "plan.timing", Keys: "5", Does: "show timing; waits and duration", Refuse: (*Pane).nothing, Do: show(tabTiming)},
		{ID: "plan.copy", Keys: "y", Does: "copy the step's tab", Refuse: (*Pane).noCopy, Do: (*Pane).copyShown},
		{ID: "plan.file", Keys: "O", Does: "open the first file of the step's result", Refuse: (*Pane).noFile, Do: (*Pane).openFile},
	}
}

// actions are the other actions on the step.
func actions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "step.next_tab", Keys: "right l", Shown: "right/l", Does: "next tab", KeyOnly: true, Refuse: (*Pane).nothing, Do: leaf(1)},
		{ID: "step.previous_tab", Keys: "left h", Shown: "left/h", Does: "previous tab", KeyOnly: true, Refuse: (*Pane).nothing, Do: leaf(-1)},
		{ID: "diff.sides", Keys: "s", Does: "toggle side-by-side diff", Refuse: (*Pane).noSides, Do: (*Pane).turnDiffs},
	}
}

// TabLines returns the keys and words of the actions on the tabs of the step.
func TabLines() keymap.Lines { return tabActions().Lines() }

// Lines returns the keys and words of the other actions on the step.
func Lines() keymap.Lines { return actions().Lines() }

// Actions returns the actions on the step.
func (d *Pane) Actions() keymap.Handlers {
	return tabActions().For(d).With(actions().For(d), keymap.Moving(func() int { return d.height }, d.scroll))
}

// show makes an action that shows a tab.
func show(t tab) func(*Pane) keymap.Requests {
	return keymap.Calls(func(d *Pane) { d.choose(t) })
}

// leaf makes an action that shows the tab so many after the shown one.
func leaf(by int) func(*Pane) keymap.Requests {
	return keymap.Calls(func(d *Pane) { d.choose(d.beside(by)) })
}

// beside returns the tab that is so many tabs after the shown one.
func (d *Pane) beside(by int) tab { return d.tabs.beside(d.offered(), by) }

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
func (d *Pane) copyShown() keymap.Requests {
	text, what := d.copied()
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	return keymap.Requests{keymap.Copy{What: what + ", " + english.Count(lines, "line"), Text: text}}
}

// turnDiffs toggles diffs between side by side and unified.
func (d *Pane) turnDiffs() keymap.Requests {
	d.drawn = false
	return keymap.ShowFooter(d.styles.TurnDiffs(d.width))
}

// noSides explains why the diff of the selected step cannot switch its view.
func (d *Pane) noSides() string {
	d.View()
	if d.long.hasDiff() {
		return ""
	}
	return "No diff in view can be shown side by side."
}

// noFile returns why there is no file to open.
func (d *Pane) noFile() string {
	if why := d.nothing(); why != "" {
		return why
	}
	if s := d.state(); s == nil || len(s.Beside.Attachments) == 0 {
		return "The result of this step has no files."
	}
	return ""
}

// openFile opens the first file of the result with the system's program for it.
// Where there is none, it copies the path.
func (d *Pane) openFile() keymap.Requests {
	a := d.state().Beside.Attachments[0]
	if !editor.Shows(a.File, os.Getenv) {
		return keymap.Requests{keymap.Copy{What: "the path of the file", Text: a.File}}
	}
	return keymap.Requests{
		keymap.Footer("Opening " + filepath.Base(a.File)),
		editor.Show(a.File, func(err error) tea.Msg { return keymap.AnswerMsg[struct{}]{Err: err} }),
	}
}
