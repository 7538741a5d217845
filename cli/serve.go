package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/muesli/cancelreader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/exit"
	"replan/cli/serve"
	"replan/cli/stdio"
	"replan/mcpclient"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/telling"
)

// serving holds the options of replan serve.
type serving struct {
	workspace bool
	plans     bool
	http      string // the address; "" serves on standard input and output
	remote    bool
	tokenFile string
}

func newServe(o *options) *cobra.Command {
	var how serving
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve plans, or the workspace's tools, to other MCP clients",
		Long: "serve is an MCP server on standard input and output, or over HTTP, for this folder. It offers plan_create,\n" +
			"plan_execute, plan_create_and_execute, runs_list, run_show and run_resume. A step that asks is put to\n" +
			"the user by clients with elicitation; for others it is denied, unless --approve or --allow lets it pass.\n" +
			"The end of a call or of the connection stops its run, which can be resumed.\n\n" +
			"With --workspace it offers the built-in tools instead: fs, code, test, vcs and proc; with --plans too, both. No gate protects\n" +
			"these tools: the client must ask its user before a tool that is not marked as read-only. Changes by the file\n" +
			"tools can be undone with replan undo and the id that serve prints to standard error when it ends.\n\n" +
			"Over HTTP every request needs the header Authorization: Bearer TOKEN. The token is that of --token-file or\n" +
			"REPLAN_SERVE_TOKEN; otherwise a new one is printed to standard error.",
		Example: "  replan serve\n  replan serve --http --approve safe\n  replan serve --workspace --plans\n  {\"mcpServers\": {\"replan\": {\"command\": \"replan\", \"args\": [\"serve\"]}}}   (in .mcp.json)",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && how.http == serve.DefaultAddress { // --http ADDR, as well as --http=ADDR
				how.http = args[0]
				return nil
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return o.serve(cmd.Context(), how) },
	}
	f := command.Flags()
	f.BoolVar(&how.workspace, "workspace", false, "serve the built-in tools for this folder")
	f.BoolVar(&how.plans, "plans", false, "serve plans and runs beside --workspace")
	f.StringVar(&how.http, "http", "", "serve over HTTP at `ADDR`, a port or host:port; without a value "+serve.DefaultAddress)
	f.Lookup("http").NoOptDefVal = serve.DefaultAddress
	f.BoolVar(&how.remote, "allow-remote", false, "let --http use addresses that other machines can reach")
	f.StringVar(&how.tokenFile, "token-file", "", "read the token for --http from `FILE`")
	return command
}

// serve implements replan serve.
func (o *options) serve(ctx context.Context, how serving) (err error) {
	switch {
	case o.DryRun:
		return exit.Usage("replan serve cannot be a dry run: omit --dry-run")
	case o.Review:
		return exit.Usage("nobody can review plans here: omit --review; clients see a plan with plan_create")
	case how.http == "" && (how.remote || how.tokenFile != ""):
		return exit.Usage("--allow-remote and --token-file are for --http: add it")
	}
	listening, err := o.listen(ctx, how)
	if err != nil {
		return err
	}
	defer listening.close()
	how.plans = how.plans || !how.workspace
	w := &services{}
	if how.plans {
		w, err = o.wiring().prepare(ctx, opening{trust: mcpclient.TrustNone})
	} else {
		w.watch = o.wiring().newWatch()
		if w.logger, err = w.openLog(o.store.Dirs.Logs()); err == nil {
			err = w.makeBox(o)
		}
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, exit.Wrap("end in order", w.close()))
		o.printExitNote(w)
	}()
	o.printNotes(slices.Concat(w.notes, w.ignored("")))
	cfg := serve.Config{Version: Version, Logger: w.logger}
	if how.plans {
		cfg.Backend = backend{o, w}
		if o.Approve != policy.ApproveAsk {
			cfg.Answered = "--approve " + string(o.Approve)
		}
	}
	if how.workspace {
		var end func() error
		if cfg.Tools, end, err = o.servedOperators(w); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, exit.Wrap("end in order", end())) }()
	}
	s := serve.New(cfg)
	defer s.Close()
	if listening.Listener != nil {
		_, _ = fmt.Fprint(o.io.Err, listening.words())
		return exit.Wrap("serve", s.ServeHTTP(ctx, listening, listening.access))
	}
	return o.serveStdio(ctx, s, w.logger)
}

// serveStdio serves on standard input and output until the input ends or the
// program must stop. The end of the input stops the runs.
func (o *options) serveStdio(ctx context.Context, s *serve.Server, logger *slog.Logger) error {
	in, err := cancelreader.NewReader(o.io.In)
	if err != nil { // a file, for which nobody has to wait
		in, err = cancelreader.NewReader(struct{ io.Reader }{o.io.In})
	}
	if err != nil {
		return exit.Wrap("read standard input", err)
	}
	defer func() { _ = in.Close() }() // nothing remains to be read
	defer context.AfterFunc(ctx, func() { in.Cancel() })()
	served := mcpserver.NewStdioServer(s.MCP())
	// A call at a gate waits for its user, so others must not wait for it.
	const workers, queue = 100, 10_000
	for _, set := range []mcpserver.StdioOption{
		mcpserver.WithErrorLogger(slog.NewLogLogger(logger.Handler(), slog.LevelWarn)),
		mcpserver.WithWorkerPoolSize(workers), mcpserver.WithQueueSize(queue),
	} {
		set(served)
	}
	pipe := stdio.New(ctx, in, o.io.Out, s.Stop)
	if err := served.Listen(ctx, pipe, pipe.Out()); err != nil && ctx.Err() == nil {
		return exit.Wrap("serve on standard input and output", err)
	}
	return nil
}

// listening is an open address for HTTP, and who may use it.
type listening struct {
	net.Listener // nil without HTTP
	access       serve.Access
	known        bool // the user gave the token, so it is not shown
}

// listen opens the address of --http, if there is one.
func (o *options) listen(ctx context.Context, how serving) (l listening, err error) {
	if how.http == "" {
		return l, nil
	}
	l.access = serve.Access{Remote: how.remote, Token: strings.TrimSpace(o.io.Getenv("REPLAN_SERVE_TOKEN"))}
	if how.tokenFile != "" {
		data, err := os.ReadFile(how.tokenFile)
		if err != nil {
			return l, exit.Usage("read the token: %w", err)
		}
		l.access.Token = strings.TrimSpace(string(data))
	}
	const short = 16 // characters, which nobody can try out
	l.known = l.access.Token != "" || how.tokenFile != ""
	switch {
	case !l.known:
		l.access.Token = rand.Text()
	case len(l.access.Token) < short || strings.ContainsAny(l.access.Token, " \t\r\n"):
		return l, exit.Usage("the token of --token-file or REPLAN_SERVE_TOKEN must be one word of at least %d characters; openssl rand -hex 16 makes one", short)
	}
	if name, err := os.Hostname(); err == nil {
		l.access.Names = append(l.access.Names, name)
	}
	if host, _, err := net.SplitHostPort(how.http); err == nil {
		l.access.Names = append(l.access.Names, host)
	}
	if l.Listener, err = serve.Listen(ctx, how.http, l.access); err != nil {
		return l, exit.Usage("%w", err)
	}
	return l, nil
}

// words tells the user how to connect.
func (l listening) words() string {
	text := "replan: serving MCP over HTTP at http://" + l.Addr().String() + serve.Path + "\n"
	if !l.known {
		text += "replan: clients send the header Authorization: Bearer " + l.access.Token + "\n"
	}
	return text
}

// close closes the address, if it is open.
func (l listening) close() {
	if l.Listener != nil {
		_ = l.Close() // usually the server has closed it
	}
}

// backend is what the served plan tools work with.
type backend struct {
	*options
	services *services
}

// Begin starts a session for one call. Its words come from another program: they
// name no files, and allow no tests.
func (b backend) Begin(ctx context.Context) (serve.Session, error) {
	cfg := b.wiring().sessionConfig(b.services)
	cfg.Delegated, cfg.InputHelp = true, nil
	return runner.NewSession(ctx, cfg)
}

// Hosted opens what runs of another host work with in a folder, which std names: the
// configuration of their sessions, with the tools and the model that replan has there.
// The flags are those of replan, such as --mcp-config. The caller closes it after its
// sessions.
func Hosted(ctx context.Context, std IO, flags []string) (cfg runner.Config, end func() error, err error) {
	o := &options{io: std}
	set := pflag.NewFlagSet("replan", pflag.ContinueOnError)
	o.Register(set)
	if err := set.Parse(flags); err != nil {
		return cfg, nil, exit.Usage("%w", wrongFlag(set, err, ""))
	}
	if set.NArg() > 0 {
		return cfg, nil, exit.Usage("%q is no flag of replan", set.Arg(0))
	}
	if err := o.complete(set); err != nil {
		return cfg, nil, err
	}
	w, err := o.wiring().prepare(ctx, opening{trust: mcpclient.TrustNone})
	if err != nil {
		return cfg, nil, err
	}
	cfg = o.wiring().sessionConfig(w)
	cfg.InputHelp = nil
	return cfg, w.close, nil
}

// Execute returns the command that runs a stored plan, which it checks.
func (b backend) Execute(ctx context.Context, id string) (session.Execute, error) {
	stored, err := b.store.LoadPlan(id)
	if err != nil {
		return session.Execute{}, fmt.Errorf("the plan cannot be read: use the id that %s returned: %w", prompt.PlanCreate, err)
	}
	data, err := plan.EncodeJSON(stored)
	if err != nil {
		return session.Execute{}, fmt.Errorf("read the plan %s: %w", stored.ID, err)
	}
	v, err := b.plans().check(ctx, b.services, namedPlan{data: data, stored: true}, nil)
	if err != nil {
		return session.Execute{}, err
	}
	if len(v.faults) > 0 {
		return session.Execute{}, fmt.Errorf("the plan %s cannot be run: %w", stored.ID, plan.FaultError(v.faults))
	}
	return b.plans().execute(v.plan, planRun{}), nil
}

// Runs lists the runs of this folder. Runs that only made a plan are left out, as
// in replan runs.
func (b backend) Runs() ([]agent.Summary, error) {
	all, broken, err := b.store.Summaries()
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	for _, err := range broken {
		b.services.logger.Warn("a run cannot be listed", "error", err)
	}
	return slices.DeleteFunc(all, func(s agent.Summary) bool {
		return s.PlanOnly && s.Status == event.StatusCompleted || !runner.SameFolder(s.Workspace, b.Workspace)
	}), nil
}

// Run returns a run of this folder.
func (b backend) Run(id string) (run agent.Run, live bool, err error) {
	if id, err = b.store.FindRun(id); err != nil {
		return run, false, fmt.Errorf("%w: use an id of runs_list", err)
	}
	// Check first: a run that ends later has its end in the journal too.
	if live, err = b.store.Locked(id); err != nil {
		return run, false, fmt.Errorf("find out whether the run %s is active: %w", telling.ShortID(id), err)
	}
	if run, err = b.store.FoldRun(id); err != nil {
		return run, false, fmt.Errorf("read the run %s: %w", telling.ShortID(id), err)
	}
	if !runner.SameFolder(run.Workspace, b.Workspace) {
		return run, false, fmt.Errorf("the run %s belongs to another folder: use an id of runs_list", telling.ShortID(id))
	}
	return run, live, nil
}

// servedOperators returns the workspace's operators as tools. The changes of their
// calls are recorded like those of a run; nobody may undo them before end.
func (o *options) servedOperators(w *services) (tools []mcpserver.ServerTool, end func() error, err error) {
	id := newID(time.Now())
	if err := os.MkdirAll(o.store.Runs.Dir, 0o700); err != nil {
		return nil, nil, exit.Wrap("create the folder of runs; choose another with --data-dir", err)
	}
	held, err := o.store.Runs.Hold(id)
	if err != nil {
		return nil, nil, exit.Wrap("record the changes", err)
	}
	own, err := workspace.New(workspace.Config{
		Dir:      o.Workspace,
		Backups:  o.store.Runs.Dir,
		Private:  o.store.Dirs.All(),
		Hidden:   o.Hidden,
		Run:      id,
		SpillDir: o.store.Dirs.Outputs(),
		Logger:   w.logger,
		Watcher:  w.watcher(),
		Box:      w.box,
		Servers:  o.wiring().languageServers(w),
	})
	if err != nil {
		return nil, nil, errors.Join(exit.Usage("%w", err), o.letGo(id, held.Release))
	}
	offered := own.Server().ListTools()
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		tools = append(tools, *offered[name])
	}
	return tools, func() error { return errors.Join(own.Close(), o.letGo(id, held.Release)) }, nil
}

// letGo unlocks a server's recorded changes and prints how to undo them. A server
// without changes leaves nothing behind.
func (o *options) letGo(id string, release func() error) error {
	if err := release(); err != nil {
		return err
	}
	if undo.Changed(o.store.Runs.Dir, id) {
		_, _ = fmt.Fprintf(o.io.Err, "replan: undo the changes with replan undo %s\n", id)
		return nil
	}
	_, err := o.store.Runs.Delete(id)
	return err
}
