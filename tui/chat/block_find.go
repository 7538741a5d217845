package chat

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/tui/draw"
)

// query is what a search looks for.
type query struct {
	text  string // as typed; in small letters unless exact
	exact bool   // case-sensitive, as it is if the query has a capital letter
	id    int    // tells queries apart, for kept counts; from 1
}

func newQuery(text string, id int) query {
	if strings.ContainsFunc(text, unicode.IsUpper) {
		return query{text, true, id}
	}
	return query{strings.ToLower(text), false, id}
}

// lit is a match in a drawn block: cells of one of its lines.
type lit struct{ line, from, to, nth int }

// findings are what the search has read of a block and found in it.
type findings struct {
	text   string // of the block, normalized
	read   bool   // text is valid
	by     int    // query that hits belongs to
	hits   int    // matches in the text
	places []lit  // matches in the drawn lines
	placed int    // query that places belongs to
}

// forgetText drops the text, which has changed.
func (f *findings) forgetText() { f.read = false }

// forgetPlaces drops the matches in the drawn lines.
func (f *findings) forgetPlaces() { f.places = nil }

// count returns the number of matches in the text of the block. Text that must be drawn to
// be read is drawn in that width.
func (b *Block) count(q query, width int) int {
	f := &b.found
	if f.by != q.id || !f.read {
		text := b.plain(width)
		if !q.exact {
			text = strings.ToLower(text)
		}
		f.by, f.hits, f.places = q.id, strings.Count(text, q.text), nil
	}
	return f.hits
}

// matched reports whether the last search found something in the block.
func (b *Block) matched() bool { return b.found.hits > 0 }

// plain returns the text of the block, if possible without drawing it.
func (b *Block) plain(width int) string {
	f := &b.found
	if f.read {
		return f.text
	}
	switch {
	case b.text != nil:
		f.text = unmarked(b.text())
	default:
		f.text = ansi.Strip(draw.Unbroken(b.Typeset(max(width, 80))))
	}
	f.read = !b.live
	return f.text
}

// places returns the matches in the block, drawn as these lines.
func (b *Block) places(q query, lines []draw.TextLine) []lit {
	f := &b.found
	if f.places == nil || f.placed != q.id {
		f.places, f.placed = litIn(lines, q.text, q.exact), q.id
	}
	return f.places
}

// Markdown marks that are not drawn.
var (
	markedLink  = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)`)
	markedText  = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "")
	markedLines = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6} |> ?)|^(?:~~~|-{3,}$)`)
)

// unmarked removes most Markdown marks, so that the text is close to what is
// drawn.
func unmarked(text string) string {
	text = untrusted.Visible(text)
	if strings.Contains(text, "](") {
		text = markedLink.ReplaceAllString(text, "$1 $2")
	}
	if strings.ContainsAny(text, "*_`~") {
		text = markedText.Replace(text)
	}
	if strings.ContainsAny(text, "#>~-") {
		text = markedLines.ReplaceAllString(text, "")
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// litIn finds a text in drawn lines, across breaks made by wrapping.
func litIn(lines []draw.TextLine, query string, exact bool) []lit {
	out := []lit{}
	nth := 0
	for begin := 0; begin < len(lines); {
		end := begin + 1
		for end < len(lines) && lines[end].Join != draw.Apart {
			end++
		}
		out, nth = litInLine(out, lines[begin:end], begin, query, exact, nth)
		begin = end
	}
	return out
}

// litInLine finds a text in one line that wrapping broke into several.
func litInLine(out []lit, lines []draw.TextLine, first int, query string, exact bool, nth int) ([]lit, int) {
	texts := make([]string, len(lines))
	starts := make([]int, len(lines)+1)
	var whole strings.Builder
	for i, line := range lines {
		if line.Join == draw.Spaced {
			whole.WriteByte(' ')
		}
		starts[i] = whole.Len()
		texts[i] = strings.TrimRight(ansi.Strip(ansi.TruncateLeft(line.Text, line.Lead, "")), " ")
		whole.WriteString(texts[i])
	}
	starts[len(lines)] = whole.Len()
	text := whole.String()
	compared := text
	if !exact {
		compared = strings.Map(unicode.ToLower, text)
	}
	for at := 0; query != ""; {
		i := strings.Index(compared[at:], query)
		if i < 0 {
			break
		}
		// Case folding may change the bytes of a letter, but not the number of
		// letters.
		from := runesIn(text, utf8.RuneCountInString(compared[:at+i]))
		to := runesIn(text, utf8.RuneCountInString(compared[:at+i+len(query)]))
		at += i + len(query)
		for n, part := range texts {
			a, b := max(from-starts[n], 0), min(to-starts[n], len(part))
			if a < b {
				lead := lines[n].Lead
				out = append(out, lit{first + n, lead + ansi.StringWidth(part[:a]), lead + ansi.StringWidth(part[:b]), nth})
			}
		}
		nth++
	}
	return out, nth
}

// runesIn returns the number of bytes of the first n runes of s.
func runesIn(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
