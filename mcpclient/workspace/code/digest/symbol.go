package digest

import (
	"fmt"
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
	d := Digest{Kind: "symbol"}
	var b strings.Builder
	switch n := len(k.Definitions); n {
	case 0:
		d.Title = fits(k.Name + " is not declared here")
		fmt.Fprintf(&b, "No declaration of %s was found.\n", span(k.Name))
	default:
		s := k.Definitions[0]
		d.Title = fits(fmt.Sprintf("%s is %s in %s:%d", s.Name, article(s.Kind), s.Path, s.Line), fmt.Sprintf("%s is %s in %s", s.Name, article(s.Kind), base(s.Path)), s.Name+" is "+article(s.Kind))
		fmt.Fprintf(&b, "%s is %s, declared at %s.\n\n", span(s.Name), article(s.Kind), span(at(s)))
		if s.Signature != "" {
			b.WriteString(fence(fenceName(s.Path), s.Signature, 6))
		}
		if s.Doc != "" {
			b.WriteString("\n" + fence("text", s.Doc, 12))
		}
		b.WriteString(members(k.Members))
		const shown = 6
		if n > 1 {
			b.WriteString("\nThe name is also declared at:\n\n")
		}
		for _, s := range k.Definitions[1:min(shown+1, n)] {
			fmt.Fprintf(&b, "- %s, %s: %s\n", span(at(s)), article(s.Kind), span(first(s.Signature, s.Text)))
		}
		if left := n - 1 - shown; left > 0 {
			fmt.Fprintf(&b, "- and %s\n", english.Count(left, "more place"))
		}
	}
	b.WriteString(k.uses())
	if k.Note != "" {
		b.WriteString("\n" + escapedLong(k.Note) + "\n")
	}
	d.Summary = b.String()
	return d
}

func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

func at(s source.Symbol) string { return fmt.Sprintf("%s:%d", s.Path, s.Line) }

func article(kind string) string {
	kind = markdown.Line(kind, 200)
	if kind == "" {
		return "a name"
	}
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}

// members are the methods and fields of a type in a line for each kind: the
// exported ones, if there are any.
func members(all []source.Symbol) string {
	type names struct {
		seen, hidden []string
	}
	by := map[string]*names{}
	var kinds []string
	for _, m := range all {
		if by[m.Kind] == nil {
			by[m.Kind] = &names{}
			kinds = append(kinds, m.Kind)
		}
		list, name := &by[m.Kind].hidden, m.Name[strings.LastIndexByte(m.Name, '.')+1:]
		if m.Exported {
			list = &by[m.Kind].seen
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	const shown = 12
	var b strings.Builder
	slices.Sort(kinds)
	for _, kind := range kinds {
		n := by[kind]
		what, list := english.Count(len(n.seen)+len(n.hidden), kind), n.seen
		switch {
		case len(n.seen) == 0:
			what, list = what+", none exported", n.hidden
		case len(n.hidden) > 0:
			what += fmt.Sprintf(", %d exported", len(n.seen))
		}
		listed := strings.Join(spans(list[:min(shown, len(list))]), ", ")
		if left := len(list) - shown; left > 0 {
			listed += fmt.Sprintf(" and %d more", left)
		}
		fmt.Fprintf(&b, "\n%s: %s\n", what, listed)
	}
	return b.String()
}

// uses says where a name stands most, by folder, with a few lines of each.
func (k Known) uses() string {
	declared := func(u Use) bool {
		return slices.ContainsFunc(k.Definitions, func(s source.Symbol) bool { return s.Path == u.Path && s.Line == u.Line })
	}
	uses := slices.DeleteFunc(slices.Clone(k.Uses), declared)
	total := max(k.Total-(len(k.Uses)-len(uses)), len(uses))
	if total == 0 {
		if len(k.Definitions) == 0 {
			return ""
		}
		return "\nIt is " + k.How + " nowhere else.\n"
	}
	folders, files := map[string]int{}, map[string]bool{}
	var order []string
	for _, u := range uses {
		dir := path.Dir(u.Path)
		if folders[dir] == 0 {
			order = append(order, dir)
		}
		folders[dir]++
		files[u.Path] = true
	}
	slices.SortStableFunc(order, func(a, b string) int { return folders[b] - folders[a] })
	var b strings.Builder
	fmt.Fprintf(&b, "\nIt is %s in %s", k.How, english.Count(total, "line"))
	if total > len(uses) {
		fmt.Fprintf(&b, ", of which %d were read", len(uses))
	}
	counts := make([]string, len(order))
	for i, dir := range order {
		name := dir + "/"
		if dir == "." {
			name = "the top folder"
			counts[i] = fmt.Sprintf("%s (%d)", name, folders[dir])
			continue
		}
		counts[i] = fmt.Sprintf("%s (%d)", span(name), folders[dir])
	}
	fmt.Fprintf(&b, " of %s: %s.\n\n", english.Count(len(files), "file"), english.Some(counts, 5, "folder"))
	const shown = 6
	n := 0
	// One of each file, tests last, the folders with the most before the others.
	seen := map[string]bool{}
	for _, tests := range []bool{false, true} {
		for _, dir := range order {
			for _, u := range uses {
				if n == shown || path.Dir(u.Path) != dir || seen[u.Path] || tests != (kindOf(u.Path) == aTest) {
					continue
				}
				seen[u.Path] = true
				n++
				fmt.Fprintf(&b, "- %s %s\n", span(fmt.Sprintf("%s:%d", u.Path, u.Line)), span(strings.TrimSpace(u.Text)))
			}
		}
	}
	return b.String()
}

func escapedLong(s string) string { return special.ReplaceAllString(markdown.Line(s, 200), `\$0`) }

// fenceName is the language of a code block.
func fenceName(p string) string {
	lang, ok := source.LanguageOf(p)
	if !ok {
		return ""
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '(' || r == ')' || r == '`' {
			return -1
		}
		return r
	}, lang.Name))
}
