package code

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"replan/mcpclient/workspace/code/digest"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type summaryResult struct {
	Kind    string `json:"kind"`    // file, folder, diff, log, tests or symbol; several are joined by +
	Title   string `json:"title"`   // one line; for a diff, the subject of a commit
	Summary string `json:"summary"` // Markdown
}

type summaryArgs struct {
	Text    string          `json:"text,omitempty" jsonschema:"text of a file"`
	Path    string          `json:"path,omitempty" jsonschema:"file to summarize, or the name of the file in text"`
	Diff    *string         `json:"diff,omitempty" jsonschema:"unified diff"`
	Log     json.RawMessage `json:"log,omitempty" jsonschema:"result of vcs.log"`
	Tests   json.RawMessage `json:"tests,omitempty" jsonschema:"result of test.run"`
	Matches json.RawMessage `json:"matches,omitempty" jsonschema:"result of fs.search"`
	Symbol  string          `json:"symbol,omitempty" jsonschema:"name to explain; with matches, the searched name"`
}

// summarizer describes code, diffs, logs and results of tests without a model.
type summarizer struct {
	tree     *tree.Tree
	words    *wordReader
	outliner *outliner
	finder   *finder
	referrer *referrer
	touching func(ctx context.Context, files []string) ([]string, error) // see Config.Touching
	log      *slog.Logger
}

// summarize combines the summaries of all arguments, failures first.
func (o *summarizer) summarize(ctx context.Context, c op.Call, args summaryArgs) (*op.Answer[summaryResult], error) {
	var parts []digest.Digest
	for _, of := range []func(context.Context, summaryArgs) (digest.Digest, error){
		o.summarizeTests, o.summarizeDiff, o.summarizeSymbol, o.summarizeFile, o.summarizeLog,
	} {
		d, err := of(ctx, args)
		if err != nil {
			return nil, err
		}
		parts = append(parts, d)
	}
	d := digest.Join(parts...)
	if d.Kind == "" {
		return nil, errors.New("code.summarize needs input: " + c.ArgNames())
	}
	return op.Reply(summaryResult{d.Kind, d.Title, d.Summary}, d.Summary), nil
}

func given(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null"))
}

// summarizeTests summarizes a test run and the commits in the log that changed
// the failing code.
func (o *summarizer) summarizeTests(ctx context.Context, args summaryArgs) (digest.Digest, error) {
	if !given(args.Tests) {
		return digest.Digest{}, nil
	}
	var report digest.Report
	if err := json.Unmarshal(args.Tests, &report); err != nil {
		return digest.Digest{}, fmt.Errorf("the argument tests is not what test.run returns: %w", err)
	}
	d := digest.Tests(report)
	if !given(args.Log) || report.Passed {
		return d, nil
	}
	commits, _, err := readLog(args.Log)
	if err != nil {
		return digest.Digest{}, err
	}
	files := report.Files()
	o.mark(ctx, commits, files)
	if recent := digest.Recent(commits, files); recent != "" {
		d.Kind += "+log"
		d.Summary += "\n" + recent
	}
	return d, nil
}

// mark flags the commits that changed files or the code they test. If git
// fails, it flags none.
func (o *summarizer) mark(ctx context.Context, commits []digest.Commit, files []string) {
	const most = 20
	if len(files) == 0 || len(commits) == 0 {
		return
	}
	var names []string
	for _, name := range files[:min(most, len(files))] {
		names = append(names, name)
		if test, ok := strings.CutSuffix(name, "_test.go"); ok {
			names = append(names, test+".go") // the tested file
		}
	}
	touched, err := o.touching(ctx, names)
	if err != nil {
		o.log.Debug("the commits of failing files are not known", "error", err)
		return
	}
	for i, c := range commits {
		commits[i].Touches = c.Hash != "" && slices.ContainsFunc(touched, func(h string) bool { return strings.HasPrefix(h, c.Hash) })
	}
}

// readLog parses the result of vcs.log, or its commits alone.
func readLog(raw json.RawMessage) ([]digest.Commit, int, error) {
	var log struct {
		Commits []digest.Commit `json:"commits"`
		Total   int             `json:"total"`
	}
	err := json.Unmarshal(raw, &log)
	if err != nil {
		err = json.Unmarshal(raw, &log.Commits)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("the argument log is not what vcs.log returns: %w", err)
	}
	return log.Commits, log.Total, nil
}

func (o *summarizer) summarizeLog(_ context.Context, args summaryArgs) (digest.Digest, error) {
	if !given(args.Log) {
		return digest.Digest{}, nil
	}
	commits, total, err := readLog(args.Log)
	if err != nil {
		return digest.Digest{}, err
	}
	if given(args.Tests) { // described with the tests that fail
		var report digest.Report
		if err := json.Unmarshal(args.Tests, &report); err == nil && !report.Passed {
			return digest.Digest{}, nil
		}
	}
	return digest.Log(commits, total), nil
}

func (o *summarizer) summarizeDiff(ctx context.Context, args summaryArgs) (digest.Digest, error) {
	if args.Diff == nil {
		return digest.Digest{}, nil
	}
	return digest.Diff(ctx, *args.Diff)
}

// summarizeSymbol describes a name. Without search matches, or if they are none of a
// name that is declared, it looks up the uses itself.
func (o *summarizer) summarizeSymbol(ctx context.Context, args summaryArgs) (digest.Digest, error) {
	if args.Symbol == "" && !given(args.Matches) {
		return digest.Digest{}, nil
	}
	k := digest.Known{Name: args.Symbol, How: "found"}
	if given(args.Matches) {
		var found struct {
			Matches []digest.Use `json:"matches"`
			Total   int          `json:"total"`
		}
		err := json.Unmarshal(args.Matches, &found)
		if err != nil {
			err = json.Unmarshal(args.Matches, &found.Matches)
		}
		if err != nil {
			return digest.Digest{}, fmt.Errorf("the argument matches is not what fs.search returns: %w", err)
		}
		k.Uses, k.Total = found.Matches, found.Total
	}
	if args.Symbol == "" {
		k.Name = "the text that was searched for"
		return digest.Symbol(k), nil
	}
	within := ""
	if args.Text == "" {
		within = args.Path
	}
	defined, err := o.finder.define(ctx, args.Symbol, within)
	switch {
	case ctx.Err() != nil:
		return digest.Digest{}, context.Cause(ctx)
	case err == nil:
		k.Definitions = defined.Definitions
		k.Members = o.members(ctx, defined.Definitions[0])
	case !given(args.Matches):
		return digest.Digest{}, err
	case errors.As(err, new(unreadError)):
		k.Note = sentences([]string{err.Error()})
	}
	if given(args.Matches) && (len(k.Uses) > 0 || len(k.Definitions) == 0) {
		return digest.Symbol(k), nil
	}
	k.How = "used" // a search for Signer.sign finds no call of it
	asked := args.Symbol
	if s := k.Definitions[0]; s.Qualified != "" && defined.By == source.ByTypes {
		asked = s.Qualified // if the name is ambiguous, describe the first
	}
	uses, err := o.referrer.refer(ctx, asked, within)
	if ctx.Err() != nil {
		return digest.Digest{}, context.Cause(ctx)
	}
	if err == nil {
		seen := map[string]bool{}
		for _, r := range uses.References {
			if key := fmt.Sprint(r.Path, r.Line); !seen[key] {
				seen[key] = true
				k.Uses = append(k.Uses, digest.Use{Path: r.Path, Line: r.Line, Text: r.Text})
			}
		}
		k.Total = len(k.Uses)
		if uses.By == source.ByWords {
			k.Note = uses.Note
		}
	} else {
		k.Note = sentences([]string{firstSentence(err.Error())})
	}
	return digest.Symbol(k), nil
}

// members returns the methods and fields of a type, or none if it cannot be
// read.
func (o *summarizer) members(ctx context.Context, s source.Symbol) []source.Symbol {
	var all []source.Symbol
	if isGo(s.Path) {
		r := &wordSearch{start: path.Dir(s.Path), word: s.Name, lexed: func(f *source.File) any { return f.Outline().Symbols }}
		if err := o.words.read(ctx, r); err != nil {
			return nil
		}
		for _, f := range r.results {
			if found, _ := f.found.([]source.Symbol); path.Dir(f.path) == path.Dir(s.Path) {
				all = append(all, found...)
			}
		}
	} else if f, err := o.tree.LoadText(s.Path); err == nil && f.Exists {
		found, err := o.outliner.outline(ctx, s.Path, string(f.Data))
		if err != nil {
			return nil
		}
		all = found.Outline
	}
	name := s.Name
	return slices.DeleteFunc(all, func(m source.Symbol) bool { return m.Parent != name || m.Kind == "heading" })
}

// summarizeFile describes a file, a folder or a text.
func (o *summarizer) summarizeFile(ctx context.Context, args summaryArgs) (digest.Digest, error) {
	if args.Text == "" && (args.Path == "" || args.Symbol != "") {
		return digest.Digest{}, nil
	}
	p := digest.Parsed{Text: args.Text, Lines: source.CountLines(args.Text)}
	at := ""
	if args.Path != "" {
		var err error
		if at, err = o.tree.Resolve(args.Path); err != nil {
			return digest.Digest{}, err
		}
		if info, err := o.tree.Root.Stat(at); err == nil && info.IsDir() {
			return o.summarizeFolder(ctx, at)
		}
		f, err := o.tree.LoadText(at)
		switch {
		case err != nil && args.Text == "":
			return digest.Digest{}, err
		case err == nil && !f.Exists && args.Text == "":
			return digest.Digest{}, o.tree.NoFile(ctx, at)
		case err == nil && f.Exists:
			p.Text = string(f.Data) // the full text, even if the argument is a part
		}
		p.Path = at
		known, err := o.outliner.outline(ctx, at, p.Text)
		if err == nil {
			p.Language, p.Package, p.Imports, p.Lines, p.Outline, p.Note = known.Language, known.Package, known.Imports, known.Lines, known.Outline, ""
			if len(known.Outline) == 0 {
				p.Note = known.Note
			}
		} else if ctx.Err() != nil {
			return digest.Digest{}, context.Cause(ctx)
		}
		if lang, ok := source.LanguageOf(at); !ok || lang.Sort == source.Data || lang.Sort == source.Prose {
			p.Note = ""
		}
	}
	return digest.File(ctx, p), nil
}

// summarizeFolder counts the files of a folder by language.
func (o *summarizer) summarizeFolder(ctx context.Context, at string) (digest.Digest, error) {
	const most = 5000
	f := digest.Folder{Path: at, Languages: map[string]digest.Size{}}
	abouts := map[int]string{} // by reliability
	err := o.tree.Walk(ctx, at, func(p string, d fs.DirEntry) error {
		if d.IsDir() {
			if p != at && path.Dir(p) == at {
				f.Folders = append(f.Folders, path.Base(p))
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if f.Files == most {
			f.Cut = true
			return fs.SkipAll
		}
		f.Files++
		text, err := o.tree.LoadText(p)
		if err != nil {
			return nil //nolint:nilerr // too large or not text: it counts as a file alone
		}
		name := "other text"
		if lang, ok := source.LanguageOf(p); ok {
			name = lang.Name
		}
		size := f.Languages[name]
		f.Languages[name] = digest.Size{Files: size.Files + 1, Lines: size.Lines + source.CountLines(string(text.Data))}
		if path.Dir(p) == at {
			o.about(ctx, p, string(text.Data), abouts)
		}
		return nil
	})
	if err != nil {
		return digest.Digest{}, fmt.Errorf("looking through %s: %w", at, err)
	}
	for rank := range 4 {
		if f.About == "" {
			f.About = abouts[rank]
		}
	}
	return digest.Contents(f), nil
}

// about records what a file says about its folder: a README, doc.go, or a
// package comment.
func (o *summarizer) about(ctx context.Context, p, text string, abouts map[int]string) {
	base := strings.ToLower(path.Base(p))
	var rank int
	switch {
	case base == "doc.go" || base == "__init__.py":
		rank = 0
	case isGo(p) && strings.Contains(text, "// Package "):
		rank = 1
	case strings.HasPrefix(base, "readme"):
		rank = 2
	default:
		return
	}
	if opening := digest.Opening(ctx, p, text); opening != "" && abouts[rank] == "" && (rank != 1 || strings.HasPrefix(opening, "Package ")) {
		abouts[rank] = opening
	}
}
