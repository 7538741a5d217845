package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store"
	"replan/cli/config"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/plain"
)

// newRuns is replan runs and, in the chat, /runs.
func newRuns(o *options) slash.Command {
	var all bool
	flags := func(f *pflag.FlagSet) {
		f.BoolVar(&all, "all", false, "those too that made a plan to be kept and carried nothing out")
	}
	list := func(context.Context, slash.Call) error { return o.runsList(all) }
	return slash.Command{
		Name: "runs", Short: "List, show and remove runs",
		Long: "Every run leaves a journal, from which it can be shown, replayed and resumed. RUN may be given as a\n" +
			"unique prefix.",
		Flags: flags, Do: list,
		Below: []slash.Command{
			{Name: "list", Short: "List the runs, newest first", Flags: flags, Do: list},
			{
				Name: "show", Args: "RUN", Short: "Show a run as far as it has come", Check: one("RUN"),
				Do: func(_ context.Context, c slash.Call) error { return o.runsShow(c.Args[0]) },
			},
			newRunsPrune(o),
		},
	}
}

// runsList is replan runs list. Runs that were to make a plan and did are told
// with all alone: what they came to is among the plans.
func (o *options) runsList(all bool) error {
	list, broken, err := o.store.Summaries()
	if err != nil {
		return wrap("list the runs", err)
	}
	if !all {
		list = slices.DeleteFunc(list, func(s agent.Summary) bool { return s.PlanOnly && s.Status == event.StatusCompleted })
	}
	for _, err := range broken {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", oneLine(err.Error()))
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(list)
	}
	if len(list) == 0 {
		return o.print("there are no runs yet\n")
	}
	row := "%s\t%s\t%s\t%d/%d\t%s\t%s\n"
	if o.talk != nil {
		row = "%s\t%s\t%s\t%d/%d\t%s\n  %s\n" // the chat is narrow: the goal gets a line
	}
	table := tabwriter.NewWriter(o.io.Out, 0, 4, 2, ' ', 0)
	for _, s := range list {
		_, _ = fmt.Fprintf(table, row, s.Run, s.Started.Local().Format(timeShown), standingOf(s),
			s.Done, s.Steps, english.Count(s.Replans, "replan"), plain.OneLine(config.First(s.Goal, s.Title), 60))
	}
	return wrap(writing, table.Flush())
}

// standingOf says in words how a run stands.
func standingOf(s agent.Summary) string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return fmt.Sprintf("%s: %s", s.Status, s.Reason)
}

// foldedRun returns the run whose id begins with prefix, as far as it has come.
func (o *options) foldedRun(prefix string) (agent.Run, error) {
	id, err := o.store.FindRun(prefix)
	if err != nil {
		return agent.Run{}, o.unopened(err)
	}
	run, err := o.store.Runs.Fold(id)
	if err != nil {
		return run, o.unopened(err)
	}
	return run, nil
}

// runsShow is replan runs show.
func (o *options) runsShow(prefix string) error {
	id, err := o.store.FindRun(prefix)
	if err != nil {
		return o.unopened(err)
	}
	// Asked first: what ends after that has ended in its journal too.
	held, err := o.store.Locked(id)
	if err != nil {
		return wrap("list the runs", err)
	}
	run, err := o.store.Runs.Fold(id)
	if err != nil {
		return o.unopened(err)
	}
	summary, standing := store.Summary(&run, held), run.Standing(held)
	standing.Status = summary.Status
	if o.Output == config.OutputJSON {
		return o.printJSON(struct {
			agent.Standing
			Resumable bool `json:"resumable"`
		}{standing, summary.Resumable})
	}
	return o.print(o.runText(&run, summary, standing))
}

// runText tells a run as far as it has come.
func (o *options) runText(run *agent.Run, s agent.Summary, standing agent.Standing) string {
	var b strings.Builder
	say := sayTo(&b)
	say("%s  %s", s.Run, standingOf(s))
	say("goal: %s", s.Goal)
	say("begun %s in %s", s.Started.Local().Format(timeShown), s.Workspace)
	used := run.Usage
	say("%s of %d done, %s, %s, %s", english.Count(s.Done, "step"), s.Steps, english.Count(used.ToolCalls, "tool call"),
		english.Count(used.Replans, "replan"), english.Count(used.PromptTokens+used.CompletionTokens, "token"))
	if len(run.Steps) > 0 {
		say("")
	}
	for _, step := range run.Steps {
		say("%s %s. %s  [%s]%s", stepMark(step.Status, o.ASCII), step.Step.Index, step.Step.Title, by(step.Step), stepWords(step))
	}
	if len(standing.InDoubt) > 0 {
		say("")
		say("in doubt: %s; a resume asks%s", strings.Join(standing.InDoubt, ", "), o.unlessTalking(", or takes --in-doubt rerun, done or abort"))
	}
	if r := run.Result; r != nil {
		if r.Answer != "" {
			b.WriteString("\n" + strings.TrimRight(untrusted.Visible(r.Answer), "\n") + "\n")
		}
		if r.Error != "" {
			say("")
			say("%s", r.Error)
		}
	}
	if s.Resumable {
		say("")
		say("go on with it: %s %s", o.named("plan resume"), s.Run)
	}
	return b.String()
}

// stepMark is the sign of a step that stands so.
func stepMark(status agent.StepStatus, ascii bool) string {
	marks := map[agent.StepStatus][2]string{
		agent.StepPending: {"○", "o"}, agent.StepWaiting: {"◆", "?"}, agent.StepRunning: {"▸", ">"},
		agent.StepCompleted: {"✓", "+"}, agent.StepFailed: {"✗", "x"}, agent.StepSkipped: {"—", "-"},
		agent.StepInDoubt: {"◆", "?"},
	}[status]
	if ascii {
		return marks[1]
	}
	return marks[0]
}

// stepWords says what there is to say of a step behind its title.
func stepWords(s *agent.StepState) string {
	words := ""
	switch s.Status {
	case agent.StepCompleted:
		words = "  " + (time.Duration(s.MS) * time.Millisecond).String()
	case agent.StepFailed, agent.StepSkipped:
		words = "  " + string(s.Status) + ": " + plain.OneLine(s.Error, 120)
	case agent.StepInDoubt:
		words = "  in doubt"
	case agent.StepRunning, agent.StepWaiting:
		words = "  " + string(s.Status)
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf("  attempt %d", s.Attempt)
	}
	return words
}
