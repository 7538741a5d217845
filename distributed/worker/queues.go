package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent/remote"
	"replan/distributed/client"
	"replan/distributed/records"
)

// limits are the options of replan-worker queues.
type limits struct {
	needs             remote.Task
	atOnce, perWorker int
	rate              string
}

func (p *program) newQueues() *cobra.Command {
	var how limits
	cmd := &cobra.Command{
		Use: "queues", Short: "List the queues of runs, or set the limits of one",
		Long: "queues lists what waits and runs. Runs that need the same share a queue. With a limit it sets that of the\n" +
			"queue of runs with the given needs; 0 removes a limit.",
		Example: "  replan-worker queues\n  replan-worker queues --server github --at-once 2 --rate 100/1h",
		Args:    cobra.NoArgs,
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
	d, err := p.open(ctx)
	if err != nil {
		return err
	}
	c, err := client.Open(ctx, d, slog.New(slog.DiscardHandler))
	if err != nil {
		return errors.Join(err, d.Close())
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	set := records.Limits{}
	if changed("at-once") {
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
		return p.print("there are no queues yet: the first run makes one\n")
	}
	for _, q := range queues {
		if err := p.print("%s: %d waiting, %d under way%s\n", q.Needs(), q.Waiting, q.Running, q.Limits()); err != nil {
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
