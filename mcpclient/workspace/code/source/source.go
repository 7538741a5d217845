package source

import (
	"cmp"
	"fmt"
	"strings"
)

// Method says how an answer was found.
type Method string

// The methods.
const (
	ByTypes Method = "types" // a type checker resolved every name
	ByWords Method = "words" // names were compared as words outside strings and comments
	ByText  Method = "text"  // text was replaced everywhere, regardless of language
)

// Place is a point in a file of the workspace.
type Place struct {
	Path   string `json:"path"`           // relative to the workspace, with slashes
	Line   int    `json:"line"`           // from 1
	Column int    `json:"column"`         // from 1, in bytes
	Text   string `json:"text,omitempty"` // of the line, without surrounding blanks
}

// ComparePlaces orders places by path, line and column.
func ComparePlaces(a, b Place) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Symbol is a name that a file declares.
type Symbol struct {
	Name      string `json:"name"`                // as a caller writes it: Apply, Run.Apply
	Qualified string `json:"qualified,omitempty"` // unambiguous name: example.com/mod/pkg.Run.Apply
	Kind      string `json:"kind"`                // function, method, type, struct, interface, field, constant, variable, class, heading, …
	Place
	EndLine   int    `json:"end_line,omitempty"`
	Signature string `json:"signature,omitempty"` // on one line
	Doc       string `json:"doc,omitempty"`       // its comment, without comment markers
	Parent    string `json:"parent,omitempty"`    // the type of a method or a field
	Exported  bool   `json:"exported,omitempty"`
}

// Embeds reports whether a symbol is a field of a Go struct that embeds a type, and
// whether the type is written with its package.
func (s Symbol) Embeds() (qualified, embeds bool) {
	if s.Kind != "field" {
		return false, false
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(s.Signature, "*"), " `")
	of, _, _ = strings.Cut(of, "[")
	pkg, name, qualified := strings.Cut(of, ".")
	if !qualified {
		name = pkg
	}
	return qualified, name == s.Name[strings.LastIndexByte(s.Name, '.')+1:]
}

// Reference is one use of a name.
type Reference struct {
	Place
	In         string `json:"in,omitempty"`         // the enclosing function or type
	Definition bool   `json:"definition,omitempty"` // this is the declaration itself
}

// Edit replaces the text between two byte offsets of one file.
type Edit struct {
	Path       string
	Start, End int // bytes, End exclusive
	New        string
}

// Diagnostic is a problem in a file.
type Diagnostic struct {
	Path     string `json:"path"` // relative to the workspace, with slashes
	Line     int    `json:"line"` // from 1
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error, warning, information or hint
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"` // the server's tool that reported it
}

// String formats the diagnostic on one line.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d %s: %s", d.Path, d.Line, d.Column, d.Severity, strings.Join(strings.Fields(d.Message), " "))
}
