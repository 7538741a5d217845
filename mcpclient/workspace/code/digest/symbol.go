package digest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/markdown"
	"replan/mcpclient/workspace/code/source"
)

// Use is a line with a name.
type Use struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Known is the facts about a name.
type Known struct {
	Name        string
	Definitions []source.Symbol
	Members     []source.Symbol // of the first definition, a type
	Uses        []Use
	Total       int    // number of uses
	How         string // used, or found in text
	Note        string
}

// Symbol sums up a name: its declaration, and the places that use it most.
func Symbol(k Known) Digest {
	d := Digest{Kind: "symbol", Title: fits(k.Name + " is not declared here")}
	if len(k.Definitions) == 0 {
		d.Summary = fmt.Sprintf("No declaration of %s was found.\n", span(k.Name))
	} else {
		s := k.Definitions[0]
		kind := article(s.Kind)
		d.Title = fits(fmt.Sprintf("%s is %s in %s:%d", s.Name, kind, s.Path, s.Line), fmt.Sprintf("%s is %s in %s", s.Name, kind, path.Base(s.Path)), s.Name+" is "+kind)
		d.Summary = fmt.Sprintf("%s is %s, declared at %s.\n", span(s.Name), kind, span(place(s.Path, s.Line))) +
			fence(fenceName(s.Path), s.Signature, 6) + fence("text", s.Doc, 12) + members(k.Members)
		var others []string
		for _, s := range k.Definitions[1:] {
			others = append(others, fmt.Sprintf("%s, %s: %s", span(place(s.Path, s.Line)), article(s.Kind), span(cmp.Or(strings.TrimSpace(s.Signature), s.Text))))
		}
		if len(others) > 0 {
			d.Summary += "\nThe name is also declared at:\n\n" + list(others, 6, "place")
		}
	}
	d.Summary += k.uses() + note(k.Note)
	return d
}

func article(kind string) string {
	kind = cmp.Or(markdown.Line(kind, 200), "name")
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}

// members lists the methods and fields of a type, a line for each kind: the
// exported ones, if there are any.
func members(all []source.Symbol) string {
	names := map[string][2][]string{} // of each kind, those not exported and those that are
	for _, m := range all {
		exported := 0
		if m.Exported {
			exported = 1
		}
		of, name := names[m.Kind], m.Name[strings.LastIndexByte(m.Name, '.')+1:]
		if !slices.Contains(of[exported], name) {
			of[exported] = append(of[exported], name)
		}
		names[m.Kind] = of
	}
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(names)) {
		of := names[kind]
		line, listed := english.Count(len(of[0])+len(of[1]), kind), of[1]
		switch {
		case len(of[1]) == 0:
			line, listed = line+", none exported", of[0]
		case len(of[0]) > 0:
			line += fmt.Sprintf(", %d exported", len(of[1]))
		}
		const shown = 12
		line += ": " + strings.Join(spans(listed[:min(shown, len(listed))]), ", ")
		if left := len(listed) - shown; left > 0 {
			line += fmt.Sprintf(" and %d more", left)
		}
		b.WriteString("\n" + line + "\n")
	}
	return b.String()
}

// uses tells where a name is used most, by folder, with a line of some files.
func (k Known) uses() string {
	uses := slices.DeleteFunc(slices.Clone(k.Uses), func(u Use) bool {
		return slices.ContainsFunc(k.Definitions, func(s source.Symbol) bool { return s.Path == u.Path && s.Line == u.Line })
	})
	total := max(k.Total-(len(k.Uses)-len(uses)), len(uses))
	switch {
	case total == 0 && len(k.Definitions) == 0:
		return ""
	case total == 0:
		return "\nIt is " + k.How + " nowhere else.\n"
	}
	var folders, files tally
	for _, u := range uses {
		folders.add(path.Dir(u.Path))
		files.add(u.Path)
	}
	slices.SortStableFunc(folders.names, func(a, b string) int { return folders.count[b] - folders.count[a] })
	counts := make([]string, len(folders.names))
	for i, dir := range folders.names {
		name := span(dir + "/")
		if dir == "." {
			name = "the top folder"
		}
		counts[i] = fmt.Sprintf("%s (%d)", name, folders.count[dir])
	}
	head := fmt.Sprintf("\nIt is %s in %s", k.How, english.Count(total, "line"))
	if total > len(uses) {
		head += fmt.Sprintf(", of which %d were read", len(uses))
	}
	head += fmt.Sprintf(" of %s: %s.\n\n", english.Count(len(files.names), "file"), english.Some(counts, 5, "folder"))
	// One line of each file: tests last, folders with the most uses first.
	rank := func(u Use) int {
		at := slices.Index(folders.names, path.Dir(u.Path))
		if kindOf(u.Path) == aTest {
			at += len(folders.names)
		}
		return at
	}
	slices.SortStableFunc(uses, func(a, b Use) int { return rank(a) - rank(b) })
	const shown = 6
	var lines []string
	var seen tally
	for _, u := range uses {
		if seen.add(u.Path); seen.count[u.Path] == 1 && len(lines) < shown {
			lines = append(lines, span(place(u.Path, u.Line))+" "+span(strings.TrimSpace(u.Text)))
		}
	}
	return head + list(lines, shown, "use")
}

// fenceName is the language of a code block.
func fenceName(p string) string {
	lang, _ := source.LanguageOf(p)
	return strings.ToLower(strings.NewReplacer(" ", "", "(", "", ")", "", "`", "").Replace(lang.Name))
}
