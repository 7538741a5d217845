package dag

// node returns the node of the selection in the graph, or -1.
func (d *Pane) node() int {
	return d.graph.at(d.cursor.Key, d.list.row(d.list.find(d.cursor.Key)))
}

// chooseNode selects a node of the graph, if there is one.
func (d *Pane) chooseNode(i int) {
	if i >= 0 {
		d.selectKey(d.graph.key(i))
	}
}

// turnGraph switches between list and graph, and returns a message that names
// the new view.
func (d *Pane) turnGraph() (word string) {
	shown := d.ShowsGraph()
	d.drawn, d.mapped = false, false
	if shown {
		d.graph.setMode(graphNever)
		return "The plan is shown as a list."
	}
	d.graph.setMode(graphAlways)
	return "The plan is shown as a graph."
}

// ShowList shows the plan as a list, unless the graph fills the screen.
func (d *Pane) ShowList() { d.graph.setMode(graphNever) }

// ShowsGraph reports whether the graph replaces the list.
func (d *Pane) ShowsGraph() bool {
	d.layout()
	return d.graph.layout(d.state.Size.W, d.state.Size.H, d.filter.on())
}
