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
		rule  string
		model string
		there []ollamatest.Model
		want  prompt.ModelInfo
		says  []string // of the error
	}{
		{
			rule: "the first that can use tools answers", there: []ollamatest.Model{plain, embed, able, {Name: "later"}},
			want: prompt.ModelInfo{
				Name: "able:7b", ContextWindow: 16384, Longest: 40960, Tools: true, Thinks: true, Chats: true,
				Bytes: 5e9, Parameters: "7.6B", Quantization: "Q4_K_M",
			},
		},
		{
			rule: "a named one answers, tools or not", model: "plain", there: []ollamatest.Model{able, plain},
			want: prompt.ModelInfo{Name: "plain", ContextWindow: 16384, Longest: 32768, Chats: true},
		},
		{
			rule: "its tag may be given", model: "plain:latest", there: []ollamatest.Model{able, plain},
			want: prompt.ModelInfo{Name: "plain:latest", ContextWindow: 16384, Longest: 32768, Chats: true},
		},
		{rule: "there is none at all", says: []string{"has no models", "`ollama pull qwen3:8b`"}},
		{
			rule: "none can use tools", there: []ollamatest.Model{plain, embed},
			says: []string{"can use tools", "`ollama pull qwen3:8b`", "plain:latest, embed:latest", "--model"},
		},
		{
			rule: "a named one is missing", model: "gone", there: []ollamatest.Model{able, plain},
			says: []string{"has no model gone", "`ollama pull gone`", "able:7b, plain:latest", "--model"},
		},
		{rule: "a named one is missing and so are all", model: "gone", says: []string{"has no model gone", "`ollama pull gone`"}},
		{
			rule: "a named one has its size told", model: "ABLE:7b", there: []ollamatest.Model{plain, able},
			want: prompt.ModelInfo{
				Name: "ABLE:7b", ContextWindow: 16384, Longest: 40960, Tools: true, Thinks: true, Chats: true,
				Bytes: 5e9, Parameters: "7.6B", Quantization: "Q4_K_M",
			},
		},
		{
			rule: "a named one cannot chat", model: "embed", there: []ollamatest.Model{embed},
			says: []string{"embed cannot chat", "--model"},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Others: tc.there})
			info, err := connect(t, ollama.Config{Host: server.URL(), Model: tc.model}).Describe(testContext(t), "")
			if len(tc.says) > 0 {
				mentions(t, err, tc.says...)
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

func TestEachModelIsDescribedAndAskedByItself(t *testing.T) {
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
			t.Errorf("%d: the request is %s", i, got.Raw)
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

func TestDescriptionStandsForTheLifeOfAClient(t *testing.T) {
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
			t.Errorf("model %+v, error %v, want the window that was said first", info, err)
		}
		window += 1000
	}
	models, err := client.Models(testContext(t))
	if err != nil || len(models) != 1 || models[0].ContextWindow != 4000 || models[0].Longest != 8000 {
		t.Errorf("models %+v, error %v, want the window that was said first and the model's own as it is now", models, err)
	}
}

func TestContextWindow(t *testing.T) {
	for _, tc := range []struct {
		rule                        string
		wanted, own, modelfile, got int
	}{
		{"by default at most 16384", 0, 131072, 0, 16384},
		{"by default at most the model's own", 0, 8192, 0, 8192},
		{"the Modelfile's where it names one", 0, 131072, 65536, 65536},
		{"what is wanted goes before the Modelfile", 32768, 131072, 65536, 32768},
		{"never more than the model's own", 200000, 131072, 0, 131072},
		{"less where less is wanted", 2048, 131072, 0, 2048},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			server := serve(t, ollamatest.Script{
				Others:  []ollamatest.Model{{Name: "m", ContextLength: tc.own, NumCtx: tc.modelfile}},
				Replies: []ollamatest.Reply{{Text: "yes"}},
			})
			client := connect(t, ollama.Config{Host: server.URL(), ContextWindow: tc.wanted})
			info, err := client.Describe(testContext(t), "")
			if err != nil || info.ContextWindow != tc.got {
				t.Fatalf("window %d, error %v, want %d", info.ContextWindow, err, tc.got)
			}
			reply, err := client.Ask(testContext(t), ask("well?"), nil)
			if err != nil || reply.ContextWindow != tc.got || server.Requests()[0].NumCtx() != tc.got {
				t.Errorf("reply says %d, request %d, error %v, want %d", reply.ContextWindow, server.Requests()[0].NumCtx(), err, tc.got)
			}
		})
	}
}

func TestDescribeAsksTheServerUntilItHasAnswered(t *testing.T) {
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
		t.Errorf("the model was shown %d times, want once", shows)
	}
}

func TestServersThatAreNoHelp(t *testing.T) {
	for _, tc := range []struct {
		rule    string
		handler http.HandlerFunc
		says    string
	}{
		{"a page for people", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "--host"},
		{"a server without these paths", http.NotFound, "--host"},
		{"one that wants a sign-in", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"unauthorized"}`))
		}, "ollama signin"},
		{"one that hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "does not speak as Ollama does"},
	} {
		for _, name := range []string{"", "m"} {
			t.Run(tc.rule+", model "+name, func(t *testing.T) {
				other := httptest.NewServer(tc.handler)
				defer other.Close()
				_, err := connect(t, ollama.Config{Host: other.URL, Model: name}).Describe(testContext(t), "")
				mentions(t, err, other.URL, tc.says)
				if !errors.Is(err, prompt.ErrNoModel) {
					t.Errorf("error %v, want it to wrap ErrNoModel", err)
				}
			})
		}
	}
}

func TestServerThatIsDown(t *testing.T) {
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
			t.Errorf("asking says %v, want what describing says", asked)
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

func TestHostIsReadAsOllamaReadsIt(t *testing.T) {
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

func TestTheEnvironmentIsLeftToTheCaller(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "box:1234")
	if got := connect(t, ollama.Config{}).Host(); got != "http://127.0.0.1:11434" {
		t.Errorf("host %s, want the default", got)
	}
}

func TestWhatIsNoConfiguration(t *testing.T) {
	for _, tc := range []struct {
		rule string
		cfg  ollama.Config
		says string
	}{
		{"a port that is none", ollama.Config{Host: "box:many"}, "port"},
		{"a port that is too big", ollama.Config{Host: "box:65536"}, "port"},
		{"another scheme", ollama.Config{Host: "ftp://box"}, "http"},
		{"a blank in the host", ollama.Config{Host: "my box"}, "no address"},
		{"a user", ollama.Config{Host: "http://me:secret@box"}, "user name"},
		{"a negative window", ollama.Config{ContextWindow: -1}, "context window"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			client, err := ollama.New(tc.cfg)
			if client != nil {
				t.Errorf("a client came of %+v", tc.cfg)
			}
			mentions(t, err, tc.says)
			if err != nil && tc.cfg.Host != "" && containsSecret(err) {
				t.Errorf("the error %q repeats a password", err)
			}
		})
	}
}
