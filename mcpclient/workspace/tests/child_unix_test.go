//go:build !windows

package tests_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// reply is an answer or an error.
type reply struct {
	answer
	err error
}

// reply calls a tool, for use in another goroutine.
func (b *bench) reply(ctx context.Context, tool string, a args, meta map[string]any) reply {
	got, err := b.Try(ctx, tool, a, meta)
	return reply{got, err}
}

// fifo creates a named pipe and opens one end without waiting for the other. A
// reader sees the end of the file when the last writer closes it.
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

// pipeFor creates a named pipe for a child to write to.
func pipeFor(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// up waits until a child reports on the pipe that it runs.
func up(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name) // waits for a writer
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(f, b); err != nil || string(b) != "up\n" {
		t.Fatalf("got %q from the child: %v", b, err)
	}
	return f
}

// waitClosed waits until no process has the pipe open.
func waitClosed(t *testing.T, f *os.File) {
	t.Helper()
	if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 {
		t.Errorf("got %q from the child at its end: %v", rest, err)
	}
	_ = f.Close()
}

// family is a script whose grandchild keeps the pipe and the output open.
const family = "exec 3>\"$PIPE\"\n(echo up >&3; sleep 600) &\nwait\n"

// orphan is a family whose parent ends as soon as the child runs.
const orphan = "exec 3>\"$PIPE\"\nmkfifo \"$PIPE.go\"\n(echo up >&3; echo go >\"$PIPE.go\"; sleep 600) &\nread x <\"$PIPE.go\"\nexit 1\n"

// stubborn is a family that ignores signals.
const stubborn = "trap '' INT TERM QUIT\nexec 3>\"$PIPE\"\n(trap '' INT TERM QUIT; echo up >&3; sleep 600; sleep 600) &\nwait; wait; sleep 600\n"

func TestCallEndsAllDescendants(t *testing.T) {
	// t.Setenv would not let the cases run in parallel.
	before := os.Getenv("PATH")
	dir := workspacetest.Program(t, "cargo", `eval "$SCRIPT"`)
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+before); err != nil { //nolint:usetesting // see above
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Setenv("PATH", before) }) //nolint:usetesting // see above
	for name, c := range map[string]struct {
		script  string
		timeout string
		end     func(b *bench, cancel context.CancelFunc)
		wantErr string
		answers bool // the tool itself reports the end
	}{
		"cancel":                   {family, "10m", func(_ *bench, cancel context.CancelFunc) { cancel() }, "stopped", false},
		"cancel stubborn children": {stubborn, "10m", func(_ *bench, cancel context.CancelFunc) { cancel() }, "stopped", false},
		"close":                    {family, "10m", func(b *bench, _ context.CancelFunc) { _ = b.Ops.Close() }, "closed", false},
		"timeout":                  {family, "3s", func(*bench, context.CancelFunc) {}, "did not end within 3s", true},
		"parent exits first":       {orphan, "10m", func(*bench, context.CancelFunc) {}, "exit status 1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := pipeFor(t)
			b := newBench(t, workspace.Config{Environ: append(os.Environ(), "PIPE="+pipe, "SCRIPT="+c.script)})
			b.Write(t, map[string]string{"Cargo.toml": ""})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan reply, 1)
			go func() { done <- b.reply(ctx, "test.run", args{"timeout": c.timeout}, nil) }()
			f := up(t, pipe)
			c.end(b, cancel)
			got := <-done
			if output := got.Text + fmt.Sprint(got.err); !strings.Contains(output, c.wantErr) {
				t.Errorf("got %q, want %q", output, c.wantErr)
			}
			if answered := got.err == nil; answered != c.answers {
				t.Errorf("the tool answered: got %v", answered)
			}
			waitClosed(t, f)
		})
	}
}

func TestDetachedChildIsNotWaitedFor(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	hold, holder := fifo(t, os.O_RDWR)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// The detached child keeps the output open until the test writes to the pipe.
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
	waitClosed(t, f)
}

func TestStoppedCommandEndsDetachedChildren(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs setsid, and the environment of other processes")
	}
	pipe := pipeFor(t)
	workspacetest.Fake(t, "cargo", "setsid sh -c 'exec 3>\"$PIPE\"; echo up >&3; exec sleep 600' >/dev/null 2>&1 &\nwait\n")
	b := newBench(t, workspace.Config{Environ: append(os.Environ(), "PIPE="+pipe)})
	b.Write(t, map[string]string{"Cargo.toml": ""})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan reply, 1)
	go func() { done <- b.reply(ctx, "test.run", nil, nil) }()
	f := up(t, pipe)
	cancel()
	<-done
	waitClosed(t, f)
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
	first := <-notes // the child waits for the test, so it has not ended
	if first["message"] != "one\n" || first["progressToken"] != "token" || first["progress"] != int64(4) {
		t.Errorf("got first chunk %v", first)
	}
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; workspacetest.Into[testResult](t, got.Data).Output != "one\ntwo\nthree" {
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
		t.Errorf("got rest %q", rest.String())
	}
}

// hanging is a Go test that reports on PIPE that it runs, and never ends.
var hanging = map[string]string{
	"go.mod": "module example.test/m\n\ngo 1.24\n",
	"hang_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHang(t *testing.T) {\n" +
		"\tif f, err := os.OpenFile(os.Getenv(\"PIPE\"), os.O_WRONLY, 0); err == nil {\n\t\tdefer f.Close()\n\t\tf.WriteString(\"up\\n\")\n\t}\n\tr, _, _ := os.Pipe()\n\tr.Read(make([]byte, 1))\n}\n",
}

func TestTimeoutStopsProgramAndItsChildren(t *testing.T) {
	t.Parallel()
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
	waitClosed(t, f)
	if got.err != nil || got.IsError || got.Data["timed_out"] != true || !strings.Contains(got.Text, "did not end within 2s") {
		t.Errorf("got %+v", got)
	}
}

// nested is a Go sub-test that reports on PIPE that it runs and never ends, next
// to a parallel test that waits.
var nested = map[string]string{
	"in/go.mod": "module example.test/m\n\ngo 1.24\n",
	"in/sub/hang_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestWaits(t *testing.T) { t.Parallel() }\n\nfunc TestHang(t *testing.T) {\n\tt.Run(\"in\", func(t *testing.T) {\n" +
		"\t\tif f, err := os.OpenFile(os.Getenv(\"PIPE\"), os.O_WRONLY, 0); err == nil {\n\t\t\tdefer f.Close()\n\t\t\tf.WriteString(\"up\\n\")\n\t\t}\n\t\tselect {}\n\t})\n}\n",
}

func TestCanceledGoTestRemovesItsTemporaryFiles(t *testing.T) {
	t.Parallel()
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
		t.Error("the go command builds elsewhere: this test checks nothing")
	}
	cancel()
	if got := <-done; got.err == nil {
		t.Errorf("got %+v", got)
	}
	waitClosed(t, f)
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("got leftover files %v", left)
	}
}

func TestHangingGoTestIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	pipe := pipeFor(t)
	// The margin leaves time for go to link the test, which takes seconds on a busy
	// machine.
	b := newBench(t, workspace.Config{Environ: append(offline(), "PIPE="+pipe), TestMargin: 28 * time.Second})
	got, failure := b.hang(t, pipe, "30s")
	if !strings.Contains(got.Text, "panic: test timed out after 2s") {
		t.Errorf("got text %s", got.Text)
	}
	if failure.File != "in/sub/hang_test.go" || failure.Line != 16 {
		t.Errorf("got place %s:%d", failure.File, failure.Line)
	}
}

func TestGoTestThatIgnoresItsTimeoutIsStopped(t *testing.T) {
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	pipe := pipeFor(t)
	workspacetest.Fake(t, "go", hangingGo)
	b := newBench(t, workspace.Config{Environ: append(offline(), "PIPE="+pipe, "REAL="+real)})
	got, _ := b.hang(t, pipe, "2s")
	if summary := workspacetest.Into[fullResult](t, got.Data).Summary; !strings.Contains(summary, "did not end within 2s and were stopped; still running: TestHang/in") {
		t.Errorf("got summary %q", summary)
	}
}

// hangingGo is a go command whose tests of nested run without end.
const hangingGo = `[ "$1" = test ] || exec "$REAL" "$@"
exec 3>"$PIPE"
for test in TestHang TestHang/in; do
	echo '{"Action":"run","Package":"example.test/m/sub","Test":"'$test'"}'
done
echo up >&3
sleep 600
`

// hang runs the tests of nested and returns how its hanging test is reported.
func (b *bench) hang(t *testing.T, pipe, timeout string) (reply, testFailure) {
	t.Helper()
	b.Write(t, nested)
	done := make(chan reply, 1)
	go func() { done <- b.reply(t.Context(), "test.run", args{"timeout": timeout, "path": "in/..."}, nil) }()
	f := up(t, pipe)
	got := <-done
	waitClosed(t, f)
	res := workspacetest.Into[fullResult](t, got.Data)
	if got.err != nil || !got.IsError || !sameSet(res.Failed, []string{"TestHang/in"}) || len(res.Failures) != 1 {
		t.Fatalf("got %+v", got)
	}
	if last := res.Failures[0]; !strings.Contains(last.Message, "did not end") || last.Package != "example.test/m/sub" {
		t.Errorf("got %+v", last)
	}
	return got, res.Failures[0]
}
