package runs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"replan/agent"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/config"
	"replan/cli/host"
	"replan/cli/slash"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/tui/draw"
	"replan/tui/wording"
)

// New returns the command replan runs, which is /runs in the chat.
func New(a *app.App) slash.Command {
	o := listOptions{app: a}
	flags := func(f *pflag.FlagSet) {
		f.StringVar(&o.sort, "sort", Orders()[0], "list in `ORDER` "+english.List(Orders(), "or"))
		f.IntVar(&o.limit, "limit", 0, "list at most `N` runs, 0 for all")
		f.BoolVar(&o.all, "all", false, "include runs of plan create, which only saved a plan; with --on, all runs and not only the newest "+strconv.Itoa(host.ListedRuns))
	}
	list := func(ctx context.Context, _ slash.Call) error { return o.run(ctx) }
	return slash.Command{
		Name: "runs", Short: "List, show and remove runs",
		Long: "Every run leaves a journal, from which it can be shown, replayed and resumed. RUN is the id that\n" +
			"the screen shows, a unique beginning or end of the whole id, or last; without it, the newest run of this folder.",
		Flags: flags, Do: list,
		Below: []slash.Command{
			{Name: "list", Short: "List the runs, newest first unless --sort says otherwise", Flags: flags, Do: list},
			{
				Name: "show", Args: "[RUN]", Short: "Show a run and its progress", Check: args.AtMostOne("RUN"),
				Examples: []string{"runs show", "runs show a61ec9"},
				Do:       func(ctx context.Context, c slash.Call) error { return showOptions{a}.run(ctx, c.Args) },
			},
			{
				Name: "follow", Args: "[RUN]", Short: "Follow a run of workers, and answer what it asks", Check: args.AtMostOne("RUN"),
				Long: "follow shows a run that workers carry out (--on), as if it had been started here: on the full screen, or without a\n" +
					"terminal as lines or JSON from its beginning. Leaving it leaves the run to the workers.",
				Examples: []string{"runs follow a61ec9", "runs follow --plain"},
				Do:       func(ctx context.Context, c slash.Call) error { return host.Workers(a).Follow(ctx, c.Args) },
			},
			{
				Name: "stop", Args: "[RUN]", Short: "Stop a run of workers", Check: args.AtMostOne("RUN"),
				Long: "stop stops a run of workers (--on), also one that no worker has begun, and waits for its end.",
				Do:   func(ctx context.Context, c slash.Call) error { return host.Workers(a).Stop(ctx, c.Args) },
			},
			newPrune(a),
		},
	}
}

// listOptions are the options of replan runs list.
type listOptions struct {
	app *app.App
	all bool

	sort  string // one of Orders
	limit int    // 0 is all
}

// run prints the runs.
func (o listOptions) run(ctx context.Context) error {
	out := o.app.Out()
	list, err := host.Of(o.app).List(ctx, o.all)
	if err != nil || list == nil {
		return err
	}
	if list, err = ordered(list, o.sort, o.limit); err != nil {
		return err
	}
	if out.JSON() {
		return out.PrintJSON(list)
	}
	if len(list) == 0 {
		return out.Print("there are no runs yet\n")
	}
	return out.Print(runsText(o.app, list, time.Now()))
}

// runsText lists runs: as a table for people, and as whole values for programs.
func runsText(a *app.App, list []agent.Summary, now time.Time) string {
	if t := a.Out().Terminal(); t != nil {
		return t.List(runsListing(t.Styles, list, now))
	}
	if a.Chat() == nil {
		var rows [][]string
		for _, s := range list {
			status, reason := string(s.Status), string(s.Reason)
			if s.Undone {
				status = wording.RunWords(s)
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
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%s\n  %s\n", s.Run, s.Started.Local().Format(app.TimeShown), wording.RunState(s),
			s.Done, s.Steps, english.Count(s.Replans, "replan"), wording.Excerpt(config.First(s.Goal, s.Title), 60))
	}
	_ = table.Flush() // a builder takes everything
	return b.String()
}

// runsListing lists runs for a terminal.
func runsListing(l *draw.Styles, list []agent.Summary, now time.Time) tty.Listing {
	out := tty.Listing{Heads: []string{"", "run", "goal", "steps", "started", "state"}, Wide: 2}
	for _, s := range list {
		sign, style := draw.RunGlyph(l, s)
		out.Rows = append(out.Rows, []tty.Cell{
			{Text: sign, Style: style},
			{Text: wording.ShortID(s.Run), Style: l.Accent},
			{Text: config.First(s.Goal, s.Title).Line(), Style: l.Text},
			{Text: fmt.Sprintf("%d/%d", s.Done, s.Steps), Style: l.Muted},
			{Text: wording.Ago(now.Sub(s.Started)), Style: l.Muted},
			{Text: wording.RunState(s), Style: style},
		})
	}
	return out
}
