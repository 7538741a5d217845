package expression

import (
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"replan/internal/english"
)

// The bounds of an expression.
const (
	MaxBytes = 4096 // of its text
	MaxNodes = 500  // of its syntax tree
)

// Error says what is wrong with an expression, and where.
type Error struct {
	Line, Column int    // from 1, in characters; 0 if the expression as a whole is meant
	Message      string // a clause without a full stop
}

func (e *Error) Error() string {
	switch e.Line {
	case 0:
		return e.Message
	case 1:
		return fmt.Sprintf("column %d: %s", e.Column, e.Message)
	default:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
}

// Expression is a compiled condition. It does not change and may be used by several
// goroutines.
type Expression struct {
	program *vm.Program
	names   []string
	sights  []sight
	always  *bool
}

// Compile reads an expression that may use the names of scope; a nil scope allows any
// name. It fails with an *Error.
func Compile(source string, scope Scope) (*Expression, error) {
	r, err := read(source)
	if err != nil {
		return nil, err
	}
	if scope != nil {
		if err := r.check(scope); err != nil {
			return nil, err
		}
	}
	e := &Expression{names: r.names(), sights: r.sights, always: r.always()}
	// The check leaves types in the tree, which must not survive the changes below.
	tree, err := parser.ParseWithConfig(source, configuration(nil))
	if err != nil {
		return nil, locate(source, err)
	}
	meter(&tree.Node)
	config := configuration(e.metered())
	if _, err := checker.Check(tree, config); err != nil {
		return nil, locate(source, err)
	}
	if e.program, err = compiler.Compile(tree, config); err != nil {
		return nil, locate(source, err)
	}
	return e, nil
}

// Names returns the names that an expression uses, sorted: result, args, item, index
// and variables.
func (e *Expression) Names() []string { return slices.Clone(e.names) }

// Constant reports whether an expression gives the same answer whatever happens: it
// names nothing, or its parts cancel out, as in "true or result.ok".
func (e *Expression) Constant() bool { return e.always != nil || len(e.names) == 0 }

// NamesOf returns the names that an expression uses, nil if it cannot be read.
func NamesOf(source string) []string {
	r, err := read(source)
	if err != nil {
		return nil
	}
	return r.names()
}

// Rename returns the expression with the variable from under the name to. An expression
// that cannot be read stays as it is.
func Rename(source, from, to string) string {
	r, err := read(source)
	if err != nil {
		return source
	}
	text := []rune(source)
	places := slices.Compact(slices.Sorted(slices.Values(r.roots[from]))) // in a < b < c, b is read twice
	for _, at := range slices.Backward(places) {
		text = slices.Replace(text, at, at+len([]rune(from)), []rune(to)...)
	}
	return string(text)
}

// parsed is an expression that was parsed and holds nothing that is refused.
type parsed struct {
	source string
	tree   *parser.Tree
	roots  map[string][]int // names, and where they stand, in characters
	sights []sight
}

// read parses an expression and refuses what this package leaves out.
func read(source string) (*parsed, error) {
	if len(source) > MaxBytes {
		return nil, &Error{Message: fmt.Sprintf("the expression has %d bytes, and %d are the most", len(source), MaxBytes)}
	}
	if strings.TrimSpace(source) == "" {
		return nil, &Error{Message: "the expression is empty"}
	}
	tree, err := parser.ParseWithConfig(source, configuration(nil))
	if err != nil {
		return nil, locate(source, err)
	}
	r := &parsed{source: source, tree: tree, roots: map[string][]int{}}
	if err := r.walk(tree.Node); err != nil {
		return nil, err
	}
	return r, nil
}

// fault reports a mistake at a node.
func (r *parsed) fault(n ast.Node, format string, args ...any) error {
	return locate(r.source, &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)})
}

// walk notes names and paths, and refuses parts of the language.
func (r *parsed) walk(n ast.Node) error {
	if s, ok := sightOf(n); ok {
		r.sights = append(r.sights, s)
	}
	return r.descend(n)
}

func (r *parsed) descend(n ast.Node) error {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			return r.fault(n, "no name begins with $: write variables without ${}")
		}
		r.roots[n.Value] = append(r.roots[n.Value], n.Location().From)
	case *ast.CallNode:
		name := "this"
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = callee.Value
		}
		return r.fault(n, "%s is no function that an expression may call%s", name, english.DidYouMean(name, functions))
	case *ast.BuiltinNode:
		if !slices.Contains(functions, n.Name) { // the parser knows some by itself
			return r.fault(n, "%s is no function that an expression may call", n.Name)
		}
	case *ast.VariableDeclaratorNode:
		return r.fault(n, "let is not allowed in an expression")
	case *ast.SequenceNode:
		return r.fault(n, "an expression holds no semicolon")
	case *ast.BytesNode:
		return r.fault(n, "bytes are not allowed in an expression, only text")
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			return r.fault(n, "#%s is not allowed in an expression, only # and #index", n.Name)
		}
	case *ast.BinaryNode:
		if n.Operator == "matches" {
			if err := r.checkPattern(n.Right); err != nil {
				return err
			}
		}
	}
	within := isPath(n) // a path is noted once, as a whole
	for _, child := range children(n) {
		next := r.walk
		if within || isLenOfPath(n) {
			next = r.descend
		}
		if err := next(*child); err != nil {
			return err
		}
	}
	return nil
}

func (r *parsed) checkPattern(n ast.Node) error {
	pattern, ok := n.(*ast.StringNode)
	if !ok {
		return r.fault(n, "matches takes its pattern in quotes, not from a value")
	}
	if instructions(pattern.Value) > maxInstructions {
		return r.fault(n, "the pattern is too large")
	}
	if _, err := syntax.Parse(pattern.Value, syntax.Perl); err != nil {
		return r.fault(n, "the pattern is not valid: %v", err)
	}
	return nil
}

func (r *parsed) names() []string { return slices.Sorted(maps.Keys(r.roots)) }

// always returns the answer of an expression that has only one, else nil.
func (r *parsed) always() *bool { return decided(r.tree.Node) }

// decided returns the value of a condition that does not depend on what it names, else nil.
func decided(n ast.Node) *bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return &n.Value
	case *ast.UnaryNode:
		if v := decided(n.Node); v != nil && (n.Operator == "not" || n.Operator == "!") {
			opposite := !*v
			return &opposite
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			absorbing := n.Operator == "or" || n.Operator == "||"
			left, right := decided(n.Left), decided(n.Right)
			if left != nil && *left == absorbing || right != nil && *right == absorbing {
				return &absorbing
			}
			if left != nil && right != nil {
				neutral := !absorbing
				return &neutral
			}
		case "==", "<=", ">=", "!=", "<", ">":
			if n.Left.String() == n.Right.String() {
				same := n.Operator == "==" || n.Operator == "<=" || n.Operator == ">="
				return &same
			}
		}
	}
	return nil
}

// check reports unknown names and fields, and operations that the types do not allow.
func (r *parsed) check(scope Scope) error {
	known := slices.Sorted(maps.Keys(scope))
	for _, name := range r.names() {
		if _, ok := scope[name]; ok {
			continue
		}
		lacks := &file.Error{Location: file.Location{From: slices.Min(r.roots[name])}}
		lacks.Message = fmt.Sprintf("there is no name %q, only %s%s", name, english.Some(known, mostNamed, ""), english.DidYouMean(name, known))
		switch {
		case name == "null":
			lacks.Message = `there is no name "null"; did you mean nil?`
		case len(known) == 0:
			lacks.Message = fmt.Sprintf("there is no name %q", name)
		}
		return locate(r.source, lacks)
	}
	for _, s := range r.sights {
		if err := r.checkPath(s, scope); err != nil {
			return err
		}
	}
	env := types.Map{}
	for name, t := range scope {
		env[name] = t.checked()
	}
	config := configuration(env)
	t, err := checker.Check(r.tree, config)
	if err != nil {
		return locate(r.source, err)
	}
	if kind := t.Kind().String(); kind != "bool" && kind != "interface" {
		return &Error{Message: "the expression gives " + kindWords.Replace(t.String()) + ", and it must give true or false"}
	}
	return nil
}

// mostNamed is how many names an error lists.
const mostNamed = 20

// language is what all configurations share, and what never changes: its tables take longer to
// make than an expression to read.
var language = sync.OnceValue(func() *conf.Config {
	c := conf.CreateNew()
	for name := range c.Builtins {
		if !slices.Contains(functions, name) {
			c.Disabled[name] = true
			delete(c.Builtins, name)
		}
	}
	return c
})

// configuration returns the language of expressions over an environment.
func configuration(env types.Map) *conf.Config {
	shared := language()
	c := &conf.Config{
		ShortCircuit: shared.ShortCircuit, MaxNodes: MaxNodes, ConstFns: shared.ConstFns,
		Functions: shared.Functions, Builtins: shared.Builtins, Disabled: shared.Disabled,
	}
	if env != nil {
		c.WithEnv(env)
	}
	return c
}

// kindWords says types as JSON does.
var kindWords = strings.NewReplacer("map[string]interface {}", "an object", "[]interface {}", "a list", "interface {}", "any",
	"float64", "number", "float32", "number", "string", "text", "unknown name", "there is no name", "builtin ", "", "array", "a list")

// locate makes an *Error of one of the library.
func locate(source string, err error) *Error {
	var at *file.Error
	if !errors.As(err, &at) {
		return &Error{Message: err.Error()}
	}
	if at.Line == 0 {
		at = at.Bind(file.NewSource(source))
	}
	message := at.Message
	if strings.Contains(message, "exceeds maximum allowed nodes") {
		return &Error{Message: fmt.Sprintf("the expression has more than %d parts", MaxNodes)}
	}
	return &Error{Line: at.Line, Column: at.Column + 1, Message: kindWords.Replace(message)}
}
