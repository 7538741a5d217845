package agent

import (
	"cmp"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// Outcome is the answer of a run, and how it ends.
type Outcome struct {
	Synthesis Synthesis
	Paused    bool             // by the user
	Result    *event.Result    // set once the run is over
	Undone    *event.RunUndone // set once its changes are undone

	answering bool    // all steps have ended, and the model is writing the answer
	ending    *ending // set when nothing new may start, with the reason
	dryEnding *ending // how a dry run would end
}

// ending is how a run will end once nothing is in flight.
type ending struct {
	status event.Status
	reason event.Reason
	error  string
	answer string
}

// end decides how the run ends; the first decision stands.
func (o *Outcome) end(status event.Status, reason event.Reason, sentence string) {
	if o.ending == nil {
		o.ending = &ending{status: status, reason: reason, error: sentence}
	}
}

// endDry decides how a dry run ends, after it has shown all that it can; the first decision
// stands.
func (o *Outcome) endDry(status event.Status, reason event.Reason, sentence string) {
	if o.dryEnding == nil {
		o.dryEnding = &ending{status: status, reason: reason, error: sentence}
	}
}

// ends reports whether the run will end: nothing new may start.
func (o *Outcome) ends() bool { return o.ending != nil }

// plannedEnding returns how the run will end; ok is false while that is not decided.
func (o *Outcome) plannedEnding() (e ending, ok bool) { return valueOf(o.ending) }

// plannedDryEnding returns how a dry run will end; ok is false while that is not decided.
func (o *Outcome) plannedDryEnding() (e ending, ok bool) { return valueOf(o.dryEnding) }

// answer returns the answer so far.
func (o *Outcome) answer() Synthesis { return o.Synthesis }

// isPaused reports whether the user stopped the run.
func (o *Outcome) isPaused() bool { return o.Paused }

// final returns the result of the run; ok is false before its end.
func (o *Outcome) final() (result event.Result, ok bool) { return valueOf(o.Result) }

// valueOf returns what a pointer points to; ok is false for nil.
func valueOf[T any](pointer *T) (value T, ok bool) {
	if pointer == nil {
		return value, false
	}
	return *pointer, true
}

// pause stops the run as the user wants.
func (o *Outcome) pause(reason untrusted.Text) {
	o.Paused = true
	o.end(event.StatusCanceled, event.ReasonInterrupted, cmp.Or(string(reason), "stopped by the user"))
}

// complete ends the run.
func (o *Outcome) complete(result event.Result) { o.Result = &result }

// undo records that the changes of the run are undone, or no longer are.
func (o *Outcome) undo(d event.RunUndone) {
	o.Undone = &d
	if d.Redo {
		o.Undone = nil
	}
}

// reopen lets a run that has ended, or was about to, continue.
func (o *Outcome) reopen() { o.Result, o.ending, o.Paused = nil, nil, false }

// Reopen says that a run which has ended goes on elsewhere: a worker was stopped, or the run
// resumed.
func (o *Outcome) Reopen() { o.Result = nil }

// endedEarly reports whether a resume tries again what failed. The run has ended, or was about
// to, before only its answer was missing, or since something was not verified.
func (o *Outcome) endedEarly() bool {
	return (o.Result != nil || o.ending != nil) && !o.answering || o.unverified()
}

// unverified reports whether the run has ended since something was not verified.
func (o *Outcome) unverified() bool {
	return o.Result != nil && o.Result.Reason == event.ReasonUnverified
}

// Answering reports whether all steps have ended and only the answer is missing.
func (o *Outcome) Answering() bool { return o.answering }

// planAgain says that steps have still to be executed before the answer.
func (o *Outcome) planAgain() { o.answering = false }

// Unanswered returns why a completed run has no answer from its model, or "" if
// it has one or needs none. A resume requests the answer again and runs no step.
func (o *Outcome) Unanswered() string {
	if o.Result == nil || o.Result.Status != event.StatusCompleted {
		return ""
	}
	return string(o.Result.Unanswered)
}

// Synthesis is the answer so far.
type Synthesis struct {
	Started   bool
	Done      bool
	Direct    bool
	StartedAt time.Time
	Text      string
	Thinking  string
	MS        int64
	Error     untrusted.Text // why there is no answer

	misplaced bool // the reply was no answer, so the model gets the request once more
	held      bool // a format holds its reply
}

// Again reports whether the model gets the request for the answer once more: its reply was
// none.
func (s Synthesis) Again() bool { return s.misplaced }

// answersDirectly reports whether the chat is to answer, and has not.
func (s Synthesis) answersDirectly() bool { return s.Direct && s.Started && !s.Done }

// beginAnswer records that the answer was requested.
func (o *Outcome) beginAnswer(d event.SynthesisStarted, now time.Time) {
	o.Synthesis = Synthesis{Started: true, Direct: d.Direct, StartedAt: now, held: len(d.Request.Format) > 0}
	o.answering = !d.Direct
}

// stream adds a piece of the answer.
func (o *Outcome) stream(d event.SynthesisDelta) {
	o.Synthesis.Text, o.Synthesis.Thinking = o.Synthesis.Text+d.Text, o.Synthesis.Thinking+d.Thinking
}

// continueAnswer drops what was streamed: the reply was no answer.
func (o *Outcome) continueAnswer() { o.Synthesis.Text, o.Synthesis.Thinking = "", "" }

// finishAnswer takes the answer of the model. An empty one does not count.
func (o *Outcome) finishAnswer(d event.SynthesisCompleted) {
	s := &o.Synthesis
	s.Done, s.MS, s.Text, s.Error = true, d.Reply.MS, string(d.Text), d.Error
	s.misplaced = d.Error != "" && !s.Direct && !s.held && d.Text == "" && d.Reply.Text != "" && !d.Reply.CutOff
	if d.Error == "" && strings.TrimSpace(string(d.Text)) == "" {
		s.Error = "the model's reply was empty"
	}
}

// loseAnswer drops an answer that will never come whole, so that it is requested again. A
// chat that has begun continues from its last reply.
func (o *Outcome) loseAnswer(chat bool) {
	if o.Synthesis.Started && !o.Synthesis.Done || o.Synthesis.Error != "" {
		o.Synthesis = Synthesis{Direct: o.Synthesis.Direct, Started: chat, StartedAt: o.Synthesis.StartedAt}
	}
}
