package reply

import (
	"bytes"
	"strings"

	"replan/planning/plan"
)

// StepStream reads the steps of a plan while its reply streams in. The zero value is
// ready. It yields the steps the whole reply will have, so far. A reply without a list of
// steps in valid JSON yields fewer, and prose yields none.
//
// The steps of an analysis are held back until it is clear that they count; see
// the phases of planning.NewPipeline.
type StepStream struct {
	numbers stepNumbers
	state   streamState
	before  preface // the text before the value
	top     byte    // the opening bracket of the value: '{' or '['
	fresh   bool    // nothing but blanks since the bracket
	depth   int
	texts   stringScanner
	key     string // the field being read, at the top of an object
	hasKey  bool
	item    []byte // the key, field or step being read
	inSteps bool   // within the list of steps
	closed  bool   // the list of steps was closed
	deaf    bool   // an item was unreadable: the next ones might get wrong numbers
	fields  map[string]any
	read    []any       // steps waiting until the first index of the model is clear, and the steps after them
	held    []plan.Step // steps of an analysis, not known to count
}

// streamState says where in the reply a stream is.
type streamState int

const (
	streamSearching streamState = iota // before a value
	streamInside                       // within one
	streamDone                         // behind the steps
)

// Feed takes the next piece of the reply and returns the steps completed by it.
func (s *StepStream) Feed(chunk string) []plan.Step {
	var steps []plan.Step
	for i := 0; i < len(chunk); i++ {
		switch s.state {
		case streamDone:
			return steps
		case streamSearching:
			s.search(chunk[i])
		case streamInside:
			steps = append(steps, s.inside(chunk[i])...)
		}
	}
	return steps
}

// search looks for the start of a value behind the thoughts.
func (s *StepStream) search(c byte) {
	opens := (c == '{' || c == '[') && s.before.admits(c)
	s.before.add(c)
	if !opens {
		return
	}
	s.state, s.top, s.fresh, s.depth = streamInside, c, true, 1
	s.item = s.item[:0]
	s.hasKey, s.fields = false, nil
}

// startsReply reports whether nothing but the start of a code fence came yet.
func startsReply(head string) bool {
	return head == "" || strings.HasPrefix(head, "```") && !strings.ContainsAny(head[3:], "`\n ")
}

// inside takes one byte of a value.
func (s *StepStream) inside(c byte) []plan.Step {
	if s.fresh {
		switch {
		case isBlank(c):
			return nil
		case c != '"' && (s.top != '[' || c != '{'):
			// Code, or a placeholder: look on from here.
			s.state = streamSearching
			s.search(c)
			return nil
		}
		s.fresh = false
	}
	if s.texts.outside(c) {
		return s.structure(c)
	}
	s.item = append(s.item, c)
	return nil
}

// structure takes one byte outside of texts.
func (s *StepStream) structure(c byte) []plan.Step {
	elements := 2 // the depth at which steps stand
	if s.top == '[' {
		elements = 1
	}
	inList := s.depth == elements && (s.inSteps || s.top == '[')
	switch c {
	case '[', '{':
		if c == '[' && s.depth == 1 && s.hasKey && s.key == "steps" {
			if blank(s.item) {
				s.depth, s.inSteps = 2, true
				return nil
			}
			s.key = "" // no list of steps, which need not be found out again at each bracket
		}
		s.depth++
	case ']', '}':
		s.depth--
		if inList {
			return s.closeSteps()
		}
		if s.depth <= 0 {
			s.endField()
			return s.closeValue()
		}
	case ',':
		if inList {
			return s.endStep()
		}
		if s.depth == 1 {
			s.endField()
			return nil
		}
	case ':':
		if s.depth == 1 && s.top == '{' && !s.hasKey {
			s.startField()
			return nil
		}
	}
	s.item = append(s.item, c)
	return nil
}

// startField takes the text so far as the name of a field.
func (s *StepStream) startField() {
	if v, err := plan.DecodeValue(s.item); err == nil {
		s.key = textOf(v)
	}
	s.hasKey, s.item = true, s.item[:0]
}

// endField keeps the fields that decide whether steps count.
func (s *StepStream) endField() {
	if s.hasKey {
		if v, err := plan.DecodeValue(s.item); err == nil {
			if s.fields == nil {
				s.fields = make(map[string]any)
			}
			s.fields[s.key] = v
		}
	}
	s.hasKey, s.key, s.item = false, "", s.item[:0]
}

// endStep reads one step of the list.
func (s *StepStream) endStep() []plan.Step {
	raw := s.item
	s.item = s.item[:0]
	if s.deaf || blank(raw) {
		return nil
	}
	item, err := plan.DecodeValue(raw)
	if err == nil && isUnusable(item) {
		return nil
	}
	if err != nil || s.top == '[' && notStep(item) {
		s.deaf = true
		return nil
	}
	if read := s.numbers.read(item); read != nil {
		s.read = append(s.read, read)
	}
	if s.numbers.isOpen() {
		return nil // a later step shows which steps one of them waits for
	}
	return s.decodeRead()
}

// decodeRead yields the read steps, in order.
func (s *StepStream) decodeRead() []plan.Step {
	var steps []plan.Step
	for _, read := range s.read {
		plan, faults := plan.DecodePlan([]byte(plan.CanonicalJSON(map[string]any{"steps": []any{read}})))
		if len(faults) > 0 || len(plan.Steps) != 1 {
			continue
		}
		step := plan.Steps[0]
		step.Extra = nil
		steps = append(steps, step)
	}
	s.read = nil
	if len(steps) == 0 {
		return nil
	}
	return s.release(steps...)
}

// release yields steps once they are known to count: at once in a plan, in an
// analysis when it says so.
func (s *StepStream) release(steps ...plan.Step) []plan.Step {
	mode, isAnalysis := s.fields["mode"]
	_, hasComplexity := s.fields["complexity"]
	_, hasReflect := s.fields["reflect"]
	ended := s.state == streamDone
	switch {
	case !isAnalysis:
	case !ended && (!hasComplexity || !hasReflect):
		s.held = append(s.held, steps...)
		return nil
	case !stepsCount(mode, s.fields["complexity"], s.fields["reflect"]):
		s.held = nil
		return nil
	}
	steps = append(s.held, steps...)
	s.held = nil
	return steps
}

// closeSteps ends the list of steps.
func (s *StepStream) closeSteps() []plan.Step {
	steps := s.endStep()
	if !s.deaf {
		steps = append(steps, s.decodeRead()...) // no later step comes
	}
	s.inSteps, s.closed = false, true
	s.hasKey, s.key, s.item = false, "", s.item[:0]
	switch {
	case s.numbers.len() > 0 && len(s.held) == 0:
		s.state = streamDone
	case s.top == '[':
		s.searchOn()
	}
	return steps
}

// steps returns how many steps are whole, and whether their list was closed.
func (s *StepStream) steps() (whole int, closed bool) { return s.numbers.len(), s.closed }

// closeValue ends a value: a plan, or something before it.
func (s *StepStream) closeValue() []plan.Step {
	if s.numbers.len() == 0 {
		s.searchOn()
		return nil
	}
	s.state = streamDone
	if len(s.held) == 0 {
		return nil
	}
	return s.release()
}

// searchOn searches after a value without steps for one with some.
func (s *StepStream) searchOn() {
	s.state = streamSearching
	s.before.add('.')
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }
