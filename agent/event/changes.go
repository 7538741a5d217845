package event

import "strings"

// Changes describes what runs changed in a copy of the workspace, for the user to
// take or to drop.
type Changes struct {
	Offer string        `json:"offer"` // hash of all of it
	Runs  []string      `json:"runs"`  // that worked in the copy, oldest first
	Files []ChangedFile `json:"files"`
	Moves []string      `json:"moves,omitempty"` // changes of branches and tags, a few words each; taken with all files
	Notes []string      `json:"notes,omitempty"` // what cannot be taken and why, a sentence each
}

// ChangedFile is a file or folder that runs changed.
type ChangedFile struct {
	Path     string `json:"path"`
	Action   string `json:"action"`             // created, changed or removed
	Folder   bool   `json:"folder,omitempty"`   // it is a folder
	Added    int    `json:"added"`              // lines
	Removed  int    `json:"removed"`            // lines
	Diff     string `json:"diff"`               // unified
	Hunks    int    `json:"hunks"`              // of the diff
	Conflict bool   `json:"conflict,omitempty"` // the file of the workspace changed too, so this one cannot be taken
}

// Empty reports whether there is nothing to decide.
func (c Changes) Empty() bool { return len(c.Files)+len(c.Moves)+len(c.Notes) == 0 }

// Diff returns the diffs of all files.
func (c Changes) Diff() string {
	var diff strings.Builder
	for _, f := range c.Files {
		diff.WriteString(f.Diff)
	}
	return diff.String()
}

// ChangesChoice says which changes to take. The others are dropped, or wait.
type ChangesChoice struct {
	Offer string                // the offer that the user looked at; "" is the one that was shown last
	All   bool                  // all that can be taken
	Files map[string]FileChoice // by path
	Keep  bool                  // what is not taken waits
}

// FileChoice says what to take of a file.
type FileChoice struct {
	All   bool
	Hunks []int // of its diff, counted from 0
}

// SettledChanges reports which changes were taken and which dropped.
type SettledChanges struct {
	Runs    []string      `json:"runs"`
	Taken   []ChangedFile `json:"taken"`   // without diffs
	Dropped []string      `json:"dropped"` // paths
	Notes   []string      `json:"notes,omitempty"`
	Refused string        `json:"refused,omitempty"` // why nothing was decided, one sentence
}
