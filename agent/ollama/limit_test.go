package ollama_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// within is a listener inside the program, so that a test with fake time waits
// for nothing outside.
type within struct {
	dialed chan net.Conn
	closed context.Context
	close  context.CancelFunc
}

func (w within) Accept() (net.Conn, error) {
	select {
	case conn := <-w.dialed:
		return conn, nil
	case <-w.closed.Done():
		return nil, net.ErrClosed
	}
}

func (w within) Close() error {
	w.close()
	return nil
}

func (w within) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 11434} }

func (w within) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.dialed <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.closed.Done():
		return nil, net.ErrClosed
	}
}

// askWithin asks a scripted model in fake time; time passes only while the model
// is silent.
func askWithin(t *testing.T, script ollamatest.Script, req prompt.Request) (reply reply.Reply, elapsed time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		closed, cancel := context.WithCancel(t.Context())
		wire := within{dialed: make(chan net.Conn), closed: closed, close: cancel}
		server := ollamatest.Serve(t.Context(), wire, script)
		client := connect(t, ollama.Config{Host: server.URL()})
		client.DialWith(wire.dial)
		start := time.Now()
		reply, err = client.Ask(t.Context(), req, nil)
		elapsed = time.Since(start)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return reply, elapsed, err
}

func TestTimeoutBoundsSilenceOrWholeReply(t *testing.T) {
	const words = "one two three four five six"
	for _, tc := range []struct {
		name    string
		purpose prompt.Purpose
		format  string
		pace    time.Duration // between two words
		text    string        // received
		elapsed time.Duration
		silent  bool // the timeout bounds the silence
	}{
		{"chat", prompt.PurposeChat, "", 100 * time.Second, words, 500 * time.Second, true},
		{"synthesis", prompt.PurposeSynthesis, "", 100 * time.Second, words, 500 * time.Second, true},
		{"text of a step", prompt.PurposeStep, "", 100 * time.Second, words, 500 * time.Second, true},
		{"chat that falls silent", prompt.PurposeChat, "", 3 * time.Minute, "one ", 2 * time.Minute, true},
		{"arguments of a step", prompt.PurposeStep, `{"type":"object"}`, 50 * time.Second, "one two three ", 2 * time.Minute, false},
		{"analysis", prompt.PurposeAnalysis, "", 50 * time.Second, "one two three ", 2 * time.Minute, false},
		{"review", prompt.PurposeReview, "", 50 * time.Second, "one two three ", 2 * time.Minute, false},
		{"plan", prompt.PurposePlan, "", 50 * time.Second, "one two three ", 2 * time.Minute, false},
		{"turn of a sub-agent", prompt.PurposeAgent, "", 50 * time.Second, "one two three ", 2 * time.Minute, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := ask("tell")
			req.Purpose, req.Format, req.Timeout = tc.purpose, []byte(tc.format), 2*time.Minute
			script := ollamatest.Script{Model: "m", Pace: tc.pace, Replies: []ollamatest.Reply{{When: func(ollamatest.Request) bool { return true }, Text: words}}}
			reply, elapsed, err := askWithin(t, script, req)
			if reply.Text != tc.text || elapsed != tc.elapsed || reply.MS != elapsed.Milliseconds() {
				t.Errorf("after %s: got %+v, want %q after %s", elapsed, reply, tc.text, tc.elapsed)
			}
			var late *ollama.TimeoutError
			switch whole := tc.text == words; {
			case whole && err != nil:
				t.Error(err)
			case !whole && (!errors.As(err, &late) || late.Silent != tc.silent || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)):
				t.Errorf("error %v, want a TimeoutError that wraps context.DeadlineExceeded alone", err)
			case !whole:
				mentions(t, err, map[bool]string{true: "nothing came from the model for 2m0s", false: "was not done within 2m0s"}[tc.silent])
			}
		})
	}
}

func TestPartialReplyIsReturnedWithError(t *testing.T) {
	hold := ollamatest.Script{Pace: time.Hour, Replies: []ollamatest.Reply{{When: func(ollamatest.Request) bool { return true }, Thinking: "hm", Text: "one two"}}}
	once := func(r ollamatest.Reply) ollamatest.Script {
		r.Thinking = "hm"
		return ollamatest.Script{Replies: []ollamatest.Reply{r}}
	}
	for _, tc := range []struct {
		name   string
		script ollamatest.Script
		change func(*prompt.Request)
		text   string
		want   string
	}{
		{"connection breaks", once(ollamatest.Reply{Text: "one two", CutAfter: 5}), nil, "one t", "broke off"},
		{"model dies", once(ollamatest.Reply{Text: "one two", Error: "runner process has terminated"}), nil, "one two", "the process of m:latest died"},
		{"stream breaks after a call", once(ollamatest.Reply{Text: "one", Calls: []ollamatest.Call{{Name: "search", Args: map[string]any{"q": "x"}}}, Error: "died"}), func(r *prompt.Request) { r.Tools = plan.Offer{search} }, "one", "broke off"},
		{"thinks too long", once(ollamatest.Reply{Text: "one two"}), func(r *prompt.Request) { r.MaxThinking = 1 }, "", "after thinking"},
		{"falls silent", hold, func(r *prompt.Request) { r.Timeout = time.Minute }, "", "nothing came"},
		{"times out", hold, func(r *prompt.Request) { r.Purpose, r.Timeout = prompt.PurposeAnalysis, time.Minute }, "", "not done within"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := ask("go")
			req.Think = true
			if tc.change != nil {
				tc.change(&req)
			}
			tc.script.Model, tc.script.Capabilities = "m", thinker
			answer, elapsed, err := askWithin(t, tc.script, req)
			mentions(t, err, tc.want)
			want := reply.Reply{Text: tc.text, Thinking: "hm", ContextWindow: 16384, MS: elapsed.Milliseconds()}
			if got := plan.CanonicalJSON(answer); got != plan.CanonicalJSON(want) {
				t.Errorf("got the partial reply %s, want %s", got, plan.CanonicalJSON(want))
			}
		})
	}
}
