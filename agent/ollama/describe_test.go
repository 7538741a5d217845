package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

func TestModelChoice(t *testing.T) {
	plain := ollamatest.Model{Name: "plain", Capabilities: []string{"completion"}}
	embed := ollamatest.Model{Name: "embed", Capabilities: []string{"embedding"}}
	able := ollamatest.Model{Name: "able:7b", Capabilities: thinker, ContextLength: 40960, Bytes: 5e9, Parameters: "7.6B", Quantization: "Q4_K_M"}
	for _, tc := range []struct {
		name    string
		model   string
		models  []ollamatest.Model
		want    prompt.ModelInfo
		wantErr []string // parts of the error
	}{
		{
			name: "first model with tools", models: []ollamatest.Model{plain, embed, able, {Name: "later"}},
			want: prompt.ModelInfo{
				Name: "able:7b", ContextWindow: 16384, Longest: 40960, Tools: true, Thinks: true, Chats: true,
				Bytes: 5e9, Parameters: "7.6B", Quantization: "Q4_K_M",
			},
		},
		{
			name: "named model without tools", model: "plain", models: []ollamatest.Model{able, plain},
			want: prompt.ModelInfo{Name: "plain", ContextWindow: 16384, Longest: 32768, Chats: true},
		},
		{
			name: "named with a tag", model: "plain:latest", models: []ollamatest.Model{able, plain},
			want: prompt.ModelInfo{Name: "plain:latest", ContextWindow: 16384, Longest: 32768, Chats: true},
		},
		{name: "no models", wantErr: []string{"has no models", "`ollama pull qwen3:8b`"}},
		{
			name: "no model with tools", models: []ollamatest.Model{plain, embed},
			wantErr: []string{"can use tools", "`ollama pull qwen3:8b`", "plain:latest, embed:latest", "--model"},
		},
		{
			name: "named model is missing", model: "gone", models: []ollamatest.Model{able, plain},
			wantErr: []string{"has no model gone", "`ollama pull gone`", "able:7b, plain:latest", "--model"},
		},
		{name: "named model is missing, no others", model: "gone", wantErr: []string{"has no model gone", "`ollama pull gone`"}},
		{
			name: "named model with its size", model: "ABLE:7b", models: []ollamatest.Model{plain, able},
			want: prompt.ModelInfo{
				Name: "ABLE:7b", ContextWindow: 16384, Longest: 40960, Tools: true, Thinks: true, Chats: true,
				Bytes: 5e9, Parameters: "7.6B", Quantization: "Q4_K_M",
			},
		},
		{
			name: "named model cannot chat", model: "embed", models: []ollamatest.Model{embed},
			wantErr: []string{"embed cannot chat", "--model"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Others: tc.models})
			info, err := connect(t, ollama.Config{Host: server.URL(), Model: tc.model}).Describe(testContext(t), "")
			if len(tc.wantErr) > 0 {
				mentions(t, err, tc.wantErr...)
				if !errors.Is(err, prompt.ErrNoModel) {
					t.Errorf("error %v, want it to wrap ErrNoModel", err)
				}
				return
			}
			if err != nil || info != tc.want {
				t.Errorf("model %+v, error %v, want %+v", info, err, tc.want)
			}
		})
	}
}

func TestModelsKeepTheirOwnSettings(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Others: []ollamatest.Model{
			{Name: "first", ContextLength: 9000},
			{Name: "second:3b", ContextLength: 5000, Capabilities: thinker},
			{Name: "embed", Capabilities: []string{"embedding"}},
		},
		Replies: []ollamatest.Reply{{Text: "yes", Times: -1}},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	for i, tc := range []struct {
		model, asked string
		window       int
		think        any
	}{
		{"", "first:latest", 9000, nil},
		{"second:3b", "second:3b", 5000, false},
		{"first", "first", 9000, nil},
		{"", "first:latest", 9000, nil},
	} {
		info, err := client.Describe(testContext(t), tc.model)
		if err != nil || info.Name != tc.asked || info.ContextWindow != tc.window {
			t.Errorf("%d: model %+v, error %v, want %s with %d tokens", i, info, err, tc.asked, tc.window)
		}
		req := ask("well?")
		req.Model = tc.model
		reply, err := client.Ask(testContext(t), req, nil)
		if err != nil || reply.ContextWindow != tc.window {
			t.Errorf("%d: reply %+v, error %v", i, reply, err)
		}
		if got := server.Requests()[i]; got.Model != tc.asked || got.NumCtx() != tc.window || got.Think != tc.think {
			t.Errorf("%d: got the request %s", i, got.Raw)
		}
	}
	for _, name := range []string{"embed", "gone"} {
		req := ask("well?")
		req.Model = name
		if _, err := client.Ask(testContext(t), req, nil); !errors.Is(err, prompt.ErrNoModel) || !strings.Contains(err.Error(), name) {
			t.Errorf("asking %s: error %v, want ErrNoModel and the name", name, err)
		}
	}
}

func TestModelsBelowFourBillionParametersAreSmall(t *testing.T) {
	for name, tc := range map[string]struct {
		shown string
		want  bool
	}{
		"counted, below":       {`{"details":{"parameter_size":"8B"},"model_info":{"general.parameter_count":3999999999}}`, true},
		"counted, four":        {`{"details":{"parameter_size":"1B"},"model_info":{"general.parameter_count":4000000000}}`, false},
		"in billions, below":   {`{"details":{"parameter_size":"3.2B"}}`, true},
		"in billions, above":   {`{"details":{"parameter_size":"14.8B"}}`, false},
		"in millions":          {`{"details":{"parameter_size":"494.03M"}}`, true},
		"of several experts":   {`{"details":{"parameter_size":"8x7B"}}`, false},
		"unknown is not small": {`{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tc.shown)) }))
			defer server.Close()
			info, err := connect(t, ollama.Config{Host: server.URL}).Describe(testContext(t), "m")
			if err != nil || info.Small != tc.want {
				t.Errorf("model %+v, error %v, want small %v", info, err, tc.want)
			}
		})
	}
}

func TestDescriptionIsCached(t *testing.T) {
	window := 4000
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			_, _ = fmt.Fprintf(w, `{"model_info":{"general.architecture":"a","a.context_length":%d}}`, window)
			return
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"m:latest","size":7}]}`))
	}))
	defer server.Close()
	client := connect(t, ollama.Config{Host: server.URL})
	for _, name := range []string{"m", "m", "m:latest", "M:LATEST"} {
		info, err := client.Describe(testContext(t), name)
		if err != nil || info.ContextWindow != 4000 {
			t.Errorf("model %+v, error %v, want the first window", info, err)
		}
		window += 1000
	}
	models, err := client.Models(testContext(t))
	if err != nil || len(models) != 1 || models[0].ContextWindow != 4000 || models[0].Longest != 8000 {
		t.Errorf("models %+v, error %v, want the first window and the model's current one", models, err)
	}
}

func TestContextWindow(t *testing.T) {
	for _, tc := range []struct {
		name                         string
		wanted, own, modelfile, want int
	}{
		{"default of 16384", 0, 131072, 0, 16384},
		{"default bounded by the model", 0, 8192, 0, 8192},
		{"Modelfile", 0, 131072, 65536, 65536},
		{"setting overrides Modelfile", 32768, 131072, 65536, 32768},
		{"setting bounded by the model", 200000, 131072, 0, 131072},
		{"small setting", 2048, 131072, 0, 2048},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{
				Others:  []ollamatest.Model{{Name: "m", ContextLength: tc.own, NumCtx: tc.modelfile}},
				Replies: []ollamatest.Reply{{Text: "yes"}},
			})
			client := connect(t, ollama.Config{Host: server.URL(), ContextWindow: tc.wanted})
			info, err := client.Describe(testContext(t), "")
			if err != nil || info.ContextWindow != tc.want {
				t.Fatalf("window %d, error %v, want %d", info.ContextWindow, err, tc.want)
			}
			reply, err := client.Ask(testContext(t), ask("well?"), nil)
			if err != nil || reply.ContextWindow != tc.want || server.Requests()[0].NumCtx() != tc.want {
				t.Errorf("got a reply with %d, a request with %d, error %v, want %d", reply.ContextWindow, server.Requests()[0].NumCtx(), err, tc.want)
			}
		})
	}
}

// TestSameModelIsChosenInAnyOrder: the server shuffles models of the same time.
func TestSameModelIsChosenInAnyOrder(t *testing.T) {
	for _, names := range [][]string{{"b", "a"}, {"a", "b"}} {
		server := serve(t, ollamatest.Script{Model: names[0], Others: []ollamatest.Model{{Name: names[1], SameAge: true}}})
		if info, err := connect(t, ollama.Config{Host: server.URL()}).Describe(testContext(t), ""); err != nil || info.Name != "a:latest" {
			t.Errorf("%v: got %q, %v", names, info.Name, err)
		}
	}
}

func TestDescribeRetriesAfterError(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	shows, fail := 0, true
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fail {
			http.Error(w, `{"error":"starting"}`, http.StatusInternalServerError)
			return
		}
		if r.URL.Path == "/api/show" {
			shows++
		}
		http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer proxy.Close()
	client := connect(t, ollama.Config{Host: proxy.URL})
	_, err := client.Describe(testContext(t), "")
	mentions(t, err, "starting")
	fail = false
	for range 3 {
		if info, err := client.Describe(testContext(t), ""); err != nil || info.Name != "m:latest" {
			t.Fatalf("model %+v, error %v", info, err)
		}
	}
	if shows != 1 {
		t.Errorf("got %d show requests, want one", shows)
	}
}

func TestUnusableServers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		wantErr string
	}{
		{"HTML page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "--host"},
		{"unknown paths", http.NotFound, "--host"},
		{"sign-in required", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"unauthorized"}`))
		}, "ollama signin"},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "does not behave like Ollama"},
	} {
		for _, name := range []string{"", "m"} {
			t.Run(tc.name+", model "+name, func(t *testing.T) {
				other := httptest.NewServer(tc.handler)
				defer other.Close()
				_, err := connect(t, ollama.Config{Host: other.URL, Model: name}).Describe(testContext(t), "")
				mentions(t, err, other.URL, tc.wantErr)
				if !errors.Is(err, prompt.ErrNoModel) {
					t.Errorf("error %v, want it to wrap ErrNoModel", err)
				}
			})
		}
	}
}

func TestServerDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "m"} {
		client := connect(t, ollama.Config{Host: address, Model: name})
		_, err := client.Describe(testContext(t), "")
		mentions(t, err, "Ollama does not answer at http://"+address, "`ollama serve`", "--host")
		if !errors.Is(err, prompt.ErrNoModel) {
			t.Errorf("error %v, want it to wrap ErrNoModel", err)
		}
		if _, asked := client.Ask(testContext(t), ask("well?"), nil); asked == nil || asked.Error() != err.Error() {
			t.Errorf("Ask: got error %v, want that of Describe", asked)
		}
	}
}

func TestDescribeEndsWithItsContext(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := connect(t, ollama.Config{Host: server.URL()}).Describe(ctx, "")
	if !errors.Is(err, context.Canceled) || errors.Is(err, prompt.ErrNoModel) {
		t.Errorf("error %v, want it to wrap context.Canceled alone", err)
	}
}

func TestHostFormats(t *testing.T) {
	for _, tc := range []struct{ host, want string }{
		{"", "http://127.0.0.1:11434"},
		{"box:1234", "http://box:1234"},
		{`"box"`, "http://box:11434"},
		{"  ", "http://127.0.0.1:11434"},
		{"other", "http://other:11434"},
		{"other:80", "http://other:80"},
		{":8080", "http://127.0.0.1:8080"},
		{"0.0.0.0", "http://127.0.0.1:11434"},
		{"0.0.0.0:99", "http://127.0.0.1:99"},
		{"[::]:99", "http://[::1]:99"},
		{"::1", "http://[::1]:11434"},
		{"[::1]", "http://[::1]:11434"},
		{"[::1]:99", "http://[::1]:99"},
		{"http://box", "http://box:80"},
		{"https://box", "https://box:443"},
		{"https://box:99/ollama/", "https://box:99/ollama"},
		{"box/", "http://box:11434"},
		{"ollama.com", "https://ollama.com:443"},
	} {
		t.Run(tc.host, func(t *testing.T) {
			if got := connect(t, ollama.Config{Host: tc.host}).Host(); got != tc.want {
				t.Errorf("host %s, want %s", got, tc.want)
			}
		})
	}
}

func TestEnvironmentIsIgnored(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "box:1234")
	if got := connect(t, ollama.Config{}).Host(); got != "http://127.0.0.1:11434" {
		t.Errorf("host %s, want the default", got)
	}
}

func TestInvalidConfiguration(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cfg     ollama.Config
		wantErr string
	}{
		{"port is not a number", ollama.Config{Host: "box:many"}, "port"},
		{"port too large", ollama.Config{Host: "box:65536"}, "port"},
		{"other scheme", ollama.Config{Host: "ftp://box"}, "http"},
		{"blank in the host", ollama.Config{Host: "my box"}, "not an address"},
		{"user name", ollama.Config{Host: "http://me:secret@box"}, "user name"},
		{"negative window", ollama.Config{ContextWindow: -1}, "context window"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client, err := ollama.New(tc.cfg)
			if client != nil {
				t.Errorf("New accepted %+v", tc.cfg)
			}
			mentions(t, err, tc.wantErr)
			if err != nil && tc.cfg.Host != "" && containsSecret(err) {
				t.Errorf("the error %q repeats a password", err)
			}
		})
	}
}
