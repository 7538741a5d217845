package step

import (
	"replan/agent"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/draw"
)

// version is everything the long part of a tab depends on.
type version struct {
	key      string
	tab      tab
	width    int
	theme    themes.Name
	dark     bool
	diffs    draw.DiffView
	status   agent.StepStatus
	attempt  int
	ms       int64
	gate     string
	revision int
	failed   untrusted.Text
	output   string // received so far
	checked  int    // checks that are evaluated
	diff     string
	gated    bool
	seq      uint64 // of the run, while something may still change the step
}

// longPart is the potentially long part of a tab, kept while its version is valid.
type longPart struct {
	leaves []draw.Leaf
	built  version
}

// at returns the leaves of a version. It draws them if the kept ones are of another.
func (p *longPart) at(v version, draws func() []draw.Leaf) []draw.Leaf {
	if v != p.built || p.leaves == nil {
		p.leaves, p.built = draws(), v
	}
	return p.leaves
}

// leave forgets the version: nothing long is shown.
func (p *longPart) leave() { p.built = version{} }

// hasDiff reports whether it shows a diff.
func (p *longPart) hasDiff() bool {
	for _, f := range p.leaves {
		if _, ok := f.(*draw.DiffRows); ok {
			return true
		}
	}
	return false
}
