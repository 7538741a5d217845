package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/agent/runner"
	"replan/planning/prompt"
)

var (
	_ runner.Model       = (*ollama.Client)(nil)
	_ runner.ModelLister = (*ollama.Client)(nil)
)

func TestModelsListsDetails(t *testing.T) {
	server := serve(t, ollamatest.Script{
		Others: []ollamatest.Model{
			{Name: "big:70b", ContextLength: 131072, Capabilities: thinker, Bytes: 42_000_000_000, Parameters: "70.6B", Quantization: "Q4_K_M"},
			{Name: "embed", ContextLength: 512, Capabilities: []string{"embedding"}, Bytes: 270_000_000, Parameters: "137M", Quantization: "F16"},
			{Name: "small", ContextLength: 8192, Capabilities: []string{"completion"}, NumCtx: 2048},
			{Name: "a"},
			{Name: "b"},
			{Name: "c"},
			{Name: "d"},
		},
	})
	client := connect(t, ollama.Config{Host: server.URL()})
	if err := client.Warm(testContext(t), "small"); err != nil {
		t.Fatal(err)
	}
	models, err := client.Models(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []prompt.ModelInfo{
		{Name: "big:70b", ContextWindow: 16384, Longest: 131072, Tools: true, Thinks: true, Chats: true, Bytes: 42_000_000_000, Parameters: "70.6B", Quantization: "Q4_K_M"},
		{Name: "embed:latest", ContextWindow: 512, Longest: 512, Bytes: 270_000_000, Parameters: "137M", Quantization: "F16", Small: true},
		{Name: "small:latest", ContextWindow: 2048, Longest: 8192, Chats: true, Loaded: true},
	}
	if len(models) != 7 || !slices.Equal(models[:3], want) {
		t.Errorf("models\n%+v\nwant\n%+v\nand four more", models, want)
	}
}

func TestModelsToleratesFailingEndpoints(t *testing.T) {
	server := serve(t, ollamatest.Script{Others: []ollamatest.Model{{Name: "good"}, {Name: "bad", Bytes: 7, Parameters: "1B", Quantization: "F16"}}})
	var mu sync.Mutex
	shows := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch body := make([]byte, 200); r.URL.Path {
		case "/api/ps":
			http.NotFound(w, r)
			return
		case "/api/show":
			n, _ := r.Body.Read(body)
			if shows++; strings.Contains(string(body[:n]), "bad") {
				http.Error(w, `{"error":"damaged"}`, http.StatusInternalServerError)
				return
			}
			_, _ = w.Write([]byte(`{"model_info":{},"capabilities":["completion"]}`))
			return
		}
		http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer proxy.Close()
	client := connect(t, ollama.Config{Host: proxy.URL})
	models, err := client.Models(testContext(t))
	want := []prompt.ModelInfo{
		{Name: "good:latest", ContextWindow: 16384, Chats: true},
		{Name: "bad:latest", Bytes: 7, Parameters: "1B", Quantization: "F16"},
	}
	if err != nil || !slices.Equal(models, want) {
		t.Errorf("models\n%+v, error %v, want\n%+v", models, err, want)
	}
	if _, err := client.Describe(testContext(t), "good"); err != nil || shows != 2 {
		t.Errorf("error %v after %d show requests, want listed models to be cached", err, shows)
	}
}

func TestModelsAndWarmReturnErrorOfDescribe(t *testing.T) {
	client := connect(t, ollama.Config{Host: "127.0.0.1:1"})
	_, err := client.Models(testContext(t))
	mentions(t, err, "does not answer", "ollama serve")
	if !errors.Is(err, prompt.ErrNoModel) {
		t.Errorf("error %v, want it to wrap ErrNoModel", err)
	}
	for _, name := range []string{"", "m"} {
		_, described := client.Describe(testContext(t), name)
		if warmed := client.Warm(testContext(t), name); warmed == nil || described == nil || warmed.Error() != described.Error() {
			t.Errorf("Warm: error %v, Describe: error %v", warmed, described)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Models(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, prompt.ErrNoModel) {
		t.Errorf("error %v, want it to wrap context.Canceled alone", err)
	}
}

func TestWarmLoadsModelForNextRequest(t *testing.T) {
	for _, tc := range []struct {
		name, model, want string
		window            int
	}{
		{"default model", "", `"model":"m:latest"`, 9000},
		{"named model", "other", `"model":"other"`, 4096},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := serve(t, ollamatest.Script{
				Model: "m", ContextLength: 9000, Others: []ollamatest.Model{{Name: "other", ContextLength: 4096}},
				Replies: []ollamatest.Reply{{Text: "yes"}},
			})
			var loads []string
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/chat" {
					body := make([]byte, 1000)
					n, _ := r.Body.Read(body)
					loads = append(loads, string(body[:n]))
					_, _ = w.Write([]byte(`{"model":"x","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`))
					return
				}
				http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
			}))
			defer proxy.Close()
			client := connect(t, ollama.Config{Host: proxy.URL, KeepAlive: time.Hour})
			if err := client.Warm(testContext(t), tc.model); err != nil {
				t.Fatal(err)
			}
			if len(loads) != 1 || !strings.Contains(loads[0], tc.want) || !strings.Contains(loads[0], `"messages":[]`) || !strings.Contains(loads[0], `"keep_alive":"1h0m0s"`) {
				t.Errorf("got the requests %q, want %s, no message and an hour", loads, tc.want)
			}
			info, err := client.Describe(testContext(t), tc.model)
			if window := `"num_ctx":` + map[int]string{9000: "9000", 4096: "4096"}[tc.window]; err != nil || info.ContextWindow != tc.window || !strings.Contains(loads[0], window) {
				t.Errorf("got the requests %q, model %+v, want %s", loads, info, window)
			}
		})
	}
}

func TestWarmErrorNamesTheRemedy(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m"})
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"not enough memory", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error":"model requires more system memory (9 GiB) than is available (3 GiB)"}`))
		}, "smaller --model"},
		{"empty response", func(http.ResponseWriter, *http.Request) {}, "broke off"},
		{"removed model", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":"model 'm' not found"}`))
		}, "ollama pull m:latest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/chat" {
					tc.handler(w, r)
					return
				}
				http.Redirect(w, r, server.URL()+r.URL.Path, http.StatusTemporaryRedirect)
			}))
			defer proxy.Close()
			mentions(t, connect(t, ollama.Config{Host: proxy.URL}).Warm(testContext(t), ""), tc.want)
		})
	}
}
