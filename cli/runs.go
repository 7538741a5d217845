package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/store"
	"replan/cli/bug"
	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/plain"
	"replan/tui/telling"
)

// newRuns returns the command replan runs, which is /runs in the chat.
func newRuns(o *options) slash.Command {
	var all bool
	flags := func(f *pflag.FlagSet) {
		f.BoolVar(&all, "all", false, "include runs of plan create, which only saved a plan; with --on, all runs and not only the newest "+strconv.Itoa(listedRuns))
	}
	list := func(ctx context.Context, _ slash.Call) error { return o.runs().runsList(ctx, all) }
	return slash.Command{
		Name: "runs", Short: "List, show and remove runs",
		Long: "Every run leaves a journal, from which it can be shown, replayed and resumed. RUN is the id that\n" +
			"the screen shows, a unique beginning or end of the whole id, or last; without it, the newest run of this folder.",
		Flags: flags, Do: list,
		Below: []slash.Command{
			{Name: "list", Short: "List the runs, newest first", Flags: flags, Do: list},
			{
				Name: "show", Args: "[RUN]", Short: "Show a run and its progress", Check: atMostOne("RUN"),
				Examples: []string{"runs show", "runs show a61ec9"},
				Do:       func(ctx context.Context, c slash.Call) error { return o.runs().runsShow(ctx, c.Args) },
			},
			{
				Name: "follow", Args: "[RUN]", Short: "Follow a run of workers, and answer what it asks", Check: atMostOne("RUN"),
				Long: "follow shows a run that workers carry out (--on), as if it had been started here: on the full screen, or without a\n" +
					"terminal as lines or JSON from its beginning. Leaving it leaves the run to the workers.",
				Examples: []string{"runs follow a61ec9", "runs follow --plain"},
				Do:       func(ctx context.Context, c slash.Call) error { return o.followAway(ctx, c.Args) },
			},
			{
				Name: "stop", Args: "[RUN]", Short: "Stop a run of workers", Check: atMostOne("RUN"),
				Long: "stop stops a run of workers (--on), also one that no worker has begun, and waits for its end.",
				Do:   func(ctx context.Context, c slash.Call) error { return stopAway(ctx, o, c.Args) },
			},
			newRunsPrune(o),
		},
	}
}

// runsList implements replan runs list. It shows runs that successfully made a
// plan only with all, since their result is among the plans.
func (o runs) runsList(ctx context.Context, all bool) error {
	if o.elsewhere() {
		return o.withWorkers(func(with remote.Options) error {
			return o.listAway(ctx, with, all)
		})
	}
	list, broken, err := o.store.Summaries()
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	if !all {
		list = slices.DeleteFunc(list, func(s agent.Summary) bool { return s.PlanOnly && s.Status == event.StatusCompleted })
	}
	for _, err := range broken {
		_, _ = fmt.Fprintf(o.io.Err, "replan: %s\n", exit.OneLine(err.Error()))
	}
	if len(list) == 0 && len(broken) > 0 && o.Output != config.OutputJSON {
		return nil // there are runs
	}
	return o.printRuns(list)
}

// printRuns prints a list of runs.
func (o runs) printRuns(list []agent.Summary) error {
	if o.Output == config.OutputJSON {
		return o.printJSON(list)
	}
	if len(list) == 0 {
		return o.print("there are no runs yet\n")
	}
	return o.print(o.runsText(list, time.Now()))
}

// runsText lists runs: as a table for people, and as whole values for programs.
func (o runs) runsText(list []agent.Summary, now time.Time) string {
	if t := o.tty(); t != nil {
		return t.List(runsListing(t.Look, list, now))
	}
	if o.chatContext == nil {
		var rows [][]string
		for _, s := range list {
			status, reason := string(s.Status), string(s.Reason)
			if s.Undone {
				status = telling.RunWords(s)
			}
			if reason == "" { // programs look for the code, if there is one
				reason = s.Why.Line()
			}
			rows = append(rows, []string{
				s.Run, s.Started.Format(time.RFC3339), status, reason,
				fmt.Sprintf("%d/%d", s.Done, s.Steps), strconv.Itoa(s.Replans), config.First(s.Goal, s.Title).Line(),
			})
		}
		return tty.Tabs(rows)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, s := range list { // the chat is narrow, so the goal gets its own line
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%s\n  %s\n", s.Run, s.Started.Local().Format(timeShown), telling.RunState(s),
			s.Done, s.Steps, english.Count(s.Replans, "replan"), telling.Excerpt(config.First(s.Goal, s.Title), 60))
	}
	_ = table.Flush() // a builder takes everything
	return b.String()
}

// runsListing lists runs for a terminal.
func runsListing(l *draw.Look, list []agent.Summary, now time.Time) tty.Listing {
	out := tty.Listing{Heads: []string{"", "run", "goal", "steps", "started", "state"}, Wide: 2}
	for _, s := range list {
		sign, style := draw.RunGlyph(l, s)
		out.Rows = append(out.Rows, []tty.Cell{
			{Text: sign, Style: style},
			{Text: telling.ShortID(s.Run), Style: l.Accent},
			{Text: config.First(s.Goal, s.Title).Line(), Style: l.Text},
			{Text: fmt.Sprintf("%d/%d", s.Done, s.Steps), Style: l.Muted},
			{Text: telling.Ago(now.Sub(s.Started)), Style: l.Muted},
			{Text: telling.RunState(s), Style: style},
		})
	}
	return out
}

// lastRun is the word that means the newest run of the folder.
const lastRun = "last"

// runID returns the id of the run that an argument means: its id, its beginning
// or its end. None, and the word last, mean the newest run of this folder.
func (o runs) runID(args []string) (string, error) {
	if len(args) > 0 && args[0] != lastRun {
		id, err := o.store.FindRun(args[0])
		if err != nil {
			return "", o.unopened(err)
		}
		return id, nil
	}
	id, err := o.store.LastRun(o.Workspace, nil)
	if err != nil {
		return "", exit.Wrap("list the runs", err)
	}
	if id == "" {
		return "", exit.Usage("no run was started in this folder yet; %q lists those of all folders", o.named("runs"))
	}
	return id, nil
}

// foldedRun returns the run that an argument means, in its current state.
func (o runs) foldedRun(args []string) (agent.Run, error) {
	id, err := o.runID(args)
	if err != nil {
		return agent.Run{}, err
	}
	run, err := o.store.FoldRun(id)
	if err != nil {
		return run, o.unopened(err)
	}
	return run, nil
}

// runsShow implements replan runs show.
func (o runs) runsShow(ctx context.Context, args []string) error {
	if o.elsewhere() {
		run, summary, _, err := o.journalAway(ctx, args)
		if err != nil {
			return err
		}
		if summary.Status == agent.StatusWaiting || summary.Status == agent.StatusRunning {
			run.Result = nil // it ended for a worker that was stopped, or has been resumed
		}
		return o.printRun(&run, summary, run.Snapshot(run.Result == nil))
	}
	id, err := o.runID(args)
	if err != nil {
		return err
	}
	// Check first: a run that ends later has its end in the journal too.
	held, err := o.store.Locked(id)
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	run, err := o.store.FoldRun(id)
	if err != nil {
		return o.unopened(err)
	}
	summary, snapshot := store.Summary(&run, held), run.Snapshot(held)
	all, err := o.store.RunSummaries()
	if err != nil {
		return exit.Wrap("list the runs", err)
	}
	if at := slices.IndexFunc(all, func(s agent.Summary) bool { return s.Run == id }); at >= 0 {
		summary.Resumable = summary.Resumable && all[at].Resumable // a run that it started may be undone
	}
	return o.printRun(&run, summary, snapshot)
}

// printRun prints the current state of a run.
func (o runs) printRun(run *agent.Run, summary agent.Summary, snapshot agent.Snapshot) error {
	snapshot.Run, snapshot.Status = summary.Run, summary.Status // it may have no events
	if o.Output == config.OutputJSON {
		return o.printJSON(struct {
			agent.Snapshot
			Resumable bool `json:"resumable"`
			Undone    bool `json:"undone,omitempty"`
			Restored  int  `json:"restored,omitempty"`

			Why untrusted.Text `json:"why,omitempty"`
		}{snapshot, summary.Resumable, summary.Undone, summary.Restored, summary.Why})
	}
	if run.ID == "" {
		return o.printed(func(p *plain.Printer) { o.submittedText(p, summary) })
	}
	return o.printed(func(p *plain.Printer) { o.runText(p, run, summary, snapshot) })
}

// runText prints the current state of a run for people.
func (o runs) runText(p *plain.Printer, run *agent.Run, s agent.Summary, snapshot agent.Snapshot) {
	styles := p.Styles()
	state := plain.Ink{Text: telling.RunState(s), Style: styles.Running}
	if r := run.Result; r != nil {
		state = plain.Ink{Text: telling.RunEnd(run), Style: styles.Danger}
		switch {
		case s.Undone:
			state.Style = styles.Muted
		case r.Status == event.StatusCompleted:
			state.Style = styles.Success
		case r.Status == event.StatusCancelled:
			state.Style = styles.Warning
		}
	}
	p.Line("%s  %s", p.Strong(s.Run), state)
	used := run.Usage
	used.Steps = 0
	counts := telling.UsageParts(event.Result{Usage: used})
	if s.Steps > 0 {
		counts = slices.Insert(counts, 0, fmt.Sprintf("%d of %s done", s.Done, english.Count(s.Steps, "step")))
	}
	fields := []plain.Field{
		{Name: "goal", Value: s.Goal},
		{Name: "started", Value: s.Started.Local().Format(timeShown) + " in " + s.Workspace},
		{Name: "progress", Value: strings.Join(counts, ", ")},
	}
	if m := run.Measured(); m != nil {
		fields = append(fields, plain.Field{Name: "driven", Value: "with " + m.String()})
	}
	p.Fields(fields...)
	if s.Status == agent.StatusWaiting && s.Why != "" { // the first line has its beginning
		p.Line("")
		p.Line("%s", english.Capital(s.Why.Line()))
	}
	if len(run.Steps) > 0 {
		p.Line("")
	}
	why := ""
	if run.Result != nil {
		why = telling.FailureReason(run, *run.Result) // in the first line
	}
	for _, step := range run.Steps {
		sign := map[agent.StepStatus]plain.Ink{
			agent.StepCompleted: p.Signs.Done, agent.StepFailed: p.Signs.Failed, agent.StepInDoubt: p.Signs.Gate,
			agent.StepWaiting: p.Signs.Gate, agent.StepRunning: p.Signs.Started, agent.StepChecking: p.Signs.Started, agent.StepSkipped: p.Signs.Skipped,
		}[step.Status]
		if sign.Text == "" {
			sign = p.Signs.Pending
		}
		p.Line("%s %s. %s  %s", sign, step.Step.Index, step.Step.Title, p.Faint("[%s]%s", by(step.Step), stepWords(run, step, why)))
		for _, item := range telling.ItemsLeftOut(step) {
			p.Line("    %s %s  %s", item.Step.Index, telling.InnerTitle(item, step), p.Faint("%s", strings.TrimSpace(stepWords(run, item, why))))
		}
	}
	if run.Checks() {
		p.Line("")
		p.Line("%s:", telling.EvidenceWords(run))
		for _, e := range snapshot.Evidence {
			p.Line("  %s", telling.EvidenceLine(e))
		}
	}
	if len(snapshot.InDoubt) > 0 {
		p.Line("")
		p.Line("in doubt: %s; a resume asks%s", strings.Join(snapshot.InDoubt, ", "), o.outsideChat(", or takes --in-doubt rerun, done or abort"))
	}
	if r := run.Result; r != nil {
		if r.Answer != "" {
			p.Line("")
			p.Markdown(r.Answer.Visible())
		}
		if r.Error != "" && why == "" && r.Reason != event.ReasonInterrupted {
			p.Line("")
			p.Line("%s %s", p.Signs.Failed, r.Error)
		}
	}
	if s.Resumable {
		p.Line("")
		p.Line("resume it: %s %s%s", o.named("plan resume"), telling.ShortID(s.Run), o.onAgain())
	}
}

// stepWords returns the remarks after a step's title. An error that the outcome of the
// run names is left out.
func stepWords(run *agent.Run, s *agent.StepState, outcome string) string {
	words := ""
	switch s.Status {
	case agent.StepCompleted:
		words = "  " + (time.Duration(s.MS) * time.Millisecond).String()
		if s.Items != nil {
			words += "  " + telling.ItemsWords(s)
		}
	case agent.StepFailed, agent.StepSkipped:
		if s.NotTaken {
			return "  " + s.Error.Line()
		}
		words = "  " + string(s.Status)
		if outcome == "" || outcome != telling.ShortCause(s.Error) {
			words += ": " + telling.Excerpt(s.Error, 120)
		}
	case agent.StepInDoubt:
		words = "  in doubt"
	case agent.StepChecking:
		words = "  not checked yet"
	case agent.StepRunning, agent.StepWaiting:
		words = "  " + string(s.Status)
		if s.Items != nil {
			words += "  " + telling.ItemsWords(s)
		}
	}
	if state := telling.EvidenceOf(run, s); state != "" && s.Status == agent.StepCompleted {
		words += "  " + string(state)
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf("  attempt %d", s.Attempt)
	}
	return words
}

// keptRuns is the default number of ended runs that replan runs prune keeps.
const keptRuns = 50

func newRunsPrune(o *options) slash.Command {
	var keep int
	var older string
	var all, unfinished bool
	return slash.Command{
		Name: "prune", Short: "Remove old runs and their files, and list them",
		Long: "prune removes the journals of finished runs, with their large values and the files kept for undo:\n" +
			"such a run can no longer be undone. Journals of sessions\n" +
			"without runs go too. The newest " + strconv.Itoa(keptRuns) + " runs stay, or the number given by --keep; with --older-than only older\n" +
			"ones go. An active run is never removed, an unfinished one only with --unfinished.",
		Examples: []string{"runs prune", "runs prune --older-than 30d", "runs prune --all --output json"},
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&keep, "keep", keptRuns, "keep the newest `N` runs")
			f.StringVar(&older, "older-than", "", "only runs older than `AGE`, such as 30d, 2w or 12h")
			f.BoolVar(&all, "all", false, "every finished run")
			f.BoolVar(&unfinished, "unfinished", false, "unfinished runs too, unless they are active")
		},
		Do: func(_ context.Context, c slash.Call) error {
			p := store.Pruning{Keep: keep, Unfinished: unfinished, DryRun: o.DryRun}
			given := c.Flags.Changed
			if all && (given("keep") || given("older-than")) {
				return exit.Usage("--all removes every finished run: omit --keep and --older-than")
			}
			if keep < 0 {
				return exit.Usage("--keep cannot be below 0: it is %d", keep)
			}
			if older != "" {
				var err error
				if p.OlderThan, err = ParseAge(older); err != nil {
					return err
				}
			}
			if all || older != "" && !given("keep") {
				p.Keep = 0
			}
			return o.runs().runsPrune(p, time.Now())
		},
	}
}

// ParseAge parses the age of --older-than, such as 30d or 2w, or a Go duration.
func ParseAge(text string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseUint(number, 10, 31); err == nil && time.Duration(n) <= math.MaxInt64/length { //nolint:gosec // 31 bits
				return time.Duration(n) * length, nil //nolint:gosec // 31 bits
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, exit.Usage("--older-than takes a time such as 30d, 2w or 12h, not %q", text)
	}
	return d, nil
}

// runsPrune implements replan runs prune.
func (o runs) runsPrune(p store.Pruning, now time.Time) error {
	pruned, err := o.store.Prune(p, now)
	for _, unread := range pruned.Unread {
		_, _ = fmt.Fprintf(o.io.Err, "replan: not removed: %s\n", exit.OneLine(unread.Error()))
	}
	if err != nil {
		err = &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
	}
	if len(pruned.Files) == 0 && err != nil {
		return err
	}
	return errors.Join(o.deleted(pruned.Files), err)
}

func newBug(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "bug [RUN]",
		Short: "Pack a run for a report, without secrets",
		Long: "bug writes one file that only you can read: the journal of a run, the version, what doctor says and your\n" +
			"configuration, from which it takes known secrets. It sends nothing. Read the file before you pass it on: goals, file\n" +
			"contents and results of tools are in it. Without RUN, it packs the newest run of this folder.",
		Example: "  replan bug\n  replan bug a61ec9",
		Args:    positional(atMostOne("RUN")),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.runs().bug(cmd.Context(), args) },
	}
}

// bug implements replan bug.
func (o runs) bug(ctx context.Context, args []string) error {
	id, err := o.runID(args)
	if err != nil {
		return err
	}
	events, err := o.store.ReadRun(id)
	if err != nil {
		return o.unopened(err)
	}
	checks, err := o.examine(ctx, nil)
	if err != nil {
		return err
	}
	configuration, err := os.ReadFile(o.Dirs.ConfigFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Wrap("read the configuration", err)
	}
	contents := bug.Report{
		Version: fmt.Sprintf("replan %s %s, %s, %s/%s", Version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		Doctor:  checks.Text(0, func(s doctor.State) string { return string(s) }),
		Config:  configuration, Secrets: o.wiring().knownSecrets(), Events: events,
	}.Contents()
	dir := filepath.Join(o.store.Dirs.Data, "exports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return exit.Wrap("make the folder of exports", err)
	}
	path := filepath.Join(dir, "bug-"+id+"-"+time.Now().Format("20060102-150405.000")+".zip")
	if err := bug.Pack(path, contents); err != nil {
		return exit.Wrap("pack the run", err)
	}
	if o.Output == config.OutputJSON {
		return o.printJSON(struct {
			File     string        `json:"file"`
			Contents []bug.Content `json:"contents"`
		}{path, contents})
	}
	return o.printed(func(p *plain.Printer) {
		p.Line("%s", p.Strong(path))
		for _, c := range contents {
			p.Line("  %s: %s", c.Name, c.About)
		}
		p.Line("Known secrets are left out. Look through it before you pass it on; nothing was sent.")
	})
}
