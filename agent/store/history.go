package store

import (
	"slices"
	"strings"
)

// Bounds of the history of what the user has typed.
const (
	maxHistory     = 500      // entries, the newest
	maxHistoryText = 16 << 10 // bytes of one; a longer one is not kept
	historyVersion = 1
)

// History is what the user has sent, over all sessions and workspaces, in a file
// that only the user can read. Several goroutines and processes may use it at
// once.
type History struct {
	file jsonFile[historyFile]
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

// OpenHistory names the file; nothing is read or written yet.
func OpenHistory(path string) *History {
	return &History{file: jsonFile[historyFile]{
		path: path, what: "what was sent", empty: historyFile{V: historyVersion},
		sound: func(f historyFile) bool { return f.V == historyVersion },
	}}
}

// Lines returns what was sent, oldest first. A file that is missing holds
// nothing; nor does a damaged one, which is an error.
func (h *History) Lines() ([]HistoryLine, error) {
	file, err := h.file.read()
	return file.Entries, err
}

// Add keeps one more line. A line that was sent in the same workspace before
// moves to the end. Blank and very long text is left out. A damaged file begins
// anew.
func (h *History) Add(line HistoryLine) error {
	if strings.TrimSpace(line.Text) == "" || len(line.Text) > maxHistoryText {
		return nil
	}
	_, err := h.file.change(func(file *historyFile) {
		file.Entries = append(slices.DeleteFunc(file.Entries, func(l HistoryLine) bool { return l == line }), line)
		file.Entries = file.Entries[max(0, len(file.Entries)-maxHistory):]
	})
	return err
}
