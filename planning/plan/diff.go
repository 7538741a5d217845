package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"replan/planning/expression"
)

// Diff says, by index, how one list of steps became another.
type Diff struct {
	Removed []string // in the order before
	Added   []string // in the order after
	Revised []string // same index, another executor, tool, profile, args or checks; in the order after
}

// Compare says how before became after, step by step, by index.
func Compare(before, after []Step) Diff {
	var d Diff
	old := ByIndex(before)
	kept := ByIndex(after)
	for _, s := range before {
		if _, ok := kept[s.Index]; !ok {
			d.Removed = append(d.Removed, s.Index)
		}
	}
	for _, s := range after {
		was, ok := old[s.Index]
		switch {
		case !ok:
			d.Added = append(d.Added, s.Index)
		case !SameWork(was, s) || !SameTimes(was, s) || !slices.EqualFunc(was.Checks, s.Checks, sameCheck):
			d.Revised = append(d.Revised, s.Index)
		}
	}
	return d
}

// SameTimes reports whether two steps make their calls equally often: under the same
// condition, for the same items, until the same holds.
func SameTimes(a, b Step) bool {
	return a.When == b.When && sameForEach(a.ForEach, b.ForEach) && sameUntil(a.Until, b.Until)
}

// sameUntil reports whether two steps wait for the same.
func sameUntil(a, b *Until) bool {
	return a == b || a != nil && b != nil && a.Expect == b.Expect && a.Every == b.Every && a.For == b.For
}

// sameForEach reports whether two steps run for the same items, in the same way.
func sameForEach(a, b *ForEach) bool {
	return a == b || a != nil && b != nil && a.As == b.As && a.Max == b.Max && a.AtOnce == b.AtOnce && EqualValues(a.Items, b.Items)
}

// ByIndex maps each step by its index.
func ByIndex(steps []Step) map[string]Step {
	m := make(map[string]Step, len(steps))
	for _, s := range steps {
		m[s.Index] = s
	}
	return m
}

// SameCall reports whether two steps call the same with the same args.
func SameCall(a, b Step) bool {
	return ExecutorOf(a) == ExecutorOf(b) && a.Tool == b.Tool && a.Profile == b.Profile && sameArgs(a.Args, b.Args)
}

func sameArgs(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || EqualValues(a, b)
}

// sameCheck reports whether two checks hold the same, whatever they are titled.
func sameCheck(a, b Check) bool {
	return a.Expect == b.Expect && a.Tool == b.Tool && sameArgs(a.Args, b.Args)
}

// EqualChecks reports whether two lists hold the same checks with the same titles.
func EqualChecks(a, b []Check) bool {
	return slices.EqualFunc(a, b, func(a, b Check) bool { return a.Title == b.Title && sameCheck(a, b) })
}

// ExecutorOf returns the executor of a step; without one it is a tool step.
func ExecutorOf(s Step) Executor {
	if s.Executor == "" {
		return ExecutorTool
	}
	return s.Executor
}

// SameWork reports whether two steps would do the same: they call the same. They are also
// titled the same where a model makes the words or the args up from the title. Another
// check of it is no other work.
func SameWork(a, b Step) bool {
	if !SameCall(a, b) {
		return false
	}
	return ExecutorOf(a) == ExecutorTool && a.Args != nil || a.Title == b.Title
}

// SameSteps reports whether two lists hold the same steps: the same work with
// the same dependencies on each other. The steps have the same indices in any
// order, or they have the same order and indices that were only renumbered.
func SameSteps(a, b []Step) bool {
	if len(a) != len(b) {
		return false
	}
	named := ByIndex(b)
	same, renumbered := make(map[string]string, len(a)), make(map[string]string, len(a))
	for i, s := range a {
		same[s.Index] = s.Index
		renumbered[s.Index] = b[i].Index
	}
	if len(named) < len(b) || len(same) < len(a) {
		return false // an index twice: no plan at all
	}
	needsA, needsB := dependencies(a), dependencies(b)
	matches := func(names map[string]string) bool {
		for _, s := range a {
			other, ok := named[names[s.Index]]
			if !ok || !SameWork(s, other) || !SameTimes(s, other) {
				return false
			}
			needs := make(map[string]bool)
			for index := range needsA[s.Index] {
				if to, ok := names[index]; ok {
					index = to
				}
				needs[index] = true
			}
			if !maps.Equal(needs, needsB[other.Index]) {
				return false
			}
		}
		return true
	}
	return matches(same) || matches(renumbered)
}

// dependencies returns the dependencies of each step within the list. Steps
// outside of it are done, and need no waiting.
func dependencies(steps []Step) map[string]map[string]bool {
	graph := NewGraph(Plan{Steps: steps})
	all := make(map[string]map[string]bool, len(steps))
	for _, s := range steps {
		needs := make(map[string]bool)
		for _, index := range graph.Dependencies(s.Index) {
			needs[index] = true
		}
		all[s.Index] = needs
	}
	return all
}

// Revised is a plan after a replan.
type Revised struct {
	Plan     Plan   // the finished steps in their old order, then the proposed ones
	Proposed []Step // the proposed steps, as they are in the plan
	Diff     Diff   // over the unfinished steps, the failed one among them
}

// Revise replaces the unfinished steps by those a planner proposed after a
// failure. It changes neither argument.
//
//   - A finished step is frozen: it stays, and keeps its result.
//   - A proposed index of an unfinished step means that step.
//   - A proposed index of a finished step becomes a fresh one above all in
//     use, and depends_on follows, unless the proposal merely repeats the
//     finished step: the same work, under the same result variable, depending
//     on nothing new. Then the proposed step is dropped, and its dependents
//     depend on the finished one. With another list it runs for the items
//     that are not done, and takes the place of the finished step.
//   - A proposed result variable of a finished step belongs to the proposed
//     step from then on. The finished one keeps its result under the name with
//     its index added, in the args and checks of finished steps, and in the args
//     of the redefining step itself, whose checks look at its own result.
//   - A step that calls a gated tool of the plan keeps the gate, so that no
//     replan takes an exemption.
//   - A step without checks that takes the place of an unfinished one, with the same
//     tool, keeps its checks. The acceptance stays as it is: no replan takes a check
//     by leaving it out.
//
// Validate judges the new plan.
func Revise(current Plan, finished map[string]bool, proposed []Step) Revised {
	var frozen, remaining []Step
	for _, s := range current.Steps {
		if finished[s.Index] {
			frozen = append(frozen, s)
		} else {
			remaining = append(remaining, s)
		}
	}
	repeated, longer := repeats(frozen, proposed)
	if len(longer) > 0 {
		goesOn := func(s Step) bool { return longer[s.Index].Index != "" }
		remaining = slices.DeleteFunc(slices.Clone(current.Steps), func(s Step) bool { return finished[s.Index] && !goesOn(s) })
		frozen = slices.DeleteFunc(frozen, goesOn)
	}
	tail := renumber(frozen, remaining, proposed, repeated, longer)
	keepGates(current.Steps, tail)
	keepChecks(remaining, tail)
	frozen, tail = yieldVariables(current.Variables, frozen, tail)

	plan := current
	plan.Steps = slices.Concat(frozen, tail)
	plan.Milestones = KeepMilestones(current.Milestones, plan.Steps)
	return Revised{Plan: plan, Proposed: tail, Diff: Compare(remaining, tail)}
}

// renumber gives the proposed steps indices unused by finished steps, and drops
// repetitions of a finished one. A frozen step takes the result name of its
// repetition.
func renumber(frozen, remaining, proposed []Step, repeated, longer map[string]Step) []Step {
	for i, s := range frozen {
		if again, ok := repeated[s.Index]; ok && s.ResultVariable == "" {
			frozen[i].ResultVariable = again.ResultVariable
		}
	}
	done := ByIndex(frozen)
	highest := highestIndex(slices.Concat(frozen, remaining, proposed))
	fresh := make(map[string]string)
	tail := make([]Step, 0, len(proposed))
	for _, s := range proposed {
		if _, ok := repeated[s.Index]; ok {
			continue
		}
		if again, ok := longer[s.Index]; ok {
			s = again
		}
		if _, taken := done[s.Index]; taken && fresh[s.Index] == "" {
			highest++
			fresh[s.Index] = strconv.Itoa(highest)
		}
		tail = append(tail, s)
	}
	for i, s := range tail {
		if index, ok := fresh[s.Index]; ok {
			tail[i].Index = index
		}
		tail[i].DependsOn = slices.Clone(s.DependsOn)
		for j, index := range s.DependsOn {
			if to, ok := fresh[index]; ok {
				tail[i].DependsOn[j] = to
			}
		}
	}
	return tail
}

// repeats returns the proposed repetitions of finished steps, by index, and apart from
// those the ones with another list.
func repeats(frozen, proposed []Step) (repeated, longer map[string]Step) {
	done, graph := ByIndex(frozen), NewGraph(Plan{Steps: proposed})
	repeated, longer = make(map[string]Step), make(map[string]Step)
	for _, s := range proposed {
		was, ok := done[s.Index]
		if ok && SameWork(was, s) && agreeOnResult(was, s) && (s.ForEach == nil || was.ForEach != nil && !usesOwnResult(frozen, s)) {
			repeated[s.Index] = s
		}
	}
	// A step after a new step is new itself: tests run again after a second change
	// are no repetition.
	isNew := func(s Step) {
		delete(repeated, s.Index)
		for index := range graph.Descendants(s.Index) {
			delete(repeated, index)
		}
	}
	for _, s := range proposed {
		if again, ok := repeated[s.Index]; !ok || !SameWork(again, s) {
			isNew(s)
		}
	}
	var others []string
	for _, s := range proposed {
		if _, ok := repeated[s.Index]; ok && s.ForEach != nil && !EqualValues(done[s.Index].ForEach.Items, s.ForEach.Items) {
			others = append(others, s.Index)
		}
	}
	for _, index := range others {
		for after := range graph.Descendants(index) {
			if s, ok := repeated[after]; ok && s.ForEach == nil {
				isNew(s) // it may use the results
			} else if ok {
				others = append(others, after)
			}
		}
	}
	for _, index := range others {
		if s, ok := repeated[index]; ok {
			longer[index] = goOn(frozen, done[index], s)
			delete(repeated, index)
		}
	}
	return repeated, longer
}

// usesOwnResult reports whether the list of a step comes from finished steps that waited for it.
func usesOwnResult(frozen []Step, s Step) bool {
	after := NewGraph(Plan{Steps: frozen}).Descendants(s.Index)
	return slices.ContainsFunc(frozen, func(f Step) bool { return after[f.Index] && f.ResultVariable != "" && Needs(s, f.ResultVariable) })
}

// goOn returns the step with another list that takes the place of a finished one. It does
// not wait for finished steps that waited for that one.
func goOn(frozen []Step, was, s Step) Step {
	after := NewGraph(Plan{Steps: frozen}).Descendants(was.Index)
	s.DependsOn = slices.DeleteFunc(slices.Clone(s.DependsOn), func(index string) bool { return after[index] })
	if s.Leads {
		s.DependsOn, s.Leads = was.DependsOn, false
	}
	s.ResultVariable = cmp.Or(s.ResultVariable, was.ResultVariable)
	return s
}

// agreeOnResult reports whether one result can go by the names of both steps.
func agreeOnResult(a, b Step) bool {
	return a.ResultVariable == "" || b.ResultVariable == "" || a.ResultVariable == b.ResultVariable
}

// highestIndex is the highest whole number at the start of an index, 0 if there is
// none.
func highestIndex(steps []Step) int {
	highest := 0
	for _, s := range steps {
		whole, _, _ := strings.Cut(s.Index, ".")
		if n, err := strconv.Atoi(whole); err == nil && n < 1<<31 {
			highest = max(highest, n)
		}
	}
	return highest
}

// keepGates sets the gate of each step of tail that calls a gated tool of the
// plan.
func keepGates(plan, tail []Step) {
	gatedTools, gatedSteps := make(map[string]bool), make(map[string]bool)
	for _, s := range plan {
		if s.Gate {
			gatedSteps[s.Index] = true
			gatedTools[bareTool(s.Tool)] = s.Tool != ""
		}
	}
	for i, s := range tail {
		if gatedSteps[s.Index] || gatedTools[bareTool(s.Tool)] {
			tail[i].Gate = true
		}
	}
}

// keepChecks gives each step of tail the condition and the checks of the unfinished step
// in whose place it is, unless it has its own.
func keepChecks(remaining, tail []Step) {
	before := ByIndex(remaining)
	for i, s := range tail {
		was := before[s.Index]
		if ExecutorOf(was) != ExecutorOf(s) || was.Tool != s.Tool || was.Profile != s.Profile {
			continue
		}
		if s.When == "" {
			tail[i].When = was.When
		}
		if s.Until == nil {
			tail[i].Until = was.Until
		}
		if s.ForEach == nil && usesItem(s, was.ForEach) {
			tail[i].ForEach = was.ForEach
		}
		if len(s.Checks) > 0 || len(was.Checks) == 0 {
			continue
		}
		from := was.ResultVariable
		if s.ResultVariable == "" && !slices.ContainsFunc(tail, func(other Step) bool { return other.ResultVariable == from }) {
			tail[i].ResultVariable = from
		}
		if to := tail[i].ResultVariable; from != "" && to != "" {
			was = renameInChecks(was, from, to)
		}
		tail[i].Checks = was.Checks
	}
}

// usesItem reports whether the args of a step refer to an item.
func usesItem(s Step, each *ForEach) bool {
	return slices.ContainsFunc(References(s.Args), func(r Reference) bool { return each.Own(r.Name) })
}

// bareTool is a tool's name without its server.
func bareTool(name string) string {
	if _, bare, ok := strings.Cut(name, ":"); ok {
		return bare
	}
	return name
}

// yieldVariables renames the result variables of finished steps redefined by a
// step of tail.
func yieldVariables(variables map[string]any, frozen, tail []Step) (_, _ []Step) {
	taken := make(map[string]bool)
	for name := range variables {
		taken[name] = true
	}
	for _, s := range slices.Concat(frozen, tail) {
		taken[s.ResultVariable] = true
	}
	for _, finished := range slices.Clone(frozen) {
		from := finished.ResultVariable
		redefines := func(s Step) bool { return s.ResultVariable == from }
		if from == "" || !slices.ContainsFunc(tail, redefines) {
			continue
		}
		to := from + "_" + strings.Map(wordRune, finished.Index) // a name that an expression can hold
		for taken[to] {
			to += "_"
		}
		taken[to] = true
		for i, s := range frozen {
			frozen[i] = renameInChecks(renameVariable(s, from, to), from, to)
			if s.Index == finished.Index {
				frozen[i].ResultVariable = to
			}
		}
		for i, s := range tail {
			if redefines(s) {
				tail[i] = renameVariable(s, from, to)
			}
		}
	}
	return frozen, tail
}

// wordRune returns a rune that may be part of a word, and "_" for any other.
func wordRune(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return '_'
}

// renameVariable returns the step with the references to from in its args and its
// condition naming to.
func renameVariable(s Step, from, to string) Step {
	if s.ForEach != nil && refersTo(s.ForEach.Items, from) {
		each := *s.ForEach
		each.Items = renameReferences(each.Items, from, to)
		s.ForEach = &each
	}
	if s.ForEach.Own(from) {
		return s
	}
	if s.When != "" && !isReserved(from) {
		s.When = expression.Rename(s.When, from, to)
	}
	if s.Args != nil && refersTo(s.Args, from) {
		s.Args = renameReferences(s.Args, from, to).(map[string]any)
	}
	return s
}

// renameInChecks is renameVariable for the checks of the step.
func renameInChecks(s Step, from, to string) Step {
	if s.ForEach.Own(from) {
		return s
	}
	if s.Until != nil && !isReserved(from) {
		until := *s.Until
		until.Expect = expression.Rename(until.Expect, from, to)
		s.Until = &until
	}
	s.Checks = slices.Clone(s.Checks)
	for i, check := range s.Checks {
		if !isReserved(from) {
			s.Checks[i].Expect = expression.Rename(check.Expect, from, to)
		}
		if check.Args != nil {
			s.Checks[i].Args = renameReferences(check.Args, from, to).(map[string]any)
		}
	}
	return s
}

// ChangedArgs returns the sorted names of the arguments whose values differ.
func ChangedArgs(before, after map[string]any) []string {
	names := maps.Clone(before)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, after)
	maps.DeleteFunc(names, func(name string, _ any) bool {
		was, had := before[name]
		is, has := after[name]
		return had == has && EqualValues(was, is)
	})
	return slices.Sorted(maps.Keys(names))
}
