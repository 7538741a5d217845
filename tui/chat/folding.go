package chat

import (
	"slices"

	"replan/tui/draw"
)

// foldControl is what a click or a key expands and collapses in the chat.
type foldControl struct {
	turn  func()      // expands or collapses it
	thing string      // its kind, in a word
	can   func() bool // reports whether there is something to expand
	open  func() bool // reports whether it is expanded
}

// foldNewest expands or collapses the newest visible block of a kind, else the
// newest of all; "" means any kind. It reports whether there is one.
func (v *viewport) foldNewest(thing string) bool {
	v.layOut()
	for i := len(v.shown) - 1; i >= 0; i-- {
		if at := v.shown[i].Block; at >= 0 && v.Blocks[at].foldable(thing) {
			v.TurnFold(at)
			return true
		}
	}
	for at := len(v.Blocks) - 1; at >= 0; at-- {
		if v.Blocks[at].foldable(thing) {
			v.TurnFold(at)
			v.show(draw.Spot{Block: at})
			return true
		}
	}
	return false
}

// TurnFold expands or collapses a block, if there is one that can collapse.
// Lines above it stay in place.
func (v *viewport) TurnFold(at int) {
	if at >= len(v.Blocks) || !v.Blocks[at].foldable("") {
		return
	}
	b := v.Blocks[at]
	top := v.first()
	b.folds.turn()
	b.stale, b.looked = true, false
	v.edition++
	if top.Block <= at {
		v.scrolledUp, v.top = true, top
		if top.Block == at {
			v.top.Line = min(top.Line, len(v.LinesOf(at))-1)
		}
	}
	v.drawn = false
}

// hasFold reports whether a block of that kind can expand or collapse.
func (v *viewport) hasFold(thing string) bool {
	return slices.ContainsFunc(v.Blocks, func(b *Block) bool { return b.foldable(thing) })
}

// hasCollapsed reports whether a block of that kind is collapsed.
func (v *viewport) hasCollapsed(thing string) bool {
	return slices.ContainsFunc(v.Blocks, func(b *Block) bool { return b.foldable(thing) && !b.folds.open() })
}

// ShowThinking expands or collapses all thinking, also that to come.
func (c *Pane) ShowThinking(shows bool) {
	c.ShowsThinking = shows
	for i, b := range c.Blocks {
		if b.foldable(foldThinking) && b.folds.open() != shows {
			c.TurnFold(i)
		}
	}
}

// noThinking explains why there is no thinking to inspect.
func (v *viewport) noThinking() string {
	if !v.hasFold(foldThinking) {
		return "The chat shows no thinking."
	}
	return ""
}

// nothingFolded explains why nothing can be expanded.
func (v *viewport) nothingFolded() string {
	if !v.hasFold("") {
		return "Nothing in the chat can be expanded."
	}
	return ""
}

// foldable reports whether a block is of that kind and can expand or collapse;
// "" means any kind.
func (b *Block) foldable(thing string) bool {
	return b.folds != nil && (thing == "" || b.folds.thing == thing) && b.folds.can()
}
