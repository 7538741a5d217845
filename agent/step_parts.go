package agent

// stepParts are the parts of the state of a step.
type stepParts struct {
	fan  fanOut
	item listItem
}

// fanOut returns the progress of the step through its items, and item what ties it to the step
// with for_each if it is one of them. The methods named after them with State are for views,
// here and below.
func (s *StepState) fanOut() *fanOut { return &s.parts.fan }
func (s *StepState) item() *listItem { return &s.parts.item }

func (s *StepState) fanOutState() fanOutView { return &s.parts.fan }
func (s *StepState) itemState() itemView     { return &s.parts.item }
