package agent

// stepParts are the parts of the state of a step.
type stepParts struct {
	gate stepGate
	fan  fanOut
	item listItem
}

// gate returns the gate of its next call. The methods named after those here with State are for
// views.
func (s *StepState) gate() *stepGate     { return &s.parts.gate }
func (s *StepState) gateState() gateView { return &s.parts.gate }

// fanOut returns the progress of the step through its items, and item what ties it to the step
// with for_each if it is one of them.
func (s *StepState) fanOut() *fanOut { return &s.parts.fan }
func (s *StepState) item() *listItem { return &s.parts.item }

func (s *StepState) fanOutState() fanOutView { return &s.parts.fan }
func (s *StepState) itemState() itemView     { return &s.parts.item }
