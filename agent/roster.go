package agent

import (
	"strconv"
	"strings"

	"replan/planning/prompt"
)

// roster finds the steps of a run, their items, and the calls that models make.
type roster struct {
	board         *Board
	conversations *Conversations
	outcome       *Outcome
}

// step carries out [Run.Step].
func (r *roster) step(index string) *StepState {
	if s := r.board.at(index); s != nil {
		return s
	}
	return r.call(index)
}

// call returns the inner call, or the item, with this index, or nil.
func (r *roster) call(index string) *StepState {
	parent, number, inner := cutLast(index)
	if !inner {
		return nil
	}
	loop := r.conversations.Chat
	if parent != prompt.ChatParent {
		s := r.step(parent)
		if s == nil {
			return nil
		}
		if n, err := strconv.Atoi(number); err == nil && 0 < n && n <= len(s.Items) && s.Items[n-1].Step.Index == index {
			return s.Items[n-1]
		}
		loop = s.Loop
	}
	if loop == nil {
		return nil
	}
	for _, c := range loop.Calls {
		if c.Step.Index == index {
			return c
		}
	}
	return nil
}

// every calls do for each step and each inner call of the run.
func (r *roster) every(do func(*StepState)) {
	r.board.executed(func(s *StepState) {
		do(s)
		if s.Loop != nil {
			for _, c := range s.Loop.Calls {
				do(c)
			}
		}
	})
	if r.conversations.Chat != nil {
		for _, c := range r.conversations.Chat.Calls {
			do(c)
		}
	}
}

// activeLoops returns the active loops.
func (r *roster) activeLoops() []*Loop {
	var out []*Loop
	if r.conversations.Chat != nil && !r.outcome.answer().Done {
		out = append(out, r.conversations.Chat)
	}
	for _, s := range r.conversations.working() {
		out = append(out, s.Loop)
	}
	return out
}

// find returns the view of the step, or inner call, with this index; nil if there is none.
func (r *roster) find(index string) stepView {
	if s := r.step(index); s != nil {
		return s
	}
	return nil
}

// each calls do for the views of all of them.
func (r *roster) each(do func(stepView)) { r.every(func(s *StepState) { do(s) }) }

// converses reports whether a loop is active.
func (r *roster) converses() bool { return len(r.activeLoops()) > 0 }

func cutLast(index string) (parent, number string, ok bool) {
	at := strings.LastIndexByte(index, '.')
	if at < 0 {
		return "", "", false
	}
	return index[:at], index[at+1:], true
}
