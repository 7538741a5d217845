package app

import (
	"errors"
	"io/fs"
	"os"

	"github.com/adrg/xdg"

	"replan/cli/config"
	"replan/cli/exit"
	"replan/internal/redact"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/mcpclient/workcopy"
)

// Servers are the MCP servers that are configured, and the logins to them.
type Servers struct {
	tools   config.Tools
	folders config.Folders
	host    string // of the model
	getenv  func(string) string
	version string
}

// Servers returns the MCP servers.
func (a *App) Servers() Servers {
	return Servers{a.ToolSettings(), a.Folders(), a.Model().Host, a.IO().Getenv, a.Version()}
}

// Read returns the MCP servers of the flag, the user and the project. An error in the
// flag's file ends the program. Any other error fails only its server, or one that
// stands for the whole file.
//
// With a copy they work in it.
func (s Servers) Read(work *workcopy.Copy) ([]mcpconfig.Server, error) {
	servers, err := s.configured(work)
	if err != nil {
		return nil, err
	}
	return s.onlyWanted(servers)
}

// Secrets returns the secrets of the environment, and of all servers and hosts that are
// configured.
func (s Servers) Secrets() *redact.Secrets {
	known := &redact.Secrets{}
	known.AddEnviron(os.Environ())
	known.AddAddress(s.host)
	servers, _ := s.configured(nil) // a file that cannot be read is told where it is used
	for _, server := range servers {
		server.AddSecrets(known)
	}
	return known
}

// configured returns all servers of [Servers.Read], wanted or not.
func (s Servers) configured(work *workcopy.Copy) ([]mcpconfig.Server, error) {
	var servers []mcpconfig.Server
	if s.tools.MCPConfig != "" {
		read, err := mcpconfig.Read(s.tools.MCPConfig, mcpconfig.SourceFlag, work.Copied(s.folders.Workspace))
		if err != nil {
			return nil, exit.Usage("%w", err)
		}
		servers = read
	}
	add := func(read []mcpconfig.Server, path string, source mcpconfig.Source, err error) {
		if err != nil && len(read) == 0 && !errors.Is(err, fs.ErrNotExist) {
			read = []mcpconfig.Server{mcpconfig.Unusable(path, source, err)}
		}
		servers = append(servers, read...)
	}
	own := s.folders.Dirs.MCPServers()
	read, err := mcpconfig.Read(own, mcpconfig.SourceUser, work.Copied(s.folders.Workspace))
	add(read, own, mcpconfig.SourceUser, err)
	read, path, err := mcpconfig.ReadProject(s.folders.Workspace, xdg.Home, work.Copied)
	add(read, path, mcpconfig.SourceProject, err)
	return servers, nil
}

// onlyWanted filters the servers by --server; without it, all remain.
func (s Servers) onlyWanted(servers []mcpconfig.Server) ([]mcpconfig.Server, error) {
	if len(s.tools.Servers) == 0 {
		return servers, nil
	}
	known := map[string]bool{"workspace": true}
	var wanted []mcpconfig.Server
	for _, server := range servers {
		known[server.Name] = true
		if s.tools.Want(server.Name) {
			wanted = append(wanted, server)
		}
	}
	for _, name := range s.tools.Servers {
		if !known[name] {
			for _, server := range servers {
				if server.Problem != "" {
					return nil, exit.Usage("there is no MCP server %q, and %q cannot be used: %s", name, server.Name, server.Problem)
				}
			}
			return nil, exit.Usage("there is no MCP server %q: name one of your configuration, or workspace", name)
		}
	}
	return wanted, nil
}

// PoolConfig returns the settings that every pool of tool servers has. It names no server.
func (s Servers) PoolConfig(trust mcpclient.TrustMode) mcpclient.Config {
	dirs := s.folders.Dirs
	return mcpclient.Config{
		Dir: s.folders.Workspace, Trust: trust, TrustFile: dirs.Trust(), PinDir: dirs.Pins(), HandshakeFile: dirs.Handshakes(), Version: s.version, Logins: s.logins(),
		UserFile: dirs.MCPServers(), DisabledFile: dirs.DisabledServers(),
	}
}

// logins returns the logins to MCP servers, whose tokens are in the keyring of the
// system unless REPLAN_KEYRING is off.
func (s Servers) logins() *oauth.Store {
	if s.getenv("REPLAN_KEYRING") == "off" {
		return oauth.NewStore(s.folders.Dirs.Logins(), nil)
	}
	return s.AllLogins()
}

// AllLogins returns the logins to MCP servers, those in the keyring too if it is off.
func (s Servers) AllLogins() *oauth.Store {
	return oauth.NewStore(s.folders.Dirs.Logins(), oauth.SystemKeyring(s.getenv))
}
