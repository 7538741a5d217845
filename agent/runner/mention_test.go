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
	if m, err := s.FileHead(t.Context(), "a.go"); err != nil || !m.Whole || m.Text == "" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := s.FileHead(t.Context(), "b.go"); err == nil {
		t.Error("a file that is not there is shown")
	}
	if _, err := open(t, policy.ApproveNone, nil).FileHead(t.Context(), "a.go"); err == nil {
		t.Error("a session without files shows one")
	}
}
