package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/muesli/cancelreader"
	"github.com/spf13/cobra"

	"replan/cli/stdio"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/undo"
)

func newServe(o *options) *cobra.Command {
	var files bool
	command := &cobra.Command{
		Use:   "serve --workspace",
		Short: "Serve the workspace's tools to another MCP client",
		Long: "serve --workspace is an MCP server on standard input and output with the built-in tools for this\n" +
			"folder: fs, code, test, vcs and proc. It ends at the end of input. No gate protects its\n" +
			"calls: the client must ask its user before a tool that is not marked as read-only. Changes by the file\n" +
			"tools can be undone with replan undo and the id that serve prints to standard error when it ends.",
		Example: "  replan serve --workspace\n  {\"mcpServers\": {\"files\": {\"command\": \"replan\", \"args\": [\"serve\", \"--workspace\"]}}}   (in .mcp.json)",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !files {
				return usage("only the workspace's tools can be served: use replan serve --workspace")
			}
			return o.serveWorkspace(cmd.Context())
		},
	}
	command.Flags().BoolVar(&files, "workspace", false, "serve the built-in tools for this folder")
	return command
}

// serveWorkspace serves the workspace's operators until the input ends or the
// program must stop. It records the changes of its calls like those of a run;
// nobody may undo them while the server runs.
func (o *options) serveWorkspace(ctx context.Context) (err error) {
	w := &services{watch: o.wiring().newWatch()}
	defer func() { err = errors.Join(err, wrap("end in order", w.close())) }()
	if w.logger, err = w.openLog(o.store.Dirs.Logs()); err != nil {
		return err
	}
	id := newID(time.Now())
	if err := os.MkdirAll(o.store.Runs.Dir, 0o700); err != nil {
		return wrap("create the folder of runs; choose another with --data-dir", err)
	}
	held, err := o.store.Runs.Hold(id)
	if err != nil {
		return wrap("record the changes", err)
	}
	defer func() { err = errors.Join(err, wrap("end in order", o.letGo(id, held.Release))) }()
	if w.own, err = workspace.New(workspace.Config{
		Dir:      o.Workspace,
		Backups:  o.store.Runs.Dir,
		Private:  o.store.Dirs.All(),
		Run:      id,
		SpillDir: o.store.Dirs.Outputs(),
		Logger:   w.logger,
		Watcher:  w.watcher(),
		Servers:  o.wiring().languageServers(w),
	}); err != nil {
		return usage("%w", err)
	}
	in, err := cancelreader.NewReader(o.io.In)
	if err != nil { // a file, for which nobody has to wait
		in, err = cancelreader.NewReader(struct{ io.Reader }{o.io.In})
	}
	if err != nil {
		return wrap("read standard input", err)
	}
	defer func() { _ = in.Close() }() // nothing remains to be read
	defer context.AfterFunc(ctx, func() { in.Cancel() })()
	served := server.NewStdioServer(w.own.Server())
	served.SetErrorLogger(slog.NewLogLogger(w.logger.Handler(), slog.LevelWarn))
	pipe := stdio.New(ctx, in, o.io.Out)
	if err := served.Listen(ctx, pipe, pipe.Out()); err != nil && ctx.Err() == nil {
		return wrap("serve the workspace", err)
	}
	return nil
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
