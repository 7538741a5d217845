package planning

import (
	"slices"
	"strings"
)

// proposal is what a reply says about steps.
type proposal struct {
	plan   Plan    // title, variables, steps, milestones and risks as far as they could be read
	reason string  // why there are no steps, in the model's words
	faults []Fault // what could not be read
	read   bool    // there was a list of steps to read, even an empty one
}

// readProposal reads the plan in a model's reply, in whatever shape it came. A
// reply to a replan keeps the indices as they stand.
func readProposal(reply Reply, replan bool) proposal {
	text := stripThinking(reply.Text)
	all := findJSON(text)
	if object, f, ok := objectWithSteps(all); ok {
		p := propose(object, replan)
		if lost(reply, f, text) {
			p.faults = append([]Fault{cutOffFault(reply, len(p.plan.Steps))}, p.faults...)
		}
		return p
	}
	words := readWords(text)
	items, f, ok := listOfSteps(all, text, len(words.items) > 0)
	if ok {
		p := propose(map[string]any{"steps": items}, replan)
		if !f.whole || reply.CutOff && !f.closed {
			p.faults = append([]Fault{cutOffFault(reply, len(p.plan.Steps))}, p.faults...)
		}
		return p
	}
	if len(words.items) == 0 {
		if reply.CutOff {
			return proposal{faults: []Fault{cutOffFault(reply, 0)}}
		}
		return proposal{faults: []Fault{{Code: CodeBadJSON, Message: "the reply holds no list of steps"}}}
	}
	p := propose(map[string]any{
		"title": words.title, "steps": words.items, "milestones": words.milestones, "risks": words.risks,
	}, replan)
	if reply.CutOff {
		// Nothing in words shows whether more was to come.
		p.faults = append([]Fault{cutOffFault(reply, len(p.plan.Steps))}, p.faults...)
	}
	return p
}

// cutOffFault says that steps were lost because the reply stopped.
func cutOffFault(reply Reply, steps int) Fault {
	why := "the reply stops in the middle"
	if reply.CutOff {
		why = "the reply was cut off at its bound of tokens"
	}
	return Fault{Code: CodeBadJSON, Path: "/steps", Message: why + ", so that steps are missing after the first " + plural(steps, "step") + "; write a shorter plan, whole"}
}

// lost reports whether the reply stopped before its list of steps was closed.
func lost(reply Reply, f found, text string) bool {
	if f.closed {
		return false
	}
	var stream StepStream
	stream.Feed(text)
	return !stream.closed && (reply.CutOff || !f.whole)
}

// planKeys are the names under which models put the steps of a plan.
var planKeys = []string{"steps", "plan", "tasks", "plan_steps"}

// objectWithSteps returns the first object with a list of steps in it, one with
// a step before one without.
func objectWithSteps(all []found) (map[string]any, found, bool) {
	var empty map[string]any
	var where found
	for _, f := range all {
		object, ok := f.value.(map[string]any)
		if !ok {
			continue
		}
		if inner, ok := object["plan"].(map[string]any); ok && object["steps"] == nil {
			object = inner
		}
		for _, key := range planKeys {
			list, ok := object[key].([]any)
			if !ok {
				continue
			}
			object["steps"] = list
			if slices.ContainsFunc(list, isStep) {
				return object, f, true
			}
			if empty == nil {
				empty, where = object, f
			}
			break
		}
	}
	return empty, where, empty != nil
}

// listOfSteps returns a bare list of steps: texts and objects that look like
// steps. A list of texts alone amid prose counts where no line of the reply is a
// step itself.
func listOfSteps(all []found, text string, haveLines bool) ([]any, found, bool) {
	var loose []any
	for _, f := range all {
		switch v := f.value.(type) {
		case []any:
			first := startsReply(strings.TrimSpace(text[:f.start]))
			switch {
			case len(v) == 0 && first && trimFence(text[f.start:]) == "[]":
				return v, f, true
			case len(v) == 0 || slices.ContainsFunc(v, notStep):
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

// isStep reports whether an item of a list of steps is one, not a placeholder.
func isStep(item any) bool {
	step, _ := new(numbering).read(item).(map[string]any)
	return step != nil
}

func notStep(item any) bool { return notText(item) && !looksLikeStep(item) }

func notText(item any) bool {
	_, ok := item.(string)
	return !ok
}

// looksLikeStep reports whether an item has what makes a step: a title, and
// something of what is done or in which order.
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
func propose(object map[string]any, replan bool) proposal {
	numbers := numbering{keep: replan}
	items, _ := object["steps"].([]any)
	steps := make([]any, 0, len(items))
	for _, item := range items {
		if step := numbers.read(item); step != nil {
			steps = append(steps, step)
		}
	}
	plan := map[string]any{"steps": steps}
	for _, key := range []string{"title", "name", "plan_title"} {
		if title := oneLine(textOf(object[key]), 120); title != "" && plan["title"] == nil {
			plan["title"] = title
		}
	}
	if variables, ok := object["variables"].(map[string]any); ok {
		plan["variables"] = variables
	}
	plan["milestones"] = milestonesOf(object["milestones"], numbers)
	plan["risks"] = textsOf(object["risks"])
	decoded, faults := DecodePlan([]byte(CanonicalJSON(plan)))
	decoded.Extra = nil
	for i := range decoded.Steps {
		decoded.Steps[i].Extra = nil
	}
	return proposal{
		plan: decoded, faults: faults, read: true,
		reason: oneLine(textOf(object["reason"]), 400),
	}
}

// milestonesOf reads milestones, which are only shown: whatever is not one is
// left out.
func milestonesOf(v any, n numbering) []any {
	list, _ := v.([]any)
	milestones := []any{}
	for _, item := range list {
		switch item := item.(type) {
		case string:
			milestones = append(milestones, map[string]any{"title": oneLine(item, 300)})
		case map[string]any:
			title := oneLine(textOf(item["title"]), 300)
			if title == "" {
				continue
			}
			indices := []any{}
			steps, _ := item["steps"].([]any)
			for _, step := range steps {
				if index := plainIndex(step); index != "" {
					indices = append(indices, fromOne(index, n.zeroIndices))
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
				out = append(out, CanonicalJSON(item))
			}
		}
	}
	return slices.DeleteFunc(out, func(v any) bool {
		text := strings.ToLower(strings.TrimSpace(v.(string)))
		return text == "" || text == "none" || text == "n/a"
	})
}
