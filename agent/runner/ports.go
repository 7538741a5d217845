package runner

import (
	"context"
	"errors"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Model is the language model a session talks to.
type Model interface {
	// Describe describes the model with the given name; "" is the model that will
	// answer. It may query the server. If there is no model, the error wraps
	// prompt.ErrNoModel.
	Describe(ctx context.Context, name string) (prompt.ModelInfo, error)
	// Ask sends one request and returns the whole reply. It calls delta with each
	// new piece of the stream, from one goroutine and never after it has
	// returned. If the reply ends before the model is done, Ask returns an error
	// together with the partial reply.
	Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error)
}

// ModelLister is a model server with several models to choose from. A [Model] may
// also implement ModelLister.
type ModelLister interface {
	// Models lists the models of the server, in the server's order.
	Models(ctx context.Context) ([]prompt.ModelInfo, error)
	// Warm loads a model ahead of the next request; "" is the model that will
	// answer.
	Warm(ctx context.Context, name string) error
	// KeepAlive returns how long a model stays loaded after a request. 0 unloads
	// it at once; a negative value keeps it forever.
	KeepAlive() time.Duration
}

// ModelInstaller is a model server that installs models. A [Model] may also
// implement ModelInstaller.
type ModelInstaller interface {
	// Pull downloads a model. It calls progress, from one goroutine, with what the
	// server does and with the bytes downloaded and known of so far. An error says
	// what to do.
	Pull(ctx context.Context, name string, progress func(step string, done, total int64)) error
	// Remove deletes a model. An error says what to do.
	Remove(ctx context.Context, name string) error
}

// ModelStarter is a model server that can be started on this machine. A [Model] may also
// implement ModelStarter.
type ModelStarter interface {
	// Serve starts the server, and returns once it answers. log is the file with its output. A
	// server that does not answer until ctx ends is stopped. An error says what to do.
	Serve(ctx context.Context) (log string, err error)
}

// ModelGrower is a model server that can give a model a larger context window. A
// [Model] may also implement ModelGrower.
type ModelGrower interface {
	// Grow gives a model, "" being the one that will answer, a context window of so many
	// tokens. It gives fewer if the server is not known to have the memory. The model may
	// have to be loaded again, so it grows at most once. Grow returns the model as it is
	// then, changed or not.
	Grow(ctx context.Context, name string, tokens int) (prompt.ModelInfo, error)
}

// ModelForecaster is a model server that knows how fast it is. A [Model] may also
// implement ModelForecaster.
type ModelForecaster interface {
	// Forecast returns how long a request should take. If the model may not be in
	// memory, Forecast loads it first: what follows is reading and writing alone.
	Forecast(ctx context.Context, req prompt.Request) (pace.Forecast, error)
}

// Tools gives access to the tools of all servers, and to the servers themselves.
type Tools interface {
	// Ready waits until all starting servers have started or failed, or until ctx
	// ends. It returns the tools available then.
	Ready(ctx context.Context) plan.Catalog
	// ReadyFor waits, until ctx ends, for the servers that offer the named tools.
	// A qualified name needs only its own server. A bare name waits for any
	// server until one offers that tool. A name may be a pattern; "*:*" matches
	// every tool. ReadyFor returns the tools available then and the servers that
	// are still starting.
	ReadyFor(ctx context.Context, names []string) (all plan.Catalog, awaited []string)
	// Call calls a tool and returns its result, a JSON value with numbers as
	// json.Number. The error wraps *plan.ToolError if the tool itself reported
	// the failure.
	Call(ctx context.Context, call plan.ToolCall) (any, error)
	// Preview returns the effects of a call without applying them. It is called
	// only for tools that support previews.
	Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
	Servers
}

// Servers lets the user manage the servers behind [Tools]. Tools with nothing to manage
// embed [NoServers].
type Servers interface {
	// Status returns the health of each server, in a fixed order.
	Status() []plan.ServerStatus
	// Watch registers a function to call, from any goroutine, whenever the result
	// of Status changes. nil unregisters it.
	Watch(changed func())
	// Notes returns what is new since the last call, for the user. Watch reports it.
	Notes() []string
	// StartingFor returns how long the server of these that was started last has
	// been starting. A goal waits that much less for it.
	StartingFor(servers []string) time.Duration

	// Pending returns the project's own servers that wait for the user's
	// approval.
	Pending() []plan.PendingServer
	// Answer starts the pending servers that the user was asked about and
	// remembers the approval, or leaves them out.
	Answer(ctx context.Context, asked []plan.PendingServer, yes bool) error
	// Revoke stops a server of the project and remembers that the user says no to it.
	Revoke(server string) error

	// Changes returns what servers say that the user has not accepted.
	Changes() []plan.ServerChange
	// Accept lets the tool or the instructions be used: the user has seen the change.
	// Only Server, Tool and Pin matter. It fails if the server says something else by
	// now.
	Accept(ctx context.Context, seen plan.ServerChange) error

	// Restart stops a server if it runs, and starts it. It does not wait until
	// the server is ready.
	Restart(server string) error
	// Disable stops a server and keeps it from starting, for good or until the
	// program ends. It returns the file that it changed, "" for none.
	Disable(ctx context.Context, server string, forGood bool) (file string, err error)
	// Enable starts a disabled server. It returns the file that it changed, "" for
	// none.
	Enable(ctx context.Context, server string) (file string, err error)
	// Reload reads the configuration again: it starts servers that are new, stops those
	// that are gone and restarts those that changed. It does not wait until they are
	// ready.
	Reload() error
	// Login logs in to a server in the user's browser, and restarts it. It calls show
	// once with the address to open. Addresses that the user copied from a browser
	// elsewhere come from pasted, which may be nil.
	Login(ctx context.Context, server string, show func(address string), pasted <-chan string) error
	// Log returns the newest lines of a server's log, oldest first, and the position
	// of its end. It waits until that is not after, or until ctx ends; a negative
	// one does not wait. The error says why there is no log.
	Log(ctx context.Context, server string, after int64) (lines []string, at int64, err error)
}

// NoServers implements [Servers] for tools that have no servers to manage. It reports
// nothing and asks nothing; what the user wants done to a server fails with the reason.
type NoServers struct{}

// Status returns no servers.
func (NoServers) Status() []plan.ServerStatus { return nil }

// Watch does nothing, since nothing changes.
func (NoServers) Watch(func()) {}

// Notes returns no notes.
func (NoServers) Notes() []string { return nil }

// StartingFor returns 0.
func (NoServers) StartingFor([]string) time.Duration { return 0 }

// Pending returns no servers.
func (NoServers) Pending() []plan.PendingServer { return nil }

// Answer does nothing, since nothing was asked.
func (NoServers) Answer(context.Context, []plan.PendingServer, bool) error { return nil }

// Revoke fails.
func (NoServers) Revoke(string) error { return errors.New("these servers need no permission") }

// Changes returns no changes.
func (NoServers) Changes() []plan.ServerChange { return nil }

// Accept does nothing, since nothing has changed.
func (NoServers) Accept(context.Context, plan.ServerChange) error { return nil }

// Restart fails.
func (NoServers) Restart(string) error { return errors.New("these servers cannot be restarted here") }

// Disable fails.
func (NoServers) Disable(context.Context, string, bool) (string, error) {
	return "", errors.New("these servers cannot be disabled here")
}

// Enable fails.
func (NoServers) Enable(context.Context, string) (string, error) {
	return "", errors.New("these servers cannot be disabled here")
}

// Reload does nothing, since there is no configuration.
func (NoServers) Reload() error { return nil }

// Login fails.
func (NoServers) Login(context.Context, string, func(string), <-chan string) error {
	return errors.New("these servers have no logins here")
}

// Log fails.
func (NoServers) Log(_ context.Context, _ string, after int64) ([]string, int64, error) {
	return nil, after, errors.New("these servers have no logs here")
}

// InputHelp helps the user write: completion, history and mentions. It must be safe
// for concurrent use.
type InputHelp interface {
	// Complete lists completions at the cursor and reports whether there are
	// more.
	Complete(ctx context.Context, of session.Completing) (items []session.Completion, more bool, err error)
	// Mention reads what a message mentions by an @. If nothing has that name and
	// it may be plain text, the error wraps [ErrUnnamed].
	Mention(ctx context.Context, name string) (prompt.Mention, error)
	// History returns what the user sent before.
	History() (session.History, error)
	// Remember keeps a sent message for later sessions.
	Remember(text string) error
}

// WorkingCopy is where runs work: in a copy of the workspace, until the user takes
// what they changed, or in the workspace itself.
type WorkingCopy interface {
	// Refresh makes the copy follow the workspace before a run. It fails if the run
	// to resume worked elsewhere.
	Refresh(ctx context.Context, resume string) error
	// Begin records that a run works in the copy, and reports whether there is one.
	Begin(run string) (copied bool, err error)
	// Changes returns what runs changed that was neither taken nor dropped.
	Changes(ctx context.Context) (event.Changes, error)
	// Settle takes the chosen changes and drops the others.
	Settle(ctx context.Context, choice event.ChangesChoice) (event.SettledChanges, error)
}
