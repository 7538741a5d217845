package fit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// Score says how much of a plan is right, each part from 0 to 1. The zero value is
// that of a model that made no valid plan.
type Score struct {
	Valid        bool    `json:"valid"`        // there is a plan without faults
	Tools        float64 `json:"tools"`        // right calls, by their tools
	Arguments    float64 `json:"arguments"`    // right arguments of those calls
	Dependencies float64 `json:"dependencies"` // right dependencies between those calls
}

// Mean returns the score as one number: the mean of its three parts.
func (s Score) Mean() float64 { return (s.Tools + s.Arguments + s.Dependencies) / 3 }

// Score compares a valid plan, which was made with a catalogue, with the known good
// plans of the goal, and returns the best score. A nil plan scores nothing.
//
// Tools. Each known call is paired with one call of the same tool. Where there are
// several, those with the most equal arguments are paired. The part is the number of
// pairs, divided by the number of known calls or of the plan's calls, whichever is
// more. So a missing, a wrong and a superfluous call each count once. Not counted are
// calls of spare tools, of memory.read, which the prompt recommends, and steps in the
// model's own words. A sub-agent is a superfluous call.
//
// Arguments. The part is the number of right arguments, divided by the number of known
// ones plus the wrong ones that a pair has beside. An argument is right by its name and
// value. Texts are equal without regard to case, blanks, a full stop at the end, and
// what surrounds the name of a folder. 7 and "7" are equal; the order of a list does
// not count. A known text that begins with ~ stands for a text with all its words. A
// known reference is right if the value refers to the result of the same call, directly
// or through steps that belong to no pair. It may also be left out if the step depends
// on that call, since the argument is then written when the step is ready. Beside the
// known arguments, those that only page through a list may have any value, and so may
// arguments that are empty or false. The arguments of a call without a pair are all
// wrong.
//
// Dependencies. The calls of the pairs are in order if one depends on the other,
// directly or through any other steps. Of that order, and of the known plan's, only the
// steps that follow from no others are kept (the transitive reduction). The part is the
// number of dependencies in both, divided by the number of those in either.
//
// If there is nothing to compare in a part, it is the share of known calls that have a
// pair.
func (g Goal) Score(catalogue plan.Catalogue, p *plan.Plan) Score {
	var best Score
	if p == nil {
		return best
	}
	best.Valid = true
	for _, k := range g.plans {
		m := newMatching(k, g.spare, catalogue, *p)
		if s := m.score(); s.Mean() > best.Mean() {
			best = s
		}
	}
	return best
}

// recommended is the tool that the prompt asks to look into before other work.
const recommended = "memory.read"

// matching is the pairs of calls in a known plan and a model's.
type matching struct {
	known     known
	plan      plan.Plan
	graph     *plan.Graph
	pairs     map[int]int    // by position: step of the known plan → step of the model's
	producers map[string]int // variable → step of the model's plan that defines it
	calls     int            // of the model's plan that count
}

func newMatching(k known, spare []string, catalogue plan.Catalogue, p plan.Plan) *matching {
	m := &matching{known: k, plan: p, graph: plan.NewGraph(p), pairs: map[int]int{}, producers: map[string]int{}}
	tools := make([]string, len(p.Steps)) // bare names; "" if it is no call
	for i, step := range p.Steps {
		if step.ResultVariable != "" {
			m.producers[step.ResultVariable] = i
		}
		switch tool, err := catalogue.Find(step.Tool); {
		case step.Executor == plan.ExecutorAgent:
			m.calls++
		case step.Executor == plan.ExecutorTool && err == nil:
			tools[i] = tool.Name
		}
	}
	m.pair(tools)
	for i, tool := range tools {
		if tool != "" && (m.knownOf(i) >= 0 || tool != recommended && !slices.Contains(spare, tool)) {
			m.calls++
		}
	}
	return m
}

// pair pairs the calls, those with the most equal arguments first.
func (m *matching) pair(tools []string) {
	type candidate struct{ known, own, equal int }
	var candidates []candidate
	for k, step := range m.known.plan.Steps {
		for i, tool := range tools {
			if tool != step.Tool {
				continue
			}
			c := candidate{known: k, own: i}
			for name, want := range step.Args {
				if got, given := m.plan.Steps[i].Args[name]; given && equal(want, got) {
					c.equal++
				}
			}
			candidates = append(candidates, c)
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.equal, a.equal) })
	for _, c := range candidates {
		if _, paired := m.pairs[c.known]; !paired && m.knownOf(c.own) < 0 {
			m.pairs[c.known] = c.own
		}
	}
}

// knownOf returns the known call that is paired with a step of the plan, -1 for none.
func (m *matching) knownOf(own int) int {
	for k, i := range m.pairs {
		if i == own {
			return k
		}
	}
	return -1
}

func (m *matching) score() Score {
	known := len(m.known.plan.Steps)
	paired := float64(len(m.pairs)) / float64(known)
	s := Score{Valid: true, Tools: float64(len(m.pairs)) / float64(max(known, m.calls)), Arguments: paired, Dependencies: paired}
	right, all := 0, 0
	for k, step := range m.known.plan.Steps {
		all += len(step.Args)
		own, ok := m.pairs[k]
		if !ok {
			continue
		}
		for name, want := range step.Args {
			if m.rightArg(m.plan.Steps[own], name, want) {
				right++
			}
		}
		all += m.wrongBeside(k, own)
	}
	if all > 0 {
		s.Arguments = float64(right) / float64(all)
	}
	wanted, got := reduced(known, m.knownOrder()), reduced(known, m.ownOrder())
	both := 0
	for edge := range wanted {
		if got[edge] {
			both++
		}
	}
	if either := len(wanted) + len(got) - both; either > 0 {
		s.Dependencies = float64(both) / float64(either)
	}
	return s
}

// rightArg reports whether a step has the known argument, or leaves it to be written
// from the right results.
func (m *matching) rightArg(step plan.Step, name string, want any) bool {
	got, given := step.Args[name]
	references := plan.References(want)
	if len(references) == 0 {
		return given && equal(want, got)
	}
	sources := map[int]bool{} // known calls
	if given {
		for _, r := range plan.References(got) {
			if i, ok := m.producers[r.Name]; ok {
				m.addSources(sources, i)
			}
		}
	} else {
		for index := range m.graph.Ancestors(step.Index) {
			i, _ := m.graph.Position(index)
			m.addSources(sources, i)
		}
	}
	return !slices.ContainsFunc(references, func(r plan.Reference) bool {
		return !sources[slices.IndexFunc(m.known.plan.Steps, func(s plan.Step) bool { return s.ResultVariable == r.Name })]
	})
}

// addSources adds the known calls that the result of a step of the plan comes from.
func (m *matching) addSources(sources map[int]bool, own int) {
	if k := m.knownOf(own); k >= 0 {
		sources[k] = true
		return
	}
	for index := range m.graph.Ancestors(m.plan.Steps[own].Index) {
		i, _ := m.graph.Position(index)
		if k := m.knownOf(i); k >= 0 {
			sources[k] = true
		}
	}
}

// paging are the arguments that only page through a list.
var paging = []string{"page", "per_page", "perpage", "page_size", "limit", "max", "maxresults", "count", "start_at", "startat", "cursor", "sort", "direction"}

// wrongBeside returns how many arguments a call has that its known one neither has nor
// allows.
func (m *matching) wrongBeside(k, own int) int {
	wrong := 0
	for name, value := range m.plan.Steps[own].Args {
		_, wanted := m.known.plan.Steps[k].Args[name]
		allowed, may := m.known.may[k][name]
		switch {
		case wanted, slices.Contains(paging, strings.ToLower(name)), hollow(value):
		case !may || allowed != "*" && !equal(allowed, value):
			wrong++
		}
	}
	return wrong
}

// hollow reports whether a value says nothing.
func hollow(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// equal reports whether a value is as good as the known one.
func equal(want, got any) bool {
	if words, ok := strings.CutPrefix(plainText(want), "~"); ok {
		text := plainText(got)
		return text != "" && !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !strings.Contains(text, w) })
	}
	if list, ok := want.([]any); ok {
		if _, ok := got.([]any); !ok {
			got = []any{got}
		}
		return slices.Equal(plainTexts(list), plainTexts(got.([]any)))
	}
	return plainText(want) == plainText(got)
}

// plainText returns a scalar in a form in which equal values are the same text.
func plainText(value any) string {
	switch v := value.(type) {
	case string:
		text := strings.Join(strings.Fields(strings.ToLower(v)), " ")
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			return fmt.Sprint(number)
		}
		for _, end := range []string{"...", "/", "."} {
			text = strings.TrimSuffix(text, end)
		}
		return strings.TrimPrefix(text, "./")
	case json.Number:
		return plainText(v.String())
	case []any, map[string]any:
		return plan.CanonicalJSON(v)
	default:
		return fmt.Sprint(v)
	}
}

func plainTexts(list []any) []string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = plainText(item)
	}
	slices.Sort(texts)
	return texts
}

// edge is a dependency between two known calls.
type edge struct{ before, after int }

// knownOrder returns which known call comes before which.
func (m *matching) knownOrder() map[edge]bool {
	graph := plan.NewGraph(m.known.plan)
	order := map[edge]bool{}
	for k, step := range m.known.plan.Steps {
		for index := range graph.Ancestors(step.Index) {
			i, _ := graph.Position(index)
			order[edge{i, k}] = true
		}
	}
	return order
}

// ownOrder returns the same for the model's plan, of the calls that have a pair.
func (m *matching) ownOrder() map[edge]bool {
	order := map[edge]bool{}
	for k, own := range m.pairs {
		for index := range m.graph.Ancestors(m.plan.Steps[own].Index) {
			i, _ := m.graph.Position(index)
			if before := m.knownOf(i); before >= 0 {
				order[edge{before, k}] = true
			}
		}
	}
	return order
}

// reduced returns the transitive reduction of an order of n calls.
func reduced(n int, order map[edge]bool) map[edge]bool {
	kept := maps.Clone(order)
	for e := range order {
		for between := range n {
			if order[edge{e.before, between}] && order[edge{between, e.after}] {
				delete(kept, e)
			}
		}
	}
	return kept
}
