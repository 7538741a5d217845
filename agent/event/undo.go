package event

// Undo is what putting back the changes of a run does, or would do.
type Undo struct {
	Run     string       `json:"run"`
	Inner   []string     `json:"inner,omitempty"` // runs that its plan tools started, which are undone with it
	Files   []UndoneFile `json:"files"`
	Diff    string       `json:"diff"`              // unified: what becomes of the files as they are now
	Notes   []string     `json:"notes,omitempty"`   // sentences on what is not put back, or might surprise
	Already bool         `json:"already,omitempty"` // it was undone before: there is nothing to do

	// Refused says why nothing is put back, one sentence; "" where it is. Diff is
	// then what has become of the files since the run left them, where it is that.
	Refused string `json:"refused,omitempty"`
}

// UndoneFile is a file or a folder that is put back.
type UndoneFile struct {
	Path   string `json:"path"`
	Action string `json:"action"`           // restored, recreated or removed
	Folder bool   `json:"folder,omitempty"` // it is a folder
}

// ChatUndone says that the changes of a run were put back, in the session's
// journal. Its diff is left out.
type ChatUndone struct {
	Undo
}

// Kind is chat.undone.
func (ChatUndone) Kind() Kind { return KindChatUndone }
