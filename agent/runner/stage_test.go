package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// model answers by the purpose of a request.
type model struct {
	info    prompt.ModelInfo
	err     error
	replies map[prompt.Purpose]string
	hold    map[prompt.Purpose]chan struct{} // closed by the test when the model may answer; nil never holds
	others  map[string]prompt.ModelInfo      // further models by the server's name for them
	answer  func(prompt.Request) (reply.Reply, error, bool)

	mu   sync.Mutex
	seen []prompt.Request
}

func (m *model) Describe(_ context.Context, name string) (prompt.ModelInfo, error) {
	if name == "" || name == m.info.Name {
		return m.info, m.err
	}
	for alias, info := range m.others {
		if name == alias || name == info.Name {
			return info, nil
		}
	}
	return prompt.ModelInfo{}, fmt.Errorf("there is no model %s: pull it: %w", name, prompt.ErrNoModel)
}

// requests returns the requests that the model got so far for a purpose.
func (m *model) requests(purpose prompt.Purpose) []prompt.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.seen), func(r prompt.Request) bool { return r.Purpose != purpose })
}

func (m *model) Ask(ctx context.Context, r prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	if hold := m.hold[r.Purpose]; hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return reply.Reply{}, ctx.Err()
		}
	}
	m.mu.Lock()
	m.seen = append(m.seen, r)
	m.mu.Unlock()
	if m.answer != nil {
		if reply, err, ok := m.answer(r); ok {
			return reply, err
		}
	}
	text, ok := m.replies[r.Purpose]
	if !ok {
		return reply.Reply{}, fmt.Errorf("no reply for %s", r.Purpose)
	}
	for word := range strings.SplitAfterSeq(text, " ") {
		delta(word, "")
	}
	return reply.Reply{Text: text, PromptTokens: 10, CompletionTokens: 5, ContextWindow: 8192}, nil
}

// tools offers one tool that reads and one that changes things.
type tools struct {
	runner.NoServers
	mu      sync.Mutex
	calls   []string
	call    func(ctx context.Context, c plan.ToolCall) (any, error)
	pending []plan.PendingServer
	answers []bool
	accepts []string            // names and pins of what was accepted
	changes []plan.ServerChange // that the user has not accepted
	revoked []string
	changed func()
	servers []plan.ServerStatus
	offered plan.Catalog // nil means look and change
}

func (t *tools) Ready(context.Context) plan.Catalog {
	if t.offered != nil {
		return t.offered
	}
	schema := json.RawMessage(`{"type":"object"}`)
	return plan.Catalog{
		{Name: "look", Server: "w", ReadOnly: true, Annotated: true, InputSchema: schema},
		{Name: "change", Server: "w", Annotated: true, Destructive: true, InputSchema: schema, Previews: true},
	}
}

// ReadyFor blocks until the context ends if a tool of a starting server is named.
func (t *tools) ReadyFor(ctx context.Context, names []string) (plan.Catalog, []string) {
	var awaited []string
	for _, server := range t.Status() {
		named := slices.ContainsFunc(names, func(name string) bool {
			of, _, qualified := strings.Cut(name, ":")
			return qualified && prompt.MatchName(of, server.Name)
		})
		if named && server.State == plan.ServerStarting {
			awaited = append(awaited, server.Name)
		}
	}
	if len(awaited) > 0 {
		<-ctx.Done()
	}
	return t.Ready(ctx), awaited
}

func (t *tools) Call(ctx context.Context, c plan.ToolCall) (any, error) {
	t.mu.Lock()
	t.calls = append(t.calls, c.Tool.Name)
	t.mu.Unlock()
	if t.call != nil {
		return t.call(ctx, c)
	}
	return "seen", nil
}

func (t *tools) Changes() []plan.ServerChange {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.changes)
}

func (t *tools) Accept(_ context.Context, seen plan.ServerChange) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.accepts = append(t.accepts, seen.Name()+" "+seen.Pin)
	t.changes = slices.DeleteFunc(t.changes, func(c plan.ServerChange) bool { return c.Name() == seen.Name() })
	return nil
}

func (t *tools) Revoke(server string) error {
	if server == "mine" {
		return errors.New("mine needs no permission")
	}
	t.revoked = append(t.revoked, server)
	return nil
}

func (t *tools) Preview(context.Context, plan.ToolCall) (plan.ToolPreview, error) {
	return plan.ToolPreview{Diff: "-a\n+b\n", Hashes: map[string]string{"f": "00"}}, nil
}

func (t *tools) Status() []plan.ServerStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.servers != nil {
		return t.servers
	}
	return []plan.ServerStatus{{Name: "w", State: plan.ServerReady, Tools: 2}}
}

func (t *tools) Pending() []plan.PendingServer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.pending)
}

// offer adds a question and reports it.
func (t *tools) offer(p plan.PendingServer) {
	t.mu.Lock()
	t.pending = append(t.pending, p)
	t.mu.Unlock()
	t.changed()
}

func (t *tools) Watch(changed func()) {
	if changed != nil {
		t.changed = changed
	}
}

func (t *tools) Answer(_ context.Context, asked []plan.PendingServer, yes bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = append(t.answers, yes)
	t.pending = slices.DeleteFunc(t.pending, func(p plan.PendingServer) bool {
		return slices.ContainsFunc(asked, func(q plan.PendingServer) bool { return q.Name == p.Name })
	})
	return nil
}

// memory is a journal in memory.
type memory struct {
	mu     sync.Mutex
	events []event.Event
	room   int // events that still fit; unlimited below 0
	closed bool
}

func (m *memory) Append(events ...event.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room >= 0 && len(m.events)+len(events) > m.room {
		return errors.New("no space left")
	}
	m.events = append(m.events, events...)
	return nil
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

// stage is a session whose dependencies are under the control of the test.
type stage struct {
	*runner.Session
	model    *model
	tools    *tools
	journals map[string]*memory
	open     func(kind string) runner.Journal // replaces journals if set
	limits   event.Limits
	config   func(*runner.Config) // changes the session's other settings
	seen     []event.Event
}

const twoSteps = `{"title":"Two","steps":[{"title":"Look","tool":"look","args":{}},{"title":"Change the file","tool":"change","args":{},"depends_on":["1"]}]}`

func open(t *testing.T, approve policy.Approve, change func(*stage)) *stage {
	t.Helper()
	s := &stage{
		model: &model{info: prompt.ModelInfo{Name: "m", ContextWindow: 8192}, replies: map[prompt.Purpose]string{
			prompt.PurposeAnalysis:  `{"mode":"plan","complexity":"medium","reflect":false}`,
			prompt.PurposePlan:      twoSteps,
			prompt.PurposeSynthesis: "done",
			prompt.PurposeChat:      "hello",
		}},
		tools:    &tools{},
		journals: map[string]*memory{},
		limits:   event.DefaultLimits(),
	}
	if change != nil {
		change(s)
	}
	ids := 0
	cfg := runner.Config{
		Model: s.model, Tools: s.tools, Workspace: "/w", Limits: s.limits, Approve: approve,
		Store: &fakeStore{create: func(kind, _ string) (runner.Journal, error) {
			if s.open != nil {
				return s.open(kind), nil
			}
			if s.journals[kind] == nil {
				s.journals[kind] = &memory{room: -1}
			}
			return s.journals[kind], nil
		}},
		NewID: func(time.Time) string { ids++; return fmt.Sprint(ids) },
	}
	if s.config != nil {
		s.config(&cfg)
	}
	session, err := runner.NewSession(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Session = session
	t.Cleanup(s.shut)
	return s
}

// shut closes the session and reads its remaining events.
func (s *stage) shut() {
	done := make(chan struct{})
	go func() {
		for e := range s.Events() {
			s.seen = append(s.seen, e)
		}
		close(done)
	}()
	s.Close()
	<-done
}

// until reads events up to the first one with data of type T.
func until[T event.Data](t *testing.T, s *stage) T {
	t.Helper()
	for e := range s.Events() {
		s.seen = append(s.seen, e)
		if d, ok := e.Data.(T); ok {
			return d
		}
	}
	var none T
	t.Fatalf("the session ended without a %T", none)
	return none
}

// failing returns a call that fails for one tool with an error of the tool.
func failing(tool string) func(context.Context, plan.ToolCall) (any, error) {
	return func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == tool {
			return nil, &plan.ToolError{Tool: tool, Message: "not yet"}
		}
		return "seen", nil
	}
}

// called returns the tools that were called so far.
func (t *tools) called() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string{}, t.calls...)
}

// last returns the newest event with data of type T among those read.
func last[T event.Data](t *testing.T, s *stage) (event.Event, T) {
	t.Helper()
	for i := len(s.seen) - 1; i >= 0; i-- {
		if d, ok := s.seen[i].Data.(T); ok {
			return s.seen[i], d
		}
	}
	var none T
	t.Fatalf("got no %T", none)
	return event.Event{}, none
}
