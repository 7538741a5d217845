package prompt

import (
	"path"
	"slices"
	"time"

	"replan/planning/plan"
)

// Profile is a kind of sub-agent: its instructions, its tools and its limits. A
// step with the executor agent names one.
type Profile struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"` // one line, for whoever plans
	System      string   `json:"system,omitempty"`      // in place of the built-in prompt of sub-agents
	Tools       []string `json:"tools,omitempty"`       // patterns over bare and qualified names, as in path.Match; nil is every tool
	Model       string   `json:"model,omitempty"`       // "" is the run's
	// ContextWindow is how many tokens Model is given room for; 0 where that is not known
	// or the model is the run's. Then the run's window holds.
	ContextWindow int           `json:"context_window,omitempty"`
	Small         bool          `json:"small,omitempty"`        // of Model, see [Prompting]
	WritesCalls   bool          `json:"writes_calls,omitempty"` // of Model, see [Prompting]
	Loops         Loops         `json:"loops,omitempty"`        // of Model, see [Prompting]
	ReadSpeed     float64       `json:"read_speed,omitempty"`   // of Model, see [Prompting]
	Think         ThinkLevel    `json:"think,omitempty"`
	MaxTurns      int           `json:"max_turns,omitempty"`  // replies of the model; 0 means DefaultMaxTurns
	Timeout       time.Duration `json:"timeout,omitempty"`    // ns, of the whole step; 0 means DefaultAgentTimeout for all but the model's replies
	MaxTokens     int           `json:"max_tokens,omitempty"` // prompt and completion of all its turns; 0 means no bound
	Plans         bool          `json:"plans,omitempty"`      // it plans its step first: analysis and execution plan, no review
}

// Loopable splits the profiles into those whose models can choose their calls, and the names
// of the others. modelTools says whether the run's model can call tools.
func (p Prompting) Loopable(modelTools bool) (able []Profile, others []string) {
	for _, profile := range p.Profiles {
		small, loops := profile.Small, profile.Loops
		if profile.Model == "" {
			small, loops = p.Small, p.Loops
		}
		if !loops.Managed(small) || profile.Model == "" && !modelTools {
			others = append(others, profile.Name)
		} else {
			able = append(able, profile)
		}
	}
	return able, others
}

// The defaults of a profile.
const (
	DefaultMaxTurns     = 20
	DefaultAgentTimeout = 5 * time.Minute
)

// Turns is how many replies the model may take.
func (p Profile) Turns() int {
	if p.MaxTurns > 0 {
		return p.MaxTurns
	}
	return DefaultMaxTurns
}

// May reports whether the profile lets its sub-agent call the tool. The bare name
// of a workspace operator means the workspace's own.
func (p Profile) May(t plan.Tool) bool {
	return p.Tools == nil || slices.ContainsFunc(p.Tools, func(pattern string) bool {
		if plan.IsOperator(pattern) && !t.Trusted {
			return false
		}
		return MatchName(pattern, t.Name) || MatchName(pattern, t.QualifiedName())
	})
}

// MatchName reports whether a tool's name fits a pattern as in path.Match, in
// which * alone means any name.
func MatchName(pattern, name string) bool {
	if pattern == "*" || pattern == name {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// under is the prompting of a sub-agent under the profile. Another model has its own
// window, and what was measured of the run's does not apply to it.
func (p Prompting) under(profile Profile) Prompting {
	if profile.Model == "" {
		return p
	}
	p.BytesPerToken, p.ReadSpeed, p.Models, p.Small, p.WritesCalls, p.Loops = 0, profile.ReadSpeed, Models{}, profile.Small, profile.WritesCalls, profile.Loops
	if profile.ContextWindow > 0 {
		p.ContextWindow = profile.ContextWindow
	}
	return p
}

// Profile returns the profile with this name.
func (p Prompting) Profile(name string) (Profile, bool) {
	for _, profile := range p.Profiles {
		if profile.Name == name {
			return profile, true
		}
	}
	return Profile{}, false
}

// ProfileNames lists the profiles that a plan may name, in their order.
func (p Prompting) ProfileNames() []string {
	names := make([]string, len(p.Profiles))
	for i, profile := range p.Profiles {
		names[i] = profile.Name
	}
	return names
}

// ThinkLevel says whether a model thinks aloud before it answers, and how hard.
type ThinkLevel string

// The levels. They are for replies in prose, of sub-agents and in chat: a reply in
// a format is never thought about first. The zero value leaves it to the model; a
// model without levels takes all of them but off for on.
const (
	ThinkAuto   ThinkLevel = ""
	ThinkOff    ThinkLevel = "off"
	ThinkOn     ThinkLevel = "on"
	ThinkLow    ThinkLevel = "low"
	ThinkMedium ThinkLevel = "medium"
	ThinkHigh   ThinkLevel = "high"
)

// ThinkLevels lists the levels by their names, the zero value as "auto".
func ThinkLevels() []string { return []string{"auto", "off", "on", "low", "medium", "high"} }

// ParseThinkLevel reads a level by its name; ok is false if there is none.
func ParseThinkLevel(name string) (level ThinkLevel, ok bool) {
	if name == "" || name == "auto" {
		return ThinkAuto, true
	}
	return ThinkLevel(name), slices.Contains(ThinkLevels(), name)
}
