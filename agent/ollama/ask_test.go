package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestReplyJoinsStream(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{{Text: "one two three", Thinking: "hm, let me see"}},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	var got pieces
	req := ask("count")
	req.Think = true
	reply, err := client.Ask(testContext(t), req, got.delta)
	if err != nil {
		t.Fatal(err)
	}
	text, thinking := got.joined()
	if text != "one two three" || reply.Text != text {
		t.Errorf("text %q, joined pieces %q, want the words of the script", reply.Text, text)
	}
	if thinking != "hm, let me see" || reply.Thinking != thinking {
		t.Errorf("thinking %q, joined pieces %q, want the words of the script", reply.Thinking, thinking)
	}
	if len(got.text) < 5 {
		t.Errorf("got %d pieces, want a stream of seven words", len(got.text))
	}
	if reply.CompletionTokens != 7 || reply.PromptTokens == 0 {
		t.Errorf("tokens %d in and %d out, want some in and 7 out", reply.PromptTokens, reply.CompletionTokens)
	}
	if reply.CutOff || reply.ContextWindow != 16384 || reply.MS < 0 {
		t.Errorf("reply %+v, want a whole one with a window of 16384", reply)
	}
}

func TestAskWithoutDelta(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("well?"), nil)
	if err != nil || reply.Text != "yes" {
		t.Errorf("reply %q, error %v", reply.Text, err)
	}
}

func TestInlineThinkTagsStayInText(t *testing.T) {
	const words = "<think>hm</think>\nyes"
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: words}}})
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("well?"), nil)
	if err != nil || reply.Text != words || reply.Thinking != "" {
		t.Errorf("reply %+v, error %v, want the unchanged text", reply, err)
	}
}

func TestThinkSettingFollowsModelAndFormat(t *testing.T) {
	for _, tc := range []struct {
		name         string
		capabilities []string
		format       bool
		think        bool
		want         any
	}{
		{"model without thinking", nil, false, true, nil},
		{"model without thinking, format", nil, true, true, nil},
		{"thinking model", thinker, false, true, true},
		{"thinking model, thinking off", thinker, false, false, false},
		{"thinking model, format", thinker, true, true, false},
		{"thinking model, format, thinking off", thinker, true, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: tc.capabilities, Replies: []ollamatest.Reply{{Text: "{}"}}})
			req := ask("go")
			if tc.format {
				req = formatted("go")
			}
			req.Think = tc.think
			if _, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil); err != nil {
				t.Fatal(err)
			}
			if got := server.Requests()[0].Think; got != tc.want {
				t.Errorf("think is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRequestsDisableTruncation(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", ContextLength: 9000, Capabilities: thinker,
		Replies: []ollamatest.Reply{{Text: "{}", Times: -1}},
	})
	client := connect(t, ollama.Config{Host: server.URL(), KeepAlive: 90 * time.Second})
	bounded := formatted("two")
	bounded.MaxTokens = 77
	for _, req := range []prompt.Request{ask("one"), bounded, ask("three")} {
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range server.Requests() {
		if r.NumCtx() != 9000 {
			t.Errorf("request %d has num_ctx %d, want 9000 in each", i, r.NumCtx())
		}
		if r.Truncate == nil || *r.Truncate || r.Shift == nil || *r.Shift {
			t.Errorf("request %d lets the server truncate or shift: %s", i, r.Raw)
		}
		if r.KeepAlive != "1m30s" {
			t.Errorf("request %d has keep_alive %v, want 1m30s", i, r.KeepAlive)
		}
		if want := map[bool]int{true: 77}[i == 1]; r.NumPredict() != want {
			t.Errorf("request %d has num_predict %d, want %d", i, r.NumPredict(), want)
		}
	}
	var schema map[string]any
	if err := json.Unmarshal(server.Requests()[1].Format, &schema); err != nil || schema["type"] != "object" {
		t.Errorf("format %s, want the schema of the request", server.Requests()[1].Format)
	}
	if first := server.Requests()[0]; len(first.Format) != 0 || first.Messages[0].Role != "system" || first.Last() != "one" {
		t.Errorf("first request %s, want the messages in order and no format", first.Raw)
	}
}

func TestTokenLimitCutsReplyOff(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "one two three four"}}})
	req := ask("count")
	req.MaxTokens = 2
	reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), req, nil)
	if err != nil || !reply.CutOff || reply.Text != "one two " {
		t.Errorf("reply %+v, error %v, want two words, cut off", reply, err)
	}
}

func TestBrokenStreamReturnsError(t *testing.T) {
	for _, tc := range []struct {
		name    string
		reply   ollamatest.Reply
		bytes   int
		want    string
		wrapped error
	}{
		{"stream ends before the first word", ollamatest.Reply{Text: "one", EndAfter: -1}, 0, "sent nothing", io.ErrUnexpectedEOF},
		{"connection breaks", ollamatest.Reply{Text: "one two three", CutAfter: 8}, 8, "broke off", io.ErrUnexpectedEOF},
		{"model dies in mid-reply", ollamatest.Reply{Text: "one two", Error: "llama runner process has terminated"}, 7, "llama runner process has terminated", nil},
		{"model dies at once", ollamatest.Reply{Error: "out of memory"}, 0, "out of memory", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{tc.reply}})
			var got pieces
			reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("go"), got.delta)
			var cut *ollama.CutStreamError
			if !errors.As(err, &cut) {
				t.Fatalf("reply %+v, error %v, want a CutStreamError", reply, err)
			}
			mentions(t, err, "m:latest", tc.want)
			if cut.Bytes != tc.bytes || tc.wrapped != nil && !errors.Is(err, tc.wrapped) {
				t.Errorf("error %#v, want %d bytes and %v within", cut, tc.bytes, tc.wrapped)
			}
			if text, _ := got.joined(); len(text) != tc.bytes {
				t.Errorf("got the pieces %q, want the text before the break", text)
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("got %d requests, want no retry of a broken reply", n)
			}
		})
	}
}

func TestRejectedThinkSettingIsRemembered(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{
			{
				When:   func(r ollamatest.Request) bool { return r.Think != nil },
				Status: 400, Error: `think value "high" is not supported for this model`, Times: -1,
			},
			{Text: "yes", Times: -1},
		},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	for range 2 {
		reply, err := client.Ask(testContext(t), ask("well?"), nil)
		if err != nil || reply.Text != "yes" {
			t.Fatalf("reply %+v, error %v", reply, err)
		}
	}
	var settings []any
	for _, r := range server.Requests() {
		settings = append(settings, r.Think)
	}
	if len(settings) != 3 || settings[0] != false || settings[1] != nil || settings[2] != nil {
		t.Errorf("think settings %v, want one rejection and none after it", settings)
	}
}

func TestThinkSettingIsDroppedOnce(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", Capabilities: thinker,
		Replies: []ollamatest.Reply{{Status: 400, Error: `"m" does not support thinking`, Times: -1}},
	})
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("well?"), nil)
	mentions(t, err, "does not support thinking")
	if n := len(server.Requests()); n != 2 {
		t.Errorf("%d requests, want two", n)
	}
}

func TestBusyServerIsRetried(t *testing.T) {
	const busy = "server busy, please try again. maximum pending requests exceeded"
	for _, tc := range []struct {
		name     string
		refusals int
		requests int
		served   bool
	}{
		{"has room in the end", 3, 4, true},
		{"stays busy", -1, 5, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{
				{Status: 503, Error: busy, Times: tc.refusals}, {Text: "here"},
			}})
			reply, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask("well?"), nil)
			if tc.served && (err != nil || reply.Text != "here") {
				t.Errorf("reply %+v, error %v", reply, err)
			}
			if !tc.served {
				mentions(t, err, "busy with other requests", server.URL())
			}
			if n := len(server.Requests()); n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestRetryEndsWithContext(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Status: 503, Error: "server busy", Times: -1}}})
	ctx, cancel := context.WithCancel(testContext(t))
	client := connect(t, ollama.Config{Host: server.URL(), RetryDelay: time.Hour})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := server.WaitForRequests(ctx, 1); err != nil {
			t.Error(err)
		}
		cancel()
	})
	_, err := client.Ask(ctx, ask("well?"), nil)
	group.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it to wrap context.Canceled", err)
	}
}

func TestLongPromptIsRefused(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", ContextLength: 2048, Replies: []ollamatest.Reply{{Text: "yes"}}})
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), ask(strings.Repeat("word ", 4000)), nil)
	var long *ollama.PromptTooLongError
	if !errors.As(err, &long) || long.ContextWindow != 2048 {
		t.Fatalf("error %v, want a PromptTooLongError with 2048 tokens", err)
	}
	mentions(t, err, "2048", "m:latest")
}

func TestRequestTimeout(t *testing.T) {
	for _, tc := range []struct {
		name    string
		purpose prompt.Purpose
		want    string
	}{
		{"whole reply", prompt.PurposeAnalysis, "was not done within 1ms"},
		{"silence before the first word", prompt.PurposeChat, "nothing came from the model for 1ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Purpose: string(tc.purpose), Text: "late", Hold: make(chan struct{})}}})
			client := connect(t, ollama.Config{Host: server.URL()})
			if _, err := client.Describe(testContext(t), ""); err != nil {
				t.Fatal(err)
			}
			req := ask("well?")
			req.Purpose, req.Timeout = tc.purpose, time.Millisecond
			_, err := client.Ask(testContext(t), req, nil)
			var late *ollama.TimeoutError
			if !errors.As(err, &late) || late.After != time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v, want a TimeoutError that wraps context.DeadlineExceeded", err)
			}
			mentions(t, err, tc.want)
		})
	}
}

func TestCancelEndsRequest(t *testing.T) {
	cause := errors.New("the user pressed Esc")
	t.Run("before the first word", func(t *testing.T) {
		server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "late", Hold: make(chan struct{})}}})
		ctx, cancel := context.WithCancelCause(testContext(t))
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := server.WaitForRequests(ctx, 1); err != nil {
				t.Error(err)
			}
			cancel(cause)
		})
		_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(ctx, ask("well?"), nil)
		group.Wait()
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("error %v, want it to wrap context.Canceled and the cause", err)
		}
	})
	t.Run("in mid-stream with a format", func(t *testing.T) {
		server := serve(t, ollamatest.Script{
			Model: "m", Capabilities: thinker, Pace: time.Hour,
			Replies: []ollamatest.Reply{{Text: " one two", Times: -1}},
		})
		ctx, cancel := context.WithCancel(testContext(t))
		_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(ctx, formatted("well?"), func(string, string) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want it to wrap context.Canceled", err)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%d requests, want none after the cancel", n)
		}
	})
}

func TestErrorAfterDoneIsIgnored(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	breaking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte(`{"message":{"content":"yes"},"done":true,"done_reason":"stop"}` + "\n"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer breaking.Close()
	reply, err := connect(t, ollama.Config{Host: breaking.URL}).Ask(testContext(t), ask("well?"), nil)
	if err != nil || reply.Text != "yes" {
		t.Errorf("reply %+v, error %v, want the whole reply", reply, err)
	}
}

func TestServerGoneBetweenRequests(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	if _, err := client.Ask(testContext(t), ask("well?"), nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := client.Ask(testContext(t), ask("still there?"), nil)
	mentions(t, err, "does not answer at "+server.URL(), "ollama serve", "--host")
	if !errors.Is(err, prompt.ErrNoModel) {
		t.Errorf("error %v, want it to wrap ErrNoModel", err)
	}
}

func TestServerDiesBeforeFirstWord(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "late", Hold: make(chan struct{})}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := server.WaitForRequests(testContext(t), 1); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err := client.Ask(testContext(t), ask("well?"), nil)
	group.Wait()
	var cut *ollama.CutStreamError
	if !errors.As(err, &cut) || cut.Bytes != 0 {
		t.Errorf("error %v, want a CutStreamError without a byte", err)
	}
}

func TestModelRemovedBetweenRequests(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Status: 404, Error: "model 'm' not found"}, {Text: "back"}}})
	client := connect(t, ollama.Config{Host: server.URL()})
	_, err := client.Ask(testContext(t), ask("well?"), nil)
	mentions(t, err, "no model m:latest", "ollama pull m:latest")
	if !errors.Is(err, prompt.ErrNoModel) {
		t.Errorf("error %v, want it to wrap ErrNoModel", err)
	}
	if reply, err := client.Ask(testContext(t), ask("and now?"), nil); err != nil || reply.Text != "back" {
		t.Errorf("reply %+v, error %v, want the model back", reply, err)
	}
}

func TestRequestWithoutMessages(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	_, err := connect(t, ollama.Config{Host: server.URL()}).Ask(testContext(t), prompt.Request{}, nil)
	mentions(t, err, "no message")
}

func TestTextSurvivesTransport(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Model: "m", ChunkSize: 3,
		Replies: []ollamatest.Reply{{TextFor: func(r ollamatest.Request) string { return strings.TrimPrefix(r.Last(), "echo ") }, Times: -1}},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	ctx := testContext(t)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.String().Draw(t, "words")
		var got pieces
		reply, err := client.Ask(ctx, ask("echo "+words), got.delta)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(words, "\uFFFD")
		if joined, _ := got.joined(); reply.Text != want || joined != want {
			t.Fatalf("reply %q, pieces %q, want %q", reply.Text, joined, want)
		}
	})
}
