//go:build !windows

package tests_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// reply is an answer, or why there is none.
type reply struct {
	answer
	err error
}

// reply is try for a goroutine of its own.
func (b *bench) reply(ctx context.Context, tool string, a args, meta map[string]any) reply {
	got, err := b.Try(ctx, tool, a, meta)
	return reply{got, err}
}

// fifo makes a named pipe and opens one end of it without waiting for the
// other. Whoever reads sees its end when nobody holds it for writing any more.
func fifo(t *testing.T, flag int) (name string, f *os.File) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return name, f
}

// pipeFor makes a named pipe for a child to speak through.
func pipeFor(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// up waits until a child says on the pipe that it runs.
func up(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name) // waits for a writer
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(f, b); err != nil || string(b) != "up\n" {
		t.Fatalf("the child says %q: %v", b, err)
	}
	return f
}

// gone waits until nobody holds the pipe any more.
func gone(t *testing.T, f *os.File) {
	t.Helper()
	if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 {
		t.Errorf("the child says %q at its end: %v", rest, err)
	}
	_ = f.Close()
}

// A script whose grandchild holds the pipe and the output, and would for long.
const family = "exec 3>\"$PIPE\"\n(echo up >&3; sleep 600) &\nwait\n"

// orphan is a family whose first member ends as soon as the other runs.
const orphan = "exec 3>\"$PIPE\"\nmkfifo \"$PIPE.go\"\n(echo up >&3; echo go >\"$PIPE.go\"; sleep 600) &\nread x <\"$PIPE.go\"\nexit 1\n"

// stubborn is a family that does not listen to anyone who asks.
const stubborn = "trap '' INT TERM QUIT\nexec 3>\"$PIPE\"\n(trap '' INT TERM QUIT; echo up >&3; sleep 600; sleep 600) &\nwait; wait; sleep 600\n"

func TestNobodyOfTheFamilyOutlivesTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		timeout string
		end     func(b *bench, cancel context.CancelFunc)
		says    string
		answers bool // the tool itself says how it ended
	}{
		"when the client cancels":          {family, "10m", func(_ *bench, cancel context.CancelFunc) { cancel() }, "stopped", false},
		"when they do not listen":          {stubborn, "10m", func(_ *bench, cancel context.CancelFunc) { cancel() }, "stopped", false},
		"when the operators are closed":    {family, "10m", func(b *bench, _ context.CancelFunc) { _ = b.Ops.Close() }, "closed", false},
		"when the time is over":            {family, "3s", func(*bench, context.CancelFunc) {}, "did not end within 3s", true},
		"when the first of them has ended": {orphan, "10m", func(*bench, context.CancelFunc) {}, "exit status 1", true},
	} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			workspacetest.Fake(t, "cargo", c.script)
			b := newBench(t, workspace.Config{Environ: append(os.Environ(), "PIPE="+pipe)})
			b.Write(t, map[string]string{"Cargo.toml": ""})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan reply, 1)
			go func() { done <- b.reply(ctx, "test.run", args{"timeout": c.timeout}, nil) }()
			f := up(t, pipe)
			c.end(b, cancel)
			got := <-done
			if said := got.Text + fmt.Sprint(got.err); !strings.Contains(said, c.says) {
				t.Errorf("the call says %q, want %q", said, c.says)
			}
			if answered := got.err == nil; answered != c.answers {
				t.Errorf("the tool answered: %v", answered)
			}
			gone(t, f)
		})
	}
}

func TestAChildThatLeftItsFamilyIsNotWaitedFor(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	hold, holder := fifo(t, os.O_RDWR)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// The one who left keeps the output open until we let go of the pipe.
	workspacetest.Fake(t, "cargo", "echo said\nsetsid sh -c 'exec 3>\"$PIPE\"; echo up >&3; read x <\"$HOLD\"' &\nread x <\"$READY\"\nexit 0\n")
	ready, readyFile := fifo(t, os.O_RDWR)
	b := newBench(t, workspace.Config{Environ: append(os.Environ(), "PIPE="+pipe, "HOLD="+hold, "READY="+ready)})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	done := make(chan reply, 1)
	go func() { done <- b.reply(t.Context(), "test.run", nil, nil) }()
	f := up(t, pipe)
	if _, err := readyFile.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.IsError || !strings.Contains(got.Text, "said") {
		t.Errorf("got %+v", got)
	}
	if _, err := holder.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	gone(t, f)
}

func TestOutputArrivesWhileTheChildRuns(t *testing.T) {
	pipe, f := fifo(t, os.O_RDWR)
	workspacetest.Fake(t, "cargo", "echo one\nread x <\"$PIPE\"\nprintf 'two\\nthree'\n")
	b := newBench(t, workspace.Config{Environ: append(os.Environ(), "PIPE="+pipe)})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	notes := make(chan map[string]any, 100)
	b.Client.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			notes <- n.Params.AdditionalFields
		}
	})
	done := make(chan reply, 1)
	go func() { done <- b.reply(t.Context(), "test.run", nil, map[string]any{"progressToken": "token"}) }()
	first := <-notes // the child waits for us: it cannot have ended
	if first["message"] != "one\n" || first["progressToken"] != "token" || first["progress"] != int64(4) {
		t.Errorf("the first chunk is %v", first)
	}
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; into[testResult](t, got.Data).Output != "one\ntwo\nthree" {
		t.Errorf("got %+v", got)
	}
	var rest strings.Builder
	last := int64(0)
	for last != 13 {
		n := <-notes
		rest.WriteString(n["message"].(string))
		last = n["progress"].(int64)
	}
	if rest.String() != "two\nthree" {
		t.Errorf("the rest is %q", rest.String())
	}
}

// hanging is a Go test that says on PIPE that it runs, and never ends.
var hanging = map[string]string{
	"go.mod": "module example.test/m\n\ngo 1.24\n",
	"hang_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHang(t *testing.T) {\n" +
		"\tif f, err := os.OpenFile(os.Getenv(\"PIPE\"), os.O_WRONLY, 0); err == nil {\n\t\tdefer f.Close()\n\t\tf.WriteString(\"up\\n\")\n\t}\n\tr, _, _ := os.Pipe()\n\tr.Read(make([]byte, 1))\n}\n",
}

func TestAProgramIsStoppedWithItsChildren(t *testing.T) {
	pipe := pipeFor(t)
	b := newBench(t, workspace.Config{Environ: append(offline(), "PIPE="+pipe)})
	done := make(chan reply, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		done <- b.reply(ctx, "proc.run", args{"shell": family, "timeout": "2s", "allow_failure": true}, nil)
	}()
	f := up(t, pipe)
	got := <-done
	gone(t, f)
	if got.err != nil || got.IsError || got.Data["timed_out"] != true || !strings.Contains(got.Text, "did not end within 2s") {
		t.Errorf("got %+v", got)
	}
}

// nested is a Go test below another that says on PIPE that it runs, and never
// ends, beside one that waits for its turn.
var nested = map[string]string{
	"in/go.mod": "module example.test/m\n\ngo 1.24\n",
	"in/sub/hang_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestWaits(t *testing.T) { t.Parallel() }\n\nfunc TestHang(t *testing.T) {\n\tt.Run(\"in\", func(t *testing.T) {\n" +
		"\t\tif f, err := os.OpenFile(os.Getenv(\"PIPE\"), os.O_WRONLY, 0); err == nil {\n\t\t\tdefer f.Close()\n\t\t\tf.WriteString(\"up\\n\")\n\t\t}\n\t\tselect {}\n\t})\n}\n",
}

func TestACancelledGoTestTakesItsTemporaryFilesWithIt(t *testing.T) {
	pipe, tmp := filepath.Join(t.TempDir(), "pipe"), t.TempDir()
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, workspace.Config{Environ: append(offline(), "PIPE="+pipe, "TMPDIR="+tmp, "GOTMPDIR=")})
	b.Write(t, hanging)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan reply, 1)
	go func() { done <- b.reply(ctx, "test.run", args{"timeout": "10m"}, nil) }()
	f := up(t, pipe)
	if left, _ := filepath.Glob(filepath.Join(tmp, "go-build*")); len(left) == 0 {
		t.Error("the go command builds elsewhere: this test shows nothing")
	}
	cancel()
	if got := <-done; got.err == nil {
		t.Errorf("got %+v", got)
	}
	gone(t, f)
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("there is still %v", left)
	}
}

func TestAGoTestThatHangsIsNamedWithItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		// Of the limit the margin is left for go to link the test, which it does
		// each time: on a busy machine that takes seconds.
		timeout string
		margin  time.Duration
		script  string // in place of go, "" for go itself
	}{
		"by go itself": {"30s", 28 * time.Second, ""},
		"by us, where go does not know": {
			"10s", 0, "case \"$1\" in test) set -- $(echo \"$@\" | sed 's/-timeout=[^ ]*/-timeout=1h/');; esac; exec \"$REAL\" \"$@\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pipe := pipeFor(t)
			environ := append(offline(), "PIPE="+pipe)
			if c.script != "" {
				real, err := exec.LookPath("go")
				if err != nil {
					t.Fatal(err)
				}
				environ = append(environ, "REAL="+real)
				workspacetest.Fake(t, "go", c.script)
			}
			b := newBench(t, workspace.Config{Environ: environ, TestMargin: c.margin})
			b.Write(t, nested)
			b.Ask(t, "test.run", args{"run": "TestNone", "path": "in/..."}, nil) // builds what go has not in its cache yet
			done := make(chan reply, 1)
			go func() { done <- b.reply(t.Context(), "test.run", args{"timeout": c.timeout, "path": "in/..."}, nil) }()
			f := up(t, pipe)
			got := <-done
			gone(t, f)
			res := into[fullResult](t, got.Data)
			if got.err != nil || !got.IsError || !sameSet(res.Failed, []string{"TestHang/in"}) || len(res.Failures) != 1 {
				t.Fatalf("got %+v", got)
			}
			failure := res.Failures[0]
			if !strings.Contains(failure.Message, "did not end") || failure.Package != "example.test/m/sub" {
				t.Errorf("got %+v", failure)
			}
			if c.script == "" && !strings.Contains(got.Text, "panic: test timed out after 2s") {
				t.Errorf("the text is %s", got.Text)
			}
			if c.script == "" && (failure.File != "in/sub/hang_test.go" || failure.Line != 16) {
				t.Errorf("the place is %s:%d", failure.File, failure.Line)
			}
			if c.script != "" && !strings.Contains(res.Summary, "did not end within 10s and were stopped; still running: TestHang/in") {
				t.Errorf("the summary is %q", res.Summary)
			}
		})
	}
}
