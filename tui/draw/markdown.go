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

	"replan/internal/untrusted"
	"replan/themes"
)

// Markdown renders Markdown to lines. Making a renderer costs more than using
// one, so they are kept while the theme stays.
//
// Glamour breaks no lines here, except in tables: it does not indent the further
// lines of a list item, and what it breaks it cannot take back on a resize.
type Markdown struct {
	look  *Look
	flow  *glamour.TermRenderer
	table *glamour.TermRenderer
	width int // of table

	wait func() <-chan time.Time // delivers when a text has taken too long
	slow map[string]bool         // texts that did: they stand as they are
	lost atomic.Int32            // renderings that were left and still go on
}

// Bounds of a rendering that nothing can stop: how long it is waited for, and how
// many may go on unwatched before nothing is rendered any more.
const (
	renderTime = time.Second
	mostLost   = 2
)

// NewMarkdown makes a renderer in the styles of a look.
func NewMarkdown(l *Look) *Markdown {
	return &Markdown{
		look: l, slow: map[string]bool{},
		wait: func() <-chan time.Time { return time.After(renderTime) },
	}
}

// Retheme forgets what was made for the old theme.
func (m *Markdown) Retheme() { m.flow, m.table = nil, nil }

// Lines renders text from outside to lines of at most width cells. Where
// Glamour cannot, the text stands as it is.
func (m *Markdown) Lines(text string, width int) []TextLine {
	if width < 1 {
		return nil
	}
	var lines []TextLine
	for _, part := range splitTables(untrusted.Markdown(text)) {
		if len(lines) > 0 {
			lines = append(lines, TextLine{})
		}
		lines = append(lines, m.render(part, width)...)
	}
	if m.look.Theme.Mode.ASCII {
		for i, line := range lines {
			lines[i].Text = strings.ReplaceAll(line.Text, "…", m.look.Glyphs.Ellipsis[:1]) // Glamour's own mark, one cell
		}
	}
	return trimBlank(lines)
}

// render renders text that is one table or has none.
func (m *Markdown) render(text string, width int) []TextLine {
	table := tableRow.MatchString(text)
	rendered, ok := m.rendered(text, table, width)
	if !ok {
		return Wrapped(text, width)
	}
	var lines []TextLine
	// Wrap at no width only closes and reopens styles at the ends of lines.
	for line := range strings.SplitSeq(lipgloss.Wrap(onlyStyles(rendered), 0, ""), "\n") {
		line = trimStyled(line)
		if n := len(lines); line == "" && n > 0 && lines[n-1].Text == "" {
			continue
		}
		if table {
			line = tableEdge.ReplaceAllStringFunc(line, func(edge string) string { return m.look.Border.Render(edge) })
		}
		lines = append(lines, hang(line, width)...)
	}
	return trimBlank(lines)
}

// rendered is what Glamour makes of text in the time that it has. The screen
// stands still meanwhile, so a text that takes too long is not tried again.
func (m *Markdown) rendered(text string, table bool, width int) (string, bool) {
	if m.lost.Load() >= mostLost || m.slow[text] {
		return "", false
	}
	renderer, err := m.renderer(table, width)
	if err != nil {
		return "", false
	}
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	var over atomic.Bool // it has ended or was left
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
	if !over.CompareAndSwap(false, true) { // just now
		m.lost.Add(-1)
		out := <-done
		return out.text, out.err == nil
	}
	m.slow[text] = true
	m.Retheme() // the renderers serve one text at a time
	return "", false
}

// tableEdge finds the lines of a table, which Glamour leaves as bright as text.
var tableEdge = regexp.MustCompile(`[│─┼]+`)

// splitTables parts a text before and behind each of its tables.
func splitTables(text string) []string {
	if !tableRow.MatchString(text) {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return []string{text}
	}
	var parts []string
	begin, table, fence := 0, false, ""
	lines := strings.Split(text, "\n")
	cut := func(end int) {
		if part := strings.Join(lines[begin:end], "\n"); strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
		begin = end
	}
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case table && !strings.Contains(line, "|"):
			cut(i)
			table = false
		case !table && i+1 < len(lines) && strings.Contains(line, "|") && tableRow.MatchString(lines[i+1]):
			cut(i)
			table = true
		}
	}
	cut(len(lines))
	return parts
}

// tableRow finds the second line of a table.
var tableRow = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t:|-]*$`)

// renderer returns the renderer for text with or without tables.
func (m *Markdown) renderer(table bool, width int) (*glamour.TermRenderer, error) {
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
		glamour.WithStyles(m.look.Theme.Markdown()),
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
	// ListItem matches the bullet or number that opens an item of a list.
	ListItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+`)
	// lineLead is what stands before the text of a line and is repeated, as
	// blanks or as it is, before its further lines.
	lineLead = regexp.MustCompile(`^[ ]*(?:(?:[•*] (?:\[.\] )?|[0-9]{1,9}\. )|(?:[│|] )+)?`)
)

// joinItems puts the further source lines of a list item on the item's own, so
// that nothing but the width breaks them.
func joinItems(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:0:0]
	fence, item := "", false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence, item = trimmed[:3], false
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

// hang breaks a rendered line into lines of at most width cells; the further
// ones stand under the text of the first.
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
	var parts []string
	for part := range strings.SplitSeq(lipgloss.Wrap(rest, width-w, ""), "\n") {
		parts = append(parts, pieces(part, width-w)...)
	}
	out := broken(rest, parts)
	for i := range out {
		if i == 0 {
			out[i].Text = ansi.Truncate(line, w, "") + out[i].Text
		} else {
			out[i].Text, out[i].Lead = lead+out[i].Text, w
		}
	}
	return out
}

// onlyStyles keeps text and colours of what Glamour made and takes out every
// other sequence, links with hidden targets among them.
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

// trimStyled takes the blanks away that Glamour pads a line with, together with
// the styles that colour nothing but these.
func trimStyled(line string) string {
	plain := strings.TrimRight(ansi.Strip(line), " ")
	if plain == "" {
		return ""
	}
	w := ansi.StringWidth(plain)
	if ansi.StringWidth(line) == w {
		return line
	}
	return ansi.Truncate(line, w, "")
}

// trimBlank takes empty lines from both ends.
func trimBlank(lines []TextLine) []TextLine {
	for len(lines) > 0 && lines[0].Text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].Text == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
