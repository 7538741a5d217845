package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

func (o *Operators) read(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Offset < 0 || args.Limit < 0 {
		return nil, fmt.Errorf("offset and limit of fs.read count lines from 1, they cannot be negative")
	}
	at, err := o.resolve(args.Path)
	if err != nil {
		return nil, err
	}
	f, err := o.loadText(at)
	if err != nil {
		return nil, err
	}
	if !f.exists {
		return nil, o.noFile(ctx, at)
	}
	text, err := excerpt(at, string(f.data), max(args.Offset, 1), args.Limit, o.maxOutput)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(text), nil
}

// excerpt is the lines of text from first on, at most limit of them (0 means
// all) and at most size bytes. Where lines are missing at the end, a last line
// in brackets says so.
func excerpt(at, text string, first, limit, size int) (string, error) {
	if first == 1 && limit == 0 && len(text) <= size {
		return text, nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if first > len(lines) && first > 1 {
		return "", fmt.Errorf("%s has %d lines; there is no line %d", at, len(lines), first)
	}
	var b strings.Builder
	next, cut := first, false
	for ; next <= len(lines) && (limit == 0 || next < first+limit); next++ {
		line := lines[next-1]
		if room := size - b.Len(); len(line) <= room {
			b.WriteString(line)
			continue
		}
		if next == first { // one line alone is too long to return whole
			b.WriteString(strings.ToValidUTF8(line[:size], ""))
			next, cut = next+1, true
		}
		break
	}
	if next > len(lines) && !cut {
		return b.String(), nil
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[cut: lines %d to %d of %d", first, next-1, len(lines))
	if next <= len(lines) {
		fmt.Fprintf(&b, "; go on with offset %d", next)
	}
	b.WriteString("]\n")
	return b.String(), nil
}

const (
	defaultMatches = 200
	mostMatches    = 2000
	maxMatchText   = 240 // bytes of a line that a match shows
)

type searchResult struct {
	Matches   []searchMatch `json:"matches"`
	Total     int           `json:"total"` // matching lines, returned or not
	Truncated bool          `json:"truncated"`
}

type searchMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
}

type searchArgs struct {
	Query string `json:"query"`
	Path  string `json:"path"`
	Regex bool   `json:"regex"`
	Glob  string `json:"glob"`
	Max   int    `json:"max"`
}

func (o *Operators) search(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args searchArgs
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Query == "" {
		return nil, fmt.Errorf("the argument query of fs.search is empty; say what to look for")
	}
	if args.Max < 0 {
		return nil, fmt.Errorf("the argument max of fs.search must be 1 or more, not %d", args.Max)
	}
	expr := args.Query
	if !args.Regex {
		expr = regexp.QuoteMeta(expr)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the regular expression %q cannot be read: %w", args.Query, err)
	}
	only, err := newGlob(args.Glob)
	if err != nil {
		return nil, err
	}
	start := "."
	if args.Path != "" {
		if start, err = o.resolve(args.Path); err != nil {
			return nil, err
		}
		if _, err := o.root.Stat(start); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file or folder %q in the workspace", start)
		}
	}
	limit := defaultMatches
	if args.Max > 0 {
		limit = min(args.Max, mostMatches)
	}
	result := searchResult{Matches: []searchMatch{}}
	size := 0
	err = o.walk(ctx, start, func(at string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || args.Glob != "" && !only.match(at) {
			return nil
		}
		f, err := o.load(at)
		if err != nil || isBinary(f.data) {
			return nil // too large or not text: nothing that a search could show
		}
		for m := range matches(at, f.data, re) {
			result.Total++
			if len(result.Matches) < limit && size < o.maxOutput {
				size += len(m.Text)
				result.Matches = append(result.Matches, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("searching %s: %w", start, err)
	}
	result.Truncated = result.Total > len(result.Matches)
	return structured(result, fmt.Sprintf("%d matches", result.Total)), nil
}

// matches yields the lines of data that the expression matches.
func matches(at string, data []byte, re *regexp.Regexp) iter.Seq[searchMatch] {
	return func(yield func(searchMatch) bool) {
		n := 0
		for line := range bytes.Lines(data) {
			n++
			line = bytes.TrimRight(line, "\r\n")
			found := re.FindIndex(line)
			if found == nil {
				continue
			}
			if !yield(searchMatch{Path: at, Line: n, Text: around(line, found[0])}) {
				return
			}
		}
	}
}

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
