package expression

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"replan/internal/lazyregexp"
)

// Sight is a value that an expression looked at.
type Sight struct {
	Path  string `json:"path"`  // as an expression writes it: result.failed, len(found.files)
	Value any    `json:"value"` // JSON value; a long one is cut or summarized
}

// sight is a path in an expression.
type sight struct {
	root   string
	steps  []pathStep
	length bool // len(path)
}

// pathStep is one field or list position of a path.
type pathStep struct {
	node     ast.Node
	field    string
	position int
	isField  bool
	optional bool
}

func isPath(n ast.Node) bool {
	_, ok := pathOf(n)
	return ok
}

func isLenOfPath(n ast.Node) bool {
	call, ok := n.(*ast.BuiltinNode)
	return ok && call.Name == "len" && len(call.Arguments) == 1 && isPath(call.Arguments[0])
}

// sightOf returns the path of a node that is one, or the length of one.
func sightOf(n ast.Node) (sight, bool) {
	if isLenOfPath(n) {
		s, _ := pathOf(n.(*ast.BuiltinNode).Arguments[0])
		s.length = true
		return s, true
	}
	return pathOf(n)
}

func pathOf(n ast.Node) (sight, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return sight{root: n.Value}, true
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		s, ok := pathOf(n.Node)
		if !ok {
			return sight{}, false
		}
		step := pathStep{node: n.Property, optional: n.Optional}
		switch p := n.Property.(type) {
		case *ast.StringNode:
			step.field, step.isField = p.Value, true
		case *ast.IntegerNode:
			step.position = p.Value
		default:
			return sight{}, false
		}
		s.steps = append(s.steps[:len(s.steps):len(s.steps)], step)
		return s, true
	default:
		return sight{}, false
	}
}

var plainField = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s sight) String() string {
	var b strings.Builder
	b.WriteString(s.root)
	for _, step := range s.steps {
		switch {
		case !step.isField:
			fmt.Fprintf(&b, "[%d]", step.position)
		case plainField.MatchString(step.field):
			b.WriteString("." + step.field)
		default:
			b.WriteString("[" + strconv.Quote(step.field) + "]")
		}
	}
	if s.length {
		return "len(" + b.String() + ")"
	}
	return b.String()
}

// value follows the path to its last value.
func (s sight) value(values map[string]any) (any, bool) {
	v, ok := values[s.root]
	for _, step := range s.steps {
		switch in := v.(type) {
		case map[string]any:
			v, ok = in[step.field]
			ok = ok && step.isField
		case []any:
			at := step.position
			if at < 0 {
				at += len(in)
			}
			if ok = !step.isField && at >= 0 && at < len(in); ok {
				v = in[at]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	if !s.length {
		return v, ok
	}
	switch v := v.(type) {
	case string:
		return len([]rune(v)), ok
	case []any:
		return len(v), ok
	case map[string]any:
		return len(v), ok
	default:
		return nil, false
	}
}

// The bounds of a value that is shown.
const (
	longestText = 200 // characters
	mostEntries = 10
)

// bounded cuts a long text, and summarizes a value of many parts.
func bounded(v any) any {
	left := room{parts: mostEntries, text: longestText}
	switch v := v.(type) {
	case string:
		if runes := []rune(v); len(runes) > longestText {
			return string(runes[:longestText]) + "…"
		}
	case []any:
		if !left.holds(v) {
			return fmt.Sprintf("a list of %d", len(v))
		}
	case map[string]any:
		if !left.holds(v) {
			return fmt.Sprintf("an object of %d fields", len(v))
		}
	}
	return v
}

// room is what is left for a list or an object that is shown whole.
type room struct{ parts, text int }

// holds takes the room for a value, and reports whether there was enough.
func (r *room) holds(v any) bool {
	r.parts--
	switch v := v.(type) {
	case string:
		r.text -= len(v)
	case json.Number:
		r.text -= len(v)
	case []any:
		for _, item := range v {
			if !r.holds(item) {
				return false
			}
		}
	case map[string]any:
		for name, item := range v {
			if r.text -= len(name); !r.holds(item) {
				return false
			}
		}
	}
	return r.parts >= 0 && r.text >= 0
}
