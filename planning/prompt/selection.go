package prompt

import (
	"strings"

	"replan/planning/plan"
	"replan/planning/reply"
	"replan/planning/retrieval"
)

// maxChosen is how many tools a model may ask for before it plans.
const maxChosen = 24

// SelectionRequest asks which further tools a plan may need, before phase 3. ok is
// false if the prompts name every tool, so that there is nothing to ask.
func SelectionRequest(b Brief, a reply.Analysis) (req Request, ok bool) {
	list := newShortlist(b)
	if len(list.left) == 0 {
		return Request{}, false
	}
	unnamed := make(map[string]bool, len(list.left))
	for _, m := range list.left {
		unnamed[m.Name] = true
	}
	var names []string
	room := b.Prompting.ContextWindow / 2 * cautiousBytesPerToken
	for _, m := range ranked(b, a.Brief, "") {
		if !unnamed[m.Name] {
			continue
		}
		if room -= len(m.Name) + 2; room < 0 {
			break
		}
		names = append(names, m.Name)
	}
	format := schema{Type: "object", Properties: properties{{"tools", texts(maxChosen)}}, Required: []string{"tools"}}
	return composition{
		brief: b, purpose: PurposeTools, format: encodeSchema(format), plans: &planTools{message: list.message()}, tokens: 512,
		last: func(*cutter) string {
			return b.Prompting.prompt("tools", toolsData{fenced("tools", strings.Join(names, ", ")), maxChosen})
		},
	}.request(), true
}

// Chosen returns the tools that a reply to [SelectionRequest] names, and no others:
// what it says besides does not count.
func Chosen(c plan.Catalogue, r reply.Reply) []string {
	names := retrieval.Spelled(c, reply.StripThinking(r.Text))
	return names[:min(len(names), maxChosen)]
}
