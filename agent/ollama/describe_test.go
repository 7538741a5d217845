package ollama_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning"
)

func TestModelChoice(t *testing.T) {
	plain := ollamatest.Model{Name: "plain", Capabilities: []string{"completion"}}
	embed := ollamatest.Model{Name: "embed", Capabilities: []string{"embedding"}}
	able := ollamatest.Model{Name: "able:7b", Capabilities: thinker, ContextLength: 40960}
	for _, tc := range []struct {
		rule  string
		model string
		there []ollamatest.Model
		want  planning.ModelInfo
		says  []string // of the error
	}{
		{
			rule: "the first that can use tools answers", there: []ollamatest.Model{plain, embed, able, {Name: "later"}},
			want: planning.ModelInfo{Name: "able:7b", ContextWindow: 16384, Tools: true, Thinks: true},
		},
		{
			rule: "a named one answers, tools or not", model: "plain", there: []ollamatest.Model{able, plain},
			want: planning.ModelInfo{Name: "plain", ContextWindow: 16384},
		},
		{
			rule: "its tag may be given", model: "plain:latest", there: []ollamatest.Model{able, plain},
			want: planning.ModelInfo{Name: "plain:latest", ContextWindow: 16384},
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
			rule: "a named one cannot chat", model: "embed", there: []ollamatest.Model{embed},
			says: []string{"embed cannot chat", "--model"},
		},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			server := serve(t, ollamatest.Script{Others: tc.there})
			info, err := connect(t, ollama.Config{Host: server.URL(), Model: tc.model}).Describe(testContext(t))
			if len(tc.says) > 0 {
				mentions(t, err, tc.says...)
				if !errors.Is(err, planning.ErrNoModel) {
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
			info, err := client.Describe(testContext(t))
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
	_, err := client.Describe(testContext(t))
	mentions(t, err, "starting")
	fail = false
	for range 3 {
		if info, err := client.Describe(testContext(t)); err != nil || info.Name != "m:latest" {
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
				_, err := connect(t, ollama.Config{Host: other.URL, Model: name}).Describe(testContext(t))
				mentions(t, err, other.URL, tc.says)
				if !errors.Is(err, planning.ErrNoModel) {
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
		_, err := client.Describe(testContext(t))
		mentions(t, err, "Ollama does not answer at http://"+address, "`ollama serve`", "--host")
		if !errors.Is(err, planning.ErrNoModel) {
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
	_, err := connect(t, ollama.Config{Host: server.URL()}).Describe(ctx)
	if !errors.Is(err, context.Canceled) || errors.Is(err, planning.ErrNoModel) {
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
