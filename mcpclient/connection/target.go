package connection

import (
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"replan/internal/redact"
	"replan/mcpclient/box"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
)

// Settings are what all connections of this program share.
type Settings struct {
	Version   string        // of this program, for servers
	WorkDir   string        // where servers work
	Environ   []string      // from which children inherit
	LogDir    string        // of the log files of servers; empty means the log of the program
	ProbeWait time.Duration // how long a process may take to answer server/discover before initialize goes out too

	Secrets *redact.Secrets // which log files leave out
	Wire    func(Message)   // receives each message, from any goroutine; may be nil
	Logins  *oauth.Store    // logins to HTTP servers; nil means none
	Watcher child.Watcher   // kills the children if this program no longer can; may be nil
	Box     *box.Box        // contains the children; nil contains nothing
}

// Target is the server that a connection is opened to.
type Target struct {
	Server       config.Server
	Builtin      func() *server.MCPServer // makes the server if it is in this process; else nil
	StartTimeout time.Duration            // until its tools are listed
	Mentioned    *Mentions                // resources whose changes are reported; nil for a server in this process
	Log          *slog.Logger

	// The following are called from any goroutine. They may be nil for a server in this
	// process.
	LineWritten     func()           // after each line in its log
	ResourceChanged func(uri string) // when a resource has changed that the user mentioned
	PromptsListed   func()           // when its prompts have been listed
}

// link is an opened transport, and what belongs to it.
type link struct {
	transport transport.Interface
	tap       *tap
	probe     *probe
	options   []client.ClientOption
	process   *process         // nil if the server is not a child process
	login     *oauth.Transport // authorizes requests; nil if the server has no logins
	release   func()           // called after the client is closed; may be nil
}

// listRequest holds the request for a new list of tools.
type listRequest chan struct{}

func (r listRequest) request() {
	select {
	case r <- struct{}{}:
	default:
	}
}
