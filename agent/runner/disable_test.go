package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// switchedTools are tools of servers that can be disabled and have logs.
type switchedTools struct {
	runner.Tools
	file string
	err  error
	done chan string
}

func (s *switchedTools) Disable(_ context.Context, server string, forGood bool) (string, error) {
	how := "off "
	if forGood {
		how = "off for good "
	}
	s.done <- how + server
	return s.file, s.err
}

func (s *switchedTools) Enable(_ context.Context, server string) (string, error) {
	s.done <- "on " + server
	return s.file, s.err
}

func (s *switchedTools) Log(ctx context.Context, server string, after int64) ([]string, int64, error) {
	if server == "none" {
		return nil, 0, errors.New("there is no MCP server")
	}
	if after >= 0 {
		<-ctx.Done()
		return nil, after, ctx.Err()
	}
	return []string{"a", "b"}, 4, nil
}

func switching(tools *switchedTools) func(*stage) {
	tools.done = make(chan string, 1)
	return func(s *stage) {
		s.config = func(c *runner.Config) { tools.Tools = c.Tools; c.Tools = tools }
	}
}

func TestDisabledServersAreReportedWithFileOrProblem(t *testing.T) {
	for name, test := range map[string]struct {
		tools   switchedTools
		command session.Command
		does    string
		note    string
	}{
		"for good": {switchedTools{file: "/c/mcp.json"}, session.Disable{Server: "k", ForGood: true}, "off for good k", `the choice about the MCP server "k" is saved in /c/mcp.json`},
		"enabled":  {switchedTools{file: "/c/mcp.json"}, session.Enable{Server: "k"}, "on k", "saved in /c/mcp.json"},
		"refused":  {switchedTools{err: errors.New("k is disabled already")}, session.Disable{Server: "k"}, "off k", "k is disabled already"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, policy.ApproveAll, switching(&test.tools))
			s.Send(test.command)
			if got := <-test.tools.done; got != test.does {
				t.Errorf("got %q, want %q", got, test.does)
			}
			for {
				if got := until[event.Note](t, s); strings.Contains(string(got.Text), test.note) {
					break
				}
			}
		})
	}
}

func TestServersThatCannotBeDisabledSaySo(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.Send(session.Disable{Server: "k"})
	if got := until[event.Note](t, s); got.Text != "these servers cannot be disabled here" {
		t.Errorf("got %q", got.Text)
	}
	if log, err := s.ServerLog(t.Context(), "k", -1); err != nil || log.Problem == "" {
		t.Errorf("log %+v, %v", log, err)
	}
}

func TestLogOfServerIsReadOrGivesReason(t *testing.T) {
	s := open(t, policy.ApproveAll, switching(&switchedTools{}))
	log, err := s.ServerLog(t.Context(), "k", -1)
	if err != nil || log.At != 4 || !slices.Equal(log.Lines, []untrusted.Text{"a", "b"}) {
		t.Errorf("got %+v, %v", log, err)
	}
	if log, err = s.ServerLog(t.Context(), "none", -1); err != nil || log.Problem != "there is no MCP server" {
		t.Errorf("got %+v, %v", log, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.ServerLog(context.Background(), "k", 4)
		ended <- err
	}()
	s.shut()
	if err := <-ended; !errors.Is(err, session.ErrClosed) {
		t.Errorf("a log that is waited for ends with %v", err)
	}
}

func TestSeveralBadEntriesAreReportedInOneLine(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.servers = []plan.ServerStatus{
			{Name: "broken", State: plan.ServerFailed, Error: "exited"},
			{Name: "a", State: plan.ServerFailed, BadEntry: true, Error: "no command"},
			{Name: "fine", State: plan.ServerReady, TaskTools: `"research"`},
			{Name: "b", State: plan.ServerFailed, BadEntry: true, Error: "no url"},
		}
	})
	s.Send(session.Submit{Text: "do it"})
	until[event.ChatReply](t, s)
	var notes []string
	for _, e := range s.seen {
		if note, ok := e.Data.(event.Note); ok {
			notes = append(notes, string(note.Text))
		}
	}
	want := []string{
		`the entries of 2 MCP servers cannot be used: "a" and "b"; the servers view (alt+s) and replan mcp list say why`,
		`the MCP server "broken": exited`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("got %q", notes)
	}
}
