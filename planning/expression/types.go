package expression

import (
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"

	"replan/internal/english"
)

// Scope holds the names that an expression may use. Of a name with a nil type nothing is
// known.
type Scope map[string]*Type

// Type is what is known of a value before the run. A nil Type knows nothing.
type Type struct {
	Kind   Kind
	Fields map[string]*Type // of an object: all it can have; nil if that is not known
	Item   *Type            // of a list
}

// Kind is the JSON type of a value.
type Kind int

// The kinds of values.
const (
	Any Kind = iota
	Text
	Whole
	Number
	Truth
	List
	Object
)

// checked returns the type in the library's terms.
func (t *Type) checked() types.Type {
	if t == nil {
		return types.Any
	}
	switch t.Kind {
	case Text:
		return types.String
	case Whole:
		return types.Int
	case Number:
		return types.Float64
	case Truth:
		return types.Bool
	case List:
		return types.Array(t.Item.checked())
	case Object:
		if t.Fields == nil {
			return types.Map{types.Extra: types.Any}
		}
		fields := types.Map{}
		for name, field := range t.Fields {
			fields[name] = field.checked()
		}
		return fields
	default:
		return types.Any
	}
}

// checkPath reports a field of a path that cannot be there.
func (r *parsed) checkPath(s sight, scope Scope) error {
	t := scope[s.root]
	for _, step := range s.steps {
		switch {
		case t == nil:
			return nil
		case step.optional, !step.isField:
			if t.Kind != List || step.isField {
				return nil
			}
			t = t.Item
		case t.Kind == Object && t.Fields != nil:
			field, ok := t.Fields[step.field]
			if !ok {
				there := slices.Sorted(maps.Keys(t.Fields))
				return r.fault(step.node, "there is no field %q, only %s%s", step.field, english.Some(there, mostNamed, ""), english.DidYouMean(step.field, there))
			}
			t = field
		default:
			return nil
		}
	}
	return nil
}

// children returns the parts of a node, in the order of the text.
func children(n ast.Node) []*ast.Node {
	list := func(nodes []ast.Node) []*ast.Node {
		all := make([]*ast.Node, len(nodes))
		for i := range nodes {
			all[i] = &nodes[i]
		}
		return all
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.BinaryNode:
		return []*ast.Node{&n.Left, &n.Right}
	case *ast.ChainNode:
		return []*ast.Node{&n.Node}
	case *ast.MemberNode:
		return []*ast.Node{&n.Node, &n.Property}
	case *ast.SliceNode:
		parts := []*ast.Node{&n.Node}
		if n.From != nil {
			parts = append(parts, &n.From)
		}
		if n.To != nil {
			parts = append(parts, &n.To)
		}
		return parts
	case *ast.CallNode:
		return append([]*ast.Node{&n.Callee}, list(n.Arguments)...)
	case *ast.BuiltinNode:
		return list(n.Arguments)
	case *ast.PredicateNode:
		return []*ast.Node{&n.Node}
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.ArrayNode:
		return list(n.Nodes)
	case *ast.MapNode:
		return list(n.Pairs)
	case *ast.PairNode:
		return []*ast.Node{&n.Key, &n.Value}
	case *ast.SequenceNode:
		return list(n.Nodes)
	case *ast.VariableDeclaratorNode:
		return []*ast.Node{&n.Value, &n.Expr}
	default:
		return nil
	}
}
