package runner_test

import (
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
)

// plainTools are tools whose servers need no permission.
type plainTools struct{ *tools }

func (plainTools) Revoke(server string) error { return runner.NoServers{}.Revoke(server) }

func TestToolsWithoutServersRefuseWhatTheUserWantsDoneToOne(t *testing.T) {
	for want, c := range map[string]session.Command{
		"these servers need no permission":       session.Revoke{Server: "k"},
		"these servers cannot be restarted here": session.Restart{Server: "k"},
		"these servers cannot be disabled here":  session.Enable{Server: "k"},
	} {
		s := open(t, policy.ApproveAll, func(s *stage) {
			s.config = func(c *runner.Config) { c.Tools = plainTools{s.tools} }
		})
		s.Send(c)
		if got := until[event.Note](t, s); got.Level != "warn" || string(got.Text) != want {
			t.Errorf("%T: got %+v, want %q", c, got, want)
		}
	}
}

func TestToolsWithoutServersHaveNoNews(t *testing.T) {
	var none runner.Servers = runner.NoServers{}
	if len(none.Status())+len(none.Pending())+len(none.Changes())+len(none.Notes()) > 0 || none.StartingFor([]string{"k"}) != 0 {
		t.Error("there is news")
	}
	if err := none.Reload(); err != nil {
		t.Error(err)
	}
	if _, _, err := none.Log(t.Context(), "k", -1); err == nil {
		t.Error("there is a log")
	}
}
