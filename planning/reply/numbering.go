package reply

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// stepNumbers reads the items of a model's list of steps one after the other and
// gives each its index and dependencies. A streamed reply and a whole one go
// through it alike, so both give the same steps.
type stepNumbers struct {
	keep        bool                      // indices stay as written: others exist already
	count       int                       // steps so far
	ends        []string                  // the steps so far without dependents
	heads       map[string]bool           // steps after the one before, if there is none
	settled     bool                      // it is known from where the model counts
	open        []openNeeds               // of the steps so far, while it is not
	zeroIndices bool                      // it counts steps from 0
	zeroNeeds   bool                      // it counts dependencies from 0
	steps       map[string]map[string]any // the steps so far, by index
	named       map[string]string         // result variable or title → index, of the steps so far
}

// openNeeds are the dependencies of a step with a meaning from 0 and from 1. They
// stay as written until a later step decides.
type openNeeds struct {
	step  map[string]any
	needs []string
}

// stepFields says under which names models give the fields of a step, the
// proper one first.
var stepFields = []struct {
	name    string
	aliases []string
}{
	{"index", []string{"id", "step_id", "number", "step_number"}},
	{"title", []string{"description", "name", "summary", "task", "step"}},
	{"executor", []string{"executed_by"}},
	{"tool", []string{"tool_name", "toolName", "function"}},
	{"profile", []string{"agent"}},
	{"args", []string{"arguments", "parameters", "params", "input", "tool_args"}},
	{"depends_on", []string{"dependencies", "dependsOn", "deps", "after", "requires"}},
	{"result_variable", []string{"resultVariable", "output_variable", "save_as"}},
	{"expected_outcome", []string{"expectedOutcome", "expected", "expected_result"}},
	{"when", []string{"condition"}},
	{"for_each", []string{"foreach", "forEach"}},
	{"as", nil},
	{"max", nil},
	{"at_once", nil},
	{"until", nil},
	{"check", []string{"checks"}},
	{"on_failure", nil},
	{"timeout", nil},
	{"retries", nil},
	{"gate", nil},
	{"synthesize", nil},
	{"tool_calls", nil},
}

// read turns one item into a step object for DecodePlan. It returns nil for a
// placeholder, and the item itself if it is neither text nor an object.
func (n *stepNumbers) read(item any) any {
	var step map[string]any
	switch item := item.(type) {
	case string:
		if step = readLine(item); step == nil {
			return nil
		}
		if _, ok := step["depends_on"]; !ok {
			step["depends_on"] = afterPrevious{}
		}
	case map[string]any:
		if step = knownFields(item); isPlaceholder(textOf(step["title"])) && strings.TrimSpace(textOf(step["tool"])) == "" {
			return nil
		}
	default:
		return item
	}
	settleExecutor(step)
	n.number(step)
	return step
}

// len returns how many steps were read.
func (n *stepNumbers) len() int { return n.count }

// isOpen reports whether a later step shows which steps one of those read waits for.
func (n *stepNumbers) isOpen() bool { return len(n.open) > 0 }

// isHead reports whether a step comes after the one before, and there is none.
func (n *stepNumbers) isHead(index string) bool { return n.heads[index] }

// fromOne returns the index of a step as the plan has it.
func (n *stepNumbers) fromOne(index string) string { return fromOne(dashed(index), n.zeroIndices) }

// isUnusable reports whether an item of a list of steps is no step and was not
// meant to be one. Such an item is neither text nor an object with a field of a
// step.
func isUnusable(item any) bool {
	switch item := item.(type) {
	case string:
		return false
	case map[string]any:
		return len(knownFields(item)) == 0
	default:
		return true
	}
}

// knownFields copies the fields of a step under their proper names.
func knownFields(item map[string]any) map[string]any {
	step := make(map[string]any, len(item))
	if call, ok := item["function"].(map[string]any); ok && item["tool"] == nil && item["title"] == nil {
		item = call // as a model calls tools in chat
	}
	if isCall(item) {
		item = maps.Clone(item)
		item["tool"] = item["name"]
	}
	if call, ok := item["tool"].(map[string]any); ok {
		item = unfolded(item, call)
	}
	for _, field := range stepFields {
		for _, name := range append([]string{field.name}, field.aliases...) {
			v, ok := item[name]
			if !ok || v == nil {
				continue
			}
			if _, isText := v.(string); field.name == "title" && name == "step" && !isText {
				continue // its number, not its title
			}
			step[field.name] = v
			break
		}
	}
	if _, ok := step["index"]; !ok {
		if number, ok := item["step"].(json.Number); ok {
			step["index"] = number
		}
	}
	if title, ok := step["title"].(string); ok {
		step["title"] = plan.OneLine(title, 400)
	}
	if args, ok := step["args"].(string); ok {
		if v, err := plan.DecodeValue([]byte(unfenced(args))); err == nil || strings.TrimSpace(args) == "" {
			step["args"] = v
		}
	}
	if tool, ok := step["tool"].(string); ok && strings.ContainsAny(tool, "(`\"'") {
		name, args := callSyntax(tool)
		step["tool"] = name
		if step["args"] == nil && args != nil {
			step["args"] = args
		}
	}
	if name, ok := step["result_variable"].(string); ok {
		name = strings.TrimSpace(name)
		name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "$"), "{"), "}")
		step["result_variable"] = name
	}
	return step
}

// unfolded returns a step whose tool is written as a call, with the name and the arguments
// in their own fields. Arguments of the step go before those of the call.
func unfolded(item, call map[string]any) map[string]any {
	item = maps.Clone(item)
	for _, key := range nameFields {
		if name, _ := call[key].(string); name != "" {
			item["tool"] = name
			break
		}
	}
	for _, key := range argsFields {
		if call[key] != nil && item["args"] == nil {
			item["args"] = call[key]
		}
	}
	return item
}

// settleExecutor makes out who carries a step out, from whatever of executor,
// tool and profile the model gave.
func settleExecutor(step map[string]any) {
	if tool, ok := step["tool"].(string); ok {
		tool = strings.TrimSpace(tool)
		step["tool"] = tool
		switch strings.ToLower(tool) {
		case "", "none", "null", "self", "n/a", "-":
			delete(step, "tool")
		}
	}
	executor, given := step["executor"].(string)
	if !given && step["executor"] != nil {
		return // of the wrong type, which DecodePlan reports
	}
	word, target, _ := strings.Cut(strings.TrimSpace(executor), ":")
	switch word, target = strings.ToLower(strings.TrimSpace(word)), strings.TrimSpace(target); word {
	case "":
		switch {
		case step["tool"] != nil || step["tool_calls"] != nil:
			executor = string(plan.ExecutorTool)
		case step["profile"] != nil:
			executor = string(plan.ExecutorAgent)
		default:
			executor = string(plan.ExecutorSelf)
		}
	case "tool":
		executor = string(plan.ExecutorTool)
		if target != "" && step["tool"] == nil {
			step["tool"] = target
		}
	case "agent":
		executor = string(plan.ExecutorAgent)
		if target != "" && step["profile"] == nil {
			step["profile"] = target
		}
	case "self", "model", "llm", "assistant", "none":
		executor = string(plan.ExecutorSelf)
	}
	if _, chained := step["depends_on"]; !chained && !given && executor == string(plan.ExecutorSelf) {
		step["depends_on"] = afterPrevious{}
	}
	if executor == string(plan.ExecutorSelf) {
		// Held to a schema, models name a tool even where they call none.
		delete(step, "tool")
		delete(step, "args")
		delete(step, "tool_calls")
	}
	step["executor"] = executor
}

// afterPrevious stands for the dependencies of an item without an order, a line of text or
// an object without an executor. It means every step before it with no other step waiting
// for it. In a list of texts that is the step before.
type afterPrevious struct{}

// listOrder stands for the dependencies of a line of a list, which follow from its
// place in the list.
type listOrder []string

// number gives a step its index and its dependencies.
func (n *stepNumbers) number(step map[string]any) {
	n.count++
	index := plainIndex(step["index"])
	var needs, implied []string
	isImplied := true
	switch order := step["depends_on"].(type) {
	case afterPrevious:
		implied = slices.Clone(n.ends)
	case listOrder:
		implied = order
	default:
		needs, isImplied = n.dependencies(step), false
	}
	n.settle(index, needs, step["index"] != nil)
	switch {
	case step["index"] == nil:
		index = strconv.Itoa(n.count)
		step["index"] = index
	case index != "":
		index = n.fromOne(index)
		step["index"] = index
	}
	switch {
	case isImplied:
		n.imply(step, index, implied)
	case needs != nil:
		list := make([]any, 0, len(needs))
		for _, need := range needs {
			list = append(list, n.resolve(need))
		}
		step["depends_on"] = list
		if !n.settled && !n.keep && slices.ContainsFunc(needs, wholeIndex.MatchString) {
			n.open = append(n.open, openNeeds{step, needs})
		}
	}
	n.remember(step, index)
}

// imply puts a step after others although it does not say so. This alone makes
// their results no part of its own, so the answer gets them too.
func (n *stepNumbers) imply(step map[string]any, index string, order []string) {
	list := make([]any, 0, len(order))
	for _, need := range order {
		if need == index {
			continue
		}
		list = append(list, need)
		if before := n.steps[need]; before != nil && before["synthesize"] == nil {
			before["synthesize"] = true
		}
	}
	step["depends_on"] = list
	if len(list) == 0 {
		if n.heads == nil {
			n.heads = make(map[string]bool)
		}
		n.heads[index] = true
	}
}

func (n *stepNumbers) remember(step map[string]any, index string) {
	if n.named == nil {
		n.named, n.steps = make(map[string]string), make(map[string]map[string]any)
	}
	n.steps[index] = step
	needs, _ := step["depends_on"].([]any)
	for _, ref := range plan.References(step["args"]) {
		needs = append(slices.Clip(needs), n.named[ref.Name])
	}
	n.ends = slices.DeleteFunc(n.ends, func(end string) bool { return slices.Contains(needs, any(end)) })
	n.ends = append(n.ends, index)
	for _, field := range []string{"title", "result_variable"} {
		if name := textOf(step[field]); name != "" {
			n.named[name] = index
		}
	}
}

// settle decides, at the first step that shows it, whether the model counts from
// 0: by its own index, or by its dependencies. A model counting from 1 has no step
// 0, and one counting from 0 has no step waiting for its own number. A step with
// an index of its own shows the meaning of its dependencies.
func (n *stepNumbers) settle(index string, needs []string, numbered bool) {
	if n.settled || n.keep {
		return
	}
	if n.count == 1 && numbered {
		if index == "0" {
			n.settled, n.zeroIndices, n.zeroNeeds = true, true, true
			return
		}
	}
	if len(needs) == 0 {
		return
	}
	position := n.count
	if at, err := strconv.Atoi(index); err == nil {
		position = at
	}
	before := func(need string) bool { // read from 0, it is a step before this one
		at, err := strconv.Atoi(need)
		return err == nil && at+1 < position
	}
	switch {
	case slices.Contains(needs, "0"):
		n.settled, n.zeroNeeds = true, !slices.ContainsFunc(needs, func(need string) bool { return !before(need) })
	case numbered:
		n.settled = true
	default:
		n.settled = slices.ContainsFunc(needs, func(need string) bool { return wholeIndex.MatchString(need) && !before(need) })
	}
	n.reread()
}

// reread resolves the open dependencies.
func (n *stepNumbers) reread() {
	if !n.settled {
		return
	}
	for _, open := range n.open {
		list, _ := open.step["depends_on"].([]any)
		for i, need := range open.needs {
			if wholeIndex.MatchString(need) {
				list[i] = fromOne(need, n.zeroNeeds)
			}
		}
	}
	n.open = nil
}

// dashed replaces the blanks of an index, which no index of a plan may have.
func dashed(index string) string { return strings.ReplaceAll(index, " ", "-") }

// fromOne reads an index perhaps counted from 0.
func fromOne(index string, zero bool) string {
	if at, err := strconv.Atoi(index); err == nil && zero {
		return strconv.Itoa(at + 1)
	}
	return index
}

// resolve reads a dependency: an index, or the title or result variable of an
// earlier step.
func (n *stepNumbers) resolve(need string) string {
	if index, ok := n.named[need]; ok && !wholeIndex.MatchString(need) {
		return index
	}
	return fromOne(dashed(need), n.zeroNeeds)
}

// dependencies reads depends_on in the shapes models use: a list, one index, or
// words. DecodePlan reports the rest.
func (n *stepNumbers) dependencies(step map[string]any) []string {
	var needs []string
	switch v := step["depends_on"].(type) {
	case json.Number:
		needs = []string{plainIndex(v)}
	case string:
		needs = splitIndices(v)
	case []any:
		for _, entry := range v {
			index := plainIndex(entry)
			if index == "" {
				return nil
			}
			needs = append(needs, index)
		}
		if needs == nil {
			needs = []string{}
		}
	default:
		return nil
	}
	if n.count == 1 && plainIndex(step["index"]) != "0" && !n.keep && slices.Contains(needs, "0") {
		// The first step has no dependencies: a 0 there says just so, and the
		// steps are counted from 1.
		n.settled = true
		needs = slices.DeleteFunc(needs, func(s string) bool { return s == "0" })
	}
	return needs
}

// splitIndices reads "1, 2 and 3", "step 4" or "none".
func splitIndices(text string) []string {
	needs := []string{}
	for _, word := range indexSeparator.Split(strings.TrimSpace(text), -1) {
		switch word = plainIndex(word); strings.ToLower(word) {
		case "", "none", "null", "nothing", "n/a", "-":
		default:
			needs = append(needs, word)
		}
	}
	return needs
}

var (
	indexSeparator = lazyregexp.New(`\s*(?:,|;|&|\band\b)\s*`)
	wholeIndex     = lazyregexp.New(`^\d+$`)
	// Models write "step 3" and "#3" where they mean 3.
	wordyIndex = lazyregexp.New(`^(?i:steps?\s+#?|#)(\d+)$`)
)

// plainIndex reads an index without the words around it; empty where v is none.
func plainIndex(v any) string {
	index, ok := plan.IndexText(v)
	if !ok {
		return ""
	}
	index = strings.TrimSpace(index)
	if m := wordyIndex.FindStringSubmatch(index); m != nil {
		return m[1]
	}
	return index
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}
