package files

import (
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
)

// Operators are the operators for files and folders. Each has what it works with.
type Operators struct {
	*mentions
	reader    *reader
	lister    *lister
	describer *describer
	searcher  *searcher
	patcher   *patcher
	entries   *entries
}

// New returns the operators. A call returns at most maxOutput bytes of text.
func New(files *tree.Tree, changes *change.Writer, maxOutput int) *Operators {
	return &Operators{
		mentions:  &mentions{tree: files},
		reader:    &reader{tree: files, changes: changes, maxOutput: maxOutput},
		lister:    &lister{tree: files},
		describer: &describer{tree: files},
		searcher:  &searcher{tree: files, maxOutput: maxOutput},
		patcher:   &patcher{tree: files, changes: changes, diffs: &diffReader{tree: files}},
		entries:   &entries{tree: files, changes: changes},
	}
}
