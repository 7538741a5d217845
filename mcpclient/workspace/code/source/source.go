// Package source is what the operators know of source text: where names are
// declared and used, what a file holds, and which edits a change of a name or a
// pattern comes to. It reads words, with care for strings and comments, in
// whatever language; the package golang below it does the same for Go by types.
//
// Nothing here changes a file: changes are returned as edits.
package source

import (
	"fmt"
	"strings"
)

// Method says how an answer was found.
type Method string

// How an answer can be found.
const (
	ByTypes Method = "types" // a type checker has resolved every name
	ByWords Method = "words" // names are compared as words outside strings and comments
	ByText  Method = "text"  // no language is looked at, text is replaced wherever it stands
)

// Place is a point in a file of the workspace.
type Place struct {
	Path   string `json:"path"`           // relative to the workspace, with slashes
	Line   int    `json:"line"`           // from 1
	Column int    `json:"column"`         // from 1, in bytes
	Text   string `json:"text,omitempty"` // of the line, without the blanks around it
}

// Symbol is a name that a file declares.
type Symbol struct {
	Name      string `json:"name"`                // as a caller writes it: Apply, Run.Apply
	Qualified string `json:"qualified,omitempty"` // what means it alone: example.com/mod/pkg.Run.Apply
	Kind      string `json:"kind"`                // function, method, type, struct, interface, field, constant, variable, class, heading, …
	Place
	EndLine   int    `json:"end_line,omitempty"`
	Signature string `json:"signature,omitempty"` // on one line
	Doc       string `json:"doc,omitempty"`       // of its comment, without the comment signs
	Parent    string `json:"parent,omitempty"`    // the type of a method or a field
	Exported  bool   `json:"exported,omitempty"`
}

// Reference is one use of a name.
type Reference struct {
	Place
	In         string `json:"in,omitempty"`         // the function or type around it
	Definition bool   `json:"definition,omitempty"` // it is the declaration itself
}

// Edit is a change of one file: the text between two byte offsets is replaced.
type Edit struct {
	Path       string
	Start, End int // bytes, End behind the last
	New        string
}

// Diagnostic is something that is wrong with a file.
type Diagnostic struct {
	Path     string `json:"path"` // relative to the workspace, with slashes
	Line     int    `json:"line"` // from 1
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error, warning, information or hint
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"` // which tool of the server says so
}

// String is the diagnostic on one line.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d %s: %s", d.Path, d.Line, d.Column, d.Severity, strings.Join(strings.Fields(d.Message), " "))
}
