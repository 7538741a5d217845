package prompt

import (
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/retrieval"
)

// maxForm bounds the form of one tool in a format, as a part of maxStepSchema: a
// larger one would take the room of many others.
const maxForm = maxStepSchema / 6

// ranked lists the tools of a brief, the best for its goal first. context is what
// is known beyond the goal, and names holds names of tools that come before all
// others.
func ranked(b Brief, context, names string) []retrieval.Match {
	return retrieval.Rank(b.Catalogue, retrieval.Query{Goal: b.Goal, Context: context, Names: names, Used: b.Used})
}

// byImportance lists tools on offer to be called in the order of their claim to
// room: plan tools, then by rank.
func byImportance(c plan.Catalogue, b Brief) plan.Catalogue {
	b.Catalogue = c
	var out, others plan.Catalogue
	for _, m := range ranked(b, "", "") {
		if IsPlanTool(m.Tool) {
			out = append(out, m.Tool)
		} else {
			others = append(others, m.Tool)
		}
	}
	return append(out, others...)
}

// shortlist is how the tools message of a run shows each tool.
type shortlist struct {
	whole, short, bare []retrieval.Match // with arguments and description, with some words, by name alone
	left               []retrieval.Match // not at all
	ranked             []retrieval.Match // all of them
	notes              string            // how the servers of those with a whole line want to be used
}

// The room of the tools message, in bytes: for the lines of the best tools, a
// little more for each tool there is. Two thirds of it are for whole lines.
const (
	lineRoom        = 1600
	lineRoomPerTool = 12
	leastWhole      = 6   // tools with a whole line, where there are so many
	fitsAt          = 0.3 // the share of the best score from which a tool has a line at all
)

// newShortlist chooses the tools of a brief with a whole line, those with a short
// one, and those named alone. It depends on no measurements, so it stays the same
// in all requests of a run.
func newShortlist(b Brief) shortlist {
	matches := ranked(b, "", "")
	room := lineRoom + lineRoomPerTool*len(matches)
	all := b.Prompting.listRoom()
	if all > 0 {
		room = min(room, all*2/3)
	}
	if needsNoTools(b, matches) {
		room = 0
	}
	best := bestScore(matches)
	list := shortlist{ranked: matches}
	whole, taken := room*2/3, 0
	for i, m := range matches {
		if fits := m.Named || m.Score > 0 && m.Score >= best*fitsAt || i < leastWhole; fits {
			if line := len(toolLine(m.Name, m.Tool)); taken+line <= whole {
				list.whole, taken = append(list.whole, m), taken+line
				continue
			}
		}
		switch short := len(shortLine(m)); {
		case taken+short <= room && room > 0:
			list.short, taken = append(list.short, m), taken+short
		case all == 0 || taken+len(m.Name)+len(m.Tool.Server) <= all:
			list.bare, taken = append(list.bare, m), taken+len(m.Name)+2
		default:
			list.left = append(list.left, m)
		}
	}
	list.notes = serverNotes(b.Prompting, list.whole)
	return list
}

func bestScore(matches []retrieval.Match) (best float64) {
	for _, m := range matches {
		best = max(best, m.Score)
	}
	return best
}

// names are the names of all tools in the message.
func (s shortlist) names() []string {
	var names []string
	for _, m := range slices.Concat(s.whole, s.short, s.bare) {
		names = append(names, m.Name)
	}
	return names
}

// further describes the tools that the model chose, and the best ones by their rank
// for a later request, unless the tools message describes them.
func (s shortlist) further(matches []retrieval.Match, chosen []string) string {
	const room, most = 3000, 16 // bytes of whole lines, and tools that were not chosen
	best := bestScore(matches)
	var lines strings.Builder
	for i, m := range matches {
		fits := slices.Contains(chosen, m.Name) || i < most && m.Score > 0 && m.Score >= best*fitsAt
		if !fits || slices.ContainsFunc(s.whole, func(w retrieval.Match) bool { return w.Name == m.Name }) {
			continue
		}
		line := toolLine(m.Name, m.Tool)
		if lines.Len()+len(line) > room {
			line = shortLine(m)
		}
		lines.WriteString(line)
	}
	if lines.Len() == 0 {
		return ""
	}
	return fenced("more tools", strings.TrimSuffix(lines.String(), "\n"))
}

// typed returns the forms of the tools with room in a schema whose other forms
// take so many bytes, in the order of their names, and the names of the tools
// without. Tools that the prompt does not name have no form unless they rank among
// the best.
func typed(matches []retrieval.Match, named []string, taken int) (forms []schema, untyped []string) {
	const least = 200 // bytes; no form is smaller
	room := map[string]schema{}
	nameable := make(map[string]bool, len(named))
	for _, name := range named {
		nameable[name] = true
	}
	var names []string
	for _, m := range matches {
		if taken+least <= maxStepSchema {
			form := stepForm(choice(string(plan.ExecutorTool)), property{"tool", choice(m.Name)}, property{"args", argsSchema(m.Tool)})
			if size := len(encodeSchema(form)) + 1; size <= maxForm && taken+size <= maxStepSchema {
				taken += size
				room[m.Name] = form
			}
		}
		if _, ok := room[m.Name]; ok || nameable[m.Name] {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
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
