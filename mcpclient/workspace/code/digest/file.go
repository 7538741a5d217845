package digest

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/code/source"
)

// Parsed is the facts about a file.
type Parsed struct {
	Path     string // "" of a text without a name
	Language string // "" if unknown
	Package  string
	Imports  []string
	Lines    int
	Outline  []source.Symbol
	Text     string
	Note     string
}

// File sums up a file.
func File(ctx context.Context, p Parsed) Digest {
	lang := p.Language
	if lang == "" || lang == "unknown" {
		lang = "text"
	}
	lines := english.Count(p.Lines, "line")
	title, short, name := "The text", "The text", "The text"
	if p.Path != "" {
		title, short, name = p.Path, path.Base(p.Path), span(p.Path)
	}
	about := fmt.Sprintf("%s: %s, %s", name, escaped(lang), lines)
	if p.Package != "" {
		about += ", package " + span(p.Package)
	}
	about += ".\n" + fence("text", Opening(ctx, p.Path, p.Text), 12)
	if len(p.Imports) > 0 {
		about += fmt.Sprintf("\n%s: %s\n", english.Count(len(p.Imports), "import"), english.Some(spans(p.Imports), 8, "import"))
	}
	return Digest{
		Kind:    "file",
		Title:   fits(fmt.Sprintf("%s: %s, %s", title, lang, lines), fmt.Sprintf("%s: %s, %s", short, lang, lines)),
		Summary: about + outline(p.Outline) + note(p.Note),
	}
}

// outline lists the declarations of a file, with the methods of its types and
// without their fields.
func outline(symbols []source.Symbol) string {
	top := map[string]string{} // kinds
	for _, s := range symbols {
		if s.Parent == "" {
			top[s.Name] = s.Kind
		}
	}
	var lines []string
	for _, s := range symbols {
		kind, member := top[s.Parent]
		method := (s.Kind == "method" || s.Kind == "constructor") && kind != "interface"
		if !member || method || s.Kind == "heading" {
			lines = append(lines, fmt.Sprintf("%d: %s", s.Line, span(cmp.Or(s.Signature, s.Name))))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n" + english.Count(len(lines), "declaration") + ":\n\n" + list(lines, 25, "declaration")
}

var license = lazyregexp.New(`(?i)copyright|licen[sc]e|spdx|all rights reserved`)

// Opening is a file's description of itself: the comment at its head, or the first
// paragraph of a text.
func Opening(ctx context.Context, name, text string) string {
	lang, known := source.LanguageOf(name)
	var all []string
	switch {
	case lang.Sort == source.Data:
	case !known || lang.Sort == source.Prose:
		all = paragraphs(text)
	default:
		if f, err := source.Lex(ctx, name, text); err == nil {
			all = f.Opening()
		}
	}
	for _, p := range all {
		if !license.MatchString(p) || len(text) <= len(p)+200 {
			return p
		}
	}
	return ""
}

// paragraphs are those at the head of a text, without headings, rules and badges.
func paragraphs(text string) []string {
	const most, lines = 3, 200
	var out, open []string
	n := 0
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		if n++; n > lines || len(out) == most {
			break
		}
		if strings.Trim(line, "=-*_") != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "[![") && !strings.HasPrefix(line, "<!--") {
			open = append(open, line)
		} else if len(open) > 0 {
			out, open = append(out, strings.Join(open, "\n")), nil
		}
	}
	return out
}

// Folder is the contents of a folder.
type Folder struct {
	Path      string
	Files     int
	Languages map[string]Size
	Folders   []string
	About     string // from its README, or the comment of its package
	Cut       bool   // there are more files than were read
}

// Size counts files and lines.
type Size struct{ Files, Lines int }

// Contents sums up a folder.
func Contents(f Folder) Digest {
	names := make([]string, 0, len(f.Languages)+1)
	for name := range f.Languages {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(f.Languages[b].Lines-f.Languages[a].Lines, strings.Compare(a, b))
	})
	files, name := english.Count(f.Files, "file"), f.Path+"/"
	about := span(name)
	if f.Path == "." {
		name, about = "The workspace", "The workspace"
	}
	about += " holds " + files
	if f.Cut {
		about += ", and more that were not read"
	}
	about += ".\n" + fence("text", f.About, 14)
	if len(names) > 0 {
		lines := make([]string, len(names))
		for i, name := range names {
			size := f.Languages[name]
			lines[i] = fmt.Sprintf("%s: %s, %s", escaped(name), english.Count(size.Files, "file"), english.Count(size.Lines, "line"))
		}
		about += "\n" + list(lines, 8, "language")
	}
	if len(f.Folders) > 0 {
		about += fmt.Sprintf("\n%s: %s\n", english.Count(len(f.Folders), "folder"), english.Some(spans(f.Folders), 12, "folder"))
	}
	return Digest{Kind: "folder", Title: fits(fmt.Sprintf("%s: %s, mostly %s", name, files, append(names, "nothing")[0])), Summary: about}
}
