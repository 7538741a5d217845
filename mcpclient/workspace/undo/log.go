package undo

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

const (
	manifest   = "manifest.jsonl"
	undoSuffix = ".undo"
)

// Config says where the old content of files is stored.
type Config struct {
	// Dir is the folder of the journals of all runs, outside the workspace. Empty
	// keeps nothing.
	Dir string
	// Run is the run that every change belongs to. Empty means the run that the call
	// names.
	Run    string
	Logger *slog.Logger
}

// Log stores the content of files before they change, in a folder RUN.undo for each
// run. It holds files of at most [tree.MaxFile] bytes, named by the SHA-256 of their
// content, and manifest.jsonl with a line for each changed path.
type Log struct {
	tree *tree.Tree
	dir  string // absolute, of all runs; "" keeps nothing
	run  string // that every call belongs to; "" is what the call says
	log  *slog.Logger
}

// New returns a log. It opens no file. It fails if Run is not a valid id.
func New(files *tree.Tree, cfg Config) (*Log, error) {
	l := &Log{tree: files, run: cfg.Run, log: cfg.Logger}
	if cfg.Run != "" {
		if err := plan.CheckID(cfg.Run); err != nil {
			return nil, fmt.Errorf("the run: %w", err)
		}
	}
	if cfg.Dir == "" {
		return l, nil
	}
	var err error
	if l.dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, fmt.Errorf("find the folder of the runs: %w", err)
	}
	return l, nil
}

// manifestLine is one line of manifest.jsonl. Lines with the same change were
// made together.
type manifestLine struct {
	Time       time.Time `json:"time"`
	Workspace  string    `json:"workspace,omitempty"` // of the first line, which names no change
	Change     string    `json:"change,omitempty"`
	Path       string    `json:"path,omitempty"`
	BeforeSHA  string    `json:"before_sha,omitempty"` // absent: the file did not exist; folderHash: it is a folder
	AfterSHA   string    `json:"after_sha,omitempty"`  // absent: the file was removed
	Mode       string    `json:"mode,omitempty"`       // octal permissions before
	Done       bool      `json:"done,omitempty"`       // the change came about
	RolledBack bool      `json:"rolled_back,omitempty"`
	Undone     bool      `json:"undone,omitempty"`  // all changes above were put back
	With       string    `json:"with,omitempty"`    // the run with which they were
	Reverts    bool      `json:"reverts,omitempty"` // the change is one of the undo that follows
	Redone     bool      `json:"redone,omitempty"`  // that undo was taken back
}

// savedState is a change that is stored and about to be made. The zero value is stored
// nowhere.
type savedState struct {
	store   *store
	id      string
	reverts bool
}

// Record stores what the changes are about to replace. It is on disk when Record
// returns.
func (l *Log) Record(run string, changes []change.Change) (change.Record, error) {
	if l.run != "" {
		run = l.run
	}
	if l.dir == "" || run == "" {
		return savedState{}, nil
	}
	s, err := l.store(run)
	if err != nil {
		return savedState{}, err
	}
	k := savedState{store: s, id: rand.Text()}
	if err := k.write(l.tree.Dir, changes); err != nil {
		return savedState{}, errors.Join(err, s.root.Close())
	}
	return k, nil
}

func (k savedState) write(workspace string, changes []change.Change) error {
	lines := make([]manifestLine, 0, 1+len(changes))
	if _, err := k.store.root.Stat(manifest); err != nil {
		lines = append(lines, manifestLine{Time: time.Now().UTC(), Workspace: workspace})
	}
	for _, c := range changes {
		line := manifestLine{Time: time.Now().UTC(), Change: k.id, Path: c.Path, BeforeSHA: c.Before.Hash(), AfterSHA: c.After.Hash(), Reverts: k.reverts}
		if c.Before.Exists {
			line.Mode = fmt.Sprintf("%04o", c.Before.Mode)
			if err := k.store.put(c.Before); err != nil {
				return fmt.Errorf("keeping a copy of %s: %w", c.Path, err)
			}
		}
		// The new content is kept for a diff with later changes.
		if err := k.store.put(c.After); err != nil {
			return fmt.Errorf("keeping a copy of the new %s: %w", c.Path, err)
		}
		lines = append(lines, line)
	}
	return k.store.note(true, lines...)
}

// Done records that the change was made. Losing this record in a crash does no harm:
// a change without an outcome may or may not have been made.
func (k savedState) Done() error { return k.end(manifestLine{Done: true}) }

// RolledBack records that the change was not made.
func (k savedState) RolledBack() error { return k.end(manifestLine{RolledBack: true}) }

// Unsure records no outcome, since it is unknown.
func (k savedState) Unsure() error {
	if k.store == nil {
		return nil
	}
	return k.store.root.Close()
}

func (k savedState) end(line manifestLine) error {
	if k.store == nil {
		return nil
	}
	line.Time, line.Change = time.Now().UTC(), k.id
	return errors.Join(k.store.note(line.RolledBack, line), k.store.root.Close())
}

// store is the folder of one run.
type store struct{ root *os.Root }

// at is the folder of a run.
func (l *Log) at(run string) (string, error) {
	if err := plan.CheckID(run); err != nil {
		return "", fmt.Errorf("the run: %w", err)
	}
	return filepath.Join(l.dir, run+undoSuffix), nil
}

// store opens the folder of a run and makes it if it is missing.
func (l *Log) store(run string) (*store, error) {
	dir, err := l.at(run)
	if err != nil {
		return nil, err
	}
	_, missing := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder for the original files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder for the original files: %w", err)
	}
	if missing != nil {
		syncPath(l.dir)
	}
	return &store{root: root}, nil
}

// put stores a content under its hash, unless it is stored already.
func (s *store) put(f tree.File) error {
	if !f.Exists || f.Dir {
		return nil // what was in a folder is kept file by file
	}
	name := f.Hash()
	if info, err := s.root.Stat(name); err == nil && info.Size() == int64(len(f.Data)) {
		return nil
	}
	return tree.WriteAtomic(s.root, name, tree.File{Data: f.Data, Mode: 0o600})
}

// get returns a stored content, and whether it still has its hash.
func (s *store) get(hash string) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	data, err := s.root.ReadFile(hash)
	if err != nil {
		return nil, false
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:]) == hash
}

// note adds lines to the manifest; with sync they are on disk when it returns.
func (s *store) note(sync bool, lines ...manifestLine) error {
	var text []byte
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("writing down a change of %s: %w", l.Path, err)
		}
		text = append(append(text, line...), '\n')
	}
	_, missing := s.root.Stat(manifest)
	f, err := s.root.OpenFile(manifest, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("opening the list of changes: %w", err)
	}
	err = cutTorn(f)
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the list of changes: %w", err)
	}
	if missing != nil {
		tree.SyncFolder(s.root, ".")
	}
	return nil
}

// cutTorn removes a last line that a crash has cut off. Its change was not on disk
// yet, and so was not begun.
func cutTorn(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return err
	}
	text := make([]byte, size)
	if _, err := f.ReadAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(bytes.LastIndexByte(text, '\n') + 1))
}

// syncPath makes the names in a folder durable if the system can do so.
func syncPath(dir string) {
	d, err := os.Open(dir) //nolint:gosec // the folder of the runs
	if err != nil {
		return
	}
	_ = d.Sync() // some file systems cannot sync a folder; the files in it are synced
	_ = d.Close()
}
