package agent

import (
	"maps"
	"slices"

	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
)

// origins knows where the text of a call comes from, and what a model had read before it
// wrote a call.
type origins struct {
	terms    termsView
	tools    toolsView
	ledger   ledgerView
	planning planningView
	board    boardView
	steps    stepsView
}

// before returns the texts that the models of a run have read when it begins. These are what
// came up in the conversation before, or was read by whoever asked for the run. The mentions
// in the user's message are among them.
func (r *origins) before() []rule.Provenance {
	out := append(slices.Clone(r.terms.readBefore()), r.terms.givenRead()...)
	for _, m := range r.terms.prompting().Mentions {
		out = append(out, rule.Provenance{Mention: m.Name, Written: true})
	}
	return plan.Newest(out)
}

// authorRead returns the texts that the author of a step of the first plan had read. A
// person had read none, nor do rules that make a plan of the user's own words. What the
// planner looked at is in files that the goal names: it counts where a call cannot be
// undone.
func (r *origins) authorRead(step plan.Step) []rule.Provenance {
	switch {
	case r.terms.isGiven():
		return r.terms.givenRead()
	case r.planning.byWords() && r.terms.outerRun() == "":
		return nil
	}
	if facts := r.tools.facts(step.Tool); step.Executor == plan.ExecutorTool && facts.Err == nil && rule.Undoable(facts.Tool) {
		return r.before()
	}
	out := r.before()
	for _, look := range r.planning.looksTaken() {
		out = append(out, rule.Provenance{Step: look.Index, Tool: look.Tool, Written: true})
	}
	return plan.Newest(out)
}

// textsRead returns the texts that a model has read before it replans. They were read before
// the run, or are results and errors of its steps.
func (r *origins) textsRead() []rule.Provenance {
	out := r.before()
	for _, h := range r.ledger.history() {
		if h.Parent == "" && (h.Status == plan.ItemCompleted || h.Status == plan.ItemFailed) {
			out = append(out, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
	}
	out = plan.Newest(out)
	slices.SortStableFunc(out, func(a, b rule.Provenance) int { return plan.CompareIndices(a.Step, b.Step) })
	return out
}

// textsInAnswer carries out [Run.Read].
func (r *origins) textsInAnswer() []rule.Provenance {
	out := r.before()
	for _, h := range r.ledger.history() {
		if s := r.steps.find(h.Index); s == nil || s.holdsToolText() {
			out = append(out, rule.Provenance{Run: r.terms.id(), Step: h.Index, Tool: h.Tool, Written: true})
		}
	}
	return plan.Newest(out)
}

// authored carries out [Run.Authored].
func (r *origins) authored() []rule.Provenance { return inRun(r.terms.id(), r.authorRead(plan.Step{})) }

// readFor carries out [Run.ReadFor].
func (r *origins) readFor(index string) []rule.Provenance {
	s := r.steps.find(index)
	if s == nil || !s.byModel() {
		return inRun(r.terms.id(), r.textsRead())
	}
	return inRun(r.terms.id(), r.read(s))
}

// deciding returns the results that decide whether, and how often, the call of a step is
// made, except for those whose text the call carries. They are in its conditions, or in the
// list that it is called for. Or the call is skipped without them while the run continues.
func (r *origins) deciding(s stepView, carried []rule.Provenance) []rule.Provenance {
	var out []rule.Provenance
	of := s.planStep()
	add := func(producers []stepView) {
		for _, other := range producers {
			if other.index() == of.index() {
				continue // its own result, which is there after the first call
			}
			p := rule.Provenance{Step: other.index(), Tool: other.tool(), Decides: true}
			carries := func(c rule.Provenance) bool { return c.Step == p.Step && c.Run == "" }
			if !slices.Contains(out, p) && !slices.ContainsFunc(carried, carries) {
				out = append(out, p)
			}
		}
	}
	conditions, each := s.decidedBy()
	for _, condition := range conditions {
		if condition == "" {
			continue
		}
		for _, name := range expression.NamesOf(condition) {
			add(r.producersFor(s, name))
		}
	}
	if each != nil {
		for _, reference := range plan.References(each.Items) {
			add(r.board.producersOf(reference.Name))
		}
	}
	add(r.board.skippedBehind(of.index()))
	return out
}

// provenance returns where the text of a step's call comes from. The project's notes are
// part of it if the call sends text to another server, and nothing else would ask.
func (r *origins) provenance(s stepView) []rule.Provenance {
	out := r.textOf(s)
	if r.terms.prompting().Instructions == "" || r.terms.prompting().TrustsNotes || s.authorState().edits() > 0 || len(s.args()) == 0 || !r.modelWrote(s) {
		return out
	}
	if facts := r.tools.facts(s.tool()); facts.Err != nil || facts.Tool.Trusted || !facts.Tool.ReadOnly || facts.Tool.KeepsText() {
		return out
	}
	return append(slices.Clip(out), rule.Provenance{Mention: "AGENTS.md", Notes: true, Written: true})
}

// modelWrote reports whether a model of this folder wrote the call of a step, or a part of
// it. Otherwise a person did, or a rule of the person's own words.
func (r *origins) modelWrote(s stepView) bool {
	return s.byModel() || len(s.requestState().written()) > 0 || s.authorState().byReplan() || r.terms.outerRun() != "" || !r.terms.isGiven() && !r.planning.byWords()
}

// textOf returns the arguments of a step that carry text from a result, or
// that a model wrote after reading one. References are tracked exactly. Every
// result is untrusted: even those of the workspace's own tools contain text from
// its files.
func (r *origins) textOf(s stepView) []rule.Provenance {
	switch {
	case s.authorState().edits() > 0:
		return s.authorState().textsKept()
	case s.byModel():
		if len(s.planned().Args) == 0 {
			return nil // no arguments to carry it
		}
		return r.read(s)
	}
	args := s.args()
	var out []rule.Provenance
	for _, arg := range argsWithReferences(args) {
		for _, ref := range plan.References(args[arg]) {
			for _, other := range r.producersFor(s, ref.Name) {
				from := rule.Provenance{Arg: s.argName(arg), Step: other.index(), Tool: other.tool(), Exact: true}
				if result, ok := other.result().(map[string]any); ok && other.tool() == "code.transform" {
					from.Words = result["by"] == "words"
				}
				if !slices.Contains(out, from) {
					out = append(out, from)
				}
			}
		}
	}
	if len(s.requestState().written()) > 0 {
		read := r.before()
		for _, h := range r.inputs(s.planned()) {
			read = append(read, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
		for _, arg := range slices.Sorted(maps.Keys(s.requestState().written())) {
			for _, p := range read {
				p.Arg = arg
				out = append(out, p)
			}
		}
	}
	if len(args) > 0 && !s.authorState().byUser() {
		out = append(out, s.authorState().textsRead()...)
	}
	return append(out, r.deciding(s, out)...)
}

// read returns what a model had read when it wrote the arguments of a call. That was read
// before the run and by the author of its step. Its inputs are part of it, and the results
// of its own calls.
func (r *origins) read(c stepView) []rule.Provenance {
	out := r.before()
	if step := c.askedIn().agentStep(); step != nil {
		out = append(out, step.authorState().textsRead()...)
		for _, h := range r.inputs(step.planned()) {
			out = append(out, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
		out = append(out, r.deciding(step, out)...)
	}
	for earlier := range c.askedIn().calls() {
		if earlier == c {
			break
		}
		if earlier.holdsToolText() {
			out = append(out, rule.Provenance{Step: earlier.index(), Tool: string(earlier.title()), Written: true})
		}
	}
	return plan.Newest(out)
}

// inputs returns the completed history items of the steps that step depends on,
// directly or indirectly.
func (r *origins) inputs(step plan.Step) []plan.HistoryItem {
	of := step.Index
	if s := r.steps.find(of); s != nil {
		of = s.planStep().index()
	}
	before := r.board.ancestors(of)
	var out []plan.HistoryItem
	for _, h := range r.ledger.history() {
		if before[h.Index] && h.Status == plan.ItemCompleted {
			out = append(out, h)
		}
	}
	return out
}

// checkedText returns the text that a call of a check carries of the step that it is about.
// It is of the step's result and args, and of what decided that it was called.
func (r *origins) checkedText(s stepView, check plan.Check) []rule.Provenance {
	var out []rule.Provenance
	for _, arg := range argsWithReferences(check.Args) {
		for _, ref := range plan.References(check.Args[arg]) {
			switch ref.Name {
			case "result", s.planned().ResultVariable:
				out = append(out, rule.Provenance{Arg: arg, Step: s.index(), Tool: s.tool(), Exact: true})
			case "args":
				for _, p := range r.provenance(s) {
					p.Arg = arg
					out = append(out, p)
				}
			}
		}
	}
	out = append(out, r.deciding(s, out)...)
	if r.board.mayFailByText(s) {
		out = append(out, rule.Provenance{Step: s.index(), Tool: s.tool(), Decides: true})
	}
	return out
}

// sources carries out [Run.Sources].
func (r *origins) sources(s stepView) []Source {
	if s.byModel() {
		return modelSources(s.planned().Args, r.provenance(s))
	}
	args, by := s.args(), AuthorPlan
	if s.authorState().byUser() {
		by = AuthorUser
	}
	var out []Source
	for _, arg := range slices.Sorted(maps.Keys(args)) {
		source := Source{Arg: s.argName(arg), Written: args[arg], By: by}
		if s.authorState().edits() == 0 { // text the user enters at a gate is no reference
			for _, ref := range plan.References(args[arg]) {
				source.From = append(source.From, r.originOf(ref))
			}
		}
		if !s.authorState().byUser() {
			for _, p := range s.authorState().textsRead() {
				source.From = append(source.From, Origin{Step: p.Step, Tool: p.Tool, Read: true})
			}
		}
		out = append(out, source)
	}
	if len(s.requestState().written()) > 0 {
		var read []rule.Provenance
		for _, p := range r.provenance(s) {
			if p.Written && p.Arg != "" {
				read = append(read, p)
			}
		}
		out = append(out, modelSources(s.requestState().written(), read)...)
	}
	slices.SortStableFunc(out, func(a, b Source) int { return plan.CompareIndices(a.Arg, b.Arg) })
	return out
}

// modelSources returns the sources of arguments that a model wrote on request.
func modelSources(args map[string]any, read []rule.Provenance) []Source {
	var out []Source
	for _, arg := range slices.Sorted(maps.Keys(args)) {
		source := Source{Arg: arg, By: AuthorModel}
		for _, p := range read {
			if p.Arg == arg || p.Arg == "" {
				source.From = append(source.From, Origin{Step: p.Step, Tool: p.Tool, Read: true})
			}
		}
		out = append(out, source)
	}
	return out
}

// originOf returns what a reference refers to.
func (r *origins) originOf(ref plan.Reference) Origin {
	for _, s := range r.board.steps() {
		if s.planned().ResultVariable == ref.Name && ref.Name != "" {
			return Origin{Reference: ref.String(), Step: s.index(), Tool: s.tool()}
		}
	}
	return Origin{Reference: ref.String(), Variable: ref.Name}
}

// producersFor returns the steps whose result a reference of a step may carry. An item
// carries those of its list.
func (r *origins) producersFor(s stepView, name string) []stepView {
	of := s.planStep()
	switch {
	case !s.isItem() || !of.planned().ForEach.Own(name):
		return r.board.producersOf(name)
	case name != of.planned().ForEach.As:
		return nil // its position
	}
	var out []stepView
	for _, ref := range plan.References(of.planned().ForEach.Items) {
		out = append(out, r.board.producersOf(ref.Name)...)
	}
	return out
}

// argsWithReferences lists the args with references, sorted by name. Most steps
// have none, and the rules ask for every step, so nothing is sorted for those.
func argsWithReferences(args map[string]any) []string {
	var names []string
	for name, value := range args {
		if len(plan.References(value)) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// modelPlans reports whether a model makes the first plan of the run.
func (r *origins) modelPlans() bool {
	return !r.planning.hasOwn() && !r.terms.isGiven() && !r.planning.byWords()
}

// inRun returns texts of a run as another run knows them.
func inRun(id string, read []rule.Provenance) []rule.Provenance {
	out := slices.Clone(read)
	for i := range out {
		if out[i].Arg = ""; out[i].Run == "" && out[i].Mention == "" {
			out[i].Run = id
		}
		out[i].Exact, out[i].Decides, out[i].Written = false, false, true
	}
	return out
}

// failsByText reports whether it depends on text of a result whether a step fails. Such a step
// has checks, its arguments carry such text, or a model carries it out.
func failsByText(s plan.Step) bool {
	return s.Executor != plan.ExecutorTool || s.Until != nil || len(s.Checks) > 0 || len(plan.References(s.Args)) > 0
}

// Source is the origin of the value of one argument of a call.
type Source struct {
	Arg     string
	Written any // as written by plan, user or model, with references; nil if the plan leaves it out
	By      Author
	From    []Origin
}

// Author is the writer of an argument.
type Author string

// Authors of an argument.
const (
	AuthorPlan  Author = "plan"
	AuthorUser  Author = "user"  // at a gate, or after a failure
	AuthorModel Author = "model" // when the step was ready, or as a call of the model itself
)

// Origin is one input from which the value of an argument was made.
type Origin struct {
	Reference string // as written; "" if there is none
	Variable  string // of the plan; "" for a result
	Step      string // that produced the result
	Tool      string
	Read      bool // a model had read it when writing the argument
}
