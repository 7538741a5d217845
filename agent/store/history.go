package store

import (
	"context"
	"slices"
	"strings"

	"replan/internal/wholefile"
)

// Limits of the input history.
const (
	maxHistory     = 500      // newest entries
	maxHistoryText = 16 << 10 // bytes per entry; longer ones are not stored
	historyVersion = 1
)

// History is the user's input over all sessions and workspaces, in a file that
// only the user can read. It is safe for concurrent use, by several processes
// too.
type History struct {
	file wholefile.JSON[historyFile]
}

// historyFile is the format of the file, newest entry last.
type historyFile struct {
	V       int           `json:"v"`
	Entries []HistoryLine `json:"entries"`
}

// HistoryLine is a sent text and its workspace.
type HistoryLine struct {
	Workspace string `json:"workspace"`
	Text      string `json:"text"`
}

// OpenHistory returns the history in the given file. It reads and writes nothing
// yet.
func OpenHistory(path string) *History {
	return &History{file: wholefile.JSON[historyFile]{
		Path: path, What: "what was sent", Empty: historyFile{V: historyVersion},
		Sound: func(f historyFile) bool { return f.V == historyVersion },
	}}
}

// Lines returns all entries, oldest first. A missing file is an empty history; so
// is a damaged one, together with an error.
func (h *History) Lines() ([]HistoryLine, error) {
	file, err := h.file.Read()
	return file.Entries, err
}

// Add appends an entry. An equal entry of the same workspace moves to the end.
// Blank and overlong text is skipped. A damaged file starts over.
func (h *History) Add(line HistoryLine) error {
	if strings.TrimSpace(line.Text) == "" || len(line.Text) > maxHistoryText {
		return nil
	}
	_, err := h.file.Change(context.Background(), func(file *historyFile) {
		file.Entries = append(slices.DeleteFunc(file.Entries, func(l HistoryLine) bool { return l == line }), line)
		file.Entries = file.Entries[max(0, len(file.Entries)-maxHistory):]
	})
	return err
}
