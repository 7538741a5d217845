package dag

import "replan/tui/keymap"

// startFilter opens the filter input line.
func (d *Pane) startFilter() {
	d.filter.begin()
	d.drawn = false
}

// keepFilter leaves the filter input line, and keeps its text.
func (d *Pane) keepFilter() {
	d.filter.keep()
	d.drawn = false
}

// clearFilter shows all steps again.
func (d *Pane) clearFilter() {
	d.filter.clear()
	d.refilter()
}

// seek filters the steps by text.
func (d *Pane) seek(text string) {
	d.filter.seek(text)
	d.refilter()
}

// refilter lists the steps again.
func (d *Pane) refilter() {
	d.list.hold()
	d.stale, d.drawn = true, false
}

// Mode returns the filter, which reads letters until its text is kept.
func (d *Pane) Mode() keymap.Mode {
	switch {
	case !d.filter.shown():
		return keymap.Mode{}
	case !d.filter.types():
		return keymap.Mode{Actions: keymap.Handlers{"run.stop": {Do: keymap.Just(d.clearFilter)}}}
	}
	clear := keymap.Handler{Do: keymap.Just(func() { d.seek("") })}
	hs := keymap.Handlers{
		"list.choose":  {Do: keymap.Just(d.keepFilter)},
		"dialog.leave": {Do: keymap.Just(d.clearFilter)},
		"list.up":      {Do: keymap.Just(func() { d.Move(-1) })}, "list.down": {Do: keymap.Just(func() { d.Move(1) })},
		"search.erase_word": clear, "search.erase_all": clear,
	}.With(keymap.Searching(d.filter.words(), d.seek))
	if d.filter.words() == "" {
		hs["list.erase"] = keymap.Handler{Do: keymap.Just(d.keepFilter)}
	}
	return keymap.Mode{Actions: hs, Type: d.Update, Letters: true}
}

// nextMatch selects the next step that the filter found, or the previous one.
func (d *Pane) nextMatch(by int) (word string) {
	d.layout()
	if !d.filter.finds() {
		return "No matching steps."
	}
	d.choose(d.list.nextStep(d.cursor.Key, by))
	return ""
}
