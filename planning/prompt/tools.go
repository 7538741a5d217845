package prompt

import (
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/retrieval"
)

// listRoom is how many bytes the list of tools may take, 0 for any number: a
// quarter of the window. It does not depend on measurements, so the list stays the
// same from one request to the next.
func (p Prompting) listRoom() int { return p.ContextWindow / 4 * cautiousBytesPerToken }

// planTools is the part of a planning request about the tools.
type planTools struct {
	message      string // the tools message, the same in all requests of a run
	more         string // tools that the last message describes, "" for none
	step         schema // of a step in the format
	small        bool   // for a small model
	untypedTools        // the tools whose arguments it does not describe

	acceptance *schema // of the checks of the goal in the format; nil if there are none
}

// toolsFor chooses the tools of a request of planning. context is what is known
// beyond the goal, names is text that names tools, and chosen are those that the
// model asked for.
func toolsFor(b Brief, context, names string, chosen []string) planTools {
	list := newShortlist(b)
	tools, matches := planTools{message: list.message(), small: b.Prompting.Small}, list.all
	if context != "" || names != "" || len(chosen) > 0 {
		matches = ranked(b, context, strings.Join(append(slices.Clone(chosen), names), "\n"))
		tools.more = list.further(foreign(matches), chosen)
	}
	named := append(list.names(), chosen...)
	for _, m := range matches {
		if isOwn(m.Tool) {
			named = append(named, m.Name)
		}
	}
	tools.step, tools.untypedTools = stepForms(b, matches, named)
	if accepts(b) {
		tools.acceptance = acceptanceSchema(readers(b.Catalog, named))
	}
	return tools
}

// readers are those of named tools that only read, in the order of their names.
func readers(c plan.Catalog, named []string) []string {
	reads := slices.DeleteFunc(slices.Sorted(slices.Values(named)), func(name string) bool {
		tool, err := c.Find(name)
		return err != nil || !tool.ReadOnly
	})
	return slices.Compact(reads)
}

// message lists the tools of other servers. The built-in operators are in the system
// prompt.
func (s shortlist) message() string {
	if len(s.all) == 0 {
		return "There are no tools. Plan steps with the executor `self` only."
	}
	if len(s.ranked) == 0 || len(s.whole)+len(s.short)+len(s.bare) == 0 {
		return ""
	}
	var list strings.Builder
	for _, m := range s.whole {
		list.WriteString(toolLine(m.Name, m.Tool))
	}
	for _, m := range s.short {
		list.WriteString(shortLine(m))
	}
	list.WriteString(byServer(s.bare))
	text := fenced("more tools for plans: name(arguments) -> result - what the server says about it; ? marks an argument that may be left out", strings.TrimSuffix(list.String(), "\n"))
	if s.notes != "" {
		text += "\n\n" + s.notes
	}
	if n := len(s.left); n > 0 {
		text += "\n\nThere is no room to list " + english.Count(n, "more tool") + "."
	}
	return text
}

// byServer names tools, a line for each server, in the order of their names.
func byServer(matches []retrieval.Match) string {
	names := map[string][]string{}
	for _, m := range matches {
		names[m.Tool.Server] = append(names[m.Tool.Server], m.Name)
	}
	var list strings.Builder
	for _, server := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[server])
		list.WriteString(plan.OneLine(server, 60) + ": " + strings.Join(names[server], ", ") + "\n")
	}
	return list.String()
}

// shortLine names a tool and says in a few words what it does.
func shortLine(m retrieval.Match) string {
	const words = 60
	if d := plan.OneLine(m.Tool.Description, words); d != "" {
		return m.Name + " — " + d + "\n"
	}
	return m.Name + "\n"
}

// toolLine describes one tool.
func toolLine(name string, tool plan.Tool) string {
	line := call(name, tool)
	if tool.Server != "" && !plan.IsOperator(tool.Name) && !strings.Contains(name, ":") {
		line += " [" + plan.OneLine(tool.Server, 40) + "]"
	}
	switch {
	case tool.ReadOnly:
		line += " [read-only]"
	case tool.Destructive:
		line += " [destructive]"
	}
	words, _ := withoutResult(tool)
	if d := plan.OneLine(words, 160); d != "" {
		line += " — " + d
	}
	return line + "\n"
}
