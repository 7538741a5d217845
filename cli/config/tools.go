package config

import (
	"slices"

	"github.com/spf13/pflag"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/code/lsp"
)

// Tools says which tools and servers are used.
type Tools struct {
	MCPConfig string   // the file of --mcp-config; "" is none
	Servers   []string // named by --server; none means all
	Languages lsp.Section

	noWorkspace bool
}

// register declares the flags of tools.
func (t *Tools) register(f *pflag.FlagSet) {
	f.StringVar(&t.MCPConfig, "mcp-config", "", "start the MCP servers in `FILE` without asking")
	f.StringArrayVar(&t.Servers, "server", nil, "use only the MCP server `NAME`; repeat for more")
	f.BoolVar(&t.noWorkspace, "no-workspace-tools", false, "leave out the built-in tools for this folder")
}

// read reads which language servers are used.
func (t *Tools) read(from sources) { t.Languages = from.file.LSP }

// Want reports whether --server admits the named server.
func (t Tools) Want(name string) bool {
	return len(t.Servers) == 0 || slices.Contains(t.Servers, name)
}

// BuiltIn reports whether the built-in tools of the workspace are used.
func (t Tools) BuiltIn() bool { return !t.noWorkspace && t.Want(builtin.ServerName) }
