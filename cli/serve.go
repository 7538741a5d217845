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

	"replan/agent/policy"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/serve"
	"replan/cli/stdio"
	"replan/mcpclient"
	"replan/mcpclient/workspace/undo"
)

// serveOptions are the options of replan serve.
type serveOptions struct {
	app       *app.App
	workspace bool
	plans     bool
	http      string // the address; "" serves on standard input and output
	remote    bool
	tokenFile string
}

func newServe(a *app.App) *cobra.Command {
	o := serveOptions{app: a}
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
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 1 && o.http == serve.DefaultAddress { // --http ADDR, as well as --http=ADDR
				o.http = given[0]
				return nil
			}
			return args.None(cmd, given)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := command.Flags()
	f.BoolVar(&o.workspace, "workspace", false, "serve the built-in tools for this folder")
	f.BoolVar(&o.plans, "plans", false, "serve plans and runs beside --workspace")
	f.StringVar(&o.http, "http", "", "serve over HTTP at `ADDR`, a port or host:port; without a value "+serve.DefaultAddress)
	f.Lookup("http").NoOptDefVal = serve.DefaultAddress
	f.BoolVar(&o.remote, "allow-remote", false, "let --http use addresses that other machines can reach")
	f.StringVar(&o.tokenFile, "token-file", "", "read the token for --http from `FILE`")
	return command
}

// run serves until the input ends or the program must stop.
func (o serveOptions) run(ctx context.Context) (err error) {
	execution := o.app.Execution()
	switch {
	case execution.DryRun:
		return exit.Usage("replan serve cannot be a dry run: omit --dry-run")
	case execution.Review:
		return exit.Usage("nobody can review plans here: omit --review; clients see a plan with plan_create")
	case o.http == "" && (o.remote || o.tokenFile != ""):
		return exit.Usage("--allow-remote and --token-file are for --http: add it")
	}
	listening, err := o.listen(ctx)
	if err != nil {
		return err
	}
	defer listening.close()
	o.plans = o.plans || !o.workspace
	var w *app.Services
	if o.plans {
		w, err = o.app.Prepare(ctx, app.Opening{Trust: mcpclient.TrustNone})
	} else {
		w, err = o.app.OpenWorkspace()
	}
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, exit.Wrap("end in order", w.Close()))
		o.app.Out().Notes(w.ExitNotes())
	}()
	o.app.Out().Notes(slices.Concat(w.Notes(), w.Ignored("")))
	cfg := serve.Config{Version: o.app.Version(), Logger: w.Logger()}
	if o.plans {
		cfg.Backend = backend{o.app, w}
		if approve := o.app.Gates().Approve; approve != policy.ApproveAsk {
			cfg.Answered = "--approve " + string(approve)
		}
	}
	if o.workspace {
		var end func() error
		if cfg.Tools, end, err = o.operators(w); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, exit.Wrap("end in order", end())) }()
	}
	s := serve.New(cfg)
	defer s.Close()
	if listening.Listener != nil {
		_, _ = fmt.Fprint(o.app.IO().Err, listening.words())
		return exit.Wrap("serve", s.ServeHTTP(ctx, listening, listening.access))
	}
	return o.stdio(ctx, s, w.Logger())
}

// stdio serves on standard input and output until the input ends or the
// program must stop. The end of the input stops the runs.
func (o serveOptions) stdio(ctx context.Context, s *serve.Server, logger *slog.Logger) error {
	in, err := cancelreader.NewReader(o.app.IO().In)
	if err != nil { // a file, which needs no waiting
		in, err = cancelreader.NewReader(struct{ io.Reader }{o.app.IO().In})
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
	pipe := stdio.New(ctx, in, o.app.IO().Out, s.Stop)
	if err := served.Listen(ctx, pipe, pipe.Out()); err != nil && ctx.Err() == nil {
		return exit.Wrap("serve on standard input and output", err)
	}
	return nil
}

// operators returns the workspace's operators as tools. The changes of their
// calls are recorded like those of a run, and cannot be undone before end.
func (o serveOptions) operators(w *app.Services) (tools []mcpserver.ServerTool, end func() error, err error) {
	id := app.NewID(time.Now())
	if err := os.MkdirAll(o.app.Store().Runs.Dir, 0o700); err != nil {
		return nil, nil, exit.Wrap("create the folder of runs; choose another with --data-dir", err)
	}
	held, err := o.app.Store().Runs.Hold(id)
	if err != nil {
		return nil, nil, exit.Wrap("record the changes", err)
	}
	own, err := w.ServedOperators(id)
	if err != nil {
		return nil, nil, errors.Join(err, o.letGo(id, held.Release))
	}
	offered := own.Server().ListTools()
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		tools = append(tools, *offered[name])
	}
	return tools, func() error { return errors.Join(own.Close(), o.letGo(id, held.Release)) }, nil
}

// letGo unlocks a server's recorded changes and prints how to undo them. A server
// without changes leaves nothing behind.
func (o serveOptions) letGo(id string, release func() error) error {
	if err := release(); err != nil {
		return err
	}
	if undo.Changed(o.app.Store().Runs.Dir, id) {
		o.app.Out().Note("undo the changes with replan undo %s", id)
		return nil
	}
	_, err := o.app.Store().Runs.Delete(id)
	return err
}

// listener is an open address for HTTP, and who may use it.
type listener struct {
	net.Listener // nil without HTTP
	access       serve.Access
	known        bool // the user gave the token, so it is not shown
}

// listen opens the address of --http, if there is one.
func (o serveOptions) listen(ctx context.Context) (l listener, err error) {
	if o.http == "" {
		return l, nil
	}
	l.access = serve.Access{Remote: o.remote, Token: strings.TrimSpace(o.app.IO().Getenv("REPLAN_SERVE_TOKEN"))}
	if o.tokenFile != "" {
		data, err := os.ReadFile(o.tokenFile)
		if err != nil {
			return l, exit.Usage("read the token: %w", err)
		}
		l.access.Token = strings.TrimSpace(string(data))
	}
	const short = 16 // characters: too many to try out
	l.known = l.access.Token != "" || o.tokenFile != ""
	switch {
	case !l.known:
		l.access.Token = rand.Text()
	case len(l.access.Token) < short || strings.ContainsAny(l.access.Token, " \t\r\n"):
		return l, exit.Usage("the token of --token-file or REPLAN_SERVE_TOKEN must be one word of at least %d characters; openssl rand -hex 16 makes one", short)
	}
	if name, err := os.Hostname(); err == nil {
		l.access.Names = append(l.access.Names, name)
	}
	if host, _, err := net.SplitHostPort(o.http); err == nil {
		l.access.Names = append(l.access.Names, host)
	}
	if l.Listener, err = serve.Listen(ctx, o.http, l.access); err != nil {
		return l, exit.Usage("%w", err)
	}
	return l, nil
}

// words tells the user how to connect.
func (l listener) words() string {
	text := "replan: serving MCP over HTTP at http://" + l.Addr().String() + serve.Path + "\n"
	if !l.known {
		text += "replan: clients send the header Authorization: Bearer " + l.access.Token + "\n"
	}
	return text
}

// close closes the address, if it is open.
func (l listener) close() {
	if l.Listener != nil {
		_ = l.Close() // usually the server has closed it
	}
}
