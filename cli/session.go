package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	mcpconfig "replan/mcpclient/config"
	"replan/planning/intent"

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
	"replan/cli/mcp"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/mcpclient"
	"replan/mcpclient/box"
	"replan/mcpclient/child"
	"replan/mcpclient/oauth"
	"replan/mcpclient/workcopy"
	"replan/mcpclient/workspace"
	"replan/planning/plan"
)

// services holds everything a session works with, until it is closed.
type services struct {
	session *runner.Session
	model   *ollama.Client
	tools   *mcpclient.Pool
	own     *workspace.Operators // nil without the workspace's operators
	named   *workspace.Operators // for files that the user names, if own is nil
	log     *os.File
	secrets redact.Secrets // known ones, which no output holds
	logger  *slog.Logger
	loud    func()               // gives libraries their own logs back; nil if they still have them
	watch   *crash.Watch         // ends the children if this process cannot; nil is none
	box     *box.Box             // contains the children; nil contains nothing
	copy    *workcopy.Copy       // that runs work in; nil if they work in the workspace itself
	target  *workspace.Operators // of the workspace if own works in a copy
	notes   []string             // for the user, before the session begins
	servers []mcpconfig.Server

	exitNote atomic.Pointer[string] // for the user, after the session

	instructions     string // of the project
	instructionsFile string // their source, relative to the workspace; "" if none
}

// opening configures how a session opens.
type opening struct {
	trust    mcpclient.TrustMode // whom to ask whether the project's servers may start
	attended bool                // somebody can answer questions about steps
	inDoubt  event.DoubtDecision // the answer for steps in doubt if nobody can
	restored *runner.Restored    // the session to continue; nil starts a new one
	about    string              // the only server whose troubles the session tells; "" tells all
	// keep stores a created plan; nil stores it among the plans.
	keep func(plan.Plan) (plan.Plan, error)
	// runs says that runs start, which work in a copy of the workspace if the user
	// isolates them.
	runs   bool
	resume string // the run that is resumed, if known; "" is none
	// screen says that the full screen is used: what the user chooses there is saved
	// in the user's configuration, and servers start after the first frame.
	screen bool
}

// open prepares a workshop and starts its session.
func (o wiring) open(ctx context.Context, how opening) (w *services, err error) {
	w, err = o.prepare(ctx, how)
	if err != nil {
		return w, err
	}
	if err := w.begin(ctx, o.options, how); err != nil {
		return w, errors.Join(err, w.close())
	}
	return w, nil
}

// prepare opens everything a session works with.
func (o wiring) prepare(ctx context.Context, how opening) (w *services, err error) {
	w = &services{watch: o.newWatch()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.logger, err = w.openLog(o.store.Dirs.Logs()); err != nil {
		return w, err
	}
	if how.resume != "" && !o.Changed("isolate") && workcopy.Elsewhere(o.store.Dirs.Copies(), o.Workspace, how.resume) != nil {
		o.Isolate.On = true // the run continues where it worked
	}
	if w.model, err = ollama.New(ollama.Config{Host: o.Host, Model: o.Model, ContextWindow: o.ContextWindow, KeepAlive: o.KeepAlive, Learned: o.store.Dirs.Servers(), Findings: o.store.Dirs.Findings(), Settings: o.settings, Logger: w.logger}); err != nil {
		if o.HostConfigured() {
			return w, o.Misconfigured(fmt.Errorf("model.host: %w", err))
		}
		return w, exit.Usage("%w", err)
	}
	if err := w.openTools(ctx, o.options, how, w.logger); err != nil {
		return w, err
	}
	return w, w.readInstructions(o.Workspace)
}

// begin starts the session.
func (w *services) begin(ctx context.Context, o *options, how opening) (err error) {
	cfg := o.wiring().sessionConfig(w)
	if how.about != "" {
		cfg.Tools = toolsOf{w.tools, how.about}
	}
	cfg.Attended, cfg.InDoubt, cfg.Restored = how.attended, how.inDoubt, how.restored
	if how.screen && !o.DryRun {
		cfg.Keep, cfg.Warm = o.Keep, true
	}
	if how.runs && !o.DryRun {
		cfg.Copy = copies{o: o, w: w, quiet: !how.screen}
	}
	if w.copy != nil {
		cfg.Dirty = nil // what the user has not committed stays apart
	}
	if how.keep != nil {
		cfg.Store = keeping{cfg.Store, how.keep}
	}
	cfg.Slash = func(ctx context.Context, line string, now runner.SlashState) (runner.Answer, error) {
		return o.chat().slash(ctx, w, now, line)
	}
	w.session, err = runner.NewSession(ctx, cfg)
	return exit.Wrap("start", err)
}

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

// sessionConfig returns the configuration that all sessions share.
func (o wiring) sessionConfig(w *services) runner.Config {
	manner := o.Manner.Instructed(w.instructions, o.Trusted)
	cfg := runner.Config{
		Model: w.model, Tools: w.tools,
		Workspace: o.Workspace, Trusted: o.Trusted,
		Limits: o.Limits, SessionLimits: o.SessionLimits, Rules: o.Rules, Routing: o.Routing, Approve: o.Approve,
		Prompting: manner.Prompting, Profiles: manner.Profiles, Profile: manner.Profile, Instructions: w.instructionsFile,
		Store:     o.store,
		EndLeft:   w.endLeft,
		Remember:  func(rule event.Always) error { return policy.Save(o.store.Dirs.ConfigFile(), rule) },
		Undo:      o.undoes(w),
		Dirty:     w.dirty,
		Survey:    w.survey,
		Branch:    func() string { return folder.Branch(o.Workspace) },
		Host:      w.model.Host(),
		Settings:  o.Report,
		InputHelp: o.inputHelp(w),
		OpenPage:  mcp.Browser(o.io.Getenv),
		Raise:     o.Raised,
		DryRun:    o.DryRun, RequireVerified: o.RequireVerified,
		OnFailure: o.OnFailure,
		Review:    o.Review,
		Reviewer:  o.asks(),
		NewID:     newID,
		Crashed: func(value any, stack []byte) string {
			return crash.Report(o.store.Dirs.Crashes(), Version, value, stack)
		},
		Logger: w.logger,
	}
	if o.DryRun {
		cfg.Store, cfg.Remember = store.Dry{Store: o.store, NoResume: o.noDryResume()}, nil
	}
	return cfg
}

// keeping is a store that stores created plans elsewhere.
type keeping struct {
	runner.Store
	keep func(plan.Plan) (plan.Plan, error)
}

// SavePlan stores a plan.
func (k keeping) SavePlan(p plan.Plan) (plan.Plan, error) { return k.keep(p) }

// noDryResume returns why a dry run cannot resume another run.
func (o *options) noDryResume() error {
	return exit.Usage("a resume cannot be a dry run: use %s ID --dry-run", o.named("plan run"))
}

// poolConfig returns the settings that every pool of tool servers has.
func (o *options) poolConfig(trust mcpclient.TrustMode) mcpclient.Config {
	return mcpclient.Config{
		Dir: o.Workspace, Trust: trust, TrustFile: o.Dirs.Trust(), PinDir: o.Dirs.Pins(), HandshakeFile: o.Dirs.Handshakes(), Version: Version, Logins: o.wiring().logins(),
		UserFile: o.Dirs.MCPServers(), DisabledFile: o.Dirs.DisabledServers(),
	}
}

// openTools starts the workspace's operators and the MCP servers.
func (w *services) openTools(ctx context.Context, o *options, how opening, logger *slog.Logger) error {
	cfg := o.poolConfig(how.trust)
	cfg.Logger, cfg.LogDir = logger, o.store.Dirs.Logs()
	cfg.Secrets = &w.secrets
	cfg.Later = how.screen // until the screen is drawn
	err := w.openCopy(ctx, o, how)
	if err == nil {
		err = w.makeBox(o)
	}
	if err != nil {
		return err
	}
	cfg.Box, cfg.WorkDir = w.box, w.folder(o)
	cfg.Watcher, cfg.Browse = w.watcher(), mcp.Browser(o.io.Getenv)
	cfg.Reread = func() ([]mcpconfig.Server, error) { return o.wiring().readServers(w.copy) }
	if cfg.Servers, err = cfg.Reread(); err != nil {
		return err
	}
	doubts, err := o.CheckToolNames(len(cfg.Servers) > 0)
	if err != nil {
		return exit.Usage("%w", err)
	}
	w.notes = append(w.notes, doubts...)
	w.servers = cfg.Servers
	if !o.NoWorkspaceTools && o.Wants("workspace") {
		if w.own, err = workspace.New(workspace.Config{
			Dir:      cfg.WorkDir,
			Backups:  w.backups(o),
			Private:  o.store.Dirs.All(),
			Hidden:   o.Hidden,
			SpillDir: o.store.Dirs.Outputs(),
			Memory:   o.store.Dirs.Memory(),
			Logger:   logger,
			Watcher:  cfg.Watcher,
			Box:      w.box,

			Servers: o.wiring().languageServers(w), MissingServer: o.wiring().offerServer(w),
		}); err != nil {
			return exit.Usage("%w", err)
		}
		cfg.InProcess = map[string]func() *server.MCPServer{"workspace": w.own.Server}
	}
	if err := w.openTarget(o); err != nil {
		return err
	}
	// Only Close ends the pool, after the running calls were stopped: servers
	// must hear of that before they exit.
	if w.tools, err = mcpclient.NewPool(context.WithoutCancel(ctx), cfg); err != nil {
		return exit.Usage("%w", err)
	}
	if how.trust == mcpclient.TrustAsk {
		return nil // the screen says what is missing, and opens all the same
	}
	if err := w.tools.CheckRequired(ctx); err != nil && ctx.Err() == nil {
		return &exit.Error{Status: exit.BadUsage, Code: "required_server", Err: err}
	}
	return ctx.Err()
}

// logins returns the logins to MCP servers, whose tokens are in the keyring of the
// system unless REPLAN_KEYRING is off.
func (o wiring) logins() *oauth.Store {
	if o.io.Getenv("REPLAN_KEYRING") == "off" {
		return oauth.NewStore(o.Dirs.Logins(), nil)
	}
	return o.allLogins()
}

// allLogins returns the logins to MCP servers, those in the keyring too if it is off.
func (o wiring) allLogins() *oauth.Store {
	return oauth.NewStore(o.Dirs.Logins(), oauth.SystemKeyring(o.io.Getenv))
}

// ignored says what is ignored in the files of the servers, and which were left out.
// With a name it is about that server alone.
func (w *services) ignored(server string) (notes []string) {
	if w.tools == nil {
		return nil
	}
	other := func(name string) bool { return server != "" && name != server }
	for _, s := range w.servers {
		if !other(s.Name) {
			notes = append(notes, s.Notes...)
		}
	}
	if left := slices.DeleteFunc(w.tools.LeftOut(), other); len(left) > 0 {
		notes = append(notes, leftOut(left))
	}
	return notes
}

// leftOut says which servers of the project nobody was there to allow.
func leftOut(names []string) string {
	are, them := "server "+names[0]+" of this project's .mcp.json is", "it"
	if len(names) > 1 {
		are, them = "servers "+english.List(names, "and")+" of this project's .mcp.json are", "them"
	}
	return fmt.Sprintf("the MCP %s left out: approve %s once on the screen, or use --mcp-config .mcp.json", are, them)
}

// watcher returns the watcher that ends the children if this process cannot; nil
// is none.
func (w *services) watcher() child.Watcher {
	if w.watch == nil {
		return nil
	}
	return w.watch
}

// endLeft ends what a killed program left running, and describes it.
func (w *services) endLeft(ctx context.Context, left event.StepProcess) string {
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

// readServers returns the MCP servers of the flag, the user and the project. An
// error in the flag's file ends the program. Any other error fails only its
// server, or one that stands for the whole file.
//
// With a copy they work in it.
func (o wiring) readServers(work *workcopy.Copy) ([]mcpconfig.Server, error) {
	servers, err := o.configured(work)
	if err != nil {
		return nil, err
	}
	return o.onlyWanted(servers)
}

// knownSecrets returns those of the environment, and of all servers and hosts that are configured.
func (o wiring) knownSecrets() *redact.Secrets {
	known := &redact.Secrets{}
	known.AddEnviron(os.Environ())
	known.AddAddress(o.Host)
	servers, _ := o.configured(nil) // a file that cannot be read is told where it is used
	for _, s := range servers {
		s.AddSecrets(known)
	}
	return known
}

// configured returns all servers of [wiring.readServers], wanted or not.
func (o wiring) configured(work *workcopy.Copy) ([]mcpconfig.Server, error) {
	var servers []mcpconfig.Server
	if o.MCPConfig != "" {
		read, err := mcpconfig.Read(o.MCPConfig, mcpconfig.SourceFlag, work.Copied(o.Workspace))
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
	own := o.Dirs.MCPServers()
	read, err := mcpconfig.Read(own, mcpconfig.SourceUser, work.Copied(o.Workspace))
	add(read, own, mcpconfig.SourceUser, err)
	read, path, err := mcpconfig.ReadProject(o.Workspace, xdg.Home, work.Copied)
	add(read, path, mcpconfig.SourceProject, err)
	return servers, nil
}

// onlyWanted filters the servers by --server; without it, all remain.
func (o wiring) onlyWanted(servers []mcpconfig.Server) ([]mcpconfig.Server, error) {
	if len(o.Servers) == 0 {
		return servers, nil
	}
	known := map[string]bool{"workspace": true}
	var wanted []mcpconfig.Server
	for _, s := range servers {
		known[s.Name] = true
		if o.Wants(s.Name) {
			wanted = append(wanted, s)
		}
	}
	for _, name := range o.Servers {
		if !known[name] {
			for _, s := range servers {
				if s.Problem != "" {
					return nil, exit.Usage("there is no MCP server %q, and %q cannot be used: %s", name, s.Name, s.Problem)
				}
			}
			return nil, exit.Usage("there is no MCP server %q: name one of your configuration, or workspace", name)
		}
	}
	return wanted, nil
}

// openLog directs the log to a file, never to the screen, with what libraries log by
// themselves.
func (w *services) openLog(dir string) (*slog.Logger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, exit.Wrap("create the folder of logs; choose another with --data-dir", err)
	}
	var err error
	w.log, err = os.OpenFile(filepath.Join(dir, "replan.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the user's own folder
	if err != nil {
		return nil, exit.Wrap("open the log", err)
	}
	w.secrets.AddEnviron(os.Environ())
	logger := slog.New(slog.NewTextHandler(w.secrets.Writer(w.log), nil))
	w.loud = sendLibraryLogs(logger)
	return logger, nil
}

// close stops everything, including children, and waits for it. It discards the
// remaining events of the session.
func (w *services) close() error {
	var errs []error
	if w.session != nil {
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			for range w.session.Events() { //nolint:revive // nobody is listening any more
			}
		}()
		w.session.Close()
		<-drained
	}
	if w.tools != nil {
		errs = append(errs, w.tools.Close())
	}
	for _, files := range []*workspace.Operators{w.own, w.named, w.target} {
		if files != nil {
			errs = append(errs, files.Close())
		}
	}
	if w.model != nil {
		errs = append(errs, w.model.Close())
	}
	if w.watch != nil {
		w.watch.Stop()
	}
	if made := w.box.Made(); made != "" {
		w.exitNote.Store(&made)
	}
	errs = append(errs, w.box.Close(), w.copy.Close())
	if w.log != nil {
		w.loud()
		errs = append(errs, w.log.Close())
	}
	return errors.Join(errs...)
}

// newID returns an id for a run or a session: the time, for sorting, and a random
// part.
func newID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

// readInstructions reads the project's instructions for the prompts and the
// screen.
func (w *services) readInstructions(workspace string) error {
	found, err := instructions.Find(workspace, xdg.Home)
	if err != nil {
		return exit.Wrap("read the project's instructions", err)
	}
	w.instructions, w.instructionsFile = found.Text, found.File
	if found.Note != "" {
		w.notes = append(w.notes, found.Note)
	}
	return nil
}

// survey searches the workspace for the names in a goal, so that its chain
// matches what exists. Without a goal it prepares the next search. On failure nothing is known, and the operators report why.
func (w *services) survey(ctx context.Context, goal string) intent.Facts {
	if w.own == nil {
		return intent.Facts{}
	}
	if goal == "" {
		if err := w.own.Prepare(ctx); err != nil {
			w.logger.Warn("the folder cannot be looked through", "error", err)
		}
	}
	facts, err := w.own.Facts(ctx, intent.NewSurvey(goal))
	if err != nil {
		w.logger.Warn("the files named by the goal cannot be listed", "error", err)
	}
	return facts
}

// facts searches the workspace for a command that runs nothing.
func (o router) facts(ctx context.Context, survey *intent.Survey) intent.Facts {
	own, err := workspace.New(workspace.Config{Dir: o.Workspace, Private: o.store.Dirs.All(), Hidden: o.Hidden})
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
