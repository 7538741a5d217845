package intent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// DecodeIntent reads an intent from JSON, written by Parse or by hand. Without a
// confidence it is certain; unknown fields are ignored.
func DecodeIntent(data []byte) (Intent, error) {
	v, err := plan.DecodeValue(data)
	if err != nil {
		return Intent{}, fmt.Errorf("the intent is not JSON: %w", err)
	}
	in, err := readIntent(v)
	if err != nil {
		return Intent{}, fmt.Errorf("the intent cannot be used: %w", err)
	}
	return in, nil
}

// DecodeChain reads a chain from JSON, written by Route or by hand. Only the tool
// of a node is required. A node without depends_on waits for the node before it,
// and for those whose results it refers to. It fails with one sentence if a value
// has the wrong type, if an operator does not exist, or if the nodes form a
// circle.
func DecodeChain(data []byte) (Chain, error) {
	v, err := plan.DecodeValue(data)
	if err != nil {
		return Chain{}, fmt.Errorf("the chain is not JSON: %w", err)
	}
	c, err := readChain(v)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Chain{}, fmt.Errorf("the chain cannot be used: %w", err)
	}
	return c, nil
}

func readIntent(v any) (Intent, error) {
	o, err := readObject(v, "the intent")
	if err != nil {
		return Intent{}, err
	}
	in := Intent{Category: o.text("category"), Action: o.text("action"), Target: o.text("target"), Params: map[string]string{}, Confidence: 1}
	for name, value := range o.object("params") {
		text, ok := value.(string)
		if !ok {
			return Intent{}, fmt.Errorf("params.%s must be a text, not %s", plan.OneLine(name, 60), kindOf(value))
		}
		in.Params[name] = text
	}
	if value, ok := o.fields["confidence"]; ok {
		n, isNumber := value.(json.Number)
		confidence, err := n.Float64()
		if !isNumber || err != nil || confidence < 0 || confidence > 1 {
			return Intent{}, errors.New("the confidence must be a number from 0 to 1")
		}
		in.Confidence = confidence
	}
	if *o.err != nil {
		return Intent{}, *o.err
	}
	if _, ok := chains[[2]string{in.Category, in.Action}]; !ok && (in.Category != unknown || in.Action != none) {
		return Intent{}, fmt.Errorf("there is no action %.60q in a category %.60q; there are %s", in.Action, in.Category, strings.Join(intents(), ", "))
	}
	return in, nil
}

// intents lists all intents, each as "category action".
func intents() []string {
	all := []string{unknown + " " + none}
	for pair := range chains {
		all = append(all, pair[0]+" "+pair[1])
	}
	slices.Sort(all)
	return all
}

func readChain(v any) (Chain, error) {
	o, err := readObject(v, "the chain")
	if err != nil {
		return Chain{}, err
	}
	c := Chain{Intent: Intent{Category: unknown, Action: none, Params: map[string]string{}}, Goal: o.text("goal")}
	if in, ok := o.fields["intent"]; ok {
		if c.Intent, err = readIntent(in); err != nil {
			return Chain{}, err
		}
	}
	if _, ok := o.fields["nodes"]; !ok {
		return Chain{}, errors.New("it has no nodes")
	}
	for i, node := range o.list("nodes") {
		n, err := readNode(node, i)
		if err != nil {
			return Chain{}, err
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, at := range o.positions("policy_gates") {
		if at < 0 || at >= len(c.Nodes) {
			return Chain{}, fmt.Errorf("policy_gates names node %d, and the positions go from 0 to %d", at, len(c.Nodes)-1)
		}
		c.Nodes[at].Gate = true
	}
	for _, open := range o.list("missing") {
		text, ok := open.(string)
		if !ok {
			return Chain{}, fmt.Errorf("missing must list texts, not %s", kindOf(open))
		}
		c.Missing = append(c.Missing, text)
	}
	if *o.err != nil {
		return Chain{}, *o.err
	}
	c.bind()
	c.lackArgs()
	return c, nil
}

func readNode(v any, at int) (Node, error) {
	o, err := readObject(v, "node "+strconv.Itoa(at))
	if err != nil {
		return Node{}, err
	}
	n := Node{
		Title: o.text("title"), Executor: plan.Executor(o.text("executor")), Tool: o.text("tool"), Args: o.object("args"), Gate: o.flag("gate"),
		DependsOn: o.positions("depends_on"), ResultVariable: o.text("result_variable"), ExpectedOutcome: o.text("expected_outcome"),
	}
	if action := o.text("action"); action != "" { // as in {"tool":"code","action":"references","params":{…}}
		if n.Tool += "." + action; modelWork[action] {
			n.Tool = action
		}
	}
	if _, given := o.fields["args"]; !given {
		n.Args = o.object("params")
	}
	if *o.err != nil {
		return Node{}, *o.err
	}
	if n.Tool == "" {
		return Node{}, fmt.Errorf("node %d names no tool", at)
	}
	if n.Executor == "" {
		n.Executor = plan.ExecutorTool
		if modelWork[n.Tool] {
			n.Executor = plan.ExecutorSelf
		}
	}
	if n.Title == "" {
		n.Title = n.Tool
	}
	if _, said := o.fields["depends_on"]; !said && at > 0 {
		n.DependsOn = []int{at - 1}
	}
	return n, nil
}

// bind has each node wait for those whose results it refers to.
func (c *Chain) bind() {
	by := make(map[string]int, len(c.Nodes))
	for i, n := range c.Nodes {
		if n.ResultVariable != "" {
			by[n.ResultVariable] = i
		}
	}
	for i := range c.Nodes {
		after := slices.Clone(c.Nodes[i].DependsOn)
		for _, r := range plan.References(c.Nodes[i].Args) {
			if from, ok := by[r.Name]; ok && from != i {
				after = append(after, from)
			}
		}
		slices.Sort(after)
		c.Nodes[i].DependsOn = slices.Compact(after)
	}
}

// object reads the fields of a JSON object. err holds the first type error.
type object struct {
	name   string
	fields map[string]any
	err    *error
}

func readObject(v any, name string) (object, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return object{}, fmt.Errorf("%s must be an object, not %s", name, kindOf(v))
	}
	return object{name, fields, new(error)}, nil
}

// field reads a field as one type of value; a missing field or null is the zero
// value.
func field[T any](o object, key, kind string) T {
	value, ok := o.fields[key].(T)
	if !ok && o.fields[key] != nil && *o.err == nil {
		*o.err = fmt.Errorf("%s: %s must be %s, not %s", o.name, key, kind, kindOf(o.fields[key]))
	}
	return value
}

func (o object) text(key string) string           { return field[string](o, key, "a text") }
func (o object) flag(key string) bool             { return field[bool](o, key, "true or false") }
func (o object) list(key string) []any            { return field[[]any](o, key, "a list") }
func (o object) object(key string) map[string]any { return field[map[string]any](o, key, "an object") }

// positions reads a list of whole numbers.
func (o object) positions(key string) []int {
	var all []int
	for _, value := range o.list(key) {
		n, _ := value.(json.Number)
		at, err := strconv.Atoi(n.String())
		if err != nil && *o.err == nil {
			*o.err = fmt.Errorf("%s: %s must list positions of nodes, from 0", o.name, key)
		}
		all = append(all, at)
	}
	return all
}

// kindOf names the type of a JSON value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
