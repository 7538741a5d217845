package frame

import (
	"time"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// State is what the frame shows of the session and its current runs.
type State struct {
	Past       []agent.Summary // runs of earlier sessions, newest first
	Session    session.Status
	Pull       session.PullProgress // under way; no Model means none
	Starting   bool                 // the model server is being started
	Reported   bool                 // the session has reported its status
	Rechecking bool                 // the session looks again for a model
	Closed     bool                 // the session is over

	Run       *agent.Run   // the current run, nil before the first
	Runs      []*agent.Run // the user's run, then those that plan tools started in it
	Active    bool         // the current run is under way
	Preparing bool         // something was sent, but its run has not started
	Stopping  bool         // the runs are being stopped

	Waiting   string // what waits for the user: "gate" or "question"; "" for nothing
	Reviewing bool   // a plan waits for the user's review
	AskedStep string // the step of the current run whose question is open; "" for none

	Preparation string // what the session does while Preparing
	Requests    Requests
}

// Requests lists the open model requests of the current run, outside the planning
// phases.
type Requests struct {
	Tools       bool      // chooses tools for the plan
	Repair      bool      // repairs the plan
	Arguments   bool      // works out the arguments of a step
	ArgumentsOf string    // that step
	Answer      bool      // writes the answer
	AnswerSince time.Time // when the answer was requested
	Writing     bool      // part of the answer is in the chat
	CallsShown  bool      // the chat shows calls of the model that answers
}

// busy reports whether there is work to stop.
func (s State) busy() bool { return s.Preparing || s.Active }

// Model returns the name of the session's model, else that of the run's; "" if
// unknown.
func (s State) Model() untrusted.Text {
	if s.Session.Model != "" || s.Run == nil {
		return s.Session.Model
	}
	return untrusted.Text(s.Run.Model)
}
