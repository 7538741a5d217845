package step

import (
	"replan/agent"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Pane shows one step in full: the call and its sources, its result, its
// changes, its attempts and its times.
type Pane struct {
	styles *draw.Styles
	keys   *keymap.Map
	run    *agent.Run
	shown  *Subject
	key    string
	width  int
	height int
	tabbed bool // the pane draws its own tabs, since it has no frame
	gated  bool // the gate on the screen shows the change

	tabs   tabBar
	output output
	long   longPart
	sheet  sheetView

	view  []string
	drawn bool
}

// New returns the pane without a step.
func New(l *draw.Styles, keys *keymap.Map) *Pane {
	return &Pane{styles: l, keys: keys, output: output{words: draw.NewMarkdown(l), keys: keys}}
}

// State is what the pane needs to know of the rest of the screen.
type State struct {
	Size   draw.Rect
	Tabbed bool // the pane draws its own tabs, since it has no frame
	Gated  bool // the gate of the step is on the screen, and shows what the call would change
}

// SetState tells the pane about the rest of the screen.
func (d *Pane) SetState(s State) {
	d.setSize(s.Size.W, s.Size.H)
	d.setTabbed(s.Tabbed)
	if s.Gated != d.gated {
		d.gated, d.drawn = s.Gated, false
		d.prefer()
	}
}

// setSize sets the size of the pane, in cells.
func (d *Pane) setSize(width, height int) {
	if width != d.width || height != d.height {
		d.width, d.height, d.drawn = width, height, false
	}
}

// setTabbed sets whether the pane draws its own tabs.
func (d *Pane) setTabbed(tabbed bool) {
	if tabbed != d.tabbed {
		d.tabbed, d.drawn = tabbed, false
	}
}

// Show sets the subject of the pane; nil shows nothing.
func (d *Pane) Show(run *agent.Run, s *Subject) {
	key := ""
	if s != nil && s.Step != nil {
		key = run.ID + " " + s.Key
	}
	if key != d.key {
		d.key, d.drawn = key, false
		d.tabs.release()
		d.sheet.toTop()
	}
	d.run, d.shown = run, s
	if d.tabs.shown() == tabChecks && (run == nil || !run.Checks()) {
		d.tabs.release()
	}
	d.prefer()
}

// prefer shows the preferred tab, unless the user chose one.
func (d *Pane) prefer() {
	if d.tabs.prefer(preferredTab(d.run, d.state(), d.gated)) {
		d.sheet.reset()
		d.drawn = false
	}
}

// Invalidate forces a redraw on the next call of View.
func (d *Pane) Invalidate() { d.drawn = false }

func (d *Pane) state() *agent.StepState {
	if d.shown == nil {
		return nil
	}
	return d.shown.Step
}

// offered returns the tabs in their order.
func (d *Pane) offered() []tab { return offeredTabs(d.run, d.state()) }

// choose shows a tab.
func (d *Pane) choose(t tab) {
	d.tabs.choose(t)
	d.sheet.toTop()
	d.drawn = false
}

// clicked chooses the tab at a cell of the title, and reports whether there is
// one.
func (d *Pane) clicked(x int) bool {
	t, found := d.tabs.under(x)
	if !found || d.state() == nil {
		return false
	}
	d.choose(t)
	return true
}

// scroll scrolls the view by rows, down if rows is positive.
func (d *Pane) scroll(rows int) {
	d.sheet.move(rows)
	d.drawn = false
}

// Place returns which part of the step is in view.
func (d *Pane) Place() string { return d.sheet.place() }
