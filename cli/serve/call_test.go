package serve_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/serve"
	"replan/planning/plan"
)

// stage is a backend whose sessions open one gate and wait for its answer.
type stage struct {
	diff string
	run  []event.Data // of a run without gates that ends; nil for one with gates

	mu       sync.Mutex
	sessions []*gated
}

// gated is a session that ends with the answers to its gates.
type gated struct {
	events chan event.Event
	sent   chan session.Command
	closed chan struct{}
	diff   string
	run    []event.Data
	opened int // gates
	seq    uint64
	once   sync.Once
}

// open opens one more gate, of a step of its own.
func (g *gated) open() {
	g.opened++
	index := strconv.Itoa(g.opened)
	g.emit(event.GateRequested{Gate: index + ".1.1", Step: index, Title: "Write", Tool: "fs.write", Server: "workspace", Diff: g.diff})
}

func (g *gated) emit(d event.Data) {
	g.seq++
	g.events <- event.Event{Seq: g.seq, Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Run: "r-1", Data: d}
}

func (g *gated) ID() string                 { return "s" }
func (g *gated) Events() <-chan event.Event { return g.events }

func (g *gated) Close() {
	g.once.Do(func() { close(g.closed); close(g.events) })
}

func (g *gated) Send(c session.Command) {
	switch c := c.(type) {
	case session.Create:
		for _, d := range g.run {
			g.emit(d)
		}
		if g.run != nil {
			g.events <- event.Event{Run: "s", Data: event.ChatReply{Run: "r-1", Status: event.StatusCompleted}}
			return
		}
		write := plan.Step{Index: "1", Title: "Write", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{}}
		other := write
		other.Index = "2"
		p := plan.Plan{Title: "T", Steps: []plan.Step{write, other}}
		g.emit(event.RunStarted{Goal: "g", Plan: &p, Limits: event.DefaultLimits(), Catalog: plan.Catalog{{Name: "fs.write", Server: "workspace", Trusted: true}}})
		g.emit(event.PlanCreated{Plan: p, Revision: 1})
		g.open()
	case session.Resolve:
		g.sent <- c
		if len(g.sent) < g.opened {
			return
		}
		g.events <- event.Event{Run: "s", Data: event.ChatReply{Run: "r-1", Status: event.StatusFailed, Reason: event.ReasonDenied}}
	}
}

func (b *stage) Begin(context.Context) (serve.Session, error) {
	buffer := 64
	if b.run != nil {
		buffer = 0 // the events of a run are read before Send returns
	}
	g := &gated{events: make(chan event.Event, buffer), sent: make(chan session.Command, 8), closed: make(chan struct{}), diff: b.diff, run: b.run}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = append(b.sessions, g)
	return g, nil
}

// first returns the first session that began.
func (b *stage) first() *gated {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[0]
}

func (b *stage) Execute(context.Context, string) (session.Execute, error) {
	return session.Execute{}, nil
}
func (b *stage) Runs() ([]agent.Summary, error)      { return nil, nil }
func (b *stage) Run(string) (agent.Run, bool, error) { return agent.Run{}, false, nil }

// userOf answers the questions of a server.
type userOf func(mcp.ElicitationParams) (*mcp.ElicitationResult, error)

func (u userOf) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return u(r.Params)
}

// connect returns a client of a server, in an era of the protocol.
func connect(t *testing.T, s *serve.Server, version string, user userOf) *client.Client {
	t.Helper()
	c, err := client.NewInProcessClientWithOptions(s.MCP(), client.WithElicitationHandler(user), client.WithProtocolVersion(version))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: mcp.Implementation{Name: "t", Version: "1"}}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// create calls plan_create_and_execute.
func create(ctx context.Context, c *client.Client) (*mcp.CallToolResult, error) {
	return c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "plan_create_and_execute", Arguments: map[string]any{"goal": "g"}}})
}

func TestRunStopsIfNoAnswerComesInTime(t *testing.T) {
	stage := &stage{}
	s := serve.New(serve.Config{Backend: stage, ParkedFor: time.Millisecond})
	defer s.Close()
	c := connect(t, s, mcp.ProtocolVersion20260728, func(mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
		<-stage.first().closed // the user comes back after that
		return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"decision": "allow once"}}}, nil
	})
	got, err := create(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got.Content); !got.IsError || !strings.Contains(text, "the answer came too late") || !strings.Contains(text, "run_resume") {
		t.Errorf("got %v", got)
	}
}

// The run ends before the call begins to wait for it, so none of its progress may be lost
// until then.
func TestProgressCountsItems(t *testing.T) {
	each := plan.Step{Index: "1", Title: "Read each file", Executor: plan.ExecutorTool, Tool: "fs.read", ForEach: &plan.ForEach{Items: []any{"a", "b"}, As: "item", Max: 50}}
	p := plan.Plan{Title: "T", Steps: []plan.Step{each, {Index: "2", Title: "Sum up", Executor: plan.ExecutorSelf, DependsOn: []string{"1"}}}}
	call := func(index string) event.StepStarted {
		return event.StepStarted{Index: index, Parent: "1", Attempt: 1, Title: "Read each file", Executor: plan.ExecutorTool, Tool: "fs.read"}
	}
	s := serve.New(serve.Config{Backend: &stage{run: []event.Data{
		event.RunStarted{Goal: "g", Plan: &p, Limits: event.DefaultLimits()},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepExpanded{Index: "1", Attempt: 1, Title: "Read each file", Items: []any{"a", "b"}},
		call("1.1"), call("1.2"),
		event.StepCompleted{Index: "1.1", Attempt: 1, Result: "x"},
		event.StepCompleted{Index: "1.2", Attempt: 1, Result: "x"},
	}}})
	defer s.Close()
	client := server.NewInProcessSession("client", nil)
	client.Initialize()
	s.MCP().HandleMessage(s.MCP().WithContext(t.Context(), client), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call",
		"params":{"name":"plan_create_and_execute","arguments":{"goal":"g"},"_meta":{"progressToken":"p"}}}`))
	var got []string
	for range len(client.ClientNotifications()) {
		told := (<-client.ClientNotifications()).Params.AdditionalFields
		got = append(got, fmt.Sprintf("%v of %v: %v", told["progress"], told["total"], told["message"]))
	}
	want := []string{"0.001 of 2: planned: T", "0.002 of 2: Read each file: 2 items", "0.5 of 2: Read each file: 1 of 2 items", "1 of 2: Read each file: 2 items"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGateThatOpensMeanwhileIsAskedAbout(t *testing.T) {
	stage := &stage{}
	s := serve.New(serve.Config{Backend: stage})
	defer s.Close()
	var asked int
	c := connect(t, s, mcp.ProtocolVersion20260728, func(mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
		if asked++; asked == 1 {
			stage.first().open()
		}
		return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"decision": "allow once"}}}, nil
	})
	if _, err := create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, gate := range []string{"1.1.1", "2.1.1"} {
		if got, ok := (<-stage.first().sent).(session.Resolve); !ok || got.Gate != gate || got.Decision != event.Allow {
			t.Errorf("got %+v, want gate %s allowed", got, gate)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestClosedServerStopsRunThatWaitsForAnswer(t *testing.T) {
	stage := &stage{}
	s := serve.New(serve.Config{Backend: stage})
	asked := make(chan struct{})
	c := connect(t, s, mcp.ProtocolVersion20260728, func(mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
		close(asked)
		<-stage.first().closed
		return &mcp.ElicitationResult{}, nil
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = create(t.Context(), c)
	}()
	<-asked
	s.Close()
	<-ended
	if got, err := create(t.Context(), c); err != nil || !got.IsError || !strings.Contains(fmt.Sprint(got.Content), "is stopping") {
		t.Errorf("got %v, %v", got, err)
	}
}

// onLog is a log that calls a function with each message.
type onLog func(message string)

func (onLog) Enabled(context.Context, slog.Level) bool { return true }
func (l onLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l onLog) WithGroup(string) slog.Handler          { return l }

func (l onLog) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}

func TestEndOfACallDeniesNothing(t *testing.T) {
	for range 50 { // the call learns of its end and of the failed question in either order
		ctx, leave := context.WithCancel(t.Context())
		noted, failed := make(chan struct{}), make(chan struct{}, 2)
		stage := &stage{}
		s := serve.New(serve.Config{Backend: stage, Logger: slog.New(onLog(func(message string) {
			switch message {
			case "note of a served call": // the call cannot go on meanwhile
				close(noted)
				<-failed
			case "ask the user of an MCP client":
				failed <- struct{}{}
			}
		}))})
		c := connect(t, s, "2025-11-25", func(mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			stage.first().open()
			stage.first().emit(event.Note{Text: "wait"})
			<-noted
			leave()
			return nil, ctx.Err()
		})
		_, _ = create(ctx, c)
		s.Close()
		if len(stage.first().sent) > 0 {
			t.Fatalf("the end of the call answered a gate with %+v", <-stage.first().sent)
		}
	}
}

func TestCallThatCannotBeShownCannotBeAllowed(t *testing.T) {
	for _, version := range []string{mcp.ProtocolVersion20260728, "2025-11-25"} {
		stage := &stage{diff: "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", 30_000) + "\n"}
		s := serve.New(serve.Config{Backend: stage})
		var question mcp.ElicitationParams
		c := connect(t, s, version, func(p mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
			question = p
			return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"decision": "allow once"}}}, nil
		})
		if _, err := create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if len(question.Message) > 1000 || strings.Contains(fmt.Sprint(question.RequestedSchema), "allow once") {
			t.Errorf("got the question %.300s with %v", question.Message, question.RequestedSchema)
		}
		if sent, ok := (<-stage.first().sent).(session.Resolve); !ok || sent.Decision != event.Deny {
			t.Errorf("the gate was answered with %+v", sent)
		}
		s.Close()
	}
}
