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

// CodeKind is what a piece of code is, as far as colours tell it.
type CodeKind uint8

// The kinds of code there are.
const (
	CodePlain CodeKind = iota
	CodeKeyword
	CodeType
	CodeFunction
	CodeString
	CodeNumber // constants and escapes too
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

// The most of a text that is looked at; what goes beyond stays plain.
const (
	mostCodeBytes    = 16 << 10
	mostCodeLineSize = 4 << 10 // the expressions of some lexers take very long over long lines

	codeTime = 300 * time.Millisecond // usual code takes a tenth of it
)

// Code parts source into lines of spans, whose texts are together exactly the
// line. The language is a name such as "go" or the name or path of a file; where
// nobody knows it everything is plain. It takes about 3 ms for a KB, of which it
// looks at 16 at most; what a lexer has not come to in 300 ms is plain. It is the same in every theme: keep what it returns
// rather than ask for it at every frame.
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

// spans is Code of a text that is short enough.
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
				break // the line break that some lexers add
			}
			token.Type = chroma.Text // this lexer has changed the text: the source stands
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

// addSpan puts a piece at the end of a line, into the last span where that is of
// the same kind or they are parts of one character. Blanks are of any kind.
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

// joins reports whether a lexer has parted a character between two pieces: a
// style between them would take the parts of an emoji asunder.
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

// Highlight draws source in the colours of the theme, one text a line of it, each
// as wide as it is without colours and with every style closed at its end. The
// source must be safe to draw already. See [Code] for the language and for what
// is left plain, and [Theme.Paint] to keep the two apart.
func (t Theme) Highlight(source, language string) []string {
	lines := Code(source, language)
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = t.Paint(line)
	}
	return out
}

// Paint draws a line of code in the colours of the theme. Every style is closed
// at the line's end.
func (t Theme) Paint(line []CodeSpan) string {
	var b strings.Builder
	for _, span := range line {
		t.pens.write(&b, span.Text, span.Kind)
	}
	return b.String()
}

// codeKind is the kind of a lexer's token.
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

// lexerOf is the lexer of a language by its name, or by that of a file; nil where
// there is none.
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

// lexerNames leads from the names and aliases of languages, from "*." and the
// endings of files, and from "/" and whole names of files, all in small letters,
// to the names of lexers. Asked by itself, chroma tries each pattern of each
// lexer, which takes milliseconds.
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
		add(c.Name, c.Name, weight+1) // its own name goes before another's alias
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
	// What several languages claim goes to the one that is met most.
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
