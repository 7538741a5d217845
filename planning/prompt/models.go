package prompt

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
	if model.ContextWindow > 0 {
		b.Prompting.ContextWindow = model.ContextWindow
	}
	return b
}
