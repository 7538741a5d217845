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
	Declined       // the user said no to it
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

// Kinds of entries. Unless noted, their words are all that a renderer needs.
const (
	Statement      Kind = iota // anything that needs no more than its words
	Noted                      // a note of the session
	Goal                       // Event holds the goal and what is attached to it
	Outer                      // the run that has started this one, by id
	Resumed                    // the run goes on
	Where                      // the model, the tools and the folder of the run
	Reading                    // how long a model will read
	Route                      // the words that rules took the goal for
	Remark                     // Event holds what the user said to the run
	Plan                       // Plan is there
	Revision                   // Event holds what a new plan changes; Told: a replan showed why
	Reviewed                   // Event holds the decision of a review and its changes
	Held                       // the plan of the run waits for review
	Replanning                 // a model begins to write a new plan
	Thinking                   // Thought and Text stream from a phase of planning
	ThinkingEnds               // Thought is all that the phase thought
	TurnBegins                 // a model begins to write to the user
	TurnText                   // Text and Thought stream from it
	TurnEnds                   // Text and Thought are all of it
	TurnWithdrawn              // the next turn takes the place of this one
	Failure                    // a step failed, told with what follows
	Granted                    // a call passes by an earlier answer; Event holds the call; Warn: it carries text from outside
	Call                       // a call or an item begins, with Args
	Returned                   // Event holds the result of the call that the reader asked for
	Dry                        // Step would make a call with Args; Event holds what would stop it
	Found                      // a step is done; Facts are its duration and, for people, what it found
	Progress                   // a message of a running tool
	Accepted                   // a check of the plan's acceptance; Info: nothing shows that it holds
	GateOpens                  // Gate asks
	GateAnswered               // Event holds the answer to Gate
	ServerAsks                 // Event holds the question of a server
	ServerAnswered             // the question was answered
	Question                   // Question waits since before the run was resumed
	Answer                     // Text is the answer of the run, "" if all of it was told; Words say why it is incomplete
	Results                    // Results stand for an answer
	Outcome                    // Ending is how the run ended
	Advice                     // what to do after planning failed
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

	Detail     string         // text of several lines that belongs below, such as an error
	Args       map[string]any // of a call, which belong below
	CauseKnown bool           // an earlier entry said the cause already

	Phase    int                  // of planning, from 1, whose model thinks
	Text     untrusted.Text       // of the user or of a model
	Thought  string               // thinking of a model
	Plan     *plan.Plan           // that belongs below
	Step     *agent.StepState     // that a dry run only describes
	Gate     *event.GateRequested // that opens, or that was answered; nil if the answer came without it
	Question agent.Question       // about a failed step or one in doubt
	Results  []Result             // of the steps, if no model wrote an answer
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
