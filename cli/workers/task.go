package workers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/cli/config"
	"replan/mcpclient/builtin"
	"replan/planning/plan"
)

// reach are the commands that act on runs of workers.
var reach = []string{
	"replan", "replan run", "replan plan run", "replan plan resume", "replan replay",
	"replan runs", "replan runs list", "replan runs show", "replan runs follow", "replan runs stop",
}

// carried are the flags that mean something for runs of workers.
var carried = []string{
	"on", "detach", "no-wait", "priority", "repository", "revision", "approve", "review", "in-doubt", "model", "server",
	"var", "strict", "on-failure", "synthesize", "all", "sort", "limit", "speed", "output", "data-dir", "plain", "theme", "ascii", "no-color", "reduced-motion", "notify", "help", "help-all",
}

// submitting are those that are decided when a run is submitted, and deciding those that
// a resume may decide anew.
var (
	submitting = []string{"no-wait", "priority", "repository", "revision", "model", "server"}
	deciding   = []string{"approve", "review", "in-doubt"}
)

// Check refuses what makes no sense with runs of workers. Here says that the command works
// on this machine, whatever --on says.
func Check(cmd *cobra.Command, on config.Workers) (here bool, err error) {
	if !slices.Contains(reach, cmd.CommandPath()) {
		return true, checkHere(cmd, on) // the demo runs a goal too
	}
	return false, checkReach(cmd, on)
}

// checkHere refuses --on for a command that works on this machine.
func checkHere(cmd *cobra.Command, on config.Workers) error {
	if cmd.CommandPath() == "replan runs prune" && on.CarryOut() { // the lists beside it show those of workers
		return errors.New("replan runs prune removes runs of this machine: add --on '' for that; replan-worker prune removes those of workers")
	}
	if on.Named && on.CarryOut() {
		return fmt.Errorf("%s works on this machine only: omit --on", cmd.CommandPath())
	}
	return nil
}

// checkReach refuses flags that do not reach a worker, and commands that need one.
func checkReach(cmd *cobra.Command, on config.Workers) error {
	path, flags := cmd.CommandPath(), cmd.Flags()
	if !on.CarryOut() {
		switch path {
		case "replan runs follow":
			return errors.New("there are only runs of workers to follow: add --on ADDRESS; replan replay shows a run of this machine")
		case "replan runs stop":
			return errors.New("there are only runs of workers to stop: add --on ADDRESS")
		}
		return nil
	}
	remedy := "or --on"
	if !on.Named {
		remedy = "or add --on '' to work on this machine"
	}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		switch submits := path == "replan" || strings.HasSuffix(path, " run"); {
		case wrong != nil:
		case !slices.Contains(carried, f.Name):
			wrong = fmt.Errorf("--%s does not reach a worker: omit it, %s", f.Name, remedy)
		case !submits && slices.Contains(submitting, f.Name), !submits && path != "replan plan resume" && slices.Contains(deciding, f.Name):
			wrong = fmt.Errorf("--%s is decided when a run is submitted: omit it, %s", f.Name, remedy)
		case f.Name == "detach" && !submits && path != "replan plan resume":
			wrong = fmt.Errorf("--detach is for runs that begin or resume: omit it, %s", remedy)
		}
	})
	return wrong
}

// Present says who answers the questions of a run.
type Present struct {
	Asked   bool // a user answers gates here
	Attends bool // and other questions
}

// Settings are those that a task has.
type Settings struct {
	Workers   config.Workers
	Execution config.Execution
	Approve   policy.Approve
	Model     config.Model
	Servers   []string // of the command line
}

// Task returns the task of a goal or a plan. A run without a follower asks
// whoever follows it later.
func (s Settings) Task(id string, p Present, inDoubt event.DoubtDecision, options remote.Options) *remote.Task {
	t := &remote.Task{
		Run: "r-" + id, OnFailure: s.Execution.OnFailure, Approve: s.Approve, Review: s.Execution.Review, Attended: p.Attends, InDoubt: inDoubt,
		Priority: s.Workers.Priority, By: options.By,
		Source: remote.Source{Repository: s.Workers.Repository, Revision: s.Workers.Revision},
	}
	if s.Workers.Detach {
		t.Attended = t.Approve != policy.ApproveNone
	} else if !p.Asked && t.Approve == policy.ApproveAsk {
		t.Approve = policy.ApproveUnasked
	}
	if s.Model.Named {
		t.Needs.Model = s.Model.Name // the configured one is this machine's
	}
	need(t, s.Servers...)
	return t
}

// Execute makes a plan that of the task, with the servers whose tools it names.
func Execute(t *remote.Task, p plan.Plan) {
	t.Plan = &p
	for _, tool := range p.Tools() {
		if server, _, ok := strings.Cut(tool, ":"); ok {
			need(t, server)
		}
	}
}

// need adds servers that a worker must offer. Every worker has the built-in tools.
func need(t *remote.Task, servers ...string) {
	for _, name := range servers {
		if name != builtin.ServerName && !slices.Contains(t.Needs.Servers, name) {
			t.Needs.Servers = append(t.Needs.Servers, name)
		}
	}
}
