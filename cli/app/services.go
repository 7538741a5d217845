package app

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/adrg/xdg"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/runner"
	"replan/agent/store/instructions"
	"replan/cli/crash"
	"replan/cli/exit"
	"replan/cli/logs"
	"replan/mcpclient"
	"replan/mcpclient/child"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/workspace"
	planfit "replan/planning/fit"
	"replan/planning/plan"
)

// Services holds everything a session works with, until it is closed.
type Services struct {
	app     *App
	session *runner.Session
	model   *ollama.Client
	tools   *mcpclient.Pool
	servers []mcpconfig.Server
	own     *workspace.Operators // nil without the workspace's operators
	named   *workspace.Operators // for files that the user names, if own is nil
	watch   *crash.Watch         // ends the children if this process cannot; nil is none
	log     *logs.Log
	work    *isolation
	notes   []string // for the user, before the session begins

	languages    *languages
	exitNote     atomic.Pointer[string]    // for the user, after the session
	instructions instructions.Instructions // of the project
}

// Opening configures how a session opens.
type Opening struct {
	Trust    mcpclient.TrustMode // whom to ask whether the project's servers may start
	Attended bool                // a user can answer questions about steps
	InDoubt  event.DoubtDecision // the answer for steps in doubt if not
	Restored *runner.Restored    // the session to continue; nil starts a new one
	About    string              // the only server whose troubles the session tells; "" tells all
	Driving  *planfit.Settings   // drive all models; nil follows what is known of them
	// SavePlan stores a created plan; nil stores it among the plans.
	SavePlan func(plan.Plan) (plan.Plan, error)
	// Runs says that runs start, which work in a copy of the workspace if the user
	// isolates them.
	Runs   bool
	Resume string // the run that is resumed, if known; "" is none
	// Screen says that the full screen is used. What the user chooses there is saved in
	// the user's configuration, and servers start after the first frame.
	Screen bool
}

// openServices opens the log, and what rest opens. Watched ends the children if this process
// cannot.
func openServices(a *App, watched bool, rest func(*Services) error) (s *Services, err error) {
	s = &Services{app: a}
	if watched {
		s.watch = a.NewWatch()
	}
	s.languages = &languages{section: a.ToolSettings().Languages, workspace: a.Folders().Workspace, trusted: a.Gates().Trusted, watcher: s.Watcher(), last: func(note string) { s.exitNote.Store(&note) }}
	s.work = newIsolation(a, nil)
	if s.log, err = logs.Open(a.Folders().Dirs.Logs()); err == nil {
		s.work = newIsolation(a, s.log.Logger())
		err = rest(s)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare opens everything a session works with.
func (s *Services) prepare(ctx context.Context, how Opening) (err error) {
	server := s.app.ModelServer()
	server.Settings, server.Logger = how.Driving, s.Logger()
	if s.model, err = ollama.New(server); err != nil {
		configured, fault := s.app.Model().BadHost(err)
		if configured {
			return fault
		}
		return exit.Usage("%w", fault)
	}
	if err := s.openTools(ctx, how); err != nil {
		return err
	}
	if s.instructions, err = instructions.Find(s.app.Folders().Workspace, xdg.Home); err != nil {
		return exit.Wrap("read the project's instructions", err)
	}
	if note := s.instructions.Note; note != "" {
		s.notes = append(s.notes, note)
	}
	return nil
}

// openBox opens the box of programs that work in the folder itself.
func (s *Services) openBox() (err error) {
	s.notes, err = s.work.openBox()
	return err
}

// openChanges opens the copy in which changes of earlier runs wait.
func (s *Services) openChanges(ctx context.Context) error {
	notes, err := s.work.open(ctx, Opening{Runs: true})
	if err != nil {
		return err
	}
	s.notes = append(s.notes, notes...)
	s.named, err = s.work.use(nil)
	return err
}

// Begin starts the session.
func (s *Services) Begin(ctx context.Context, how Opening) (err error) {
	cfg, dry := s.Config(), s.app.Execution().DryRun
	if how.About != "" {
		cfg.Tools = toolsOf{s.tools, how.About}
	}
	cfg.Attended, cfg.InDoubt, cfg.Restored = how.Attended, how.InDoubt, how.Restored
	if how.Screen && !dry {
		cfg.SaveSetting, cfg.Warm = s.app.SaveSetting, true
	}
	if how.Runs && !dry {
		cfg.Copy = s.work.changes(!how.Screen)
	}
	if s.work.copied() {
		cfg.Dirty = nil // what the user has not committed stays apart
	}
	if how.SavePlan != nil {
		cfg.Store = planSink{cfg.Store, how.SavePlan}
	}
	cfg.Slash = func(ctx context.Context, line string, now runner.SlashState) (runner.Answer, error) {
		return s.app.Commands().Answer(ctx, s, now, line)
	}
	s.session, err = runner.NewSession(ctx, cfg)
	return exit.Wrap("start", err)
}

// CloseSession ends a session and discards its remaining events.
func CloseSession(s *runner.Session) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range s.Events() { //nolint:revive // the events are no longer needed
		}
	}()
	s.Close()
	<-drained
}

// Session returns the session that has begun.
func (s *Services) Session() *runner.Session { return s.session }

// Model returns the model server.
func (s *Services) Model() *ollama.Client { return s.model }

// Tools returns the tools of the workspace and of MCP servers.
func (s *Services) Tools() *mcpclient.Pool { return s.tools }

// Logger returns the logger of the program.
func (s *Services) Logger() *slog.Logger { return s.log.Logger() }

// Watch returns the watcher of this process; nil is none.
func (s *Services) Watch() *crash.Watch { return s.watch }

// Watcher returns the watcher that ends the children if this process cannot; nil is
// none.
func (s *Services) Watcher() child.Watcher {
	if s.watch == nil {
		return nil
	}
	return s.watch
}

// Changes returns the copy that the runs of the session work in. Without one there are
// no changes.
func (s *Services) Changes() *WorkingCopy { return s.work.changes(false) }

// Notes returns what the user is to know before the session begins.
func (s *Services) Notes() []string { return s.notes }

// ExitNotes returns what the user is to know once the services are closed.
func (s *Services) ExitNotes() []string {
	if note := s.exitNote.Load(); note != nil {
		return []string{*note}
	}
	return nil
}

// Close stops everything, including children, and waits for it. It discards the
// remaining events of the session.
func (s *Services) Close() error {
	var errs []error
	if s.session != nil {
		CloseSession(s.session)
	}
	if s.tools != nil {
		errs = append(errs, s.tools.Close())
	}
	for _, files := range []*workspace.Operators{s.own, s.named, s.work.undoes(nil)} {
		if files != nil {
			errs = append(errs, files.Close())
		}
	}
	if s.model != nil {
		errs = append(errs, s.model.Close())
	}
	if s.watch != nil {
		s.watch.Stop()
	}
	summary, err := s.work.close()
	if summary != "" {
		s.exitNote.Store(&summary)
	}
	return errors.Join(append(errs, err, s.log.Close())...)
}
