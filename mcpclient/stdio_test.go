package mcpclient_test

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
	"replan/planning/plan"
)

func TestAChildServesItsTools(t *testing.T) {
	dir := t.TempDir()
	p := newPool(t, mcpclient.Config{Dir: dir, Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	got, err := call(t, p, "child:where", nil)
	if err != nil {
		t.Fatal(err)
	}
	if real, _ := filepath.EvalSymlinks(dir); got != real {
		t.Errorf("it runs in %v, not in the workspace %s", got, real)
	}
	if tool(t, p, "where").Trusted {
		t.Error("a foreign server is trusted")
	}
}

func TestAChildGetsNoSecretsButItsOwn(t *testing.T) {
	p := newPool(t, mcpclient.Config{
		Environ: []string{"PATH=/usr/bin:/bin", "GITHUB_TOKEN=mine", "AWS_SESSION_TOKEN=mine", "LANG=C"},
		Servers: []mcpclient.Server{aChild("child", "server", map[string]string{"API_KEY": "its own"})},
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

func TestAForeignServerGetsNoFieldsOfOurOwnAndCannotPreview(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	it := tool(t, p, "meta")
	if it.Previews {
		t.Error("it is believed to change nothing")
	}
	got, err := p.Call(t.Context(), plan.ToolCall{Tool: it, Hashes: map[string]string{"f": "00"}, Run: "r-1"})
	if text, _ := got.(string); err != nil || strings.Contains(text, "replan/") {
		t.Errorf("got %v, %v", got, err)
	}
	it.Previews = true // whoever says so
	if _, err := p.Preview(t.Context(), plan.ToolCall{Tool: it}); !isToolError(err) {
		t.Errorf("got %v", err)
	}
}

func TestProgressOfAChildIsProgressNotOutput(t *testing.T) {
	ears := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	_, err := p.Call(t.Context(), plan.ToolCall{
		Tool:   tool(t, p, "work"),
		Args:   map[string]any{"addr": ears.addr()},
		Output: func(chunk string) { t.Errorf("output %q", chunk) },
		Progress: func(done, total float64, text string) {
			if done != 1 || total != 3 || text != "counting" {
				t.Errorf("%v of %v, %q", done, total, text)
			}
			ears.accept()
			_, _ = ears.conn.Write([]byte("!"))
		},
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCancellingACallReachesAChild(t *testing.T) {
	ears := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	ctx, cancel := context.WithCancel(t.Context())
	wait := tool(t, p, "wait")
	ended := make(chan error)
	go func() {
		_, err := p.Call(ctx, plan.ToolCall{Tool: wait, Args: map[string]any{"addr": ears.addr()}})
		ended <- err
	}()
	if got := ears.line(); got != "called" {
		t.Errorf("got %q", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || isToolError(err) {
		t.Errorf("the call ended with %v", err)
	}
	if got := ears.line(); got != "cancelled" {
		t.Errorf("got %q", got)
	}
}

func TestClosingThePoolKillsWhatAChildHasStarted(t *testing.T) {
	ears := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	if _, err := call(t, p, "spawn", map[string]any{"addr": ears.addr()}); err != nil {
		t.Fatal(err)
	}
	ears.line()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	ears.awaitDeath()
}

func TestACrashKillsWhatTheChildHasStarted(t *testing.T) {
	ears := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
	if _, err := call(t, p, "spawn", map[string]any{"addr": ears.addr()}); err != nil {
		t.Fatal(err)
	}
	ears.line()
	_, _ = call(t, p, "crash", nil)
	ears.awaitDeath()
}

func TestAChildThatIgnoresEverythingIsKilled(t *testing.T) {
	t.Parallel()
	ears := listen(t)
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{
		aChild("child", "stubborn", map[string]string{"ADDR": ears.addr()}),
	}})
	ears.line()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	ears.awaitDeath()
}

func TestAChildThatDoesNotStartSaysWhy(t *testing.T) {
	p := newPool(t, mcpclient.Config{
		StartTimeout: 300 * time.Millisecond,
		Servers:      []mcpclient.Server{aChild("mute", "mute", nil)},
	})
	broken := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("broken", "broken", nil)}})
	if got := status(t, p, "mute"); got.State != plan.ServerFailed || !strings.Contains(got.Error, "did not answer within 300ms") {
		t.Errorf("got %+v", got)
	}
	want := "exited with exit status 3: cannot find my configuration"
	if got := status(t, broken, "broken"); got.State != plan.ServerFailed || got.Error != want {
		t.Errorf("got %+v", got)
	}
	_, err := broken.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "x", Server: "broken"}})
	if !isToolError(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("a call of it: %v", err)
	}
}

func TestAChildLostDuringACallLeavesItsOutcomeUnknown(t *testing.T) {
	for tool, want := range map[string]string{
		"crash": "exited with exit status 7: panic: out of cheese",
		"flood": "sent a line longer than 16 MB",
	} {
		t.Run(tool, func(t *testing.T) {
			p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
			_, err := call(t, p, tool, nil)
			if err == nil || isToolError(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("the call ended with %v", err)
			}
			if got := status(t, p, "child"); got.State != plan.ServerFailed || got.Error != want || got.Tools != 0 {
				t.Errorf("got %+v", got)
			}
			if got := p.Ready(t.Context()); len(got) != 0 {
				t.Errorf("its tools are still on offer: %v", got.Names())
			}
		})
	}
}

func TestAChangedToolListIsReadAgain(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []mcpclient.Server{aChild("child", "server", nil)}})
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
