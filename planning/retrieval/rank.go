package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"replan/planning/plan"
)

// Query is what the tools are ranked for.
type Query struct {
	Goal    string // in the user's words
	Context string // what is known beyond the goal, such as an analysis; its words count half
	Names   string // text in which names of tools count and other words do not
}

// Match is a tool and how well it fits a query.
type Match struct {
	Tool   plan.Tool
	Name   string  // the shortest name that means the tool, see [plan.Catalogue.Names]
	Score  float64 // 0 if it has no word in common with the query
	Called bool    // the goal has a word of the tool's name or of its server's
	Named  bool    // the query spells out the tool's name, or its server's and it is one of the best there
}

const (
	// serverShare is how many tools of a server rank first because the query names
	// the server.
	serverShare = 8
	// usedBonus is how much better the tool ranks that earlier runs used most, and
	// leastBonus is for any that they used.
	usedBonus, leastBonus = 0.15, 0.05
	// kinship is the share of its server's best score that a tool gets: what works
	// together comes from one server, in words that a goal need not hold.
	kinship = 0.25
	// basicsScore is the least score of the basics, as a share of the best one: the
	// words of a goal seldom name what nearly all work in a project needs.
	basicsScore = 0.5
)

// basics are the operators of the workspace that most work needs, in that order.
var basics = []string{
	"fs.read", "fs.search", "fs.patch", "test.run", "fs.list", "code.references", "code.definition",
	"fs.write", "vcs.diff", "vcs.status", "proc.run", "code.symbols",
}

// Rank returns the tools of a catalogue, the best for the query first: those that
// the query names, then by turns the workspace's own operators and the tools of
// other servers that fit, then the operators that do not fit, then the rest.
// Tools that nothing tells apart are in the order of their names.
func Rank(c plan.Catalogue, q Query) []Match {
	matches := score(c, q)
	named := markNamed(matches, q)
	var own, fit, rest []Match
	for _, m := range matches {
		switch {
		case m.Named:
		case m.Tool.Trusted:
			own = append(own, m)
		case m.Score > 0:
			fit = append(fit, m)
		default:
			rest = append(rest, m)
		}
	}
	out := named
	for i := range max(len(own), len(fit)) {
		if i < len(own) {
			out = append(out, own[i])
		}
		if i < len(fit) {
			out = append(out, fit[i])
		}
	}
	return append(out, rest...)
}

// score compares each tool with the query and sorts the tools by their score. It
// leaves out tools of one server under one name: no call can mean one of them.
func score(c plan.Catalogue, q Query) []Match {
	terms := newTerms(q)
	tools := make([]tool, 0, len(c))
	count, same := make(map[string]int, len(c)), make(map[string]int, len(c)) // by bare and by qualified name
	for _, t := range c {
		count[t.Name]++
		same[t.QualifiedName()]++
	}
	total := 0.0
	for _, t := range c {
		if same[t.QualifiedName()] == 1 {
			tools = append(tools, terms.read(t))
			total += tools[len(tools)-1].length
		}
	}
	mostUses := 0
	for _, t := range c {
		mostUses = max(mostUses, t.Uses)
	}
	matches, best := make([]Match, len(tools)), 0.0
	servers := map[string]float64{} // the best score of each
	for i, t := range tools {
		m := Match{Tool: t.Tool, Name: t.Name, Score: terms.score(t, total/float64(len(tools)), len(tools)), Called: t.called}
		if count[t.Name] > 1 && (!t.Trusted || !plan.IsOperator(t.Name)) {
			m.Name = t.QualifiedName()
		}
		if t.Uses > 0 {
			m.Score *= 1 + max(leastBonus, usedBonus*float64(t.Uses)/float64(mostUses))
		}
		matches[i] = m
		if !t.Trusted {
			servers[t.Server] = max(servers[t.Server], m.Score)
		}
	}
	for i, m := range matches {
		matches[i].Score += kinship * servers[m.Tool.Server]
		best = max(best, matches[i].Score)
	}
	type place struct {
		order float64
		match int
	}
	places := make([]place, len(matches))
	for i, m := range matches {
		order := m.Score
		if at := slices.Index(basics, m.Tool.Name); at >= 0 && m.Tool.Trusted {
			// The order of the basics is no more than a tie-breaker among them.
			order = max(m.Score, best*basicsScore) + float64(len(basics)-at)*1e-6
		} else if m.Score == 0 {
			order = float64(m.Tool.Uses) * 1e-9
		}
		places[i] = place{order, i}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.order != b.order {
			return cmp.Compare(b.order, a.order)
		}
		return cmp.Or(trustedFirst(matches[a.match], matches[b.match]), cmp.Compare(matches[a.match].Name, matches[b.match].Name))
	})
	sorted := make([]Match, len(matches))
	for i, p := range places {
		sorted[i] = matches[p.match]
	}
	return sorted
}

func trustedFirst(a, b Match) int {
	switch {
	case a.Tool.Trusted == b.Tool.Trusted:
		return 0
	case a.Tool.Trusted:
		return -1
	default:
		return 1
	}
}

// Spelled returns the names of the tools that a text spells out, in the order of
// the catalogue.
func Spelled(c plan.Catalogue, text string) []string {
	spelled := spelledNames(text)
	var names []string
	for _, m := range score(c, Query{}) {
		if m.spelled(spelled) {
			names = append(names, m.Name)
		}
	}
	return names
}

// spelled reports whether the tool's name is among names in small letters.
func (m Match) spelled(names map[string]bool) bool {
	return names[strings.ToLower(m.Tool.Name)] || names[strings.ToLower(m.Tool.QualifiedName())]
}

// markNamed marks the matches that the query names and returns them in their order: the
// tools, then the best tools of each server.
func markNamed(matches []Match, q Query) []Match {
	spelled := spelledNames(q.Goal + "\n" + q.Context + "\n" + q.Names)
	sentence := " " + strings.Join(Words(q.Goal), " ") + " "
	var tools, ofServers []Match
	taken, isNamed := map[string]int{}, map[string]bool{}
	for i, m := range matches {
		server := m.Tool.Server
		if _, known := isNamed[server]; !known {
			words := strings.Join(Words(server), " ")
			isNamed[server] = words != "" && !m.Tool.Trusted && strings.Contains(sentence, " "+words+" ")
		}
		switch {
		case m.spelled(spelled):
			matches[i].Named = true
			tools = append(tools, matches[i])
		case isNamed[server] && taken[server] < serverShare:
			taken[server]++
			matches[i].Named = true
			ofServers = append(ofServers, matches[i])
		}
	}
	return append(tools, ofServers...)
}

// The weights of a word by where it stands, and the constants of BM25.
const (
	nameWeight, descriptionWeight, argumentWeight, detailWeight = 3, 1, 1, 0.5

	saturation = 1.2 // how soon repetitions stop counting: k1
	lengthBias = 0.5 // how far long texts count less: b
)

// terms are the words of a query.
type terms struct {
	index  map[string]int
	weight []float64
	tools  []int         // how many tools have each
	starts [1 << 10]bool // a filter before the look-up, by the first letters

	splitter *splitter
	argument func(text string, isName bool)
	tool     tool    // the one that is being read
	place    float64 // the weight of the text that is being read
}

// start is where a term is in the filter.
func start(term []byte) int {
	if len(term) < 2 {
		return 0
	}
	return (int(term[0])<<5 ^ int(term[1])) & (1<<10 - 1)
}

// tool is a tool with the words of the query in it.
type tool struct {
	plan.Tool
	found  []found
	length float64
	called bool // a word of the goal is in its name or in its server's
}

// found is a word of the query in a tool.
type found struct {
	term  int
	times float64
}

func newTerms(q Query) *terms {
	t := &terms{index: map[string]int{}}
	for _, part := range []struct {
		text   string
		weight float64
	}{{q.Goal, 1}, {q.Context, 0.5}} {
		newSplitter(func(term []byte) {
			if _, known := t.index[string(term)]; !known && !stopTerms[string(term)] {
				t.index[string(term)] = len(t.weight)
				t.starts[start(term)] = true
				t.weight = append(t.weight, part.weight)
			}
		}).split(part.text)
	}
	t.tools = make([]int, len(t.weight))
	t.splitter = newSplitter(t.find)
	t.argument = func(text string, isName bool) {
		if isName {
			t.add(text, argumentWeight)
		} else {
			t.add(text, detailWeight)
		}
	}
	return t
}

// longest bounds the text that is read of one tool, in bytes: what a server says
// beyond it is no description.
const longest = 8 << 10

// read finds the words of the query in a tool.
func (t *terms) read(of plan.Tool) tool {
	t.tool = tool{Tool: of}
	t.add(of.Name, nameWeight)
	t.add(of.Server, nameWeight)
	t.add(of.Description, descriptionWeight)
	eachSchemaText(string(of.InputSchema[:min(len(of.InputSchema), longest)]), t.argument)
	return t.tool
}

// add finds the words of the query in a text of the tool that is being read.
func (t *terms) add(text string, weight float64) {
	t.place = weight
	t.splitter.split(text[:min(len(text), longest)])
}

// find counts a term of the tool that is being read.
func (t *terms) find(word []byte) {
	t.tool.length += t.place
	if !t.starts[start(word)] {
		return
	}
	term, ok := t.index[string(word)]
	if !ok {
		return
	}
	at := slices.IndexFunc(t.tool.found, func(f found) bool { return f.term == term })
	if at < 0 {
		at = len(t.tool.found)
		t.tool.found = append(t.tool.found, found{term: term})
		t.tools[term]++
	}
	t.tool.found[at].times += t.place
	t.tool.called = t.tool.called || t.place == nameWeight && t.weight[term] == 1
}

// score is the BM25 score of a tool among n tools of an average length.
func (t *terms) score(of tool, average float64, n int) (sum float64) {
	slices.SortFunc(of.found, func(a, b found) int { return cmp.Compare(a.term, b.term) })
	norm := saturation * (1 - lengthBias + lengthBias*of.length/max(average, 1))
	for _, f := range of.found {
		with := float64(t.tools[f.term])
		rarity := math.Log(1 + (float64(n)-with+0.5)/(with+0.5))
		sum += t.weight[f.term] * rarity * f.times * (saturation + 1) / (f.times + norm)
	}
	return sum
}
