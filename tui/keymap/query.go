package keymap

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
)

// Query asks the session a question and returns its answer as a message. It runs
// off the goroutine that draws, and ends with the session.
type Query func(ctx context.Context, s runner.Queries) tea.Msg

// AnswerMsg is the answer to a query.
type AnswerMsg[T any] struct {
	Value T
	Err   error
}

// JournalMsg is the answer to the query for the events of a run.
type JournalMsg struct {
	Run    string
	Events []event.Event
	Err    error
}

// answer makes the message of an answer.
func answer[T any](value T, err error) tea.Msg { return AnswerMsg[T]{value, err} }

// QueryRuns asks for the runs.
func QueryRuns(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Runs(ctx)) }

// QueryConversations asks for the earlier conversations.
func QueryConversations(ctx context.Context, s runner.Queries) tea.Msg {
	return answer(s.Conversations(ctx))
}

// QueryModels asks for the models that are installed.
func QueryModels(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Models(ctx)) }

// QueryServers asks for the health of the MCP servers.
func QueryServers(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Servers(ctx)) }

// QuerySettings asks for the settings and their sources.
func QuerySettings(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Settings(ctx)) }

// QueryCompletions asks for completions of what is typed.
func QueryCompletions(of session.Completing) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Completions(ctx, of)) }
}

// QueryJournal asks for the events of a run.
func QueryJournal(run string) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg {
		events, err := s.Journal(ctx, run)
		return JournalMsg{run, events, err}
	}
}

// QueryUndo asks what undoing a run would do.
func QueryUndo(run string) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.PreviewUndo(ctx, run)) }
}
