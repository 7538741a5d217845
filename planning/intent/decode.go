package intent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// DecodeIntent reads an intent from JSON, written by Parse or by hand. Without a
// confidence it is certain; unknown fields are ignored.
func DecodeIntent(data []byte) (Intent, error) {
	if _, err := plan.DecodeValue(data); err != nil {
		return Intent{}, fmt.Errorf("the intent is not JSON: %w", err)
	}
	in, err := readIntent(data)
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
	if _, err := plan.DecodeValue(data); err != nil {
		return Chain{}, fmt.Errorf("the chain is not JSON: %w", err)
	}
	c, err := readChain(data)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Chain{}, fmt.Errorf("the chain cannot be used: %w", err)
	}
	return c, nil
}

func readIntent(data []byte) (Intent, error) {
	var fields struct {
		Category   string         `json:"category"`
		Action     string         `json:"action"`
		Target     string         `json:"target"`
		Params     map[string]any `json:"params"`
		Confidence *float64       `json:"confidence"`
	}
	if err := readFields(data, "the intent", &fields); err != nil {
		return Intent{}, err
	}
	in := Intent{Category: fields.Category, Action: fields.Action, Target: fields.Target, Params: map[string]string{}, Confidence: 1}
	for name, value := range fields.Params {
		text, ok := value.(string)
		if !ok {
			return Intent{}, fmt.Errorf("params.%s must be a text", plan.OneLine(name, 60))
		}
		in.Params[name] = text
	}
	if fields.Confidence != nil {
		in.Confidence = *fields.Confidence
	}
	if in.Confidence < 0 || in.Confidence > 1 {
		return Intent{}, errors.New("the confidence must be a number from 0 to 1")
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

func readChain(data []byte) (Chain, error) {
	var fields struct {
		Intent  json.RawMessage `json:"intent"`
		Goal    string          `json:"goal"`
		Nodes   json.RawMessage `json:"nodes"`
		Gates   []int           `json:"policy_gates"`
		Missing []string        `json:"missing"`
	}
	if err := readFields(data, "the chain", &fields); err != nil {
		return Chain{}, err
	}
	c := Chain{Intent: Intent{Category: unknown, Action: none, Params: map[string]string{}}, Goal: fields.Goal, Missing: fields.Missing}
	var err error
	if fields.Intent != nil {
		if c.Intent, err = readIntent(fields.Intent); err != nil {
			return Chain{}, err
		}
	}
	if fields.Nodes == nil {
		return Chain{}, errors.New("it has no nodes")
	}
	var nodes []json.RawMessage
	if err := readFields(fields.Nodes, "the chain: nodes", &nodes); err != nil {
		return Chain{}, err
	}
	for i, node := range nodes {
		n, err := readNode(node, i)
		if err != nil {
			return Chain{}, err
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, at := range fields.Gates {
		if at < 0 || at >= len(c.Nodes) {
			return Chain{}, fmt.Errorf("policy_gates names node %d, and the positions go from 0 to %d", at, len(c.Nodes)-1)
		}
		c.Nodes[at].Gate = true
	}
	c.bind()
	c.checkArgs()
	return c, nil
}

func readNode(data []byte, at int) (Node, error) {
	var fields struct {
		Node
		Action    string         `json:"action"` // as in {"tool":"code","action":"references","params":{…}}
		Params    map[string]any `json:"params"`
		DependsOn *[]int         `json:"depends_on"`
	}
	if err := readFields(data, "node "+strconv.Itoa(at), &fields); err != nil {
		return Node{}, err
	}
	n := fields.Node
	if fields.Action != "" {
		if n.Tool += "." + fields.Action; modelWork[fields.Action] {
			n.Tool = fields.Action
		}
	}
	if n.Tool == "" {
		return Node{}, fmt.Errorf("node %d names no tool", at)
	}
	if n.Args == nil {
		n.Args = fields.Params
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
	if fields.DependsOn != nil {
		n.DependsOn = *fields.DependsOn
	} else if at > 0 {
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

// readFields reads JSON into fields. An error names the field, the type it must
// have, and the type it has.
func readFields(data []byte, name string, fields any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(fields)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field != "" {
		name += ": " + wrong.Field
	}
	must, ok := elements[wrong.Field]
	if !ok || wrong.Type.Kind() == reflect.Slice {
		must = "be " + goKinds[wrong.Type.Kind()]
	}
	got, _, _ := strings.Cut(wrong.Value, " ") // the number follows its kind
	return fmt.Errorf("%s must %s, not %s", name, must, jsonKinds[got])
}

var (
	goKinds = map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object",
	}
	jsonKinds = map[string]string{"string": "a text", "bool": "true or false", "array": "a list", "object": "an object", "number": "a number"}
	// elements are the rules of fields whose elements have a type of their own.
	elements = map[string]string{
		"missing": "list texts", "depends_on": "list positions of nodes, from 0", "policy_gates": "list positions of nodes, from 0", "confidence": "be a number from 0 to 1",
	}
)
