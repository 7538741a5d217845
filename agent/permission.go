package agent

import (
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Permissions are the open gates of a run, and what the user has allowed at gates.
type Permissions struct {
	Gates []*Gate // open gates, in plan order

	granted      []grant           // longer than for one call, newest first
	acceptedPins map[string]string // pins of tools whose changes the user has accepted in this run, by qualified name
	gatedTools   map[string]bool   // tools that a revision put behind a gate, by qualified name
}

// Gate is an open gate.
type Gate struct {
	event.GateRequested
	RequestedAt time.Time
}

// newPermissions returns the permissions of a run that begins with some of the user's.
func newPermissions(granted []grant) Permissions {
	return Permissions{granted: granted, gatedTools: map[string]bool{}}
}

// clone returns the permissions without open gates, for a look at what would happen.
func (p *Permissions) clone() Permissions {
	return Permissions{granted: slices.Clone(p.granted), acceptedPins: p.acceptedPins, gatedTools: maps.Clone(p.gatedTools)}
}

// gatedStep is the step of an open gate.
type gatedStep struct {
	index string
	again bool // its call passed a gate before
}

// openGates returns the steps of the open gates, in plan order.
func (p *Permissions) openGates() []gatedStep {
	var steps []gatedStep
	for _, g := range p.Gates {
		steps = append(steps, gatedStep{g.Step, g.Outdated != ""})
	}
	return steps
}

// openGate inserts a gate into the open gates, in plan order.
func (p *Permissions) openGate(g *Gate) {
	at := len(p.Gates)
	for at > 0 && plan.CompareIndices(p.Gates[at-1].Step, g.Step) > 0 {
		at--
	}
	p.Gates = slices.Insert(p.Gates, at, g)
}

// closeGate closes an open gate; "" is none.
func (p *Permissions) closeGate(id string) {
	for i, g := range p.Gates {
		if id != "" && g.Gate == id {
			p.Gates = append(p.Gates[:i:i], p.Gates[i+1:]...)
			return
		}
	}
}

// closeGates closes all gates.
func (p *Permissions) closeGates() { p.Gates = nil }

// gateTool puts a tool behind gates in the steps of later plans.
func (p *Permissions) gateTool(tool plan.Tool) { p.gatedTools[tool.QualifiedName()] = true }

// ungateTools takes all tools from behind gates.
func (p *Permissions) ungateTools() { clear(p.gatedTools) }

// planGates reports whether the plan asks for a gate before a step.
func (p *Permissions) planGates(s stepView, tool plan.Tool) bool {
	return s.hasGate() || s.authorState().byReplan() && p.gatedTools[tool.QualifiedName()]
}

// hasChanged reports whether the server of a tool has changed it, and the user has not
// accepted that in this run.
func (p *Permissions) hasChanged(tool plan.Tool) bool {
	return tool.Changed != "" && p.acceptedPins[tool.QualifiedName()] != tool.Pin
}

// acceptChange notes that the user has seen and accepted what a tool has become. It reports
// whether there was a change.
func (p *Permissions) acceptChange(g *Gate) bool {
	if g.Changed == "" {
		return false
	}
	if p.acceptedPins == nil {
		p.acceptedPins = map[string]string{}
	}
	p.acceptedPins[g.QualifiedTool()] = g.Pin
	return true
}

// grant stores the permission of an answer that lasts longer than one call. tool is that of
// the gate. It reports whether there is one.
func (p *Permissions) grant(g *Gate, tool plan.Tool, d event.GateResolved) bool {
	allowed := grant{over: g.Rule, tool: promised(tool)}
	switch {
	case d.Scope == event.ScopeRun:
		granted, why := g.ForRun()
		if why != "" {
			return false // valid for one call
		}
		allowed.rule = granted
		for _, p := range g.Provenance {
			if !p.Written {
				allowed.shown = append(allowed.shown, p.Arg)
			}
		}
	case d.Scope == event.ScopeAlways && d.Rule != nil:
		allowed.rule = rule.Rule{Tool: g.QualifiedTool(), Pin: g.Pin, Contained: d.Rule.Contained, Args: d.Rule.Args, Verdict: rule.VerdictRun, Source: rule.SourceUser, Why: untrusted.Text("you allowed this always: " + d.Rule.String())}
	default:
		return false
	}
	p.granted = append([]grant{allowed}, p.granted...)
	return true
}

// grants reports whether the user has given any permission that lasts longer than one call.
func (p *Permissions) grants() bool { return len(p.granted) > 0 }

// lift returns the rule of the permission that lifts a rule which asks about a call with
// such untrusted text, or the rule itself.
func (p *Permissions) lift(asks rule.Rule, t plan.Tool, args map[string]any, uncovered []rule.Provenance) rule.Rule {
	for _, g := range p.granted {
		covered := func(from rule.Provenance) bool { return g.covers(from, t, args) }
		if g.lifts(asks, t, args) && !slices.ContainsFunc(uncovered, func(from rule.Provenance) bool { return !covered(from) }) {
			return g.rule
		}
	}
	return asks
}

// judgePaths reports whether a permission is about paths.
func (p *Permissions) judgePaths() bool {
	return slices.ContainsFunc(p.granted, func(g grant) bool { return g.rule.JudgesPaths() })
}

// grantedRules returns the rules of the user's permissions, newest first.
func (p *Permissions) grantedRules() []rule.Rule {
	out := make([]rule.Rule, 0, len(p.granted))
	for _, g := range p.granted {
		out = append(out, g.rule)
	}
	return out
}

// grant is a user permission from a gate that lasts longer than one call. It
// lifts rules that ask, never rules that deny.
type grant struct {
	rule  rule.Rule
	tool  string    // what the gate's tool promised; "" for a rule that no gate of this run gave
	over  rule.Rule // the rule that asked; zero if unknown
	shown []string  // arguments with text from a result, as listed by the gate
}

// covers reports whether the gate showed the user such untrusted text.
func (g grant) covers(p rule.Provenance, t plan.Tool, args map[string]any) bool {
	return !p.Written && slices.Contains(g.shown, p.Arg) || g.rule.Covers(p, t, args)
}

// lifts reports whether the grant allows a call that the rule asked asks about. A
// rule about specific arguments is lifted only if it was the one that asked: a
// gate for another call did not show it.
func (g grant) lifts(asked rule.Rule, t plan.Tool, args map[string]any) bool {
	return (g.tool == "" || g.tool == promised(t)) && g.rule.Matches(t) && g.rule.MatchesArgs(args) && (len(asked.Args) == 0 || asked.Equal(g.over))
}

// grants separates the user's permissions from the other rules of a run.
func grants(rules []rule.Rule) (granted []grant, others []rule.Rule) {
	others = make([]rule.Rule, 0, len(rules))
	for _, r := range rules {
		if r.Source == rule.SourceUser && r.Verdict == rule.VerdictRun {
			granted = append(granted, grant{rule: r})
		} else {
			others = append(others, r)
		}
	}
	return granted, others
}
