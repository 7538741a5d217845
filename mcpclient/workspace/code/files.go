package code

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"replan/internal/english"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/tree"
)

const (
	maxLexed    = 512 << 10 // maximum bytes of a file to lex
	maxLexedAll = 8 << 20   // maximum bytes that one call lexes
	namedFiles  = 3         // maximum number of files in a note
)

func isGo(at string) bool { return strings.HasSuffix(at, ".go") }

// wordSearch is one pass over the files under a path in search of a word.
type wordSearch struct {
	start   string
	word    string                 // only files with it are lexed; "" lexes all
	fold    bool                   // ignore case and also match parts of words
	skip    func(at string) bool   // reports whether to leave out a file; may be nil
	lexed   func(*source.File) any // called for each lexed source file
	results []readFile             // by path
}

// readFile is the result of a pass for one file that contains the word.
type readFile struct {
	path     string
	language source.Language
	file     *source.File
	found    any
	text     tree.File // as read
	mentions int       // occurrences of the word in a file that is not source code
	skipped  string    // why a source file was not lexed
}

// wordReader reads files in search of words.
type wordReader struct{ tree *tree.Tree }

// read visits the files under r.start. It lexes source files that contain
// the word, and counts the word in other files.
func (o *wordReader) read(ctx context.Context, r *wordSearch) error {
	var paths []string
	err := o.tree.Walk(ctx, r.start, func(at string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || r.skip != nil && r.skip(at) {
			return nil
		}
		if _, ok := source.LanguageOf(at); ok || r.word != "" && !r.fold {
			paths = append(paths, at)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking through %s: %w", r.start, err)
	}
	found := make([]readFile, len(paths))
	var lexed atomic.Int64
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, at := range paths {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error {
			var err error
			found[i], err = o.readWord(inner, r, at, &lexed)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, f := range found {
		if f.path != "" {
			r.results = append(r.results, f)
		}
	}
	return nil
}

// readWord reads one file. The result has no path if the file is irrelevant.
func (o *wordReader) readWord(ctx context.Context, r *wordSearch, at string, lexed *atomic.Int64) (readFile, error) {
	if ctx.Err() != nil {
		return readFile{}, context.Cause(ctx)
	}
	text, err := o.tree.LoadText(at)
	if err != nil || !text.Exists || !r.holds(text.Data) {
		return readFile{}, nil //nolint:nilerr // too large or not text: nothing that has names
	}
	f := readFile{path: at, text: text}
	var known bool
	f.language, known = source.LanguageOf(at)
	switch {
	case !known || f.language.Sort == source.Prose || f.language.Sort == source.Data:
		if at != r.start || !known {
			f.mentions = source.Mentions(text.Data, r.word)
			return f, nil
		}
	case len(text.Data) > maxLexed:
		f.skipped = fmt.Sprintf("it has %d bytes; files over %d are not searched", len(text.Data), maxLexed)
		return f, nil
	case lexed.Add(int64(len(text.Data))) > maxLexedAll:
		f.skipped = fmt.Sprintf("one call searches at most %d MB; set path to a folder", maxLexedAll>>20)
		return f, nil
	}
	f.file, err = source.Lex(ctx, at, string(text.Data))
	switch {
	case ctx.Err() != nil:
		return readFile{}, context.Cause(ctx)
	case err != nil:
		f.skipped = err.Error()
	case f.file.Plain(): // strings and comments would count as code
		f.skipped = "it takes too much work to be read as " + f.language.Name
		f.file, f.mentions = nil, source.Mentions(text.Data, r.word)
	case r.lexed != nil:
		f.found = r.lexed(f.file)
	}
	return f, nil
}

// holding returns the files whose text contains the word, and the number of
// occurrences.
func (o *wordReader) holding(ctx context.Context, r *wordSearch) (files []string, mentions int, err error) {
	err = o.tree.Walk(ctx, r.start, func(at string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || r.skip != nil && r.skip(at) {
			return nil
		}
		text, err := o.tree.LoadText(at)
		if err != nil || !r.holds(text.Data) {
			return nil //nolint:nilerr // too large or not text: nothing that could be compared
		}
		files = append(files, at)
		mentions += source.Mentions(text.Data, r.word)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("looking through %s: %w", r.start, err)
	}
	return files, mentions, nil
}

func (r wordSearch) holds(data []byte) bool {
	switch {
	case r.word == "":
		return true
	case r.fold:
		return strings.Contains(strings.ToLower(string(data)), strings.ToLower(r.word))
	default:
		return source.Holds(data, r.word)
	}
}

// notes returns one sentence per kind of file that the pass left out.
func (r wordSearch) notes() []string {
	var skipped, mentioned []string
	why, mentions := "", 0
	for _, f := range r.results {
		switch {
		case f.skipped != "":
			skipped = append(skipped, f.path)
			if why == "" {
				why = f.skipped
			}
		case f.mentions > 0:
			mentioned = append(mentioned, f.path)
			mentions += f.mentions
		}
	}
	var notes []string
	if len(skipped) > 0 {
		notes = append(notes, fmt.Sprintf("%s %s not searched (%s: %s)", english.Count(len(skipped), "file"), english.Agree(len(skipped), "was", "were"), listFiles(skipped), why))
	}
	if mentions > 0 {
		notes = append(notes, fmt.Sprintf("text and data files contain the name %s (%s)", times(mentions), listFiles(mentioned)))
	}
	return notes
}

// unread returns an error that a name was not found where files that hold it were not
// searched, nil if all were. It names the line that most likely declares the name.
func (r wordSearch) unread(name source.Name, where string) error {
	missed := r.skippedOnly()
	if len(missed) == 0 {
		return nil
	}
	likely, declares := "", false
	for _, f := range r.results {
		if f.skipped == "" || r.fold {
			continue
		}
		if n, line, sure := source.LikelyDeclaration(f.text.Data, name.Word); n > 0 && (likely == "" || sure && !declares) {
			likely, declares = fmt.Sprintf("; %s:%d holds it (%s)", f.path, n, line), sure
		}
	}
	return unreadError{unnamed("no declaration of %s was found in %s, but %s%s", name.Given, where, strings.Join(missed, "; "), likely)}
}

// unreadError means that files which may declare a name were not searched.
type unreadError struct{ error }

func (e unreadError) Unwrap() error { return e.error }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// listFiles names the first few files and counts the rest.
func listFiles(names []string) string {
	if len(names) <= namedFiles {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedFiles], ", "), len(names)-namedFiles)
}

// sentences joins notes into one text.
func sentences(notes []string) string {
	var b strings.Builder
	for _, n := range notes {
		if n = strings.TrimSpace(n); n == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if first, _, _ := strings.Cut(n, " "); !strings.ContainsAny(first, "./_:()") { // otherwise it is a name
			n = english.Capital(n)
		}
		b.WriteString(n)
		if !strings.HasSuffix(n, ".") && !strings.HasSuffix(n, "…") {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// mayErr accompanies every result about uses that comes from words.
const mayErr = "matched by name only, so some matches may be wrong or missing"

// typesFailed returns a note that words replace types in the result, and why.
func typesFailed(err error) string {
	return "type information is not available, so matches are by name only: " + firstSentence(err.Error())
}

func firstSentence(s string) string {
	const most = 300
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// skippedOnly drops the notes of a pass about files without symbols.
func (r wordSearch) skippedOnly() []string {
	only := wordSearch{}
	for _, f := range r.results {
		if f.skipped != "" {
			only.results = append(only.results, f)
		}
	}
	return only.notes()
}
