package prompt

import (
	"cmp"
	"encoding/json"
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
	return retrieval.Rank(b.Catalog, retrieval.Query{Goal: b.Goal, Context: context, Names: names})
}

// byImportance lists tools on offer to be called in the order of their claim to room.
// First are plan tools, then those that the model has found, then by rank.
func byImportance(c plan.Catalog, b Brief) plan.Catalog {
	b.Catalog = c
	var plans, others plan.Catalog
	found := make(plan.Catalog, len(b.Found))
	for _, m := range ranked(b, "", "") {
		at := slices.Index(b.Found, m.Name)
		switch {
		case IsPlanTool(m.Tool):
			plans = append(plans, m.Tool)
		case at >= 0:
			found[at] = m.Tool
		default:
			others = append(others, m.Tool)
		}
	}
	found = slices.DeleteFunc(found, func(t plan.Tool) bool { return t.Name == "" })
	return slices.Concat(plans, found, others)
}

// widestOffer is the window, in tokens, beyond which no more tools are offered: a
// model chooses worse among more.
const widestOffer = 32 << 10

// offered are the tools of a request within their part of the window. All are
// offered if they take half of it, with shorter descriptions if need be. Otherwise
// the best are offered in a third of it, and [ToolsFind]. It depends on no
// measurements, so that the offer stays the same in all turns of a loop, unless
// tools are found.
func (c composition) offered() plan.Catalog {
	room := min(c.brief.Prompting.ContextWindow, widestOffer) * cautiousBytesPerToken
	tools := c.tools
	if offerBytes(tools) > room/2 {
		tools = terse(tools)
	}
	if offerBytes(tools) <= room/2 {
		return tools
	}
	// One that takes the room of many goes alone.
	if offerBytes(c.usual(tools)) <= room/2 {
		return c.best(tools, room/2)
	}
	return c.best(tools, room/3)
}

// usual are the tools that do not take the room of many.
func (c composition) usual(tools plan.Catalog) plan.Catalog {
	p := c.brief.Prompting
	return slices.DeleteFunc(slices.Clone(tools), func(t plan.Tool) bool { return p.offerTokens(plan.Catalog{t}) > p.ContextWindow/8 })
}

// best are the tools of an offer that fit into so many bytes, with [ToolsFind] for
// the others.
func (c composition) best(tools plan.Catalog, most int) plan.Catalog {
	find := FindTool()
	left := byImportance(slices.DeleteFunc(c.usual(tools), IsFindTool), c.brief)
	for len(left) > 0 && offerBytes(left)+offerBytes(plan.Catalog{find}) > most {
		left = left[:len(left)-1]
	}
	if len(left) == 0 || len(left) < len(PlanTools()) && IsPlanTool(left[len(left)-1]) {
		return nil // to make plans and not to run them, or the other way around, is useless
	}
	out := slices.DeleteFunc(slices.Clone(tools), func(t plan.Tool) bool {
		return !slices.ContainsFunc(left, func(l plan.Tool) bool { return l.QualifiedName() == t.QualifiedName() })
	})
	return append(out, find)
}

// unoffered names the tools left out of the offer, and sums them up; nil if there
// are none.
func (c composition) unoffered(tools plan.Catalog) ([]string, *Unoffered) {
	var names, servers []string
	for _, t := range c.tools {
		if slices.ContainsFunc(tools, func(o plan.Tool) bool { return o.QualifiedName() == t.QualifiedName() }) {
			continue
		}
		names = append(names, c.tools.ShortName(t))
		if !slices.Contains(servers, t.Server) {
			servers = append(servers, t.Server)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(servers)
	return names, &Unoffered{Tools: len(names), Of: len(c.tools), Servers: servers, Window: c.brief.Prompting.ContextWindow}
}

// fewer are the tools of a request that was so many tokens too long: first with
// shorter descriptions, then without the least important.
func (c composition) fewer(tools plan.Catalog, over int) plan.Catalog {
	if shorter := terse(tools); offerBytes(shorter) < offerBytes(tools) {
		return shorter
	}
	return c.best(tools, offerBytes(tools)-int(float64(over)*c.brief.Prompting.bytesPerToken()))
}

// terse are tools with shorter descriptions.
func terse(tools plan.Catalog) plan.Catalog {
	out := make(plan.Catalog, len(tools))
	for i, t := range tools {
		t.Description, t.InputSchema = plan.OneLine(t.Description, 60), undescribed(t.InputSchema)
		out[i] = t
	}
	return out
}

// undescribed is a JSON Schema without the words in it.
func undescribed(raw json.RawMessage) json.RawMessage {
	v, err := plan.DecodeValue(raw)
	if err != nil {
		return raw
	}
	var strip func(v any, names bool) any
	strip = func(v any, names bool) any {
		switch v := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(v))
			for key, field := range v {
				if !names && (key == "description" || key == "title" || key == "examples" || key == "$schema") {
					continue
				}
				out[key] = strip(field, !names && (key == "properties" || key == "$defs" || key == "definitions"))
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = strip(item, false)
			}
			return out
		default:
			return v
		}
	}
	return json.RawMessage(plan.CanonicalJSON(strip(v, false)))
}

// shortlist is how the tools message of a run shows each tool.
type shortlist struct {
	whole, short, bare []retrieval.Match // with arguments and description, with some words, by name alone
	left               []retrieval.Match // not at all
	ranked             []retrieval.Match // all of them
	all                []retrieval.Match // and the built-in operators, which the system prompt lists
	notes              string            // how the servers of those with a whole line want to be used
}

// The room of the tools message, in bytes: for the lines of the best tools, a
// little more for each tool there is. Two thirds of it are for whole lines.
const (
	lineRoom        = 1560
	lineRoomPerTool = 12
	leastWhole      = 6   // tools with a whole line, where there are so many
	fitsAt          = 0.3 // the share of the best score from which a tool has a line at all
)

// newShortlist chooses the tools of a brief with a whole line, those with a short
// one, and those named alone. It depends on no measurements, so it stays the same
// in all requests of a run.
func newShortlist(b Brief) shortlist {
	everything := ranked(b, "", "")
	matches := foreign(everything)
	room := lineRoom + lineRoomPerTool*len(matches)
	all := b.Prompting.listRoom()
	if all > 0 {
		room = min(room, all*2/3)
	}
	if needsNoTools(b, everything) {
		room = 0
	}
	best := bestScore(matches)
	list := shortlist{ranked: matches, all: everything}
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

// untypedTools names tools whose args may be any in a plan.
type untypedTools struct {
	noRoom     []string // in the format
	unreadable []string // the input schema, with the reason
	alone      []string // those by the fault of their own schema, and not of the others'
}

// typed returns the forms of the tools with room in a schema, in the order of their names,
// and the tools without. The other forms of the schema take so many bytes. Tools that the
// prompt does not name have no form unless they rank among the best.
func typed(matches []retrieval.Match, named []string, small bool, taken int) (forms []schema, without untypedTools) {
	const least = 200 // bytes; no form is smaller
	room, best := map[string]schema{}, bestScore(matches)
	nameable := make(map[string]bool, len(named))
	for _, name := range named {
		nameable[name] = true
	}
	var names []string
	// The built-in operators are always there, and small models see few of them.
	matches = slices.DeleteFunc(slices.Clone(matches), func(m retrieval.Match) bool {
		return small && isOwn(m.Tool) && slices.Contains(rarely, m.Tool.Name)
	})
	slices.SortStableFunc(matches, func(a, b retrieval.Match) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, m := range matches {
		if taken+least <= maxStepSchema {
			args, unreadable := argsSchema(m.Tool)
			if own := ownArguments(m.Tool.Name); small && isOwn(m.Tool) && len(own) > 0 {
				args.Properties = slices.DeleteFunc(args.Properties, func(p property) bool {
					return !slices.Contains(own, p.name) || !m.Tool.ReadOnly && slices.Contains(writtenLater, p.name)
				})
			}
			form := stepForm(choice(string(plan.ExecutorTool)), m.Tool.ReadOnly, small, property{"tool", choice(m.Name)}, property{"args", args})
			size := len(encodeSchema(form)) + 1
			if (unreadable != nil || size > maxForm) && (m.Named || m.Score > 0 && m.Score >= best*fitsAt) {
				without.alone = append(without.alone, m.Name)
			}
			if size <= maxForm && taken+size <= maxStepSchema {
				taken += size
				room[m.Name] = form
				if unreadable != nil {
					without.unreadable = append(without.unreadable, m.Name+" ("+plan.OneLine(unreadable.Error(), 80)+")")
				}
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
			without.noRoom = append(without.noRoom, name)
		}
	}
	return forms, without
}

// rankOf puts the built-in operators before all other tools.
func rankOf(m retrieval.Match) int {
	if isOwn(m.Tool) {
		return 0
	}
	return 1
}

// listFew names the first few of a longer list.
func listFew(names []string) string {
	const most = 5
	return english.Some(names, most, "")
}
