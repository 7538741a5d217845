package prompt

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/intent"
	"replan/planning/plan"
)

// Prompting is the planner's context besides the goal and the tools. It is part of
// the first event of a run, so that planning can be folded again.
type Prompting struct {
	System       string    `json:"system,omitempty"`       // replaces the built-in system prompt
	Instructions string    `json:"instructions,omitempty"` // the project's AGENTS.md, untrusted
	TrustsNotes  bool      `json:"trusts_notes,omitempty"` // the user trusts the folder of Instructions
	Conversation []Message `json:"conversation,omitempty"` // earlier turns, oldest first
	Mentions     []Mention `json:"mentions,omitempty"`     // names in the goal with an @, untrusted

	Sketch intent.Sketch `json:"sketch,omitzero"` // of the workspace

	// About makes the goal a side question: what may be called only reads.
	About *About `json:"about,omitempty"`

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
	Loops         Loops             `json:"loops,omitempty"`           // whether the model was measured to manage loops
	Measured      *fit.Record       `json:"measured,omitempty"`        // the finding that these settings follow; nil if they follow from the model's size
	Small         bool              `json:"small,omitempty"`           // the model has so few parameters that it plans at once, in short forms
	PlanTools     bool              `json:"plan_tools,omitempty"`      // in chat the model may make plans and run them
	Patient       bool              `json:"patient,omitempty"`         // no step starts before the plan is whole
	Strict        bool              `json:"strict,omitempty"`          // args that only fit once converted are faults
	BytesPerToken float64           `json:"bytes_per_token,omitempty"` // as the model's server counted before; 0 means unknown
	ReadSpeed     float64           `json:"read_speed,omitempty"`      // tokens of a prompt that the model's server reads in a second, as measured before; 0 means unknown
}

// ManagesLoops reports whether the model is offered tools to call in chat, and agents
// for its plans. A small one cannot choose its next call from results, unless it was
// measured that it can.
func (p Prompting) ManagesLoops() bool { return p.ModelTools && p.Loops.Managed(p.Small) }

// Loops says what was measured of a model in loops of calls.
type Loops string

// What may be known of a model in loops.
const (
	LoopsUnknown Loops = ""
	LoopsManaged Loops = "managed"
	LoopsFailed  Loops = "failed"
)

// Managed reports whether a model is offered loops. If nothing was measured, its size
// decides.
func (l Loops) Managed(small bool) bool { return l == LoopsManaged || l == LoopsUnknown && !small }

// The defaults of Prompting.
const (
	DefaultMaxTokens  = 4096
	DefaultMaxRepairs = 2
)

// ground describes the project for a request about work in it; "" where nothing is known.
// It does not depend on the purpose of the request.
func ground(b Brief) string {
	s := b.Prompting.Sketch
	if s.Empty() {
		return ""
	}
	var lines []string
	about := []string{}
	if len(s.Languages) > 0 {
		about = append(about, strings.Join(s.Languages, ", "))
	}
	if len(s.Tests) > 0 {
		about = append(about, "tests run with "+strings.Join(s.Tests, " and "))
	}
	if s.Branch != "" {
		about = append(about, "branch "+s.Branch)
	}
	if len(about) > 0 {
		lines = append(lines, "Project: "+strings.Join(about, "; "))
	}
	add := func(label string, names []string) {
		if len(names) > 0 {
			names = slices.Clone(names)
			for i, name := range names {
				names[i] = pathWords(name)
			}
			lines = append(lines, label+": "+strings.Join(names, ", "))
		}
	}
	add("Files", s.Files)
	add("Files with words of the goal", s.Near)
	add("Changed since the last commit", s.Changed)
	var declared []string
	for _, name := range s.Named { // such as "Make: function, slug.go:3"
		what, at, _ := strings.Cut(name, ", ")
		if line := strings.LastIndexByte(at, ':'); line >= 0 {
			name = what + ", " + pathWords(at[:line]) + at[line:]
		}
		declared = append(declared, name)
	}
	if len(declared) > 0 {
		lines = append(lines, "Declared: "+strings.Join(declared, ", "))
	}
	for i, line := range lines {
		lines[i] = disarm(plan.OneLine(line, 1600))
	}
	return strings.Join(lines, "\n")
}

// pathWords returns a path as it is if it has only letters, digits and the signs of common
// paths. Else it returns a JSON string: a name must not read like a sentence of the
// request.
func pathWords(name string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	}) < 0 {
		return name
	}
	return plan.CanonicalJSON(name)
}

// Models are the models that serve requests of planning in place of the run's. A
// phase without its own model takes the planner's, and without that the run's.
type Models struct {
	Planner  PlanModel `json:"planner,omitzero"`
	Analysis PlanModel `json:"analysis,omitzero"`
	Review   PlanModel `json:"review,omitzero"`
	Plan     PlanModel `json:"plan,omitzero"` // of phase 3, repairs and replans
}

// PlanModel is a model that serves requests of planning. Besides the name, its
// fields come from the server, before the run starts.
type PlanModel struct {
	Name          string  `json:"name"`
	ContextWindow int     `json:"context_window,omitempty"`  // tokens there is room for; 0 means that of the run's model
	BytesPerToken float64 `json:"bytes_per_token,omitempty"` // as its server counted before; 0 means unknown
	ReadSpeed     float64 `json:"read_speed,omitempty"`      // see [Prompting]
	Small         bool    `json:"small,omitempty"`           // see [Prompting]
	Vision        bool    `json:"vision,omitempty"`          // see [Prompting]
}

// Of returns the model that serves requests of a purpose; without a name it is the
// run's.
func (m Models) Of(purpose Purpose) PlanModel {
	own := PlanModel{}
	switch purpose {
	case PurposeAnalysis:
		own = m.Analysis
	case PurposeReview:
		own = m.Review
	case PurposeTools, PurposePlan, PurposeRepair, PurposeReplan:
		own = m.Plan
	default:
		return PlanModel{}
	}
	if own.Name == "" {
		return m.Planner
	}
	return own
}

// Each calls a function with each model that is named.
func (m *Models) Each(do func(*PlanModel)) {
	for _, model := range []*PlanModel{&m.Planner, &m.Analysis, &m.Review, &m.Plan} {
		if model.Name != "" {
			do(model)
		}
	}
}

// ReadSpeed returns how fast the server reads for a model, see [Prompting]; 0 if
// that is not known.
func (m Models) ReadSpeed(name string) (speed float64) {
	m.Each(func(model *PlanModel) {
		if model.Name == name {
			speed = model.ReadSpeed
		}
	})
	return speed
}

// Names lists the models, each once.
func (m Models) Names() []string {
	var names []string
	m.Each(func(model *PlanModel) {
		for _, name := range names {
			if SameModel(name, model.Name) {
				return
			}
		}
		names = append(names, model.Name)
	})
	return names
}

// For returns the brief for the requests of a purpose: if another model than the
// run's serves them, they fit its window.
func (b Brief) For(purpose Purpose) Brief {
	model := b.Prompting.Models.Of(purpose)
	if model.Name == "" {
		return b
	}
	b.Prompting.BytesPerToken, b.Prompting.ReadSpeed, b.Prompting.Small = model.BytesPerToken, model.ReadSpeed, model.Small
	b.Prompting.Vision = model.Vision
	if model.ContextWindow > 0 {
		b.Prompting.ContextWindow = model.ContextWindow
	}
	return b
}
