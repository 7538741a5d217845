package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store"
	"replan/cli/crash"
	"replan/cli/exit"
	"replan/cli/folder"
	"replan/mcpclient"
	"replan/mcpclient/child"
	"replan/mcpclient/workspace"
	"replan/planning/intent"
	"replan/planning/plan"
)

// Config returns the configuration that all sessions share.
func (s *Services) Config() runner.Config { return s.config(s.app) }

// config returns the configuration of a session for an app, with its settings.
func (s *Services) config(a *App) runner.Config {
	in, gates, limits, execution := a.Folders(), a.Gates(), a.Limits(), a.Execution()
	planning := a.Planning().Instructed(s.instructions.Text, gates.Trusted)
	cfg := runner.Config{
		Model: s.model, Tools: s.tools,
		Workspace: in.Workspace, Trusted: gates.Trusted,
		Limits: limits.Run, SessionLimits: limits.Session, Rules: gates.Rules, Routing: planning.Routing, Approve: gates.Approve,
		Prompting: planning.Prompting, Profiles: planning.Profiles, Profile: planning.Profile, Instructions: s.instructions.File,
		Store:     a.Store(),
		EndLeft:   endLeft,
		Remember:  func(rule event.Always) error { return policy.Save(in.Dirs.ConfigFile(), rule) },
		Undo:      s.undo,
		Dirty:     s.dirty,
		Survey:    s.survey,
		Branch:    func() string { return folder.Branch(in.Workspace) },
		Host:      s.model.Host(),
		Settings:  a.Report,
		InputHelp: s.inputHelp(a),
		OpenPage:  Browser(a.IO().Getenv),
		Raise:     limits.Raised,
		DryRun:    execution.DryRun, RequireVerified: execution.RequireVerified,
		OnFailure: execution.OnFailure,
		Review:    execution.Review,
		Reviewer:  a.Asks(),
		NewID:     NewID,
		Crashed: func(value any, stack []byte) string {
			return crash.Report(in.Dirs.Crashes(), a.Version(), value, stack)
		},
		Logger: s.Logger(),
	}
	if execution.DryRun {
		cfg.Store, cfg.Remember = store.Dry{Store: a.Store(), NoResume: a.Out().NoDryResume()}, nil
	}
	return cfg
}

// inputHelp returns the input help of a session. Even without the workspace's tools, the
// user may mention its files.
func (s *Services) inputHelp(a *App) runner.InputHelp {
	if s.own == nil && s.named == nil {
		var err error
		if s.named, err = workspace.New(workspace.Config{Dir: s.work.folder(), Private: a.Folders().Dirs.All(), Hidden: a.Gates().Hidden, Logger: s.Logger(), Box: s.work.contains()}); err != nil {
			s.Logger().Warn("files cannot be named", "error", err)
		}
	}
	return newInputHelp(a, cmp.Or(s.own, s.named), s.tools, s.model)
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
func (t toolsOf) Notes() []string { return t.NotesOn(t.server) }

// planSink is a store that stores created plans elsewhere.
type planSink struct {
	runner.Store
	keep func(plan.Plan) (plan.Plan, error)
}

// SavePlan stores a plan.
func (k planSink) SavePlan(p plan.Plan) (plan.Plan, error) { return k.keep(p) }

// Aside starts another session over the same tools, which asks no questions, for a command
// that was typed into the chat.
func (s *Services) Aside(ctx context.Context, a *App) (*runner.Session, error) {
	cfg := s.config(a)
	cfg.Tools, cfg.Approve = asideTools{tools: s.tools}, policy.ApproveNone
	session, err := runner.NewSession(ctx, cfg)
	return session, exit.Wrap("start", err)
}

// asideTools are the tools of another session, which alone watches their servers and
// asks about them.
type asideTools struct {
	runner.NoServers
	tools *mcpclient.Pool
}

// Ready waits for all servers and returns their tools.
func (t asideTools) Ready(ctx context.Context) plan.Catalog { return t.tools.Ready(ctx) }

// ReadyFor waits for the servers of the named tools; see [mcpclient.Pool.ReadyFor].
func (t asideTools) ReadyFor(ctx context.Context, names []string) (plan.Catalog, []string) {
	return t.tools.ReadyFor(ctx, names)
}

// Call calls a tool.
func (t asideTools) Call(ctx context.Context, call plan.ToolCall) (any, error) {
	return t.tools.Call(ctx, call)
}

// Preview returns the effects of a call without applying them.
func (t asideTools) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	return t.tools.Preview(ctx, call)
}

// Status returns the health of each server.
func (t asideTools) Status() []plan.ServerStatus { return t.tools.Status() }

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

// NewID returns an id for a run or a session: the time, for sorting, and a random
// part.
func NewID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails, according to its documentation
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
}

// undo reverts or redoes a run, for "" see [Undoing.Newest], with the session's own
// operators, so that nothing else changes files meanwhile.
func (s *Services) undo(ctx context.Context, c session.Undo, dry bool) (done event.Undo, err error) {
	u, own := s.app.Undoing(), s.work.undoes(s.own)
	if own == nil { // the session does not use them
		if own, err = u.Operators(s.Logger()); err != nil {
			return event.Undo{Run: c.Run}, err
		}
		defer func() { err = errors.Join(err, own.Close()) }()
	}
	if c.Run != "" {
		return u.Run(ctx, own, c, dry)
	}
	if c.Run, err = u.Newest(c.Redo); err != nil {
		return event.Undo{}, err
	}
	if done, err = u.Run(ctx, own, c, dry); err == nil {
		if r, err := s.app.Store().Runs.Fold(c.Run); err == nil {
			done.Goal = r.Summary().Goal
		}
	}
	return done, err
}
