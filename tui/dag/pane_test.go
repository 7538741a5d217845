package dag

// resize gives the pane a size, in cells.
func resize(d *Pane, width, height int) {
	s := d.state
	s.Size.W, s.Size.H = width, height
	d.SetState(s)
}

// focus sets whether the pane has the keys.
func focus(d *Pane, focused bool) {
	s := d.state
	s.Focused = focused
	d.SetState(s)
}
