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
	Catalogue plan.Catalogue

	rules       []rule.Rule           // gate rules
	firstOffer  plan.Catalogue        // tools at the start; a replan gets no others
	known       map[string]*toolFacts // by the name that steps use
	callsBefore map[string]int        // calls of each tool before known was built, by qualified name
}

// toolFacts is what the run knows of a tool that its steps name.
type toolFacts struct {
	Tool      plan.Tool
	Err       error           // set if the tool does not exist
	Rules     []rule.Rule     // rules about the tool, see rule.Matching
	Signature *plan.Signature // nil if its schema is unusable

	calls int // in this run
}

// newToolbox returns the tools of a run with its rules. A replan gets no others.
func newToolbox(catalogue plan.Catalogue, rules []rule.Rule) Toolbox {
	return Toolbox{Catalogue: catalogue, rules: rules, firstOffer: catalogue, callsBefore: map[string]int{}}
}

// replace replaces tools and rules, and keeps the counts of calls. With first, replans are
// offered the new tools.
func (b *Toolbox) replace(catalogue plan.Catalogue, rules []rule.Rule, first bool) {
	for name, facts := range b.known {
		if facts.Err == nil && name == facts.Tool.QualifiedName() {
			b.callsBefore[name] = facts.calls
		}
	}
	b.Catalogue, b.rules, b.known = catalogue, rules, nil
	if first {
		b.firstOffer = catalogue
	}
}

// facts returns the facts about the tool with this name.
func (b *Toolbox) facts(name string) *toolFacts {
	if known, ok := b.known[name]; ok {
		return known
	}
	tool, err := prompt.OwnTools().Find(name)
	if err != nil || tool.QualifiedName() != name {
		tool, err = b.Catalogue.Find(name)
	}
	facts := &toolFacts{Tool: tool, Err: err}
	if err == nil {
		if qualified := tool.QualifiedName(); qualified != name {
			facts = b.facts(qualified)
		} else {
			facts.Rules = rule.Matching(b.rules, tool)
			facts.Signature, _ = plan.NewSignature(tool) // an unusable schema checks nothing
			facts.calls = b.callsBefore[qualified]
		}
	}
	if b.known == nil {
		b.known = map[string]*toolFacts{}
	}
	b.known[name] = facts
	return facts
}

// catalogue returns the tools of the run.
func (b *Toolbox) catalogue() plan.Catalogue { return b.Catalogue }

// gateRules returns the gate rules of the run.
func (b *Toolbox) gateRules() []rule.Rule { return b.rules }

// toolName returns the canonical name of a tool with several names.
func (b *Toolbox) toolName(name string) string {
	if facts := b.facts(name); facts.Err == nil {
		return facts.Tool.QualifiedName()
	}
	return name
}

// toolOf returns the tool that produced a text.
func (b *Toolbox) toolOf(p rule.Provenance) (plan.Tool, bool) {
	if p.Tool == "" {
		return plan.Tool{}, false
	}
	facts := b.facts(p.Tool)
	return facts.Tool, facts.Err == nil
}

// offeredFirst returns the tools of a catalogue that the first plan was offered.
func (b *Toolbox) offeredFirst(catalogue plan.Catalogue) plan.Catalogue {
	return slices.DeleteFunc(slices.Clone(catalogue), func(t plan.Tool) bool {
		return !slices.ContainsFunc(b.firstOffer, func(o plan.Tool) bool { return o.QualifiedName() == t.QualifiedName() })
	})
}

// mayChange reports whether a tool may change files: it declares so, previews its
// changes, or declares nothing. A commit changes none, and neither does a memory.
func (b *Toolbox) mayChange(tool string) bool {
	if tool == "" {
		return false
	}
	f := b.facts(tool)
	elsewhere := f.Tool.Trusted && (f.Tool.Name == "vcs.commit" || f.Tool.Name == "memory.write")
	return f.Err == nil && !elsewhere && !f.Tool.ReadOnly && (f.Tool.Destructive || f.Tool.Previews || !f.Tool.Annotated)
}

// blocked reports whether every call of the tool is denied, whatever its
// arguments.
func (f *toolFacts) blocked() bool {
	return len(f.Rules) == 1 && f.Rules[0].Verdict == rule.VerdictBlock
}

// called counts a call, and uncalled takes it back: it was not made.
func (f *toolFacts) called()   { f.calls++ }
func (f *toolFacts) uncalled() { f.calls-- }

// timesCalled returns the number of calls in this run.
func (f *toolFacts) timesCalled() int { return f.calls }
