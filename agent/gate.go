package agent

import (
	"fmt"
	"maps"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// ruleFor returns the rule that decides about a step's call. A call that a rule
// allows still asks if its arguments carry untrusted text that the rule does not
// cover; a user's grant can lift that. A plan may ask for a gate but cannot
// exempt a call from one. A tool that any revision put behind a gate stays behind
// one in the steps of a replan.
func (r *Run) ruleFor(s *StepState, facts *toolFacts) rule.Rule {
	if facts.Err != nil {
		return rule.Rule{Tool: s.Step.Tool, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "there is no such tool"}
	}
	tool, args := facts.Tool, s.call.args
	if r.dryRun && len(s.fill.missing) > 0 {
		args = merge(args, nil)
		for _, name := range s.fill.missing {
			args[name] = plan.Placeholder("<" + name + ">") // the model would write it
		}
	}
	args = rule.Linked(args, s.gate.paths)
	matched := rule.DecideAmong(facts.Rules, args)
	if r.hasChanged(tool) && matched.Verdict != rule.VerdictBlock {
		return rule.ChangedTool(tool)
	}
	var uncovered []rule.Provenance
	if matched.Verdict == rule.VerdictRun || matched.Verdict == rule.VerdictAsk && r.Permissions.grants() {
		uncovered = r.uncovered(s, tool, matched, args)
	}
	switch {
	case matched.Verdict != rule.VerdictRun || len(uncovered) == 0:
	case !slices.ContainsFunc(uncovered, func(p rule.Provenance) bool { return !p.Notes }):
		matched = rule.ProjectNotes(tool)
	case slices.ContainsFunc(uncovered, func(p rule.Provenance) bool { return !p.Decides }):
		matched = rule.UntrustedText(tool)
	default:
		matched = rule.DecidingText(tool, s.item.step != nil)
	}
	if matched.Verdict == rule.VerdictAsk {
		matched = r.Permissions.lift(matched, tool, args, uncovered)
	}
	switch {
	case matched.Verdict != rule.VerdictRun:
	case s.gate.removes != "":
		return RemovalRule(tool.Name, s.gate.removes)
	case r.planGates(s, tool):
		return gatedByPlan(tool.Name)
	case s.author.edits > 0 && !s.gate.allowed():
		return rule.Rule{Tool: tool.Name, Verdict: rule.VerdictAsk, Source: rule.SourceUser, Why: "you edited this call; this is what it would do now"}
	}
	return matched
}

// RemovalRule returns the rule for a call that would remove most of a file. No
// grant lifts it, and no rule that names only a tool.
func RemovalRule(tool, removes string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: untrusted.Text("it " + removes)}
}

// unseen reports whether a call may change workspace files and passes by a rule
// that says nothing about its arguments. Such a call may not remove most of a
// file.
func (r decision) unseen(s *StepState, facts *toolFacts) bool {
	return facts.Err == nil && facts.Tool.Trusted && facts.Tool.Previews && !s.gate.allowed() && len(r.ruleFor(s, facts).Args) == 0
}

// holdBack makes a call wait for its gate after its tool refused to run without
// one, or without another one. Nothing was done, so no budget counts it.
func (r fold) holdBack(s *StepState) {
	s.Status, s.Error, s.Failure = StepPending, "", ""
	r.facts(s.Step.Tool).uncalled()
	if s.item.step == nil {
		r.Meter.takeBackStep()
	}
	r.Meter.takeBackCall()
	if s.inner.loop != nil {
		r.Meter.takeBackInner()
		s.inner.counted = false
		s.inner.loop.unmade(s.Step.Tool, s.Args)
	}
	r.enqueue(s)
}

// Edited reports whether the user has edited the call of an open gate, and has yet to see
// what it would do now.
func Edited(r *Run, g *Gate) bool {
	s := r.Step(g.Step)
	return s != nil && s.author.edits > 0
}

// gatedByPlan returns the rule for a step whose plan asks for a gate.
func gatedByPlan(tool string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourcePlan, Why: "the plan asks for a gate here"}
}

// gate returns the question that a step's call must pass.
func (r decision) gate(s *StepState) OpenGate {
	facts := r.facts(s.Step.Tool)
	tool := facts.Tool
	return OpenGate{
		Gate: event.GateRequested{
			Gate: r.gateID(s), Call: callHash(tool, s.call.args), Step: s.Step.Index, Title: s.Step.Title,
			Tool: tool.Name, Server: tool.Server, Trusted: tool.Trusted, Contained: tool.Contained, Pin: tool.Pin, Changed: tool.Changed, Rule: r.ruleFor(s, facts), Planned: r.planGates(s, tool), Args: s.call.args,
			Outdated: s.gate.outdated, Provenance: r.provenance(s), Items: r.sharing(s, facts),
		},
		Attempt: s.attempts.total + 1,
		Tool:    tool,
	}
}

// gateID returns the id of the gate for a step's next attempt in this revision. A
// question about a call that the plan has dropped, or the user has edited, is
// thus not mistaken for one about its replacement.
func (r *Run) gateID(s *StepState) string {
	id := fmt.Sprintf("%s.%d.%d", s.Step.Index, r.Revision, s.attempts.total+1)
	if s.author.edits > 0 {
		id += fmt.Sprintf("e%d", s.author.edits)
	}
	if of := s.item.step; of != nil && of.Attempt > 1 { // an earlier attempt may have closed it unanswered
		id += fmt.Sprintf("a%d", of.Attempt)
	}
	return id
}

// EditCheck returns a function that checks replacement arguments for an open
// gate. The function returns an error if they do not fit, else nil. It is safe to
// call from any goroutine, whatever becomes of the run.
func (r *Run) EditCheck(gate string) func(args map[string]any) error {
	for _, g := range r.Gates {
		s := r.Step(g.Step)
		if g.Gate != gate || s == nil {
			continue
		}
		signature := r.facts(s.Step.Tool).Signature
		return func(args map[string]any) error {
			if err := signature.Check(args); err != nil {
				return fmt.Errorf("the args of %s do not fit: %w", g.Tool, err)
			}
			return nil
		}
	}
	return func(map[string]any) error { return fmt.Errorf("no gate %s is open", gate) }
}

func (r fold) applyGateResolved(d event.GateResolved) {
	for _, g := range r.Gates {
		if g.Gate != d.Gate {
			continue
		}
		if d.Call != "" && d.Call != g.Call {
			return // it answers another call, which had a gate of this name
		}
		r.Permissions.closeGate(d.Gate)
		s := r.Step(g.Step)
		if s == nil {
			return
		}
		s.Status, s.Gate = StepPending, ""
		r.answeredGate(s, d)
		if d.Decision == event.Edit {
			r.edit(s, g.Args, d.Args)
			return
		}
		s.gate.answer = gateDenied
		if d.Decision == event.Allow {
			s.gate.answer = gateAllowed
		}
		r.enqueue(s)
		if d.Decision == event.Allow {
			accepted := r.Permissions.acceptChange(g)
			if granted := r.Permissions.grant(g, r.facts(g.QualifiedTool()).Tool, d); accepted || granted {
				r.enqueueAll()
			}
		}
		if g.Items > 0 {
			r.answerItems(s, d.Decision)
		}
		return
	}
}

// askAgain reopens the gates, open or passed, of calls that are no longer the ones that
// the user saw. A resume may bring other tools, or the same ones with other effects.
func (r fold) askAgain() {
	r.every(func(s *StepState) {
		if s.Status != StepWaiting && (s.Status != StepPending || !s.gate.allowed()) || r.bound(s) {
			return
		}
		r.Permissions.closeGate(s.Gate)
		s.Status, s.Gate = StepPending, ""
		reask(s)
	})
}

// bound reports whether the call of a step is still the one that its newest gate showed.
func (r scheduler) bound(s *StepState) bool {
	facts := r.facts(s.Step.Tool)
	return facts.Err == nil && r.prepare(s, facts) == nil && s.gate.call == callHash(facts.Tool, s.call.args)
}

// edit replaces the arguments that a gate showed with those of the user. The gate
// opens again for the new call.
func (r fold) edit(s *StepState, before, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	var left []rule.Provenance
	for _, p := range r.provenance(s) {
		stays := p.Arg != "" && plan.EqualValues(before[p.Arg], args[p.Arg])
		for name, value := range args {
			stays = stays || p.Arg == "" && plan.EqualValues(before[name], value)
		}
		if stays {
			left = append(left, p)
		}
	}
	s.author.args, s.fill.args, s.fill.missing = args, nil, nil
	s.author.edits, s.author.kept = s.author.edits+1, left
	s.gate.outdated, s.gate.files = "", nil
	s.gate.answer, s.Diff, s.gate.removes = gateUnanswered, "", ""
	s.gate.unbind()
	r.enqueue(s)
}

// startedCall begins an attempt of a call. A call with effects that passed no
// gate records the rule that allowed it, and the origin of its text. So does a
// call that sends such text to another server.
func (r decision) startedCall(s *StepState, facts *toolFacts, number int) event.StepStarted {
	started := r.started(s, s.call.args, number)
	started.Coerced = s.call.fitted
	if s.gate.allowed() {
		return started
	}
	matched := r.ruleFor(s, facts)
	if from := r.provenance(s); !facts.Tool.ReadOnly || len(from) > 0 && !facts.Tool.Trusted && matched.Source != rule.SourceBuiltIn {
		if r.passed(s) {
			matched = rule.Rule{Tool: facts.Tool.Name, Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: "you approved this call in the review of the plan"}
		}
		started.Rule, started.Provenance = &matched, from
	}
	return started
}

// provenance returns where the text of a step's call comes from: the project's notes are
// part of it if the call sends text to another server, and nothing else would ask.
func (r *Run) provenance(s *StepState) []rule.Provenance {
	out := r.textOf(s)
	if r.prompting.Instructions == "" || r.prompting.TrustsNotes || s.author.edits > 0 || len(s.args()) == 0 || !r.modelWrote(s) {
		return out
	}
	if facts := r.facts(s.Step.Tool); facts.Err != nil || facts.Tool.Trusted || !facts.Tool.ReadOnly || facts.Tool.KeepsText() {
		return out
	}
	return append(slices.Clip(out), rule.Provenance{Mention: "AGENTS.md", Notes: true, Written: true})
}

// modelWrote reports whether a model of this folder wrote the call of a step, or a part of
// it: not a person, nor a rule of the person's own words.
func (r *Run) modelWrote(s *StepState) bool {
	return s.inner.loop != nil || len(s.fill.args) > 0 || s.replanned || r.outerRun != "" || r.givenPlan == nil && !r.Planning.byWords()
}

// textOf returns the arguments of a step that carry text from a result, or
// that a model wrote after reading one. References are tracked exactly. Every
// result is untrusted: even those of the workspace's own tools contain text from
// its files.
func (r *Run) textOf(s *StepState) []rule.Provenance {
	switch {
	case s.author.edits > 0:
		return s.author.kept
	case s.inner.loop != nil:
		if len(s.Step.Args) == 0 {
			return nil // no arguments to carry it
		}
		return r.read(s)
	}
	args := s.args()
	var out []rule.Provenance
	for _, arg := range argsWithReferences(args) {
		for _, ref := range plan.References(args[arg]) {
			for _, other := range producersFor(r, s, ref.Name) {
				from := rule.Provenance{Arg: s.argName(arg), Step: other.Step.Index, Tool: other.Step.Tool, Exact: true}
				if result, ok := other.Result.(map[string]any); ok && other.Step.Tool == "code.transform" {
					from.Words = result["by"] == "words"
				}
				if !slices.Contains(out, from) {
					out = append(out, from)
				}
			}
		}
	}
	if len(s.fill.args) > 0 {
		read := r.before()
		for _, h := range r.inputs(s.Step) {
			read = append(read, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
		for _, arg := range slices.Sorted(maps.Keys(s.fill.args)) {
			for _, p := range read {
				p.Arg = arg
				out = append(out, p)
			}
		}
	}
	if len(args) > 0 && s.author.args == nil {
		out = append(out, s.author.read...)
	}
	return append(out, r.deciding(s, out)...)
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

// producersFor returns the steps whose result a reference of a step may carry. An item
// carries those of its list.
func producersFor(r *Run, s *StepState, name string) []*StepState {
	of := s.item.step
	switch {
	case of == nil || !of.Step.ForEach.Own(name):
		return r.producersOf(name)
	case name != of.Step.ForEach.As:
		return nil // its position
	}
	var out []*StepState
	for _, ref := range plan.References(of.Step.ForEach.Items) {
		out = append(out, r.producersOf(ref.Name)...)
	}
	return out
}

// unsaid returns what a step of a new plan carries of the text its model had
// read. It returns nothing if the previous plan had the same call, written before
// anything was read.
func (r fold) unsaid(step plan.Step, before map[string]*StepState, read []rule.Provenance) []rule.Provenance {
	for _, s := range before {
		if len(s.author.read) == 0 && r.facts(s.Step.Tool) == r.facts(step.Tool) && plan.EqualValues(s.Step.Args, step.Args) {
			return nil
		}
	}
	return read
}

// uncovered returns the untrusted text in a step's call that the rule does not
// cover.
func (r *Run) uncovered(s *StepState, tool plan.Tool, matched rule.Rule, args map[string]any) []rule.Provenance {
	if prompt.IsPlanTool(tool) || tool.KeepsText() {
		return nil
	}
	from := r.provenance(s)
	if of := s.item.step; of != nil && of.gate.itemsOf == promised(tool) {
		from = slices.DeleteFunc(from, func(p rule.Provenance) bool { return p.Decides })
	}
	return rule.Uncovered(matched, tool, args, from, r.toolOf)
}
