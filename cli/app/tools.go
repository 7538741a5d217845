package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/server"

	"replan/cli/exit"
	"replan/internal/english"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/workspace"
)

// openTools starts the workspace's operators and the MCP servers.
func (s *Services) openTools(ctx context.Context, how Opening) error {
	gates, dirs, servers := s.app.Gates(), s.app.Folders().Dirs, s.app.Servers()
	cfg := servers.PoolConfig(how.Trust)
	cfg.Logger, cfg.LogDir = s.Logger(), dirs.Logs()
	cfg.Secrets = s.log.Secrets()
	cfg.Later = how.Screen // until the screen is drawn
	notes, err := s.work.open(ctx, how)
	s.notes = append(s.notes, notes...)
	if err != nil {
		return err
	}
	cfg.Box, cfg.WorkDir = s.work.contains(), s.work.folder()
	cfg.Watcher, cfg.Browse = s.Watcher(), Browser(s.app.IO().Getenv)
	cfg.Reread = func() ([]mcpconfig.Server, error) { return s.work.read(servers) }
	if cfg.Servers, err = cfg.Reread(); err != nil {
		return err
	}
	doubts, err := gates.CheckToolNames(len(cfg.Servers) > 0)
	if err != nil {
		return exit.Usage("%w", err)
	}
	s.notes = append(s.notes, doubts...)
	s.servers = cfg.Servers
	if s.app.ToolSettings().BuiltIn() {
		if s.own, err = workspace.New(workspace.Config{
			Dir:      cfg.WorkDir,
			Backups:  s.work.backups(),
			Private:  dirs.All(),
			Hidden:   gates.Hidden,
			SpillDir: dirs.Outputs(),
			Memory:   dirs.Memory(),
			Logger:   s.Logger(),
			Watcher:  cfg.Watcher,
			Box:      s.work.contains(),

			Servers: s.languages.servers(), MissingServer: s.languages.offer,
		}); err != nil {
			return exit.Usage("%w", err)
		}
		cfg.InProcess = map[string]func() *server.MCPServer{"workspace": s.own.Server}
	}
	if s.named, err = s.work.use(s.own); err != nil {
		return err
	}
	// Only Close ends the pool, after the running calls were stopped: servers
	// must hear of that before they exit.
	if s.tools, err = mcpclient.NewPool(context.WithoutCancel(ctx), cfg); err != nil {
		return exit.Usage("%w", err)
	}
	s.languages.ask(s.tools)
	if how.Trust == mcpclient.TrustAsk {
		return nil // the screen says what is missing, and opens all the same
	}
	if err := s.tools.CheckRequired(ctx); err != nil && ctx.Err() == nil {
		return &exit.Error{Status: exit.BadUsage, Code: "required_server", Err: err}
	}
	return ctx.Err()
}

// ServedOperators opens the workspace's operators for other programs. Their changes are
// recorded as those of a run.
func (s *Services) ServedOperators(run string) (*workspace.Operators, error) {
	in := s.app.Folders()
	own, err := workspace.New(workspace.Config{
		Dir:      in.Workspace,
		Backups:  s.app.Store().Runs.Dir,
		Private:  in.Dirs.All(),
		Hidden:   s.app.Gates().Hidden,
		Run:      run,
		SpillDir: in.Dirs.Outputs(),
		Logger:   s.Logger(),
		Watcher:  s.Watcher(),
		Box:      s.work.contains(),
		Servers:  s.languages.servers(),
	})
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return own, nil
}

// Ignored says what is ignored in the files of the servers, and which were left out.
// With a name it is about that server alone.
func (s *Services) Ignored(server string) (notes []string) {
	if s.tools == nil {
		return nil
	}
	other := func(name string) bool { return server != "" && name != server }
	for _, known := range s.servers {
		if !other(known.Name) {
			notes = append(notes, known.Notes...)
		}
	}
	if left := slices.DeleteFunc(s.tools.LeftOut(), other); len(left) > 0 {
		notes = append(notes, leftOut(left))
	}
	return notes
}

// leftOut says which servers of the project no user was present to allow.
func leftOut(names []string) string {
	are, them := "server "+names[0]+" of this project's .mcp.json is", "it"
	if len(names) > 1 {
		are, them = "servers "+english.List(names, "and")+" of this project's .mcp.json are", "them"
	}
	return fmt.Sprintf("the MCP %s left out: approve %s once on the screen, or use --mcp-config .mcp.json", are, them)
}
