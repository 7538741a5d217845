package ollamatest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 30 * time.Second // longest wait for anything

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// serve starts a server and Ollama's own client for it.
func serve(t *testing.T, script ollamatest.Script) (*ollamatest.Server, *api.Client) {
	t.Helper()
	server, err := ollamatest.Start(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, api.NewClient(base, &http.Client{Transport: purposeful{transport}})
}

// purposeful is a transport that adds the header that the context of a request has.
type purposeful struct{ base http.RoundTripper }

type headerKey struct{}

// sentFor returns a context for requests with the value of [prompt.PurposeHeader].
func sentFor(ctx context.Context, header string) context.Context {
	return context.WithValue(ctx, headerKey{}, header)
}

func (p purposeful) RoundTrip(req *http.Request) (*http.Response, error) {
	if header, _ := req.Context().Value(headerKey{}).(string); header != "" {
		req = req.Clone(req.Context())
		req.Header.Set(prompt.PurposeHeader, header)
	}
	return p.base.RoundTrip(req)
}

func chat(ctx context.Context, client *api.Client, name, words string) (lines []api.ChatResponse, err error) {
	req := &api.ChatRequest{Model: name, Messages: []api.Message{{Role: "user", Content: words}}}
	err = client.Chat(ctx, req, func(line api.ChatResponse) error {
		lines = append(lines, line)
		return nil
	})
	return lines, err
}

func text(lines []api.ChatResponse) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Message.Content)
	}
	return b.String()
}

func TestFirstMatchingReplyIsServed(t *testing.T) {
	mentions := func(word string) func(ollamatest.Request) bool {
		return func(r ollamatest.Request) bool { return strings.Contains(r.Last(), word) }
	}
	_, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{
		{Purpose: "analysis", Text: "analysis"},
		{Purpose: "args", Text: "args"},
		{Purpose: "step", Step: "1", Text: "step 1", Times: 3},
		{Purpose: "step", Text: "any step", Times: -1},
		{Purpose: "answer", When: mentions("green"), Text: "green"},
		{When: mentions("special"), Text: "special"},
		{Text: "chat"},
		{TextFor: func(r ollamatest.Request) string { return "echo " + r.Last() }, Text: "unused"},
	}})
	const none = "(none)"
	for i, tc := range []struct{ header, words, want string }{
		{"analysis", "goal", "analysis"},
		{"analysis", "goal", none},
		{"review", "goal", none},
		{"args; step=1", "goal", "args"},
		{"step; step=10", "goal", "any step"},
		{"agent; step=1.2", "goal", "any step"},
		{"step; step=1", "goal", "step 1"},
		{"args; step=1", "goal", "step 1"},
		{"agent; step=1", "goal", "step 1"},
		{"agent; step=1", "goal", "any step"},
		{"answer", "all red", none},
		{"answer", "all green", "green"},
		{"replan", "this is special", "special"},
		{"chat", "hello", "chat"},
		{"", "# Step 1", "echo # Step 1"},
		{"", "hello", none},
	} {
		lines, err := chat(sentFor(testContext(t), tc.header), client, "m", tc.words)
		if tc.want == none {
			var status api.StatusError
			if !errors.As(err, &status) || status.StatusCode != 500 || !strings.Contains(status.ErrorMessage, `no reply left for "`+cmp.Or(tc.header, "chat")+`"`) {
				t.Errorf("%d %q: lines %q, error %v, want HTTP 500 that names the purpose", i, tc.header, text(lines), err)
			}
			continue
		}
		if err != nil || text(lines) != tc.want {
			t.Errorf("%d %q: %q, error %v, want %q", i, tc.header, text(lines), err, tc.want)
		}
	}
}

func TestStreamIsByWordWithFinalCounts(t *testing.T) {
	_, client := serve(t, ollamatest.Script{
		Model: "m", Capabilities: []string{"completion", "thinking"},
		Replies: []ollamatest.Reply{{Text: "one  two\n\nthree", Thinking: "well now"}},
	})
	lines, err := chat(testContext(t), client, "m", "12345678")
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for _, l := range lines {
		pieces = append(pieces, l.Message.Thinking+"|"+l.Message.Content)
	}
	if want := []string{"well |", "now|", "|one  ", "|two\n\n", "|three", "|"}; !slices.Equal(pieces, want) {
		t.Errorf("pieces %q, want %q", pieces, want)
	}
	end := lines[len(lines)-1]
	if !end.Done || end.DoneReason != "stop" || end.PromptEvalCount != 2 || end.EvalCount != 5 || end.Model != "m" {
		t.Errorf("last line %+v, want done, stop, 2 tokens in and 5 out", end)
	}
}

func TestChunksJoinToText(t *testing.T) {
	var size int
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.StringN(0, 60, -1).Draw(rt, "words")
		size = rapid.IntRange(0, 7).Draw(rt, "size")
		server, err := ollamatest.Start(t.Context(), ollamatest.Script{Model: "m", ChunkSize: size, Replies: []ollamatest.Reply{{Text: words}}})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := server.Close(); err != nil {
				rt.Error(err)
			}
		}()
		base, _ := url.Parse(server.URL())
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		lines, err := chat(t.Context(), api.NewClient(base, &http.Client{Transport: transport}), "m", "go")
		if err != nil || text(lines) != strings.ToValidUTF8(words, "\uFFFD") {
			rt.Fatalf("text %q, error %v, want %q", text(lines), err, words)
		}
		for _, l := range lines {
			if n := len([]rune(l.Message.Content)); size > 0 && n > size {
				rt.Fatalf("got a chunk of %d runes, want at most %d", n, size)
			}
		}
	})
}

func TestThinkingFollowsSetting(t *testing.T) {
	for _, tc := range []struct {
		name  string
		think *api.ThinkValue
		able  bool
		want  string
	}{
		{"unset, thinking model", nil, true, "hm"},
		{"on", &api.ThinkValue{Value: true}, true, "hm"},
		{"level", &api.ThinkValue{Value: "high"}, true, "hm"},
		{"off", &api.ThinkValue{Value: false}, true, ""},
		{"unset, model without thinking", nil, false, ""},
		{"off, model without thinking", &api.ThinkValue{Value: false}, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			script := ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes", Thinking: "hm"}}}
			if tc.able {
				script.Capabilities = []string{"completion", "thinking"}
			}
			_, client := serve(t, script)
			var thinking string
			req := &api.ChatRequest{Model: "m", Think: tc.think, Messages: []api.Message{{Role: "user", Content: "go"}}}
			err := client.Chat(testContext(t), req, func(line api.ChatResponse) error {
				thinking += line.Message.Thinking
				return nil
			})
			if err != nil || thinking != tc.want {
				t.Errorf("thinking %q, error %v, want %q", thinking, err, tc.want)
			}
		})
	}
}

func TestErrorsMatchOllama(t *testing.T) {
	for _, tc := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"unknown model", "/api/chat", `{"model":"nope","messages":[{"role":"user","content":"x"}]}`, 404, `{"error":"model 'nope' not found"}`},
		{"show of an unknown model", "/api/show", `{"model":"nope"}`, 404, `{"error":"model 'nope' not found"}`},
		{"tools not supported", "/api/chat", `{"model":"m","tools":[{}],"messages":[{"role":"user","content":"x"}]}`, 400, `{"error":"registry.ollama.ai/library/m:latest does not support tools"}`},
		{"thinking not supported", "/api/chat", `{"model":"m","think":true,"messages":[{"role":"user","content":"x"}]}`, 400, `{"error":"\"m\" does not support thinking"}`},
		{"unknown think value", "/api/chat", `{"model":"m","think":"hard","messages":[{"role":"user","content":"x"}]}`, 400, `{"error":"invalid think value: \"hard\" (must be \"high\", \"medium\", \"low\", \"max\", true, or false)"}`},
		{"chat not supported", "/api/chat", `{"model":"embed","messages":[{"role":"user","content":"x"}]}`, 400, `{"error":"\"embed\" does not support chat"}`},
		{"invalid schema", "/api/chat", `{"model":"m","format":{"type":"nonsense"},"messages":[{"role":"user","content":"x"}]}`, 500, `{"error":"invalid JSON schema in format"}`},
		{"prompt too long", "/api/chat", `{"model":"m","truncate":false,"options":{"num_ctx":4},"messages":[{"role":"user","content":"more than sixteen bytes"}]}`, 400, `{"error":"the input length exceeds the context length"}`},
		{"prompt too long for the default", "/api/chat", `{"model":"m","truncate":false,"messages":[{"role":"user","content":"` + strings.Repeat("x", 4*4096+1) + `"}]}`, 400, `{"error":"the input length exceeds the context length"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, _ := serve(t, ollamatest.Script{
				Model: "m", Capabilities: []string{"completion"},
				Others:  []ollamatest.Model{{Name: "embed", Capabilities: []string{"embedding"}}},
				Replies: []ollamatest.Reply{{Text: "served all the same"}},
			})
			status, body := call(t, http.MethodPost, server.URL()+tc.path, tc.body)
			if status != tc.status || body != tc.want {
				t.Errorf("HTTP %d %s, want %d %s", status, body, tc.status, tc.want)
			}
		})
	}
}

func call(t *testing.T, method, address, body string) (status int, answer string) {
	t.Helper()
	status, answer, err := request(t, method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// tryCall posts a body and returns the answer, even if it broke off.
func tryCall(t *testing.T, address, body string) (answer string, err error) {
	t.Helper()
	_, answer, err = request(t, http.MethodPost, address, body)
	return answer, err
}

func request(t *testing.T, method, address, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t), method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, "", err
	}
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), errors.Join(err, resp.Body.Close())
}

func TestListShowAndVersion(t *testing.T) {
	server, client := serve(t, ollamatest.Script{
		Model: "m:1b", ContextLength: 5000, Capabilities: []string{"completion", "thinking"},
		Others: []ollamatest.Model{{Name: "other"}},
	})
	if version, err := client.Version(testContext(t)); err != nil || version != ollamatest.Version {
		t.Errorf("version %q, error %v", version, err)
	}
	if err := client.Heartbeat(testContext(t)); err != nil {
		t.Errorf("HEAD /: error %v", err)
	}
	if status, body := call(t, http.MethodGet, server.URL()+"/", ""); status != 200 || body != "Ollama is running" {
		t.Errorf("GET /: got %d %q", status, body)
	}
	if status, _ := call(t, http.MethodGet, server.URL()+"/api/nothing", ""); status != 404 {
		t.Errorf("unknown path: got %d", status)
	}
	list, err := client.List(testContext(t))
	if err != nil || len(list.Models) != 2 || list.Models[0].Name != "m:1b" || list.Models[1].Name != "other:latest" {
		t.Errorf("list %+v, error %v", list, err)
	}
	shown, err := client.Show(testContext(t), &api.ShowRequest{Model: "m:1b"})
	if err != nil {
		t.Fatal(err)
	}
	if shown.ModelInfo["scripted.context_length"] != 5000.0 || !slices.Equal(shown.Capabilities, []model.Capability{"completion", "thinking"}) {
		t.Errorf("shown %+v", shown)
	}
}

func TestStreamOffReturnsOneAnswer(t *testing.T) {
	server, _ := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "one two"}}})
	_, body := call(t, http.MethodPost, server.URL()+"/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"x"}]}`)
	var whole api.ChatResponse
	if err := json.Unmarshal([]byte(body), &whole); err != nil || whole.Message.Content != "one two" || !whole.Done || whole.EvalCount != 2 {
		t.Errorf("answer %s, error %v", body, err)
	}
}

func TestLoadUsesNoReply(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes"}}})
	_, body := call(t, http.MethodPost, server.URL()+"/api/chat", `{"model":"m","messages":[]}`)
	if !strings.Contains(body, `"done_reason":"load"`) {
		t.Errorf("got the answer %s to loading", body)
	}
	if lines, err := chat(testContext(t), client, "m", "well?"); err != nil || text(lines) != "yes" {
		t.Errorf("text %q, error %v", text(lines), err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests, want the one with a message", n)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Purpose: "replan", Step: "2 é", Text: "{}"}}})
	no := false
	err := client.Chat(sentFor(testContext(t), "replan; step*=utf-8''2%20%C3%A9"), &api.ChatRequest{
		Model: "m", Format: json.RawMessage(`{"type":"object"}`), Truncate: &no, Think: &api.ThinkValue{Value: false},
		Options:  map[string]any{"num_ctx": 2048, "num_predict": 7},
		Messages: []api.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: "now"}},
	}, func(api.ChatResponse) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	if got.Purpose != "replan" || got.Step != "2 é" || got.Last() != "now" || got.Messages[0].Role != "system" || got.Messages[0].Content != "be brief" {
		t.Errorf("for %q, step %q: messages %+v", got.Purpose, got.Step, got.Messages)
	}
	if got.NumCtx() != 2048 || got.NumPredict() != 7 || got.Think != false || *got.Truncate || string(got.Format) != `{"type":"object"}` {
		t.Errorf("request %+v", got)
	}
	if !json.Valid(got.Raw) || !bytes.Contains(got.Raw, []byte(`"num_ctx":2048`)) {
		t.Errorf("raw %s", got.Raw)
	}
}

func TestBrokenStreams(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply ollamatest.Reply
		text  string
		want  string // part of the error, "" for none
	}{
		{"connection breaks in mid-reply", ollamatest.Reply{Text: "one two", CutAfter: 5}, "one t", "unexpected EOF"},
		{"connection breaks before the first byte", ollamatest.Reply{Text: "one two", CutAfter: -1}, "", "EOF"},
		{"stream ends in mid-reply", ollamatest.Reply{Text: "one two", EndAfter: 5}, "one t", ""},
		{"stream ends before the first byte", ollamatest.Reply{Text: "one two", EndAfter: -1}, "", ""},
		{"error after the text", ollamatest.Reply{Text: "one two", Error: "the model died"}, "one two", "the model died"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{tc.reply}})
			lines, err := chat(testContext(t), client, "m", "well?")
			if text(lines) != tc.text || len(lines) > 0 && lines[len(lines)-1].Done {
				t.Errorf("got the lines %+v, want %q and no end", lines, tc.text)
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNumPredictCutsReply(t *testing.T) {
	for _, tc := range []struct {
		limit        int
		text, reason string
	}{{2, "one two ", "length"}, {3, "one two three", "stop"}, {0, "one two three", "stop"}} {
		_, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "one two three"}}})
		var got []api.ChatResponse
		req := &api.ChatRequest{Model: "m", Options: map[string]any{"num_predict": tc.limit}, Messages: []api.Message{{Role: "user", Content: "go"}}}
		err := client.Chat(testContext(t), req, func(line api.ChatResponse) error {
			got = append(got, line)
			return nil
		})
		if err != nil || text(got) != tc.text || got[len(got)-1].DoneReason != tc.reason {
			t.Errorf("limit %d: %+v, error %v, want %q and %s", tc.limit, got, err, tc.text, tc.reason)
		}
	}
}

func TestHeldReplyWaits(t *testing.T) {
	hold := make(chan struct{})
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes", Hold: hold}}})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(hold)
		if _, err := server.WaitForRequests(testContext(t), 1); err != nil {
			t.Error(err)
		}
	})
	lines, err := chat(testContext(t), client, "m", "well?")
	group.Wait()
	if err != nil || text(lines) != "yes" {
		t.Errorf("text %q, error %v", text(lines), err)
	}
}

func TestWaitForRequestsEndsWithContext(t *testing.T) {
	server, _ := serve(t, ollamatest.Script{Model: "m"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.WaitForRequests(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it to wrap context.Canceled", err)
	}
}

// Without this, each case would hang or leak a goroutine that goleak finds.
func TestCloseAbortsReplies(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script ollamatest.Script
	}{
		{"held reply", ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "yes", Hold: make(chan struct{})}}}},
		{"slow reply", ollamatest.Script{Model: "m", Pace: time.Hour, Replies: []ollamatest.Reply{{Text: "one two"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, client := serve(t, tc.script)
			var group sync.WaitGroup
			group.Go(func() {
				lines, _ := chat(testContext(t), client, "m", "well?")
				if len(lines) > 0 && lines[len(lines)-1].Done {
					t.Error("the reply is complete")
				}
			})
			if _, err := server.WaitForRequests(testContext(t), 1); err != nil {
				t.Error(err)
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			group.Wait()
			if err := server.Close(); err != nil {
				t.Errorf("second Close: %v", err)
			}
		})
	}
}

func TestServerDropsCanceledClient(t *testing.T) {
	server, client := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "late", Hold: make(chan struct{})}, {Text: "next"}}})
	ctx, cancel := context.WithCancel(testContext(t))
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := server.WaitForRequests(ctx, 1); err != nil {
			t.Error(err)
		}
		cancel()
	})
	if _, err := chat(ctx, client, "m", "well?"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it to wrap context.Canceled", err)
	}
	group.Wait()
	if lines, err := chat(testContext(t), client, "m", "next?"); err != nil || text(lines) != "next" {
		t.Errorf("text %q, error %v", text(lines), err)
	}
}
