package change

import (
	"context"
	"log/slog"

	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/tree"
)

// Writer changes files of the workspace, one call after the other: all of a call's
// changes or none. It is safe for use by several goroutines.
type Writer struct {
	tree      *tree.Tree
	keeper    Keeper // nil keeps nothing
	log       *slog.Logger
	maxOutput int
	changing  chan struct{} // holds a token while a call changes files
	seen      seen          // files as calls have read them
	left      seen          // files as calls of runs have left them, by run and path

	// Check returns what is wrong with files after a change; nil is not asked.
	Check func(ctx context.Context, changed []File) []source.Diagnostic
}

// Keeper keeps what was there before changes, so that they can be put back.
type Keeper interface {
	// Keep writes down what the changes of a run are about to replace, before they
	// do. Run is empty where the call belongs to none.
	Keep(run string, changes []Change) (Record, error)
}

// Record is told how changes ended that a Keeper has written down.
type Record interface {
	Done() error       // they came about
	RolledBack() error // none of them did
	Unsure() error     // nobody knows
}

// NoteRead remembers the hash of a file as a call has read it.
func (w *Writer) NoteRead(at, hash string) { w.seen.note(at, hash) }

// CheckRead refuses changes to files that are not as they were read, unless their
// path is among those that the call vouches for.
func (w *Writer) CheckRead(changes []Change, unless map[string]bool) error {
	return w.seen.check(changes, unless)
}

// NewWriter makes a writer. Of the diff of a change it answers at most maxOutput
// bytes.
func NewWriter(files *tree.Tree, keeper Keeper, log *slog.Logger, maxOutput int) *Writer {
	return &Writer{tree: files, keeper: keeper, log: log, maxOutput: maxOutput, changing: make(chan struct{}, 1)}
}
