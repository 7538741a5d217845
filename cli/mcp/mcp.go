package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/help"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
)

// group is replan mcp with the commands below it.
type group struct {
	app   *app.App
	input *app.Input // the answers of the user; nil until the first question
}

// New returns the command replan mcp.
func New(a *app.App) *cobra.Command {
	g := &group{app: a}
	command := &cobra.Command{
		Use: "mcp", Short: "List, add, remove, test and import MCP servers; log in to them",
		Long: "mcp manages the MCP servers whose tools plans may use. Your own are in mcp.json in the configuration folder,\n" +
			"those of a project in its .mcp.json.",
		Example: "  replan mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\n  replan mcp import claude\n  replan mcp test files\n  replan mcp login linear",
		Args: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return nil
			}
			return exit.Usage("%w", args.Unknown(words[0], cmd.CommandPath(), help.Names(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return help.Print(a.IO().Out, cmd, false) },
	}
	help.Menu(command)
	command.AddCommand(g.newList(), g.newAdd(), g.newRemove(), g.newTest(), g.newImport(), g.newLogin(), g.newLogout())
	return command
}

// file returns the file to edit: the user's, or the project's.
func (g *group) file(project bool) string {
	if !project {
		return g.app.Folders().Dirs.MCPServers()
	}
	if path := mcpconfig.FindProject(g.app.Folders().Workspace, xdg.Home); path != "" {
		return path
	}
	return filepath.Join(g.app.Folders().Workspace, mcpconfig.ProjectFile)
}

// confirm asks for yes or no.
func (g *group) confirm(ctx context.Context, question string) (yes bool, err error) {
	if g.input == nil {
		if g.input, err = g.app.Input("read standard input"); err != nil {
			return false, err
		}
	}
	return g.input.Confirm(ctx, question)
}

// warn prints a line for the user on standard error.
func (g *group) warn(text string) { g.app.Out().Note("%s", untrusted.Line(text)) }

// failed returns the error for a command that failed; nil was reported.
func failed(err error) error {
	if err == nil {
		err = exit.ErrReported
	}
	return &exit.Error{Status: exit.Failed, Code: "failed", Err: err}
}

// pool returns the settings of a pool without servers, and what ends its box.
func (g *group) pool() (mcpclient.Config, func(), error) {
	box, err := g.app.Box()
	watch := g.app.NewWatch()
	cfg := g.app.Servers().PoolConfig(mcpclient.TrustNone)
	cfg.Box = box
	if watch != nil {
		cfg.Watcher = watch
	}
	return cfg, func() {
		if watch != nil {
			watch.Stop()
		}
		_ = box.Close()
	}, err
}

// named returns the server of a name in all files.
func (g *group) named(name string) (mcpconfig.Server, error) {
	servers, err := g.app.Servers().Read(nil)
	if err != nil {
		return mcpconfig.Server{}, err
	}
	var names []string
	for _, s := range mcpconfig.Chosen(servers) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := english.DidYouMean(name, names)
	if hint == "" {
		hint = "; replan mcp list names those that are there"
	}
	return mcpconfig.Server{}, exit.Usage("there is no MCP server %q%s", name, hint)
}

// written describes how a server is started or reached.
func written(s mcpconfig.Server) string {
	secrets, how := secretsOf(s), s.AsWritten()
	if how.URL != "" {
		return secrets.Address(how.URL)
	}
	return strings.Join(secrets.Command(how.Command), " ")
}

// secretsOf returns the secrets in the configuration of a server.
func secretsOf(s mcpconfig.Server) *redact.Secrets {
	secrets := &redact.Secrets{}
	s.AddSecrets(secrets)
	return secrets
}

// line joins words to a line of output.
func line(format string, args ...any) string {
	return untrusted.Line(fmt.Sprintf(format, args...)) + "\n"
}

// places returns where other programs keep their files.
func (g *group) places() mcpconfig.Places {
	settings, _ := os.UserConfigDir() // an error leaves it empty, so files there are not found
	return mcpconfig.Places{
		Workspace: g.app.Folders().Workspace, Home: xdg.Home, Config: settings, XDG: filepath.Join(xdg.Home, ".config"), Codex: os.Getenv("CODEX_HOME"),
	}
}
