package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"replan/cli/config"
	"replan/cli/doctor"
	"replan/cli/help"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/oauth"
)

// Host is the command line around the commands. Its functions may be called once
// the settings were read.
type Host struct {
	In        io.Reader // standard input
	Getenv    func(string) string
	AllLogins func() *oauth.Store // those in the keyring too, whatever REPLAN_KEYRING says
	Options   *config.Options
	Terminal  func() *tty.Terminal                                     // standard output; nil is no terminal
	Print     func(text string) error                                  // to standard output
	JSON      func(value any) error                                    // to standard output, on one line
	Warn      func(text string)                                        // to standard error
	Sign      func(doctor.State) string                                // of an outcome
	Asks      func() bool                                              // somebody can answer
	Confirm   func(ctx context.Context, question string) (bool, error) // asks for yes or no
	Servers   func() ([]mcpconfig.Server, error)                       // those of all files
	Usage     func(format string, args ...any) error                   // the error for a wrong command line
	Failed    func(err error) error                                    // the error for a command that failed; nil was reported
	Unknown   func(cmd *cobra.Command, word string) error              // the error for an unknown command
	Help      func(cmd *cobra.Command) error
	Pool      func() (cfg mcpclient.Config, stop func(), err error) // the settings of a pool without servers
}

// New returns the command replan mcp.
func New(h Host) *cobra.Command {
	command := &cobra.Command{
		Use: "mcp", Short: "List, add, remove, test and import MCP servers; log in to them",
		Long: "mcp manages the MCP servers whose tools plans may use. Your own are in mcp.json in the configuration folder,\n" +
			"those of a project in its .mcp.json.",
		Example: "  replan mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\n  replan mcp import claude\n  replan mcp test files\n  replan mcp login linear",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return h.Unknown(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return h.Help(cmd) },
	}
	help.Menu(command)
	command.AddCommand(h.newList(), h.newAdd(), h.newRemove(), h.newTest(), h.newImport(), h.newLogin(), h.newLogout())
	return command
}

// file returns the file to edit: the user's, or the project's.
func (h Host) file(project bool) string {
	if !project {
		return h.Options.Dirs.MCPServers()
	}
	if path := mcpconfig.FindProject(h.Options.Workspace, xdg.Home); path != "" {
		return path
	}
	return filepath.Join(h.Options.Workspace, mcpconfig.ProjectFile)
}

// json reports whether the output is JSON.
func (h Host) json() bool { return h.Options.Output == config.OutputJSON }

// one checks that a command got one argument.
func (h Host) one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || strings.TrimSpace(args[0]) == "":
			return h.Usage("name one: %s %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return h.Usage("%s takes one %s, got %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// none checks that a command got no argument.
func (h Host) none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return h.Usage("%s takes no argument, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// named returns the server of a name in all files.
func (h Host) named(name string) (mcpconfig.Server, error) {
	servers, err := h.Servers()
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
	return mcpconfig.Server{}, h.Usage("there is no MCP server %q%s", name, hint)
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
func (h Host) places() mcpconfig.Places {
	settings, _ := os.UserConfigDir() // an error leaves it empty, so files there are not found
	return mcpconfig.Places{
		Workspace: h.Options.Workspace, Home: xdg.Home, Config: settings, XDG: filepath.Join(xdg.Home, ".config"), Codex: os.Getenv("CODEX_HOME"),
	}
}
