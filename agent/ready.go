package agent

import (
	"replan/agent/rule"
)

// deniedBy says which rule denied a call.
func deniedBy(r rule.Rule) string {
	switch r.Source {
	case rule.SourceFlag:
		return "denied by --deny " + r.String()
	case rule.SourceBuiltIn: // no gate can show how its server has changed the tool
		return "denied: " + string(r.Why)
	}
	return "denied by a rule: " + string(r.Why)
}
