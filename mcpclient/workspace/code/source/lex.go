package source

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

type lexemeKind uint8

const (
	word    lexemeKind = iota // an identifier or a keyword
	number                    // a literal that starts with a digit
	sign                      // any other single character
	text                      // a string, or a part of one
	comment                   // a comment, or a doc string
	symbol                    // a string that serves as a name, like Ruby's :name
)

// lexeme is a token of a source file. Only strings and comments contain
// blanks.
type lexeme struct {
	start, end int // byte offsets
	line       int // from 1
	kind       lexemeKind
	quoted     bool // inside a string, like a name in an f-string
}

// File is a lexed text of a known language. It is one thing in many files: its lexemes do not
// change once it is lexed. Declarations, extents, comments, uses and renames read its lexemes,
// its lines and the outline, which is made once. To divide it would only hand the same three
// lists around.
type File struct {
	Path     string
	Text     string
	Language Language
	lexemes  []lexeme
	lines    []int // offset of each line
	outline  []declaration
	outlined bool
	plain    bool // the lexer was given up: everything counts as code

	pack    string   // of a Go file, after outlining
	imports []string // of a Go file, after outlining
	broken  string   // the first syntax error of a Go file, after outlining
}

// Plain reports whether the lexer of the language was given up. Then the whole
// text consists of words and signs, including strings and comments.
func (f *File) Plain() bool { return f.plain }

// Limits of a lexer in processor time: what a busy machine gives to others does
// not count. Ordinary code takes a tenth of them. The regular expressions of some
// lexers take minutes for a page of line ends.
const (
	lexWork      = time.Second
	lexWorkPerKB = 20 * time.Millisecond
)

// Lex lexes a text. It fails if the language is unknown or the text cannot be
// read as that language. If lexing takes too much work, the text is split into
// plain words. How busy the machine is changes nothing but the time it takes.
func Lex(ctx context.Context, file, src string) (*File, error) {
	return lex(ctx, file, src, meter{spent: processorTime, now: time.Now, most: lexWork + time.Duration(len(src)>>10)*lexWorkPerKB})
}

// meter measures what a lexer does.
type meter struct {
	spent func() time.Duration // processor time of the calling thread so far
	most  time.Duration        // processor time that the lexer may take
	now   func() time.Time
}

func lex(ctx context.Context, file, src string, m meter) (*File, error) {
	lang, ok := LanguageOf(file)
	if !ok {
		return nil, fmt.Errorf("the language of %s is not known", file)
	}
	f := &File{Path: file, Text: src, Language: lang, lines: lineStarts(src)}
	if lang.lexer == "Go" {
		f.goLexemes()
		return f, nil
	}
	lexer := lang.tokenizer()
	if lexer == nil {
		return nil, fmt.Errorf("there is no lexer for %s (%s)", lang.Name, file)
	}
	var bodies [][2]int
	if lang.Family == "ruby" {
		bodies = f.bodies()
		f.Text = masked(src, bodies)
	}
	err := f.tokenize(ctx, lexer, m)
	f.Text = src
	switch {
	case errors.Is(err, errSlow):
		f.lexemes, f.plain = nil, true
		s := splitter{file: f}
		s.split(0, len(src), sign, false)
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s as %s: %w", file, lang.Name, err)
	}
	f.quote(bodies)
	return f, nil
}

var (
	errSlow    = errors.New("its lexer takes too much work")
	errStalled = errors.New("a match may have been given up") // though the lexer did little
)

// tokenize runs a lexer until a run was not held up by the machine. All runs
// together stay within the limit of work.
func (f *File) tokenize(ctx context.Context, lexer chroma.Lexer, m meter) error {
	runtime.LockOSThread() // the work is counted by thread
	defer runtime.UnlockOSThread()
	m.most += m.spent()
	for {
		tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: true}, f.Text)
		if err != nil {
			return err
		}
		f.lexemes = nil
		if err = f.take(ctx, tokens, m); !errors.Is(err, errStalled) {
			return err
		}
	}
}

// take converts chroma's tokens to lexemes. Chroma normalizes line ends to LF
// and may append one more LF.
func (f *File) take(ctx context.Context, tokens chroma.Iterator, m meter) error {
	s := splitter{file: f}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.spent() > m.most {
			return errSlow
		}
		begun := m.now()
		tok := tokens()
		if m.now().Sub(begun) > matchTime/2 {
			return errStalled
		}
		if tok == chroma.EOF {
			break
		}
		start := s.at
		if !s.follow(tok.Value) {
			return fmt.Errorf("its lexer lost its place in line %d", f.lineAt(min(start, len(f.Text))))
		}
		s.split(start, s.at, kindOf(f.Language, tok.Type), tok.Type == chroma.LiteralStringInterpol)
	}
	if s.at < len(f.Text) {
		return fmt.Errorf("its lexer stopped in line %d", f.lineAt(s.at))
	}
	return nil
}

// kindOf returns the kind of a token; sign means that the token must be split.
func kindOf(lang Language, t chroma.TokenType) lexemeKind {
	switch {
	case t == chroma.CommentPreproc || t == chroma.LiteralStringInterpol || t == chroma.LiteralStringAffix:
		return sign
	case t == chroma.LiteralStringDoc:
		return comment
	case t == chroma.LiteralStringSymbol || t == chroma.LiteralStringAtom:
		return symbol
	case t.InCategory(chroma.Comment):
		return comment
	case t.InSubCategory(chroma.LiteralString):
		return text
	case lang.Sort == Markup && (t.InCategory(chroma.Text) || t == chroma.Other):
		return text
	case t.InSubCategory(chroma.LiteralNumber):
		return number
	default:
		return sign
	}
}

// splitter splits tokens into lexemes and tracks the position in the text.
type splitter struct {
	file *File
	at   int
	line int
}

// follow advances over the text of a token, and reports whether the text
// matches.
func (s *splitter) follow(value string) bool {
	src := s.file.Text
	for i := 0; i < len(value); i++ {
		if s.at == len(src) {
			return value[i:] == "\n" // added by the lexer
		}
		if value[i] == '\n' && src[s.at] == '\r' {
			if s.at++; s.at < len(src) && src[s.at] == '\n' {
				s.at++
			}
			continue
		}
		if value[i] != src[s.at] {
			return false
		}
		s.at++
	}
	return true
}

// split adds the lexemes of a token.
func (s *splitter) split(start, end int, kind lexemeKind, quoted bool) {
	src := s.file.Text
	switch kind {
	case text, comment:
		s.add(start, end, kind)
		return
	case number:
		if start < end {
			s.add(start, end, number)
		}
		return
	case symbol:
		for start < end && !s.file.Language.begins(rune(src[start])) && src[start] < utf8.RuneSelf {
			start++
		}
		if start < end {
			s.add(start, end, symbol)
		}
		return
	}
	for start < end {
		r, size := utf8.DecodeRuneInString(src[start:end])
		switch {
		case unicode.IsSpace(r):
			start += size
		case s.file.Language.begins(r):
			stop := s.file.Language.wordEnd(src[:end], start)
			if n := len(s.file.lexemes); n > 0 && s.file.lexemes[n-1].kind == word && s.file.lexemes[n-1].end == start {
				s.file.lexemes[n-1].end = stop // some lexers split total_ in two
				start = stop
				continue
			}
			s.add(start, stop, word)
			s.file.lexemes[len(s.file.lexemes)-1].quoted = quoted
			start = stop
		case unicode.IsDigit(r):
			stop := start + size
			for stop < end && (isWordRune(src[stop:end]) || src[stop] == '.') {
				_, n := utf8.DecodeRuneInString(src[stop:end])
				stop += n
			}
			s.add(start, stop, number)
			start = stop
		default:
			if !quoted {
				s.add(start, start+size, sign)
			}
			start += size
		}
	}
}

// add appends a lexeme. It merges adjacent tokens of a string or comment.
func (s *splitter) add(start, end int, kind lexemeKind) {
	f := s.file
	if start == end {
		return
	}
	if n := len(f.lexemes); n > 0 && (kind == text || kind == comment) {
		last := &f.lexemes[n-1]
		apart := kind == comment && strings.HasSuffix(f.Text[:start], "\n")
		if last.kind == kind && last.end == start && !apart {
			last.end = end
			return
		}
	}
	for s.line < len(f.lines) && f.lines[s.line] <= start {
		s.line++
	}
	f.lexemes = append(f.lexemes, lexeme{start: start, end: end, line: s.line, kind: kind})
}

// begins reports whether an identifier of the language can start with r.
func (l Language) begins(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || l.grammar != nil && r == '$' && l.grammar.dollar
}

// wordEnd returns the end of the identifier that starts at start.
func (l Language) wordEnd(src string, start int) int {
	i := start
	for i < len(src) {
		r, size := utf8.DecodeRuneInString(src[i:])
		also := l.grammar != nil && (r == '$' && l.grammar.dollar || r == '-' && l.grammar.dash)
		if !isIdentifier(r) && !also {
			break
		}
		i += size
	}
	// Ruby's save! and empty?, but not a != b.
	if l.grammar != nil && l.grammar.marks && i < len(src) && (src[i] == '!' || src[i] == '?') &&
		!strings.HasPrefix(src[i+1:], "=") {
		i++
	}
	return i
}

func isIdentifier(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isWordRune(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isIdentifier(r)
}

// lineStarts returns the offsets of the lines of a text.
func lineStarts(src string) []int {
	starts := []int{0}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineAt returns the number of the line at an offset, counted from 1.
func (f *File) lineAt(offset int) int {
	lo, hi := 0, len(f.lines)
	for lo < hi {
		if mid := (lo + hi) / 2; f.lines[mid] <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// bytesBefore returns how many bytes of its line stand before an offset.
func (f *File) bytesBefore(offset int) int { return offset - f.lines[f.lineAt(offset)-1] }

// line returns a line of the text without its line end.
func (f *File) line(n int) string {
	start, end := f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return strings.TrimRight(f.Text[start:end], "\r\n")
}

// lastContinued returns the number of the line that ends what backslashes at the
// ends of lines continue from a line.
func (f *File) lastContinued(line int) int {
	for line < len(f.lines) && strings.HasSuffix(f.line(line), "\\") {
		line++
	}
	return line
}

// place returns the place of an offset.
func (f *File) place(offset int) Place {
	return Place{Path: f.Path, Line: f.lineAt(offset), Column: f.bytesBefore(offset) + 1, Text: clip(strings.TrimSpace(f.line(f.lineAt(offset))), maxLineText)}
}

const maxLineText = 240 // maximum bytes of a line in a place

// clip shortens a text that is too long to show.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (f *File) at(i int) string {
	if i < 0 || i >= len(f.lexemes) {
		return ""
	}
	return f.Text[f.lexemes[i].start:f.lexemes[i].end]
}

// LineCount returns the number of lines in the text.
func (f *File) LineCount() int { return CountLines(f.Text) }

// CountLines counts the lines of a text, including an unterminated last one.
func CountLines(src string) int {
	n := strings.Count(src, "\n")
	if src != "" && !strings.HasSuffix(src, "\n") {
		n++
	}
	return n
}
