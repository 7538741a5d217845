package grep

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"replan/mcpclient/workspace/code/source"
)

// Finder finds the lines that a query matches. It skips files that hold none of the
// texts that every match needs, without reading their lines.
type Finder struct {
	line    *regexp.Regexp // matches a line by itself; nil where the only needle is the query
	whole   *regexp.Regexp // finds lines that may match in a text of many; nil where none can
	needles [][]byte       // every match holds one of them; none means that nothing is known
	fold    bool           // needles are in lower case and found in any
}

// NewFinder reads a query: a text, or a regular expression.
func NewFinder(query string, regex, ignoreCase bool) (*Finder, error) {
	if !regex && !ignoreCase {
		return &Finder{needles: [][]byte{[]byte(query)}}, nil
	}
	expr := query
	if !regex {
		expr = regexp.QuoteMeta(expr)
	}
	if ignoreCase {
		expr = "(?i:" + expr + ")"
	}
	line, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the regular expression %q cannot be read: %w", query, err)
	}
	f := &Finder{line: line, fold: ignoreCase}
	tree, err := syntax.Parse("(?m:"+expr+")", syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the regular expression %q cannot be read: %w", query, err)
	}
	tree = tree.Simplify()
	for _, needle := range required(tree, ignoreCase) {
		f.needles = append(f.needles, []byte(needle))
	}
	if !bounded(tree) {
		f.whole, _ = regexp.Compile("(?m:" + expr + ")") // without it lines are matched one by one
	}
	return f, nil
}

// required returns texts of which every match holds at least one, or nil if none are
// known. With fold they are in lower case and ASCII only.
func required(re *syntax.Regexp, fold bool) []string {
	const most = 8 // texts that are looked for; more are slower than matching
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if fold {
			text = strings.ToLower(text)
			if !isASCII(text) {
				return nil
			}
		} else if re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		return []string{text}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0], fold)
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if texts := required(sub, fold); shortest(texts) > shortest(best) {
				best = texts
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			texts := required(sub, fold)
			if texts == nil {
				return nil
			}
			all = append(all, texts...)
		}
		if len(all) > most {
			return nil
		}
		return all
	default:
		return nil
	}
}

// shortest returns the length of the shortest text, 0 for none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	n := len(texts[0])
	for _, text := range texts {
		n = min(n, len(text))
	}
	return n
}

// bounded reports whether an expression refers to the beginning or the end of the
// text. A line has them in other places than the whole file.
func bounded(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	return slices.ContainsFunc(re.Sub, bounded)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Two letters outside ASCII have the same lower case as one in it. Where they
// occur, needles say nothing.
var oddFolds = [][]byte{[]byte("\u212A"), []byte("\u017F")}

// scan is the position of a finder in a text.
type scan struct {
	ctx     context.Context //nolint:containedctx // of the one search that it belongs to
	f       *Finder
	data    []byte
	in      []byte // where needles are looked for: data, or data in lower case
	needles [][]byte
	places  []int // where each needle comes next; -1 where it does not
	whole   *regexp.Regexp
	pos     int
}

// scan starts to find lines, and finds none once ctx has ended. It may use scratch as
// memory.
func (f *Finder) scan(ctx context.Context, data []byte, scratch *[]byte) *scan {
	s := &scan{ctx: ctx, f: f, data: data, in: data, needles: f.needles, whole: f.whole}
	if f.fold && len(s.needles) > 0 {
		for _, odd := range oddFolds {
			if bytes.Contains(data, odd) {
				s.needles = nil
			}
		}
		if s.needles != nil {
			*scratch = lowerASCII((*scratch)[:0], data)
			s.in = *scratch
		}
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		s.whole = nil // the end of a line is not where it is for the expression
	}
	s.places = make([]int, len(s.needles))
	return s
}

// lowerASCII appends text with its letters of ASCII in lower case.
func lowerASCII(to, text []byte) []byte {
	to = append(to, text...)
	for i, c := range to {
		if 'A' <= c && c <= 'Z' {
			to[i] = c | 0x20
		}
	}
	return to
}

// next returns the next line that matches, without its end, and where in it the
// first match begins.
func (s *scan) next() (from, to, at int, ok bool) {
	for s.pos < len(s.data) && s.ctx.Err() == nil {
		at := s.candidate()
		if at < 0 {
			break
		}
		from = bytes.LastIndexByte(s.data[:at], '\n') + 1
		end := len(s.data)
		if i := bytes.IndexByte(s.data[at:], '\n'); i >= 0 {
			end = at + i
		}
		s.pos = end + 1
		line := trimEnd(s.data[from:end])
		if s.f.line == nil {
			return from, from + len(line), at, true
		}
		if found := s.match(line); found != nil {
			return from, from + len(line), from + found[0], true
		}
	}
	s.pos = len(s.data)
	return 0, 0, 0, false
}

// match returns the place of the first match in a line.
func (s *scan) match(line []byte) []int {
	if len(line) <= source.Stretch {
		return s.f.line.FindIndex(line)
	}
	return s.f.line.FindReaderIndex(source.Stoppable(s.ctx, bytes.NewReader(line)))
}

// candidate returns a place in the next line that may match, or -1.
func (s *scan) candidate() int {
	switch {
	case len(s.needles) > 0:
		best := -1
		for i, needle := range s.needles {
			if s.places[i] >= 0 && (s.places[i] < s.pos || s.pos == 0) {
				if s.places[i] = bytes.Index(s.in[s.pos:], needle); s.places[i] >= 0 {
					s.places[i] += s.pos
				}
			}
			if at := s.places[i]; at >= 0 && (best < 0 || at < best) {
				best = at
			}
		}
		return best
	case s.whole != nil:
		for at := s.pos; at < len(s.data) && s.ctx.Err() == nil; {
			lines := s.data[at:]
			if len(lines) > source.Stretch {
				end := bytes.LastIndexByte(lines[:source.Stretch], '\n')
				if end < 0 {
					return at // a long line is matched by itself
				}
				lines = lines[:end]
			}
			if found := s.whole.FindIndex(lines); found != nil {
				return min(at+found[0], len(s.data)-1)
			}
			at += len(lines) + 1
		}
		return -1
	default:
		return s.pos
	}
}
