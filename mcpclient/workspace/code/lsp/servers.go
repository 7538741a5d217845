package lsp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"replan/mcpclient/child"
)

// Config says which workspace the servers see and what they may use.
type Config struct {
	// Dir is the folder of the workspace.
	Dir string
	// Root is the same folder, through which files are read. It stays open as
	// long as the servers run.
	Root *os.Root
	// Environ is what servers inherit, as NAME=VALUE. Names that look like secrets
	// are taken out.
	Environ []string
	// Commands replace the command of a language, program and arguments. An empty
	// command switches the language off.
	Commands map[string][]string
	// Trusted: a change of a file starts the server that checks it, else a server
	// that runs is asked.
	Trusted bool
	// Allow is asked before a server is started, with its program. It returns nil,
	// or why not. A nil Allow allows all.
	Allow func(ctx context.Context, p Program, path string) error
	// Watcher ends the servers where this program cannot any more; nil is none.
	Watcher child.Watcher
	// Logger takes what the servers do; nil logs nothing.
	Logger *slog.Logger
}

// Servers are the language servers of one workspace. Each is started at the first
// question about its language. They are safe for use by several goroutines. A nil
// Servers is one where all are switched off.
type Servers struct {
	cfg       Config
	workspace workspace
	programs  []Program
	log       *slog.Logger

	mu      sync.Mutex
	closed  bool
	running map[string]*slot // by language
}

// slot is the place of one server. Whoever starts it holds the lock.
type slot struct {
	sync.Mutex
	client  *client
	starts  int
	failure error // why it is not started again
}

// maxStarts is how often a server is started that ends by itself.
const maxStarts = 3

// UnavailableError says that no server answers for a language.
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

// Off reports whether the configuration has switched the program off.
func (e *UnavailableError) Off() bool { return errors.Is(e.Err, errOff) }

var (
	errNotInstalled = errors.New("it is not installed")
	errOff          = errors.New("no language server is set for it in [lsp]")
	errClosed       = errors.New("the language servers are closed")
)

// RefusedError is a server's no to a request, in its own words.
type RefusedError struct{ Server, Reason string }

func (e *RefusedError) Error() string { return e.Server + " refuses: " + e.Reason }

// New starts nothing yet.
func New(cfg Config) (*Servers, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace %s: %w", cfg.Dir, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace %s: %w", cfg.Dir, err)
	}
	s := &Servers{
		cfg: cfg, workspace: workspace{dir: dir, real: real, root: cfg.Root},
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

// Program returns the server for a file. It is false where none is known.
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

// Programs returns the servers as they are configured, by language.
func (s *Servers) Programs() []Program { return slices.Clone(s.programs) }

// Find returns where the program of a server is. It starts nothing.
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

// Close ends all servers and waits for their processes.
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

// client returns the running server for a file, and starts it where it has to.
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
		if options, err = p.options(path, s.workspace.real); err != nil {
			return nil, err
		}
	}
	environ := child.Environ(s.cfg.Environ, s.workspace.environment(p, s.cfg.Environ))
	proc, err := startProcess(path, p.Argv[1:], environ, s.workspace.real, s.cfg.Watcher, s.log)
	if err != nil {
		return nil, err
	}
	return connect(ctx, s.workspace, p, proc, options, s.log)
}
