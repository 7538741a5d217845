package agent

import (
	"slices"

	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Toolbox knows the tools of a run: which there are, what the rules say of them, and how
// often they were called.
type Toolbox struct {
	Catalog plan.Catalog

	rules      []rule.Rule          // gate rules
	firstOffer plan.Catalog         // tools at the start; a replan gets no others
	known      map[string]toolFacts // of the tools that steps name, by that name
	calls      map[string]int       // of each tool, by its canonical name
}

// toolFacts is what the run knows of a tool that its steps name.
type toolFacts struct {
	Tool      plan.Tool
	Err       error           // set if the tool does not exist
	Rules     []rule.Rule     // rules about the tool, see rule.Matching
	Signature *plan.Signature // nil if its schema is unusable

	name string // its canonical name
}

// newToolbox returns the tools of a run with its rules. A replan gets no others.
func newToolbox(catalog plan.Catalog, rules []rule.Rule) Toolbox {
	return Toolbox{Catalog: catalog, rules: rules, firstOffer: catalog, known: map[string]toolFacts{}, calls: map[string]int{}}
}

// replace replaces tools and rules, and keeps the counts of calls. With first, replans are
// offered the new tools.
func (b *Toolbox) replace(catalog plan.Catalog, rules []rule.Rule, first bool) {
	b.Catalog, b.rules, b.known = catalog, rules, map[string]toolFacts{}
	if first {
		b.firstOffer = catalog
	}
}

// learn looks the tool up that a step or a check names, so that facts need not do so each time.
func (b *Toolbox) learn(name string) {
	if _, ok := b.known[name]; ok || b.known == nil {
		return
	}
	facts := b.lookUp(name)
	b.known[name] = facts
	if facts.Err == nil {
		b.known[facts.name] = facts
	}
}

// facts returns the facts about the tool with this name.
func (b *Toolbox) facts(name string) toolFacts {
	if known, ok := b.known[name]; ok {
		return known
	}
	return b.lookUp(name)
}

func (b *Toolbox) lookUp(name string) toolFacts {
	tool, err := b.find(name)
	if err != nil {
		return toolFacts{Tool: tool, Err: err, name: name}
	}
	signature, _ := plan.NewSignature(tool) // an unusable schema checks nothing
	return toolFacts{Tool: tool, Rules: rule.Matching(b.rules, tool), Signature: signature, name: tool.QualifiedName()}
}

// find returns the tool with this name.
func (b *Toolbox) find(name string) (plan.Tool, error) {
	if known, ok := b.known[name]; ok {
		return known.Tool, known.Err
	}
	if tool, err := prompt.OwnTools().Find(name); err == nil && tool.QualifiedName() == name {
		return tool, nil
	}
	return b.Catalog.Find(name)
}

// catalog returns the tools of the run.
func (b *Toolbox) catalog() plan.Catalog { return b.Catalog }

// gateRules returns the gate rules of the run.
func (b *Toolbox) gateRules() []rule.Rule { return b.rules }

// toolName returns the canonical name of a tool with several names.
func (b *Toolbox) toolName(name string) string {
	tool, err := b.find(name)
	if err != nil {
		return name
	}
	return tool.QualifiedName()
}

// toolOf returns the tool that produced a text.
func (b *Toolbox) toolOf(p rule.Provenance) (plan.Tool, bool) {
	if p.Tool == "" {
		return plan.Tool{}, false
	}
	tool, err := b.find(p.Tool)
	return tool, err == nil
}

// offeredFirst returns the tools of a catalog that the first plan was offered.
func (b *Toolbox) offeredFirst(catalog plan.Catalog) plan.Catalog {
	return slices.DeleteFunc(slices.Clone(catalog), func(t plan.Tool) bool {
		return !slices.ContainsFunc(b.firstOffer, func(o plan.Tool) bool { return o.QualifiedName() == t.QualifiedName() })
	})
}

// mayChange reports whether a tool may change files: it declares so, previews its
// changes, or declares nothing. A commit changes none, and neither does a memory.
func (b *Toolbox) mayChange(tool string) bool {
	if tool == "" {
		return false
	}
	t, err := b.find(tool)
	elsewhere := t.Trusted && (t.Name == "vcs.commit" || t.Name == "memory.write")
	return err == nil && !elsewhere && !t.ReadOnly && (t.Destructive || t.Previews || !t.Annotated)
}

// blocked reports whether every call of the tool is denied, whatever its
// arguments.
func (f toolFacts) blocked() bool {
	return len(f.Rules) == 1 && f.Rules[0].Verdict == rule.VerdictBlock
}

// called counts a call of a tool.
func (b *Toolbox) called(tool toolFacts) { b.calls[tool.name]++ }

// uncalled takes the count of a call back: it was not made.
func (b *Toolbox) uncalled(tool toolFacts) { b.calls[tool.name]-- }

// timesCalled returns the number of calls of a tool in this run.
func (b *Toolbox) timesCalled(tool toolFacts) int { return b.calls[tool.name] }
