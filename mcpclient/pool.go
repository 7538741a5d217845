// Package mcpclient holds every tool on offer: it starts the MCP servers that
// are configured, over standard streams or streamable HTTP, beside the
// built-in ones of this process, watches over them, and calls their tools.
//
// A project's own servers start only after the user's yes. Children run in
// process groups of their own, without the secrets of this program's
// environment, and end with the pool.
package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/child"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// What holds where Config says nothing.
const (
	DefaultStartTimeout = 20 * time.Second
	DefaultCallTimeout  = 10 * time.Minute
)

// closeTimeout bounds Close. It is longer than all the graces of one child
// together; children end side by side.
const closeTimeout = 10 * time.Second

// Config is what a pool is made of.
type Config struct {
	Servers   []Server                     // of two with one name the flag's wins, then the user's
	InProcess map[string]*server.MCPServer // built-in servers by name; they stay the caller's to close
	Dir       string                       // the workspace; empty means the current directory
	TrustFile string                       // remembers the user's yeses; empty remembers nothing
	Trust     TrustMode

	StartTimeout time.Duration // until a server has started and listed its tools; 0 means DefaultStartTimeout
	CallTimeout  time.Duration // of one call, where neither its server nor its context says less; 0 means DefaultCallTimeout

	Logger  *slog.Logger // nil logs nothing
	Environ []string     // what children inherit, after scrubbing; nil means os.Environ()

	Watcher child.Watcher // ends the children where this program cannot any more; nil is none
}

// Pool is a set of MCP servers and their tools. It is safe for use by several
// goroutines at once.
type Pool struct {
	cfg   Config
	log   *slog.Logger
	trust trust

	life   context.Context // ends with the pool
	cancel context.CancelFunc
	work   sync.WaitGroup // servers under supervision and calls under way

	mu      sync.Mutex
	entries []*entry      // in a fixed order: built-in ones by name, then as configured
	changed chan struct{} // closed, and replaced, at every change of an entry
	closed  bool

	programs []*program // of this machine, that were asked about

	watch   sync.RWMutex // held while the watcher is called
	watcher func()
}

// entry is one server and where it stands. Its fields below the first group
// are guarded by the pool's mutex.
type entry struct {
	server  Server
	builtin *server.MCPServer // nil where the server is not of this process

	state    plan.ServerState
	problem  string
	tools    []plan.Tool
	conn     *connection   // nil where there is none
	begun    time.Time     // when it was started last
	took     time.Duration // from then until it had listed its tools
	failed   string        // the last that went wrong
	declined bool          // the user said no
	watched  bool          // supervise is at work on it
	again    chan struct{} // has supervise start it anew
	leftOut  bool          // the project's own, with nobody there to say yes
}

// NewPool starts what may start, in the background and side by side, and
// returns at once. The pool ends with ctx at the latest; Close it in any
// case. It fails only where the workspace's path cannot be resolved.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolving the workspace %s: %w", cfg.Dir, err)
	}
	// A link to a workspace is that workspace, for yeses too.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	cfg.Dir = dir
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
	p := &Pool{cfg: cfg, log: cfg.Logger, trust: trust{cfg.TrustFile}, changed: make(chan struct{})}
	p.life, p.cancel = context.WithCancel(ctx)
	p.admit()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		if e.state == plan.ServerStarting {
			p.launch(e)
		}
	}
	return p, nil
}

// admit makes the entries and says of each where it stands before anything
// has started.
func (p *Pool) admit() {
	for _, name := range slices.Sorted(maps.Keys(p.cfg.InProcess)) {
		p.entries = append(p.entries, &entry{
			server: Server{Name: name}, builtin: p.cfg.InProcess[name], state: plan.ServerStarting, again: make(chan struct{}, 1),
		})
	}
	allowed, err := p.trust.read()
	if err != nil {
		p.log.Warn("allowed servers", "error", err)
	}
	for _, s := range chosen(p.cfg.Servers) {
		e := &entry{server: s, state: plan.ServerStarting, again: make(chan struct{}, 1)}
		_, taken := p.cfg.InProcess[s.Name]
		nameErr := checkName(s.Name)
		if taken {
			nameErr = errNameTaken
		}
		switch {
		case s.Problem != "":
			e.state, e.problem = plan.ServerFailed, s.Problem
		case nameErr != nil:
			e.state, e.problem = plan.ServerFailed, nameErr.Error()
		case s.Disabled:
			e.state, e.problem = plan.ServerStopped, "disabled in the configuration"
		case s.Command == "" && s.URL == "":
			e.state, e.problem = plan.ServerFailed, "neither a command nor a url says how to reach it"
		case s.Source != SourceProject || slices.Contains(allowed.Allowed[p.cfg.Dir], digest(s)):
		case p.cfg.Trust == TrustNone:
			e.leftOut = true
			e.state, e.problem = plan.ServerStopped,
				"left out: the project brings this server along and nobody has said yes to it; name its file with --mcp-config, or say yes on the screen once"
		default:
			e.state = plan.ServerWaiting
		}
		p.entries = append(p.entries, e)
	}
}

// chosen is the servers without those whose name a more trusted source uses
// too, in the order given.
func chosen(all []Server) []Server {
	rank := map[Source]int{SourceFlag: 0, SourceUser: 1, SourceProject: 2}
	best := map[string]int{}
	for i, s := range all {
		if j, seen := best[s.Name]; !seen || rank[s.Source] < rank[all[j].Source] {
			best[s.Name] = i
		}
	}
	var kept []Server
	for i, s := range all {
		if best[s.Name] == i {
			kept = append(kept, s)
		}
	}
	return kept
}

// dial opens the way to a server; nothing has been said yet.
func (p *Pool) dial(e *entry) (*connection, error) {
	log := p.log.With("server", e.server.Name)
	var conn *connection
	var err error
	switch {
	case e.builtin != nil:
		conn = dialLocal(e.builtin)
	case e.server.URL != "":
		conn, err = dialHTTP(e.server, log)
	default:
		conn, err = dialProcess(e.server, p.cfg.Dir, p.cfg.Environ, p.cfg.Watcher, log)
	}
	if err != nil {
		return nil, err
	}
	if err := conn.client.Start(p.life); err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// list asks a server for its tools and makes it ready. The error says in
// words why it is not.
func (p *Pool) list(e *entry, conn *connection) error {
	ctx, cancel := context.WithTimeout(p.life, p.cfg.StartTimeout)
	defer cancel()
	tools, note, err := conn.tools(ctx, e.server.Name, e.builtin != nil)
	if err != nil {
		return p.startProblem(ctx, conn, err)
	}
	if note != "" {
		p.log.Warn("tools", "server", e.server.Name, "note", note)
	}
	p.set(func() {
		if e.took == 0 {
			e.took = max(time.Since(e.begun), 1)
		}
		e.state, e.problem, e.tools, e.conn = plan.ServerReady, note, tools, conn
	})
	return nil
}

// startProblem says in words why a server did not list its tools.
func (p *Pool) startProblem(ctx context.Context, conn *connection, err error) error {
	switch {
	case conn.isLost():
		return errors.New(conn.process.reason())
	case ctx.Err() != nil:
		text := fmt.Sprintf("did not answer within %s", p.cfg.StartTimeout)
		if conn.process != nil {
			text = conn.process.withLastWords(text)
		}
		return errors.New(text)
	case errors.Is(err, transport.ErrLegacySSEServer):
		return errors.New("does not speak streamable HTTP at its url; the older SSE transport is not supported")
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return errors.New(`asks for authorisation; put it into "headers" in its configuration`)
	default:
		return plain(err)
	}
}

// fail says that a server cannot be used. conn is what is left of it: an HTTP
// server may answer again later.
func (p *Pool) fail(e *entry, conn *connection, err error) {
	p.log.Warn("server failed", "server", e.server.Name, "error", err)
	p.set(func() {
		e.state, e.problem, e.tools, e.conn = plan.ServerFailed, err.Error(), nil, conn
		e.failed = e.problem
	})
}

// set changes an entry, wakes Ready and calls the watcher.
func (p *Pool) set(change func()) {
	p.mu.Lock()
	change()
	p.broadcast()
	p.mu.Unlock()
	p.notify()
}

// broadcast wakes everybody who waits for a change. The mutex is held.
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

// Watch calls changed, from any goroutine, whenever Status would answer
// differently from then on. A nil changed ends it: when Watch returns, the
// earlier one will not be called again. changed must return soon and must not
// call Watch.
func (p *Pool) Watch(changed func()) {
	p.watch.Lock()
	defer p.watch.Unlock()
	p.watcher = changed
}

// anyTool is the name of every tool of every server, see [Pool.ReadyFor].
const anyTool = "*:*"

// Ready waits until the servers that are starting have started or failed, or
// ctx ends, and returns the tools there are then, in a fixed order. Servers
// that failed but may have come back are asked again.
func (p *Pool) Ready(ctx context.Context) plan.Catalogue {
	all, _ := p.ReadyFor(ctx, []string{anyTool})
	return all
}

// ReadyFor is Ready for somebody who needs the tools with these names alone,
// patterns of [prompt.MatchName] among them. It waits for the built-in
// servers, for those that a qualified name names, and for every other only
// while a bare name is that of no tool there is. It returns besides the servers
// that it would have waited for longer, which have not started yet.
func (p *Pool) ReadyFor(ctx context.Context, names []string) (all plan.Catalogue, awaited []string) {
	p.retry(names)
	for {
		p.mu.Lock()
		changed := p.changed
		all, awaited = p.catalogue(), p.awaited(names)
		p.mu.Unlock()
		if len(awaited) == 0 || ctx.Err() != nil || p.life.Err() != nil {
			return all, awaited
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-p.life.Done():
		}
	}
}

// awaited names the servers that are starting and that somebody who needs these
// names waits for. The mutex is held.
func (p *Pool) awaited(names []string) []string {
	all := p.catalogue()
	var servers []string
	for _, e := range p.entries {
		if e.state == plan.ServerStarting && (e.builtin != nil || e.offers(names, all)) {
			servers = append(servers, e.server.Name)
		}
	}
	return servers
}

// offers reports whether a server that has not said yet what it offers may have
// a tool of one of these names, which is not among those there are.
func (e *entry) offers(names []string, all plan.Catalogue) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if server, _, qualified := strings.Cut(name, ":"); qualified {
			return prompt.MatchName(server, e.server.Name)
		}
		return !slices.ContainsFunc(all, func(t plan.Tool) bool { return prompt.MatchName(name, t.Name) })
	})
}

// catalogue is the tools of the servers that are ready. The mutex is held.
func (p *Pool) catalogue() plan.Catalogue {
	var all plan.Catalogue
	for _, e := range p.entries {
		if e.state == plan.ServerReady {
			all = append(all, e.tools...)
		}
	}
	return all
}

// retry asks the servers again that failed with a connection left, where they may
// offer what is needed.
func (p *Pool) retry(names []string) {
	p.mu.Lock()
	var asked bool
	all := p.catalogue()
	for _, e := range p.entries {
		if e.state == plan.ServerFailed && e.conn != nil && e.offers(names, all) {
			e.state, asked = plan.ServerStarting, true
			e.conn.askAgain()
		}
	}
	if asked {
		p.broadcast()
	}
	p.mu.Unlock()
	if asked {
		p.notify()
	}
}

// Status returns the health of each server: the built-in ones by name, then
// the others as they are configured.
func (p *Pool) Status() []plan.ServerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]plan.ServerStatus, len(p.entries))
	for i, e := range p.entries {
		all[i] = e.status()
	}
	return all
}

// Pending returns the project's own servers that wait for a yes, as their
// file writes them: variables are not put in, since they may be secrets. The
// programs of [Pool.MayStart] and [Pool.Offer] follow them.
func (p *Pool) Pending() []plan.PendingServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var waiting []plan.PendingServer
	for _, e := range p.entries {
		if e.state != plan.ServerWaiting {
			continue
		}
		waiting = append(waiting, e.server.forPeople())
	}
	for _, asked := range p.programs {
		if asked.state == programAsked {
			waiting = append(waiting, asked.forPeople())
		}
	}
	return waiting
}

// Answer starts the servers of Pending and remembers the yes for this
// workspace, or leaves them out until the next start. It does not wait for
// them. Where a yes cannot be remembered the servers start all the same and
// the error says so.
func (p *Pool) Answer(_ context.Context, yes bool) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errors.New("the tools are closed already")
	}
	var answered []Server
	for _, e := range p.entries {
		if e.state != plan.ServerWaiting {
			continue
		}
		answered = append(answered, e.server)
		if !yes {
			e.state, e.problem, e.declined = plan.ServerStopped, "left out: you said no", true
			continue
		}
		e.state = plan.ServerStarting
		p.launch(e)
	}
	programs, offered := p.answerPrograms(yes)
	answered = append(answered, programs...)
	p.broadcast()
	p.mu.Unlock()
	if len(answered)+len(offered) == 0 {
		return nil
	}
	p.notify()
	if err := p.trust.remember(offeredBefore, offered); err != nil {
		return err
	}
	if !yes {
		return nil
	}
	return p.trust.remember(p.cfg.Dir, answered)
}

// LeftOut names the project's own servers that were left out because nobody
// is there to say yes to them.
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

// Close cancels the calls under way and stops every server: connections are
// ended, children and all that they have started are killed. It waits for
// them, for ten seconds at most, and fails only where that was not enough.
// The watcher is not called after Close has returned.
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
