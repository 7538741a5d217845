package draw

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"charm.land/glamour/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/lazyregexp"
	"replan/internal/markdown"
	"replan/internal/untrusted"
	"replan/themes"
)

// Markdown renders Markdown to lines. It keeps its renderers until the theme
// changes, since creating one costs more than using it.
//
// Glamour wraps only tables here: it does not indent the continuation lines of
// list items, and cannot undo its breaks on a resize.
type Markdown struct {
	styles *Styles
	theme  int // number of the theme change that the renderers were made after
	flow   *glamour.TermRenderer
	table  *glamour.TermRenderer
	width  int // of table

	wait func() <-chan time.Time // delivers when rendering takes too long
	slow map[string]bool         // texts that took too long, shown unrendered
	lost atomic.Int32            // abandoned renderings that still run
}

// Limits for renderings, which cannot be stopped: how long to wait for one, and
// how many abandoned ones may run before rendering stops altogether.
const (
	renderTime = time.Second
	mostLost   = 2
)

// longestProse is the maximum width of running text, in cells: longer lines are
// hard to read. Tables and code take what there is.
const longestProse = 110

// NewMarkdown returns a renderer in the styles of a look.
func NewMarkdown(l *Styles) *Markdown {
	return &Markdown{
		styles: l, slow: map[string]bool{},
		wait: func() <-chan time.Time { return time.After(renderTime) },
	}
}

// Lines renders external text to lines of at most width cells. If Glamour
// fails, Lines returns the text unrendered.
func (m *Markdown) Lines(text string, width int) []TextLine {
	if width < 1 {
		return nil
	}
	var lines []TextLine
	for _, part := range splitParts(untrusted.Markdown(text)) {
		if len(lines) > 0 {
			lines = append(lines, TextLine{})
		}
		if part.code != nil {
			lines = append(lines, m.CodeLabel(part.code.Language, width)...)
			lines = append(lines, m.Code(part.code.Language, part.code.Text, width, false)...)
			continue
		}
		lines = append(lines, m.render(part.text, width)...)
	}
	if m.styles.Theme.Mode.ASCII {
		for i, line := range lines {
			lines[i].Text = strings.ReplaceAll(line.Text, "…", m.styles.Glyphs.Ellipsis[:1]) // Glamour's own ellipsis, one cell wide
		}
	}
	return trimBlank(lines)
}

// render renders text that is a single table or contains none.
func (m *Markdown) render(text string, width int) []TextLine {
	table := tableRow.MatchString(text)
	rendered, ok := m.rendered(text, table, width)
	if !ok {
		return Wrapped(text, width)
	}
	if !table {
		width = min(width, longestProse)
	}
	var lines []TextLine
	// At width 0, Wrap only closes and reopens styles at line ends.
	for line := range strings.SplitSeq(lipgloss.Wrap(onlyStyles(rendered), 0, ""), "\n") {
		line = trimStyled(line)
		if n := len(lines); line == "" && n > 0 && lines[n-1].Text == "" {
			continue
		}
		if table {
			line = tableEdge.ReplaceAllStringFunc(line, func(edge string) string { return m.styles.Border.Render(edge) })
		}
		lines = append(lines, hang(line, width)...)
	}
	return trimBlank(lines)
}

// rendered returns Glamour's output, or false on error or timeout. The screen
// blocks meanwhile, so a text that timed out is not tried again. A flat text is
// rendered in place: the stack of a new goroutine grows from its least size, which
// takes a tenth of the time.
func (m *Markdown) rendered(text string, table bool, width int) (string, bool) {
	if m.lost.Load() >= mostLost || m.slow[text] {
		return "", false
	}
	renderer, err := m.renderer(table, width)
	if err != nil {
		return "", false
	}
	if !table && isFlat(text) {
		out, err := renderer.Render(joinItems(text))
		return out, err == nil
	}
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	var over atomic.Bool // it finished or was abandoned
	go func() {
		out, err := renderer.Render(joinItems(shallow(text)))
		done <- outcome{out, err}
		if !over.CompareAndSwap(false, true) {
			m.lost.Add(-1)
		}
	}()
	select {
	case out := <-done:
		return out.text, out.err == nil
	case <-m.wait():
	}
	m.lost.Add(1)
	if !over.CompareAndSwap(false, true) { // it finished just now
		m.lost.Add(-1)
		out := <-done
		return out.text, out.err == nil
	}
	m.slow[text] = true
	m.flow, m.table = nil, nil // a renderer serves one text at a time
	return "", false
}

// tableEdge matches the lines of a table, which Glamour leaves as bright as
// text.
var tableEdge = regexp.MustCompile(`[│─┼]+`)

// part is a part of a Markdown text: a table, a block of code, or the text between
// them.
type part struct {
	text string
	code *Code // nil for text and tables
}

// splitParts splits a text before and after each table, and each block of code that
// is not indented.
func splitParts(text string) []part {
	var parts []part
	var fences markdown.Fences
	begin, table, fence := 0, false, ""
	lines := strings.Split(text, "\n")
	cut := func(end int) {
		if between := strings.Join(lines[begin:end], "\n"); strings.TrimSpace(between) != "" {
			parts = append(parts, part{text: between})
		}
		begin = end
	}
	code := func(end int) {
		language, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(lines[begin], fence[:1])), " ")
		parts = append(parts, part{code: &Code{Language: language, Text: strings.Join(lines[begin+1:end], "\n")}})
		begin, fence = min(end+1, len(lines)), ""
	}
	for i, line := range lines {
		enclosed := fences.Encloses(line)
		switch {
		case fence != "":
			if strings.HasPrefix(strings.TrimSpace(line), fence) {
				code(i)
			}
		case enclosed && (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")):
			cut(i)
			table, fence = false, line[:3]
		case enclosed:
		case table && !strings.Contains(line, "|"):
			cut(i)
			table = false
		case !table && i+1 < len(lines) && strings.Contains(line, "|") && tableRow.MatchString(lines[i+1]):
			cut(i)
			table = true
		}
	}
	if fence != "" {
		code(len(lines))
	}
	cut(len(lines))
	return parts
}

// tableRow matches the second line of a table.
var tableRow = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t:|-]*$`)

// renderer returns the renderer for text with or without tables.
func (m *Markdown) renderer(table bool, width int) (*glamour.TermRenderer, error) {
	if m.theme != m.styles.Themed {
		m.flow, m.table, m.theme = nil, nil, m.styles.Themed
	}
	kept := &m.flow
	if table {
		if m.width != width {
			m.table, m.width = nil, width
		}
		kept = &m.table
	} else {
		width = 0
	}
	if *kept != nil {
		return *kept, nil
	}
	r, err := glamour.NewTermRenderer(
		glamour.WithStyles(m.styles.Theme.Markdown()),
		glamour.WithWordWrap(width),
		glamour.WithChromaFormatter(themes.CodeFormatter),
	)
	if err != nil {
		return nil, fmt.Errorf("make a Markdown renderer: %w", err)
	}
	*kept = r
	return r, nil
}

var (
	// ListItem matches the bullet or number of a list item.
	ListItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+`)
	// lineLead matches the prefix of a line. Continuation lines repeat it, as
	// spaces or as it is.
	lineLead = regexp.MustCompile(`^[ ]*(?:(?:[•*] (?:\[.\] )?|[0-9]{1,9}\. )|(?:[│|] )+)?`)
)

// joinItems joins the source lines of each list item, so that only the width
// breaks them.
func joinItems(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:0:0]
	var fences markdown.Fences
	item := false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fences.Encloses(line):
			item = false
		case ListItem.MatchString(line):
			item = true
		case item && trimmed != "" && line != strings.TrimLeft(line, " \t"):
			out[len(out)-1] = strings.TrimRight(out[len(out)-1], " ") + " " + trimmed
			continue
		default:
			item = false
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// hang breaks a rendered line into lines of at most width cells. Continuation
// lines align with the text of the first.
func hang(line string, width int) []TextLine {
	plain := ansi.Strip(line)
	if ansi.StringWidth(plain) <= width {
		return []TextLine{{Text: line}}
	}
	lead := lineLead.FindString(plain)
	w := ansi.StringWidth(lead)
	if w > width/2 {
		lead, w = "", 0
	}
	if !strings.ContainsAny(lead, "│|") {
		lead = strings.Repeat(" ", w)
	}
	rest := ansi.TruncateLeft(line, w, "")
	out := broken(rest, WrapStyled(rest, width-w))
	for i := range out {
		if i == 0 {
			out[i].Text = ansi.Truncate(line, w, "") + out[i].Text
		} else {
			out[i].Text, out[i].Lead = lead+out[i].Text, w
		}
	}
	return out
}

// onlyStyles keeps the text and colors of Glamour's output. It removes every
// other sequence, such as links with hidden targets.
func onlyStyles(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var state byte
	p := ansi.GetParser()
	defer ansi.PutParser(p)
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, p)
		switch {
		case width > 0, seq == "\n":
			b.WriteString(seq)
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
			b.WriteString(seq)
		}
		state, s = next, s[n:]
	}
	return b.String()
}

// trimStyled removes the spaces Glamour pads a line with, and the styles that
// apply only to them.
func trimStyled(line string) string {
	plain := ansi.Strip(line)
	trimmed := strings.TrimRight(plain, " ")
	switch trimmed {
	case "":
		return ""
	case plain:
		return line
	}
	return ansi.Truncate(line, ansi.StringWidth(trimmed), "")
}

// trimBlank removes empty lines at both ends.
func trimBlank(lines []TextLine) []TextLine {
	for len(lines) > 0 && lines[0].Text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].Text == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

var strong = lazyregexp.New(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)

// Unmarked returns a line of Markdown without the marks of its code and its bold
// words, for lines of one style.
func Unmarked(line string) string {
	return strong.ReplaceAllString(strings.ReplaceAll(line, "`", ""), "$1")
}
