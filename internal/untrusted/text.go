package untrusted

import "strings"

// Text is text from outside: of a model, a tool, a file or a user. Its methods
// return it clean, and so do the verbs %s and %v of fmt. JSON holds it as it came.
//
// What needs the text as it came writes string(t): a request to a model, a file,
// the argument of a tool, a comparison. Code that draws never does.
type Text string

// String returns the text clean, with its line breaks.
func (t Text) String() string { return Visible(string(t)) }

// Visible returns the text clean, with its line breaks.
func (t Text) Visible() string { return Visible(string(t)) }

// Markdown returns the text clean for a renderer of Markdown.
func (t Text) Markdown() string { return Markdown(string(t)) }

// Line returns the text clean and on one line.
func (t Text) Line() string { return Line(string(t)) }

// Contains reports whether part occurs in the text as it came.
func (t Text) Contains(part string) bool { return strings.Contains(string(t), part) }

// FirstLine returns the first line that is not blank, clean.
func (t Text) FirstLine() string { return FirstLine(string(t)) }

// Join joins texts as [strings.Join] does.
func Join(texts []Text, separator string) Text {
	raw := make([]string, len(texts))
	for i, t := range texts {
		raw[i] = string(t)
	}
	return Text(strings.Join(raw, separator))
}
