package runner_test

import (
	"context"
	"sync/atomic"
	"testing"

	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
)

// The state of the repository is looked up at the start, and again after each run.
func TestStatusSaysWhetherFilesHaveUncommittedChanges(t *testing.T) {
	var counts atomic.Int32 // at the start, for the run, and after it
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Branch = func() string { return "main" }
			c.Dirty = func(context.Context) int { return max(int(counts.Add(1))-2, 0) }
		}
	})
	status(t, s, func(st session.Status) bool { return st.Branch == "main" && !st.Dirty })
	s.run(t, "do it")
	status(t, s, func(st session.Status) bool { return st.Branch == "main" && st.Dirty })
}
