package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Holds evaluates the expression with JSON values, numbers as json.Number, and returns the
// values it looked at. It fails with an *Error if there is no answer, as for a missing
// field or a comparison of text with a number.
func (e *Expression) Holds(values map[string]any) (holds bool, sights []Sight, err error) {
	sights = e.valuesOf(values)
	for _, name := range e.names {
		if _, ok := values[name]; !ok {
			return false, sights, &Error{Message: fmt.Sprintf("%s has no value yet", name)}
		}
	}
	answer, err := e.evaluate(values)
	if err != nil {
		return false, sights, err
	}
	holds, ok := answer.(bool)
	if !ok {
		return false, sights, &Error{Message: fmt.Sprintf("the expression gave %s, not true or false", typeOf(answer))}
	}
	return holds, sights, nil
}

// evaluate runs the program. Numbers that cannot be computed with panic outside of it.
func (e *Expression) evaluate(values map[string]any) (answer any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Message: fmt.Sprint(r)}
		}
	}()
	used := make(map[string]any, len(e.names))
	for _, name := range e.names {
		used[name] = values[name]
	}
	w := &work{left: budget}
	answer, err = vm.Run(e.program, w.environment(used))
	var at *file.Error
	switch {
	case errors.Is(err, errBudget), err != nil && strings.Contains(err.Error(), "memory budget exceeded"):
		return nil, &Error{Message: errBudget.Error()}
	case errors.As(err, &at):
		message, _, _ := strings.Cut(at.Message, "\n")
		return nil, &Error{Line: max(at.Line, 1), Column: at.Column + 1, Message: kindWords.Replace(message)}
	default:
		return answer, err
	}
}

// valuesOf returns the values of the paths in the expression, each once.
func (e *Expression) valuesOf(values map[string]any) []Sight {
	var sights []Sight
	for _, s := range e.sights {
		path := s.String()
		if slices.ContainsFunc(sights, func(other Sight) bool { return other.Path == path }) {
			continue
		}
		if v, ok := s.value(values); ok {
			sights = append(sights, Sight{Path: path, Value: bounded(v)})
		}
	}
	return sights
}

// typeOf names the JSON type of an answer.
func typeOf(v any) string {
	switch v.(type) {
	case []any, []string, []int:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return kindOf(v)
	}
}
