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
		return keymap.Mode{Actions: filtered().For(d)}
	}
	hs := filtering().For(d)
	if d.filter.words() == "" {
		hs = hs.With(filteringNothing().For(d))
	} else {
		hs = hs.With(keymap.Searching(d.filter.words(), d.seek))
	}
	return keymap.Mode{Actions: hs, Type: d.Update, Letters: true}
}

// filtered are the actions while a filter hides steps.
func filtered() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "run.stop", Do: keymap.Calls((*Pane).clearFilter)},
	}
}

// filtering are the actions while the filter reads letters.
func filtering() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "list.choose", Do: keymap.Calls((*Pane).keepFilter)},
		{ID: "dialog.leave", Do: keymap.Calls((*Pane).clearFilter)},
		{ID: "list.up", Do: keymap.Calls(func(d *Pane) { d.Move(-1) })},
		{ID: "list.down", Do: keymap.Calls(func(d *Pane) { d.Move(1) })},
		{ID: "search.erase_word", Do: keymap.Calls(func(d *Pane) { d.seek("") })},
		{ID: "search.erase_all", Do: keymap.Calls(func(d *Pane) { d.seek("") })},
	}
}

// filteringNothing are the other actions while the filter has no letters.
func filteringNothing() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "list.erase", Do: keymap.Calls((*Pane).keepFilter)},
	}
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
