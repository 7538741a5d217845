package workspace

import (
	"slices"

	"replan/mcpclient/workspace/op"
)

// operators lists the tools, group by group. Their words are what a small local
// model plans with: short, exact, and the same from run to run.
func (o *Operators) operators() []op.Tool {
	all := slices.Concat(o.files.Tools(), o.code.Tools(), o.data.Tools(), o.tests.Tools(), o.git.Tools(), o.process.Tools())
	if o.memory != nil {
		all = append(all, o.memory.Tools()...)
	}
	return all
}
