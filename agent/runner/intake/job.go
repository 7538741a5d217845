package intake

import (
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// Job is a unit of work of a session: a run, or a change of the conversation.
type Job struct {
	ID       int    // counted from 1, once it has a place in the queue
	Words    string // as the user typed it; "" if it was no goal
	Typed    string // text that may mention things by an @; "" if it cannot
	Goal     string
	Mentions []prompt.Mention       // in the goal, as last read
	Create   bool                   // make a plan, but run nothing
	Run      bool                   // with Create: run the plan instead of storing it
	Execute  *session.Execute       // the plan to carry out
	Resume   string                 // the run to resume
	Decided  *event.FailureResolved // how to continue after the failed step
	Compact  bool                   // summarize the conversation
	Restore  bool                   // undo the last summary

	fresh bool // the mentions were read while the job could begin, or it can have none
}

// Words returns the job for words that the user typed.
func Words(text string) Job {
	if intent.IsCommandLine(text) { // an @ in it is the shell's
		return Job{Words: text, Typed: text, Goal: text, fresh: true}
	}
	return Job{Words: text, Typed: text, Goal: strings.TrimSpace(prompt.Unescaped(text))}
}

// Plans reports whether the goal of the job needs a plan.
func (j Job) Plans() bool { return j.Goal != "" && j.Execute == nil }

// Name describes the job in a few words.
func (j Job) Name() string {
	switch {
	case j.Resume != "":
		return "resume " + j.Resume
	case j.Execute != nil:
		return "run the plan " + string(j.Execute.Plan.Title)
	case j.Compact:
		return "summarize the conversation"
	case j.Restore:
		return "restore the conversation"
	default:
		return j.Goal
	}
}

// mentions reports whether the job may mention something.
func (j Job) mentions() bool { return len(prompt.Namings(j.Typed)) > 0 }
