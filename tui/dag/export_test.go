package dag

// ShowList shows the plan as a list, unless the graph fills the screen.
func (d *Pane) ShowList() { d.graph.setMode(graphNever) }
