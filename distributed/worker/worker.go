package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent/remote"
	"replan/cli"
	"replan/distributed/client"
	"replan/distributed/records"
	"replan/internal/untrusted"
)

// Exit codes.
const (
	exitUsage       = 2
	exitFailed      = 1
	exitInterrupted = 130
)

// program is what the commands share.
type program struct {
	std cli.IO
	on  string // --on
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, args []string, std cli.IO) int {
	p := &program{std: std}
	root := &cobra.Command{
		Use:   "replan-worker",
		Short: "Carry out runs that replan submits to a database",
		Long: "replan-worker carries out runs that replan submits with --on. The database is PostgreSQL for many\n" +
			"machines, or SQLite for one. Every worker on it takes runs whose tools, model and repository it offers.",
		SilenceUsage: true, SilenceErrors: true, Version: cli.Version, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&p.on, "on", "", "`ADDRESS` of the database: postgres://HOST/DATABASE?schema=TEAM or sqlite:FILE (default $REPLAN_ON)")
	root.AddCommand(p.newWork(), p.newDoctor(), p.newQueues(), p.newPatch(), p.newPrune(), p.newAttach())
	root.SetArgs(args)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.SetFlagErrorFunc(wrongFlag)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	_, _ = fmt.Fprintln(std.Err, "replan-worker: "+untrusted.Line(err.Error()))
	if problem, ok := errors.AsType[*remote.Problem](err); ok && problem.Code == remote.CodeDatabase {
		return exitFailed
	}
	return exitUsage
}

// wrongFlag names the number that a flag takes, if it was given something else.
func wrongFlag(_ *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "int" {
		return fmt.Errorf("--%s takes a whole number, not %q", wrong.GetFlag().Name, wrong.GetValue())
	}
	return err
}

// noArgs refuses arguments of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is too much: %s takes flags only", args[0], cmd.CommandPath())
	}
	return nil
}

// address returns the address of the database.
func (p *program) address() string { return cmp.Or(p.on, p.std.Getenv("REPLAN_ON")) }

// open opens the database that a worker has prepared.
func (p *program) open(ctx context.Context) (*records.Database, error) {
	return records.OpenExisting(ctx, p.address())
}

// connect opens that database and a client of it, which closes both.
func (p *program) connect(ctx context.Context) (*client.Client, *records.Database, error) {
	d, err := p.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := client.Open(ctx, d, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return c, d, nil
}

// problemOf returns an error of the database as a problem, unless it is one.
func problemOf(err error) *remote.Problem {
	if found, ok := errors.AsType[*remote.Problem](err); ok {
		return found
	}
	return &remote.Problem{Code: remote.CodeDatabase, Text: untrusted.Text(err.Error())}
}

// logger logs to standard error.
func (p *program) logger(level slog.Level) *slog.Logger {
	return slog.New(withoutUsual{slog.NewTextHandler(p.std.Err, &slog.HandlerOptions{Level: level})})
}

// withoutUsual leaves out lines of DBOS about events that are usual here, or that
// replan-worker reports in its own words.
type withoutUsual struct{ slog.Handler }

// usual are the beginnings of these lines. No command came in time, an error is stored as
// its text, or a run went back to its queue. Two more: the database cannot be prepared,
// and there are workers of another version, as in an upgrade.
var usual = []string{"Recv() timeout reached", "workflow error type cannot be gob-encoded", "Workflow outcome was not recorded", "failed to create system database", "Current application version is not the latest"}

// Handle handles a record.
func (h withoutUsual) Handle(ctx context.Context, r slog.Record) error {
	if slices.ContainsFunc(usual, func(text string) bool { return strings.HasPrefix(r.Message, text) }) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns the handler with attributes.
func (h withoutUsual) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutUsual{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns the handler with a group.
func (h withoutUsual) WithGroup(name string) slog.Handler {
	return withoutUsual{h.Handler.WithGroup(name)}
}

// print writes to standard output.
func (p *program) print(format string, args ...any) error {
	_, err := io.WriteString(p.std.Out, fmt.Sprintf(format, args...))
	return err
}
