package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/config"
	"replan/mcpclient/connection"
	"replan/mcpclient/usage"
	"replan/planning/plan"
)

// Server is one MCP server. It is safe for concurrent use.
type Server struct {
	definition
	state      *state
	supervisor *supervisor
	caller     *caller
	log        *logReports
}

// New returns a server that has not been started. builtin makes the server if it is in
// this process; else it is nil.
func New(settings Settings, c config.Server, builtin func() *server.MCPServer, a Admission) *Server {
	d := definition{settings, c, builtin}
	s := &Server{definition: d, state: newState(settings.Signal, settings.RestartWaits, a), log: &logReports{}}
	s.caller = &caller{definition: d, state: s.state, calls: &usage.Record{}}
	s.supervisor = &supervisor{definition: d, state: s.state, mentioned: connection.NewMentions(), lineWritten: s.lineWritten}
	return s
}

// Replaces continues the records of the server that this one replaces, and ends that one.
// This one waits for the end: two at once might lock each other out. It must be called
// before Launch.
func (s *Server) Replaces(old *Server) {
	s.caller.follows(old.caller)
	s.supervisor.follows(old.supervisor)
	old.End()
}

// Launch starts and supervises the server, unless that was done or the server may not
// start. It does not wait.
func (s *Server) Launch() { s.supervisor.launch() }

// End stops the server for good. It does not wait.
func (s *Server) End() { s.supervisor.stop() }

// Call calls a tool of the server and returns its result, see package result. It waits
// while the server starts.
//
// The error wraps *plan.ToolError if the call did not do its work. It wraps the context's
// error if ctx or a time limit ended the call. After any other error, including an internal
// one of a built-in server, the effect of the call is unknown.
func (s *Server) Call(ctx context.Context, call plan.ToolCall) (any, error) {
	return s.caller.call(ctx, call)
}

// Preview asks a built-in tool what the call would change or run, without doing
// either. It fails for tools that do not support previews.
func (s *Server) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	return s.caller.preview(ctx, call)
}

// Name returns the name of the server.
func (s *Server) Name() string { return s.config.Name }

// Config returns the configuration of the server.
func (s *Server) Config() config.Server { return s.config }

// IsBuiltin reports whether the server is in this process.
func (s *Server) IsBuiltin() bool { return s.builtin != nil }

// View is what a server looks like at one moment.
type View struct {
	Name      string
	Builtin   bool
	State     plan.ServerState
	Why       string      // the problem, or else the state
	Tools     []plan.Tool // none unless the server is ready
	Resources bool        // it is ready and offers resources
	LeftOut   bool        // a server of the project, when no user was there to allow it
	Required  bool        // commands cannot do without it, and the user has decided about it
	Begun     time.Time   // time of the last start; zero if it was never started
}

// View returns what the server looks like now.
func (s *Server) View() View {
	now := s.state.facts()
	v := View{
		Name: s.config.Name, Builtin: s.builtin != nil, State: now.State, Why: now.why(),
		LeftOut: now.LeftOut, Required: s.isRequired(now), Begun: now.begun,
	}
	if now.State == plan.ServerReady {
		v.Tools = now.description.Tools()
		v.Resources = now.conn != nil && now.conn.Resources().Offered()
	}
	return v
}

// isRequired reports whether commands cannot do without the server.
func (s *Server) isRequired(now facts) bool {
	undecided := now.State == plan.ServerWaiting || now.LeftOut || now.Declined || s.config.Problem != "" && s.config.Source == config.SourceProject
	return s.config.Required && now.Disabled == "" && !undecided
}

// Pending returns the question for the user if the server waits for permission, as written
// in its file. Variables may be secrets, so they are not expanded.
func (s *Server) Pending() (question plan.PendingServer, waits bool) {
	return s.config.AsWritten(), s.state.facts().State == plan.ServerWaiting
}

// Allow starts a server that waits for permission. It reports false if it does not wait.
// The caller tells the watcher.
func (s *Server) Allow() bool {
	allowed := s.state.allow()
	if allowed {
		s.Launch()
	}
	return allowed
}

// Decline leaves out a server that waits for permission, since the user said no. It
// reports false if it does not wait. The caller tells the watcher.
func (s *Server) Decline() bool { return s.state.decline() }

// AskPermission makes a server that the user said no to wait for permission again. It
// reports whether it is one. The caller tells the watcher.
func (s *Server) AskPermission() bool { return s.state.askPermission() }

// IsAllowed reports whether the server is the project's own, and the user has allowed it.
func (s *Server) IsAllowed() bool { return s.isAllowed(s.state.facts()) }

func (s *Server) isAllowed(now facts) bool {
	return s.config.Source == config.SourceProject && s.builtin == nil && now.State != plan.ServerWaiting && !now.Declined && !now.LeftOut && !s.isBadEntry()
}

// MayToggle returns why the server cannot be disabled or enabled now, nil if it can.
func (s *Server) MayToggle(disable, forGood bool) error {
	disabled := s.state.facts().Disabled
	switch {
	case s.builtin != nil:
		return fmt.Errorf("%s is part of replan and cannot be disabled here", s.config.Name)
	case !disable && disabled == "":
		return fmt.Errorf("%s is not disabled", s.config.Name)
	case disable && disabled == plan.DisabledForGood, disable && disabled != "" && !forGood:
		return fmt.Errorf("%s is disabled already", s.config.Name)
	}
	return nil
}

// Startable returns why the server may not be started, nil if it may.
func (s *Server) Startable() error {
	return s.state.facts().startable(s.config.Name, s.isBadEntry())
}

// Restart stops the server if it runs, and starts it, without waiting. It fails, and
// changes nothing, if the server may not be started or is starting already. The caller
// tells the watcher.
func (s *Server) Restart() error {
	if err := s.Startable(); err != nil {
		return err
	}
	if s.state.isStarting() {
		return fmt.Errorf("%s is starting already", s.config.Name)
	}
	s.restart()
	return nil
}

// restart starts the server, or starts it again.
func (s *Server) restart() {
	if s.state.restart() {
		s.Launch()
	}
}

// Changes returns what the server says that the user has not accepted.
func (s *Server) Changes() []plan.ServerChange { return s.state.facts().description.Changes() }

// Accept pins what the server says in place of the earlier text, after the user has seen
// the difference. It fails if the server says something else by now.
func (s *Server) Accept(ctx context.Context, seen plan.ServerChange) error {
	description := s.state.facts().description
	if err := s.settings.Pins.Accept(ctx, s.config, description, seen); err != nil {
		return err
	}
	if _, changed := description.Accepted(seen); changed { // else another step has accepted it
		s.state.accept(seen)
	}
	return nil
}

// Refresh asks the server for its tools again if the list no longer holds, or if the
// server has failed and its tools are wanted.
func (s *Server) Refresh(wanted bool) {
	if wanted && s.state.askFailed() {
		return
	}
	if now := s.state.facts(); now.State == plan.ServerReady && now.conn.Stale() {
		now.conn.AskAgain()
	}
}

// Prompts returns the prompts of a ready server, as listed last.
func (s *Server) Prompts() []connection.Prompt {
	if now := s.state.facts(); now.State == plan.ServerReady && now.conn != nil {
		return now.conn.Prompts().Listed()
	}
	return nil
}

// Ask sends a request to a ready server. forgotten is true if an HTTP server has forgotten
// the session, after which the request may be sent once more.
func (s *Server) Ask(ctx context.Context, send func(context.Context, *connection.Connection) error) (forgotten bool, err error) {
	now := s.state.facts()
	if now.State != plan.ServerReady || now.conn == nil {
		return false, fmt.Errorf("the MCP server %q is not ready: %s", s.config.Name, now.why())
	}
	err = send(ctx, now.conn)
	if !errors.Is(err, transport.ErrSessionTerminated) {
		return false, err
	}
	s.state.suspend(now.conn, errForgotten)
	return true, err
}

// LogGrows returns a channel that is closed when the log of the server grows.
func (s *Server) LogGrows() <-chan struct{} { return s.log.next() }

// lineWritten notes a line in the log of the server.
func (s *Server) lineWritten() {
	if s.log.written(s.state.facts().lastLine != nil) {
		s.settings.Signal.Tell()
	}
}

// LogFile returns the file with the log of the server; "" if there is none.
func (s *Server) LogFile() string { return s.logFile(s.state.facts()) }

func (s *Server) logFile(now facts) string {
	if s.builtin != nil || now.begun.IsZero() {
		return ""
	}
	return connection.LogFile(s.settings.LogDir, s.config.Name)
}
