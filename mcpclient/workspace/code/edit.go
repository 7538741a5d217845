package code

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/placeholder"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// declaration is one declaration with its file as read.
type declaration struct {
	file   *source.File
	before tree.File
	extent source.Extent
}

// edited returns the change of the file by one edit.
func (d declaration) edited(edit source.Edit, note string) ([]change.Change, error) {
	after, err := source.Apply(string(d.before.Data), []source.Edit{edit})
	if err != nil {
		return nil, err
	}
	return []change.Change{{Path: d.file.Path, Before: d.before, After: tree.File{Exists: true, Data: []byte(after), Mode: d.before.Mode}, Note: note}}, nil
}

var (
	methodHead = lazyregexp.New(`^func\s*\(\s*\w*\s*\*?(\w+)[^)]*\)\s*(\w+)`)
	keywords   = lazyregexp.New(`^(?:(?:export|default|public|private|protected|static|async|abstract|final|pub|func|function|def|fn|class|struct|interface|enum|trait|type|const|var|let)\s+)+`)
)

// symbolOf returns the name in what a model gives for one: the first line of a
// declaration, or a part of it.
func symbolOf(given string) string {
	given, _, _ = strings.Cut(strings.TrimSpace(given), "\n")
	if m := methodHead.FindStringSubmatch(given); m != nil {
		return m[1] + "." + m[2]
	}
	given = keywords.ReplaceAllString(strings.Trim(given, "`'\""), "")
	if name, _, more := strings.Cut(given, " "); more {
		given = name
	}
	if open := strings.IndexByte(given, '('); open > 0 {
		given = given[:open]
	}
	return strings.TrimRight(given, ":{;=")
}

// editor changes single declarations.
type editor struct {
	tree     *tree.Tree
	changes  *change.Writer
	words    *wordReader
	resolver *resolver
	finder   *finder
}

// only finds the declaration that a symbol names. It fails if there is none, and if
// there are several, with all of them.
func (o *editor) only(ctx context.Context, symbol, within string) (declaration, error) {
	name, start, err := o.finder.asked(ctx, symbolOf(symbol), within)
	if err != nil {
		return declaration{}, err
	}
	r := &wordSearch{start: start, word: name.Word, lexed: func(f *source.File) any {
		declared := o.resolver.declared(f, name)
		return slices.DeleteFunc(f.Extents(), func(e source.Extent) bool {
			return e.Kind == "heading" || !slices.ContainsFunc(declared, func(s source.Symbol) bool { return s.Place == e.Place })
		})
	}}
	if err := o.words.read(ctx, r); err != nil {
		return declaration{}, err
	}
	var found []declaration
	var declared []source.Symbol
	for _, f := range r.results {
		extents, _ := f.found.([]source.Extent)
		for _, e := range extents {
			found, declared = append(found, declaration{f.file, f.text, e}), append(declared, e.Symbol)
		}
	}
	embeds := embedding(declared)
	found = slices.DeleteFunc(found, func(d declaration) bool { return embeds(d.extent.Symbol) })
	switch len(found) {
	case 0:
		return declaration{}, o.finder.unknown(ctx, name, start, r)
	case 1:
		_, err := o.tree.Changeable(found[0].file.Path)
		return found[0], err
	}
	const most = 8
	places := make([]string, 0, most)
	for _, d := range found[:min(most, len(found))] {
		places = append(places, fmt.Sprintf("%s (%s:%d)", d.extent.Name, d.file.Path, d.extent.Line))
	}
	if left := len(found) - most; left > 0 {
		places = append(places, fmt.Sprintf("and %d more", left))
	}
	return declaration{}, fmt.Errorf("%s is declared in %d places: %s; name one of them in full, or set path to its file", name.Given, len(found), strings.Join(places, ", "))
}

type removeArgs struct {
	Symbol string `json:"symbol" jsonschema:"name of the function, method, type, constant, variable or class, like Parse or Run.Apply"`
	Path   string `json:"path,omitempty" jsonschema:"its file or folder, relative to the workspace; default: the whole workspace"`
}

func (o *editor) remove(ctx context.Context, c op.Call, args removeArgs) (*op.Answer[change.Result], error) {
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		d, err := o.only(ctx, args.Symbol, args.Path)
		if err != nil {
			return nil, err
		}
		edit, err := d.file.Remove(d.extent)
		if err != nil {
			return nil, err
		}
		left, err := o.left(ctx, d)
		if err != nil {
			return nil, err
		}
		return d.edited(edit, left)
	})
}

// left says where the name of a declaration that goes is still used. Names are matched
// as words, so others of the same name count, too.
func (o *editor) left(ctx context.Context, d declaration) (string, error) {
	word := lastName(d.extent.Name)
	r := &wordSearch{start: ".", word: word, lexed: func(f *source.File) any { return f.Uses(word).References }}
	if err := o.words.read(ctx, r); err != nil {
		return "", err
	}
	var places []string
	for _, f := range r.results {
		uses, _ := f.found.([]source.Reference)
		if f.language.Family != d.file.Language.Family {
			continue
		}
		for _, use := range uses {
			if within := use.Path == d.file.Path && use.Line >= d.extent.Top && use.Line <= d.extent.End; !within && !use.Definition {
				places = append(places, fmt.Sprintf("%s:%d", use.Path, use.Line))
			}
		}
	}
	if len(places) == 0 {
		return "", nil
	}
	return fmt.Sprintf("the name %s is still used in %s: %s", word, english.Count(len(places), "place"), listFiles(places)), nil
}

type insertArgs struct {
	Symbol string `json:"symbol,omitempty" jsonschema:"name of the function, method, type, constant, variable or class that the text goes beside; default: the end of the file"`
	Text   string `json:"text" jsonschema:"the code to insert; only what is new"`
	Path   string `json:"path,omitempty" jsonschema:"its file or folder, relative to the workspace; default: the whole workspace"`
	Where  string `json:"where,omitempty" jsonschema:"before it, after it, or inside a class, after its last method; default: before, above its comment"`
}

func (o *editor) insert(ctx context.Context, c op.Call, args insertArgs) (*op.Answer[change.Result], error) {
	switch {
	case strings.TrimSpace(args.Text) == "":
		return nil, errors.New("the argument text of code.insert is empty; give the code to insert")
	case args.Where != "" && args.Where != "before" && args.Where != "after" && args.Where != "inside":
		return nil, fmt.Errorf("the argument where of code.insert is %q; it is before, after or inside", args.Where)
	case args.Symbol == "" && args.Path == "":
		return nil, errors.New("code.insert needs a symbol that the text goes beside, or the path of a file whose end it goes to")
	}
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		if args.Symbol == "" {
			return o.appended(ctx, args.Path, args.Text)
		}
		d, err := o.only(ctx, args.Symbol, args.Path)
		if err != nil {
			return nil, err
		}
		args.Text = withoutTop(args.Text, string(d.before.Data))
		if err := d.lacks(ctx, args.Text); err != nil {
			return nil, err
		}
		if args.Where == "inside" {
			if d, err = d.lastMember(); err != nil {
				return nil, err
			}
		}
		return d.edited(d.file.Insert(d.extent, args.Text, args.Where == "after" || args.Where == "inside"), "")
	})
}

// appended returns the change that puts a text at the end of a file: after its last
// declaration if it is code.
func (o *editor) appended(ctx context.Context, path, given string) ([]change.Change, error) {
	at, err := o.tree.Changeable(path)
	if err != nil {
		return nil, err
	}
	before, err := o.tree.LoadText(at)
	if err != nil {
		return nil, err
	}
	if !before.Exists {
		return nil, fmt.Errorf("there is no file %q; fs.write creates one", path)
	}
	language, known := source.LanguageOf(at)
	if code := known && language.Sort != source.Prose && language.Sort != source.Data; code {
		file, err := source.Lex(ctx, at, string(before.Data))
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(file.Extents()) {
			if d := (declaration{file, before, e}); e.IsBlock() && lastName(e.Name) == e.Name {
				given = withoutTop(given, string(before.Data))
				if err := d.lacks(ctx, given); err != nil {
					return nil, err
				}
				return d.edited(file.Insert(e, given, true), "")
			}
		}
	}
	if !strings.Contains(strings.TrimSpace(given), "\n") && heading.MatchString(strings.TrimSpace(given)) {
		return nil, errors.New("the text is a heading alone; write what stands below it, too")
	}
	return []change.Change{{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(joined(string(before.Data), given)), Mode: before.Mode}}}, nil
}

// topLine matches what stands at the top of a file: its package, and an import.
var topLine = lazyregexp.New(`^(?:package \w+;?|import .+|from \S+ import .+|use \S+;|"[^"]+"|\)|import \(|const \S+ = require\(.*)$`)

// withoutTop leaves out what code to insert has of the top of the file: models write a file
// where a part is wanted. An import that the file lacks stays.
func withoutTop(given, file string) string {
	lines := strings.Split(strings.Trim(given, "\r\n"), "\n")
	for len(lines) > 1 {
		line := strings.TrimSpace(lines[0])
		imported := strings.TrimPrefix(line, "import ")
		if line != "" && (!topLine.MatchString(line) || !strings.HasPrefix(line, "package ") && !strings.Contains(file, imported)) {
			break
		}
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// joined returns a text with another one at its end. That stands after a blank line, but
// right after another item of a list or another row of a table.
func joined(text, more string) string {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	more = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(more, "\r\n", "\n"), "\n"), "\n", end) + end
	text = strings.TrimRight(text, "\r\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	switch items := listItem.MatchString(last) && listItem.MatchString(more); {
	case text == "":
		return more
	case !items && (strings.Contains(text, end+end) || strings.HasPrefix(more, "#")): // paragraphs
		return text + end + end + more
	default:
		return text + end + more
	}
}

// heading matches a heading of Markdown.
var heading = lazyregexp.New(`^#{1,6}\s`)

// listItem matches the beginning of an item of a list, and of a row of a table.
var listItem = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)]|\|)\s?`)

// lacks fails if a text is no code for the file of the declaration, or declares what it has.
func (d declaration) lacks(ctx context.Context, given string) error {
	text, err := source.Lex(ctx, d.file.Path, strings.Trim(given, "\r\n"))
	if err != nil {
		return err
	}
	if isProse(given) {
		return fmt.Errorf("the text is a sentence, not %s; to describe %s use code.comment", d.file.Language.Name, d.extent.Name)
	}
	block, ok := text.Block()
	if ok && slices.ContainsFunc(d.file.Extents(), func(e source.Extent) bool {
		return e.Name == block.Name || e.Name == d.extent.Name && lastName(e.Name) == block.Name
	}) {
		return fmt.Errorf("the text declares %s, which %s has already; to change it use fs.patch, to describe it code.comment", block.Name, d.file.Path)
	}
	return nil
}

// lastMember returns the last method of a class or type.
func (d declaration) lastMember() (declaration, error) {
	for _, e := range slices.Backward(d.file.Extents()) {
		if e.IsBlock() && strings.HasPrefix(e.Name, d.extent.Name+".") {
			d.extent = e
			return d, nil
		}
	}
	return d, fmt.Errorf("%s has no method in %s; insert the text before or after another declaration", d.extent.Name, d.file.Path)
}

var sentence = lazyregexp.New(`^[A-Z][\w'-]*(?:,? [\w'-]+){2,}[.!]?$`)

// isProse reports whether a text is a sentence for people, with no sign of code.
func isProse(text string) bool {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if line = strings.TrimSpace(line); !sentence.MatchString(line) {
			return false
		}
	}
	return true
}

type commentArgs struct {
	Symbol string `json:"symbol" jsonschema:"name of the function, method, type, constant, variable or class"`
	Text   string `json:"text" jsonschema:"what the comment says, in words, without comment signs"`
	Path   string `json:"path,omitempty" jsonschema:"its file or folder, relative to the workspace; default: the whole workspace"`
}

func (o *editor) comment(ctx context.Context, c op.Call, args commentArgs) (*op.Answer[change.Result], error) {
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		d, err := o.only(ctx, args.Symbol, args.Path)
		if err != nil {
			return nil, err
		}
		args.Text = d.withoutTitle(args.Text)
		if err := d.describes(args.Text); err != nil {
			return nil, err
		}
		edit, err := d.file.SetComment(d.extent, args.Text)
		if err != nil {
			return nil, err
		}
		note := ""
		if edit.End > edit.Start {
			note = fmt.Sprintf("the comment that %s has is replaced", d.extent.Name)
		}
		return d.edited(edit, note)
	})
}

// withoutTitle leaves out the words before a description that only say what it describes.
// "Describe Total: sums the items." and "The function `Total` sums the items." become
// "Total sums the items.".
func (d declaration) withoutTitle(text string) string {
	name := lastName(d.extent.Name)
	if title, rest, ok := strings.Cut(text, ": "); ok && strings.TrimSpace(rest) != "" {
		if words := strings.Fields(title); len(words) >= 2 && len(words) <= 6 && words[len(words)-1] == name {
			return rest
		}
	}
	words := strings.Fields(text)
	for i := range min(3, len(words)) {
		before := strings.Join(words[:i], " ")
		if bare := strings.Trim(words[i], "`'\""); len(words) > i+1 && bare == name && named.MatchString(before) && (i > 0 || bare != words[i]) {
			return name + text[strings.Index(text, words[i])+len(words[i]):]
		}
	}
	return text
}

// named matches what may stand before the name in a description.
var named = lazyregexp.New(`(?i)^(?:(?:the|this)(?: (?:function|method|type|class|struct|constant|variable|interface))?)?$`)

// describes fails if a text says nothing of the declaration. Such a text stands for a
// comment that is not written, or is the name alone. Or it begins with the name of another
// function, as comments of Go do.
func (d declaration) describes(text string) error {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	bare := strings.Trim(text, "/#*\"' \t\r\n")
	if found, ok := placeholder.Find(bare, ""); ok {
		return fmt.Errorf("%q stands for a comment that is not written; say what %s does", found, d.extent.Name)
	}
	name := lastName(d.extent.Name)
	switch {
	case len(words) == 0:
		return nil // the file says so
	case bare == name:
		return fmt.Errorf("the comment is the name of %s alone; say what it does", d.extent.Name)
	case d.file.Language.Name != "Go" || words[0] == name:
		return nil
	}
	if slices.ContainsFunc(d.file.Extents(), func(e source.Extent) bool { return e.Kind == "function" && lastName(e.Name) == words[0] }) {
		return fmt.Errorf("the comment is about %s; say what %s does", words[0], d.extent.Name)
	}
	return nil
}
