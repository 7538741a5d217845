package timing

import (
	"time"

	"replan/agent"
)

// Axis measures the time of a run without its breaks.
type Axis struct {
	run *agent.Run
	Now time.Duration
}

// NewAxis returns the axis of a run at time now. An ended run keeps its last moment.
func NewAxis(run *agent.Run, now time.Time) Axis {
	a := Axis{run: run}
	if now.Before(run.Now) || run.Result != nil {
		now = run.Now
	}
	a.Now = a.At(now)
	return a
}

// At returns the run time at t, without the breaks.
func (a Axis) At(t time.Time) time.Duration {
	if t.IsZero() || t.Before(a.run.StartedAt) {
		return 0
	}
	d := t.Sub(a.run.StartedAt)
	for _, b := range a.run.Breaks {
		switch {
		case !t.After(b.From):
		case t.Before(b.To):
			d -= t.Sub(b.From)
		default:
			d -= b.To.Sub(b.From)
		}
	}
	return max(d, 0)
}

// or returns the run time at t, or other if t is zero.
func (a Axis) or(t time.Time, other time.Duration) time.Duration {
	if t.IsZero() {
		return other
	}
	return a.At(t)
}

// StretchKind is the kind of a stretch of time. A later kind is drawn over an
// earlier one.
type StretchKind int

// The kinds of stretches.
const (
	StretchNeeds StretchKind = iota // waiting for other steps
	StretchSlot                     // waiting for a slot
	StretchPause                    // waiting for a retry
	StretchGate                     // waiting for the user's answer at a gate
	StretchRun                      // running
	StretchModel                    // a model planning or writing the answer
	StretchPhase                    // a planning phase
)

// Stretch is a period of one kind.
type Stretch struct {
	Kind     StretchKind
	From, To time.Duration
	Name     string // of a phase
}

// Stretches are the periods of a track, in order.
type Stretches []Stretch

// add appends a period. Only running counts if it took no time.
func (s *Stretches) add(kind StretchKind, from, to time.Duration) {
	if to > from || to == from && kind == StretchRun {
		*s = append(*s, Stretch{Kind: kind, From: from, To: to})
	}
}

// Time returns the time of one kind.
func (s Stretches) Time(kind StretchKind) (sum time.Duration) {
	for _, x := range s {
		if x.Kind == kind {
			sum += x.To - x.From
		}
	}
	return sum
}

// AttemptTimes is an attempt on the axis of its run. It does not change.
type AttemptTimes struct {
	*agent.Attempt
	Stretches
	Ran         time.Duration // measured for its call, as its row in the plan shows; without the delay until the end was reported
	ready, free time.Duration // free: from here on only a slot was missing
	start, end  time.Duration
}

// Try returns an attempt on the axis.
func (a Axis) Try(attempt *agent.Attempt) AttemptTimes {
	t := AttemptTimes{Attempt: attempt, end: a.or(attempt.EndedAt, a.Now)}
	t.start = a.or(attempt.StartedAt, t.end)
	t.ready = min(a.or(attempt.ReadyAt, t.start), t.start)
	t.free = t.ready
	for _, q := range attempt.Asked {
		if q.About == agent.AskedGate {
			answered := a.or(q.AnsweredAt, t.end)
			t.add(StretchGate, t.free, answered) // includes time to get ready
			t.free = answered
		}
	}
	if !t.began() {
		return t
	}
	t.add(StretchSlot, t.free, t.start)
	t.add(StretchRun, t.start, t.end)
	t.Ran = t.end - t.start
	if t.Status == agent.StepCompleted || t.Status == agent.StepFailed {
		t.Ran = min(time.Duration(t.MS)*time.Millisecond, t.Ran)
	}
	return t
}

// began reports whether the attempt started.
func (t AttemptTimes) began() bool { return !t.StartedAt.IsZero() }
