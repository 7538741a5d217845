package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
	"replan/planning/plan"
)

// What the history of what was sent is bounded by.
const (
	maxHistory     = 500      // entries, the newest
	maxHistoryText = 16 << 10 // bytes of one; a longer one is not kept
	historyVersion = 1
)

// History is what the user has sent, over all sessions and workspaces, in one
// JSON file that only the user can read. It may be used by several goroutines and
// processes at once.
type History struct {
	path string
	mu   sync.Mutex
}

// historyFile is the form of the file, the newest entry last.
type historyFile struct {
	V       int           `json:"v"`
	Entries []HistoryLine `json:"entries"`
}

// HistoryLine is something that was sent, and where.
type HistoryLine struct {
	Workspace string `json:"workspace"`
	Text      string `json:"text"`
}

// errDamagedHistory says that the file is none of ours.
var errDamagedHistory = errors.New("it does not hold what was sent and is begun anew")

// OpenHistory names the file; nothing is read or written yet.
func OpenHistory(path string) *History { return &History{path: path} }

// Lines returns what was sent, oldest first. A file that is not there holds
// nothing; nor does one that is damaged, which is an error.
func (h *History) Lines() ([]HistoryLine, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	file, err := h.load()
	return file.Entries, err
}

// Add keeps one more line. What was sent in the same workspace before moves to the
// end. Blank and very long text is left out. A damaged file is begun anew.
func (h *History) Add(line HistoryLine) error {
	if strings.TrimSpace(line.Text) == "" || len(line.Text) > maxHistoryText {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("keep what was sent: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), durationsPatience)
	defer cancel()
	lock := flock.New(h.path + lockSuffix)
	if _, err := lock.TryLockContext(ctx, durationsInterval); err != nil {
		return fmt.Errorf("lock what was sent in %s: %w", h.path, err)
	}
	file, err := h.load()
	if err != nil && !errors.Is(err, errDamagedHistory) {
		return errors.Join(err, lock.Unlock())
	}
	file.Entries = append(slices.DeleteFunc(file.Entries, func(l HistoryLine) bool { return l == line }), line)
	file.Entries = file.Entries[max(0, len(file.Entries)-maxHistory):]
	return errors.Join(h.store(file), lock.Unlock())
}

// load reads the file.
func (h *History) load() (historyFile, error) {
	empty := historyFile{V: historyVersion}
	data, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, fmt.Errorf("read what was sent: %w", err)
	}
	file := historyFile{}
	if err := json.Unmarshal(data, &file); err != nil || file.V != historyVersion {
		return empty, fmt.Errorf("read the file %s: %w", h.path, errDamagedHistory)
	}
	return file, nil
}

// store writes the file whole.
func (h *History) store(file historyFile) error {
	data, err := plan.EncodeJSON(file)
	if err != nil {
		return fmt.Errorf("keep what was sent: %w", err)
	}
	if err := wholefile.Write(h.path, append(data, '\n')); err != nil {
		return fmt.Errorf("keep what was sent: %w", err)
	}
	return nil
}
