package connection_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestWhatIsNoMessageIsShownWithTheTimeLimitAndLogged(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "answers over several lines")
	s.Timeout = time.Second
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, LogDir: t.TempDir()})
	_, err := call(t, p, "echo", nil)
	if err == nil || !strings.Contains(err.Error(), `the "timeout" of the server k; meanwhile it wrote 5 lines that are no messages to standard output, which its log holds: `) ||
		!strings.Contains(err.Error(), `"jsonrpc": "2.0"`) {
		t.Errorf("got %v", err)
	}
	logged, err := os.ReadFile(status(t, p, "k").Log)
	if err != nil || !strings.Contains(string(logged), `on standard output, no message: "jsonrpc": "2.0"`) {
		t.Errorf("got the log %q, %v", logged, err)
	}
}

func TestLimitOfACallTellsWhatIsNoMessageApart(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "answers over several lines")
	s.Env["API_TOKEN"] = `"jsonrpc": "2.0"` // which its lines hold
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	_, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "echo"), Timeout: time.Second})
	late, ok := errors.AsType[*plan.TimeoutError](err)
	if !ok || !late.OfCall || !strings.HasPrefix(late.Meanwhile, "meanwhile it wrote 5 lines") || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %#v", err)
	}
	if strings.Contains(late.Meanwhile, "jsonrpc") {
		t.Errorf("it holds a secret: %s", late.Meanwhile)
	}
}

func TestServersMayWriteMoreThanMessages(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"writes noise", "ids are texts"} {
		s, _ := fault(t, what)
		p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
		for range 3 {
			if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
				t.Errorf("%s: got %v, %v", what, got, err)
			}
		}
	}
}
