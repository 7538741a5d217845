package change

import (
	"context"
	"log/slog"

	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/tree"
)

// Writer changes files, one call after the other. It makes all changes of a call or
// none. Several goroutines may use it.
type Writer struct {
	tree      *tree.Tree
	recorder  Recorder // nil records nothing
	log       *slog.Logger
	maxOutput int
	locks     string        // folder of the lock files that processes share; "" is none
	changing  chan struct{} // holds a token while a call changes files
	seen      seen          // files as calls have read them
	left      seen          // files as calls of runs have left them, by run and path
	check     Check         // nil is not asked
}

// Check returns what is wrong with files after a change.
type Check func(ctx context.Context, changed []File) []source.Diagnostic

// Recorder stores the content of files before they change, for an undo.
type Recorder interface {
	// Record writes down what the changes of a run are about to replace, before they
	// do. Run is empty where the call belongs to none.
	Record(run string, changes []Change) (Record, error)
}

// Record takes the outcome of changes that a Recorder has stored.
type Record interface {
	Done() error       // they came about
	RolledBack() error // none of them did
	Unsure() error     // unknown
}

// NoteRead remembers the hash of a file that a call has read.
func (w *Writer) NoteRead(at, hash string) { w.seen.note(at, hash) }

// CheckRead fails if a file has changed since it was read. Paths in unless are not
// checked.
func (w *Writer) CheckRead(changes []Change, unless map[string]bool) error {
	return w.seen.check(changes, unless)
}

// NewWriter returns a writer, which checks what it has changed unless check is nil. It answers at most maxOutput bytes of a diff. Writers
// of several processes take turns if they have the same folder for locks; without
// one they do not.
func NewWriter(files *tree.Tree, keeper Recorder, check Check, locks string, log *slog.Logger, maxOutput int) *Writer {
	return &Writer{tree: files, recorder: keeper, check: check, locks: locks, log: log, maxOutput: maxOutput, changing: make(chan struct{}, 1)}
}
