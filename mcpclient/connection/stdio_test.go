package connection_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestChildServerRunsInWorkspaceUntrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := newPool(t, mcpclient.Config{Dir: dir, Servers: []config.Server{aChild("child", "server", nil)}})
	got, err := call(t, p, "child:where", nil)
	if err != nil {
		t.Fatal(err)
	}
	if real, _ := filepath.EvalSymlinks(dir); got != real {
		t.Errorf("got working directory %v, want the workspace %s", got, real)
	}
	if tool(t, p, "where").Trusted {
		t.Error("a child server is trusted")
	}
}

func TestChildGetsOnlyItsOwnSecrets(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{
		Environ: []string{"PATH=/usr/bin:/bin", "GITHUB_TOKEN=mine", "AWS_SESSION_TOKEN=mine", "LANG=C"},
		Servers: []config.Server{aChild("child", "server", map[string]string{"API_KEY": "its own"})},
	})
	for name, want := range map[string]map[string]any{
		"PATH":              {"value": "/usr/bin:/bin", "set": true},
		"LANG":              {"value": "C", "set": true},
		"API_KEY":           {"value": "its own", "set": true},
		"GITHUB_TOKEN":      {"value": "", "set": false},
		"AWS_SESSION_TOKEN": {"value": "", "set": false},
	} {
		if got, err := call(t, p, "env", map[string]any{"name": name}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestChildServerGetsNoInternalFieldsAndNoPreviews(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	it := tool(t, p, "meta")
	if it.Previews {
		t.Error("the tool is trusted to preview")
	}
	got, err := p.Call(t.Context(), plan.ToolCall{Tool: it, Hashes: map[string]string{"f": "00"}, Run: "r-1"})
	if text, _ := got.(string); err != nil || strings.Contains(text, "replan/") {
		t.Errorf("got %v, %v", got, err)
	}
	it.Previews = true // set by a careless caller
	if _, err := p.Preview(t.Context(), plan.ToolCall{Tool: it}); !isToolError(err) {
		t.Errorf("got %v", err)
	}
}

func TestChildProgressIsNotOutput(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	_, err := p.Call(t.Context(), plan.ToolCall{
		Tool:   tool(t, p, "work"),
		Args:   map[string]any{"addr": l.Addr()},
		Output: func(chunk string) { t.Errorf("got output %q", chunk) },
		Progress: func(done, total float64, text string) {
			if done != 1 || total != 3 || text != "counting" {
				t.Errorf("got progress %v of %v, %q", done, total, text)
			}
			l.Write("!")
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCancelReachesChildServer(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	ctx, cancel := context.WithCancel(t.Context())
	wait := tool(t, p, "wait")
	ended := make(chan error)
	go func() {
		_, err := p.Call(ctx, plan.ToolCall{Tool: wait, Args: map[string]any{"addr": l.Addr()}})
		ended <- err
	}()
	if got := l.Line(); got != "called" {
		t.Errorf("got %q", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || isToolError(err) {
		t.Errorf("got error %v", err)
	}
	if got := l.Line(); got != "cancelled" {
		t.Errorf("got %q", got)
	}
}

func TestCloseKillsGrandchildren(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	if _, err := call(t, p, "spawn", map[string]any{"addr": l.Addr()}); err != nil {
		t.Fatal(err)
	}
	l.Line()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	l.AwaitDeath()
}

func TestCrashOfChildKillsGrandchildren(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	if _, err := call(t, p, "spawn", map[string]any{"addr": l.Addr()}); err != nil {
		t.Fatal(err)
	}
	l.Line()
	_, _ = call(t, p, "crash", nil)
	l.AwaitDeath()
}

func TestStubbornChildIsKilled(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{
		aChild("child", "stubborn", map[string]string{"ADDR": l.Addr()}),
	}})
	l.Line()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	l.AwaitDeath()
}

func TestChildStartFailureGivesTheReason(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{
		StartTimeout: 300 * time.Millisecond,
		Servers:      []config.Server{aChild("mute", "mute", nil)},
	})
	broken := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("broken", "broken", nil)}})
	if got := status(t, p, "mute"); got.State != plan.ServerFailed || !strings.Contains(string(got.Error), "did not answer within 300ms") {
		t.Errorf("got %+v", got)
	}
	want := "exited with exit status 3: cannot find my configuration"
	if got := status(t, broken, "broken"); got.State != plan.ServerFailed || string(got.Error) != want {
		t.Errorf("got %+v", got)
	}
	_, err := broken.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "x", Server: "broken"}})
	if !isToolError(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("call of a failed server: got error %v", err)
	}
}

func TestOutcomeIsUnknownIfChildDiesDuringCall(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"crash": "exited with exit status 7: panic: out of cheese",
		"flood": "sent a line longer than 16 MB",
		"many":  "sent a message of more than 500000 values",
	} {
		t.Run(tool, func(t *testing.T) {
			p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
			_, err := call(t, p, tool, nil)
			if err == nil || isToolError(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v", err)
			}
			if got := p.Status()[0]; got.State == plan.ServerReady || string(got.LastError) != want || got.Tools != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestChangedToolListIsReadAgain(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "server", nil)}})
	grow := tool(t, p, "grow")
	changed := make(chan struct{}, 10)
	p.Watch(func() { changed <- struct{}{} })
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: grow}); err != nil {
		t.Fatal(err)
	}
	for !slices.Contains(p.Ready(t.Context()).Names(), "grown") {
		<-changed
	}
	if got, err := call(t, p, "grown", nil); err != nil || got != "yes" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTimeLimitOfServerIsNamed(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "ignores cancel")
	s.Timeout = 20 * time.Millisecond
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	echo := tool(t, p, "echo")
	if echo.TimeoutMS != 20 {
		t.Errorf("got a limit of %d ms", echo.TimeoutMS)
	}
	_, err := p.Call(t.Context(), plan.ToolCall{Tool: echo})
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != `calling k:echo: it took longer than 20ms, the "timeout" of the server k` {
		t.Errorf("got %v", err)
	}
}

func TestTimeLimitOfCallGoesBeforeThatOfItsServer(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "ignores cancel")
	s.Timeout = 20 * time.Millisecond
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	echo, begun := tool(t, p, "echo"), time.Now()
	_, err := p.Call(t.Context(), plan.ToolCall{Tool: echo, Timeout: 60 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "calling k:echo: it took longer than its time limit" {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took < 60*time.Millisecond {
		t.Errorf("the call ended after %s", took)
	}
}

func TestServerThatHasNeverAnsweredGetsNoTimeToEnd(t *testing.T) {
	t.Parallel()
	child := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("child", "deaf", map[string]string{"ADDR": child.Addr()})}})
	child.Line()
	begun := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took >= time.Second { // which others have
		t.Errorf("closing took %s", took)
	}
	child.AwaitDeath()
}
