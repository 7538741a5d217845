package agent

// stepParts are the parts of the state of a step.
type stepParts struct {
	gate         stepGate
	call         stepCall
	request      argsRequest
	author       authorship
	fan          fanOut
	item         listItem
	inner        *innerCall // of a call of a model; nil for a step of the plan
	checks       checkProgress
	interruption interruption
}

// The methods of the same names with State are for views.

// gate returns the gate of its next call.
func (s *StepState) gate() *stepGate     { return &s.parts.gate }
func (s *StepState) gateState() gateView { return &s.parts.gate }

// call returns the call of the step if it could start.
func (s *StepState) call() *stepCall { return &s.parts.call }

// request returns the model's work on args that the plan leaves out.
func (s *StepState) request() *argsRequest { return &s.parts.request }

// author returns who wrote the step.
func (s *StepState) author() *authorship { return &s.parts.author }

func (s *StepState) callState() callView       { return &s.parts.call }
func (s *StepState) requestState() requestView { return &s.parts.request }
func (s *StepState) authorState() authorView   { return &s.parts.author }

// fanOut returns the progress of the step through its items.
func (s *StepState) fanOut() *fanOut { return &s.parts.fan }

// item returns what ties an item to the step with for_each.
func (s *StepState) item() *listItem { return &s.parts.item }

func (s *StepState) fanOutState() fanOutView { return &s.parts.fan }
func (s *StepState) itemState() itemView     { return &s.parts.item }

// inner returns what a call of a model has besides, nil for a step of the plan.
func (s *StepState) inner() *innerCall { return s.parts.inner }

// checks returns how far the checks of the step are.
func (s *StepState) checks() *checkProgress { return &s.parts.checks }

// interruption returns how the end of a program affected the step.
func (s *StepState) interruption() *interruption { return &s.parts.interruption }

func (s *StepState) checksState() checksView             { return &s.parts.checks }
func (s *StepState) interruptionState() interruptionView { return &s.parts.interruption }
