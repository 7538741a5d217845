package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/planning/expression"
)

// maxChecks is how many checks a step, or the acceptance of a plan, may have.
const maxChecks = 20

// The names that never mean a variable in an expression.
const (
	nameResult = "result"
	nameArgs   = "args"
	nameItem   = "item"
	nameIndex  = "index"
)

// variablesOf returns the variables that an expression names.
func variablesOf(expect string) []string {
	return slices.DeleteFunc(expression.NamesOf(expect), isReserved)
}

func isReserved(name string) bool {
	return name == nameResult || name == nameArgs || name == nameItem || name == nameIndex
}

// checkFields are the fields of a check in a file.
var checkFields = []string{"title", "expect", "tool", "args"}

// placedCheck is a check where it stands.
type placedCheck struct {
	Check
	referrer
	path string
	of   *Step // nil for one of the acceptance
}

func (c *checker) checkChecks(path string, s Step) {
	c.checkNumber(path+"/check", referrer{who: "step " + s.Index, step: s.Index}, len(s.Checks))
	for i, check := range s.Checks[:min(len(s.Checks), maxChecks)] {
		p := placedCheck{Check: check, path: JSONPointer(path, "check", strconv.Itoa(i)), of: &s}
		p.referrer = referrer{"a check of step " + s.Index, s.Index, s.ForEach}
		if name := check.Name(); name != "" {
			p.who = fmt.Sprintf("the check %q of step %s", OneLine(name, 60), s.Index)
		}
		c.checkCheck(p)
	}
}

// checkWhen compiles the condition of a step, which may name what is there before it:
// variables and the results of other steps.
func (c *checker) checkWhen(path string, s Step) {
	if s.When == "" {
		return
	}
	at, who := path+"/when", referrer{"the condition of step " + s.Index, s.Index, s.ForEach}
	names := expression.NamesOf(s.When)
	if slices.Contains(names, s.ResultVariable) && s.ResultVariable != "" {
		c.fault(CodeSelfDependency, at, s.Index, "%s names its own result, %s", who.who, s.ResultVariable)
		return
	}
	p := placedCheck{Check: Check{Expect: s.When}, referrer: who}
	certain, seen := c.scopeOf(p, names)
	e, err := expression.Compile(s.When, certain)
	switch {
	case err != nil:
		c.fault(CodeBadExpression, at, s.Index, "%s is not valid: %s", who.who, expressionError(err))
	case e.Constant():
		c.fault(CodeBadExpression, at, s.Index, "%s gives the same answer whatever happens: name a variable or a result", who.who)
	case seen != nil:
		if _, err := expression.Compile(s.When, seen); err != nil {
			c.warn(CodeBadExpression, at, s.Index, "%s may have no answer: %s; that is what earlier runs have seen, the server declares nothing", who.who, expressionError(err))
		}
	}
}

// checkForEach checks the list of a step that runs for each of its items.
func (c *checker) checkForEach(path string, i int, s Step) {
	each := s.ForEach
	if each == nil {
		return
	}
	who := referrer{who: "the for_each of step " + s.Index, step: s.Index}
	at := path + "/for_each"
	_, variable := c.plan.Variables[each.As]
	_, result := c.producers[each.As]
	switch {
	case !slices.Equal(expression.NamesOf(each.As), []string{each.As}) || isReserved(each.As) && each.As != nameItem:
		c.fault(CodeBadForEach, path+"/as", s.Index, "step %s calls its items %q, which no expression can name: use one word of letters and digits", s.Index, each.As)
	case variable || result:
		c.fault(CodeBadForEach, path+"/as", s.Index, "step %s calls its items %q, which is a variable of the plan: use another word", s.Index, each.As)
	}
	own := c.plan.Steps[i].Index + "."
	if other := slices.IndexFunc(c.plan.Steps, func(o Step) bool { return strings.HasPrefix(o.Index, own) }); other >= 0 {
		c.fault(CodeBadForEach, at, s.Index, "the items of step %s are the steps %s1, %s2 and so on: give step %s another index", s.Index, own, own, c.plan.Steps[other].Index)
	}
	if each.Max < 1 || each.Max > MostItems {
		c.fault(CodeBadForEach, path+"/max", s.Index, "max of step %s must be from 1 to %d, not %d", s.Index, MostItems, each.Max)
	}
	if text, isText := each.Items.(string); isText {
		found := References(text)
		if len(found) != 1 || found[0].Text != text {
			c.fault(CodeBadForEach, at, s.Index, "%s must be one reference to a list, such as ${found.files}, not %s", who.who, describe(text))
			return
		}
	}
	for _, r := range References(each.Items) {
		if each.Own(r.Name) {
			c.fault(CodeBadForEach, at, s.Index, "%s refers to %s, which has a value only once there are items: a step runs for the items of one list", who.who, r)
			return
		}
	}
	c.checkReferences(at, i, who, map[string]any{"": each.Items})
	if t := c.typeOfList(each); t != nil && t.Kind != expression.List && t.Kind != expression.Any {
		c.fault(CodeBadForEach, at, s.Index, "%s needs a list, and %s is %s", who.who, each.words(), kindWords[t.Kind])
		return
	}
	values := maps.Clone(c.plan.Variables)
	maps.DeleteFunc(values, func(name string, _ any) bool { _, replaced := c.producers[name]; return replaced })
	if _, unknown := Resolve(each.Items, values); unknown != nil {
		return
	}
	if _, err := each.List(values); err != nil {
		c.fault(CodeBadForEach, at, s.Index, "step %s: %v", s.Index, err)
	}
}

// kindWords names the types of values that are no lists.
var kindWords = map[expression.Kind]string{
	expression.Text: "text", expression.Whole: "a number", expression.Number: "a number", expression.Truth: "true or false", expression.Object: "an object",
}

// typeOfList returns what is certain of the list of a step's items, nil if nothing is.
func (c *checker) typeOfList(each *ForEach) *expression.Type {
	found := References(each.Items)
	if _, isText := each.Items.(string); !isText || len(found) != 1 {
		return nil
	}
	t, _, _ := c.typeOf(placedCheck{}, found[0].Name)
	for _, field := range found[0].Path {
		switch {
		case t == nil:
			return nil
		case t.Kind == expression.Object:
			t = t.Fields[field]
		case t.Kind == expression.List:
			t = t.Item
		default:
			return nil
		}
	}
	return t
}

// typeOfItem returns what is certain of the items of a step.
func (c *checker) typeOfItem(each *ForEach) *expression.Type {
	if t := c.typeOfList(each); t != nil && t.Kind == expression.List {
		return t.Item
	}
	return nil
}

// leastEvery bounds how often a step may call while it waits.
const leastEvery = 100 * time.Millisecond

// checkUntil checks what a step waits for.
func (c *checker) checkUntil(path string, s Step) {
	u := s.Until
	if u == nil {
		return
	}
	who := "the until of step " + s.Index
	c.checkFields(path, s.Index, u.Extra, []string{"expect", "every", "for"})
	switch {
	case ExecutorOf(s) != ExecutorTool:
		c.fault(CodeBadUntil, path, s.Index, "%s repeats no call: only a step with a tool can wait", who)
	case c.rules.CheckTools && s.Tool != "" && c.lookUp(s.Tool).missing == "" && !c.lookUp(s.Tool).tool.ReadOnly:
		c.fault(CodeBadUntil, path, s.Index, "%s would repeat %s, which is not marked as a tool that only reads", who, s.Tool)
	}
	switch {
	case u.Every < leastEvery:
		c.fault(CodeBadUntil, path+"/every", s.Index, "%s calls every %s, and %s is the least", who, u.Every, leastEvery)
	case u.For < u.Every:
		c.fault(CodeBadUntil, path+"/for", s.Index, "%s waits for %s, which is less than the %s between two calls", who, u.For, u.Every)
	}
	p := placedCheck{Check: Check{Expect: u.Expect}, referrer: referrer{who, s.Index, s.ForEach}, path: path, of: &s}
	if strings.TrimSpace(u.Expect) == "" {
		c.fault(CodeBadExpression, path, s.Index, "%s has no expect%s", who, misspelled(u.Extra, "expect"))
		return
	}
	c.checkExpect(p)
}

func (c *checker) checkAcceptance() {
	c.checkNumber("/acceptance", referrer{who: "the acceptance of the plan"}, len(c.plan.Acceptance))
	for i, check := range c.plan.Acceptance[:min(len(c.plan.Acceptance), maxChecks)] {
		p := placedCheck{Check: check, path: JSONPointer("/acceptance", strconv.Itoa(i))}
		p.who = "a check of the acceptance"
		if name := check.Name(); name != "" {
			p.who = fmt.Sprintf("the check %q of the acceptance", OneLine(name, 60))
		}
		c.checkCheck(p)
	}
}

func (c *checker) checkNumber(path string, of referrer, n int) {
	if n > maxChecks {
		c.fault(CodeBadType, path, of.step, "%s has %d checks, and %d are the most", of.who, n, maxChecks)
	}
}

func (c *checker) checkCheck(p placedCheck) {
	c.checkFields(p.path, p.step, p.Extra, checkFields)
	if isMultiline(string(p.Title)) {
		c.warn(CodeMultilineTitle, p.path+"/title", p.step, "the title of %s has line breaks, and it is shown on one line", p.who)
	}
	c.checkReferences(p.path+"/args", afterwards, p.referrer, p.Args)
	switch {
	case p.Tool != "":
		call := plannedCall{referrer: p.referrer, path: p.path, tool: p.Tool, args: p.Args}
		if tool := c.checkCall(call); tool != nil && !tool.ReadOnly {
			c.fault(CodeBadType, p.path+"/tool", p.step, "%s calls %s, which is not marked as a tool that only reads: call one that is, or make the call a step", p.who, p.Tool)
		}
	case p.Args != nil:
		c.fault(CodeMissingTool, p.path, p.step, "%s has args and names no tool%s", p.who, misspelled(p.Extra, "tool"))
	}
	if strings.TrimSpace(p.Expect) == "" {
		c.fault(CodeBadExpression, p.path, p.step, "%s has no expect%s", p.who, misspelled(p.Extra, "expect"))
		return
	}
	c.checkExpect(p)
}

// checkExpect compiles the expression of a check.
func (c *checker) checkExpect(p placedCheck) {
	at := p.path + "/expect"
	names := expression.NamesOf(p.Expect)
	if p.of == nil && p.Tool == "" && slices.Contains(names, nameResult) {
		c.fault(CodeBadExpression, at, p.step, "%s names result, and it calls no tool that would have one: name the result variable of a step, or a tool that only reads", p.who)
		return
	}
	certain, seen := c.scopeOf(p, names)
	e, err := expression.Compile(p.Expect, certain)
	if err != nil {
		c.fault(CodeBadExpression, at, p.step, "%s is not valid: %s", p.who, expressionError(err))
		return
	}
	if why := c.vacuous(p, e); why != "" {
		c.fault(CodeVacuousCheck, at, p.step, "%s %s", p.who, why)
		return
	}
	if seen == nil {
		return
	}
	if _, err := expression.Compile(p.Expect, seen); err != nil {
		c.warn(CodeBadExpression, at, p.step, "%s may have no answer: %s; that is what earlier runs have seen, the server declares nothing", p.who, expressionError(err))
	}
}

// expressionError returns the error of an expression without its wrapping.
func expressionError(err error) string {
	var bad *expression.Error
	if errors.As(err, &bad) {
		return bad.Error()
	}
	return err.Error()
}

// scopeOf returns the names that a check may use: those that it does use, or all where
// it uses another. seen has the types that earlier runs have seen besides; it is nil
// without any.
func (c *checker) scopeOf(p placedCheck, names []string) (certain, seen expression.Scope) {
	certain = expression.Scope{}
	for _, name := range names {
		declared, before, ok := c.typeOf(p, name)
		if !ok {
			return c.wholeScope(p), nil
		}
		certain[name] = declared
		if before != nil {
			if seen == nil {
				seen = expression.Scope{}
			}
			seen[name] = before
		}
	}
	for name, t := range certain {
		if seen != nil && seen[name] == nil {
			seen[name] = t
		}
	}
	return certain, seen
}

// wholeScope holds every name that a check may use, for a message about another. The
// next call changes it.
func (c *checker) wholeScope(p placedCheck) expression.Scope {
	if c.scope == nil {
		c.scope = expression.Scope{}
		for name := range c.plan.Variables {
			c.scope[name] = nil
		}
		for name := range c.producers {
			c.scope[name] = nil
		}
	}
	names := []string{nameResult, nameArgs, nameItem, nameIndex}
	if p.each != nil {
		names = append(names, p.each.As)
	}
	for _, name := range names {
		if _, _, ok := c.typeOf(p, name); ok {
			c.scope[name] = nil
		} else {
			delete(c.scope, name)
		}
	}
	return c.scope
}

// typeOf returns what is known of a name in a check: for certain, or else from earlier
// runs. ok is false for a name that it may not use.
func (c *checker) typeOf(p placedCheck, name string) (certain, seen *expression.Type, ok bool) {
	switch name {
	case nameResult:
		switch {
		case p.Tool != "":
			certain, seen = c.typeOfTool(p.Tool)
		case p.of == nil:
			return nil, nil, false
		default:
			certain, seen = c.typeOfCall(*p.of)
		}
		return certain, seen, true
	case nameArgs:
		return nil, nil, p.of != nil
	}
	switch {
	case p.each.Own(name) && name == nameIndex:
		return &expression.Type{Kind: expression.Whole}, nil, true
	case p.each.Own(name):
		return c.typeOfItem(p.each), nil, true
	case name == nameItem, name == nameIndex:
		return nil, nil, false
	case p.each != nil && p.of != nil && name == p.of.ResultVariable:
		certain, seen = c.typeOfCall(*p.of)
		return certain, seen, true
	}
	value, known := c.rules.Known[name]
	at, produced := c.producers[name]
	switch {
	case produced && !known:
		certain, seen = c.typeOfStep(c.plan.Steps[at])
		return certain, seen, true
	case !produced:
		if value, known = c.plan.Variables[name]; !known {
			return nil, nil, false
		}
	}
	left := mostTypes
	return typeOfValue(value, &left, 0), nil, true
}

// typeOfStep is typeOf for the result of a step.
func (c *checker) typeOfStep(s Step) (certain, seen *expression.Type) {
	if s.ForEach != nil {
		return &expression.Type{Kind: expression.List}, nil // of results, and nulls
	}
	return c.typeOfCall(s)
}

// typeOfCall is typeOf for the result of one call of a step.
func (c *checker) typeOfCall(s Step) (certain, seen *expression.Type) {
	switch ExecutorOf(s) {
	case ExecutorTool:
		return c.typeOfTool(s.Tool)
	case ExecutorSelf:
		return &expression.Type{Kind: expression.Text}, nil
	default:
		return nil, nil
	}
}

// typeOfTool is typeOf for the result of a tool.
func (c *checker) typeOfTool(name string) (certain, seen *expression.Type) {
	if !c.rules.CheckTools || name == "" {
		return nil, nil
	}
	tool := c.lookUp(name)
	t := tool.fields().Type()
	switch {
	case len(tool.tool.OutputSchema) > 0:
		return t, nil
	case t != nil && t.Kind == expression.Text:
		return nil, nil // it is parsed if it is JSON, see the values of steps
	default:
		return nil, t
	}
}

// vacuous says why no call of a tool can refute a check, "" if one can.
func (c *checker) vacuous(p placedCheck, e *expression.Expression) string {
	if e.Constant() {
		return "gives the same answer whatever happens: compare something in the result of a tool"
	}
	written := false
	for _, name := range e.Names() {
		var producer *Step
		if at, produced := c.producers[name]; produced && !isReserved(name) {
			producer = &c.plan.Steps[at]
		}
		if name == nameResult {
			if producer = p.of; p.Tool != "" {
				return ""
			}
		}
		if producer != nil && ExecutorOf(*producer) == ExecutorTool {
			return ""
		}
		written = written || producer != nil
	}
	if written {
		return "looks only at a model's own words: add a tool that only reads, and compare its result"
	}
	return "looks only at values that are set before the run: compare something in the result of a tool"
}
