package digest

import (
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// Parsed is the facts about a file.
type Parsed struct {
	Path     string // "" of a text without a name
	Language string // "" where it is not known
	Package  string
	Imports  []string
	Lines    int
	Outline  []source.Symbol
	Text     string
	Note     string
}

// File sums up a file.
func File(p Parsed) Digest {
	d := Digest{Kind: "file"}
	name, lang := p.Path, p.Language
	if name == "" {
		name = "The text"
	}
	if lang == "" || lang == "unknown" {
		lang = "text"
	}
	d.Title = fits(fmt.Sprintf("%s: %s, %s", name, lang, english.Count(p.Lines, "line")), fmt.Sprintf("%s: %s, %s", base(name), lang, english.Count(p.Lines, "line")))
	var b strings.Builder
	if p.Path != "" {
		name = span(p.Path)
	}
	fmt.Fprintf(&b, "%s: %s, %s", name, escaped(lang), english.Count(p.Lines, "line"))
	if p.Package != "" {
		fmt.Fprintf(&b, ", package %s", span(p.Package))
	}
	b.WriteString(".\n")
	if about := opening(p); about != "" {
		b.WriteString("\n" + fence("text", about, 12))
	}
	if len(p.Imports) > 0 {
		const shown = 8
		fmt.Fprintf(&b, "\n%s: %s\n", english.Count(len(p.Imports), "import"), english.Some(spans(p.Imports), shown, "import"))
	}
	b.WriteString(outline(p.Outline))
	if p.Note != "" {
		b.WriteString("\n" + escapedLong(p.Note) + "\n")
	}
	d.Summary = b.String()
	return d
}

// outline lists the top declarations of a file, with the number of their members.
func outline(symbols []source.Symbol) string {
	var top []source.Symbol
	held := map[string]int{}
	declared := map[string]bool{}
	for _, s := range symbols {
		if s.Parent == "" || s.Kind == "heading" {
			declared[s.Name] = true
		}
	}
	for _, s := range symbols {
		if s.Parent != "" && s.Kind != "heading" && declared[s.Parent] {
			held[s.Parent]++
			continue
		}
		top = append(top, s)
	}
	if len(top) == 0 {
		return ""
	}
	const shown = 25
	var b strings.Builder
	fmt.Fprintf(&b, "\nIt declares %s:\n\n", kinds(top))
	if top[0].Kind == "heading" {
		b.Reset()
		fmt.Fprintf(&b, "\n%s:\n\n", english.Count(len(top), "heading"))
	}
	for _, s := range top[:min(shown, len(top))] {
		line := span(first(s.Signature, s.Name))
		if n := held[s.Name]; n > 0 {
			line += fmt.Sprintf(", %s", english.Count(n, "member"))
		}
		fmt.Fprintf(&b, "- %d: %s\n", s.Line, line)
	}
	if left := len(top) - shown; left > 0 {
		fmt.Fprintf(&b, "- and %d more\n", left)
	}
	return b.String()
}

// kinds counts symbols by their kinds.
func kinds(symbols []source.Symbol) string {
	counts := map[string]int{}
	var order []string
	for _, s := range symbols {
		if counts[s.Kind] == 0 {
			order = append(order, s.Kind)
		}
		counts[s.Kind]++
	}
	slices.SortStableFunc(order, func(a, b string) int { return counts[b] - counts[a] })
	parts := make([]string, len(order))
	for i, kind := range order {
		parts[i] = english.Count(counts[kind], kind)
	}
	return english.List(parts, "and")
}

var licence = lazyregexp.New(`(?i)copyright|licen[sc]e|spdx|all rights reserved`)

// opening is a file's description of itself: the comment at its head, or the first
// paragraph of a text.
func opening(p Parsed) string {
	lang, known := source.LanguageOf(p.Path)
	prose := !known || lang.Sort == source.Prose
	if lang.Sort == source.Data {
		return ""
	}
	for _, para := range paragraphs(p.Text, prose) {
		if licence.MatchString(para) && len(p.Text) > len(para)+200 {
			continue
		}
		return para
	}
	return ""
}

// paragraphs are those at the head of a text; of source, the comments there.
func paragraphs(text string, prose bool) []string {
	const most, lines = 3, 200
	var out []string
	var para []string
	flush := func() {
		if s := strings.TrimSpace(strings.Join(para, "\n")); s != "" {
			out = append(out, s)
		}
		para = nil
	}
	n := 0
	inBlock := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		if n++; n > lines || len(out) == most {
			break
		}
		if prose {
			switch {
			case line == "":
				flush()
			case strings.HasPrefix(line, "#"), strings.Trim(line, "=-*_") == "", strings.HasPrefix(line, "[!["), strings.HasPrefix(line, "<!--"):
				flush() // a heading, a rule, a badge
			default:
				para = append(para, line)
			}
			continue
		}
		comment, rest := commentLine(line, &inBlock)
		switch {
		case comment && rest == "" && inBlock == "":
			if len(para) > 0 {
				para = append(para, "")
			}
		case comment:
			para = append(para, rest)
		case line == "":
			flush()
		case strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "<?php"), strings.HasPrefix(line, "'use "), strings.HasPrefix(line, `"use `):
		default:
			flush()
			return out
		}
	}
	flush()
	return out
}

// commentLine returns the text of a line at the head of a source file, if it is a
// comment or within one.
func commentLine(line string, inBlock *string) (bool, string) {
	if *inBlock != "" {
		text, ended := line, false
		if i := strings.Index(line, *inBlock); i >= 0 {
			text, ended = line[:i], true
		}
		if ended {
			*inBlock = ""
		}
		return true, strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text), "*"))
	}
	for open, end := range map[string]string{"/*": "*/", `"""`: `"""`, "'''": "'''", "<!--": "-->", "{-": "-}", "--[[": "]]"} {
		if rest, ok := strings.CutPrefix(line, open); ok {
			if i := strings.Index(rest, end); i >= 0 {
				return true, strings.Trim(rest[:i], "*! ")
			}
			*inBlock = end
			return true, strings.Trim(rest, "*! ")
		}
	}
	if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "#!") || strings.HasPrefix(line, "# -*-") || strings.HasPrefix(line, "#include") ||
		strings.HasPrefix(line, "#define") || strings.HasPrefix(line, "#if") || strings.HasPrefix(line, "#pragma") {
		return strings.HasPrefix(line, "//go:"), ""
	}
	for _, sign := range []string{"///", "//!", "//", "#", "--", ";;", ";", "%"} {
		if rest, ok := strings.CutPrefix(line, sign); ok {
			return true, strings.TrimSpace(rest)
		}
	}
	return false, ""
}

// Folder is the contents of a folder.
type Folder struct {
	Path      string
	Files     int
	Languages map[string]Size
	Folders   []string
	About     string // of its README, or the comment of its package
	Cut       bool   // there are more files than were read
}

// Size counts files and lines.
type Size struct{ Files, Lines int }

// Contents sums up a folder.
func Contents(f Folder) Digest {
	d := Digest{Kind: "folder"}
	names := make([]string, 0, len(f.Languages))
	for name := range f.Languages {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if c := f.Languages[b].Lines - f.Languages[a].Lines; c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	name := f.Path + "/"
	if f.Path == "." {
		name = "The workspace"
	}
	d.Title = fits(fmt.Sprintf("%s: %s, mostly %s", name, english.Count(f.Files, "file"), first(append(names, "nothing")...)))
	var b strings.Builder
	if f.Path != "." {
		name = span(name)
	}
	fmt.Fprintf(&b, "%s holds %s", name, english.Count(f.Files, "file"))
	if f.Cut {
		b.WriteString(", and more that were not read")
	}
	b.WriteString(".\n")
	if f.About != "" {
		b.WriteString("\n" + fence("text", f.About, 14))
	}
	const shown = 8
	for i, name := range names[:min(shown, len(names))] {
		if i == 0 {
			b.WriteByte('\n')
		}
		s := f.Languages[name]
		fmt.Fprintf(&b, "- %s: %s, %s\n", escaped(name), english.Count(s.Files, "file"), english.Count(s.Lines, "line"))
	}
	if left := len(names) - shown; left > 0 {
		fmt.Fprintf(&b, "- and %s\n", english.Count(left, "more language"))
	}
	if len(f.Folders) > 0 {
		fmt.Fprintf(&b, "\n%s: %s\n", english.Count(len(f.Folders), "folder"), english.Some(spans(f.Folders), 12, "folder"))
	}
	d.Summary = b.String()
	return d
}

// Opening is a text's description of itself at its head.
func Opening(name, text string) string { return opening(Parsed{Path: name, Text: text}) }
