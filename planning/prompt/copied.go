package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// exampleNames are names that only the examples of the prompt hold. A plan that has one is
// about the example.
var exampleNames = []string{"ParseDate", "docs/setup.md", "log.?level"}

// Copied returns the faults of a plan that copies an example of the prompt: it has a name
// of the example that neither the goal nor what is known of the project holds.
func Copied(b Brief, p plan.Plan) []plan.Fault {
	known := b.Goal + "\n" + ground(b) + "\n" + b.Prompting.Instructions
	for _, item := range b.Looked {
		known += "\n" + Text(item.Result)
	}
	var faults []plan.Fault
	for i, s := range p.Steps {
		args := plan.CanonicalJSON(s.Args)
		for _, name := range exampleNames {
			if strings.Contains(args, name) && !strings.Contains(known, name) {
				faults = append(faults, plan.Fault{
					Code: plan.CodeBadArgs, Path: plan.JSONPointer("/steps", strconv.Itoa(i), "args"), Step: s.Index,
					Message: fmt.Sprintf("step %s is about %s, which is from an example and not from this project", plan.OneLine(s.Index, 40), name),
				})
			}
		}
	}
	return faults
}
