package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/mcpclient/handshake"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// Settings are what all servers of a pool share.
type Settings struct {
	connection.Settings
	StartTimeout time.Duration   // of servers without a limit of their own
	CallTimeout  time.Duration   // of calls and servers without a limit of their own
	RestartWaits []time.Duration // before each attempt to restart a lost server

	Logger     *slog.Logger
	Pins       *trust.Pins
	Handshakes *handshake.Known
	Signal     *Signal                   // hears of each change
	Note       func(server, text string) // tells the user something about a server

	Life context.Context // ends all servers
	Work *sync.WaitGroup // counts what runs for servers; the owner waits for it after Life has ended
}

// definition is what a server is. It does not change.
type definition struct {
	settings Settings
	config   config.Server
	builtin  func() *server.MCPServer // nil if the server is not in this process
}

// isBadEntry reports whether the server cannot be started with its configuration.
func (d definition) isBadEntry() bool {
	return d.builtin == nil && (d.config.Problem != "" || d.config.Command == "" && d.config.URL == "" || config.CheckName(d.config.Name) != nil)
}

// startTimeout returns how long the server may take from its start until its tools are
// listed.
func (d definition) startTimeout() time.Duration {
	return connection.StartTimeout(d.config, d.settings.StartTimeout)
}

// describeTransport fills in how the server is reached, as its file writes it.
func (d definition) describeTransport(out *plan.ServerStatus) {
	how := d.config.AsWritten()
	switch {
	case d.builtin != nil:
		out.Source, out.Transport = "built-in", "built-in"
	case d.config.SSE:
		out.Transport, out.URL = "sse", d.settings.Secrets.Address(how.URL)
	case how.URL != "":
		out.Transport, out.URL = "http", d.settings.Secrets.Address(how.URL)
	case len(how.Command) == 0: // its address is unknown
	default:
		out.Transport, out.Command = "stdio", d.settings.Secrets.Command(how.Command)
	}
}
