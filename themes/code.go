package themes

import (
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"
)

// CodeKind is the kind of a piece of code, for coloring.
type CodeKind uint8

// The kinds of code.
const (
	CodePlain CodeKind = iota
	CodeKeyword
	CodeType
	CodeFunction
	CodeString
	CodeNumber // also constants and escapes
	CodeComment
	CodePunctuation
	CodeInserted
	CodeDeleted
	CodeHeading
	codeKinds
)

// CodeSpan is a piece of one line of code, all of one kind.
type CodeSpan struct {
	Text string
	Kind CodeKind
}

// Limits on highlighting. Text beyond them stays plain.
const (
	mostCodeBytes    = 16 << 10
	mostCodeLineSize = 4 << 10 // some lexers' expressions are very slow on long lines

	codeTime = 300 * time.Millisecond // typical code takes a tenth of it
)

// Code splits source into lines of spans; the texts of a line's spans add up to
// exactly that line. language is a name such as "go", or the name or path of a
// file. If it is unknown, everything is plain.
//
// Code takes about 3 ms per KB. It examines at most 16 KB, and leaves plain
// whatever the lexer has not reached after 300 ms. The result is the same in every
// theme, so keep it rather than call Code for every frame.
func Code(source, language string) [][]CodeSpan {
	if len(source) <= mostCodeBytes {
		return spans(source, language)
	}
	end := strings.LastIndexByte(source[:mostCodeBytes], '\n')
	if end < 0 {
		return plainLines(source)
	}
	return append(spans(source[:end], language), plainLines(source[end+1:])...)
}

// spans is Code for a text within the size limit.
func spans(source, language string) [][]CodeSpan {
	lexer := lexerOf(language)
	if lexer == nil || longestLine(source) > mostCodeLineSize {
		return plainLines(source)
	}
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, source)
	if err != nil {
		return plainLines(source)
	}
	lines := make([][]CodeSpan, 1, 16)
	rest := source
	end := time.Now().Add(codeTime)
	for token := tokens(); token != chroma.EOF && time.Now().Before(end); token = tokens() {
		value := token.Value
		if !strings.HasPrefix(rest, value) {
			if value = rest; value == "" {
				break // line break added by some lexers
			}
			token.Type = chroma.Text // the lexer changed the text, so keep the source
		}
		rest = rest[len(value):]
		kind := codeKind(token.Type)
		for i, part := range strings.Split(value, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			lines[len(lines)-1] = addSpan(lines[len(lines)-1], part, kind)
		}
	}
	for i, part := range strings.Split(rest, "\n") {
		if i > 0 {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = addSpan(lines[len(lines)-1], part, CodePlain)
	}
	return lines
}

// addSpan appends a piece to a line. It extends the last span if the kinds match or
// the pieces share a character. Blanks match any kind.
func addSpan(line []CodeSpan, text string, kind CodeKind) []CodeSpan {
	if text == "" {
		return line
	}
	if n := len(line); n > 0 && (line[n-1].Kind == kind || strings.Trim(text, " ") == "" || joins(line[n-1].Text, text)) {
		line[n-1].Text += text
		return line
	}
	return append(line, CodeSpan{Text: text, Kind: kind})
}

// joins reports whether a lexer has split a character between two pieces. A style
// between them would break up an emoji.
func joins(before, after string) bool {
	first, _ := utf8.DecodeRuneInString(after)
	const joiner = "\u200d"
	return strings.HasSuffix(before, joiner) || first != '\t' && ansi.StringWidth(string(first)) == 0 ||
		ansi.StringWidth(before+after) != ansi.StringWidth(before)+ansi.StringWidth(after)
}

func plainLines(source string) [][]CodeSpan {
	lines := make([][]CodeSpan, 0, strings.Count(source, "\n")+1)
	for line := range strings.SplitSeq(source, "\n") {
		lines = append(lines, addSpan(nil, line, CodePlain))
	}
	return lines
}

func longestLine(source string) int {
	longest := 0
	for line := range strings.SplitSeq(source, "\n") {
		longest = max(longest, len(line))
	}
	return longest
}

// Highlight draws source in the colors of the theme, one string per line. Each
// line keeps its plain width, and every style is closed at its end. The source must
// already be safe to draw.
//
// See [Code] for the language and for what stays plain, and [Theme.Paint] to
// separate the two steps.
func (t Theme) Highlight(source, language string) []string {
	lines := Code(source, language)
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = t.Paint(line)
	}
	return out
}

// Paint draws a line of code in the colors of the theme. It closes every style at
// the end of the line.
func (t Theme) Paint(line []CodeSpan) string {
	var b strings.Builder
	for _, span := range line {
		t.pens.write(&b, span.Text, span.Kind)
	}
	return b.String()
}

// codeKind returns the kind of a lexer token.
func codeKind(t chroma.TokenType) CodeKind {
	if kind, ok := codeKindOf[t]; ok {
		return kind
	}
	if kind, ok := codeKindOf[t.SubCategory()]; ok {
		return kind
	}
	return codeKindOf[t.Category()]
}

var codeKindOf = map[chroma.TokenType]CodeKind{
	chroma.Keyword: CodeKeyword, chroma.KeywordType: CodeType, chroma.KeywordConstant: CodeNumber,
	chroma.NameFunction: CodeFunction, chroma.NameFunctionMagic: CodeFunction, chroma.NameBuiltin: CodeFunction,
	chroma.NameDecorator: CodeFunction, chroma.NameAttribute: CodeFunction,
	chroma.NameClass: CodeType, chroma.NameException: CodeType,
	chroma.NameTag: CodeKeyword, chroma.NameKeyword: CodeKeyword, chroma.NameConstant: CodeNumber,
	chroma.Literal: CodeString, chroma.LiteralString: CodeString, chroma.LiteralNumber: CodeNumber, chroma.LiteralDate: CodeNumber,
	chroma.LiteralStringEscape: CodeNumber, chroma.LiteralStringInterpol: CodeNumber,
	chroma.Comment: CodeComment, chroma.CommentPreproc: CodeKeyword, chroma.CommentPreprocFile: CodeString,
	chroma.OperatorWord: CodeKeyword, chroma.Punctuation: CodePunctuation,
	chroma.GenericInserted: CodeInserted, chroma.GenericDeleted: CodeDeleted,
	chroma.GenericHeading: CodeHeading, chroma.GenericSubheading: CodeHeading, chroma.GenericStrong: CodeHeading,
}

// lexerOf returns the lexer for a language name or a file name, or nil if there is
// none.
func lexerOf(language string) chroma.Lexer {
	name := strings.ToLower(strings.TrimSpace(language))
	if name == "" || len(name) > 4096 {
		return nil
	}
	known := lexerNames()
	if lexer := known[name]; lexer != "" {
		return lexers.Get(lexer)
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if lexer := known["/"+base]; lexer != "" {
		return lexers.Get(lexer)
	}
	for {
		_, ending, found := strings.Cut(base, ".")
		if !found {
			return nil
		}
		if lexer := known["*."+ending]; lexer != "" {
			return lexers.Get(lexer)
		}
		base = ending
	}
}

// lexerNames maps lower-case keys to lexer names. The keys are language names and
// aliases, "*." with a file extension, and "/" with a full file name. chroma's own
// lookup tries each pattern of each lexer, which takes milliseconds.
var lexerNames = sync.OnceValue(func() map[string]string {
	names, weights := map[string]string{}, map[string]float32{}
	add := func(key, lexer string, weight float32) {
		key = strings.ToLower(key)
		if before, ok := names[key]; ok && (weights[key] > weight || weights[key] == weight && before < lexer) {
			return
		}
		names[key], weights[key] = lexer, weight
	}
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		c := l.Config()
		weight := c.Priority
		if weight == 0 {
			weight = 1
		}
		add(c.Name, c.Name, weight+1) // a lexer's own name beats another's alias
		for _, alias := range c.Aliases {
			add(alias, c.Name, weight)
		}
		for _, pattern := range c.Filenames {
			plain := strings.TrimPrefix(pattern, "*.")
			switch {
			case strings.ContainsAny(plain, "*?["):
			case plain != pattern:
				add(pattern, c.Name, weight)
			default:
				add("/"+pattern, c.Name, weight)
			}
		}
	}
	// A key claimed by several languages goes to the most common one.
	for key, lexer := range map[string]string{
		"*.h": "C++", "*.hpp": "C++", "*.ts": "TypeScript", "*.mts": "TypeScript", "*.cts": "TypeScript", "*.sql": "SQL",
		"*.pl": "Perl", "*.pm": "Perl", "*.r": "R", "*.d": "D", "*.m": "Objective-C", "*.fs": "FSharp", "*.jsonl": "JSON",
		"*.v": "verilog", "*.cfg": "INI", "*.conf": "INI", "*.s": "GAS", "*.svg": "XML",
	} {
		if lexers.GlobalLexerRegistry.Get(lexer) != nil {
			names[key] = lexer
		}
	}
	return names
})
