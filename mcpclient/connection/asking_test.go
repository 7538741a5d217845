package connection_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/incoming"
	"replan/planning/plan"
)

func TestServerAsksTheUserDuringACall(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		p := newPool(t, cfg)
		ask := func(name string, answer plan.ElicitationAnswer) (result any, asked plan.Elicitation) {
			t.Helper()
			result, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, name), Elicit: func(_ context.Context, q plan.Elicitation) plan.ElicitationAnswer {
				asked = q
				return answer
			}})
			if err != nil {
				t.Fatal(err)
			}
			return result, asked
		}
		got, asked := ask("book", plan.ElicitationAnswer{Action: plan.ElicitationAccept, Content: map[string]any{"guests": json.Number("4")}})
		if got != `accept {"guests":4}` || asked.Server != "child" || asked.Message != "Which table?" || !strings.Contains(string(asked.Schema), `"guests":{"type":"integer"}`) || asked.URL != "" {
			t.Errorf("form: got %v, asked %+v", got, asked)
		}
		got, asked = ask("pay", plan.ElicitationAnswer{Action: plan.ElicitationAccept})
		if got != "accept null" || asked.URL != "https://pay.example/7?x=1" || asked.Schema != nil {
			t.Errorf("page: got %v, asked %+v", got, asked)
		}
		if got, _ = ask("book", plan.ElicitationAnswer{Action: plan.ElicitationCancel}); got != "cancel null" {
			t.Errorf("canceled: got %v", got)
		}
		if got, asked = ask("odd", plan.ElicitationAnswer{Action: plan.ElicitationAccept}); got != "decline null" || asked.Server != "" {
			t.Errorf("no web page: got %v, asked %+v", got, asked)
		}
	})
}

func TestServerWantsAPageVisitedBeforeACall(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		if strings.HasSuffix(t.Name(), "newer_protocol") {
			return // it has no such error
		}
		p := newPool(t, cfg)
		for action, want := range map[plan.ElicitationAction]string{
			plan.ElicitationAccept:  "the server wants you to finish on its page first; then run the call again",
			plan.ElicitationDecline: "the server wants you to visit a page first, which was declined: https://login.example/",
		} {
			var asked plan.Elicitation
			_, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "visit"), Elicit: func(_ context.Context, q plan.Elicitation) plan.ElicitationAnswer {
				asked = q
				return plan.ElicitationAnswer{Action: action}
			}})
			if !isToolError(err) || err.Error() != want || asked.URL != "https://login.example/" {
				t.Errorf("%s: got %v, asked %+v", action, err, asked)
			}
		}
	})
}

func TestQuestionIsDeclinedIfNobodyCanAnswer(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		p := newPool(t, cfg)
		if got, err := call(t, p, "book", nil); err != nil || got != "decline null" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestThinkingTimeDoesNotCountAsTimeOfTheCall(t *testing.T) {
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		t.Parallel() // it takes its time
		const limit = time.Second
		cfg.CallTimeout = limit
		p := newPool(t, cfg)
		got, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "book"), Elicit: func(ctx context.Context, _ plan.Elicitation) plan.ElicitationAnswer {
			select {
			case <-ctx.Done():
			case <-time.After(limit + limit/4):
			}
			return plan.ElicitationAnswer{Action: plan.ElicitationDecline}
		}})
		if err != nil || got != "decline null" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestCanceledCallWithdrawsItsQuestion(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		p := newPool(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		withdrawn := make(chan struct{})
		_, err := p.Call(ctx, plan.ToolCall{Tool: tool(t, p, "book"), Elicit: func(ctx context.Context, _ plan.Elicitation) plan.ElicitationAnswer {
			cancel()
			<-ctx.Done()
			close(withdrawn)
			return plan.ElicitationAnswer{Action: plan.ElicitationCancel}
		}})
		<-withdrawn
		if !errors.Is(err, context.Canceled) || isToolError(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestServerLearnsTheWorkspaceAsItsRoot(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		cfg.Dir = filepath.Join(t.TempDir(), "a b")
		if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p := newPool(t, cfg)
		got, err := call(t, p, "folders", nil)
		real, _ := filepath.EvalSymlinks(cfg.Dir)
		if want := "file://" + strings.ReplaceAll(filepath.ToSlash(real), " ", "%20"); err != nil || got != want {
			t.Errorf("got %v, %v, want %s", got, err, want)
		}
	})
}

func TestServerNeedNotLearnTheWorkspace(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		var mu sync.Mutex
		var sent strings.Builder
		cfg.Servers[0].NoRoots = true
		cfg.Wire = func(m mcpclient.Message) {
			mu.Lock()
			defer mu.Unlock()
			if m.Sent {
				sent.Write(m.Text)
			}
		}
		p := newPool(t, cfg)
		tool(t, p, "folders")
		mu.Lock()
		defer mu.Unlock()
		if text := sent.String(); !strings.Contains(text, `"elicitation":{`) || strings.Contains(text, `"roots"`) {
			t.Errorf("sent %s", text)
		}
	})
}

func TestCallThatWantsSamplingIsRefused(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		p := newPool(t, cfg)
		if _, err := call(t, p, "think", nil); err == nil {
			t.Error("no error")
		}
	})
}

func TestToolsThatRunOnlyAsTasksAreLeftOut(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", asks)}})
	s := status(t, p, "child")
	if s.TaskTools != `"research"` || s.Error != "" {
		t.Errorf("got %+v", s)
	}
	if _, err := p.Ready(t.Context()).Find("research"); err == nil {
		t.Error("the tool is offered")
	}
}

func TestMessagesOfServersGoToTheirLogWithinBounds(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	p := newPool(t, mcpclient.Config{LogDir: logs, Servers: []config.Server{aChild("child", "older server", asks)}})
	it, file := tool(t, p, "log"), filepath.Join(logs, "mcp-child.log")
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: it, Args: map[string]any{"times": incoming.MaxMessages * 2}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if got := strings.Count(string(text), "[warning db] slow "); err != nil || got != incoming.MaxMessages {
		t.Errorf("got %d messages, %v: %.300s", got, err, text)
	}
}

func TestMessagesOfServersAreFollowed(t *testing.T) {
	t.Parallel()
	askers(t, func(t *testing.T, cfg mcpclient.Config) {
		cfg.LogDir = t.TempDir()
		p := newPool(t, cfg)
		it := tool(t, p, "log")
		_, at, err := p.Log(t.Context(), "child", -1)
		if err != nil {
			t.Fatal(err)
		}
		found := make(chan error, 1)
		go func() {
			for {
				lines, next, err := p.Log(t.Context(), "child", at)
				if err != nil || slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "[warning db] slow 0") }) {
					found <- err
					return
				}
				at = next
			}
		}()
		for { // the library's HTTP server loses some messages that are followed by the result
			if _, err := p.Call(t.Context(), plan.ToolCall{Tool: it}); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-found:
				if err != nil {
					t.Error(err)
				}
				return
			default:
			}
		}
	})
}

func TestLogMessageIsOneLine(t *testing.T) {
	t.Parallel()
	var got []string
	log := incoming.Log{Write: func(line string) { got = append(got, line) }}
	for _, fields := range []map[string]any{
		{"level": "info", "data": "a\n b"},
		{"level": "error", "logger": "db", "data": map[string]any{"n": 1}},
		{},
		{"level": "info", "data": strings.Repeat("é", 1<<20)},
	} {
		n := mcp.JSONRPCNotification{}
		n.Params.AdditionalFields = fields
		log.Take(n)
	}
	if want := []string{"[info] a b", `[error db] {"n":1}`, "[] null"}; !reflect.DeepEqual(got[:3], want) {
		t.Errorf("got %q", got[:3])
	}
	if long := got[3]; len(long) > 5000 || !utf8.ValidString(long) || !strings.HasSuffix(long, "éé…") {
		t.Errorf("a long message has %d bytes", len(long))
	}
}

func TestPingOfAServerIsAnswered(t *testing.T) {
	t.Parallel()
	t.Run("stdio", func(t *testing.T) {
		s, _ := fault(t, "pings")
		p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
		if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		s := newSession(t, http.StatusNotFound)
		tool(t, over(t, s.URL, nil), "echo")
		s.Events <- `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		s.Await(t, "") // an answer has no method
	})
}
