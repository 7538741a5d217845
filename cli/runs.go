package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"replan/agent"
	"replan/agent/journal"
	"replan/planning"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// newRuns is replan runs and, in the chat, /runs.
func newRuns(o *options) *cobra.Command {
	list := func(*cobra.Command, []string) error { return o.runsList() }
	command := &cobra.Command{
		Use:   "runs",
		Short: "List, show and remove runs",
		Long: "Every run leaves a journal, from which it can be shown, replayed and resumed. RUN may be given as a\n" +
			"unique prefix.",
		Args: cobra.NoArgs, RunE: list,
	}
	command.AddCommand(
		&cobra.Command{Use: "list", Short: "List the runs, newest first", Args: cobra.NoArgs, RunE: list},
		&cobra.Command{
			Use: "show RUN", Short: "Show a run as far as it has come", Args: one("RUN"),
			RunE: func(_ *cobra.Command, args []string) error { return o.runsShow(args[0]) },
		},
		newRunsPrune(o),
	)
	return command
}

// summaries returns a line for each run, newest first. Journals that cannot be
// read are errors of their own and keep nobody from the others; one without a
// single event has never begun.
func (o *options) summaries() (list []agent.Summary, broken []error, err error) {
	entries, err := o.runs().List()
	if err != nil {
		return nil, nil, err
	}
	list = []agent.Summary{}
	for _, e := range entries {
		run, err := o.runs().Fold(e.ID)
		switch {
		case errors.Is(err, journal.ErrEmpty):
		case err != nil:
			broken = append(broken, err)
		default:
			list = append(list, run.Summary())
		}
	}
	return list, broken, nil
}

// runsList is replan runs list.
func (o *options) runsList() error {
	list, broken, err := o.summaries()
	if err != nil {
		return wrap("list the runs", err)
	}
	for _, err := range broken {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", oneLine(err.Error()))
	}
	if o.output == outputJSON {
		return o.printJSON(list)
	}
	if len(list) == 0 {
		return o.print("there are no runs yet\n")
	}
	table := tabwriter.NewWriter(o.io.Out, 0, 4, 2, ' ', 0)
	for _, s := range list {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", s.Run, s.Started.Local().Format(timeShown), standingOf(s),
			s.Done, s.Steps, count(s.Replans, "replan"), plain.OneLine(first(s.Goal, s.Title), 60))
	}
	return wrap("write to standard output", table.Flush())
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
	id, err := o.runs().Find(prefix)
	if err != nil {
		return agent.Run{}, unopened(err)
	}
	run, err := o.runs().Fold(id)
	if err != nil {
		return run, unopened(err)
	}
	return run, nil
}

// runsShow is replan runs show.
func (o *options) runsShow(prefix string) error {
	run, err := o.foldedRun(prefix)
	if err != nil {
		return err
	}
	standing := run.Standing()
	if going, err := o.goesOn(run.ID); err != nil {
		return err
	} else if !going {
		standing.InDoubt = append(standing.InDoubt, leftUnderWay(&run)...)
	}
	if o.output == outputJSON {
		return o.printJSON(standing)
	}
	return o.print(runText(&run, standing, o.ascii))
}

// goesOn reports whether somebody works on the run.
func (o *options) goesOn(id string) (bool, error) {
	entries, err := o.runs().List()
	if err != nil {
		return false, wrap("list the runs", err)
	}
	for _, e := range entries {
		if e.ID == id {
			return e.Locked, nil
		}
	}
	return false, nil
}

// leftUnderWay returns the steps that had started when the program of a run
// ended, and that may or may not have taken effect.
func leftUnderWay(run *agent.Run) []string {
	var indices []string
	for _, s := range run.Steps {
		if s.Status != agent.StepActive || s.Draft || s.Step.Executor != planning.ExecutorTool {
			continue
		}
		if tool, err := run.Catalogue.Find(s.Step.Tool); err != nil || !tool.ReadOnly {
			indices = append(indices, s.Step.Index)
		}
	}
	return indices
}

// runText tells a run as far as it has come.
func runText(run *agent.Run, standing agent.Standing, ascii bool) string {
	var b strings.Builder
	say := sayTo(&b)
	s := run.Summary()
	say("%s  %s", s.Run, standingOf(s))
	say("goal: %s", s.Goal)
	say("begun %s in %s", s.Started.Local().Format(timeShown), s.Workspace)
	used := run.Usage
	say("%s of %d done, %s, %s, %s", count(s.Done, "step"), s.Steps, count(used.ToolCalls, "tool call"),
		count(used.Replans, "replan"), count(used.PromptTokens+used.CompletionTokens, "token"))
	if len(run.Steps) > 0 {
		say("")
	}
	for _, step := range run.Steps {
		say("%s %s. %s  [%s]%s", stepMark(step.Status, ascii), step.Step.Index, step.Step.Title, by(step.Step), stepWords(step))
	}
	if len(standing.InDoubt) > 0 {
		say("")
		say("in doubt: %s; a resume asks, or takes --in-doubt rerun, done or abort", strings.Join(standing.InDoubt, ", "))
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
		say("go on with it: replan plan resume %s", s.Run)
	}
	return b.String()
}

// stepMark is the sign of a step that stands so.
func stepMark(status agent.StepStatus, ascii bool) string {
	marks := map[agent.StepStatus][2]string{
		agent.StepPending: {"○", "o"}, agent.StepWaiting: {"◆", "?"}, agent.StepActive: {"▸", ">"},
		agent.StepDone: {"✓", "+"}, agent.StepBroken: {"✗", "x"}, agent.StepLeftOut: {"—", "-"},
		agent.StepUncertain: {"◆", "?"},
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
	case agent.StepDone:
		words = "  " + (time.Duration(s.MS) * time.Millisecond).String()
	case agent.StepBroken, agent.StepLeftOut:
		words = "  " + string(s.Status) + ": " + plain.OneLine(s.Error, 120)
	case agent.StepUncertain:
		words = "  in doubt"
	case agent.StepActive, agent.StepWaiting:
		words = "  " + string(s.Status)
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf("  attempt %d", s.Attempt)
	}
	return words
}
