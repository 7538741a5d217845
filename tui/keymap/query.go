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

// The questions that the screen asks.
func QueryRuns(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Runs(ctx)) }

func QueryConversations(ctx context.Context, s runner.Queries) tea.Msg {
	return answer(s.Conversations(ctx))
}
func QueryModels(ctx context.Context, s runner.Queries) tea.Msg   { return answer(s.Models(ctx)) }
func QueryServers(ctx context.Context, s runner.Queries) tea.Msg  { return answer(s.Servers(ctx)) }
func QuerySettings(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Settings(ctx)) }

func QueryCompletions(of session.Completing) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Completions(ctx, of)) }
}

func QueryJournal(run string) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg {
		events, err := s.Journal(ctx, run)
		return JournalMsg{run, events, err}
	}
}

func QueryUndo(run string) Query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.PreviewUndo(ctx, run)) }
}
