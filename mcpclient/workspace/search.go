package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"

	"replan/internal/english"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	defaultMatches = 200
	mostMatches    = 2000
	mostContext    = 20
	maxMatchText   = 240 // bytes of a line that a match shows
	mostSearchers  = 8   // goroutines of one search
)

type searchResult struct {
	Matches   []searchMatch  `json:"matches"`
	Total     int            `json:"total"` // matching lines, returned or not
	Files     int            `json:"files"` // that hold one
	Truncated bool           `json:"truncated"`
	Skipped   *searchSkipped `json:"skipped,omitempty"`
}

type searchMatch struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"` // from 1
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"` // the lines before it, where context asks for them
	After  []string `json:"after,omitempty"`
}

// searchSkipped counts the files that were not looked into; unreadable are folders
// too.
type searchSkipped struct {
	Binary     int `json:"binary,omitempty"`
	Large      int `json:"large,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
}

type searchArgs struct {
	Query      string `json:"query" jsonschema:"text to find, or a regular expression where regex is true"`
	Path       string `json:"path,omitempty" jsonschema:"folder or file to search in; the whole workspace where it is left out"`
	Regex      bool   `json:"regex,omitempty" jsonschema:"read query as a regular expression (RE2)"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"find capital and small letters alike"`
	Words      bool   `json:"words,omitempty" jsonschema:"read query as words: find the lines of files that hold all of them in any order, whatever their endings, the best first"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files of this pattern, like *.go or internal/**/*.ts"`
	Context    int    `json:"context,omitempty" jsonschema:"how many lines to show before and after each match; none where it is left out"`
	Max        int    `json:"max,omitempty" jsonschema:"how many matches to return; 200 where it is left out"`
}

func (o *Operators) search(ctx context.Context, _ op.Call, args searchArgs) (*op.Answer[searchResult], error) {
	switch {
	case args.Query == "":
		return nil, errors.New("the argument query of fs.search is empty; say what to look for")
	case !args.Regex && strings.ContainsAny(args.Query, "\n\r"):
		return nil, errors.New("fs.search looks line by line, so query cannot hold the end of a line")
	case args.Max < 0:
		return nil, fmt.Errorf("the argument max of fs.search must be 1 or more, not %d", args.Max)
	case args.Context < 0 || args.Context > mostContext:
		return nil, fmt.Errorf("the argument context of fs.search must be from 0 to %d, not %d", mostContext, args.Context)
	}
	var asked wordSearch
	if args.Words {
		var err error
		if asked, err = newWordSearch(args); err != nil {
			return nil, err
		}
		args.Query, args.Regex, args.IgnoreCase = asked.query(), true, true
	}
	find, err := newFinder(args.Query, args.Regex, args.IgnoreCase)
	if err != nil {
		return nil, err
	}
	only, err := tree.NewGlob(args.Glob)
	if err != nil {
		return nil, err
	}
	start := "."
	if args.Path != "" {
		if start, err = o.tree.Resolve(args.Path); err != nil {
			return nil, err
		}
		if _, err := o.tree.Root.Stat(start); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file or folder %q in the workspace", start)
		}
	}
	s := searching{find: find, context: args.Context, limit: defaultMatches, size: o.maxOutput}
	if args.Max > 0 {
		s.limit = min(args.Max, mostMatches)
	}
	most := s.limit
	if args.Words {
		s.limit = mostMatches // the best are picked from these
	}
	wanted := func(at string, d fs.DirEntry) bool {
		return d.Type().IsRegular() && (args.Glob == "" || only.Match(at))
	}
	if err := s.run(ctx, o, start, wanted); err != nil {
		return nil, fmt.Errorf("searching %s: %w", start, err)
	}
	result := s.result()
	if args.Words {
		result = asked.rank(result, most)
	}
	return op.Reply(result, result.String()), nil
}

// String lists the matches as grep does.
func (r searchResult) String() string {
	var b strings.Builder
	for _, m := range r.Matches {
		fmt.Fprintf(&b, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	fmt.Fprintf(&b, "%s in %s", english.Count(r.Total, "matching line"), english.Count(r.Files, "file"))
	if r.Truncated {
		fmt.Fprintf(&b, ", %d shown", len(r.Matches))
	}
	return b.String()
}

// searching is one search. The walk hands the files to several goroutines in
// its order, in which their matches are put together again.
type searching struct {
	find    *finder
	context int
	limit   int // matches that are returned
	size    int // bytes of their text

	mu      sync.Mutex
	files   []fileMatches // by the position of the file on the walk
	total   int
	holding int // files with a match
	skipped searchSkipped

	settled int // files from the first on whose matches are known
	found   int // matches in them that are kept
	bytes   int // of their text
}

// fileMatches are the matches of one file.
type fileMatches struct {
	done    bool
	matches []searchMatch
}

// searchJob is one file that is to be searched. The folder is held for it.
type searchJob struct {
	in       *tree.Folder
	name, at string
	position int
}

// run searches the files under start that are wanted.
func (s *searching) run(ctx context.Context, o *Operators, start string, wanted func(string, fs.DirEntry) bool) error {
	jobs := make(chan searchJob, 256)
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), mostSearchers) {
		workers.Go(func() {
			var r fileReader
			for job := range jobs {
				s.file(ctx, &r, job)
			}
		})
	}
	position := 0
	err := o.tree.WalkFolders(ctx, start, func(in *tree.Folder, at string, d fs.DirEntry) error {
		if !wanted(at, d) {
			return nil
		}
		job := searchJob{in: in, name: d.Name(), at: at, position: position}
		position++
		if in == nil { // start itself is a file
			job.in, job.name = &tree.Folder{Root: o.tree.Root}, at
			job.in.Hold() // the workspace stays open
		}
		job.in.Hold()
		jobs <- job
		return nil
	}, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.skipped.Unreadable++
	})
	close(jobs)
	workers.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// file searches one file.
func (s *searching) file(ctx context.Context, r *fileReader, job searchJob) {
	defer job.in.Release()
	if ctx.Err() != nil {
		return
	}
	data, err := r.read(job.in.Root, job.name)
	var found []searchMatch
	total := 0
	binary := err == nil && tree.IsBinary(data)
	if err == nil && !binary {
		found, total = s.matches(job, data, &r.folded)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case binary:
		s.skipped.Binary++
	case errors.Is(err, errLarge):
		s.skipped.Large++
	case err != nil && !errors.Is(err, fs.ErrNotExist): // gone since the walk is no fault
		s.skipped.Unreadable++
	}
	if total > 0 {
		s.total += total
		s.holding++
	}
	for len(s.files) <= job.position {
		s.files = append(s.files, fileMatches{})
	}
	s.files[job.position] = fileMatches{done: true, matches: found}
	for s.settled < len(s.files) && s.files[s.settled].done {
		for _, m := range s.files[s.settled].matches {
			s.found++
			s.bytes += m.size()
		}
		s.settled++
	}
}

// full reports whether the files so far have as many matches as are returned,
// so that those of later files need only be counted.
func (s *searching) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found >= s.limit || s.bytes >= s.size
}

// matches finds the matching lines of a file: the first of them, and how many
// there are.
func (s *searching) matches(job searchJob, data []byte, scratch *[]byte) (found []searchMatch, total int) {
	scan := s.find.scan(data, scratch)
	full, line, counted, size := false, 1, 0, 0
	for {
		from, to, at, ok := scan.next()
		if !ok {
			return found, total
		}
		if total == 0 {
			full = s.full()
		}
		total++
		if full || len(found) >= s.limit || size >= s.size {
			continue
		}
		line += bytes.Count(data[counted:from], newline)
		counted = from
		m := searchMatch{Path: job.at, Line: line, Text: around(data[from:to], at-from)}
		if s.context > 0 {
			m.Before, m.After = linesBefore(data, from, s.context), linesAfter(data, to, s.context)
		}
		size += m.size()
		found = append(found, m)
	}
}

var newline = []byte("\n")

// result puts the matches together in the order of the walk.
func (s *searching) result() searchResult {
	r := searchResult{Matches: []searchMatch{}, Total: s.total, Files: s.holding}
	size := 0
	for _, f := range s.files {
		for _, m := range f.matches {
			if len(r.Matches) < s.limit && size < s.size {
				size += m.size()
				r.Matches = append(r.Matches, m)
			}
		}
	}
	r.Truncated = r.Total > len(r.Matches)
	if s.skipped != (searchSkipped{}) {
		r.Skipped = &s.skipped
	}
	return r
}

// size is about how many bytes a match takes.
func (m searchMatch) size() int {
	n := len(m.Path) + len(m.Text)
	for _, lines := range [][]string{m.Before, m.After} {
		for _, line := range lines {
			n += len(line)
		}
	}
	return n
}

// linesBefore are the n lines before the one that begins at from.
func linesBefore(data []byte, from, n int) []string {
	var lines []string
	for ; n > 0 && from > 0; n-- {
		begin := bytes.LastIndexByte(data[:from-1], '\n') + 1
		lines = append(lines, around(trimEnd(data[begin:from]), 0))
		from = begin
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// linesAfter are the n lines after the one whose text ends at to.
func linesAfter(data []byte, to, n int) []string {
	var lines []string
	for ; n > 0; n-- {
		next := bytes.IndexByte(data[to:], '\n')
		if next < 0 || to+next+1 == len(data) {
			break
		}
		from := to + next + 1
		if to = len(data); from < to {
			if end := bytes.IndexByte(data[from:], '\n'); end >= 0 {
				to = from + end
			}
		}
		lines = append(lines, around(trimEnd(data[from:to]), 0))
	}
	return lines
}

func trimEnd(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// around is a line, or the part of a long line that holds the match.
func around(line []byte, match int) string {
	if len(line) <= maxMatchText {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	from := max(0, min(match-maxMatchText/4, len(line)-maxMatchText))
	text := strings.ToValidUTF8(string(line[from:from+maxMatchText]), "")
	if from > 0 {
		text = "…" + text
	}
	if from+maxMatchText < len(line) {
		text += "…"
	}
	return text
}

var errLarge = fmt.Errorf("the file has more than %d bytes", tree.MaxFile)

// fileReader reads one file after the other into the same memory.
type fileReader struct {
	data   []byte
	folded []byte // scratch of the search
}

// read returns what is in a file, up to the next read. It does not wait for a
// pipe that took the place of a file.
func (r *fileReader) read(root *os.Root, name string) (data []byte, err error) {
	f, err := tree.OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if r.data == nil {
		r.data = make([]byte, 64<<10)
	}
	n := 0
	for {
		got, err := f.Read(r.data[n:])
		n += got
		switch {
		case errors.Is(err, io.EOF):
			return r.data[:n], nil
		case err != nil:
			return nil, err
		case n > tree.MaxFile:
			return nil, errLarge
		case n == len(r.data):
			r.data = append(r.data, make([]byte, len(r.data))...)
		}
	}
}
