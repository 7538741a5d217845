package reply

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// Proposal is the steps of a reply.
type Proposal struct {
	Plan   plan.Plan    // the readable ones of title, variables, steps, acceptance, milestones and risks
	Reason string       // why there are no steps, in the model's words
	Faults []plan.Fault // the unreadable parts
	unused []string     // the items of the list without a step, as JSON
	Read   bool         // there was a list of steps to read, even an empty one
}

// Warnings says which items of the list were left out.
func (p Proposal) Warnings() []plan.Fault {
	if len(p.unused) == 0 {
		return nil
	}
	return []plan.Fault{{
		Code: plan.CodeUnusableItem, Path: "/steps",
		Message: english.Count(len(p.unused), "item") + " of the model's list of steps left out, being no step: " + strings.Join(p.unused[:min(len(p.unused), 5)], ", "),
	}}
}

// ReadProposal reads the plan in a model's reply, in whatever shape it came. A
// reply to a replan keeps the indices as they stand.
func ReadProposal(reply Reply, replan bool) Proposal {
	return readProposal(reply, replan, !replan) // the goal of a replan stays, and so do its checks
}

// ReadRest reads the plan of what is still to do after the first steps of a plan. Its
// indices stay as they stand.
func ReadRest(reply Reply) Proposal { return readProposal(reply, true, true) }

// readProposal reads a plan. keep says that its indices stay as they stand, checks that it
// may have checks of the goal.
func readProposal(reply Reply, keep, checks bool) Proposal {
	text := StripThinking(reply.Text)
	if text == "" && !reply.CutOff && IsPlan(reply.Thinking) {
		reply.Text, reply.Thinking = reply.Thinking, "" // the server took all of it for thoughts
		return readProposal(reply, keep, checks)
	}
	all := findJSON(text)
	if object, f, ok := objectWithSteps(all); ok {
		p := propose(object, keep, checks)
		if whole, isLost := lost(reply, f, text); isLost {
			p.dropHalf(f, whole)
			p.Faults = append([]plan.Fault{cutOffFault(reply, p.Plan.Steps)}, p.Faults...)
		}
		return p
	}
	if inner, err := plan.DecodeValue([]byte(text)); err == nil && strings.HasPrefix(text, `"`) {
		reply.Text = textOf(inner) // JSON written as a text of JSON
		return readProposal(reply, keep, checks)
	}
	words := readWords(text)
	items, f, ok := listOfSteps(all, text, len(words.items) > 0)
	if ok {
		p := propose(map[string]any{"steps": items}, keep, checks)
		if !f.whole || reply.CutOff && !f.closed {
			p.Faults = append([]plan.Fault{cutOffFault(reply, p.Plan.Steps)}, p.Faults...)
		}
		return p
	}
	if len(words.items) == 0 {
		if steps := called(reply, text); len(steps) > 0 {
			return propose(map[string]any{"steps": steps}, keep, checks)
		}
		if fault, ok := Wordless(reply); ok {
			return Proposal{Faults: []plan.Fault{fault}}
		}
		if reply.CutOff {
			return Proposal{Faults: []plan.Fault{cutOffFault(reply, nil)}}
		}
		return Proposal{Faults: []plan.Fault{{Code: plan.CodeBadJSON, Message: "the reply holds no list of steps"}}}
	}
	p := propose(map[string]any{
		"title": words.title, "goal": words.goal, "steps": words.items, "milestones": words.milestones, "risks": words.risks,
	}, keep, checks)
	if reply.CutOff {
		// Prose does not show whether it is complete.
		p.Faults = append([]plan.Fault{cutOffFault(reply, p.Plan.Steps)}, p.Faults...)
	}
	return p
}

// called returns the calls that a model makes in place of writing a plan, in order, as steps.
// Nothing is called before the plan is taken. They are in a field of their own, or in the text
// between marks.
func called(reply Reply, text string) (steps []any) {
	uses := reply.Calls
	if len(uses) == 0 {
		if written := ReadCalls(text, nil, reply.CutOff); !written.Broken {
			uses = written.Unknown // none is known without an offer
		}
	}
	for _, use := range uses {
		steps = append(steps, map[string]any{"name": use.Name, "arguments": use.Args})
	}
	return steps
}

// cutOffFault reports steps lost because the reply stopped.
func cutOffFault(reply Reply, steps []plan.Step) plan.Fault {
	why := "the reply stops in the middle"
	switch {
	case trailsOff(reply.Text):
		why = "the reply runs on into white space without end"
	case repeatsItself(steps):
		why = "the reply repeats one step over and over"
	case reply.CutOff:
		why = "the reply was cut off at its bound of tokens"
	}
	arrived := "no step arrived whole"
	if len(steps) > 0 {
		arrived = "only " + english.Count(len(steps), "step") + " arrived whole"
	}
	return plan.Fault{Code: plan.CodeBadJSON, Path: "/steps", Message: why + ", and " + arrived, Advice: "write a shorter plan, whole"}
}

// repeatsItself reports whether the last three steps are one.
func repeatsItself(steps []plan.Step) bool {
	n := len(steps)
	same := func(a, b plan.Step) bool { return a.Title == b.Title && plan.SameCall(a, b) }
	return n >= 3 && same(steps[n-1], steps[n-2]) && same(steps[n-2], steps[n-3])
}

// dropHalf removes the last step if the reply stopped within it: half a step has
// faults that the model did not make. whole is the number of complete steps in a stream.
func (p *Proposal) dropHalf(f found, whole int) {
	last := len(p.Plan.Steps) - 1
	if f.whole || last < 0 || whole != last {
		return
	}
	at := plan.JSONPointer("/steps", strconv.Itoa(last))
	p.Plan.Steps = p.Plan.Steps[:last]
	p.Faults = slices.DeleteFunc(p.Faults, func(fault plan.Fault) bool { return fault.Path == at || strings.HasPrefix(fault.Path, at+"/") })
}

// lost reports whether the reply stopped before its list of steps was closed, and
// how many steps of it are whole.
func lost(reply Reply, f found, text string) (whole int, isLost bool) {
	if f.closed {
		return 0, false
	}
	var stream StepStream
	stream.Feed(text)
	whole, closed := stream.steps()
	return whole, !closed && (reply.CutOff || !f.whole)
}

// planKeys are the names under which models put the steps of a plan.
var planKeys = []string{"steps", "plan", "tasks", "plan_steps", "actions", "tool_calls"}

// objectWithSteps returns the first object with a list of steps in it. One with a
// step comes before one without, and one with "steps" at its top before all
// others: a stream finds no other.
func objectWithSteps(all []found) (map[string]any, found, bool) {
	var empty map[string]any
	var where found
	for _, nested := range []bool{false, true} {
		for _, f := range all {
			object, ok := f.value.(map[string]any)
			if !ok {
				continue
			}
			if nested {
				object, ok = objectWithList(object, 0)
			} else {
				_, ok = object["steps"].([]any)
			}
			if !ok {
				continue
			}
			if list, _ := object["steps"].([]any); slices.ContainsFunc(list, isStep) {
				return object, f, true
			}
			if empty == nil {
				empty, where = object, f
			}
		}
	}
	return empty, where, empty != nil
}

// maxNesting is how deep in other objects a plan is looked for.
const maxNesting = 3

// objectWithList returns the object itself or one within it with a list of steps
// under one of its names, the list under its proper name. A list of steps by their
// indices is one too.
func objectWithList(object map[string]any, depth int) (map[string]any, bool) {
	for _, key := range planKeys {
		switch v := object[key].(type) {
		case []any:
			object["steps"] = v
			return object, true
		case map[string]any:
			if list := numberedSteps(v); list != nil {
				object["steps"] = list
				return object, true
			}
		}
	}
	if depth == maxNesting {
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if inner, ok := object[key].(map[string]any); ok && key != "args" {
			if with, ok := objectWithList(inner, depth+1); ok {
				return with, true
			}
		}
	}
	return nil, false
}

// numberedSteps reads an object whose fields are steps under their numbers,
// {"1": {…}, "2": {…}} or {"step1": …}, nil where it is none.
func numberedSteps(object map[string]any) []any {
	list := make([]any, len(object))
	for key, v := range object {
		m := numberedKey.FindStringSubmatch(key)
		if m == nil {
			return nil
		}
		at, err := strconv.Atoi(m[1])
		if err != nil || at < 1 || at > len(object) || list[at-1] != nil || notStep(v) {
			return nil
		}
		list[at-1] = v
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

var numberedKey = lazyregexp.New(`^(?i:step)?[ _-]?(\d{1,3})$`)

// listOfSteps returns a bare list of steps: texts and objects like steps. A list
// of texts alone amid prose counts if no line of the reply is a step itself.
func listOfSteps(all []found, text string, haveLines bool) ([]any, found, bool) {
	var loose []any
	for _, f := range all {
		switch v := f.value.(type) {
		case []any:
			first := startsReply(strings.TrimSpace(text[:f.start]))
			switch {
			case len(v) == 0 && first && trimFence(text[f.start:]) == "[]":
				return v, f, true
			case len(v) == 0 || !isListOfSteps(v, first):
			case first || !haveLines || slices.ContainsFunc(v, notText):
				return v, f, true
			}
		case map[string]any:
			if looksLikeStep(v) {
				loose = append(loose, v)
			}
		}
	}
	if len(loose) == 0 {
		return nil, found{}, false
	}
	return loose, all[len(all)-1], true
}

// isListOfSteps reports whether the items of a list are steps. Where the reply
// begins with it, some may be unusable.
func isListOfSteps(items []any, first bool) bool {
	usable := false
	for _, item := range items {
		unusable := isUnusable(item)
		if notStep(item) && (!unusable || !first) {
			return false
		}
		usable = usable || !unusable
	}
	return usable
}

// isStep reports whether an item of a list of steps is one, not a placeholder.
func isStep(item any) bool {
	step, _ := new(stepNumbers).read(item).(map[string]any)
	return step != nil
}

func notStep(item any) bool { return notText(item) && !looksLikeStep(item) }

func notText(item any) bool {
	_, ok := item.(string)
	return !ok
}

// looksLikeStep reports whether an item has the parts of a step: a title, and
// something about its work or its order.
func looksLikeStep(item any) bool {
	object, ok := item.(map[string]any)
	if !ok {
		return false
	}
	fields := knownFields(object)
	switch {
	case fields["title"] != nil:
		return len(fields) > 1 || len(object) == 1
	default:
		return fields["tool"] != nil
	}
}

// propose reads the steps of an object with a list of steps.
func propose(object map[string]any, keep, checks bool) Proposal {
	numbers := stepNumbers{keep: keep}
	items, _ := object["steps"].([]any)
	steps := make([]any, 0, len(items))
	var unused []string
	someUsable := slices.ContainsFunc(items, func(item any) bool { return !isUnusable(item) })
	for _, item := range items {
		if someUsable && isUnusable(item) {
			unused = append(unused, plan.OneLine(plan.CanonicalJSON(item), 60))
			continue
		}
		if step := numbers.read(item); step != nil {
			steps = append(steps, step)
		}
	}
	p := map[string]any{"steps": steps}
	for _, key := range []string{"title", "name", "plan_title"} {
		if title := plan.OneLine(textOf(object[key]), 120); title != "" && p["title"] == nil {
			p["title"] = title
		}
	}
	if variables, ok := object["variables"].(map[string]any); ok {
		p["variables"] = variables
	}
	if follows, ok := object["on_failure"].(string); ok && plan.IsOnFailure(plan.OnFailure(follows)) {
		p["on_failure"] = follows // any other word says nothing
	}
	if checks {
		p["acceptance"] = acceptanceOf(object["acceptance"])
	}
	p["milestones"] = milestonesOf(object["milestones"], numbers)
	p["risks"] = textsOf(object["risks"])
	p["done_when"] = plan.OneLine(cmp.Or(textOf(object["done_when"]), textOf(object["goal"])), 400)
	decoded, faults := plan.DecodePlan([]byte(plan.CanonicalJSON(p)))
	decoded.Extra = nil
	for i := range decoded.Steps {
		decoded.Steps[i].Extra = nil
		decoded.Steps[i].Leads = numbers.isHead(decoded.Steps[i].Index)
	}
	return Proposal{
		Plan: decoded, Faults: faults, Read: true, unused: unused,
		Reason: plan.OneLine(textOf(object["reason"]), 400),
	}
}

// acceptanceOf reads the checks of a goal. What is in the wrong form is left for the
// check of the plan to refuse.
func acceptanceOf(v any) []any {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	checks := []any{}
	for _, item := range list[:min(len(list), maxNotes)] {
		fields, ok := item.(map[string]any)
		if !ok {
			fields = map[string]any{"expect": item}
		}
		check := map[string]any{"title": plan.OneLine(textOf(fields["title"]), 120), "expect": textOf(fields["expect"]), "tool": textOf(fields["tool"])}
		if args, ok := fields["args"].(map[string]any); ok && check["tool"] != "" {
			check["args"] = args
		}
		checks = append(checks, check)
	}
	return checks
}

// maxNotes is how many checks, milestones and risks of a model's plan are kept.
const maxNotes = 20

// milestonesOf reads milestones, which are only shown: whatever is not one is
// left out.
func milestonesOf(v any, n stepNumbers) []any {
	list, _ := v.([]any)
	milestones := []any{}
	for _, item := range list[:min(len(list), maxNotes)] {
		switch item := item.(type) {
		case string:
			milestones = append(milestones, map[string]any{"title": plan.OneLine(item, 300)})
		case map[string]any:
			title := plan.OneLine(textOf(item["title"]), 300)
			if title == "" {
				continue
			}
			indices := []any{}
			steps, _ := item["steps"].([]any)
			for _, step := range steps {
				if index := plainIndex(step); index != "" {
					indices = append(indices, n.fromOne(index))
				}
			}
			milestones = append(milestones, map[string]any{"title": title, "steps": indices})
		}
	}
	return milestones
}

// textsOf reads a list of texts, or one text.
func textsOf(v any) []any {
	out := []any{}
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, item := range v {
			switch item := item.(type) {
			case string:
				out = append(out, item)
			case nil:
			default:
				out = append(out, plan.CanonicalJSON(item))
			}
		}
	}
	out = slices.DeleteFunc(out, func(v any) bool {
		text := strings.ToLower(strings.TrimSpace(v.(string)))
		return text == "" || text == "none" || text == "n/a"
	})
	return out[:min(len(out), maxNotes)]
}
