package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// edition is the plan between two changes. Each change creates a new edition.
type edition struct {
	steps      []plan.Step // of the base, in its order, including removed ones
	acceptance []plan.Check
	out        map[string]bool
	approved   map[string]map[string]any // step → the args that were shown
}

// ReviewStep is one step of a plan under review.
type ReviewStep struct {
	Step    plan.Step
	Status  StepStatus
	Settled bool // it has ended or is running, and cannot be changed
	Out     bool
	Edited  bool
	After   []string    // dependencies added when this or another step was moved
	Gate    *ReviewGate // nil if its call runs without a question, or there is no call
	Passes  bool        // its gate is approved
}

// ReviewGate is the question at which a call would stop.
type ReviewGate struct {
	Tool       plan.Tool
	Rule       rule.Rule
	Args       map[string]any // of the call; unresolved if a value is not known yet
	Provenance []rule.Provenance
	Closed     untrusted.Text // why it cannot be approved now, a clause; "" if it can
}

// DependentsError lists the steps that depend on a step to be removed.
type DependentsError struct {
	Step       string
	Dependents []string // in execution order
}

func (e *DependentsError) Error() string {
	return fmt.Sprintf("step %s cannot be removed alone: %s needs it", e.Step, strings.Join(e.Dependents, ", "))
}

// sameFault identifies a fault independent of its step's position.
func sameFault(f plan.Fault) string { return f.Code + " " + f.Step + " " + f.Message }

// check returns the faults of the plan in an edition.
func (v *Review) check(d edition) []plan.Fault { return v.rehearsal.faults(v.plan(d)) }

// plan returns the plan of an edition, without removed steps and dependencies on
// them.
func (v *Review) plan(d edition) plan.Plan {
	p := v.base.With(d.steps)
	p.Acceptance = d.acceptance
	if len(d.out) == 0 {
		return p
	}
	var left []plan.Step
	for _, s := range d.steps {
		if d.out[s.Index] {
			continue
		}
		if slices.ContainsFunc(s.DependsOn, func(index string) bool { return d.out[index] && v.added(s.Index, index) }) {
			s.DependsOn = slices.DeleteFunc(slices.Clone(s.DependsOn), func(index string) bool { return d.out[index] && v.added(s.Index, index) })
		}
		left = append(left, s)
	}
	return p.With(left)
}

// added reports whether the user added this dependency.
func (v *Review) added(index, on string) bool {
	return !slices.Contains(v.original[index].DependsOn, on)
}

// clone returns an edition that can be changed.
func (d edition) clone() edition {
	return edition{steps: slices.Clone(d.steps), acceptance: d.acceptance, out: maps.Clone(d.out), approved: maps.Clone(d.approved)}
}

// at returns the position of a step in the edition, or -1 if it is not there.
func (d edition) at(index string) int {
	return slices.IndexFunc(d.steps, func(s plan.Step) bool { return s.Index == index })
}

// change replaces the current edition, unless the new one has faults that the plan
// did not have before. The error lists them all.
func (v *Review) change(next edition) error {
	faults := slices.DeleteFunc(v.check(next), func(f plan.Fault) bool { return v.faults[sameFault(f)] })
	if len(faults) > 0 {
		return plan.FaultError(faults)
	}
	v.before = append(v.before, v.now)
	v.now = next
	return nil
}

// open returns the position of a step that can be changed.
func (v *Review) open(index string) (int, error) {
	at := v.now.at(index)
	switch {
	case at < 0:
		return at, fmt.Errorf("the plan has no step %s", index)
	case v.settled[index]:
		return at, fmt.Errorf("step %s has started: it stays as it is", index)
	default:
		return at, nil
	}
}

// Edit sets the fields of a step that a review may change to those of edited, the same
// step. If its gate was approved for another call or for other items, it asks again.
func (v *Review) Edit(edited plan.Step) error {
	index := edited.Index
	at, err := v.open(index)
	if err != nil {
		return err
	}
	if v.now.out[index] {
		return fmt.Errorf("step %s is removed: restore it first", index)
	}
	next := v.now.clone()
	was := next.steps[at]
	if !differs(was, edited) {
		return nil
	}
	next.steps[at] = withEdits(was, edited)
	if !plan.EqualValues(was.Args, edited.Args) || !plan.SameTimes(was, edited) {
		delete(next.approved, index)
	}
	return v.change(next)
}

// withEdits returns a step with what Edit sets.
func withEdits(s, edited plan.Step) plan.Step {
	s.Title, s.Args, s.Checks, s.Extra = edited.Title, edited.Args, edited.Checks, edited.Extra
	s.When, s.ForEach, s.Until = edited.When, edited.ForEach, edited.Until
	return s
}

// differs reports whether two versions of a step differ in what Edit sets.
func differs(a, b plan.Step) bool {
	return a.Title != b.Title || !plan.EqualValues(a.Args, b.Args) || !plan.SameTimes(a, b) || !plan.EqualChecks(a.Checks, b.Checks)
}

// EditAcceptance replaces the acceptance of the plan.
func (v *Review) EditAcceptance(checks []plan.Check) error {
	if plan.EqualChecks(v.now.acceptance, checks) {
		return nil
	}
	next := v.now.clone()
	next.acceptance = checks
	if len(v.plan(next).Acceptance) < len(checks) {
		return errors.New("the acceptance names the result of a removed step: restore it first")
	}
	return v.change(next)
}

// Remove removes a step and, with dependents, all steps that need it, directly or
// indirectly. Without dependents, it returns a [DependentsError] if there are
// any.
func (v *Review) Remove(index string, dependents bool) error {
	if _, err := v.open(index); err != nil {
		return err
	}
	if v.now.out[index] {
		return fmt.Errorf("step %s is already removed", index)
	}
	next := v.now.clone()
	// Steps that wait for it only because the user moved them no longer wait.
	next.out[index] = true
	needing := plan.NewGraph(v.plan(v.unmoved(v.now))).Descendants(index)
	var names []string
	for _, other := range v.order(v.now) {
		if needing[other] {
			names = append(names, other)
			next.out[other] = true
			delete(next.approved, other)
		}
	}
	if len(names) > 0 && !dependents {
		return &DependentsError{Step: index, Dependents: names}
	}
	if len(next.out) == len(next.steps) {
		return errors.New("no step would be left: refuse the plan instead")
	}
	delete(next.approved, index)
	return v.change(next)
}

// unmoved returns an edition without the dependencies added by the user.
func (v *Review) unmoved(d edition) edition {
	d = d.clone()
	for i, s := range d.steps {
		d.steps[i].DependsOn = v.original[s.Index].DependsOn
	}
	return d
}

// Restore brings back a step, with all removed steps that it needs. It returns
// the restored steps.
func (v *Review) Restore(index string) ([]string, error) {
	if !v.now.out[index] {
		return nil, fmt.Errorf("step %s is not removed", index)
	}
	all := plan.NewGraph(v.base.With(v.unmoved(v.now).steps))
	needed := all.Ancestors(index)
	needed[index] = true
	next := v.now.clone()
	var back []string
	for _, other := range all.Order() {
		if needed[other] && next.out[other] {
			delete(next.out, other)
			back = append(back, other)
		}
	}
	// A restored step with dependencies from a move may close a cycle with later
	// moves.
	if len(plan.NewGraph(v.plan(next)).Order()) < len(v.plan(next).Steps) {
		for i, s := range next.steps {
			if slices.Contains(back, s.Index) {
				next.steps[i].DependsOn = v.original[s.Index].DependsOn
			}
			next.steps[i].DependsOn = slices.DeleteFunc(slices.Clone(next.steps[i].DependsOn), func(on string) bool {
				return slices.Contains(back, on) && v.added(s.Index, on)
			})
		}
	}
	return back, v.change(next)
}

// order returns the remaining steps of an edition in execution order.
func (v *Review) order(d edition) []string { return plan.NewGraph(v.plan(d)).Order() }

// Move swaps a step with the movable step before it (by -1) or after it (by 1).
// From then on, the later of the two waits for the other, since independent steps
// run at once and have no order. Moving it back removes that dependency.
func (v *Review) Move(index string, by int) error {
	if _, err := v.open(index); err != nil {
		return err
	}
	if v.now.out[index] {
		return fmt.Errorf("step %s is removed", index)
	}
	order := slices.DeleteFunc(v.order(v.now), func(other string) bool { return v.settled[other] })
	at := slices.Index(order, index)
	other := at + max(-1, min(1, by))
	switch {
	case at < 0 || other == at:
		return nil
	case other < 0:
		return fmt.Errorf("step %s is already first", index)
	case other >= len(order):
		return fmt.Errorf("step %s is already last", index)
	}
	first, second := order[min(at, other)], order[max(at, other)]
	next := v.now.clone()
	if why := v.needs(second, first); why != "" {
		return errors.New(why)
	}
	next.wait(second, first, false)
	if graph := v.order(next); slices.Index(graph, first) < slices.Index(graph, second) {
		next.wait(first, second, true)
	}
	return v.change(next)
}

// wait adds or removes a dependency of a step.
func (d edition) wait(index, on string, yes bool) {
	at := d.at(index)
	needs := slices.DeleteFunc(slices.Clone(d.steps[at].DependsOn), func(other string) bool { return other == on })
	if yes {
		needs = append(needs, on)
	}
	d.steps[at].DependsOn = needs
}

// needs returns why a step must come after another, or "" if only the user put it
// there.
func (v *Review) needs(index, on string) string {
	if !v.added(index, on) {
		return fmt.Sprintf("step %s depends on step %s", index, on)
	}
	name := v.original[on].ResultVariable
	for _, ref := range plan.References(v.now.steps[v.now.at(index)].Args) {
		if name != "" && ref.Name == name {
			return fmt.Sprintf("step %s needs the result of step %s (%s)", index, on, ref)
		}
	}
	if name != "" && plan.Needs(v.now.steps[v.now.at(index)], name) {
		return fmt.Sprintf("step %s needs the result of step %s (%s)", index, on, name)
	}
	return ""
}

// Approve opens the gate of a step for the displayed call, or closes it again.
func (v *Review) Approve(index string, yes bool) error {
	if _, err := v.open(index); err != nil {
		return err
	}
	if _, had := v.now.approved[index]; had == yes {
		return nil
	}
	next := v.now.clone()
	if !yes {
		delete(next.approved, index)
		return v.change(next)
	}
	gate := v.Gate(index)
	switch {
	case v.now.out[index]:
		return fmt.Errorf("step %s is removed", index)
	case gate == nil:
		return fmt.Errorf("step %s does not ask", index)
	case gate.Closed != "":
		return fmt.Errorf("the gate of step %s cannot be approved now: %s", index, gate.Closed)
	}
	next.approved[index] = gate.Args
	return v.change(next)
}

// ApproveAll opens every gate that can be opened, as one change. It returns how
// many were not open before.
func (v *Review) ApproveAll() int {
	next := v.now.clone()
	for _, s := range v.now.steps {
		gate := v.Gate(s.Index)
		if _, had := next.approved[s.Index]; !had && gate != nil && gate.Closed == "" && !v.now.out[s.Index] && !v.settled[s.Index] {
			next.approved[s.Index] = gate.Args
		}
	}
	n := len(next.approved) - len(v.now.approved)
	if n == 0 || v.change(next) != nil {
		return 0
	}
	return n
}

// Undo reverts the last change, and reports whether there was one.
func (v *Review) Undo() bool {
	last := len(v.before) - 1
	if last < 0 {
		return false
	}
	v.now, v.before = v.before[last], v.before[:last]
	return true
}
