package session

import (
	"context"
	"errors"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Queries are the questions that a session answers. Each query sees the effect of
// commands sent before it. After the session has ended, each returns [ErrClosed].
type Queries interface {
	// Runs lists the runs, newest first. The error names unreadable runs; the
	// others are still listed.
	Runs(ctx context.Context) ([]agent.Summary, error)
	// Journal returns the events of a run, by its full id.
	Journal(ctx context.Context, run string) ([]event.Event, error)
	// Conversations lists the conversations that can be continued, newest first.
	// The error names unreadable ones; the others are still listed.
	Conversations(ctx context.Context) ([]Conversation, error)
	// Models lists the available models and profiles.
	Models(ctx context.Context) (Models, error)
	// Servers lists the tool servers and their current tools. It does not wait
	// for starting servers.
	Servers(ctx context.Context) (Servers, error)
	// ServerLog returns the end of a tool server's log as soon as it is not at the
	// position after. It does so at once if that is negative.
	ServerLog(ctx context.Context, server string, after int64) (ServerLog, error)
	// Settings lists the settings in force.
	Settings(ctx context.Context) (Settings, error)
	// Completions lists the completions of one kind. The list may be incomplete
	// if there is an error.
	Completions(ctx context.Context, of Completing) (Completions, error)
	// FileHead returns the beginning of a file of the workspace. It fails if the file is
	// binary, or none.
	FileHead(ctx context.Context, name string) (FileHead, error)
	// PreviewUndo returns what [Undo] would do to a run, by its full id, or to
	// the newest run that changed files here, if it is "".
	PreviewUndo(ctx context.Context, run string) (event.Undo, error)
	// PreviewRedo returns what taking the last undo of a run back would do, by its full
	// id, or that of the run that was undone last here, if it is "".
	PreviewRedo(ctx context.Context, run string) (event.Undo, error)
	// PreviewCall returns what the call at an open gate would do with args in place
	// of its own. It fails if the call could not be made so.
	PreviewCall(ctx context.Context, run, gate string, args map[string]any) (plan.ToolPreview, error)
}

// FileHead is the beginning of a file, for a preview.
type FileHead struct {
	Text  untrusted.Text
	Whole bool // there is no more of it
}

// ErrClosed reports that the session has ended and answers no queries.
var ErrClosed = errors.New("the session is over")
