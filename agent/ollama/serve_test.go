package ollama_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/prompt"
)

// freeAddress returns an address of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was never used
	return l.Addr().String()
}

// starter starts servers as a test says.
type starter struct {
	starts  int
	stopped bool
	ended   chan error
	listens func(host string)
}

func (s *starter) serve(host string) (ollama.Process, error) {
	s.starts++
	if s.listens != nil {
		s.listens(host)
	}
	return ollama.Process{Log: "/home/me/ollama.log", Ended: s.ended, Stop: func() error { s.stopped = true; return nil }}, nil
}

func TestOnlyAnInstalledServerOfThisMachineCanBeStarted(t *testing.T) {
	here := freeAddress(t)
	for name, c := range map[string]struct {
		host      string
		installed bool
		want      bool
	}{
		"here":               {here, true, true},
		"here, as a URL":     {"http://" + here, true, true},
		"not installed":      {here, false, false},
		"elsewhere":          {"ollama.invalid:1", true, false},
		"behind a path":      {"http://" + here + "/ollama", true, false},
		"by TLS":             {"https://" + here, true, false},
		"something answers":  {serve(t, ollamatest.Script{}).URL(), true, false},
		"a model is missing": {serve(t, ollamatest.Script{Others: []ollamatest.Model{{Name: "other"}}}).URL(), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ollama.Config{Host: c.host, Model: "mine"}
			if c.installed {
				cfg.Serve = new(starter).serve
			}
			_, err := connect(t, cfg).Describe(testContext(t), "")
			if got := prompt.TroubleOf(err).Start; got != c.want {
				t.Errorf("can be started: %v, want %v (%v)", got, c.want, err)
			}
		})
	}
}

func TestStartedServerAnswersOnceServeReturns(t *testing.T) {
	s := &starter{listens: func(host string) {
		l, err := net.Listen("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		server := ollamatest.Serve(t.Context(), l, ollamatest.Script{Others: []ollamatest.Model{tiny}})
		t.Cleanup(func() { _ = server.Close() })
	}}
	client := connect(t, ollama.Config{Host: freeAddress(t), Serve: s.serve, RetryDelay: time.Millisecond})
	log, err := client.Serve(testContext(t))
	if err != nil || log != "/home/me/ollama.log" || s.stopped {
		t.Fatalf("log %q, error %v, stopped %v", log, err, s.stopped)
	}
	if info, err := client.Describe(testContext(t), ""); err != nil || info.Name != tiny.Name {
		t.Errorf("got %+v, error %v", info, err)
	}
}

func TestServerThatEndsAtOnceIsReportedWithItsOutput(t *testing.T) {
	s := &starter{ended: make(chan error, 1)}
	s.ended <- errors.New("exit status 1")
	_, err := connect(t, ollama.Config{Host: freeAddress(t), Serve: s.serve, RetryDelay: time.Hour}).Serve(testContext(t))
	mentions(t, err, "ended before it answered (exit status 1): its output is in /home/me/ollama.log")
}

func TestCanceledStartStopsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(testContext(t))
	s := &starter{listens: func(string) { cancel() }}
	if _, err := connect(t, ollama.Config{Host: freeAddress(t), Serve: s.serve, RetryDelay: time.Hour}).Serve(ctx); !errors.Is(err, context.Canceled) || !s.stopped {
		t.Errorf("error %v, stopped %v", err, s.stopped)
	}
}
