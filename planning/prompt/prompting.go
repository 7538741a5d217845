package prompt

import (
	"time"

	"replan/internal/untrusted"
	"replan/planning/intent"
)

// Prompting is the planner's context besides the goal and the tools. It is part of
// the first event of a run, so that planning can be folded again.
type Prompting struct {
	System       string    `json:"system,omitempty"`       // replaces the built-in system prompt
	Instructions string    `json:"instructions,omitempty"` // the project's AGENTS.md, untrusted
	Conversation []Message `json:"conversation,omitempty"` // earlier turns, oldest first
	Mentions     []Mention `json:"mentions,omitempty"`     // names in the goal with an @, untrusted

	Sketch intent.Sketch `json:"sketch,omitzero"` // of the workspace

	// Servers is how each server wants to be used, by its name, in its own words.
	Servers map[string]untrusted.Text `json:"servers,omitempty"`

	SkipAnalysis  bool          `json:"skip_analysis,omitempty"`
	SkipReview    bool          `json:"skip_review,omitempty"`
	SkipPlan      bool          `json:"skip_plan,omitempty"`
	ForcePlan     bool          `json:"force_plan,omitempty"`     // never answer directly
	PhaseTimeout  time.Duration `json:"phase_timeout,omitempty"`  // ns; 0 means that limits follow the machine, see [pace.Forecast.Limits]
	MaxTokens     int           `json:"max_tokens,omitempty"`     // bound of one reply; 0 means DefaultMaxTokens
	MaxRepairs    int           `json:"max_repairs,omitempty"`    // 0 means DefaultMaxRepairs
	ContextWindow int           `json:"context_window,omitempty"` // tokens there is room for; 0 means unknown

	Prompts       map[string]string `json:"prompts,omitempty"`         // replacements by the name of a prompt, see Names
	Profiles      []Profile         `json:"profiles,omitempty"`        // the sub-agents that a plan may name
	Models        Models            `json:"models,omitzero"`           // that plan in place of the run's
	Think         ThinkLevel        `json:"think,omitempty"`           // for the turns of sub-agents and of the chat
	ModelTools    bool              `json:"model_tools,omitempty"`     // the model can call tools
	Vision        bool              `json:"vision,omitempty"`          // the model sees pictures
	WritesCalls   bool              `json:"writes_calls,omitempty"`    // the model writes calls as text, or calls that do not fit: its loops get a format in place of tools to call
	Loops         bool              `json:"loops,omitempty"`           // a small model was measured to manage loops; others are taken to
	Small         bool              `json:"small,omitempty"`           // the model has so few parameters that it analyses in prose and reviews nothing
	PlanTools     bool              `json:"plan_tools,omitempty"`      // in chat the model may make plans and run them
	Patient       bool              `json:"patient,omitempty"`         // no step starts before the plan is whole
	Strict        bool              `json:"strict,omitempty"`          // args that only fit once converted are faults
	Drafts        int               `json:"drafts,omitempty"`          // plans to choose the first plan from, at most MaxDrafts; 0 means one
	BytesPerToken float64           `json:"bytes_per_token,omitempty"` // as the model's server counted before; 0 means unknown
	ReadSpeed     float64           `json:"read_speed,omitempty"`      // tokens of a prompt that the model's server reads in a second, as measured before; 0 means unknown
}

// ManagesLoops reports whether the model is offered tools to call in chat, and agents
// for its plans. A small one cannot choose its next call from results, unless it was
// measured that it can.
func (p Prompting) ManagesLoops() bool { return p.ModelTools && (!p.Small || p.Loops) }

// The defaults of Prompting.
const (
	DefaultMaxTokens  = 4096
	DefaultMaxRepairs = 2
	MaxDrafts         = 5
)
