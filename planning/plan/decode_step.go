package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"replan/internal/untrusted"
)

func (d *planDecoder) steps(plan map[string]any) []Step {
	list := d.list(plan, "", "steps")
	unreadable := func(v any) bool {
		object, ok := v.(map[string]any)
		return !ok || d.hasBadIndex(object)
	}
	var taken map[string]bool // indices in use, where a step needs a stand-in
	if slices.ContainsFunc(list, unreadable) {
		taken = d.takenIndices(list)
	}
	steps := make([]Step, 0, len(list))
	standIn := 0 // the last one; the numbers between it and its step's position are taken
	for i, v := range list {
		position := i + 1
		called := strconv.Itoa(position)
		if taken != nil && unreadable(v) {
			// The stand-in for an unreadable index must not look like a second
			// step with that index. It is never shown.
			d.from.unnamed(i)
			position = max(position, standIn+1)
			for taken[strconv.Itoa(position)] {
				position++
			}
			taken[strconv.Itoa(position)] = true
			standIn = position
		}
		steps = append(steps, d.step(v, "/steps/"+strconv.Itoa(i), called, strconv.Itoa(position)))
	}
	if len(steps) == 0 {
		return nil
	}
	return steps
}

// takenIndices returns the indices of the steps of a list, named or by position.
func (d *planDecoder) takenIndices(list []any) map[string]bool {
	taken := make(map[string]bool, len(list))
	for i, v := range list {
		object, ok := v.(map[string]any)
		if !ok || d.hasBadIndex(object) {
			continue
		}
		if index, ok := IndexText(object["index"]); ok {
			taken[index] = true
		} else {
			taken[strconv.Itoa(i+1)] = true
		}
	}
	return taken
}

func (d *planDecoder) hasBadIndex(step map[string]any) bool {
	v, there := step["index"]
	if !there {
		return false
	}
	index, ok := IndexText(v)
	return !ok || d.indexProblem(index) != ""
}

// step reads the step at path. For a step without an index of its own, called is
// its name in messages, and standIn its index.
func (d *planDecoder) step(v any, path, called, standIn string) Step {
	d.at = called
	defer func() { d.at = "" }()
	object, ok := v.(map[string]any)
	if !ok {
		d.badType(path, "a step", "an object", v)
		return Step{Index: standIn, Title: untrusted.Text(CanonicalJSON(v)), Executor: ExecutorSelf}
	}
	s := Step{Index: standIn}
	if index, ok := IndexText(object["index"]); ok {
		if why := d.indexProblem(index); why != "" {
			d.fault(CodeBadIndex, JSONPointer(path, "index"), "index %s", why)
		} else {
			s.Index, d.at = index, index
		}
	} else if d.hasBadIndex(object) {
		d.fault(CodeBadIndex, JSONPointer(path, "index"), "index must be text or a whole number, not %s", describe(object["index"]))
	}
	delete(object, "index")
	s.Title = untrusted.Text(d.text(object, path, "title"))
	s.Executor = Executor(d.text(object, path, "executor"))
	if s.Executor == "" {
		s.Executor = ExecutorTool
	}
	s.Tool = d.tool(object, path, "tool")
	s.Profile = d.text(object, path, "profile")
	s.Args = d.object(object, path, "args")
	d.toolCalls(object, path, &s)
	s.DependsOn = d.indices(object, path, "depends_on")
	s.ResultVariable = d.text(object, path, "result_variable")
	s.ExpectedOutcome = untrusted.Text(d.text(object, path, "expected_outcome"))
	if _, isText := object["when"].(string); isText || !d.journal { // an older program kept any value
		s.When = d.text(object, path, "when")
	}
	s.ForEach = d.forEach(object, path)
	s.Until = d.until(object, path)
	s.Checks = d.checks(object, path, "check")
	s.OnFailure = OnFailure(d.text(object, path, "on_failure"))
	s.Timeout = d.duration(object, path, "timeout", CodeBadTimeout)
	s.Retries = d.count(object, path, "retries", 0)
	s.Gate = d.flag(object, path, "gate")
	s.Synthesize = d.flag(object, path, "synthesize")
	s.Extra = rest(object)
	return s
}

// tool reads the name of a tool. A journal may hold one that a new plan may not.
func (d *planDecoder) tool(object map[string]any, path, name string) string {
	tool := d.text(object, path, name)
	if why := nameProblem(tool, maxToolName); why != "" && !d.journal {
		d.fault(CodeUnknownTool, JSONPointer(path, name), "the name of its tool %s", why)
	}
	return tool
}

// toolCalls takes the tool and args of a step from the first of its tool_calls. A
// list with more than a step can hold stays among the unknown fields.
func (d *planDecoder) toolCalls(object map[string]any, path string, s *Step) {
	const name = "tool_calls"
	kept := object[name]
	calls := d.list(object, path, name)
	if len(calls) == 0 {
		return
	}
	at := JSONPointer(path, name, "0")
	first, ok := calls[0].(map[string]any)
	if !ok {
		d.badType(at, "an entry of "+name, "an object", calls[0])
		return
	}
	if len(calls) > 1 || s.Tool != "" {
		object[name] = kept
	}
	if s.Tool != "" {
		return
	}
	call := maps.Clone(first)
	s.Tool = d.tool(call, at, "name")
	d.from.move(path+"/tool", at+"/name")
	if args := d.object(call, at, "args"); s.Args == nil {
		s.Args = args
		d.from.move(path+"/args", at+"/args")
	}
}

// EditableFields returns the fields of a step that a review may change, in the form of a
// plan file. A field that the step could have is null.
func EditableFields(s Step) map[string]any {
	fields := map[string]any{"title": string(s.Title), "when": nil, "for_each": nil, "check": []Check{}}
	if s.When != "" {
		fields["when"] = s.When
	}
	if len(s.Checks) > 0 {
		fields["check"] = s.Checks
	}
	if ExecutorOf(s) == ExecutorTool || s.Args != nil {
		fields["args"] = s.Args
	}
	if ExecutorOf(s) == ExecutorTool || s.Until != nil {
		fields["until"] = s.Until
	}
	if f := s.ForEach; f != nil {
		fields["for_each"], fields["as"], fields["max"], fields["at_once"] = f.Items, f.As, f.Max, f.AtOnce
	}
	return fields
}

// ReadFields returns a step with those fields. One that is missing or null is taken from
// it. It fails if a field has the wrong type or cannot be edited.
func ReadFields(s Step, fields map[string]any) (Step, error) {
	object := maps.Clone(fields)
	var d planDecoder
	s.Title = untrusted.Text(d.text(object, "", "title"))
	s.Args = d.object(object, "", "args")
	s.When = d.text(object, "", "when")
	s.ForEach = d.forEach(object, "")
	s.Until = d.until(object, "")
	s.Checks = d.checks(object, "", "check")
	delete(object, "for_each") // null
	delete(object, "until")
	s.Extra = maps.Clone(s.Extra)
	for _, name := range []string{"as", "max", "at_once"} {
		delete(s.Extra, name) // without for_each it was an unknown field
		if _, there := take(object, name); there {
			d.fault(CodeBadForEach, JSONPointer("", name), "%s needs for_each, the list of its items", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		d.fault(CodeUnknownField, JSONPointer("", name), "%q cannot be edited here", name)
	}
	return s, FaultError(d.faults)
}

// ReadChecks reads the checks of a decoded value: a list of them, or one alone. name is
// the field that holds it, for the faults.
func ReadChecks(v any, name string) ([]Check, []Fault) {
	var d planDecoder
	checks := d.checks(map[string]any{name: v}, "", name)
	return checks, d.faults
}

// checks reads a list of checks, or one alone.
func (d *planDecoder) checks(object map[string]any, path, name string) []Check {
	kept := object[name]
	v, ok := take(object, name)
	if !ok {
		return nil
	}
	at := JSONPointer(path, name)
	faults := len(d.faults)
	var checks []Check
	switch v := v.(type) {
	case map[string]any:
		checks = []Check{d.check(v, at)}
		d.from.move(at+"/0", at)
	case []any:
		for i, entry := range v {
			checks = append(checks, d.check(entry, JSONPointer(at, strconv.Itoa(i))))
		}
	default:
		d.badType(at, name, "a list of objects", v)
	}
	if d.journal && len(d.faults) > faults { // an older program kept it among the unknown fields
		d.faults = d.faults[:faults]
		object[name] = kept
		return nil
	}
	return checks
}

func (d *planDecoder) check(v any, path string) Check {
	object, ok := v.(map[string]any)
	if !ok {
		d.badType(path, "a check", "an object", v)
		return Check{Title: untrusted.Text(CanonicalJSON(v))} // those after it keep their positions
	}
	object = maps.Clone(object)
	return Check{
		Title:  untrusted.Text(d.text(object, path, "title")),
		Expect: d.text(object, path, "expect"),
		Tool:   d.tool(object, path, "tool"),
		Args:   d.object(object, path, "args"),
		Extra:  rest(object),
	}
}

// until reads what a step waits for.
func (d *planDecoder) until(object map[string]any, path string) *Until {
	kept, faults := object["until"], len(d.faults)
	if kept == nil {
		return nil
	}
	inner := maps.Clone(d.object(object, path, "until"))
	path = JSONPointer(path, "until")
	until := &Until{
		Expect: d.text(inner, path, "expect"),
		Every:  cmp.Or(d.duration(inner, path, "every", CodeBadUntil), DefaultEvery),
		For:    cmp.Or(d.duration(inner, path, "for", CodeBadUntil), DefaultFor),
		Extra:  rest(inner),
	}
	if d.journal && len(d.faults) > faults { // an older program kept it among the unknown fields
		d.faults, object["until"] = d.faults[:faults], kept
		return nil
	}
	return until
}

// duration reads a duration, or a number of seconds.
func (d *planDecoder) duration(object map[string]any, path, name, code string) time.Duration {
	v, ok := take(object, name)
	if !ok {
		return 0
	}
	at := JSONPointer(path, name)
	switch v := v.(type) {
	case string:
		timeout, err := time.ParseDuration(v)
		if err == nil && timeout >= 0 {
			return timeout
		}
	case json.Number:
		seconds, err := v.Float64()
		if err == nil && seconds >= 0 && seconds < math.MaxInt64/float64(time.Second) {
			return time.Duration(math.Round(seconds * float64(time.Second)))
		}
	default:
		d.badType(at, name, `a duration such as "30s"`, v)
		return 0
	}
	d.fault(code, at, `%s must be a duration such as "30s" or a number of seconds, not %s`, name, describe(v))
	return 0
}

// count reads a whole number from 0; without one it is fallback.
func (d *planDecoder) count(object map[string]any, path, name string, fallback int) int {
	v, ok := take(object, name)
	if !ok {
		return fallback
	}
	if number, ok := v.(json.Number); ok {
		if text, ok := WholeNumber(number); ok {
			if n, err := strconv.Atoi(text); err == nil && n >= 0 {
				return n
			}
		}
	}
	d.fault(CodeBadType, JSONPointer(path, name), "%s must be a whole number from 0, not %s", name, describe(v))
	return fallback
}

// forEach reads the list that a step runs for, with the fields about it. Without a list
// these stay among the unknown fields.
func (d *planDecoder) forEach(object map[string]any, path string) *ForEach {
	items := object["for_each"]
	if items == nil {
		return nil
	}
	kept, faults := maps.Clone(object), len(d.faults)
	delete(object, "for_each")
	switch items.(type) {
	case string, []any:
	default:
		d.badType(JSONPointer(path, "for_each"), "for_each", `a list, or a reference to one such as "${found.files}"`, items)
	}
	each := &ForEach{
		Items:  items,
		As:     cmp.Or(d.text(object, path, "as"), DefaultAs),
		Max:    d.count(object, path, "max", DefaultMax),
		AtOnce: d.count(object, path, "at_once", 0),
	}
	if d.journal && len(d.faults) > faults { // an older program kept them among the unknown fields
		d.faults = d.faults[:faults]
		maps.Copy(object, kept)
		return nil
	}
	return each
}

func (d *planDecoder) flag(object map[string]any, path, name string) bool {
	v, ok := take(object, name)
	if !ok {
		return false
	}
	flag, ok := v.(bool)
	if !ok {
		d.badType(JSONPointer(path, name), name, "true or false", v)
	}
	return flag
}

func (d *planDecoder) milestones(plan map[string]any) []Milestone {
	const name = "milestones"
	var milestones []Milestone
	for i, v := range d.list(plan, "", name) {
		path := JSONPointer("", name, strconv.Itoa(i))
		switch v := v.(type) {
		case string:
			milestones = append(milestones, Milestone{Title: untrusted.Text(v)})
		case map[string]any:
			milestones = append(milestones, Milestone{
				Title: untrusted.Text(d.text(v, path, "title")),
				Steps: d.indices(v, path, "steps"),
				Extra: rest(v),
			})
		default:
			d.badType(path, "an entry of "+name, "an object", v)
			milestones = append(milestones, Milestone{Title: untrusted.Text(CanonicalJSON(v))}) // those after it keep their positions
		}
	}
	return milestones
}
