package retrieval

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"replan/planning/plan"
)

// Query is the text that tools are ranked by.
type Query struct {
	Goal    string // in the user's words
	Context string // what is known beyond the goal, such as an analysis; its words count half
	Names   string // text in which names of tools count and other words do not
}

// Match is a tool and how well it fits a query.
type Match struct {
	Tool   plan.Tool
	Name   string  // the shortest name that means the tool, see [plan.Catalog.Names]
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
	// kinship is the share of its server's best score that a tool gets. Tools that work
	// together come from one server, and a goal need not name them all.
	kinship = 0.25
	// basicsScore is the least score of the basics, as a share of the best one. The words
	// of a goal seldom name what nearly all work in a project needs.
	basicsScore = 0.5
	// changeShare is the share of its score that an operator which changes something keeps
	// where the goal begins as a question.
	changeShare = 0.33
	// spreadOver is how many tools of servers are ordered so that each part of a goal finds
	// its own. coveredShare is what a word of the goal still counts for the tools after one
	// that has it.
	spreadOver, coveredShare = 24, 0.7
)

// questions are the words that questions begin with.
var questions = strings.Fields("what which where who why how when whats")

// basics are the operators of the workspace that most work needs, in that order.
var basics = []string{
	"fs.read", "fs.search", "fs.patch", "test.run", "fs.list", "code.references", "code.definition",
	"fs.write", "vcs.diff", "vcs.status", "proc.run", "code.symbols",
}

// Rank returns the tools of a catalog, the best for the query first. The tools that
// the query names lead. Then the workspace's own operators and the tools of other
// servers that fit take turns. The operators that do not fit follow, and then the
// rest. Of the tools that fit, one for another part of the goal comes before one for
// the same part. Tools that nothing tells apart are in the order of their names.
func Rank(c plan.Catalog, q Query) []Match {
	terms, tools := score(c, q)
	order := terms.markNamed(tools, q)
	var own, fit, rest []*tool
	for _, t := range tools {
		switch {
		case t.named:
		case t.Trusted:
			own = append(own, t)
		case t.score > 0:
			fit = append(fit, t)
		default:
			rest = append(rest, t)
		}
	}
	terms.spread(fit)
	for i := range max(len(own), len(fit)) {
		if i < len(own) {
			order = append(order, own[i])
		}
		if i < len(fit) {
			order = append(order, fit[i])
		}
	}
	matches := make([]Match, 0, len(tools))
	for _, t := range append(order, rest...) {
		matches = append(matches, Match{Tool: *t.Tool, Name: t.name, Score: t.score, Called: t.called, Named: t.named})
	}
	return matches
}

// score compares each tool with the query and sorts the tools by their score. It
// leaves out tools of one server under one name: no call can mean one of them.
func score(c plan.Catalog, q Query) (*terms, []*tool) {
	terms := newTerms(q)
	count, mostUses := make(map[string]int, len(c)), 0
	for i := range c {
		count[c[i].Name]++
		mostUses = max(mostUses, c[i].Uses)
	}
	same := map[string]int{} // by the qualified name, of those that share the bare one
	for i := range c {
		if count[c[i].Name] > 1 {
			same[c[i].QualifiedName()]++
		}
	}
	read, tools, total := make([]tool, 0, len(c)), make([]*tool, 0, len(c)), 0.0
	for i := range c {
		of, name := &c[i], c[i].Name
		if count[name] > 1 {
			if same[of.QualifiedName()] > 1 {
				continue
			}
			if !of.Trusted || !plan.IsOperator(name) {
				name = of.QualifiedName()
			}
		}
		t := terms.read(of)
		t.name = name
		read = append(read, t)
		tools = append(tools, &read[len(read)-1])
		total += t.length
	}
	terms.replaceUnknown()
	best, servers := 0.0, map[string]float64{} // the best score of each
	first, _, _ := strings.Cut(strings.TrimSpace(q.Goal), " ")
	asks := slices.Contains(questions, strings.ToLower(first))
	for _, t := range tools {
		t.score = terms.score(t, total/float64(len(tools)), len(tools))
		if asks && t.Trusted && !t.ReadOnly && !slices.Contains(basics, t.Name) {
			t.score *= changeShare
		}
		if t.Uses > 0 {
			t.score *= 1 + max(leastBonus, usedBonus*float64(t.Uses)/float64(mostUses))
		}
		if !t.Trusted {
			servers[t.Server] = max(servers[t.Server], t.score)
		}
	}
	for _, t := range tools {
		t.score += kinship * servers[t.Server]
	}
	raiseProviders(tools)
	for _, t := range tools {
		best = max(best, t.score)
	}
	for _, t := range tools {
		if t.order = t.score; t.order == 0 {
			t.order = float64(t.Uses) * 1e-9
		}
		if !t.Trusted {
			continue
		}
		if at := slices.Index(basics, t.Name); at >= 0 {
			// The order of the basics is no more than a tie-breaker among them.
			t.order = max(t.score, best*basicsScore) + float64(len(basics)-at)*1e-6
		}
	}
	slices.SortFunc(tools, func(a, b *tool) int {
		if a.order != b.order {
			return cmp.Compare(b.order, a.order)
		}
		return cmp.Or(trustedFirst(a, b), cmp.Compare(a.name, b.name))
	})
	return terms, tools
}

func trustedFirst(a, b *tool) int {
	switch {
	case a.Trusted == b.Trusted:
		return 0
	case a.Trusted:
		return -1
	default:
		return 1
	}
}

// Spelled returns the names of the tools that a text spells out, in the order of
// the catalog.
func Spelled(c plan.Catalog, text string) []string {
	spelled := spelledNames(text)
	var names []string
	_, tools := score(c, Query{})
	for _, t := range tools {
		if t.spelled(spelled) {
			names = append(names, t.name)
		}
	}
	return names
}

// spelled reports whether the tool's name is among names in small letters.
func (t *tool) spelled(names map[string]bool) bool {
	name := strings.ToLower(t.Name)
	return names[name] || names[strings.ToLower(t.Server)+":"+name]
}

// markNamed marks the tools that the query names and returns them in their order: the
// tools, then the best tools of each server.
func (t *terms) markNamed(tools []*tool, q Query) []*tool {
	spelled := spelledNames(q.Goal + "\n" + q.Context + "\n" + q.Names)
	sentence := " " + strings.Join(Words(q.Goal), " ") + " "
	var named, ofServers []*tool
	taken, isNamed := map[string]int{}, map[string]bool{}
	for _, of := range tools {
		if _, known := isNamed[of.Server]; !known {
			words := strings.Join(Words(of.Server), " ")
			isNamed[of.Server] = words != "" && !of.Trusted && strings.Contains(sentence, " "+words+" ") && !t.isTopic(tools, of.Server)
		}
		switch {
		case of.spelled(spelled):
			of.named = true
			named = append(named, of)
		case isNamed[of.Server] && taken[of.Server] < serverShare:
			taken[of.Server]++
			of.named = true
			ofServers = append(ofServers, of)
		}
	}
	return append(named, ofServers...)
}

// isTopic reports whether tools of other servers have all words of a server's name in
// their names. Then "hotels" in a goal is what the goal is about.
func (t *terms) isTopic(tools []*tool, server string) bool {
	return !slices.ContainsFunc(parts(server), func(word string) bool {
		term, known := t.index[word]
		return !known || !slices.ContainsFunc(tools, func(of *tool) bool {
			return !of.Trusted && of.Server != server && slices.ContainsFunc(t.found[of.from:of.to], func(f found) bool { return f.term == term && f.inName })
		})
	})
}

// The weights of a word by where it stands, and the constants of BM25.
const (
	nameWeight, descriptionWeight, argumentWeight, detailWeight = 4, 1, 0.5, 0.15
	alikeWeight                                                 = 0.3  // of a word that means the same as one of the query
	replacedWeight                                              = 0.85 // of one that means the same as a word that no tool has

	saturation = 1.2 // how soon repetitions stop counting: k1
	lengthBias = 0.5 // how far long texts count less: b
)

// terms are the words of a query.
type terms struct {
	index  map[string]int
	weight []float64
	tools  []int // how many tools have each
	alike  []alikeTerm
	starts starts

	splitter *splitter
	argument func(text string, isName bool)
	tool     tool    // the one that is being read
	place    float64 // the weight of the text that is being read
	found    []found // the words in all tools that were read
}

// alikeTerm is a term that means the same as one of the query.
type alikeTerm struct{ term, as int }

// tool is a tool with the words of the query in it.
type tool struct {
	*plan.Tool
	name          string // as in [Match], like called and named
	from, to      int    // its words in found
	length        float64
	score, order  float64
	called, named bool
}

// found is a word of the query in a tool.
type found struct {
	term   int
	times  float64
	gain   float64 // its part of the score
	inName bool
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
				t.starts.add(term)
				t.weight = append(t.weight, part.weight)
			}
		}).split(part.text)
	}
	t.joinWords(q.Goal)
	spoken := len(t.weight)
	for _, term := range slices.Sorted(maps.Keys(t.index)) {
		as := t.index[term]
		for _, other := range others()[term] {
			at, known := t.index[other]
			if !known {
				at = len(t.weight)
				t.index[other] = at
				t.starts.add([]byte(other))
				t.weight = append(t.weight, alikeWeight*t.weight[as])
			}
			if at >= spoken {
				t.alike = append(t.alike, alikeTerm{at, as})
			}
		}
	}
	t.tools = make([]int, len(t.weight))
	t.splitter = newSplitterOf(&t.starts, t.find)
	t.argument = func(text string, isName bool) {
		if isName {
			t.add(text, argumentWeight)
		} else {
			t.add(text, detailWeight)
		}
	}
	return t
}

// replaceUnknown gives more weight to the terms alike to one that no tool has.
func (t *terms) replaceUnknown() {
	for _, a := range t.alike {
		if t.tools[a.as] == 0 {
			t.weight[a.term] = max(t.weight[a.term], replacedWeight*t.weight[a.as])
		}
	}
}

// joinWords adds the compounds of two words of a text that stand close together: a
// goal logs work, and its tool is for a worklog.
func (t *terms) joinWords(text string) {
	const near, most = 4, 64 // words
	var words []string
	newSplitter(func(term []byte) {
		if !stopTerms[string(term)] && len(words) < most {
			words = append(words, string(term))
		}
	}).split(text)
	for i, first := range words {
		for _, second := range words[i+1 : min(i+1+near, len(words))] {
			for _, compound := range []string{first + second, second + first} {
				if _, known := t.index[compound]; !known {
					t.index[compound] = len(t.weight)
					t.starts.add([]byte(compound))
					t.weight = append(t.weight, 1)
				}
			}
		}
	}
}

// longest bounds the text that is read of one tool, in bytes: what a server says
// beyond it is no description.
const longest = 8 << 10

// read finds the words of the query in a tool.
func (t *terms) read(of *plan.Tool) tool {
	t.tool = tool{Tool: of, from: len(t.found)}
	t.add(of.Name, nameWeight)
	t.add(of.Server, nameWeight)
	if of.Trusted && plan.IsOperator(of.Name) {
		words, _, _ := strings.Cut(of.Description, "The result is ") // the fields of results are about no goal
		t.add(words, descriptionWeight)
		t.add(operatorWords[of.Name], descriptionWeight)
	} else {
		t.add(of.Description, descriptionWeight)
	}
	eachSchemaText(string(of.InputSchema[:min(len(of.InputSchema), longest)]), t.argument)
	t.tool.to = len(t.found)
	return t.tool
}

// add finds the words of the query in a text of the tool that is being read.
func (t *terms) add(text string, weight float64) {
	t.place = weight
	t.tool.length += weight * float64(t.splitter.split(text[:min(len(text), longest)]))
}

// find counts a term of the tool that is being read.
func (t *terms) find(word []byte) {
	term, ok := t.index[string(word)]
	if !ok {
		return
	}
	at := t.tool.from
	for at < len(t.found) && t.found[at].term != term {
		at++
	}
	if at == len(t.found) {
		t.found = append(t.found, found{term: term})
		t.tools[term]++
	}
	t.found[at].times += t.place
	t.found[at].inName = t.found[at].inName || t.place == nameWeight
	t.tool.called = t.tool.called || t.place == nameWeight && t.weight[term] == 1
}

// score is the BM25 score of a tool among n tools of an average length.
func (t *terms) score(of *tool, average float64, n int) (sum float64) {
	words := t.found[of.from:of.to]
	slices.SortFunc(words, func(a, b found) int { return cmp.Compare(a.term, b.term) })
	norm := saturation * (1 - lengthBias + lengthBias*of.length/max(average, 1))
	for i, f := range words {
		with := float64(t.tools[f.term])
		rarity := math.Log(1 + (float64(n)-with+0.5)/(with+0.5))
		words[i].gain = t.weight[f.term] * rarity * f.times * (saturation + 1) / (f.times + norm)
		sum += words[i].gain
	}
	return sum
}

// spread orders the first of some tools by what they have beyond those before them. The
// tools are by falling score.
func (t *terms) spread(tools []*tool) {
	covered := make([]bool, len(t.weight))
	for i := range min(spreadOver, len(tools)) {
		best, most := i, 0.0
		for j, of := range tools[i:] {
			if of.score <= most {
				break
			}
			left := of.score
			for _, f := range t.found[of.from:of.to] {
				if covered[f.term] {
					left -= (1 - coveredShare) * f.gain
				}
			}
			if left > most {
				best, most = i+j, left
			}
		}
		chosen := tools[best]
		copy(tools[i+1:best+1], tools[i:best])
		tools[i] = chosen
		for _, f := range t.found[chosen.from:chosen.to] {
			covered[f.term] = true
		}
	}
}

const (
	// askers is how many of the best tools of servers are looked at for ids that they
	// need.
	askers = 10
	// providerShare is the share of their score that a tool which finds such an id gets
	// at least.
	providerShare = 0.8
)

// raiseProviders raises the score of tools that find the ids which the best tools of their
// server need. No goal says that the town of a hotel has an id.
func raiseProviders(tools []*tool) {
	var best []*tool
	for _, t := range tools {
		if !t.Trusted && t.score > 0 {
			best = append(best, t)
		}
	}
	slices.SortStableFunc(best, func(a, b *tool) int { return cmp.Compare(b.score, a.score) })
	for _, asker := range best[:min(askers, len(best))] {
		ids := neededIDs(asker)
		if len(ids) == 0 {
			continue
		}
		for _, t := range tools {
			if t.Server != asker.Server || t.score >= providerShare*asker.score {
				continue
			}
			if name := parts(t.Name); slices.ContainsFunc(ids, func(id neededID) bool { return id.foundBy(t, name) }) {
				t.score = providerShare * asker.score
			}
		}
	}
}
