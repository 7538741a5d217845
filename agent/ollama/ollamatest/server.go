package ollamatest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// Version is the Ollama version that the server reports.
const Version = "0.24.0"

const (
	defaultContextLength = 32768
	defaultNumCtx        = 4096 // Ollama's default if a request names none
	headerTimeout        = 10 * time.Second
	keptFor              = 5 * time.Minute // how long a model stays in memory, as reported
)

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	script  Script
	started time.Time
	url     string
	cache   *promptCache // nil if reading and writing cost nothing

	http   *http.Server
	stop   context.CancelFunc
	served chan error     // receives the result of Serve, once
	conns  sync.WaitGroup // open connections and their handlers

	closing  sync.Once
	closeErr error

	mu       sync.Mutex
	models   []Model // installed now
	used     []int   // uses of each reply of the script
	requests []Request
	ahead    []Request         // that ask nothing
	loaded   map[string]loaded // by model name
	loads    []Load
	arrived  chan struct{} // closed and replaced on every request
}

// Start listens on a free loopback port and serves the script until Close. When
// ctx ends, it aborts the requests in progress.
func Start(ctx context.Context, script Script) (*Server, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a port for the scripted model: %w", err)
	}
	return Serve(ctx, listener, script), nil
}

// Serve is like Start on an existing listener, which it closes. With a listener
// inside the program, waiting for it takes no time.
func Serve(ctx context.Context, listener net.Listener, script Script) *Server {
	base, stop := context.WithCancel(ctx)
	s := &Server{
		script:  script,
		started: time.Now(),
		url:     "http://" + listener.Addr().String(),
		stop:    stop,
		served:  make(chan error, 1),
		used:    make([]int, len(script.Replies)),
		arrived: make(chan struct{}),
		loaded:  make(map[string]loaded),
	}
	if script.Cache != nil {
		s.cache = newPromptCache(base, *script.Cache)
	}
	if script.Model != "" {
		s.models = append(s.models, Model{Name: script.Model, ContextLength: script.ContextLength, Capabilities: script.Capabilities})
	}
	s.models = append(s.models, script.Others...)
	if script.Recording != nil {
		s.models = append(s.models, script.Recording.Model())
	}
	for i := range s.models {
		s.models[i] = s.models[i].withDefaults()
	}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         s.track,
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s
}

// URL returns the server's address without a trailing slash.
func (s *Server) URL() string { return s.url }

// Close stops the server, aborts its requests in progress and waits until all
// have ended. A second Close does nothing.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.stop()
		err := s.http.Close()
		if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		s.conns.Wait()
		if err != nil {
			s.closeErr = fmt.Errorf("closing the scripted model: %w", err)
		}
	})
	return s.closeErr
}

// Requests returns all chat requests so far, in order, answered or not. It leaves
// out requests without a message, which only load the model, and those of
// [Server.ReadAhead].
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ReadAhead returns the requests that ask nothing, in order: the model only reads the
// messages that later requests begin with. They take no reply of the script.
func (s *Server) ReadAhead() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ahead)
}

// Load is one time that a model was loaded.
type Load struct {
	Model  string
	Window int // tokens of context
}

// Loads returns when which model was loaded, again where its window changed, in
// order.
func (s *Server) Loads() []Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loads)
}

// WaitForRequests waits for at least n chat requests and returns them. If ctx
// ends first, it returns the error of ctx.
func (s *Server) WaitForRequests(ctx context.Context, n int) ([]Request, error) {
	for {
		s.mu.Lock()
		requests, arrived := slices.Clone(s.requests), s.arrived
		s.mu.Unlock()
		if len(requests) >= n {
			return requests, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return requests, fmt.Errorf("waiting for request %d of the scripted model: %w", n, ctx.Err())
		}
	}
}

// track counts connections, so that Close can wait for their handlers.
func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("Ollama is running"))
	})
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": s.version()})
	})
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("GET /api/ps", s.running)
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /api/pull", s.pull)
	mux.HandleFunc("DELETE /api/delete", s.remove)
	return mux
}

func (s *Server) version() string {
	if r := s.script.Recording; r != nil {
		return cmp.Or(s.script.Version, r.ofOllama())
	}
	return cmp.Or(s.script.Version, Version)
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	list := api.ListResponse{Models: []api.ListModelResponse{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	modified := s.started
	for _, m := range s.models {
		if !m.SameAge {
			modified = modified.Add(-time.Second)
		}
		list.Models = append(list.Models, api.ListModelResponse{
			Name: m.Name, Model: m.Name, ModifiedAt: modified, Digest: m.Digest, Size: m.Bytes, Details: m.details(),
		})
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) running(w http.ResponseWriter, _ *http.Request) {
	list := api.ProcessResponse{Models: []api.ProcessModelResponse{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.models {
		if state, ok := s.loaded[m.Name]; ok {
			running := api.ProcessModelResponse{
				Name: m.Name, Model: m.Name, Size: m.memory(state.window), Details: m.details(), ExpiresAt: state.until, ContextLength: state.window,
			}
			if !m.CPU {
				running.SizeVRAM = running.Size
			}
			list.Models = append(list.Models, running)
		}
	}
	writeJSON(w, http.StatusOK, list)
}

// loaded is a model in memory.
type loaded struct {
	window int // tokens
	until  time.Time
}

// load records that a model is in memory, as after every request, or unloads it.
func (s *Server) load(m Model, req Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unloads(req.KeepAlive) {
		delete(s.loaded, m.Name)
		return
	}
	if state, ok := s.loaded[m.Name]; !ok || state.window != window(m, req) {
		s.loads = append(s.loads, Load{m.Name, window(m, req)})
	}
	s.loaded[m.Name] = loaded{window: window(m, req), until: time.Now().Add(keptFor)}
}

// unloads reports whether a keep_alive is 0.
func unloads(keepAlive any) bool {
	if text, ok := keepAlive.(string); ok {
		d, err := time.ParseDuration(text)
		return err == nil && d == 0
	}
	return keepAlive == 0.0
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var req api.ShowRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	name := req.Model
	if name == "" {
		name = req.Name //nolint:staticcheck // older clients still send it
	}
	m, ok := s.find(name)
	if !ok {
		writeError(w, http.StatusNotFound, notFound(name))
		return
	}
	resp := api.ShowResponse{
		Details:    m.details(),
		ModifiedAt: s.started,
		ModelInfo: map[string]any{
			"general.architecture": "scripted", "scripted.context_length": m.ContextLength,
		},
	}
	if m.Basename != "" {
		resp.ModelInfo["general.basename"], resp.ModelInfo["general.size_label"] = m.Basename, m.Parameters
	}
	if m.TokenBytes > 0 {
		resp.ModelInfo["scripted.block_count"], resp.ModelInfo["scripted.attention.head_count_kv"] = 1, 1
		resp.ModelInfo["scripted.attention.key_length"], resp.ModelInfo["scripted.attention.value_length"] = m.TokenBytes/4, m.TokenBytes/4
	}
	if m.NumCtx > 0 {
		resp.Parameters = fmt.Sprintf("%-30s %d", "num_ctx", m.NumCtx)
	}
	for _, c := range m.Capabilities {
		resp.Capabilities = append(resp.Capabilities, model.Capability(c))
	}
	writeJSON(w, http.StatusOK, resp)
}

// memory returns the bytes that the model takes with a context window.
func (m Model) memory(window int) int64 { return m.Bytes + int64(window)*m.TokenBytes }

func (m Model) details() api.ModelDetails {
	return api.ModelDetails{
		Format: "gguf", Family: "scripted", Families: []string{"scripted"},
		ParameterSize: m.Parameters, QuantizationLevel: m.Quantization,
	}
}

func (s *Server) find(name string) (Model, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.models {
		if prompt.SameModel(m.Name, name) {
			return m, true
		}
	}
	return Model{}, false
}

func (m Model) withDefaults() Model {
	m.Name = prompt.TaggedName(m.Name)
	if m.ContextLength == 0 {
		m.ContextLength = defaultContextLength
	}
	if m.Capabilities == nil {
		m.Capabilities = []string{"completion", "tools"}
	}
	return m
}

func (m Model) can(capability string) bool { return slices.Contains(m.Capabilities, capability) }

func notFound(name string) string { return fmt.Sprintf("model '%s' not found", name) }

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"error": message})
}

// writeJSON sends value. It ignores errors: the client may be gone.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Cache returns the cost of the requests so far, or the zero value if the script
// has no Cache.
func (s *Server) Cache() CacheUse {
	if s.cache == nil {
		return CacheUse{}
	}
	return s.cache.used()
}

// tokenSize returns the size of a token in bytes.
func (s *Server) tokenSize() int {
	if s.cache == nil {
		return bytesPerToken
	}
	return s.cache.tokenSize()
}
