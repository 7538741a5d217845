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

	"go.uber.org/goleak"

	"replan/agent"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/planning"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model answers by the purpose of a request.
type model struct {
	info    planning.ModelInfo
	err     error
	replies map[planning.Purpose]string
	hold    map[planning.Purpose]chan struct{} // closed by the test when the model may answer; nil never holds
}

func (m *model) Describe(context.Context) (planning.ModelInfo, error) { return m.info, m.err }

func (m *model) Ask(ctx context.Context, r planning.Request, delta func(text, thinking string)) (planning.Reply, error) {
	if hold := m.hold[r.Purpose]; hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return planning.Reply{}, ctx.Err()
		}
	}
	text, ok := m.replies[r.Purpose]
	if !ok {
		return planning.Reply{}, fmt.Errorf("nothing to say about %s", r.Purpose)
	}
	for word := range strings.SplitAfterSeq(text, " ") {
		delta(word, "")
	}
	return planning.Reply{Text: text, PromptTokens: 10, CompletionTokens: 5, ContextWindow: 8192}, nil
}

// tools offers one tool that reads and one that changes things.
type tools struct {
	mu      sync.Mutex
	calls   []string
	call    func(ctx context.Context, c planning.ToolCall) (any, error)
	pending []planning.PendingServer
	answers []bool
	servers []planning.ServerStatus
}

func (t *tools) Ready(context.Context) planning.Catalogue {
	schema := json.RawMessage(`{"type":"object"}`)
	return planning.Catalogue{
		{Name: "look", Server: "w", ReadOnly: true, Annotated: true, InputSchema: schema},
		{Name: "change", Server: "w", Annotated: true, Destructive: true, InputSchema: schema, Previews: true},
	}
}

func (t *tools) Call(ctx context.Context, c planning.ToolCall) (any, error) {
	t.mu.Lock()
	t.calls = append(t.calls, c.Tool.Name)
	t.mu.Unlock()
	if t.call != nil {
		return t.call(ctx, c)
	}
	return "seen", nil
}

func (t *tools) Preview(context.Context, planning.ToolCall) (planning.ToolPreview, error) {
	return planning.ToolPreview{Diff: "-a\n+b\n", Hashes: map[string]string{"f": "00"}}, nil
}

func (t *tools) Status() []planning.ServerStatus {
	if t.servers != nil {
		return t.servers
	}
	return []planning.ServerStatus{{Name: "w", State: planning.ServerReady, Tools: 2}}
}
func (t *tools) Pending() []planning.PendingServer { return t.pending }
func (t *tools) Watch(func())                      {}

func (t *tools) Answer(_ context.Context, yes bool) error {
	t.answers, t.pending = append(t.answers, yes), nil
	return nil
}

// memory is a journal that forgets when the test ends.
type memory struct {
	mu     sync.Mutex
	events []agent.Event
	room   int // events that still fit; below 0 there is no end to it
	closed bool
}

func (m *memory) Append(events ...agent.Event) error {
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

// stage is a session with everything around it under the test's hand.
type stage struct {
	*runner.Session
	model    *model
	tools    *tools
	journals map[string]*memory
	open     func(kind string) runner.Journal // in place of journals, where a test says so
	limits   agent.Limits
	seen     []agent.Event
}

const twoSteps = `{"title":"Two","steps":[{"title":"Look","tool":"look","args":{}},{"title":"Change","tool":"change","args":{},"depends_on":["1"]}]}`

func open(t *testing.T, approve policy.Approve, change func(*stage)) *stage {
	t.Helper()
	s := &stage{
		model: &model{info: planning.ModelInfo{Name: "m", ContextWindow: 8192}, replies: map[planning.Purpose]string{
			planning.PurposeAnalysis:  `{"mode":"plan","complexity":"medium","reflect":false}`,
			planning.PurposePlan:      twoSteps,
			planning.PurposeSynthesis: "done",
			planning.PurposeChat:      "hello",
		}},
		tools:    &tools{},
		journals: map[string]*memory{},
		limits:   agent.DefaultLimits(),
	}
	if change != nil {
		change(s)
	}
	ids := 0
	session, err := runner.NewSession(t.Context(), runner.Config{
		Model: s.model, Tools: s.tools, Workspace: "/w", Limits: s.limits, Approve: approve,
		Open: func(kind, id string) (runner.Journal, error) {
			if s.open != nil {
				return s.open(kind), nil
			}
			if s.journals[kind] == nil {
				s.journals[kind] = &memory{room: -1}
			}
			return s.journals[kind], nil
		},
		NewID: func(time.Time) string { ids++; return fmt.Sprint(ids) },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Session = session
	t.Cleanup(s.shut)
	return s
}

// shut closes the session and reads what it still says.
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

// until reads events until one of them is what is waited for.
func until[T agent.Data](t *testing.T, s *stage) T {
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

func TestARunIsToldJournalledAndAnswered(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.Send(runner.Submit{Text: "do it"})
	result := until[agent.RunCompleted](t, s).Result
	if result.Reason != agent.ReasonGoalMet || result.Answer != "done" {
		t.Fatalf("%s: %q %s", result.Reason, result.Answer, result.Error)
	}
	if reply := until[agent.ChatReply](t, s); reply.Text != "done" {
		t.Errorf("the chat says %q", reply.Text)
	}
	s.shut()
	var told []agent.Event
	for _, e := range s.seen {
		if e.Run != s.ID() && !e.Data.Kind().Passing() {
			told = append(told, e)
		}
	}
	journal := s.journals["run"]
	if len(told) != len(journal.events) {
		t.Fatalf("%d durable events were told, %d journalled", len(told), len(journal.events))
	}
	var again agent.Run
	for _, e := range journal.events {
		if err := again.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if again.Result == nil || again.Result.Reason != agent.ReasonGoalMet {
		t.Errorf("the journal folds to %+v", again.Result)
	}
	if !journal.closed || !s.journals["session"].closed {
		t.Error("a journal was left open")
	}
}

func TestAGateShowsTheDiffAndWaits(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(runner.Submit{Text: "do it"})
	gate := until[agent.GateRequested](t, s)
	if gate.Diff == "" || gate.Hashes["f"] == "" || gate.Tool != "change" {
		t.Errorf("the gate shows %+v", gate)
	}
	run := s.seen[len(s.seen)-1].Run
	if slices.Contains(s.tools.calls, "change") {
		t.Fatal("the call was made before the gate was opened")
	}
	s.Send(runner.Resolve{Run: run, Gate: gate.Gate, Decision: agent.Allow})
	if result := until[agent.RunCompleted](t, s); result.Reason != agent.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestADeniedGateEndsTheRun(t *testing.T) {
	s := open(t, policy.ApproveNone, nil)
	s.Send(runner.Submit{Text: "do it"})
	if result := until[agent.RunCompleted](t, s); result.Reason != agent.ReasonDenied {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
	if slices.Contains(s.tools.calls, "change") {
		t.Error("the denied call was made")
	}
}

func TestStopEndsWhatIsUnderWay(t *testing.T) {
	plan := `{"title":"One","steps":[{"title":"Wait","tool":"%s","args":{}}]}`
	for tool, doubt := range map[string]bool{"look": false, "change": true} {
		t.Run(tool, func(t *testing.T) {
			begun := make(chan struct{})
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.replies[planning.PurposePlan] = fmt.Sprintf(plan, tool)
				s.tools.call = func(ctx context.Context, _ planning.ToolCall) (any, error) {
					close(begun)
					<-ctx.Done()
					return nil, ctx.Err()
				}
			})
			s.Send(runner.Submit{Text: "do it"})
			for e := range s.Events() {
				if d, ok := e.Data.(agent.StepStarted); ok && d.Tool == tool {
					break
				}
			}
			<-begun
			s.Send(runner.Stop{})
			result := until[agent.RunCompleted](t, s)
			if result.Status != agent.StatusCancelled || result.Reason != agent.ReasonInterrupted {
				t.Errorf("%s %s", result.Status, result.Reason)
			}
			last := result.History[len(result.History)-1]
			if got := last.Status == planning.ItemInDoubt; got != doubt {
				t.Errorf("a stopped call of %s is %s", tool, last.Status)
			}
		})
	}
}

func TestStopReachesAModelThatThinks(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[planning.Purpose]chan struct{}{planning.PurposePlan: make(chan struct{})}
	})
	s.Send(runner.Submit{Text: "do it"})
	for until[agent.PhaseStarted](t, s).Phase != 3 {
	}
	s.Send(runner.Stop{})
	if result := until[agent.RunCompleted](t, s); result.Reason != agent.ReasonInterrupted {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestClosingASessionEndsItsRunInOrder(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[planning.Purpose]chan struct{}{planning.PurposePlan: make(chan struct{})}
	})
	s.Send(runner.Submit{Text: "do it"})
	for until[agent.PhaseStarted](t, s).Phase != 3 {
	}
	s.shut()
	events := s.journals["run"].events
	end, ok := events[len(events)-1].Data.(agent.RunCompleted)
	if !ok || end.Reason != agent.ReasonInterrupted {
		t.Errorf("the journal ends with %v", events[len(events)-1].Data)
	}
}

func TestATimeOutOfAnEffectfulCallIsADoubt(t *testing.T) {
	plan := `{"title":"One","steps":[{"title":"Wait","tool":"%s","args":{},"timeout":"1ms","on_failure":"abort"}]}`
	for tool, want := range map[string]agent.Reason{"look": agent.ReasonStepFailed, "change": agent.ReasonInDoubt} {
		s := open(t, policy.ApproveAll, func(s *stage) {
			s.model.replies[planning.PurposePlan] = fmt.Sprintf(plan, tool)
			s.tools.call = func(ctx context.Context, _ planning.ToolCall) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		s.Send(runner.Submit{Text: "do it"})
		if result := until[agent.RunCompleted](t, s); result.Reason != want {
			t.Errorf("%s: %s %s, want %s", tool, result.Reason, result.Error, want)
		}
	}
}

func TestWhatIsTypedMeanwhileIsQueuedAndRemembers(t *testing.T) {
	s := open(t, policy.ApproveAll, nil)
	s.Send(runner.Submit{Text: "first"})
	s.Send(runner.Submit{Text: "second"})
	until[agent.ChatReply](t, s)
	start := until[agent.RunStarted](t, s)
	if start.Goal != "second" || len(start.Prompting.Conversation) != 2 || start.Prompting.Conversation[0].Content != "first" {
		t.Errorf("the second run starts with %q and %v", start.Goal, start.Prompting.Conversation)
	}
	until[agent.ChatReply](t, s)
}

func TestNoModelIsSaidInOneSentence(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.err = fmt.Errorf("Ollama does not answer: start it: %w", planning.ErrNoModel)
	})
	s.Send(runner.Submit{Text: "do it"})
	reply := until[agent.ChatReply](t, s)
	if reply.Reason.ExitCode() != 5 || reply.Run != "" {
		t.Errorf("%+v", reply)
	}
}

func TestAJournalThatCannotBeWrittenEndsTheRun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.journals["run"] = &memory{room: 2} })
	s.Send(runner.Submit{Text: "do it"})
	if result := until[agent.RunCompleted](t, s); result.Status != agent.StatusFailed || !strings.Contains(result.Error, "no space left") {
		t.Errorf("%+v", result.Result)
	}
	if len(s.tools.calls) > 0 {
		t.Error("a tool was called although nothing is on disk")
	}
	if reply := until[agent.ChatReply](t, s); reply.Run == "" || reply.Reason.ExitCode() != 1 {
		t.Errorf("%+v", reply)
	}
}

func TestARunThatCannotBeWrittenAtAllHasNotBegun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.journals["run"] = &memory{room: 0} })
	s.Send(runner.Submit{Text: "do it"})
	reply := until[agent.ChatReply](t, s)
	if reply.Run != "" || reply.Reason.ExitCode() != 1 || !strings.Contains(reply.Text, "no space left") {
		t.Errorf("%+v", reply)
	}
	for _, e := range s.seen {
		if e.Run != s.ID() {
			t.Errorf("%s of a run that is not on disk was told", e.Data.Kind())
		}
	}
}

func TestTheProjectsServersWaitForAYes(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []planning.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	gate := until[agent.GateRequested](t, s)
	if !planning.EqualValues(gate.Args["files"], map[string]any{"command": []any{"serve", "."}}) {
		t.Errorf("the gate shows %v", gate.Args)
	}
	s.Send(runner.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: agent.Allow})
	until[agent.GateResolved](t, s)
	s.shut()
	if !slices.Equal(s.tools.answers, []bool{true}) {
		t.Errorf("answers %v", s.tools.answers)
	}
}

func TestAGoalWaitsForTheAnswerAboutTheServers(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.pending = []planning.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	gate := until[agent.GateRequested](t, s)
	s.Send(runner.Submit{Text: "do it"})
	until[agent.ChatUser](t, s)
	s.Send(runner.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: agent.Deny})
	if started := until[agent.RunStarted](t, s); started.Goal != "do it" {
		t.Errorf("%+v", started)
	}
	if i := slices.IndexFunc(s.seen, func(e agent.Event) bool { return e.Data.Kind() == agent.KindGateResolved }); i < 0 {
		t.Error("the run began before the answer")
	}
}

func TestAStopEndsTheWaitForTheAnswerAboutTheServers(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []planning.PendingServer{{Name: "files", Command: []string{"serve", "."}}}
	})
	s.Send(runner.Submit{Text: "do it"})
	s.Send(runner.Stop{})
	if reply := until[agent.ChatReply](t, s); reply.Reason != agent.ReasonInterrupted {
		t.Errorf("%+v", reply)
	}
}

func TestWhatIsWrongWithAServerIsSaidOnce(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.servers = []planning.ServerStatus{
			{Name: "broken", State: planning.ServerFailed, Error: "exited"},
			{Name: "slow", State: planning.ServerStarting},
			{Name: "unwanted", State: planning.ServerStopped, Error: "you said no"},
			{Name: "fine", State: planning.ServerReady},
		}
	})
	s.Send(runner.Submit{Text: "do it"})
	until[agent.ChatReply](t, s)
	var notes []string
	for _, e := range s.seen {
		if note, ok := e.Data.(agent.Note); ok {
			notes = append(notes, note.Text)
		}
	}
	want := []string{
		`the MCP server "broken": exited`,
		`the MCP server "slow": has not started yet; the run begins without its tools`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("said %q", notes)
	}
}

// picky is a journal that refuses the start of a step.
type picky struct{ memory }

func (p *picky) Append(events ...agent.Event) error {
	for _, e := range events {
		if e.Data.Kind() == agent.KindStepStarted {
			return errors.New("no space left")
		}
	}
	return p.memory.Append(events...)
}

func TestNothingIsCalledWhoseStartIsNotOnDisk(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) { s.open = func(string) runner.Journal { return &picky{memory{room: -1}} } })
	s.Send(runner.Submit{Text: "do it"})
	until[agent.ChatReply](t, s)
	s.shut()
	if len(s.tools.calls) > 0 {
		t.Errorf("%v was called", s.tools.calls)
	}
}

func TestStopWinsOverTheQueue(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.hold = map[planning.Purpose]chan struct{}{planning.PurposeAnalysis: make(chan struct{})}
	})
	s.Send(runner.Submit{Text: "first"})
	until[agent.RunStarted](t, s)
	s.Send(runner.Submit{Text: "second"})
	s.Send(runner.Stop{})
	until[agent.ChatReply](t, s)
	s.shut()
	for _, e := range s.seen {
		if d, ok := e.Data.(agent.RunStarted); ok && d.Goal == "second" {
			t.Error("the queued goal began after the stop")
		}
	}
}

func TestTheTimeBudgetEndsACallUnderWay(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.limits.MaxDurationMS = 50
		s.tools.call = func(ctx context.Context, _ planning.ToolCall) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	s.Send(runner.Submit{Text: "do it"})
	if result := until[agent.RunCompleted](t, s); result.Reason != agent.ReasonTimeBudget {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestAServersOwnTimeLimitIsATimeOut(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.tools.call = func(context.Context, planning.ToolCall) (any, error) { return nil, context.DeadlineExceeded }
	})
	s.Send(runner.Submit{Text: "do it"})
	if failed := until[agent.StepFailed](t, s); failed.Failure != agent.FailureTimeout {
		t.Errorf("told as %q", failed.Failure)
	}
}

func TestAYesThatIsNotOnDiskStartsNoServer(t *testing.T) {
	s := open(t, policy.ApproveAsk, func(s *stage) {
		s.tools.pending = []planning.PendingServer{{Name: "files", Command: []string{"serve"}}}
		s.open = func(string) runner.Journal { return &memory{} }
	})
	gate := until[agent.GateRequested](t, s)
	s.Send(runner.Resolve{Run: s.ID(), Gate: gate.Gate, Decision: agent.Allow})
	until[agent.Note](t, s)
	s.shut()
	if slices.Contains(s.tools.answers, true) {
		t.Error("the servers were started")
	}
}
