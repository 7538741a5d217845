package ollama_test

import (
	"path/filepath"
	"sync"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
)

func TestClientRemembersModelsThatWriteCalls(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{{Text: `{"thought":"so","answer":"x"}`, Times: -1}},
	})
	file := filepath.Join(t.TempDir(), "learned.json")
	for _, before := range []bool{false, true} {
		client := connect(t, ollama.Config{Host: server.URL(), Learned: file})
		info, err := client.Describe(testContext(t), "m")
		if err != nil || info.WritesCalls != before {
			t.Fatalf("the model is %+v, error %v; want that it writes calls: %t", info, err, before)
		}
		req := formatted("look")
		req.Listed = plan.Offer{search}
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatal(err)
		}
		if info, err := client.Describe(testContext(t), "m"); err != nil || !info.WritesCalls {
			t.Errorf("after a listed request the model is %+v, error %v", info, err)
		}
	}
	for _, r := range server.Requests() {
		if len(r.Tools) > 0 {
			t.Errorf("a listed request offers tools to call: %+v", r.Tools)
		}
	}
}

// What was learned is known to all callers, also to those that come while it is read.
func TestConcurrentDescriptionsKnowWhatWasLearned(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: []ollamatest.Reply{{Text: "{}", Times: -1}}})
	file := filepath.Join(t.TempDir(), "learned.json")
	req := formatted("look")
	req.Listed = plan.Offer{search}
	if _, err := connect(t, ollama.Config{Host: server.URL(), Learned: file}).Ask(testContext(t), req, nil); err != nil {
		t.Fatal(err)
	}
	client := connect(t, ollama.Config{Host: server.URL(), Learned: file})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if info, err := client.Describe(testContext(t), "m"); err != nil || !info.WritesCalls {
				t.Errorf("the model is %+v, error %v", info, err)
			}
		})
	}
	group.Wait()
}
