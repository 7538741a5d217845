package themes

import (
	"image/color"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/charmbracelet/x/ansi"
)

// pens holds the escape sequence for each kind of code; "" means ordinary text.
type pens [codeKinds]string

func (p *pens) write(w io.StringWriter, text string, kind CodeKind) {
	pen := p[kind]
	if pen == "" || text == "" {
		_, _ = w.WriteString(text)
		return
	}
	_, _ = w.WriteString(pen)
	_, _ = w.WriteString(text)
	_, _ = w.WriteString(ansi.ResetStyle)
}

// newPens derives the colors of code from their meaning elsewhere. It reserves red
// for errors and removals.
func newPens(p Palette) pens {
	pen := func(c color.Color) ansi.Style {
		if c == nil {
			return ansi.Style{}
		}
		return ansi.Style{}.ForegroundColor(c)
	}
	all := [codeKinds]ansi.Style{
		CodeKeyword: pen(p.Code), CodeType: pen(p.Running), CodeFunction: pen(p.Accent),
		CodeString: pen(p.Success), CodeNumber: pen(p.Warning),
		CodeComment: pen(p.Faint).Italic(true), CodePunctuation: pen(p.Muted),
		CodeInserted: pen(p.Added), CodeDeleted: pen(p.Removed), CodeHeading: pen(p.Accent).Bold(),
	}
	if p.Code == nil {
		all[CodeKeyword] = all[CodeKeyword].Bold()
	}
	if p.Faint == nil {
		all[CodeComment] = all[CodeComment].Faint()
	}
	var out pens
	for kind, style := range all {
		if len(style) > 0 {
			out[kind] = style.String()
		}
	}
	return out
}

// CodeFormatter is the name under which chroma, and thus Glamour, finds the
// formatter for code blocks. It draws code like [Theme.Highlight].
const CodeFormatter = "replan"

// drawn maps the name of a theme's chroma style to its pens. The style itself has
// no colors, because chroma cannot express a terminal's own colors.
var drawn sync.Map

func init() {
	formatters.Register(CodeFormatter, chroma.FormatterFunc(formatCode))
	for _, d := range builtin() {
		declareTheme(d.Name)
	}
	declareTheme(either().Name)
}

// declareTheme registers the styles of a theme with chroma. Call it before anything
// is drawn, because chroma's registry has no locks.
func declareTheme(name Name) {
	for _, mode := range []Mode{{}, {Depth: Colors256}, {Depth: Colors16}, {NoColor: true}} {
		styles.Register(chroma.MustNewStyle(codeName(name, mode), nil))
	}
}

// codeName returns the name of a theme's chroma style.
func codeName(name Name, mode Mode) string {
	depth := strconv.Itoa(int(mode.Depth))
	if mode.NoColor {
		depth = "plain"
	}
	return "replan-" + string(name) + "-" + depth
}

// formatCode writes tokens with the pens of a style.
func formatCode(w io.Writer, style *chroma.Style, tokens chroma.Iterator) error {
	found, _ := drawn.Load(style.Name)
	p, ok := found.(pens)
	if !ok {
		p = pens{}
	}
	var b strings.Builder
	for token := tokens(); token != chroma.EOF; token = tokens() {
		kind := codeKind(token.Type)
		for i, part := range strings.Split(token.Value, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			p.write(&b, part, kind)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
