package event

import (
	"fmt"
	"strings"
)

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

// Counted says how many files and folders are put back.
func (u Undo) Counted() string {
	files, folders := 0, 0
	for _, f := range u.Files {
		if f.Folder {
			folders++
		} else {
			files++
		}
	}
	some := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	}
	switch {
	case folders == 0:
		return some(files, "file")
	case files == 0:
		return some(folders, "folder")
	default:
		return some(files, "file") + " and " + some(folders, "folder")
	}
}

// Words says in a few sentences what became of an undo that was not refused.
func (u Undo) Words() string {
	said := "undid the run " + u.Run
	switch {
	case u.Already:
		said = "the run " + u.Run + " is undone already: nothing was changed"
	case len(u.Files) == 0:
		said = "the run " + u.Run + " changed nothing that could be put back"
	}
	lines := []string{said}
	if len(u.Files)+len(u.Notes) > 0 {
		lines[0] += ":\n"
	}
	for _, f := range u.Files {
		lines = append(lines, "- "+f.Action+" `"+f.Path+"`")
	}
	for _, n := range u.Notes {
		lines = append(lines, "- note: "+n)
	}
	return strings.Join(lines, "\n")
}
