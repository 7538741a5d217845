package chat

import (
	"slices"

	"replan/tui/draw"
)

// foldNewest expands or collapses the newest visible block of a kind, else the
// newest of all; "" means any kind. It reports whether there is one.
func (v *viewport) foldNewest(kind string) bool {
	v.layOut()
	for i := len(v.shown) - 1; i >= 0; i-- {
		if at := v.shown[i].Block; at >= 0 && v.Blocks[at].folds(kind) {
			v.TurnFold(at)
			return true
		}
	}
	for at := len(v.Blocks) - 1; at >= 0; at-- {
		if v.Blocks[at].folds(kind) {
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
	if at >= len(v.Blocks) || !v.Blocks[at].folds("") {
		return
	}
	top := v.first()
	v.Blocks[at].turn()
	v.edition++
	if top.Block <= at {
		v.scrolledUp, v.top = true, top
		if top.Block == at {
			v.top.Line = min(top.Line, len(v.LinesOf(at))-1)
		}
	}
	v.drawn = false
}

// turnFolds expands or collapses all blocks of a kind.
func (v *viewport) turnFolds(kind string, open bool) {
	for i, b := range v.Blocks {
		if b.folds(kind) && b.isOpen() != open {
			v.TurnFold(i)
		}
	}
}

// hasFold reports whether a block of that kind can expand or collapse.
func (v *viewport) hasFold(kind string) bool {
	return slices.ContainsFunc(v.Blocks, func(b *Block) bool { return b.folds(kind) })
}

// hasCollapsed reports whether a block of that kind is collapsed.
func (v *viewport) hasCollapsed(kind string) bool {
	return slices.ContainsFunc(v.Blocks, func(b *Block) bool { return b.folds(kind) && !b.isOpen() })
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
