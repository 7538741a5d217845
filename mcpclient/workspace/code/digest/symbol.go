package digest

import (
	"cmp"
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

// members lists the methods and fields of a type: the exported ones, if there are
// any.
func members(all []source.Symbol) string {
	exported := slices.DeleteFunc(slices.Clone(all), func(m source.Symbol) bool { return !m.Exported })
	if len(exported) > 0 {
		all = exported
	}
	var names tally
	for _, m := range all {
		names.add(m.Name[strings.LastIndexByte(m.Name, '.')+1:])
	}
	if len(names.all()) == 0 {
		return ""
	}
	return "\nMembers: " + english.Some(spans(names.all()), 12, "") + "\n"
}

// uses tells how often a name is used, with lines of as many files as possible,
// tests last. The lines are in the order of their files.
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
	const shown = 8
	var files tally
	var first, tests, further []Use // the further lines of a file are left out first
	for _, u := range uses {
		switch files.add(u.Path); {
		case files.of(u.Path) > 1 && len(uses) > shown:
			further = append(further, u)
		case kindOf(u.Path) == aTest:
			tests = append(tests, u)
		default:
			first = append(first, u)
		}
	}
	chosen := slices.Concat(first, tests, further)
	chosen = chosen[:min(shown, len(chosen))]
	slices.SortStableFunc(chosen, func(a, b Use) int {
		rank := func(u Use) int {
			if at := slices.Index(files.all(), u.Path); kindOf(u.Path) != aTest {
				return at
			}
			return len(files.all())
		}
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Path, b.Path), a.Line-b.Line)
	})
	lines := make([]string, len(chosen))
	for i, u := range chosen {
		lines[i] = markdown.Legible(place(u.Path, u.Line), 200) + " " + span(strings.TrimSpace(u.Text))
	}
	heading := fmt.Sprintf("\n%s on %s in %s:\n\n", english.Capital(k.How), english.Count(total, "line"), english.Count(len(files.all()), "file")) +
		list(lines, shown, "")
	if more := total - len(lines); more > 0 { // total counts those that were not given, too
		heading += "- and " + english.Count(more, "more line") + "\n"
	}
	return heading
}

// fenceName is the language of a code block.
func fenceName(p string) string {
	lang, _ := source.LanguageOf(p)
	return strings.ToLower(strings.NewReplacer(" ", "", "(", "", ")", "", "`", "").Replace(lang.Name))
}
