package intent

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/testfile"
)

// ListForm is how a list is written.
type ListForm struct {
	Plain    bool     // text without Markdown: a name a line
	Title    string   // heading of the list; "" for none
	Names    bool     // names, paths or subjects alone
	Exported bool     // of symbols only those that are exported, and none of tests
	Kinds    []string // of symbols only those of these kinds, such as function; nil for all
	Count    bool     // the number of entries stands above them
	Files    bool     // of symbols their names and files
	Kept     []string // of files only those with one of these extensions; nil for all
}

// kindWords are the words of a goal that name kinds of symbols.
var kindWords = map[string][]string{
	"function": {"function"}, "functions": {"function"}, "methods": {"method"}, "method": {"method"},
	"types": {"type", "struct", "interface"}, "structs": {"struct"}, "interfaces": {"interface"}, "classes": {"class"}, "constants": {"constant"}, "variables": {"variable"},
	"type": {"type", "struct", "interface"}, "struct": {"struct"}, "interface": {"interface"}, "class": {"class"}, "constant": {"constant"},
}

// fileOfEach matches the wish for the file of each entry.
var fileOfEach = lazyregexp.New(`(?i)\b(the|which) file (it|each|that|each one|each of them|they) (is|are) in\b|\bfile (where|that|which) (it is|declares|defines)\b|\b(its|their|the) files?( names?| paths?)?([.,;]|$)|\bin which file\b`)

// ListFormOf reads from the words of a goal how the list in a file of this path is to
// be written.
func ListFormOf(goal, file string) ListForm {
	form := ListForm{Plain: !strings.HasSuffix(strings.ToLower(file), ".md") && !strings.HasSuffix(strings.ToLower(file), ".markdown")}
	for word := range strings.FieldsSeq(strings.ToLower(goal)) {
		word = strings.Trim(word, ".,:;!?()\"'`") // names of files stay whole, and are none of these words
		form.Exported = form.Exported || word == "exported" || word == "public"
		form.Names = form.Names || word == "names" || word == "messages" || word == "subjects"
		form.Count = form.Count || word == "count" || word == "number" || word == "many"
		if (word == "type" || word == "types") && form.Kinds != nil {
			continue // struct types
		}
		form.Kinds = append(form.Kinds, kindWords[word]...)
	}
	form.Files = fileOfEach.MatchString(goal)
	form.Kept = languagesIn(goal)
	return form
}

// entry is one line of a list.
type entry struct {
	name, more string
	code       bool // the name is code
}

// List writes the result of a step as a list, an entry a line, and all of them. It
// reports false for a result that is no list of a clear shape, or is empty.
func List(tool string, value any, form ListForm) (text string, ok bool) {
	tool = tool[strings.LastIndexByte(tool, ':')+1:]
	r := resultOf(value)
	entries, total := r.entries(tool, value, form)
	if form.Names && total > len(entries) && tool != "fs.search" {
		return "", false // names alone leave no place to say that some are left out
	}
	if form.Names && !form.Files {
		for i := range entries {
			entries[i].more = ""
		}
		entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.name == b.name })
	}
	if len(entries) == 0 {
		return "", false
	}
	var b strings.Builder
	if form.Title != "" && form.Plain {
		b.WriteString(oneLine(form.Title) + "\n\n")
	} else if form.Title != "" {
		b.WriteString("# " + legible(oneLine(form.Title)) + "\n\n")
	}
	if form.Count {
		b.WriteString(english.Count(max(total, len(entries)), "entry") + "\n\n")
	}
	for _, e := range entries {
		b.WriteString(e.line(form.Plain) + "\n")
	}
	if left := total - len(entries); left > 0 && !form.Names {
		b.WriteString("\n… and " + english.Count(left, "more entry") + "\n")
	}
	return b.String(), true
}

// line writes an entry in one line.
func (e entry) line(plain bool) string {
	name, more := oneLine(e.name), oneLine(e.more)
	switch {
	case plain:
		return strings.TrimSpace(name + prefixed(": ", more))
	case e.code:
		return "- " + code(name) + prefixed(": ", legible(more))
	}
	return "- " + legible(name) + prefixed(": ", legible(more))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// entries returns the entries of the list that a tool returned, and how many there
// are in all.
func (r result) entries(tool string, value any, form ListForm) ([]entry, int) {
	switch tool {
	case "code.symbols", "code.parse", "code.definition":
		symbols := form.symbols(slices.Concat(r.Symbols, r.Outline, r.Definitions))
		total := len(symbols)
		if !form.Exported && form.Kinds == nil {
			total = max(total, r.Total)
		}
		return entriesOf(symbols, func(s item) entry {
			switch {
			case form.Files && s.Path != "":
				return entry{name: s.Name, more: s.Path, code: true}
			case form.Names:
				return entry{name: s.Name, code: true}
			}
			return entry{name: cmp.Or(s.Signature, s.Name), more: firstSentence(s.Doc), code: true}
		}), total
	case "fs.search", "code.references":
		places := slices.DeleteFunc(slices.Concat(r.Matches, r.References), func(i item) bool { return i.Definition })
		total := max(len(places), r.Total-(len(r.Matches)+len(r.References)-len(places)))
		return entriesOf(places, func(i item) entry {
			if form.Names {
				return entry{name: i.Path}
			}
			return entry{name: i.at(), more: i.Text}
		}), total
	case "vcs.log":
		return entriesOf(r.Commits, func(c item) entry {
			if form.Names {
				return entry{name: c.Subject}
			}
			return entry{name: c.Hash[:min(len(c.Hash), 7)], more: c.Subject, code: true}
		}), max(r.Total, len(r.Commits))
	case "vcs.branches":
		return entriesOf(r.Branches, func(b item) entry { return entry{name: b.Name, more: b.Subject} }), len(r.Branches)
	case "vcs.status", "vcs.diff":
		return entriesOf(r.Files.list, func(f item) entry { return entry{name: f.Path, more: f.Status} }), len(r.Files.list)
	case "fs.list":
		kept := slices.DeleteFunc(slices.Clone(r.Entries), func(i item) bool { return form.Kept != nil && !slices.Contains(form.Kept, path.Ext(i.Path)) })
		return entriesOf(kept, func(i item) entry {
			switch {
			case i.Type == "dir":
				i.Path += "/"
			case form.Names:
				i.Path = path.Base(i.Path)
			}
			return entry{name: i.Path}
		}), len(kept)
	default:
		return listed(value)
	}
}

func entriesOf(items []item, of func(item) entry) []entry {
	entries := make([]entry, 0, len(items))
	for _, i := range items {
		if e := of(i); e.name != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// symbols returns the symbols that the form asks for.
func (f ListForm) symbols(all []item) []item {
	return slices.DeleteFunc(all, func(s item) bool {
		return f.Exported && (!s.Exported || s.Path != "" && testfile.Is(path.Base(s.Path))) || f.Kinds != nil && !slices.Contains(f.Kinds, s.Kind)
	})
}

// firstSentence returns the first sentence of a comment.
func firstSentence(doc string) string {
	doc = oneLine(doc)
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}

// listed returns the entries of any other result: a list, an object with one list, or
// an object of plain values.
func listed(value any) ([]entry, int) {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	if isObject {
		lists, plain := 0, true
		for _, v := range object {
			if inner, ok := v.([]any); ok {
				list, isList = inner, true
				lists++
			}
			plain = plain && isScalar(v)
		}
		switch {
		case plain:
			entries := make([]entry, 0, len(object))
			for _, key := range slices.Sorted(maps.Keys(object)) {
				entries = append(entries, entry{name: key, more: scalarText(object[key])})
			}
			return entries, len(entries)
		case lists != 1:
			return nil, 0
		}
	}
	if !isList {
		return nil, 0
	}
	entries := make([]entry, 0, len(list))
	for _, v := range list {
		e, ok := entryOf(v)
		if !ok {
			return nil, 0
		}
		entries = append(entries, e)
	}
	return entries, len(entries)
}

// nameFields are the fields that name an object, the clearest first.
var nameFields = []string{"name", "title", "path", "subject", "key", "id", "number"}

// entryOf returns the entry of an element of a list. It reports false for an element
// that has no name.
func entryOf(v any) (entry, bool) {
	object, isObject := v.(map[string]any)
	if !isObject {
		return entry{name: scalarText(v)}, isScalar(v) && v != nil
	}
	for _, field := range nameFields {
		if named := object[field]; named != nil && isScalar(named) {
			e := entry{name: scalarText(named)}
			for _, second := range []string{"title", "description", "value", "status", "state"} {
				if more := object[second]; e.more == "" && second != field && more != nil && isScalar(more) {
					e.more = scalarText(more)
				}
			}
			return e, true
		}
	}
	return entry{}, false
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}

func scalarText(v any) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}
