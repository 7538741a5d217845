package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/remote"
	"replan/distributed/records"
)

// limits are the options of replan-worker queues.
type limits struct {
	needs             remote.Task
	atOnce, perWorker int
	rate              string
	tool              string
}

func (p *program) newQueues() *cobra.Command {
	var how limits
	cmd := &cobra.Command{
		Use: "queues", Short: "List the queues of runs, or set the limits of one",
		Long: "queues lists what waits and runs. Runs that need the same share a queue. With a limit it sets that of the\n" +
			"queue of runs with the given needs; 0 removes a limit. With --tool, the limit is on the calls of that tool.",
		Example: "  replan-worker queues\n  replan-worker queues --server github --at-once 2 --rate 100/1h\n  replan-worker queues --tool github:create_issue --at-once 2",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			changed := cmd.Flags().Changed
			return p.queues(cmd.Context(), how, changed)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&how.needs.Needs.Servers, "server", nil, "the queue of runs that need the MCP server `NAME` (repeat for several)")
	f.StringVar(&how.needs.Needs.Model, "model", "", "the queue of runs that need the model `NAME`")
	f.StringVar(&how.needs.Source.Repository, "repository", "", "the queue of runs in the repository `URL`")
	f.IntVar(&how.atOnce, "at-once", 0, "let at most `N` of its runs be under way on all workers")
	f.IntVar(&how.perWorker, "per-worker", 0, "let at most `N` of its runs be under way on one worker")
	f.StringVar(&how.tool, "tool", "", "with --at-once: let at most N calls of the tool `SERVER:TOOL` be under way on all workers; SERVER:* is all its tools")
	f.StringVar(&how.rate, "rate", "", "start at most `N/TIME` of its runs, such as 100/1h; 0 for any number")
	return cmd
}

// queues implements replan-worker queues.
func (p *program) queues(ctx context.Context, how limits, changed func(flag string) bool) (err error) {
	if how.atOnce < 0 || how.perWorker < 0 {
		return errors.New("--at-once and --per-worker take a number from 0")
	}
	if n := how.atOnce; n > 0 && how.perWorker > n {
		return fmt.Errorf("--per-worker %d is more than --at-once %d", how.perWorker, n)
	}
	if err := how.checkTool(changed); err != nil {
		return err
	}
	c, d, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	set := records.Limits{}
	if changed("tool") {
		if err := d.LimitTool(ctx, how.tool, how.atOnce); err != nil {
			return err
		}
	} else if changed("at-once") {
		set.AtOnce = &how.atOnce
	}
	if changed("per-worker") {
		set.PerWorker = &how.perWorker
	}
	if changed("rate") {
		if set.Rate, set.Period, err = parseRate(how.rate); err != nil {
			return err
		}
	}
	if set != (records.Limits{}) {
		if err := c.SetLimits(ctx, how.needs, set); err != nil {
			return err
		}
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return err
	}
	if len(queues) == 0 {
		if err := p.print("there are no queues yet: the first run makes one\n"); err != nil {
			return err
		}
	}
	for _, q := range queues {
		if err := p.print("%s: %d waiting, %d under way%s\n", q.Needs(), q.Waiting, q.Running, q.Limits()); err != nil {
			return err
		}
	}
	return p.toolLimits(ctx, d)
}

// checkTool refuses --tool with what does not go with it.
func (l limits) checkTool(changed func(flag string) bool) error {
	if !changed("tool") {
		return nil
	}
	for _, other := range []string{"server", "model", "repository", "per-worker", "rate"} {
		if changed(other) {
			return fmt.Errorf("--%s is about runs: leave it out with --tool", other)
		}
	}
	if !changed("at-once") {
		return errors.New("--tool needs --at-once N")
	}
	return records.CheckTool(l.tool)
}

// toolLimits prints the limits of tools.
func (p *program) toolLimits(ctx context.Context, d *records.Database) error {
	tools, err := d.ToolLimits(ctx)
	if err != nil {
		return err
	}
	for _, l := range tools {
		if err := p.print("calls of %s: %d under way or next, at most %d at once\n", l.Tool, l.UnderWay, l.AtOnce); err != nil {
			return err
		}
	}
	return nil
}

// parseRate reads a number of runs in a time.
func parseRate(text string) (rate *int, period time.Duration, err error) {
	number, in, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	if err == nil && n == 0 && in == "" {
		return &n, 0, nil
	}
	if err == nil {
		period, err = time.ParseDuration(in)
	}
	if err != nil || n < 1 || period <= 0 {
		return nil, 0, fmt.Errorf("--rate takes a number and a time such as 100/1h, not %q", text)
	}
	return &n, period, nil
}
