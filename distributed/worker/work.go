package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/cli"
	"replan/distributed/checkout"
	"replan/distributed/host"
	"replan/distributed/records"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// working holds the options of replan-worker work.
type working struct {
	atOnce  int
	sources []string
	cache   string // folder of clones and checkouts
	verbose bool
	listen  string   // where health and metrics are served; "" is nowhere
	flags   []string // of replan, for the tools and the model
}

func (w *working) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&w.sources, "repository", nil, "take runs in the repository `URL`; a * at its end stands for any text (repeat for several)")
}

func (p *program) newWork() *cobra.Command {
	var how working
	const atOnce = 10
	cmd := &cobra.Command{
		Use: "work [flags] [-- FLAGS OF REPLAN]", Short: "Carry out runs until it is stopped",
		Long: "work takes runs from the database and carries them out with the MCP servers and models of this machine's\n" +
			"configuration of replan. If it is stopped or killed, other workers take its runs up.",
		Example: "  replan-worker work --on sqlite:runs.db\n  replan-worker work --on postgres://db/replan --repository 'https://git.example.org/*' -- --mcp-config servers.json",
		RunE: func(cmd *cobra.Command, flags []string) error {
			how.flags = flags
			return p.work(cmd.Context(), how)
		},
	}
	how.register(cmd)
	cmd.Flags().IntVar(&how.atOnce, "at-once", atOnce, "carry out at most `N` runs at once")
	cmd.Flags().StringVar(&how.cache, "cache", "", "keep clones and checkouts in `FOLDER` (default: the user's cache folder)")
	cmd.Flags().StringVar(&how.listen, "listen", "", "serve /healthz and /metrics at `[HOST:]PORT`; without a host only this machine reaches them")
	cmd.Flags().BoolVar(&how.verbose, "verbose", false, "log what the engine does")
	return cmd
}

// work implements replan-worker work.
func (p *program) work(ctx context.Context, how working) error {
	if how.atOnce < 1 {
		return fmt.Errorf("--at-once takes a number from 1, not %d", how.atOnce)
	}
	if how.cache == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find the cache folder; name one with --cache: %w", err)
		}
		how.cache = filepath.Join(cache, "replan-worker")
	}
	watch, err := openWatch(ctx, how.listen, p.std.Getenv, p.std.Err)
	if err != nil {
		return err
	}
	defer watch.close()
	d, err := records.Open(ctx, p.address())
	if err != nil {
		return err
	}
	offer, _, err := p.offer(ctx, how)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	level := slog.LevelWarn
	if how.verbose {
		level = slog.LevelInfo
	}
	h, err := host.Start(ctx, host.Config{
		Database: d, Worker: offer, AtOnce: how.atOnce, Logger: p.logger(level), Recorded: watch.record, Left: watch.leave,
		Open: func(ctx context.Context, task remote.Task) (host.Opened, error) { return p.openRun(ctx, d, task, how) },
	})
	if err != nil {
		return errors.Join(problemOf(err), d.Close())
	}
	_, _ = fmt.Fprintf(p.std.Err, "replan-worker: %s takes runs; it offers %s\n", offer.ID, offered(offer))
	watch.serve(h.Health)
	<-ctx.Done()
	_, _ = fmt.Fprintln(p.std.Err, "replan-worker: stopping; other workers take its runs up")
	if err := h.Close(); err != nil {
		return problemOf(err)
	}
	return nil
}

// offer finds out what this machine offers, and with which tools.
func (p *program) offer(ctx context.Context, how working) (w remote.Worker, tools plan.Catalog, err error) {
	for _, pattern := range how.sources {
		if err := records.CheckPattern(pattern); err != nil {
			return w, nil, err
		}
	}
	empty, err := os.MkdirTemp("", "replan-worker-")
	if err != nil {
		return w, nil, fmt.Errorf("create a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(empty)) }()
	cfg, end, err := cli.Hosted(ctx, p.in(empty), how.flags)
	if err != nil {
		return w, nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	tools = cfg.Tools.Ready(ctx).Accepted()
	w = remote.Worker{ID: newID(), Version: cli.Version, Sources: how.sources}
	for _, s := range cfg.Tools.Status() {
		if s.State == plan.ServerReady {
			w.Servers = append(w.Servers, s.Name)
		}
	}
	if lister, ok := cfg.Model.(runner.ModelLister); ok {
		models, err := lister.Models(ctx)
		if err != nil {
			return w, tools, ctx.Err() // without a model server it offers no models
		}
		for _, m := range models {
			w.Models = append(w.Models, m.Name)
		}
	}
	slices.Sort(w.Models)
	return w, tools, ctx.Err()
}

// offered says what a worker offers.
func offered(w remote.Worker) string {
	list := func(one string, names []string) string {
		switch len(names) {
		case 0:
			return "no " + one + "s"
		case 1:
			return "the " + one + " " + names[0]
		default:
			return "the " + one + "s " + strings.Join(names, ", ")
		}
	}
	return list("server", w.Servers) + "; " + list("model", w.Models) + "; " + list("repository pattern", w.Sources)
}

// toolsOf names the tools of a server, the first ones if there are many.
func toolsOf(server string, tools plan.Catalog) string {
	const most = 12
	var names []string
	for _, t := range tools {
		if t.Server == server {
			names = append(names, untrusted.Line(t.Name))
		}
	}
	return cmp.Or(english.Some(names, most, "tool"), "no tools")
}

// openRun prepares what a run works with.
func (p *program) openRun(ctx context.Context, d *records.Database, task remote.Task, how working) (host.Opened, error) {
	place, err := checkout.Open(ctx, how.cache, task.Source, task.Run, d)
	if err != nil {
		return host.Opened{}, err
	}
	cfg, end, err := cli.Hosted(ctx, p.in(place.Dir()), how.flags)
	if err != nil {
		return host.Opened{}, errors.Join(err, place.Close())
	}
	cfg.EndLeft = nil // the processes that a killed worker left are on its own machine, and end with it
	return host.Opened{
		Config: cfg, Snapshot: place.Snapshot,
		HandBack: func(ctx context.Context, end records.Outcome) (string, error) {
			return handBack(ctx, place, d, task, end)
		},
		Close: func() error { return errors.Join(end(), place.Close()) },
	}, nil
}

// handBack hands back what a run has changed, and says where it is.
func handBack(ctx context.Context, place *checkout.Checkout, d *records.Database, task remote.Task, end records.Outcome) (string, error) {
	if end.Status != event.StatusCompleted {
		return "", nil // a resume continues from the snapshot
	}
	title := task.Goal
	if task.Plan != nil {
		title = task.Plan.Title
	}
	changes, err := place.HandBack(ctx, fmt.Sprintf("%s\n\nRun: %s\n", title.Line(), task.Run))
	if err != nil {
		return "", err
	}
	words := ""
	switch {
	case changes.Branch != "":
		words = "the changes are on the branch " + changes.Branch + " of the repository"
	case changes.Patch != "":
		if err := d.SavePatch(ctx, task.Run, changes.Patch); err != nil {
			return "", err
		}
		words = "replan-worker patch " + task.Run + " prints the changes"
		if changes.Refused != "" {
			words += ", since the repository takes no branch: " + changes.Refused
		}
	}
	return words, nil
}

func (p *program) newPatch() *cobra.Command {
	return &cobra.Command{
		Use: "patch [RUN]", Short: "Print the changes of a run that no repository took, for git apply",
		Long: "patch prints the changes of a run that no repository took, for git apply. RUN is its id, or the beginning\n" +
			"or end of it; without it, it is the newest run.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 1 {
				return fmt.Errorf("%q is too much: name one run", args[1])
			}
			c, d, err := p.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			run, err := c.Find(cmd.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			patch, err := d.LoadPatch(cmd.Context(), run)
			if err != nil {
				return err
			}
			return p.print("%s", patch)
		},
	}
}

// in returns the input and output of a session in a folder that no user looks at.
func (p *program) in(dir string) cli.IO {
	std := p.std
	std.In, std.Terminal = strings.NewReader(""), false
	std.Getwd = func() (string, error) { return dir, nil }
	return std
}

// newID returns the id of this process as a worker.
func newID() string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	name, err := os.Hostname()
	if err != nil {
		name = "worker"
	}
	return name + "-" + hex.EncodeToString(random[:])
}

func (p *program) newDoctor() *cobra.Command {
	var how working
	cmd := &cobra.Command{
		Use: "doctor [flags] [-- FLAGS OF REPLAN]", Short: "Say what this machine offers, and which workers there are",
		RunE: func(cmd *cobra.Command, flags []string) error {
			how.flags = flags
			return p.doctor(cmd.Context(), how)
		},
	}
	how.register(cmd)
	return cmd
}

// doctor implements replan-worker doctor.
func (p *program) doctor(ctx context.Context, how working) (err error) {
	offer, tools, err := p.offer(ctx, how)
	if err != nil {
		return err
	}
	if err := p.print("this machine offers %s\n", offered(offer)); err != nil {
		return err
	}
	for _, server := range offer.Servers {
		if err := p.print("  %s: %s\n", server, toolsOf(server, tools)); err != nil {
			return err
		}
	}
	if p.address() == "" {
		return p.print("no database is named: use --on or REPLAN_ON\n")
	}
	d, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Check(ctx); err != nil {
		return err
	}
	workers, err := d.Workers(ctx)
	if err != nil {
		return err
	}
	if err := p.print("the database has %s\n", english.Count(len(workers), "worker")); err != nil {
		return err
	}
	for _, w := range workers {
		state := english.Count(w.Runs, "run")
		if !host.Alive(w) {
			state = fmt.Sprintf("silent for %d s", w.SilentMS/1000)
		}
		if err := p.print("  %s: %s; %s; version %s\n", w.ID, state, offered(w), w.Version); err != nil {
			return err
		}
	}
	return nil
}
