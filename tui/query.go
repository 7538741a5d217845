package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
)

// query asks the session a question and returns its answer as a message. It runs
// off the goroutine that draws, and ends with the session.
type query func(ctx context.Context, s runner.Queries) tea.Msg

// answerMsg is the answer to a query.
type answerMsg[T any] struct {
	value T
	err   error
}

// journalMsg is the answer to the query for the events of a run.
type journalMsg struct {
	run    string
	events []event.Event
	err    error
}

// answer makes the message of an answer.
func answer[T any](value T, err error) tea.Msg { return answerMsg[T]{value, err} }

// The questions that the screen asks.
func queryRuns(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Runs(ctx)) }

func queryConversations(ctx context.Context, s runner.Queries) tea.Msg {
	return answer(s.Conversations(ctx))
}
func queryModels(ctx context.Context, s runner.Queries) tea.Msg   { return answer(s.Models(ctx)) }
func queryServers(ctx context.Context, s runner.Queries) tea.Msg  { return answer(s.Servers(ctx)) }
func querySettings(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Settings(ctx)) }

func queryCompletions(of session.Completing) query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.Completions(ctx, of)) }
}

func queryJournal(run string) query {
	return func(ctx context.Context, s runner.Queries) tea.Msg {
		events, err := s.Journal(ctx, run)
		return journalMsg{run, events, err}
	}
}

func queryUndo(run string) query {
	return func(ctx context.Context, s runner.Queries) tea.Msg { return answer(s.PreviewUndo(ctx, run)) }
}
