package workspace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/box"
	"replan/mcpclient/builtin"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/data"
	"replan/mcpclient/workspace/files"
	"replan/mcpclient/workspace/git"
	"replan/mcpclient/workspace/memory"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/process"
	"replan/mcpclient/workspace/tests"
	"replan/mcpclient/workspace/tree"
	"replan/mcpclient/workspace/undo"
)

const (
	serverVersion    = "1.0.0"
	defaultMaxOutput = 256 << 10
)

// Config says where the operators work and what they may use.
type Config struct {
	// Dir is the folder that the operators work in and never leave.
	Dir string
	// Backups is the folder of the runs' journals, outside Dir. Before a change, the
	// old content is copied to its folder RUN.undo for [Operators.Undo]. The call
	// names the run, see [builtin.MetaRun]. Empty keeps nothing.
	Backups string
	// Private lists the program's own folders: its configuration, its servers and its
	// runs. If they are in Dir, no operator reads or changes them.
	Private []string
	// Hidden are patterns of files and folders in Dir that no operator reads, lists
	// or changes. See [tree.Glob].
	Hidden []string
	// Run is the run of every call, whatever the call says; for servers with one
	// client. If it is empty, calls that name no run cannot be undone.
	Run string
	// Environ is the environment of children, as NAME=VALUE; names that look like
	// secrets are removed. nil means the environment of this process.
	Environ []string
	// MaxOutput limits the bytes of text that a call returns or keeps in memory;
	// 0 means 256 KB.
	MaxOutput int
	// SpillDir is the folder for the whole output of children that wrote more than
	// MaxOutput. New removes files older than a week. If it is empty, only the
	// beginning and the end are kept.
	SpillDir string
	// Memory is the file of the user's own facts and preferences, Markdown that
	// the user may edit. It is created, with its folder, by the first fact. If it is
	// empty, there are no memory tools.
	Memory string
	// TestMargin is how long before the time limit of a call the go command stops its
	// tests. The limit includes the time to build them. 0 means a tenth of the limit.
	TestMargin time.Duration
	// Servers configures the language servers; only Commands, Trusted and Allow are
	// read. nil means none.
	Servers *lsp.Config
	// MissingServer, unless nil, is called with a language server that is not
	// installed, at each call that needs it.
	MissingServer func(p lsp.Program)
	// Logger logs what the operators do; nil logs nothing.
	Logger *slog.Logger
	// Watcher ends the children if this program can no longer do so; may be nil.
	Watcher child.Watcher
	// Box contains the children; nil contains nothing.
	Box *box.Box
}

// Operators are the built-in tools over one folder. Several goroutines may use them:
// reads run at once, changes one after the other.
type Operators struct {
	tree      *tree.Tree
	index     *tree.Index // of the surveyor
	surveyor  *surveyor
	paths     *pathJudge
	changes   *change.Writer
	code      *code.Operators
	data      *data.Operators
	servers   *lsp.Servers // nil without any
	git       *git.Operators
	files     *files.Operators
	process   *process.Operators
	tests     *tests.Operators
	undo      *undo.Log
	maxOutput int
	runner    *child.Runner
	memory    *memory.Operators // nil without one
	log       *slog.Logger
	mcp       func() *server.MCPServer
	calls     *calls
}

// New opens the folder. It fails if Dir is not a folder that can be opened, or Run is
// not a valid id. Call Close in the end.
func New(cfg Config) (*Operators, error) {
	folder, err := tree.Open(cfg.Dir, cfg.Private, cfg.Hidden)
	if err != nil {
		return nil, err
	}
	o := &Operators{
		tree:      folder,
		index:     tree.NewIndex(folder),
		maxOutput: cfg.MaxOutput,
		log:       cfg.Logger,
	}
	if o.maxOutput <= 0 {
		o.maxOutput = defaultMaxOutput
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	o.runner = &child.Runner{
		Environ: environ(cfg.Environ, folder.Dir), MaxOutput: o.maxOutput, SpillDir: cfg.SpillDir, Logger: o.log, Watcher: cfg.Watcher, Box: cfg.Box,
	}
	folder.SetEnviron(o.runner.Environ)
	if cfg.Memory != "" {
		if o.memory, err = memory.New(cfg.Memory, o.log); err != nil {
			return nil, errors.Join(err, folder.Close())
		}
	}
	if o.undo, err = undo.New(folder, undo.Config{Dir: cfg.Backups, Run: cfg.Run, Logger: o.log}); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	if cfg.Servers != nil {
		servers := *cfg.Servers
		servers.Dir, servers.Root, servers.Environ, servers.Watcher, servers.Box, servers.Logger = folder.Dir, folder.Root, o.runner.Environ, cfg.Watcher, cfg.Box, o.log
		if o.servers, err = lsp.New(servers); err != nil {
			return nil, errors.Join(err, folder.Close())
		}
	}
	checks := &diagnoser{servers: o.servers, log: o.log}
	o.changes = change.NewWriter(folder, o.undo, checks.diagnose, cfg.Backups, o.log, o.maxOutput)
	o.process = process.New(folder, o.runner)
	o.tests = tests.New(tests.Config{Tree: folder, Runner: o.runner, Logger: o.log, Margin: cfg.TestMargin})
	o.files = files.New(folder, o.changes, o.maxOutput)
	o.data = data.New(folder, o.changes)
	o.paths = &pathJudge{tree: folder}
	o.git = git.New(git.Config{Tree: folder, Runner: o.runner, Turn: o.changes.Turn, MaxOutput: o.maxOutput, Logger: o.log})
	o.surveyor = &surveyor{tree: folder, index: o.index, git: o.git, maxOutput: o.maxOutput, log: o.log}
	o.code = code.New(code.Config{
		Tree: folder, Changes: o.changes, Environ: o.runner.Environ, MaxOutput: o.maxOutput, Touching: o.git.Touching, Servers: o.servers, MissingServer: cfg.MissingServer, Logger: o.log,
	})
	if err := child.ForgetSpills(cfg.SpillDir, time.Now().Add(-child.SpillKept), child.SpillsKept); err != nil {
		o.log.Warn("old output stays", "folder", cfg.SpillDir, "error", err)
	}
	o.calls = newCalls(o.log)
	o.mcp = sync.OnceValue(o.newServer)
	return o, nil
}

// newServer returns the MCP server of the operators. Making the schemas of their
// arguments and results takes some milliseconds.
func (o *Operators) newServer() *server.MCPServer {
	s := server.NewMCPServer(builtin.ServerName, serverVersion,
		server.WithToolCapabilities(false), server.WithRecovery())
	for _, tool := range o.operators() {
		s.AddTool(tool.Shown(), o.handler(tool))
	}
	return s
}

// environ returns the environment of children: no secrets, no prompts, no colors, and no
// programs of the workspace in PATH.
func environ(inherited []string, workspace string) []string {
	if inherited == nil {
		inherited = os.Environ()
	}
	inherited, _ = child.OutsidePath(inherited, workspace)
	return child.Environ(inherited, map[string]string{"GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1", "TERM": "dumb"})
}

// Server returns the MCP server that offers the operators, over any transport. The
// first call makes it; later calls return the same.
func (o *Operators) Server() *server.MCPServer { return o.mcp() }

// Close cancels running calls, waits until their child processes have ended, and
// closes the folder. Later calls are refused. A call that does not react in time is
// abandoned: without the folder it can change nothing.
func (o *Operators) Close() error {
	if !o.calls.close() {
		return nil
	}
	o.servers.Close()
	o.index.Close()
	return o.tree.Close()
}

// handler runs the calls of a tool so that Close can cancel them.
func (o *Operators) handler(tool op.Tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, done, err := o.calls.begin(ctx)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil // nothing was begun
		}
		defer done()
		if refused := o.paths.unjudged(req); refused != nil {
			return refused, nil
		}
		return tool.Handle(ctx, req, o.log)
	}
}
