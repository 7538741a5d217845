package chat

import (
	"strings"

	"replan/tui/draw"
)

// piece is a part of a Markdown text that renders on its own: some paragraphs,
// a list, or some lines of code. Text that follows does not change its look.
type piece struct {
	text string     // Markdown, or lines of code
	code *draw.Code // code block of the lines, nil for Markdown
	gap  bool       // blank line before it
}

// Sizes from which parts without a natural end are split, so that the text
// still being written stays small.
const (
	listLines  = 24   // of a list, before a new item
	codeLines  = 40   // of code, before an unindented line
	mostCode   = 80   // of code, anywhere
	longestRun = 4096 // bytes of one paragraph
)

// splitter splits a Markdown text into pieces while it is being written. It
// reads every line once.
type splitter struct {
	done   int     // bytes read, in complete lines
	begin  int     // start of the open piece
	pieces []piece // finished pieces

	gap   bool   // blank line before the open piece
	blank bool   // the newest line was blank
	lines int    // of the open piece
	list  bool   // the newest lines are a list
	inner string // fence of code inside a list, which stays in the list's piece
	fence string // fence of the open code
	open  *draw.Code
	from  int // start of the text of that code
	shift int // indentation of its fence
}

// feed reads the text received so far, which extends the text fed before. It returns the
// pieces that have become finished.
func (s *splitter) feed(text string) []piece {
	before := len(s.pieces)
	for {
		end := strings.IndexByte(text[s.done:], '\n')
		if s.partSentence(text, end) {
			continue
		}
		if end < 0 {
			break
		}
		s.line(text, s.done+end+1)
	}
	if s.open != nil {
		s.open.Text = s.codeText(text[s.from:])
	}
	return s.pieces[before:]
}

// unfinished returns the text of the open piece.
func (s *splitter) unfinished(text string) string { return text[s.begin:] }

// partSentence splits a very long line after a sentence. end is the length of
// the line, negative while it is being written.
func (s *splitter) partSentence(text string, end int) bool {
	if end < 0 {
		end = len(text) - s.done
	}
	if end <= 2*longestRun || s.fence != "" || s.list {
		return false
	}
	at := sentenceEnd(text[s.done : s.done+longestRun])
	if at == 0 {
		return false
	}
	if s.blank && s.done > s.begin {
		s.cut(text, s.done)
	}
	s.cut(text, s.done+at)
	s.done, s.gap = s.begin, false
	return true
}

// line reads the line that ends before end.
func (s *splitter) line(text string, end int) {
	begin := s.done
	line := text[begin:end]
	trimmed := strings.TrimSpace(line)
	s.done = end
	switch {
	case s.fence != "":
		s.codeLine(text, begin, line, trimmed)
		return
	case s.inner != "":
		if closes(trimmed, s.inner) {
			s.inner = ""
		}
	case trimmed == "":
		s.blank = true
		s.lines++
		return
	case fenceOf(trimmed) != "" && s.list && indentation(line) > 1:
		s.inner = fenceOf(trimmed)
	case fenceOf(trimmed) != "" && indentation(line) < 4:
		s.openCode(text, begin, line, trimmed)
		return
	case s.blank && startsBlock(line):
		s.cut(text, begin)
		s.gap, s.list = true, false
	case draw.ListItem.MatchString(line):
		if indentation(line) == 0 && s.list && s.lines >= listLines && continuesList(text[s.begin:begin], line) {
			blank := s.blank
			s.cut(text, begin)
			s.gap = blank
		}
		s.list = true
	case !s.blank && !s.list && s.done-s.begin > longestRun && !strings.Contains(line, "|"):
		s.cut(text, begin)
		s.gap = false
	}
	s.blank = false
	s.lines++
}

// continuesList reports whether a list item looks the same if its list is split before it.
// It is a bullet, or its number follows the previous one.
func continuesList(before, line string) bool {
	number := func(s string) int {
		n, digits := 0, 0
		for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			n, digits = 10*n+int(s[digits]-'0'), digits+1
		}
		if digits == 0 {
			return -1
		}
		return n
	}
	now := number(line)
	if now < 0 {
		return true
	}
	last := -1
	for l := range strings.SplitSeq(before, "\n") {
		if n := number(l); n >= 0 && draw.ListItem.MatchString(l) {
			last = n
		}
	}
	return now == last+1
}

// openCode starts a code block.
func (s *splitter) openCode(text string, begin int, line, trimmed string) {
	s.cut(text, begin)
	s.fence, s.shift = fenceOf(trimmed), indentation(line)
	language, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(trimmed, s.fence[:1])), " ")
	s.open = &draw.Code{Language: language}
	s.begin, s.from = s.done, s.done
	s.lines, s.gap, s.list, s.blank = 0, true, false, false
}

// codeLine reads a line of the open code block.
func (s *splitter) codeLine(text string, begin int, line, trimmed string) {
	if closes(trimmed, s.fence) && indentation(line) < 4 {
		s.open.Text = s.codeText(text[s.from:begin])
		s.cut(text, begin)
		s.fence, s.open = "", nil
		s.begin = s.done
		s.gap = true
		return
	}
	s.lines++
	calm := trimmed == "" || indentation(line) <= s.shift && !strings.ContainsAny(trimmed[:1], ")}]")
	switch {
	case s.lines > codeLines && calm:
		s.cut(text, begin)
		s.lines = 1
	case s.lines >= mostCode:
		s.cut(text, s.done)
	}
}

// cut ends the open piece at end.
func (s *splitter) cut(text string, end int) {
	if p, some := s.pieceOf(text[s.begin:end]); some {
		s.pieces = append(s.pieces, p)
		s.gap = s.fence == ""
	}
	s.begin, s.lines, s.blank = end, 0, false
}

// pieceOf returns the open piece with that text.
func (s *splitter) pieceOf(text string) (p piece, some bool) {
	if s.open != nil {
		text = s.codeText(text)
		return piece{text: text, code: s.open, gap: s.gap}, text != "" || s.gap
	}
	return piece{text: text, gap: s.gap}, strings.TrimSpace(text) != ""
}

// codeText removes the fence's indentation from each line, and the last line
// break.
func (s *splitter) codeText(text string) string {
	text = strings.TrimSuffix(text, "\n")
	if s.shift == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = line[min(indentation(line), s.shift):]
	}
	return strings.Join(lines, "\n")
}

// rest returns the pieces of a fed text that are still open.
func (s *splitter) rest(text string) []piece {
	tail := *s
	tail.pieces = nil
	if tail.done < len(text) {
		tail.line(text, len(text))
	}
	tail.cut(text, len(text))
	return tail.pieces
}

// split splits a complete text.
func split(text string) []piece {
	s := &splitter{}
	s.feed(text)
	return append(s.pieces, s.rest(text)...)
}

// sentenceEnd returns the offset after the last sentence outside any Markdown
// mark, or 0.
func sentenceEnd(text string) int {
	for end := len(text); ; {
		end = strings.LastIndex(text[:end], ". ")
		if end < longestRun/4 {
			return 0
		}
		head := text[:end]
		if strings.Count(head, "`")%2 == 0 && strings.Count(head, "*")%2 == 0 && strings.Count(head, "[") == strings.Count(head, "]") {
			return end + 2
		}
	}
}

// fenceOf returns the fence with which a line opens code, or "".
func fenceOf(trimmed string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, mark)); n >= 3 && (mark != "`" || !strings.Contains(trimmed[n:], "`")) {
			return trimmed[:n]
		}
	}
	return ""
}

// closes reports whether a line closes code opened with a fence.
func closes(trimmed, fence string) bool {
	return strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == ""
}

// indentation returns the number of leading spaces of a line.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// startsBlock reports whether a line after a blank one starts its own block
// instead of continuing a list.
func startsBlock(line string) bool {
	switch line[0] {
	case ' ', '\t', '-', '*', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return strings.HasPrefix(line, "**")
	}
	return true
}
