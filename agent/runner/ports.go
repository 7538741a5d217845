// Package runner is the only part of the engine that does I/O. A [Session] is
// what the screen and the command line talk to: it takes commands, carries out
// what the run says may be done next with a model and tools, and turns what
// comes back into one ordered stream of events. [Run] does so for a single run
// of a Go program that brings its own tools, with the same engine.
package runner

import (
	"context"
	"time"

	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Model is the language model a session talks to.
type Model interface {
	// Describe says what the model with this name is like, and for "" which one
	// will answer. It may ask the server, and fails with an error that wraps
	// prompt.ErrNoModel where there is none.
	Describe(ctx context.Context, name string) (prompt.ModelInfo, error)
	// Ask sends one request and returns the whole reply. While the reply
	// streams in, delta is called with each new piece, from one goroutine and
	// never after Ask has returned. A reply that ends before the model is done
	// is an error, not a short reply; as much of it as came in is returned
	// beside the error.
	Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error)
}

// Shelf is a model server as far as the user chooses from it. A [Model] may be
// one too.
type Shelf interface {
	// Models lists the models that the server has, in its order.
	Models(ctx context.Context) ([]prompt.ModelInfo, error)
	// Warm loads a model, so that the next request need not wait for that; ""
	// is the one that will answer.
	Warm(ctx context.Context, name string) error
	// KeepAlive is how long a model stays loaded after a request: 0 not at all,
	// below 0 for ever.
	KeepAlive() time.Duration
}

// Tools is every tool on offer, whichever server it comes from.
type Tools interface {
	// Ready waits until the servers that are starting have started or failed,
	// or ctx ends, and returns the tools there are then.
	Ready(ctx context.Context) plan.Catalogue
	// ReadyFor waits, until ctx ends, only for the servers that a plan needs
	// which calls tools by these names: those that a qualified name names, and
	// any other while nobody has a tool of a bare name. A name may be a pattern;
	// "*:*" is every tool. It returns the tools there are then, and the servers
	// that are still waited for.
	ReadyFor(ctx context.Context, names []string) (all plan.Catalogue, awaited []string)
	// Call calls a tool and returns its result, a JSON value with numbers as
	// json.Number. The error wraps *plan.ToolError where the tool itself
	// said that it failed.
	Call(ctx context.Context, call plan.ToolCall) (any, error)
	// Preview applies a call dry. It is asked only of tools that preview.
	Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error)
	// Status returns the health of each server, in a fixed order.
	Status() []plan.ServerStatus
	// Pending returns the project's own servers that wait for a yes.
	Pending() []plan.PendingServer
	// Answer starts the servers of Pending and remembers the yes, or leaves
	// them out.
	Answer(ctx context.Context, yes bool) error
	// Watch calls changed, from any goroutine, whenever Status would answer
	// differently from then on. A nil changed ends it.
	Watch(changed func())
}

// Restarter is a set of tools whose servers the user may restart. [Tools] may be
// one too.
type Restarter interface {
	// Restart stops a server if it runs, and starts it. It does not wait until the
	// server is ready.
	Restart(server string) error
}

// Aids help the user write: what can be typed, what was typed before, and what
// stands behind a name in it. They are asked from several goroutines at once.
type Aids interface {
	// Complete lists what can stand where the user types, and reports whether
	// there is more than it lists.
	Complete(ctx context.Context, of session.Completing) (items []session.Completion, more bool, err error)
	// Mention reads what a message names by an @. It fails with an error that
	// wraps [ErrUnnamed] where the name is of nothing and may be plain words.
	Mention(ctx context.Context, name string) (prompt.Mention, error)
	// History is what was sent before.
	History() (session.History, error)
	// Remember keeps what was sent for later sessions.
	Remember(text string) error
}
