package story

import (
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// tellGate tells what the user is asked about a call, and the answers.
func (s *Story) tellGate(data event.Data, before Before) bool {
	switch d := data.(type) {
	case event.GateRequested:
		s.tellOpen(Lines|Replay|Asked, d)
	case event.GateResolved:
		e := Entry{Kind: GateAnswered, Level: Asks, Depth: 1, Words: wording.ResolvedWords(before.gate, d), Line: wording.GateDecision(d), Event: d}
		if before.gate != nil {
			e.Gate = &before.gate.GateRequested
		}
		s.tell(Lines|Screen|Record|Asked, e)
	case event.ElicitationRequested:
		who, what := untrusted.Line(d.Server)+" asked in ", ": "+d.Message.Line()
		s.event(Lines|Replay|Asked, d, Entry{Kind: ServerAsks, Level: Asks, Words: who + wording.StepWords(d.Step) + what})
		s.tell(Record, Entry{Level: Asks, Words: who + "step " + untrusted.Line(d.Step) + what})
	case event.ElicitationResolved:
		s.tell(Lines|Screen|Record|Asked, Entry{Kind: ServerAnswered, Level: Asks, Depth: 1, Words: wording.ElicitationWords(d)})
	default:
		return false
	}
	return true
}

// tellOpen tells the question of a gate, unless its call would change nothing.
func (s *Story) tellOpen(to Reader, d event.GateRequested) {
	if d.Nothing {
		return
	}
	if d.Diff != "" && s.to&to != 0 {
		s.diffs = append(s.diffs, d.Diff)
	}
	s.tell(to, Entry{Kind: GateOpens, Level: Asks, Words: wording.AskedWords(d), Gate: &d})
}
