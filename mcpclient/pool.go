package mcpclient

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"replan/internal/redact"
	"replan/mcpclient/box"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/mcpclient/handshake"
	"replan/mcpclient/oauth"
	"replan/mcpclient/server"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// Defaults for zero fields of Config.
const (
	DefaultStartTimeout = 20 * time.Second
	DefaultCallTimeout  = 10 * time.Minute
)

// Message is one message between this program and a server, as it was sent.
type Message = connection.Message

// TrustMode says how to treat a project's own servers, and other programs, that the
// user has not allowed.
type TrustMode = trust.Mode

// The trust modes.
const (
	TrustAsk        = trust.Ask        // they wait for Pool.Answer
	TrustAskServers = trust.AskServers // servers do; other programs, which come up during a run, are left out
	TrustNone       = trust.None       // all are left out, since no user is there to ask
)

// Config configures a pool.
type Config struct {
	Servers   []config.Server                        // of two with the same name, the flag's wins, then the user's
	Reread    func() ([]config.Server, error)        // reads the servers again, see Pool.Reload; may be nil
	InProcess map[string]func() *mcpserver.MCPServer // built-in servers by name, made when they start; the caller closes them
	Dir       string                                 // the workspace; empty means the current directory
	WorkDir   string                                 // where servers work; empty means Dir
	TrustFile string                                 // stores which servers the user allowed; empty stores nothing
	PinDir    string                                 // stores what servers say of their tools; empty compares within this pool only
	Trust     TrustMode

	// StartTimeout limits the start of a server until its tools are listed, unless
	// its configuration says otherwise; 0 means DefaultStartTimeout. Launchers that
	// may download the server, such as npx, have at least a minute.
	StartTimeout time.Duration
	CallTimeout  time.Duration // per call, unless the call or its server has a limit; 0 means DefaultCallTimeout

	Logger        *slog.Logger // nil logs nothing
	Environ       []string     // environment from which children inherit; nil means os.Environ()
	LogDir        string       // for the standard error of each server; empty means the Logger
	HandshakeFile string       // remembers servers with which the usual handshake fails; "" remembers none
	UserFile      string       // the user's file of servers, which Disable edits; may be empty
	DisabledFile  string       // stores which other servers the user has disabled, and in which workspace; "" stores nothing
	Version       string       // of this program, for servers

	// Later keeps servers from starting until Start is called, or until a caller
	// waits for one.
	Later bool
	// ProbeWait is how long a program may take to answer server/discover before initialize
	// goes out too; 0 means three seconds.
	ProbeWait time.Duration

	// RestartWaits are the waits before each attempt to restart a lost server; nil
	// means 1, 2, 4, 8 and 16 seconds. After the last attempt it stays lost.
	RestartWaits []time.Duration

	Secrets *redact.Secrets // takes note of those of the servers, for the other outputs of the program; may be nil

	Wire func(Message) // receives each message of the servers that are not built in, from any goroutine; may be nil

	Logins *oauth.Store               // logins to HTTP servers; nil means none
	Browse func(address string) error // opens an address in the user's browser; nil opens none

	Watcher child.Watcher // kills the children if this program no longer can; may be nil
	Box     *box.Box      // contains the children; nil contains nothing
}

// withDefaults returns the configuration with defaults for its zero fields.
func (c Config) withDefaults() (Config, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("resolving the workspace %s: %w", c.Dir, err)
	}
	// Permissions apply to a workspace and to links to it alike.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	c.Dir, c.WorkDir = dir, cmp.Or(c.WorkDir, dir)
	if c.StartTimeout <= 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = DefaultCallTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.ProbeWait == 0 {
		c.ProbeWait = 3 * time.Second
	}
	if c.RestartWaits == nil {
		c.RestartWaits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
	}
	c.Secrets = cmp.Or(c.Secrets, &redact.Secrets{})
	return c, nil
}

// Pool is a set of MCP servers and their tools: it decides which server and which call.
// It is safe for concurrent use. Each of its parts owns what it knows, and has the methods
// that need it; all of them see the same servers.
type Pool struct {
	*calls       // calls tools
	*requests    // reads resources and prompts
	*readiness   // waits for servers
	*permissions // what the user allows
	*setup       // which servers there are, and which of them run
	*serverLogs
	*notes

	cancel context.CancelFunc // ends the servers
	roster *roster
	signal *server.Signal
}

// NewPool starts all permitted servers in the background, in parallel, and
// returns at once. The pool ends with ctx at the latest; always call Close.
// NewPool fails only if the workspace's path cannot be resolved.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(ctx)
	signal, roster := server.NewSignal(), &roster{begun: !cfg.Later}
	notes := &notes{signal: signal}
	consent, switches := trust.NewConsent(cfg.TrustFile), newSwitches(cfg.Dir, cfg.UserFile, cfg.DisabledFile)
	admissions := &admissions{
		workspace: cfg.Dir, mode: cfg.Trust, consent: consent, switches: switches, log: cfg.Logger, builtin: cfg.InProcess,
		settings: cfg.ofServers(life, roster, signal, notes),
	}
	ready := &readiness{life: life, roster: roster, signal: signal}
	asks := &requests{life: life, roster: roster, ready: ready}
	p := &Pool{
		cancel: cancel, roster: roster, signal: signal, notes: notes, requests: asks, readiness: ready,
		calls: &calls{roster: roster, requests: asks, notes: notes, box: cfg.Box, secrets: cfg.Secrets},
		permissions: &permissions{
			workspace: cfg.Dir, life: life, roster: roster, signal: signal, admissions: admissions,
			programs: trust.NewPrograms(consent, cfg.Dir, cfg.Trust, cfg.Logger),
		},
		setup: &setup{
			reread: cfg.Reread, browse: cfg.Browse, asks: cfg.Trust != trust.None, secrets: cfg.Secrets, log: cfg.Logger,
			roster: roster, signal: signal, admissions: admissions, switches: switches, notes: notes,
		},
		serverLogs: &serverLogs{dir: cfg.LogDir, roster: roster, signal: signal},
	}
	p.learn(cfg.Servers)
	return p, roster.change(func([]*server.Server) []*server.Server { return admissions.first(cfg.Servers) })
}

// ofServers returns the settings that the servers of a pool share.
func (c Config) ofServers(life context.Context, roster *roster, signal *server.Signal, notes *notes) server.Settings {
	return server.Settings{
		Settings: connection.Settings{
			Version: c.Version, WorkDir: c.WorkDir, Environ: c.Environ, LogDir: c.LogDir, ProbeWait: c.ProbeWait,
			Secrets: c.Secrets, Wire: c.Wire, Logins: c.Logins, Watcher: c.Watcher, Box: c.Box,
		},
		StartTimeout: c.StartTimeout, CallTimeout: c.CallTimeout, RestartWaits: c.RestartWaits,
		Logger: c.Logger, Pins: trust.OpenPins(c.PinDir, c.Dir), Handshakes: handshake.Load(c.HandshakeFile, c.Logger),
		Signal: signal, Note: notes.note, Life: life, Work: roster.underway(),
	}
}

// Start starts the servers that Config.Later has kept back. It may be called again.
func (p *Pool) Start() { p.roster.begin() }

// Watch registers changed, which is called from any goroutine whenever the
// result of Status changes. A nil changed unregisters it: once Watch returns,
// the earlier one is not called again. changed must return quickly and must
// not call Watch.
func (p *Pool) Watch(changed func()) { p.signal.Watch(changed) }

// Status returns the health of each server: built-in servers by name, then the
// others in configuration order.
func (p *Pool) Status() []plan.ServerStatus {
	all := []plan.ServerStatus{}
	for _, s := range p.roster.all() {
		all = append(all, s.Status())
	}
	return all
}

// Close cancels the calls in progress and stops every server: it closes
// connections and kills children with all their descendants in the process
// group. It waits for them for up to 20 seconds, and fails only if that was
// not enough. The watcher is not called after Close has returned.
func (p *Pool) Close() error {
	if !p.roster.close(p.cancel, connection.EndTimeout) {
		return fmt.Errorf("some MCP servers did not end within %s", connection.EndTimeout)
	}
	p.Watch(nil)
	return nil
}
