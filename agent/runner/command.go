package runner

import "replan/agent"

// Command is what the screen or the command line asks of a session.
type Command interface{ command() }

// Submit sends what the user typed. While a run goes on it is queued.
type Submit struct{ Text string }

// Resolve answers an open gate, by the run (or session) and the gate's id.
type Resolve struct {
	Run      string
	Gate     string
	Decision agent.Decision
	Scope    agent.Scope
}

// Stop stops the run that goes on: its model call, its tools and their
// children. The run can be resumed.
type Stop struct{}

func (Submit) command()  {}
func (Resolve) command() {}
func (Stop) command()    {}
