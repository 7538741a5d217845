package intent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/markdown"
	"replan/planning/plan"
)

// The bounds of an answer. The rest is counted and left out.
const (
	maxRows  = 30    // of a list
	maxNamed = 200   // rows of a list that was asked for by its kind
	maxTail  = 40    // last lines of what a program wrote
	maxLines = 120   // of a fence
	maxSpan  = 200   // characters of one line
	maxNote  = 800   // characters of an operator's note
	maxProse = 12000 // bytes of text that a summary brings along
)

// result is the result of an operator: the fields that answers show. A field that
// is missing, or has another type, is empty.
type result struct {
	value any // the result as it is

	Matches, Symbols, Outline, Definitions, References, Entries, Findings, Failures, Commits, Branches []item

	Definition *item
	Files      files
	Failed     []string

	Note, By, Summary, Title, Symbol, Path, Diff     string
	Branch, Upstream, Current, Remote, Hash, Subject string
	Author, Date, Body, Command, Output              string

	Total, Edits, Added, Removed, Ahead, Behind, OK, Exit int

	Truncated, Passed, Clean, Created bool
	UpToDate                          bool `json:"up_to_date"`
}

// item is an element of a result's list.
type item struct {
	Path, File, Text, Name, Qualified, Kind, Signature, Doc, In, Type, Status, Message string
	Hash, Author, Date, Subject                                                        string

	Line                        int
	Added, Removed              *int
	Staged, Current, Definition bool
	Exported                    bool
}

// files are those of a result: a list of items or of paths, or their number.
type files struct {
	list  []item
	count int
}

// UnmarshalJSON reads any of the forms.
func (f *files) UnmarshalJSON(data []byte) error {
	var paths []string
	if json.Unmarshal(data, &f.count) == nil {
		return nil
	}
	if json.Unmarshal(data, &paths) == nil {
		f.list = make([]item, len(paths))
		for i, path := range paths {
			f.list[i].Path = path
		}
	} else {
		_ = json.Unmarshal(data, &f.list) // fields of other types stay empty
	}
	f.count = len(f.list)
	return nil
}

// resultOf reads the result of a step.
func resultOf(v any) result {
	r := result{value: v}
	if data, err := plan.EncodeJSON(v); err == nil {
		_ = json.Unmarshal(data, &r) // fields of other types stay empty
	}
	return r
}

func (r result) isObject() bool { _, ok := r.value.(map[string]any); return ok }

// place is path:line as a code span.
func (i item) place() string { return code(i.at()) }

// at is path:line.
func (i item) at() string {
	where := cmp.Or(i.Path, i.File)
	if i.Line > 0 && where != "" {
		where = fmt.Sprintf("%s:%d", where, i.Line)
	}
	return where
}

// shortHash is as much of a commit's hash as is usually shown.
func shortHash(hash string) string {
	letters := []rune(hash)
	return code(string(letters[:min(len(letters), 10)]))
}

// code quotes a text as a span of code, cut to fit a row.
func code(text string) string { return markdown.Code(text, maxSpan) }

// orCode quotes a text as a span of code; without one it is the other.
func orCode(text, other string) string {
	if quoted := code(text); quoted != "" {
		return quoted
	}
	return other
}

// fence quotes a text as a block of code, cut to fit an answer; "" if it is
// blank.
func fence(language, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return markdown.Fence(language, text, maxLines)
}

// legible leaves a text as it is that Markdown cannot read as anything else, and
// quotes any other.
func legible(text string) string { return markdown.Legible(text, maxNote) }

// prefixed puts a text behind a prefix; "" if it is empty.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// prose copies Markdown of an operator. A text that is too long, or leaves a fence
// open, is quoted.
func prose(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	var fences markdown.Fences
	for line := range strings.SplitSeq(text, "\n") {
		fences.Encloses(line)
	}
	if len(text) > maxProse || fences.Encloses("") {
		return fence("", text)
	}
	return text
}

// placed writes a list of places with what is there, in a column of its own. A
// place is no code span if it can do without, to differ from the code beside it.
func placed(list []item, total int, noun string, line func(item) string) string {
	const widest = 32 // characters of a place; what is at a longer one follows it
	column := 0
	for _, i := range list[:min(len(list), maxRows)] {
		if n := utf8.RuneCountInString(legible(i.at())); n <= widest {
			column = max(column, n)
		}
	}
	return rows(list, total, noun, func(i item) string {
		at := legible(i.at())
		return strings.TrimSpace(at + strings.Repeat(" ", max(column-utf8.RuneCountInString(at), 0)) + " " + line(i))
	})
}

// rows writes a list of things that a noun names; those beyond the bound are
// counted. total is their number if the list is cut already.
func rows[T any](list []T, total int, noun string, line func(T) string) string {
	return firstRows(maxRows, list, total, noun, line)
}

// firstRows are rows with a bound of their own.
func firstRows[T any](most int, list []T, total int, noun string, line func(T) string) string {
	shown := min(len(list), most)
	var blocks []string
	if shown > 0 {
		lines := make([]string, shown)
		for i := range shown {
			lines[i] = "- " + line(list[i])
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	if rest := max(total, len(list)) - shown; rest > 0 {
		blocks = append(blocks, "… and "+english.Count(rest, "more "+noun))
	}
	return strings.Join(blocks, "\n\n")
}
