package source

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// CheckName returns an error if a word cannot be a name in the language of a
// file.
func CheckName(lang Language, name string) error {
	if name == "" {
		return fmt.Errorf("the new name is empty")
	}
	first, _ := utf8.DecodeRuneInString(name)
	if unicode.IsDigit(first) {
		return fmt.Errorf("%q is no identifier of %s: it begins with a digit", name, lang.Name)
	}
	if end := lang.wordEnd(name, 0); !lang.begins(first) || end < len(name) {
		return fmt.Errorf("%q is no identifier of %s; name it with letters, digits and _", name, lang.Name)
	}
	if lang.keyword(name) {
		return fmt.Errorf("%q is a keyword of %s", name, lang.Name)
	}
	return nil
}

// keyword asks the lexer of the language whether a single word is a keyword.
func (l Language) keyword(name string) bool {
	lexer := l.tokenizer()
	if lexer == nil {
		return false
	}
	src := name + "\n"
	if l.Family == "php" {
		src = "<?php " + src
	}
	tokens, err := lexer.Tokenise(nil, src)
	if err != nil {
		return false
	}
	for tok := tokens(); tok != chroma.EOF; tok = tokens() {
		if strings.TrimSpace(tok.Value) == name && tok.Type.InCategory(chroma.Keyword) {
			return true
		}
	}
	return false
}

// Rename returns the edits that replace a word by a new name wherever it is an
// identifier of the file. It fails if the new name is invalid or already in
// use.
func (f *File) Rename(name, newName string) ([]Edit, Uses, error) {
	uses := f.Uses(name)
	if len(uses.offsets) == 0 {
		return nil, uses, nil
	}
	if err := CheckName(f.Language, newName); err != nil {
		return nil, uses, err
	}
	for i, l := range f.lexemes {
		if (l.kind == word || l.kind == symbol) && f.at(i) == newName {
			p := f.place(l.start)
			return nil, uses, fmt.Errorf("%s is already a name in %s:%d (%s); without type information, its uses could not be distinguished from the renamed ones", newName, p.Path, p.Line, p.Text)
		}
	}
	edits := make([]Edit, len(uses.offsets))
	for i, at := range uses.offsets {
		edits[i] = Edit{Path: f.Path, Start: at, End: at + len(name), New: newName}
	}
	return edits, uses, nil
}

// Apply applies edits to a text. They must belong to it and not overlap, but
// may be in any order.
func Apply(src string, edits []Edit) (string, error) {
	sorted := append([]Edit{}, edits...)
	sortEdits(sorted)
	var b strings.Builder
	at := 0
	for _, e := range sorted {
		if e.Start < at || e.End < e.Start || e.End > len(src) {
			return "", fmt.Errorf("the edit of %s at byte %d does not fit the text", e.Path, e.Start)
		}
		b.WriteString(src[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(src[at:])
	return b.String(), nil
}
