package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/planning/expression"
)

// Rules are the context a plan is validated in.
type Rules struct {
	Catalog    Catalog
	Withheld   Catalog  // tools that may not be used, since their servers have changed them
	CheckTools bool     // tool names, args and the fields of results are looked at
	Strict     bool     // args that the tool accepts only once they are converted are faults
	MaxSteps   int      // 0 means no bound
	Profiles   []string // the profiles that agent steps may name; nil means unchecked, unless Planned
	Toolless   []string // profiles that may not name tools
	// Planned says that a model made the plan. A tool step may then come without
	// args, since a model fills them in when the step is ready. An agent step must
	// name a profile that exists. Long texts in the args of a step with effects
	// are warned about.
	Planned bool
	// PartialArgs allows args without some required ones, for a caller that fills
	// them in; see MissingArgs. If no model made the plan, each such step gets a
	// warning.
	PartialArgs bool
	// EmptyArgs takes args that are present and empty as complete: PartialArgs
	// does not apply to them.
	EmptyArgs bool
	// Known holds the variables whose values are known before the run, besides
	// those of the plan: the results of finished steps.
	Known map[string]any
	// Named says that the names of steps and tools need no check of their form.
	// The plan is in a journal, where older programs allowed any, or DecodePlan
	// has read its new steps.
	Named bool
}

// CheckPlan reads and validates a plan file in one go. A mistake of form is
// not reported a second time as one of meaning.
func CheckPlan(data []byte, r Rules) (p Plan, faults, warnings []Fault) {
	p, faults, from := decodePlan(data)
	reported := make(map[string]bool, len(faults))
	for _, f := range faults {
		if f.Path == "" {
			return p, faults, nil // there is no plan to look at
		}
		reported[f.Path] = true
	}
	invalid, odd := validate(p, r, from)
	for _, f := range invalid {
		if !reported[f.Path] {
			faults = append(faults, f)
		}
	}
	odd = slices.DeleteFunc(odd, func(f Fault) bool { return reported[f.Path] })
	return p, faults, odd
}

// Validate returns all faults of a plan at once, and its warnings. A plan without
// faults can be run.
func Validate(p Plan, r Rules) (faults, warnings []Fault) { return validate(p, r, origin{}) }

// validate is Validate for a plan with a known file; faults are reported at their
// places in the file.
func validate(p Plan, r Rules, from origin) (faults, warnings []Fault) {
	c := checker{
		plan:       p,
		from:       from,
		rules:      r,
		first:      make(map[string]int, len(p.Steps)),
		producers:  make(map[string]int, len(p.Steps)),
		references: stepReferences(p),
		tools:      make(map[string]*namedTool),
		absences:   make(map[string]*absence),
	}
	for i, s := range p.Steps {
		if _, ok := c.first[s.Index]; !ok {
			c.first[s.Index] = i
		}
	}
	for i, s := range p.Steps {
		if _, ok := c.producers[s.ResultVariable]; s.ResultVariable != "" && !ok {
			c.producers[s.ResultVariable] = i
		}
	}
	c.checkPlan()
	for i, s := range p.Steps {
		c.checkStep(i, s)
	}
	c.checkCycles()
	c.checkAcceptance()
	c.checkMilestones()
	return c.faults, c.warnings
}

// checker collects the faults of one plan.
type checker struct {
	plan       Plan
	from       origin
	rules      Rules
	first      map[string]int        // index → position of the first step that has it
	producers  map[string]int        // variable → position of the first step that defines it
	references [][]Reference         // of each step
	tools      map[string]*namedTool // the tools of the names in the plan
	absences   map[string]*absence   // what references to results lack
	scope      expression.Scope      // all that an expression may name; nil until first needed
	defined    string                // the list of known variables as text; empty until first needed

	faults   []Fault
	warnings []Fault
}

func (c *checker) fault(code, path, step, format string, args ...any) {
	c.add(Fault{Code: code, Path: path, Step: step, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) add(f Fault) {
	f.Path = c.from.place(f)
	c.faults = append(c.faults, f)
}

func (c *checker) warn(code, path, step, format string, args ...any) {
	f := Fault{Code: code, Path: path, Step: step, Message: fmt.Sprintf(format, args...)}
	f.Path = c.from.place(f)
	c.warnings = append(c.warnings, f)
}

func (c *checker) checkPlan() {
	p := c.plan
	if p.ID != "" && CheckID(p.ID) != nil {
		c.fault(CodeBadID, "/id", "", "the id %q may hold letters, digits, dots, dashes and underscores, at most 128, and must begin with a letter or a digit", p.ID)
	}
	if strings.TrimSpace(string(p.Title)) == "" {
		c.fault(CodeMissingTitle, "", "", "the plan has no title%s", misspelled(p.Extra, "title"))
	}
	c.checkFields("", "", p.Extra, planFields)
	if isMultiline(string(p.Title)) {
		c.warn(CodeMultilineTitle, "/title", "", "the title of the plan has line breaks, and it is shown on one line")
	}
	if !IsOnFailure(p.OnFailure) {
		c.fault(CodeBadType, "/on_failure", "", "the plan's on_failure must be abort, skip or replan, not %q", p.OnFailure)
	}
	if c.rules.MaxSteps > 0 && len(p.Steps) > c.rules.MaxSteps {
		c.fault(CodeTooManySteps, "/steps", "", "the plan has %d steps, and there may be at most %d", len(p.Steps), c.rules.MaxSteps)
	}
	if len(p.Steps) == 0 {
		c.warn(CodeNoSteps, "/steps", "", "the plan has no steps and does nothing")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		if !reachable(name) {
			c.warn(CodeUnreachableVariable, JSONPointer("/variables", name), "", "no reference can name the variable %q: %s", name, nameRule)
		}
	}
	callsTools := slices.ContainsFunc(p.Steps, func(s Step) bool { return ExecutorOf(s) == ExecutorTool })
	if !c.rules.CheckTools && callsTools {
		c.warn(CodeUncheckedTools, "/steps", "", "tool names and args were not checked, since no tools are known here")
	}
}

// The fields of plans and steps in a file, those that are seldom mistyped left out.
var (
	planFields = []string{"title", "goal", "done_when", "variables", "on_failure", "steps", "acceptance", "milestones", "risks"}
	stepFields = []string{
		"index", "title", "executor", "tool", "profile", "args", "depends_on", "result_variable", "expected_outcome", "when", "for_each", "as", "max", "at_once", "until", "check",
		"on_failure", "timeout", "retries", "gate", "synthesize",
	}
)

// checkFields warns about fields that are probably mistyped. Other unknown fields
// are kept as they are. A model's plan is not warned about: no one would read it.
func (c *checker) checkFields(path, step string, extra map[string]any, known []string) {
	if c.rules.Planned {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if hint := english.DidYouMean(name, known); hint != "" && name != "tool_calls" {
			c.warn(CodeUnknownField, JSONPointer(path, name), step, "unknown field %s%s", name, hint)
		}
	}
}

// misspelled names the unknown field that was probably meant to be the given one, ""
// if there is none.
func misspelled(extra map[string]any, field string) string {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if hint := english.DidYouMean(name, []string{field}); hint != "" {
			return ": unknown field " + name + hint
		}
	}
	return ""
}

// nameRule is the form of a variable's name.
const nameRule = "a name may not be empty, begin or end with a blank, or hold a dot, an opening bracket or a closing brace"

// reachable reports whether a reference can name a variable of this name.
func reachable(name string) bool {
	return name != "" && name == strings.TrimSpace(name) && !strings.ContainsAny(name, ".[}")
}

// isLineBreak reports whether a character ends a line, on one screen or another.
func isLineBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// isMultiline reports whether a title does not fit the one line it is shown on.
func isMultiline(title string) bool { return strings.ContainsFunc(title, isLineBreak) }

// IsOnFailure reports whether a word is a value of on_failure.
func IsOnFailure(word OnFailure) bool {
	switch word {
	case OnFailureDefault, OnFailureAbort, OnFailureSkip, OnFailureReplan:
		return true
	default:
		return false
	}
}

func (c *checker) checkStep(i int, s Step) {
	path := "/steps/" + strconv.Itoa(i)
	if why := c.indexProblem(s.Index); why != "" {
		c.fault(CodeBadIndex, path+"/index", s.Index, "the index of the step at position %d %s", i+1, why)
	} else if c.first[s.Index] != i {
		c.fault(CodeDuplicateIndex, path+"/index", s.Index, "the steps at positions %d and %d both have the index %s", c.first[s.Index]+1, i+1, s.Index)
	}
	s.Index = c.from.name(c.plan, i) // only messages use it from here on
	if strings.TrimSpace(string(s.Title)) == "" {
		c.fault(CodeMissingTitle, path, s.Index, "step %s has no title%s", s.Index, misspelled(s.Extra, "title"))
	}
	c.checkFields(path, s.Index, s.Extra, stepFields)
	if isMultiline(string(s.Title)) {
		c.warn(CodeMultilineTitle, path+"/title", s.Index, "the title of step %s has line breaks, and it is shown on one line", s.Index)
	}
	if !IsOnFailure(s.OnFailure) {
		c.fault(CodeBadType, path+"/on_failure", s.Index, "step %s: on_failure must be abort, skip or replan, not %q", s.Index, s.OnFailure)
	}
	if s.Timeout < 0 {
		c.fault(CodeBadTimeout, path+"/timeout", s.Index, "step %s has a negative timeout, %s", s.Index, s.Timeout)
	}
	c.checkWording(path, s)
	if c.rules.Planned {
		c.checkContents(path, s) // a file may hold contents on purpose
	}
	c.checkDependencies(path, i, s)
	c.checkVariables(path, i, s)
	switch ExecutorOf(s) {
	case ExecutorTool:
		c.checkTool(path, s)
	case ExecutorAgent:
		c.checkProfile(path, s)
	case ExecutorSelf:
	default:
		c.fault(CodeBadExecutor, path+"/executor", s.Index, "step %s: executor must be tool, agent or self, not %q", s.Index, s.Executor)
	}
	c.checkForEach(path, i, s)
	c.checkWhen(path, s)
	c.checkUntil(path+"/until", s)
	c.checkChecks(path, s)
}

// indexProblem describes the fault in an index, "" if there is none.
func (c *checker) indexProblem(index string) string {
	if c.rules.Named && index != "" {
		return ""
	}
	return indexProblem(index)
}

func (c *checker) checkDependencies(path string, i int, s Step) {
	own := c.plan.Steps[i].Index
	for n, index := range s.DependsOn {
		at := func() string { return JSONPointer(path, "depends_on", strconv.Itoa(n)) }
		if index == own {
			c.fault(CodeSelfDependency, at(), s.Index, "step %s depends on itself", s.Index)
		} else if _, ok := c.first[index]; !ok {
			c.fault(CodeUnknownDependency, at(), s.Index, "step %s depends on step %s, which does not exist", s.Index, index)
		}
	}
}

func (c *checker) checkVariables(path string, i int, s Step) {
	c.checkResultVariable(path+"/result_variable", i, s)
	if !slices.ContainsFunc(c.references[i], func(r Reference) bool { return !c.defines(i, r) || c.absent(i, r) != nil }) {
		return
	}
	c.checkReferences(path+"/args", i, referrer{"step " + s.Index, s.Index, s.ForEach}, s.Args)
}

// referrer is what refers to a variable, or calls a tool.
type referrer struct {
	who  string   // in messages: "step 3"
	step string   // its index; "" for the plan itself
	each *ForEach // whose item it may refer to; nil for none
}

// checkReferences looks at the references in args at a path; i is the position of their
// step, or afterwards.
func (c *checker) checkReferences(path string, i int, by referrer, args map[string]any) {
	reported := make(map[string]bool) // one report of a variable or field for each text
	walkReferences(args, func(place []string, r Reference) {
		if by.each.Own(r.Name) {
			return
		}
		at, lacks := JSONPointer(path, place...), c.absent(i, r)
		key := at + " " + r.Name + " " + r.Malformed
		if lacks != nil {
			key = at + " " + r.Text
		}
		switch defined := c.defines(i, r); {
		case defined && lacks == nil, reported[key]:
			return
		case defined:
			c.unknownField(at, i, by, r, lacks)
		default:
			c.undefined(at, by, r)
		}
		reported[key] = true
	})
}

func (c *checker) checkResultVariable(path string, i int, s Step) {
	name := s.ResultVariable
	if name == "" {
		return
	}
	if first := c.producers[name]; c.plan.Steps[first].Index != c.plan.Steps[i].Index {
		c.fault(CodeDuplicateResultVariable, path, s.Index, "steps %s and %s both put their result into %q", c.from.name(c.plan, first), s.Index, name)
	}
	if !reachable(name) {
		c.warn(CodeUnreachableVariable, path, s.Index, "no reference can name the variable %q that step %s puts its result into: %s", name, s.Index, nameRule)
	}
	if _, given := c.plan.Variables[name]; given {
		c.warn(CodeShadowedVariable, path, s.Index, "the result of step %s replaces the value that the plan gives to %q, from when the step is done", s.Index, name)
	}
}

// defines reports whether a reference has a value when the step at position i is
// ready. A step may refer to a variable of the plan and replace it with its own
// result.
func (c *checker) defines(i int, r Reference) bool {
	if r.Malformed != "" {
		return false
	}
	if _, given := c.plan.Variables[r.Name]; given {
		return true
	}
	_, produced := c.producerFor(i, r)
	return produced
}

// noVariables is the message for a plan without variables.
const noVariables = "the plan defines no variables"

// undefined tells of a reference that will have no value.
func (c *checker) undefined(at string, by referrer, r Reference) {
	if r.Malformed != "" {
		c.fault(CodeUnknownVariable, at, by.step, "%s refers to %s, whose path is malformed: %s", by.who, r, r.Malformed)
		return
	}
	if _, produced := c.producers[r.Name]; produced {
		c.fault(CodeSelfDependency, at, by.step, "%s refers to its own result with %s", by.who, r)
		return
	}
	if c.defined == "" {
		names := slices.Collect(maps.Keys(c.plan.Variables))
		names = slices.AppendSeq(names, maps.Keys(c.producers))
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !reachable(name) })
		c.defined = noVariables
		if len(names) > 0 {
			c.defined = "defined: " + english.Some(names, mostNamed, "")
		}
	}
	if c.defined == noVariables {
		c.fault(CodeUnknownVariable, at, by.step, "%s refers to %s, and %s", by.who, r, c.defined)
		return
	}
	c.fault(CodeUnknownVariable, at, by.step, "%s refers to %s, which is not defined; %s", by.who, r, c.defined)
}

func (c *checker) checkCycles() {
	g := newGraph(c.plan, c.references)
	for _, knot := range g.knots() {
		indices := g.indices(knot)
		members := c.names(indices)
		loop := c.names(g.indices(g.loop(knot)))
		c.add(Fault{
			Code:    CodeCycle,
			Path:    JSONPointer("/steps", strconv.Itoa(c.first[indices[0]])),
			Step:    members[0],
			Members: members,
			Message: "steps " + english.Some(members, mostNamed, "") + " wait for each other: " + describeLoop(loop),
		})
	}
}

// names returns the names of the steps with these indices.
func (c *checker) names(indices []string) []string {
	for i, index := range indices {
		indices[i] = c.from.name(c.plan, c.first[index])
	}
	return indices
}

// describeLoop says who waits for whom, of a long loop only how it begins.
func describeLoop(loop []string) string {
	const most = 10
	waitedFor := append(slices.Clone(loop[1:]), loop[0])
	rest := ""
	if len(waitedFor) > most {
		rest = fmt.Sprintf(", and so on through %d more", len(waitedFor)-most)
		waitedFor = waitedFor[:most]
	}
	return loop[0] + " waits for " + strings.Join(waitedFor, ", that for ") + rest
}

func (c *checker) checkMilestones() {
	for i, m := range c.plan.Milestones {
		if isMultiline(string(m.Title)) {
			c.warn(CodeMultilineTitle, JSONPointer("/milestones", strconv.Itoa(i), "title"), "", "the title of the milestone %q has line breaks, and it is shown on one line", m.Title)
		}
		for n, index := range m.Steps {
			if _, ok := c.first[index]; !ok {
				at := JSONPointer("/milestones", strconv.Itoa(i), "steps", strconv.Itoa(n))
				c.warn(CodeUnknownMilestone, at, "", "the milestone %q names step %s, which does not exist", m.Title, index)
			}
		}
	}
}
