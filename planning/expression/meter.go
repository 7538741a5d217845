package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"

	"replan/internal/english"
)

// functions are those an expression may call. Left out are those that read the clock, and those
// whose order is not fixed (keys, values). Others make large values of small ones (repeat, replace,
// join, reduce) or compare every pair (uniq, sort).
var functions = []string{
	"abs", "all", "any", "ceil", "count", "filter", "find", "findIndex", "findLast", "findLastIndex", "first", "float", "floor", "hasPrefix",
	"hasSuffix", "indexOf", "int", "last", "lastIndexOf", "len", "lower", "map", "max", "mean", "median", "min", "none", "one",
	"round", "split", "string", "sum", "trim", "trimPrefix", "trimSuffix", "type", "upper",
}

// byShape are the functions that only look at the list they are given, not into it. What a
// predicate does to each item is charged for itself.
var byShape = []string{"all", "any", "count", "filter", "find", "findIndex", "findLast", "findLastIndex", "first", "last", "len", "map", "none", "one", "sum"}

// The names of the functions that [meter] puts into an expression; an expression cannot contain them.
const (
	fieldOf = "$field" // a field or an item, which must be there
	maybeOf = "$maybe" // a field or an item, null if it is not there
	charged = "$value" // a value that is about to be read as a whole
	counted = "$tick"  // one evaluation of a predicate
)

// metered returns the types of the names of an expression and of what [meter] puts into it.
func metered(names []string) types.Map {
	call := types.TypeOf(func(...any) any { return nil })
	env := types.Map{fieldOf: call, maybeOf: call, charged: call, counted: call}
	for _, name := range names {
		env[name] = types.Any
	}
	return env
}

// meter rewrites an expression, so that its work is counted and a missing field is an error.
func meter(n *ast.Node) {
	for _, child := range children(*n) {
		meter(child)
	}
	switch node := (*n).(type) {
	case *ast.MemberNode:
		if !node.Optional {
			replace(n, fieldOf, node.Node, node.Property)
		}
	case *ast.PredicateNode:
		replace(&node.Node, counted, node.Node, &ast.IntegerNode{Value: nodes(node.Node)})
	case *ast.UnaryNode:
		if node.Operator == "-" || node.Operator == "+" {
			charge(&node.Node, 1)
		}
	case *ast.BinaryNode:
		meterBinary(node)
	case *ast.BuiltinNode:
		for i := range node.Arguments {
			weight := 1
			if node.Name == "split" {
				weight = 16 // an entry of the list takes more room than its text
			}
			_, predicate := node.Arguments[i].(*ast.PredicateNode)
			shape := i == 0 && slices.Contains(byShape, node.Name) && (node.Name != "sum" || len(node.Arguments) > 1)
			if !predicate && !shape {
				charge(&node.Arguments[i], weight)
			}
		}
	}
}

func meterBinary(node *ast.BinaryNode) {
	switch node.Operator {
	case "and", "&&", "or", "||":
	case "??":
		if call, ok := node.Left.(*ast.CallNode); ok {
			if callee := call.Callee.(*ast.IdentifierNode); callee.Value == fieldOf {
				callee.Value = maybeOf
			}
		}
	case "matches":
		charge(&node.Left, instructions(node.Right.(*ast.StringNode).Value))
	default:
		charge(&node.Left, 1)
		charge(&node.Right, 1)
	}
}

// charge wraps an operand, unless its size is that of the expression.
func charge(n *ast.Node, weight int) {
	switch (*n).(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return
	}
	replace(n, charged, *n, &ast.IntegerNode{Value: weight})
}

// replace puts a call in the place of a node.
func replace(n *ast.Node, function string, args ...ast.Node) {
	callee := &ast.IdentifierNode{Value: function}
	callee.SetLocation((*n).Location())
	ast.Patch(n, &ast.CallNode{Callee: callee, Arguments: args})
}

// nodes counts the parts of a node.
func nodes(n ast.Node) int {
	count := 1
	for _, child := range children(n) {
		count += nodes(*child)
	}
	return count
}

// maxInstructions bounds the size of a compiled pattern.
const maxInstructions = 2000

// instructions returns the size of a pattern, once compiled.
func instructions(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	return len(program.Inst)
}

// budget is how much one evaluation may do: about a tenth of a second on a usual machine. A part
// of a value and an operation cost 1, and text costs 1 more for each textUnit bytes.
const (
	budget   = 1_000_000
	textUnit = 64
)

// errBudget says that an evaluation was ended.
var errBudget = errors.New("the values are too large for this expression")

// work counts what one evaluation does.
type work struct{ left int }

func (w *work) pay(cost int) {
	if w.left -= cost; w.left < 0 {
		panic(errBudget)
	}
}

// environment returns the values of an evaluation with the functions of [meter].
func (w *work) environment(values map[string]any) map[string]any {
	env := map[string]any{
		fieldOf: func(args ...any) any { return w.member(args[0], args[1], true) },
		maybeOf: func(args ...any) any { return w.member(args[0], args[1], false) },
		charged: func(args ...any) any { return w.whole(args[0], args[1].(int)) },
		counted: func(args ...any) any { w.pay(args[1].(int)); return args[0] },
	}
	for name, v := range values {
		env[name] = number(v)
	}
	return env
}

// member returns a field of an object or an item of a list.
func (w *work) member(in, at any, must bool) any {
	w.pay(1)
	at = number(at)
	switch in := in.(type) {
	case map[string]any:
		name, ok := at.(string)
		if !ok {
			panic(fmt.Errorf("an object has fields, and no position %v", at))
		}
		v, ok := in[name]
		if !ok && must {
			there := slices.Sorted(maps.Keys(in))
			if len(there) == 0 {
				panic(fmt.Errorf("there is no field %q, the object is empty", name))
			}
			panic(fmt.Errorf("there is no field %q, only %s", name, english.Some(there, mostNamed, "")))
		}
		return number(v)
	case []any:
		position, ok := at.(int)
		if !ok {
			panic(fmt.Errorf("a list has positions, and no field %q", fmt.Sprint(at)))
		}
		given := position
		if position < 0 {
			position += len(in)
		}
		if position < 0 || position >= len(in) {
			if must {
				panic(fmt.Errorf("there is no position %d in a list of %d", given, len(in)))
			}
			return nil
		}
		return number(in[position])
	}
	if !must && in == nil {
		return nil
	}
	panic(fmt.Errorf("%s has no field %q", kindOf(in), fmt.Sprint(at)))
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	default:
		return "a number"
	}
}

// whole returns a value as the language computes with it, and charges for its size.
func (w *work) whole(v any, weight int) any {
	switch v := v.(type) {
	case string:
		w.pay(1 + saturated(len(v), weight)/textUnit)
	case json.Number:
		w.pay(1)
		return number(v)
	case []any:
		w.pay(1 + len(v))
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = w.whole(item, weight)
		}
		return list
	case map[string]any:
		w.pay(1 + len(v))
		object := make(map[string]any, len(v))
		for name, field := range v {
			object[name] = w.whole(field, weight)
		}
		return object
	case []string: // of split
		w.pay(1 + len(v))
	case []int: // of a range
		w.pay(1 + len(v))
	default:
		w.pay(1)
	}
	return v
}

// saturated multiplies without overflow.
func saturated(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// number returns a JSON number as int where it is one, else as float64; other values stay.
func number(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		panic(fmt.Errorf("the number %.40s is too large to compute with", n.String()))
	}
	if f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return int(f)
	}
	return f
}
