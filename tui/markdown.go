package tui

import (
	"fmt"
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
	"replan/tui/untrusted"
)

// markdown renders Markdown to lines. Making a renderer costs more than using
// one, so they are kept while the theme stays.
//
// Glamour breaks no lines here, except in tables: it does not indent the further
// lines of a list item, and what it breaks it cannot take back on a resize.
type markdown struct {
	look  *look
	flow  *glamour.TermRenderer
	table *glamour.TermRenderer
	width int // of table
}

func newMarkdown(l *look) *markdown { return &markdown{look: l} }

// retheme forgets what was made for the old theme.
func (m *markdown) retheme() { m.flow, m.table = nil, nil }

// lines renders text from outside to lines of at most width cells. Where
// Glamour cannot, the text stands as it is.
func (m *markdown) lines(text string, width int) []string {
	if width < 1 {
		return nil
	}
	var lines []string
	for _, part := range splitTables(untrusted.Markdown(text)) {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.render(part, width)...)
	}
	if m.look.theme.Mode.ASCII {
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(line, "…", m.look.glyphs.Ellipsis[:1]) // Glamour's own mark, one cell
		}
	}
	return trimBlank(lines)
}

// render renders text that is one table or has none.
func (m *markdown) render(text string, width int) []string {
	renderer, err := m.renderer(tableRow.MatchString(text), width)
	if err != nil {
		return wrap(text, width)
	}
	rendered, err := renderer.Render(joinItems(text))
	if err != nil {
		return wrap(text, width)
	}
	var lines []string
	// Wrap at no width only closes and reopens styles at the ends of lines.
	for line := range strings.SplitSeq(lipgloss.Wrap(onlyStyles(rendered), 0, ""), "\n") {
		line = trimStyled(line)
		if n := len(lines); line == "" && n > 0 && lines[n-1] == "" {
			continue
		}
		if renderer == m.table {
			line = tableEdge.ReplaceAllStringFunc(line, func(edge string) string { return m.look.Border.Render(edge) })
		}
		lines = append(lines, hang(line, width)...)
	}
	return trimBlank(lines)
}

// tableEdge finds the lines of a table, which Glamour leaves as bright as text.
var tableEdge = regexp.MustCompile(`[│─┼]+`)

// codeMargin is how far code stands from the left edge, in cells.
const codeMargin = 2

// cutCode cuts the lines of code blocks so that none is broken in width cells.
func (l *look) cutCode(text string, width int) string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.HasPrefix(trimmed, fence):
			fence = ""
		case fence != "":
			lines[i] = l.cut(line, width-codeMargin)
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		}
	}
	return strings.Join(lines, "\n")
}

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
func (m *markdown) renderer(table bool, width int) (*glamour.TermRenderer, error) {
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
		glamour.WithStyles(m.look.theme.Markdown()),
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
	listItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+`)
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
		case listItem.MatchString(line):
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
func hang(line string, width int) []string {
	plain := ansi.Strip(line)
	if ansi.StringWidth(plain) <= width {
		return []string{line}
	}
	lead := lineLead.FindString(plain)
	w := ansi.StringWidth(lead)
	if w > width/2 {
		lead, w = "", 0
	}
	if !strings.ContainsAny(lead, "│|") {
		lead = strings.Repeat(" ", w)
	}
	parts := strings.Split(lipgloss.Wrap(ansi.TruncateLeft(line, w, ""), width-w, ""), "\n")
	var out []string
	for _, part := range parts {
		for _, piece := range pieces(part, width-w) {
			if len(out) == 0 {
				out = append(out, ansi.Truncate(line, w, "")+piece)
			} else {
				out = append(out, lead+piece)
			}
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
func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// stream renders Markdown that is still being written: what is finished is
// rendered once, only the open block at its end again.
type stream struct {
	done  int // bytes of the text that are rendered for good
	lines []string
	width int
}

// render returns the lines of text, of which the beginning is as it was.
func (s *stream) render(m *markdown, text string, width int) []string {
	if s.width != width || s.done > len(text) {
		*s = stream{width: width}
	}
	if end := s.done + finishedBlocks(text[s.done:]); end > s.done {
		s.lines = append(s.lines, m.lines(text[s.done:end], width)...)
		s.lines = append(s.lines, "")
		s.done = end
	}
	open := m.lines(text[s.done:], width)
	if len(open) == 0 {
		return trimBlank(s.lines)
	}
	return append(s.lines[:len(s.lines):len(s.lines)], open...)
}

// finishedBlocks is the length of the part of text that more text cannot
// change: up to the last blank line that stands outside a code fence and is
// followed by something that is no part of a list.
func finishedBlocks(text string) int {
	finished, at := 0, 0
	fence, blank := "", false
	for line := range strings.SplitAfterSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case trimmed == "":
			blank = true
			at += len(line)
			continue
		default:
			if blank && strings.HasSuffix(line, "\n") && startsBlock(line) {
				finished = at
			}
			if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
				fence = trimmed[:3]
			}
		}
		blank = false
		at += len(line)
	}
	return finished
}

// startsBlock reports whether a line after a blank one starts a block of its
// own, rather than going on with a list.
func startsBlock(line string) bool {
	switch line[0] {
	case ' ', '\t', '-', '*', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return false
	}
	return true
}
