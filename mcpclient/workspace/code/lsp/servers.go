package lsp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"replan/mcpclient/box"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace/code/source"
)

// Config configures the servers of a workspace.
type Config struct {
	// Dir is the folder of the workspace.
	Dir string
	// Root is the same folder, used to read files. It stays open while the servers
	// run.
	Root *os.Root
	// Environ is the environment that servers inherit, as NAME=VALUE. Names that
	// look like secrets are removed.
	Environ []string
	// Commands override the command of a language: program and arguments. An empty
	// command disables the language.
	Commands map[string][]string
	// Trusted lets the check of a changed file start its server. Otherwise only a
	// running server checks it.
	Trusted bool
	// Allow is called before a server starts. It returns nil to allow the start,
	// or the reason against it. A nil Allow allows all.
	Allow func(ctx context.Context, p Program, path string) error
	// Watcher ends the servers if this program no longer can; may be nil.
	Watcher child.Watcher
	Box     *box.Box // contains the servers; nil contains nothing
	// Logger receives the log of the servers; nil logs nothing.
	Logger *slog.Logger
	// Patience is how long a server may take for one question; 0 is a minute.
	Patience time.Duration
}

// Servers manages the language servers of one workspace. Each starts at the
// first question about its language. It is safe for concurrent use. A nil
// Servers has all servers disabled.
type Servers struct {
	cfg       Config
	workspace workspace
	programs  []Program
	log       *slog.Logger

	mu      sync.Mutex
	closed  bool
	running map[string]*slot // by language
}

// slot holds one server. Its lock is held while the server starts.
type slot struct {
	sync.Mutex
	client  *client
	starts  int
	failure error // why it is not restarted
}

// maxStarts is how often to start a server that keeps exiting.
const maxStarts = 3

// UnavailableError means that no server is available for a language.
type UnavailableError struct {
	Program Program
	Err     error
}

func (e *UnavailableError) Error() string { return fmt.Sprintf("%s: %v", e.Program.Name, e.Err) }
func (e *UnavailableError) Unwrap() error { return e.Err }

// Missing reports whether the program is not installed.
func (e *UnavailableError) Missing() bool {
	return errors.Is(e.Err, errNotInstalled)
}

// Off reports whether the configuration disables the program.
func (e *UnavailableError) Off() bool { return errors.Is(e.Err, errOff) }

var (
	errNotInstalled = errors.New("it is not installed")
	errOff          = errors.New("no language server is set for it in [lsp]")
	errClosed       = errors.New("the language servers are closed")
)

// RefusedError is a server's refusal of a request, with its own message.
type RefusedError struct{ Server, Reason string }

func (e *RefusedError) Error() string { return e.Server + " refuses: " + e.Reason }

// New returns the servers of a workspace without starting any.
func New(cfg Config) (*Servers, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace %s: %w", cfg.Dir, err)
	}
	s := &Servers{
		cfg: cfg, workspace: workspace{folder: source.NewFolder(dir), root: cfg.Root},
		programs: Programs(), log: cfg.Logger, running: map[string]*slot{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for i, p := range s.programs {
		s.running[p.Language] = &slot{}
		if argv, set := cfg.Commands[p.Language]; set {
			s.programs[i].Argv = argv
		}
	}
	return s, nil
}

// Program returns the server for a file. It returns false if none is known.
func (s *Servers) Program(file string) (Program, bool) {
	if s == nil {
		return Program{}, false
	}
	i := slices.IndexFunc(s.programs, func(p Program) bool { _, ok := p.language(file); return ok })
	if i < 0 {
		return Program{}, false
	}
	return s.programs[i], true
}

// Programs returns the configured servers, by language.
func (s *Servers) Programs() []Program { return slices.Clone(s.programs) }

// Find returns the path of a server's program, without starting it.
func (s *Servers) Find(p Program) (string, error) {
	if len(p.Argv) == 0 {
		return "", &UnavailableError{p, errOff}
	}
	path, err := s.workspace.find(p.Argv[0], s.cfg.Environ)
	if err != nil {
		return "", &UnavailableError{p, fmt.Errorf("%w: %w", errNotInstalled, err)}
	}
	return path, nil
}

// Try reports why an installed program cannot start, in its own words. It asks only
// for the version, outside the workspace, whose files could name another program.
func (s *Servers) Try(ctx context.Context, p Program, path string) error {
	if p.version == "" || !slices.ContainsFunc(Programs(), func(known Program) bool { return known.Argv[0] == p.Argv[0] }) {
		return nil
	}
	const patience = 5 * time.Second
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, path, p.version) // #nosec G204 -- found outside the workspace
	cmd.Dir, cmd.Env, cmd.WaitDelay = os.TempDir(), child.Environ(s.cfg.Environ, s.workspace.environment(p, s.cfg.Environ)), exitTime
	output, err := cmd.CombinedOutput()
	switch first, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n"); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s did not end within %s", p.Argv[0], p.version, patience)
	case first != "":
		return errors.New(first)
	default:
		return fmt.Errorf("%s %s: %w", p.Argv[0], p.version, err)
	}
}

// Close stops all servers and waits for their processes.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var ending sync.WaitGroup
	for _, slot := range s.running {
		ending.Go(func() {
			slot.Lock()
			defer slot.Unlock()
			if slot.client != nil {
				slot.client.close()
				slot.client = nil
			}
			slot.failure = errClosed
		})
	}
	ending.Wait()
}

// client returns the running server for a file, and starts it if necessary.
func (s *Servers) client(ctx context.Context, file string) (*client, error) {
	p, known := s.Program(file)
	if !known {
		return nil, &UnavailableError{Program{Name: filepath.Ext(file)}, errOff}
	}
	slot := s.running[p.Language]
	slot.Lock()
	defer slot.Unlock()
	if slot.client != nil {
		if slot.client.alive() {
			return slot.client, nil
		}
		slot.client.close()
		slot.client = nil
	}
	if slot.failure != nil {
		return nil, slot.failure
	}
	c, err := s.start(ctx, p)
	if slot.starts++; err == nil {
		slot.client = c
		return c, nil
	}
	unavailable := &UnavailableError{Program: p, Err: err}
	if !errors.As(err, &unavailable) && ctx.Err() == nil && slot.starts >= maxStarts {
		slot.failure = unavailable
	}
	return nil, unavailable
}

func (s *Servers) start(ctx context.Context, p Program) (*client, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	path, err := s.Find(p)
	if err != nil {
		return nil, err
	}
	if s.cfg.Allow != nil {
		if err := s.cfg.Allow(ctx, p, path); err != nil {
			return nil, &UnavailableError{p, err}
		}
	}
	var options map[string]any
	if p.options != nil {
		if options, err = p.options(path, s.workspace.folder.Real()); err != nil {
			return nil, err
		}
	}
	environ := child.Environ(s.cfg.Environ, s.workspace.environment(p, s.cfg.Environ))
	proc, err := startProcess(path, p.Argv[1:], environ, s.workspace.folder.Real(), s.cfg.Box, s.cfg.Watcher, s.log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := within(ctx, initTime)
	defer cancel()
	return connect(ctx, s.workspace, p, proc, options, s.log)
}
