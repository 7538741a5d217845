package keymap

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
)

// Query asks the session a question and returns its answer as a message. It runs
// outside the drawing goroutine and ends with the session.
type Query func(ctx context.Context, s session.Queries) tea.Msg

// AnswerMsg carries the answer to a query.
type AnswerMsg[T any] struct {
	Value T
	Err   error
}

// Failure returns the error of the query, or nil.
func (a AnswerMsg[T]) Failure() error { return a.Err }

// Answer is the answer to a query of any kind.
type Answer interface{ Failure() error }

// All returns a query that asks several queries at the same time. Each answer
// arrives as a message of its own. It returns nil for no queries; nil ones do not
// count.
func All(queries ...Query) Query {
	queries = slices.DeleteFunc(queries, func(q Query) bool { return q == nil })
	if len(queries) == 0 {
		return nil
	}
	return func(ctx context.Context, s session.Queries) tea.Msg {
		var batch tea.BatchMsg
		for _, q := range queries {
			batch = append(batch, func() tea.Msg { return q(ctx, s) })
		}
		return batch
	}
}

// JournalMsg carries the answer to the query for the events of a run.
type JournalMsg struct {
	Run    string
	Events []event.Event
	Err    error
}

// answer wraps an answer in a message.
func answer[T any](value T, err error) tea.Msg { return AnswerMsg[T]{value, err} }

// QueryRuns requests the runs.
func QueryRuns(ctx context.Context, s session.Queries) tea.Msg { return answer(s.Runs(ctx)) }

// QueryConversations requests the earlier conversations.
func QueryConversations(ctx context.Context, s session.Queries) tea.Msg {
	return answer(s.Conversations(ctx))
}

// QueryModels requests the installed models.
func QueryModels(ctx context.Context, s session.Queries) tea.Msg { return answer(s.Models(ctx)) }

// QueryServers requests the health of the MCP servers.
func QueryServers(ctx context.Context, s session.Queries) tea.Msg { return answer(s.Servers(ctx)) }

// LogMsg carries the answer to the query for the log of a server.
type LogMsg struct {
	session.ServerLog
	Of any // what the query was made for
}

// Failure returns no error: a log that cannot be read says why.
func (LogMsg) Failure() error { return nil }

// QueryServerLog requests the end of a server's log, once it is not at the position
// after. It sends nothing once watched has ended. The answer carries of.
func QueryServerLog(watched context.Context, of any, server string, after int64) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(watched, cancel)()
		log, err := s.ServerLog(ctx, server, after)
		if err != nil || watched.Err() != nil {
			return nil
		}
		return LogMsg{log, of}
	}
}

// QuerySettings requests the settings and their sources.
func QuerySettings(ctx context.Context, s session.Queries) tea.Msg { return answer(s.Settings(ctx)) }

// QueryCompletions requests completions for the typed text.
func QueryCompletions(of session.Completing) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg { return answer(s.Completions(ctx, of)) }
}

// QueryJournal requests the events of a run.
func QueryJournal(run string) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg {
		events, err := s.Journal(ctx, run)
		return JournalMsg{run, events, err}
	}
}

// FileMsg carries the answer to the query for the beginning of a file.
type FileMsg struct {
	Name string
	Head session.FileHead
	Err  error
}

// Failure returns no error: a file that cannot be read is not shown.
func (FileMsg) Failure() error { return nil }

// QueryFile requests the beginning of a file of the workspace.
func QueryFile(name string) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg {
		head, err := s.FileHead(ctx, name)
		return FileMsg{name, head, err}
	}
}

// QueryUndo requests a preview of the undo of a run.
func QueryUndo(run string) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg { return answer(s.PreviewUndo(ctx, run)) }
}

// QueryRedo requests a preview of the redo of a run.
func QueryRedo(run string) Query {
	return func(ctx context.Context, s session.Queries) tea.Msg { return answer(s.PreviewRedo(ctx, run)) }
}
