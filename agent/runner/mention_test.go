package runner_test

import (
	"testing"

	"replan/agent/policy"
	"replan/agent/runner"
)

func TestSessionReadsAFileForAPreview(t *testing.T) {
	s := open(t, policy.ApproveNone, func(s *stage) {
		s.config = func(c *runner.Config) { c.InputHelp = &scriptedHelp{text: "package a"} }
	})
	if m, err := s.Mention(t.Context(), "a.go"); err != nil || m.Name != "a.go" || m.Text == "" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := s.Mention(t.Context(), "b.go"); err == nil {
		t.Error("a file that is not there is shown")
	}
	if _, err := open(t, policy.ApproveNone, nil).Mention(t.Context(), "a.go"); err == nil {
		t.Error("a session without files shows one")
	}
}
