package event

import "replan/internal/untrusted"

// Undo describes what undoing the changes of a run does, or would do, or what taking that
// undo back does.
type Undo struct {
	Run     string         `json:"run"`
	Redo    bool           `json:"redo,omitempty"`  // the last undo is taken back
	Goal    untrusted.Text `json:"-"`               // of the run, in a preview for the screen
	Inner   []string       `json:"inner,omitempty"` // runs started by its plan tools, which are undone with it
	Files   []UndoneFile   `json:"files"`
	Diff    string         `json:"diff"`              // unified, from the files as they are now
	Notes   []string       `json:"notes,omitempty"`   // sentences on what is not restored, or might surprise
	Already bool           `json:"already,omitempty"` // the run was undone or redone before, so there is nothing to do
	AsWas   bool           `json:"as_was,omitempty"`  // the files are as they were before the run: it is undone, with nothing to restore

	// Refused says why nothing is put back, one sentence; "" where it is. Diff is
	// then what has become of the files since the run left them, where it is that.
	Refused string `json:"refused,omitempty"`
}

// UndoneFile is a file or folder that is restored.
type UndoneFile struct {
	Path   string `json:"path"`
	Action string `json:"action"`           // restored, recreated or removed
	Folder bool   `json:"folder,omitempty"` // it is a folder
}

// Done says what an undo does to the file, as a participle: restored, recreated or removed; a
// redo changes it again.
func (f UndoneFile) Done(redo bool) string {
	if redo {
		return map[string]string{"restored": "changed again", "recreated": "created again", "removed": "removed again"}[f.Action]
	}
	return f.Action
}

// RunUndone reports, after the end of a run, that its changes were undone. Only a redo
// follows it: the steps that it undid cannot be continued.
type RunUndone struct {
	Files []UndoneFile `json:"files"`          // restored with the run, including those of its inner runs
	Redo  bool         `json:"redo,omitempty"` // the undo was taken back, so the run is as it was
}

// Undone reports whether the events of a run say that its changes are undone.
func Undone(events []Event) bool {
	undone := false
	for _, e := range events {
		if d, ok := e.Data.(RunUndone); ok {
			undone = !d.Redo
		}
	}
	return undone
}

// Kind is run.undone.
func (RunUndone) Kind() Kind { return KindRunUndone }

// ChatUndone reports, in the session's journal, that the changes of a run were
// undone or redone. It omits the diff.
type ChatUndone struct {
	Undo
}

// Kind is chat.undone.
func (ChatUndone) Kind() Kind { return KindChatUndone }
