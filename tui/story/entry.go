package story

import (
	"cmp"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Reader is a set of readers. What they see besides the story decides what they are told.
type Reader uint8

// The readers of a story.
const (
	// Lines reads the line log and sees nothing else.
	Lines Reader = 1 << iota
	// Live reads the chat. The screen shows the plan, the phases and every open question beside it.
	Live
	// Replay reads the chat of a replay, which asks nothing: questions appear as they happened.
	Replay
	// Record reads about a run afterwards, below the plan with the states of its steps.
	Record
	// Client shows one line of progress.
	Client
	// Caller has asked for one call and waits for its result.
	Caller
	// Asked is told the questions to the user and the answers alone.
	Asked

	// Screen reads the chat, live or in a replay.
	Screen = Live | Replay
)

// Level says how an entry matters.
type Level uint8

// Levels of entries.
const (
	Plain    Level = iota
	Begins         // work begins; a reader who sees work in progress needs no line for it
	Started        // something new is there: a goal, a plan, a remark
	Done           // it succeeded
	Failed         // it failed
	Trouble        // it failed, and the run may continue
	Fatal          // the run ends because of it
	Skipped        // it was left out or stopped
	Warn           // the user should know of a risk
	Info           // the user may want to know
	Asks           // a question to the user, or the answer at a gate
	Decision       // how the run continues after a failure or a doubt
	Doubt          // it may or may not have happened
	Again          // it is done again
	Would          // a dry run would do it
)

// Kind says what an entry is about, where a renderer draws more of it than its words.
type Kind uint8

// Kinds of entries.
const (
	Said Kind = iota // the words are all
	Noted
	Goal
	Outer
	Resumed
	Where
	Reading
	Route
	Remark
	Plan
	Revision
	Reviewed
	Held
	Replanning
	Thinking
	ThinkingEnds
	TurnBegins
	TurnText
	TurnEnds
	TurnWithdrawn
	Failure
	Granted
	Call
	Returned
	Dry
	Found
	Progress
	Accepted
	GateOpens
	GateAnswered
	ServerAsks
	ServerAnswered
	Question
	Answer
	Results
	Outcome
	Advice
)

// Entry is one thing that a run says, without styles. Its texts may hold words of models
// and servers: a renderer cleans what it draws.
type Entry struct {
	Kind  Kind
	Level Level
	Depth int // levels below the lines of their own: 1 for calls of a step and for answers

	Words string   // a sentence that names what it is about
	Line  string   // the same in the line log, where steps come by index and title; "" if it is Words
	Brief string   // the same as a line of progress; "" for none
	Facts []string // figures and names that follow the line and matter less

	Detail string         // text of several lines that belongs below, such as an error
	Args   map[string]any // of a call, which belong below
	Told   bool           // an earlier entry said the cause already

	Phase    int                  // of planning, from 1, whose model thinks
	Text     untrusted.Text       // of the user or of a model
	Thought  string               // thinking of a model
	Plan     *plan.Plan           // that belongs below
	Step     *agent.StepState     // that a dry run only describes
	Gate     *event.GateRequested // that opens, or that was answered; nil if the answer came without it
	Question agent.Question       // about a failed step or one in doubt
	Results  []Result             // of the steps, if nobody wrote an answer
	Ending   *Ending              // of an outcome
	Event    event.Data           // what said it, for renderers that draw more of it than its words

	ends   untrusted.Text // why the run ends, which the entry says
	fails  untrusted.Text // why a step failed, which the entry says
	doubts untrusted.Text // why a step is in doubt, which the entry says
}

// Short returns the words for the line log.
func (e Entry) Short() string { return cmp.Or(e.Line, e.Words) }

// Result is the result of a step that no other step used.
type Result struct {
	Step  *agent.StepState
	Shown bool // a gate showed its diff already
}
