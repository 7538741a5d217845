package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Version is the version of the event format, in the "v" field of every line.
const Version = 1

// Event is one fact about a run. Its JSON form is one line of the journal and
// of --output json: {"v":1,"seq":17,"time":"…","run":"…","kind":"…","data":{…}}.
type Event struct {
	Seq  uint64    // ascending within a run, from 1; passing events take numbers too
	Time time.Time // when the runner received it, UTC
	Run  string    // id of the run or session
	Data Data      // its type determines the event's kind
}

// Data is the content of an event. Each kind of event has its own type.
type Data interface {
	Kind() Kind
}

// Kind is the name of a kind of event.
type Kind string

// Kinds of events.
const (
	KindRunStarted   Kind = "run.started"
	KindRunResumed   Kind = "run.resumed"
	KindRunPaused    Kind = "run.paused"
	KindRunSteered   Kind = "run.steered"
	KindRunSpawned   Kind = "run.spawned"
	KindRunCompleted Kind = "run.completed"
	KindRunUndone    Kind = "run.undone"

	KindPhaseStarted   Kind = "phase.started"
	KindPhaseDelta     Kind = "phase.delta"
	KindPhaseCompleted Kind = "phase.completed"
	KindPhaseSkipped   Kind = "phase.skipped"
	KindPhaseFailed    Kind = "phase.failed"

	KindRouteMatched Kind = "route.matched"

	KindPlanDrafting Kind = "plan.drafting"
	KindPlanCreated  Kind = "plan.created"
	KindPlanEmpty    Kind = "plan.empty"
	KindPlanDiff     Kind = "plan.diff"
	KindPlanChosen   Kind = "plan.chosen"
	KindPlanReviewed Kind = "plan.reviewed"

	KindStepExpanded  Kind = "step.expanded"
	KindStepStarted   Kind = "step.started"
	KindStepProgress  Kind = "step.progress"
	KindStepOutput    Kind = "step.output"
	KindStepProcess   Kind = "step.process"
	KindStepCompleted Kind = "step.completed"
	KindStepFailed    Kind = "step.failed"
	KindStepRetry     Kind = "step.retry"
	KindStepSkipped   Kind = "step.skipped"
	KindStepInDoubt   Kind = "step.in_doubt"

	KindCheckCompleted Kind = "check.completed"

	KindDoubtResolved   Kind = "doubt.resolved"
	KindFailureResolved Kind = "failure.resolved"

	KindGateRequested Kind = "gate.requested"
	KindGateResolved  Kind = "gate.resolved"

	KindElicitationRequested Kind = "elicitation.requested"
	KindElicitationResolved  Kind = "elicitation.resolved"

	KindGuardWarned  Kind = "guard.warned"
	KindGuardBlocked Kind = "guard.blocked"
	KindBudgetWarned Kind = "budget.warned"

	KindReplanStarted Kind = "replan.started"
	KindReplanDelta   Kind = "replan.delta"
	KindReplanRefused Kind = "replan.refused"

	KindModelRequested Kind = "model.requested"
	KindModelReading   Kind = "model.reading"
	KindModelReplied   Kind = "model.replied"

	KindSynthesisStarted   Kind = "synthesis.started"
	KindSynthesisDelta     Kind = "synthesis.delta"
	KindSynthesisCompleted Kind = "synthesis.completed"

	KindChatUser      Kind = "chat.user"
	KindChatReply     Kind = "chat.reply"
	KindChatCompacted Kind = "chat.compacted"
	KindChatUndone    Kind = "chat.undone"
	KindChatSide      Kind = "chat.side"

	KindJournalDamaged Kind = "journal.damaged"

	KindTimerFired Kind = "timer.fired"
	KindNote       Kind = "note"
)

// Passing reports whether events of this kind may be coalesced or dropped on the
// way to a reader. They are not journaled and change no durable state.
// Everything a session reports about itself is passing, see package session.
func (k Kind) Passing() bool {
	switch k {
	case KindPhaseDelta, KindReplanDelta, KindSynthesisDelta, KindModelReading, KindStepProgress, KindStepOutput:
		return true
	default:
		return strings.HasPrefix(string(k), "session.")
	}
}

// MarshalJSON returns the event as one line without a line break. Text is not
// HTML-escaped.
func (e Event) MarshalJSON() ([]byte, error) {
	line, err := e.Line()
	if err != nil || len(line.Gaps) == 0 {
		return line.JSON, err
	}
	var whole bytes.Buffer
	_, err = line.WriteTo(&whole)
	return whole.Bytes(), err
}

// UnmarshalJSON reads one line. An unknown kind becomes [Unknown], so that a
// journal of a later version can still be shown.
func (e *Event) UnmarshalJSON(line []byte) error {
	var wire wireEvent[json.RawMessage]
	if err := json.Unmarshal(line, &wire); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if wire.V > Version {
		return fmt.Errorf("decode event %d: written in format %d, and this replan reads up to %d; update replan", wire.Seq, wire.V, Version)
	}
	data, err := decodeData(wire.Kind, wire.Data)
	if err != nil {
		return fmt.Errorf("decode %s event %d: %w", wire.Kind, wire.Seq, err)
	}
	*e = Event{Seq: wire.Seq, Time: wire.Time, Run: wire.Run, Data: data}
	return nil
}

// decode reads data of one kind; numbers keep all their digits.
func decode[T Data](raw []byte) (Data, error) {
	var v T
	if len(raw) == 0 {
		return v, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// decodeData reads the data of an event by its kind.
//
//nolint:funlen // one line per kind
func decodeData(kind Kind, raw []byte) (Data, error) {
	switch kind {
	case KindRunStarted:
		return decode[RunStarted](raw)
	case KindRunResumed:
		return decode[RunResumed](raw)
	case KindRunPaused:
		return decode[RunPaused](raw)
	case KindRunSteered:
		return decode[RunSteered](raw)
	case KindRunSpawned:
		return decode[RunSpawned](raw)
	case KindRunCompleted:
		return decode[RunCompleted](raw)
	case KindRunUndone:
		return decode[RunUndone](raw)
	case KindPhaseStarted:
		return decode[PhaseStarted](raw)
	case KindPhaseDelta:
		return decode[PhaseDelta](raw)
	case KindPhaseCompleted:
		return decode[PhaseCompleted](raw)
	case KindPhaseSkipped:
		return decode[PhaseSkipped](raw)
	case KindPhaseFailed:
		return decode[PhaseFailed](raw)
	case KindRouteMatched:
		return decode[RouteMatched](raw)
	case KindPlanDrafting:
		return decode[PlanDrafting](raw)
	case KindPlanCreated:
		return decode[PlanCreated](raw)
	case KindPlanEmpty:
		return decode[PlanEmpty](raw)
	case KindPlanDiff:
		return decode[PlanDiff](raw)
	case KindPlanChosen:
		return decode[PlanChosen](raw)
	case KindPlanReviewed:
		return decode[PlanReviewed](raw)
	case KindStepStarted:
		return decode[StepStarted](raw)
	case KindStepProgress:
		return decode[StepProgress](raw)
	case KindStepExpanded:
		return decode[StepExpanded](raw)
	case KindStepOutput:
		return decode[StepOutput](raw)
	case KindStepProcess:
		return decode[StepProcess](raw)
	case KindStepCompleted:
		return decode[StepCompleted](raw)
	case KindStepFailed:
		return decode[StepFailed](raw)
	case KindStepRetry:
		return decode[StepRetry](raw)
	case KindStepSkipped:
		return decode[StepSkipped](raw)
	case KindStepInDoubt:
		return decode[StepInDoubt](raw)
	case KindCheckCompleted:
		return decode[CheckCompleted](raw)
	case KindDoubtResolved:
		return decode[DoubtResolved](raw)
	case KindFailureResolved:
		return decode[FailureResolved](raw)
	case KindGateRequested:
		return decode[GateRequested](raw)
	case KindGateResolved:
		return decode[GateResolved](raw)
	case KindElicitationRequested:
		return decode[ElicitationRequested](raw)
	case KindElicitationResolved:
		return decode[ElicitationResolved](raw)
	case KindGuardWarned:
		return decode[GuardWarned](raw)
	case KindGuardBlocked:
		return decode[GuardBlocked](raw)
	case KindBudgetWarned:
		return decode[BudgetWarned](raw)
	case KindReplanStarted:
		return decode[ReplanStarted](raw)
	case KindReplanDelta:
		return decode[ReplanDelta](raw)
	case KindReplanRefused:
		return decode[ReplanRefused](raw)
	case KindModelRequested:
		return decode[ModelRequested](raw)
	case KindModelReading:
		return decode[ModelReading](raw)
	case KindModelReplied:
		return decode[ModelReplied](raw)
	case KindSynthesisStarted:
		return decode[SynthesisStarted](raw)
	case KindSynthesisDelta:
		return decode[SynthesisDelta](raw)
	case KindSynthesisCompleted:
		return decode[SynthesisCompleted](raw)
	case KindChatUser:
		return decode[ChatUser](raw)
	case KindChatReply:
		return decode[ChatReply](raw)
	case KindChatCompacted:
		return decode[ChatCompacted](raw)
	case KindChatUndone:
		return decode[ChatUndone](raw)
	case KindChatSide:
		return decode[ChatSide](raw)
	case KindJournalDamaged:
		return decode[JournalDamaged](raw)
	case KindTimerFired:
		return decode[TimerFired](raw)
	case KindNote:
		return decode[Note](raw)
	default:
		return Unknown{Name: kind, Raw: bytes.Clone(raw)}, nil
	}
}

// StepOf returns the index of the one step that an event is about. It returns
// false for events about no step or several.
func StepOf(d Data) (string, bool) {
	switch d := d.(type) {
	case StepExpanded:
		return d.Index, true
	case StepStarted:
		return d.Index, true
	case StepCompleted:
		return d.Index, true
	case StepFailed:
		return d.Index, true
	case StepRetry:
		return d.Index, true
	case StepSkipped:
		return d.Index, true
	case StepInDoubt:
		return d.Index, true
	case CheckCompleted:
		return d.Index, d.Index != ""
	case RunSpawned:
		return d.Index, true
	case DoubtResolved:
		return d.Step, true
	case FailureResolved:
		return d.Step, true
	case GateRequested:
		return d.Step, true
	case ElicitationRequested:
		return d.Step, true
	case ElicitationResolved:
		return d.Step, true
	default:
		return "", false
	}
}
