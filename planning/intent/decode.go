package intent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"replan/planning/plan"
)

// DecodeIntent reads an intent from JSON, written by Parse or by hand. Without a
// confidence it is certain; unknown fields are ignored.
func DecodeIntent(data []byte) (Intent, error) {
	in := Intent{Confidence: 1}
	err := readFields(data, &in, false)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return Intent{}, fmt.Errorf("the intent cannot be used: %w", err)
	}
	if in.Params == nil {
		in.Params = map[string]string{}
	}
	return in, nil
}

// check returns the first fault of an intent.
func (in Intent) check() error {
	if in.Confidence < 0 || in.Confidence > 1 {
		return errors.New("the confidence must be a number from 0 to 1")
	}
	if chain, ok := chains[in.Action]; ok && chain.category == in.Category || in.Category == unknown && in.Action == none {
		return nil
	}
	all := []string{unknown + " " + none}
	for action, chain := range chains {
		all = append(all, chain.category+" "+action)
	}
	slices.Sort(all)
	return fmt.Errorf("there is no action %.60q in a category %.60q; there are %s", in.Action, in.Category, strings.Join(all, ", "))
}

// DecodeChain reads a chain from JSON, written by Route or by hand. Only the tool
// of a node is required. A node without depends_on waits for the node before it.
// It fails with one sentence if a value
// has the wrong type, if an operator does not exist, or if the nodes form a
// circle.
func DecodeChain(data []byte) (Chain, error) {
	c, err := readChain(data)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Chain{}, fmt.Errorf("the chain cannot be used: %w", err)
	}
	return c, nil
}

// nodeFields are the fields of a node in a file.
type nodeFields struct {
	Node
	Action    string         `json:"action"` // as in {"tool":"code","action":"references","params":{…}}
	Params    map[string]any `json:"params"`
	DependsOn *[]int         `json:"depends_on"`
}

func readChain(data []byte) (Chain, error) {
	var fields struct {
		Intent  json.RawMessage `json:"intent"`
		Goal    string          `json:"goal"`
		Nodes   *[]nodeFields   `json:"nodes"`
		Gates   []int           `json:"policy_gates"`
		Missing []string        `json:"missing"`
	}
	if err := readFields(data, &fields, false); err != nil {
		return Chain{}, err
	}
	if fields.Nodes == nil {
		return Chain{}, errors.New("it has no nodes")
	}
	c := Chain{Intent: Intent{Category: unknown, Action: none, Params: map[string]string{}}, Goal: fields.Goal, Missing: fields.Missing}
	if fields.Intent != nil {
		var err error
		if c.Intent, err = DecodeIntent(fields.Intent); err != nil {
			return Chain{}, err
		}
	}
	for i, node := range *fields.Nodes {
		n := node.node(i)
		if n.Tool == "" {
			return Chain{}, fmt.Errorf("node %d names no tool", i)
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, at := range fields.Gates {
		if at < 0 || at >= len(c.Nodes) {
			return Chain{}, fmt.Errorf("policy_gates names node %d, and the positions go from 0 to %d", at, len(c.Nodes)-1)
		}
		c.Nodes[at].Gate = true
	}
	return c, nil
}

// node fills in what a node of a file leaves out. at is its position.
func (f nodeFields) node(at int) Node {
	n := f.Node
	switch {
	case IsModelWork(f.Action):
		n.Tool = f.Action
	case f.Action != "":
		n.Tool += "." + f.Action
	}
	if n.Args == nil {
		n.Args = f.Params
	}
	if n.Executor == "" {
		n.Executor = plan.ExecutorTool
		if IsModelWork(n.Tool) {
			n.Executor = plan.ExecutorSelf
		}
	}
	if n.Title == "" {
		n.Title = n.Tool
	}
	if f.DependsOn != nil {
		n.DependsOn = *f.DependsOn
	} else if at > 0 {
		n.DependsOn = []int{at - 1}
	}
	return n
}

// readFields reads JSON into fields. An error names the field and its type. Strict
// fields are all that may be there.
func readFields(data []byte, fields any, strict bool) error {
	if _, err := plan.DecodeValue(data); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if strict {
		decoder.DisallowUnknownFields()
	}
	err := decoder.Decode(fields)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	name := cmp.Or(strings.ReplaceAll(wrong.Field, "Node.", ""), "it")
	return fmt.Errorf("%s must be %s, not %s", name, jsonKinds[wrong.Type.Kind()], wrong.Value)
}

// jsonKinds are the kinds of JSON values by those of Go.
var jsonKinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "an array", reflect.Map: "an object", reflect.Struct: "an object",
	reflect.Int: "a whole number", reflect.Float64: "a number",
}
