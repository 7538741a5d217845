package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"replan/internal/english"
	"replan/planning/plan"
)

// byImportance lists tools in the order of their claim to room: plan tools, the
// workspace's own, then those of other servers, the ones named in the goal first;
// of equals the small first.
func byImportance(c plan.Catalogue, goal string) plan.Catalogue {
	words := goalWords(goal)
	rank := func(t plan.Tool) int {
		switch {
		case IsPlanTool(t):
			return -2
		case t.Trusted:
			return -1
		default:
			return 0
		}
	}
	spoken := make(map[string]int, len(c))
	for _, t := range c {
		about := strings.ToLower(t.Name + " " + t.Server + " " + t.Description)
		for _, word := range words {
			if strings.Contains(about, word) {
				spoken[t.QualifiedName()]++
			}
		}
	}
	return slices.SortedStableFunc(slices.Values(c), func(a, b plan.Tool) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(spoken[b.QualifiedName()], spoken[a.QualifiedName()]),
			cmp.Compare(len(a.InputSchema)+len(a.Description), len(b.InputSchema)+len(b.Description)),
			cmp.Compare(a.QualifiedName(), b.QualifiedName()),
		)
	})
}

// goalWords are the words of a goal that can tell one tool from another.
func goalWords(goal string) []string {
	const least = 4 // letters; shorter words are in everything
	words := strings.FieldsFunc(strings.ToLower(goal), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(word string) bool { return len(word) < least })
	slices.Sort(words)
	return slices.Compact(words)
}

// typed returns the forms of the tools with room in a schema whose other forms
// take so many bytes, and the names of the tools without.
func typed(b Brief, taken int) (forms []schema, untyped []string) {
	room := map[string]schema{}
	for _, tool := range byImportance(b.Catalogue, b.Goal) {
		name := b.Catalogue.ShortName(tool)
		form := stepForm(choice(string(plan.ExecutorTool)), property{"tool", choice(name)}, property{"args", argsSchema(tool)})
		if size := len(encodeSchema(form)) + 1; taken+size <= maxStepSchema {
			taken += size
			room[name] = form
		}
	}
	for _, name := range b.Catalogue.Names() {
		if _, err := b.Catalogue.Find(name); err != nil {
			continue // two tools of one server under one name: neither can be called
		}
		if form, ok := room[name]; ok {
			forms = append(forms, form)
		} else {
			untyped = append(untyped, name)
		}
	}
	return forms, untyped
}

// listFew names the first few of a longer list.
func listFew(names []string) string {
	const most = 5
	return english.Some(names, most, "")
}
