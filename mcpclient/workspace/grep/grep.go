package grep

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
	"replan/mcpclient/workspace/tree"
)

// MostMatches is how many matches a search returns at most.
const MostMatches = 2000

const (
	maxMatchText  = 240 // bytes of a line that a match shows
	mostSearchers = 8   // goroutines of one search
)

// Result holds the matches of a search.
type Result struct {
	Matches   []Match  `json:"matches"`
	Total     int      `json:"total"` // matching lines, returned or not
	Files     int      `json:"files"` // that hold one
	Truncated bool     `json:"truncated"`
	Skipped   *Skipped `json:"skipped,omitempty"`
	Near      []Match  `json:"near,omitempty"` // lines that differ from the query in case alone, if none matches
	Note      string   `json:"note,omitempty"`
}

// Match is a line that matches.
type Match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"` // from 1
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"` // the lines before it, where context asks for them
	After  []string `json:"after,omitempty"`
}

// Skipped counts the files that were not searched. Unreadable counts folders too.
type Skipped struct {
	Binary     int `json:"binary,omitempty"`
	Large      int `json:"large,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
}

// String lists the matches as grep does.
func (r Result) String() string {
	var b strings.Builder
	for _, m := range r.Matches {
		fmt.Fprintf(&b, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	fmt.Fprintf(&b, "%s in %s", english.Count(r.Total, "matching line"), english.Count(r.Files, "file"))
	if r.Truncated {
		fmt.Fprintf(&b, ", %d shown", len(r.Matches))
	}
	if r.Note != "" {
		fmt.Fprintf(&b, "\n%s", r.Note)
	}
	for _, m := range r.Near {
		fmt.Fprintf(&b, "\n%s:%d: %s", m.Path, m.Line, m.Text)
	}
	return b.String()
}

// Search is one search. Several goroutines read the files; the matches come in the
// order of the walk.
type Search struct {
	Find    *Finder
	Context int
	Limit   int // matches that are returned
	Size    int // bytes of their text

	mu      sync.Mutex
	files   []fileMatches // by the position of the file on the walk
	Total   int
	holding int // files with a match
	skipped Skipped

	settled int // files from the first on whose matches are known
	found   int // matches in them that are kept
	bytes   int // of their text
}

// fileMatches are the matches of one file.
type fileMatches struct {
	done    bool
	matches []Match
}

// searchJob is one file to search. Its folder is held open.
type searchJob struct {
	in       *tree.Folder
	name, at string
	position int
}

// Run searches the files under start that are wanted.
func (s *Search) Run(ctx context.Context, files *tree.Tree, start string, wanted func(string, fs.DirEntry) bool) error {
	return s.run(ctx, func(add func(in *tree.Folder, name, at string)) error {
		return files.WalkFolders(ctx, start, func(in *tree.Folder, at string, d fs.DirEntry) error {
			switch {
			case !wanted(at, d):
			case in == nil: // start itself is a file
				add(opened(files), at, at)
			default:
				add(in, d.Name(), at)
			}
			return nil
		}, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.skipped.Unreadable++
		})
	})
}

// RunFiles searches the files at these paths, as if a walk came to them in this order.
func (s *Search) RunFiles(ctx context.Context, files *tree.Tree, paths []string) error {
	return s.run(ctx, func(add func(in *tree.Folder, name, at string)) error {
		for _, at := range paths {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			add(opened(files), at, at)
		}
		return nil
	})
}

// opened returns the workspace as a folder that stays open.
func opened(files *tree.Tree) *tree.Folder {
	in := &tree.Folder{Root: files.Root}
	in.Hold()
	return in
}

// run searches the files that are added.
func (s *Search) run(ctx context.Context, each func(add func(in *tree.Folder, name, at string)) error) error {
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
	err := each(func(in *tree.Folder, name, at string) {
		in.Hold()
		jobs <- searchJob{in: in, name: name, at: at, position: position}
		position++
	})
	close(jobs)
	workers.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// file searches one file.
func (s *Search) file(ctx context.Context, r *fileReader, job searchJob) {
	defer job.in.Release()
	if ctx.Err() != nil {
		return
	}
	data, err := r.read(job.in.Root, job.name)
	var found []Match
	total := 0
	data = bytes.TrimPrefix(data, []byte(tree.ByteOrderMark))
	binary := err == nil && tree.IsBinary(data)
	if err == nil && !binary {
		found, total = s.matches(ctx, job, data, &r.folded)
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
		s.Total += total
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

// full reports whether the files so far have enough matches, so that those of later
// files are only counted.
func (s *Search) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found >= s.Limit || s.bytes >= s.Size
}

// matches returns the first matching lines of a file, and the number of all.
func (s *Search) matches(ctx context.Context, job searchJob, data []byte, scratch *[]byte) (found []Match, total int) {
	scan := s.Find.scan(ctx, data, scratch)
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
		if full || len(found) >= s.Limit || size >= s.Size {
			continue
		}
		line += bytes.Count(data[counted:from], newline)
		counted = from
		m := Match{Path: job.at, Line: line, Text: excerpt(data[from:to], at-from)}
		if s.Context > 0 {
			m.Before, m.After = linesBefore(data, from, s.Context), linesAfter(data, to, s.Context)
		}
		size += m.size()
		found = append(found, m)
	}
}

var newline = []byte("\n")

// Result returns the matches in the order of the walk.
func (s *Search) Result() Result {
	r := Result{Matches: []Match{}, Total: s.Total, Files: s.holding}
	size := 0
	for _, f := range s.files {
		for _, m := range f.matches {
			if len(r.Matches) < s.Limit && size < s.Size {
				size += m.size()
				r.Matches = append(r.Matches, m)
			}
		}
	}
	r.Truncated = r.Total > len(r.Matches)
	if s.skipped != (Skipped{}) {
		r.Skipped = &s.skipped
	}
	return r
}

// size returns about how many bytes a match takes.
func (m Match) size() int {
	n := len(m.Path) + len(m.Text)
	for _, lines := range [][]string{m.Before, m.After} {
		for _, line := range lines {
			n += len(line)
		}
	}
	return n
}

// linesBefore returns the n lines before the one that begins at from.
func linesBefore(data []byte, from, n int) []string {
	var lines []string
	for ; n > 0 && from > 0; n-- {
		begin := bytes.LastIndexByte(data[:from-1], '\n') + 1
		lines = append(lines, excerpt(trimEnd(data[begin:from]), 0))
		from = begin
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// linesAfter returns the n lines after the one that ends at to.
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
		lines = append(lines, excerpt(trimEnd(data[from:to]), 0))
	}
	return lines
}

func trimEnd(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// excerpt returns a line, or the part of a long line that holds the match.
func excerpt(line []byte, match int) string {
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

// fileReader reads files one after the other into the same memory.
type fileReader struct {
	data   []byte
	folded []byte // scratch of the search
}

// read returns the content of a file, which is valid until the next read. It does
// not block on a pipe.
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
