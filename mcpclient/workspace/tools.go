package workspace

import "slices"

// operators lists the tools, group by group. Their words are what a small local
// model plans with: short, exact, and the same from run to run.
func (o *Operators) operators() []operator {
	all := slices.Concat(o.fileOperators(), o.codeOperators(), o.testOperators(), o.vcsOperators(), o.procOperators())
	if o.memory != nil {
		all = append(all, o.memoryOperators()...)
	}
	return all
}

// needed is an argument that must be given.
func needed(name, kind, what string) arg {
	return arg{name: name, kind: kind, description: what, required: true}
}

// optional is an argument that may be left out.
func optional(name, kind, what string) arg {
	return arg{name: name, kind: kind, description: what}
}
