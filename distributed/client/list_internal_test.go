package client

import (
	"cmp"
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/distributed/records"
)

// listed describes the runs of a list in short.
func listed(t *testing.T, c *Client) (out []string) {
	t.Helper()
	all, err := c.Runs(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		out = append(out, s.Run+" "+string(s.Status)+" "+string(s.Reason)+" "+string(cmp.Or(s.Goal, s.Title))+": "+string(s.Why))
	}
	return out
}

func TestListHasRunsThatHaveNotBegun(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")()
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveUnasked})
	if got, want := listed(t, c), []string{"r-1 waiting  Gated: no worker of version test is there: start one with replan-worker work"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	submit(t, c, remote.Task{Run: "r-2", Goal: "ask", Needs: remote.Needs{Servers: []string{"github"}}})
	submit(t, c, remote.Task{Run: "r-3", Goal: "fail"})
	stop := startHost(t, address, "w2")
	await[event.ChatReply](t, follow(t, c, "r-1"))
	if reply := await[event.ChatReply](t, follow(t, c, "r-3")); reply.Reason != event.ReasonNotOpened {
		t.Errorf("the run that cannot be opened ended with %+v", reply)
	}
	submit(t, c, remote.Task{Run: "r-4", Plan: &gated, Attended: true, Approve: policy.ApproveAsk})
	await[event.GateRequested](t, follow(t, c, "r-4"))
	want := []string{
		"r-4 running  Gated: ", "r-3 failed not_opened fail: there is no such revision",
		"r-2 waiting  ask: no worker offers the MCP server github", "r-1 failed denied Gated: ",
	}
	if got := listed(t, c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	newest, err := c.Find(t.Context(), "")
	if s, events, failed := c.Run(t.Context(), newest); err != nil || failed != nil || s.Run != "r-4" || s.Resumable || len(events) == 0 {
		t.Errorf("the newest run is %+v with %d events, %v %v", s, len(events), err, failed)
	}
	stop()
	if s, _, err := c.Run(t.Context(), "r-3"); err != nil || s.Status != event.StatusFailed || !s.Resumable || s.Started.IsZero() {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := c.Resume(t.Context(), "r-3", remote.Terms{}); err != nil {
		t.Errorf("a run that could not be opened is not resumed: %v", err)
	}
	if s, _, err := c.Run(t.Context(), "r-3"); err != nil || s.Status != agent.StatusWaiting {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestListSaysThatARunWaitsWhoseWorkerIsGone(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true, Approve: policy.ApproveAsk})
	await[event.GateRequested](t, follow(t, c, "r-1"))
	row, err := c.database.Row(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := c.database.Skim(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	dead := remote.Worker{ID: "w1", Version: "test"}
	for want, workers := range map[string][]remote.Worker{
		"the worker w1 is gone; the run waits for another":                                                                                                               {dead, {ID: "w2", Version: "test", Alive: true}},
		"the worker w1 is gone, and no worker of version test is there: start one with replan-worker work":                                                               {dead},
		"the worker w1 is gone, and no worker has version test, but others have next: start one of version test, or build replan and replan-worker from the same commit": {dead, {ID: "w2", Version: "next", Alive: true}},
	} {
		s, err := c.summary(t.Context(), row, found, workers)
		if err != nil || s.Status != agent.StatusWaiting || string(s.Why) != want {
			t.Errorf("got %s: %q, want %q, %v", s.Status, s.Why, want, err)
		}
	}
}

func TestListShowsTheEndOfARunWhileItsWorkerTidiesUp(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Approve: policy.ApproveUnasked})
	f := follow(t, c, "r-1")
	await[event.ChatReply](t, f)
	if err := <-f.err; err != nil {
		t.Fatal(err)
	}
	found, _, err := c.database.Skim(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	row := records.Row{Run: "r-1", Status: "PENDING", Worker: "w1", Version: "test"}
	s, err := c.summary(t.Context(), row, found, []remote.Worker{{ID: "w1", Version: "test", Alive: true}})
	if err != nil || s.Status != event.StatusFailed || s.Reason != event.ReasonDenied || !s.Resumable {
		t.Errorf("got %s, %s, %v", s.Status, s.Reason, err)
	}
}

func TestMissingWorkersAreExplained(t *testing.T) {
	old, other := remote.Worker{ID: "w1", Version: "1.0", Alive: true}, remote.Worker{ID: "w2", Version: "1.1", Alive: true, Servers: []string{"jira"}}
	dead := other
	dead.Alive = false
	for want, workers := range map[string][]remote.Worker{
		"no worker of version 1.1 is there: start one with replan-worker work":                                                             {dead},
		"no worker has version 1.1, but others have 1.0: start one of version 1.1, or build replan and replan-worker from the same commit": {old, dead},
		"no worker offers the MCP server github":                                                                                           {old, other},
	} {
		if got := Missing(workers, remote.Task{Needs: remote.Needs{Servers: []string{"github", "jira"}}}, "1.1"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
