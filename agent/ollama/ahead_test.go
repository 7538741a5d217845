package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

// opening is a request that asks nothing, with about that many tokens of 3 bytes.
func opening(tokens int) prompt.Request {
	return prompt.Request{Messages: []prompt.Message{{Role: prompt.RoleSystem, Content: strings.Repeat("abc", tokens)}}, MaxTokens: 1}
}

// after is a request of a goal that begins as an opening does.
func after(o prompt.Request, goal string) prompt.Request {
	req := ask(goal)
	req.Messages = append(o.Messages[:1:1], prompt.Message{Role: prompt.RoleUser, Content: goal})
	return req
}

func TestForecastCountsWhatWasReadAhead(t *testing.T) {
	inFakeTime(t, slowMachine, func(t *testing.T, connect func() *ollama.Client) {
		client, ahead := connect(), opening(1000)
		for _, req := range []prompt.Request{long("b", 1000), ahead} { // the first one measures the machine
			if _, err := client.Ask(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
		}
		goal := after(ahead, strings.Repeat("xyz", 200))
		f, err := client.Forecast(t.Context(), goal)
		if err != nil || !near(f.Speed.Read, 25) || !near(f.New(), 200) {
			t.Errorf("%+v, %v: %d tokens to read, want 200 at 25 a second", f, err, f.New())
		}
		reply, err := client.Ask(t.Context(), goal, nil)
		if took := time.Duration(reply.PromptMS) * time.Millisecond; err != nil || !near(took, f.Reading()) {
			t.Errorf("read in %s, %v; want %s", took, err, f.Reading())
		}
	})
}

func TestForecastCountsWhatWasReadUntilItWasStopped(t *testing.T) {
	inFakeTime(t, slowMachine, func(t *testing.T, connect func() *ollama.Client) {
		client, ahead := connect(), opening(1000)
		if _, err := client.Ask(t.Context(), long("b", 1000), nil); err != nil { // the machine is known now
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := client.Ask(ctx, ahead, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		f, err := client.Forecast(t.Context(), after(ahead, "do it"))
		if err != nil || !near(f.New(), 500) {
			t.Errorf("%+v, %v: %d tokens to read, want the other half", f, err, f.New())
		}
	})
}

func TestRequestThatAsksNothingTakesNoScriptedReply(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
	client, ahead := connect(t, ollama.Config{Host: server.URL()}), opening(10)
	answered := ahead
	answered.Messages = append(answered.Messages, prompt.Message{Role: prompt.RoleUser, Content: "hello"}, prompt.Message{Role: prompt.RoleAssistant, Content: "hi"})
	for _, req := range []prompt.Request{ahead, answered} {
		if reply, err := client.Ask(testContext(t), req, nil); err != nil || reply.Text != "" {
			t.Errorf("the reply is %q, error %v", reply.Text, err)
		}
	}
	if reply, err := client.Ask(testContext(t), ask("well?"), nil); err != nil || reply.Text != "yes" {
		t.Errorf("the reply is %q, error %v", reply.Text, err)
	}
	if asked, read := len(server.Requests()), len(server.ReadAhead()); asked != 1 || read != 2 {
		t.Errorf("%d requests asked and %d were read ahead, want 1 and 2", asked, read)
	}
}

func TestModelOfAServiceIsRemote(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			_, _ = w.Write([]byte(`{"remote_model":"m","remote_host":"https://example.com","capabilities":["completion"]}`))
			return
		}
		http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer proxy.Close()
	for host, want := range map[string]bool{server.URL(): false, proxy.URL: true} {
		if info, err := connect(t, ollama.Config{Host: host}).Describe(testContext(t), "m"); err != nil || info.Remote != want {
			t.Errorf("remote %v, error %v; want %v", info.Remote, err, want)
		}
	}
}
