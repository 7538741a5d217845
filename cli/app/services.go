package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"
	"github.com/mark3labs/mcp-go/server"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/store"
	"replan/agent/store/instructions"
	"replan/cli/crash"
	"replan/cli/exit"
	"replan/cli/folder"
	"replan/cli/logs"
	"replan/internal/english"
	"replan/mcpclient"
	"replan/mcpclient/child"
	mcpconfig "replan/mcpclient/config"
	"replan/mcpclient/workcopy"
	"replan/mcpclient/workspace"
	planfit "replan/planning/fit"
	"replan/planning/intent"
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
	notes   []string // for the user, before the session begins
	isolation

	languages    *languages
	exitNote     atomic.Pointer[string]    // for the user, after the session
	instructions instructions.Instructions // of the project
}

// Opening configures how a session opens.
type Opening struct {
	Trust    mcpclient.TrustMode // whom to ask whether the project's servers may start
	Attended bool                // somebody can answer questions about steps
	InDoubt  event.DoubtDecision // the answer for steps in doubt if nobody can
	Restored *runner.Restored    // the session to continue; nil starts a new one
	About    string              // the only server whose troubles the session tells; "" tells all
	Driving  *planfit.Settings   // drive all models; nil follows what is known of them
	// Keep stores a created plan; nil stores it among the plans.
	Keep func(plan.Plan) (plan.Plan, error)
	// Runs says that runs start, which work in a copy of the workspace if the user
	// isolates them.
	Runs   bool
	Resume string // the run that is resumed, if known; "" is none
	// Screen says that the full screen is used: what the user chooses there is saved
	// in the user's configuration, and servers start after the first frame.
	Screen bool
}

// Open prepares what a session works with and starts it.
func (a *App) Open(ctx context.Context, how Opening) (*Services, error) {
	s, err := a.Prepare(ctx, how)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx, how); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Prepare opens everything a session works with. [Services.Begin] starts the session.
func (a *App) Prepare(ctx context.Context, how Opening) (*Services, error) {
	return a.open(true, func(s *Services) (err error) {
		set := a.settings
		if how.Resume != "" && !set.Changed("isolate") && workcopy.Elsewhere(set.Dirs.Copies(), set.Workspace, how.Resume) != nil {
			set.Isolate.On = true // the run continues where it worked
		}
		if s.model, err = ollama.New(ollama.Config{Host: set.Host, Model: set.Model, ContextWindow: set.ContextWindow, KeepAlive: set.KeepAlive, Learned: set.Dirs.Servers(), Findings: set.Dirs.Findings(), Settings: how.Driving, Logger: s.Logger()}); err != nil {
			if set.HostConfigured() {
				return set.Misconfigured(fmt.Errorf("model.host: %w", err))
			}
			return exit.Usage("%w", err)
		}
		if err := s.openTools(ctx, how); err != nil {
			return err
		}
		if s.instructions, err = instructions.Find(set.Workspace, xdg.Home); err != nil {
			return exit.Wrap("read the project's instructions", err)
		}
		if note := s.instructions.Note; note != "" {
			s.notes = append(s.notes, note)
		}
		return nil
	})
}

// OpenTools opens tools alone, for a command that starts no session.
func (a *App) OpenTools(ctx context.Context) (*Services, error) {
	return a.open(false, func(s *Services) error { return s.openTools(ctx, Opening{Trust: mcpclient.TrustNone}) })
}

// OpenWorkspace opens what the workspace's operators need to be served alone.
func (a *App) OpenWorkspace() (*Services, error) {
	return a.open(true, (*Services).makeBox)
}

// open opens the log, and what rest opens. Watched ends the children if this process
// cannot.
func (a *App) open(watched bool, rest func(*Services) error) (s *Services, err error) {
	s = &Services{app: a}
	if watched {
		s.watch = a.NewWatch()
	}
	s.languages = &languages{settings: a.settings, watcher: s.Watcher(), last: func(note string) { s.exitNote.Store(&note) }}
	if s.log, err = logs.Open(a.settings.Dirs.Logs()); err == nil {
		err = rest(s)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// NewWatch returns the watcher of this process; nil if there can be none.
func (a *App) NewWatch() *crash.Watch {
	tty, _ := a.io.Out.(*os.File)
	if !a.io.Terminal {
		tty = nil
	}
	watch, err := crash.New(a.settings.Dirs.Crashes(), a.version, tty)
	if err != nil {
		return nil // crashes then go unreported
	}
	return watch
}

// Begin starts the session.
func (s *Services) Begin(ctx context.Context, how Opening) (err error) {
	set, cfg := s.app.settings, s.Config()
	if how.About != "" {
		cfg.Tools = toolsOf{s.tools, how.About}
	}
	cfg.Attended, cfg.InDoubt, cfg.Restored = how.Attended, how.InDoubt, how.Restored
	if how.Screen && !set.DryRun {
		cfg.Keep, cfg.Warm = set.Keep, true
	}
	if how.Runs && !set.DryRun {
		cfg.Copy = &WorkingCopy{copy: s.copy, settings: set, store: s.app.store, quiet: !how.Screen}
	}
	if s.copy != nil {
		cfg.Dirty = nil // what the user has not committed stays apart
	}
	if how.Keep != nil {
		cfg.Store = keeping{cfg.Store, how.Keep}
	}
	cfg.Slash = func(ctx context.Context, line string, now runner.SlashState) (runner.Answer, error) {
		return s.app.Commands().Answer(ctx, s, now, line)
	}
	s.session, err = runner.NewSession(ctx, cfg)
	return exit.Wrap("start", err)
}

// Aside starts another session over the same tools, which asks nobody, for a command
// that was typed into the chat.
func (s *Services) Aside(ctx context.Context, a *App) (*runner.Session, error) {
	cfg := s.config(a)
	cfg.Tools, cfg.Approve = unwatched{s.tools}, policy.ApproveNone
	session, err := runner.NewSession(ctx, cfg)
	return session, exit.Wrap("start", err)
}

// CloseSession ends a session and discards its remaining events.
func CloseSession(s *runner.Session) {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range s.Events() { //nolint:revive // nobody is listening any more
		}
	}()
	s.Close()
	<-drained
}

// unwatched wraps the tools of another session, which keeps watching them and
// asking about the project's servers.
type unwatched struct{ runner.Tools }

// Watch does nothing; the other session watches.
func (unwatched) Watch(func()) {}

// Pending returns nil; the other session asks.
func (unwatched) Pending() []plan.PendingServer { return nil }

// toolsOf are the tools of a session that tells the troubles of one server alone.
type toolsOf struct {
	*mcpclient.Pool
	server string
}

// Status returns the state of the server.
func (t toolsOf) Status() []plan.ServerStatus {
	return slices.DeleteFunc(t.Pool.Status(), func(s plan.ServerStatus) bool { return s.Name != t.server })
}

// Notes returns the notes on the server since the last call.
func (t toolsOf) Notes() []string { return mcpclient.NotesOn(t.Pool, t.server) }

// Config returns the configuration that all sessions share.
func (s *Services) Config() runner.Config { return s.config(s.app) }

// config returns the configuration of a session for an app, with its settings.
func (s *Services) config(a *App) runner.Config {
	set := a.settings
	manner := set.Manner.Instructed(s.instructions.Text, set.Trusted)
	cfg := runner.Config{
		Model: s.model, Tools: s.tools,
		Workspace: set.Workspace, Trusted: set.Trusted,
		Limits: set.Limits, SessionLimits: set.SessionLimits, Rules: set.Rules, Routing: set.Routing, Approve: set.Approve,
		Prompting: manner.Prompting, Profiles: manner.Profiles, Profile: manner.Profile, Instructions: s.instructions.File,
		Store:     a.store,
		EndLeft:   endLeft,
		Remember:  func(rule event.Always) error { return policy.Save(set.Dirs.ConfigFile(), rule) },
		Undo:      s.undo,
		Dirty:     s.dirty,
		Survey:    s.survey,
		Branch:    func() string { return folder.Branch(set.Workspace) },
		Host:      s.model.Host(),
		Settings:  set.Report,
		InputHelp: s.inputHelp(a),
		OpenPage:  Browser(a.io.Getenv),
		Raise:     set.Raised,
		DryRun:    set.DryRun, RequireVerified: set.RequireVerified,
		OnFailure: set.OnFailure,
		Review:    set.Review,
		Reviewer:  a.Asks(),
		NewID:     NewID,
		Crashed: func(value any, stack []byte) string {
			return crash.Report(set.Dirs.Crashes(), a.version, value, stack)
		},
		Logger: s.Logger(),
	}
	if set.DryRun {
		cfg.Store, cfg.Remember = store.Dry{Store: a.store, NoResume: a.out.NoDryResume()}, nil
	}
	return cfg
}

// inputHelp returns the input help of a session. Even without the workspace's tools, the
// user may mention its files.
func (s *Services) inputHelp(a *App) runner.InputHelp {
	set := a.settings
	help := &inputHelp{settings: set, store: a.store, files: s.own, tools: s.tools, model: s.model, commands: a.Commands().List}
	if help.files == nil && s.named == nil {
		var err error
		if s.named, err = workspace.New(workspace.Config{Dir: s.folder(), Private: set.Dirs.All(), Hidden: set.Hidden, Logger: s.Logger(), Box: s.box}); err != nil {
			s.Logger().Warn("files cannot be named", "error", err)
		}
	}
	if help.files == nil {
		help.files = s.named
	}
	if a.Screen() {
		help.sent = a.store.History
	}
	return help
}

// keeping is a store that stores created plans elsewhere.
type keeping struct {
	runner.Store
	keep func(plan.Plan) (plan.Plan, error)
}

// SavePlan stores a plan.
func (k keeping) SavePlan(p plan.Plan) (plan.Plan, error) { return k.keep(p) }

// openTools starts the workspace's operators and the MCP servers.
func (s *Services) openTools(ctx context.Context, how Opening) error {
	set, servers := s.app.settings, s.app.Servers()
	cfg := servers.PoolConfig(how.Trust)
	cfg.Logger, cfg.LogDir = s.Logger(), set.Dirs.Logs()
	cfg.Secrets = s.log.Secrets()
	cfg.Later = how.Screen // until the screen is drawn
	err := s.openCopy(ctx, how)
	if err == nil {
		err = s.makeBox()
	}
	if err != nil {
		return err
	}
	cfg.Box, cfg.WorkDir = s.box, s.folder()
	cfg.Watcher, cfg.Browse = s.Watcher(), Browser(s.app.io.Getenv)
	cfg.Reread = func() ([]mcpconfig.Server, error) { return servers.Read(s.copy) }
	if cfg.Servers, err = cfg.Reread(); err != nil {
		return err
	}
	doubts, err := set.CheckToolNames(len(cfg.Servers) > 0)
	if err != nil {
		return exit.Usage("%w", err)
	}
	s.notes = append(s.notes, doubts...)
	s.servers = cfg.Servers
	if !set.NoWorkspaceTools && set.Wants("workspace") {
		if s.own, err = workspace.New(workspace.Config{
			Dir:      cfg.WorkDir,
			Backups:  s.backups(),
			Private:  set.Dirs.All(),
			Hidden:   set.Hidden,
			SpillDir: set.Dirs.Outputs(),
			Memory:   set.Dirs.Memory(),
			Logger:   s.Logger(),
			Watcher:  cfg.Watcher,
			Box:      s.box,

			Servers: s.languages.servers(), MissingServer: s.languages.offer,
		}); err != nil {
			return exit.Usage("%w", err)
		}
		cfg.InProcess = map[string]func() *server.MCPServer{"workspace": s.own.Server}
	}
	if err := s.openTarget(); err != nil {
		return err
	}
	// Only Close ends the pool, after the running calls were stopped: servers
	// must hear of that before they exit.
	if s.tools, err = mcpclient.NewPool(context.WithoutCancel(ctx), cfg); err != nil {
		return exit.Usage("%w", err)
	}
	s.languages.tools = s.tools
	if how.Trust == mcpclient.TrustAsk {
		return nil // the screen says what is missing, and opens all the same
	}
	if err := s.tools.CheckRequired(ctx); err != nil && ctx.Err() == nil {
		return &exit.Error{Status: exit.BadUsage, Code: "required_server", Err: err}
	}
	return ctx.Err()
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

// Notes returns what the user is to know before the session begins.
func (s *Services) Notes() []string { return s.notes }

// ExitNotes returns what the user is to know once the services are closed.
func (s *Services) ExitNotes() []string {
	if note := s.exitNote.Load(); note != nil {
		return []string{*note}
	}
	return nil
}

// Ignored says what is ignored in the files of the servers, and which were left out.
// With a name it is about that server alone.
func (s *Services) Ignored(server string) (notes []string) {
	if s.tools == nil {
		return nil
	}
	other := func(name string) bool { return server != "" && name != server }
	for _, known := range s.servers {
		if !other(known.Name) {
			notes = append(notes, known.Notes...)
		}
	}
	if left := slices.DeleteFunc(s.tools.LeftOut(), other); len(left) > 0 {
		notes = append(notes, leftOut(left))
	}
	return notes
}

// ServedOperators opens the workspace's operators for other programs. Their changes are
// recorded as those of a run.
func (s *Services) ServedOperators(run string) (*workspace.Operators, error) {
	set := s.app.settings
	own, err := workspace.New(workspace.Config{
		Dir:      set.Workspace,
		Backups:  s.app.store.Runs.Dir,
		Private:  set.Dirs.All(),
		Hidden:   set.Hidden,
		Run:      run,
		SpillDir: set.Dirs.Outputs(),
		Logger:   s.Logger(),
		Watcher:  s.Watcher(),
		Box:      s.box,
		Servers:  s.languages.servers(),
	})
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	return own, nil
}

// leftOut says which servers of the project nobody was there to allow.
func leftOut(names []string) string {
	are, them := "server "+names[0]+" of this project's .mcp.json is", "it"
	if len(names) > 1 {
		are, them = "servers "+english.List(names, "and")+" of this project's .mcp.json are", "them"
	}
	return fmt.Sprintf("the MCP %s left out: approve %s once on the screen, or use --mcp-config .mcp.json", are, them)
}

// endLeft ends what a killed program left running, and describes it.
func endLeft(ctx context.Context, left event.StepProcess) string {
	g := child.Group{PID: left.PID, Start: left.Start}
	ended, err := g.End(ctx)
	switch {
	case err != nil:
		return fmt.Sprintf("step %s still runs (process %d, from the interrupted run) and cannot be ended: %v", left.Index, left.PID, err)
	case ended:
		return fmt.Sprintf("step %s was still running (process %d, from the interrupted run) and was ended", left.Index, left.PID)
	default:
		return ""
	}
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
	for _, files := range []*workspace.Operators{s.own, s.named, s.target} {
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
	if made := s.box.Made(); made != "" {
		s.exitNote.Store(&made)
	}
	return errors.Join(append(errs, s.box.Close(), s.copy.Close(), s.log.Close())...)
}

// NewID returns an id for a run or a session: the time, for sorting, and a random
// part.
func NewID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

// survey searches the workspace for the names in a goal, so that its chain
// matches what exists. Without a goal it prepares the next search. On failure nothing is known, and the operators report why.
func (s *Services) survey(ctx context.Context, goal string) intent.Facts {
	if s.own == nil {
		return intent.Facts{}
	}
	if goal == "" {
		if err := s.own.Prepare(ctx); err != nil {
			s.Logger().Warn("the folder cannot be looked through", "error", err)
		}
	}
	facts, err := s.own.Facts(ctx, intent.NewSurvey(goal))
	if err != nil {
		s.Logger().Warn("the files named by the goal cannot be listed", "error", err)
	}
	return facts
}

// dirtyWithin limits how long git may take to list uncommitted changes; after
// that the run starts without the count.
const dirtyWithin = 2 * time.Second

// dirty counts the files with uncommitted changes, 0 without git.
func (s *Services) dirty(ctx context.Context) int {
	if s.own == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, dirtyWithin)
	defer cancel()
	files, err := s.own.Dirty(ctx)
	if err != nil {
		s.Logger().Info("the uncommitted files cannot be listed", "error", err)
		return 0
	}
	return files
}

// Facts searches the workspace for a command that runs nothing.
func (a *App) Facts(ctx context.Context, survey *intent.Survey) intent.Facts {
	own, err := workspace.New(workspace.Config{Dir: a.settings.Workspace, Private: a.settings.Dirs.All(), Hidden: a.settings.Hidden})
	if err != nil {
		return intent.Facts{}
	}
	defer own.Close() //nolint:errcheck // it was only read
	facts, err := own.Facts(ctx, survey)
	if err != nil {
		return intent.Facts{}
	}
	return facts
}
