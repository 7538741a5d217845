package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/mcpclient/box"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/mcpclient/handshake"
	"replan/mcpclient/incoming"
	"replan/mcpclient/oauth"
	"replan/mcpclient/pin"
	"replan/mcpclient/result"
	"replan/mcpclient/usage"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Defaults for zero fields of Config.
const (
	DefaultStartTimeout = 20 * time.Second
	DefaultCallTimeout  = 10 * time.Minute
)

// closeTimeout limits Close. It is longer than all grace periods of one child
// together; children end in parallel.
const closeTimeout = 20 * time.Second

// Config configures a pool.
type Config struct {
	Servers   []config.Server                     // of two with the same name, the flag's wins, then the user's
	Reread    func() ([]config.Server, error)     // reads the servers again, see Pool.Reload; may be nil
	InProcess map[string]func() *server.MCPServer // built-in servers by name, made when they start; the caller closes them
	Dir       string                              // the workspace; empty means the current directory
	WorkDir   string                              // where servers work; empty means Dir
	TrustFile string                              // stores which servers the user allowed; empty stores nothing
	PinDir    string                              // stores what servers say of their tools; empty compares within this pool only
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

	// Later keeps servers from starting until Start is called, or until somebody
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

// Pool is a set of MCP servers and their tools. It is safe for concurrent use.
type Pool struct {
	cfg        Config
	log        *slog.Logger
	trust      trust
	handshakes *handshake.Known
	pins       *pin.Folder
	secrets    *redact.Secrets // of the configurations of all servers

	life   context.Context // ends with the pool
	cancel context.CancelFunc
	work   sync.WaitGroup // supervised servers and calls in progress

	mu      sync.Mutex
	entries []*entry      // in a fixed order: built-in servers by name, then as configured
	changed chan struct{} // closed and replaced whenever an entry changes
	closed  bool
	begun   bool // servers may start

	switches switches

	programs []*program // local programs that need permission
	notes    []note     // for the user

	watch   sync.RWMutex // held while the watcher is called
	watcher func()
}

// entry is one server and its state. The pool's mutex guards all fields below
// the first group.
type entry struct {
	server  config.Server
	builtin func() *server.MCPServer // nil if the server is not in this process

	state    plan.ServerState
	problem  string
	tools    []plan.Tool
	tasks    string        // its tools that run only as tasks
	changes  []change      // what it says that the user has not accepted
	conn     *connection   // nil if there is none
	begun    time.Time     // time of the last start
	ready    time.Time     // when it became ready; zero if it was lost since
	wasReady bool          // since the user last started it
	tries    int           // starts since it was lost
	wake     chan struct{} // tells supervise not to wait before the next one
	reported time.Time     // when a line of its standard error was last reported
	doing    func() string // what it last wrote to standard error, while it starts; may be nil
	startup  time.Duration // from begun until the tools were listed
	failed   string        // the last failure
	declined bool          // the user said no
	login    bool          // it needs a login
	watched  bool          // supervise is running for it
	again    chan struct{} // tells supervise to restart it
	leftOut  bool          // a project's server that nobody was there to allow

	// Of the supervision, once launched: its context, which end cancels, and a
	// channel that is closed when it has ended.
	life  context.Context
	end   context.CancelFunc
	ended chan struct{}
	after <-chan struct{} // closed when the server that this one replaces has ended; may be nil

	calls     *usage.Record
	mentioned *mentions
	declared  result.Declared // what its tools declare of their results
	disabled  plan.DisabledBy
	protocol  string        // the version of the last connection
	grown     chan struct{} // closed and replaced when its log grows, if somebody waits for that
}

// NewPool starts all permitted servers in the background, in parallel, and
// returns at once. The pool ends with ctx at the latest; always call Close.
// NewPool fails only if the workspace's path cannot be resolved.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolving the workspace %s: %w", cfg.Dir, err)
	}
	// Permissions apply to a workspace and to links to it alike.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	cfg.Dir, cfg.WorkDir = dir, cmp.Or(cfg.WorkDir, dir)
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = DefaultStartTimeout
	}
	if cfg.CallTimeout <= 0 {
		cfg.CallTimeout = DefaultCallTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	if cfg.ProbeWait == 0 {
		cfg.ProbeWait = 3 * time.Second
	}
	if cfg.RestartWaits == nil {
		cfg.RestartWaits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
	}
	p := &Pool{
		cfg: cfg, log: cfg.Logger, trust: newTrust(cfg.TrustFile), handshakes: handshake.Load(cfg.HandshakeFile, cfg.Logger), pins: pin.Open(cfg.PinDir), changed: make(chan struct{}),
		switches: switches{config.NewDisabledServers(cfg.DisabledFile), map[string]bool{}},
	}
	p.life, p.cancel = context.WithCancel(ctx)
	p.secrets = cmp.Or(cfg.Secrets, &redact.Secrets{})
	p.learn(cfg.Servers)
	p.admit()
	if !cfg.Later {
		p.Start()
	}
	return p, nil
}

// Start starts the servers that Config.Later has kept back. It may be called again.
func (p *Pool) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun || p.closed {
		return
	}
	p.begun = true
	for _, e := range p.entries {
		if e.state == plan.ServerStarting && !e.watched {
			p.launch(e)
		}
	}
}

// admit creates the entries and sets their state before the first start.
func (p *Pool) admit() {
	for _, name := range slices.Sorted(maps.Keys(p.cfg.InProcess)) {
		p.entries = append(p.entries, &entry{
			server: config.Server{Name: name}, builtin: p.cfg.InProcess[name], state: plan.ServerStarting, again: make(chan struct{}, 1), wake: make(chan struct{}, 1),
			calls: &usage.Record{},
		})
	}
	known := readDecisions(p)
	for _, s := range config.Chosen(p.cfg.Servers) {
		p.entries = append(p.entries, p.newEntry(s, known))
	}
}

// dial opens the connection to a server without sending a request. known is the
// handshake of a process.
func (p *Pool) dial(e *entry, known handshake.Kind) (*connection, error) {
	log := p.log.With("server", e.server.Name)
	var conn *connection
	var err error
	switch {
	case e.builtin != nil:
		conn = dialLocal(e.builtin(), p.cfg.Version)
	case e.server.SSE:
		conn, err = p.dialSSE(e.server, log)
	case e.server.URL != "":
		conn, err = p.dialHTTP(e.server, log)
	default:
		conn, err = p.dialProcess(e, known, log)
	}
	if err != nil {
		return nil, err
	}
	if e.builtin == nil {
		conn.speaks = e.server.Protocol
		conn.messages = &incoming.Log{Write: p.messageLog(e, conn, log)}
		root := p.cfg.WorkDir
		if e.server.NoRoots {
			root = ""
		}
		conn.requests = incoming.New(e.server.Name, root, log)
		conn.requests.Attach(conn.client)
		conn.mentioned = e.mentioned
		conn.updated = func(uri string) {
			noteOn(p, e.server.Name, prompt.NameOf(e.server.Name+":"+untrusted.Visible(uri))+" has changed since you mentioned it; mention it again to send it as it is now")
		}
	}
	if err := conn.client.Start(e.life); err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// set changes an entry, wakes Ready and calls the watcher.
func (p *Pool) set(change func()) {
	p.mu.Lock()
	change()
	p.broadcast()
	p.mu.Unlock()
	p.notify()
}

// broadcast wakes everyone waiting for a change. The caller holds the mutex.
func (p *Pool) broadcast() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Pool) notify() {
	p.watch.RLock()
	defer p.watch.RUnlock()
	if p.watcher != nil {
		p.watcher()
	}
}

// Watch registers changed, which is called from any goroutine whenever the
// result of Status changes. A nil changed unregisters it: once Watch returns,
// the earlier one is not called again. changed must return quickly and must
// not call Watch.
func (p *Pool) Watch(changed func()) {
	p.watch.Lock()
	defer p.watch.Unlock()
	p.watcher = changed
}

// Status returns the health of each server: built-in servers by name, then the
// others in configuration order.
func (p *Pool) Status() []plan.ServerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]plan.ServerStatus, len(p.entries))
	for i, e := range p.entries {
		all[i] = p.status(e)
	}
	return all
}

// Pending returns the project's own servers that wait for permission, as
// written in their file: variables may be secrets, so they are not expanded.
// The programs of [Pool.MayStart] and [Pool.Offer] follow.
func (p *Pool) Pending() []plan.PendingServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var waiting []plan.PendingServer
	for _, e := range p.entries {
		if e.state != plan.ServerWaiting {
			continue
		}
		waiting = append(waiting, e.server.AsWritten())
	}
	for _, asked := range p.programs {
		if asked.state == programAsked {
			waiting = append(waiting, asked.forPeople())
		}
	}
	return waiting
}

// Answer starts those of the Pending servers that the user was asked about, or
// leaves them out, and stores the answer for this workspace. A server whose entry
// has changed since the question stays pending. Answer does not wait for the
// servers. If the answer cannot be stored, it still counts for this pool, and
// Answer returns the error.
func (p *Pool) Answer(_ context.Context, asked []plan.PendingServer, yes bool) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errors.New("the tools are closed already")
	}
	var answered []config.Server
	for _, e := range p.entries {
		if e.state != plan.ServerWaiting || !isAmong(asked, e.server.AsWritten()) {
			continue
		}
		answered = append(answered, e.server)
		if !yes {
			e.decline()
			continue
		}
		e.state = plan.ServerStarting
		p.launch(e)
	}
	programs, declined := p.answerPrograms(asked, yes)
	answered = append(answered, programs...)
	p.broadcast()
	p.mu.Unlock()
	if len(answered)+len(declined) == 0 {
		return nil
	}
	p.notify()
	// An offer is never made again, whatever the answer was.
	if err := p.trust.remember(offeredBefore, declined, true); err != nil {
		return err
	}
	return p.trust.remember(p.cfg.Dir, answered, yes)
}

// decline leaves a server out because the user said no.
func (e *entry) decline() {
	e.state, e.problem, e.declined = plan.ServerStopped, "left out: you said no; a restart asks again", true
}

// LeftOut returns the names of the project's own servers that were left out
// because nobody was there to allow them.
func (p *Pool) LeftOut() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, e := range p.entries {
		if e.leftOut {
			out = append(out, e.server.Name)
		}
	}
	return out
}

// Close cancels the calls in progress and stops every server: it closes
// connections and kills children with all their descendants in the process
// group. It waits for them for up to 20 seconds, and fails only if that was
// not enough. The watcher is not called after Close has returned.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.work.Wait()
		p.Watch(nil)
	}()
	if !ended(done, closeTimeout) {
		return fmt.Errorf("some MCP servers did not end within %s", closeTimeout)
	}
	return nil
}
