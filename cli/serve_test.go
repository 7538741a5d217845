package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"replan/cli"
)

// served is a running replan serve --workspace and its streams.
type served struct {
	in      *io.PipeWriter
	replies *bufio.Scanner
	stderr  bytes.Buffer // complete once exit has a value
	exit    chan int
}

func serve(ctx context.Context, t *testing.T, dir, home string, flags ...string) *served {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &served{in: toServer, replies: bufio.NewScanner(fromServer), exit: make(chan int, 1)}
	std := inFolder(dir, home)
	std.In, std.Out, std.Err = in, out, &s.stderr
	go func() {
		code := cli.Main(ctx, append([]string{"serve", "--workspace"}, flags...), std)
		_ = out.Close()
		s.exit <- code
	}()
	t.Cleanup(func() { _ = toServer.Close() })
	s.ask(t, 0, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return s
}

// inFolder returns the streams and environment of a program in a folder, isolated
// from the user's own.
func inFolder(dir, home string) cli.IO {
	return cli.IO{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
		Getwd: func() (string, error) { return dir, nil },
		Getenv: func(name string) string {
			if name == "REPLAN_HOME" {
				return home
			}
			return ""
		},
	}
}

// ask sends a request and returns the result in its reply.
func (s *served) ask(t *testing.T, id int, method, params string) string {
	t.Helper()
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
		t.Fatal(err)
	}
	for s.replies.Scan() {
		var reply struct {
			ID     *int
			Result json.RawMessage
		}
		if err := json.Unmarshal(s.replies.Bytes(), &reply); err != nil {
			t.Fatalf("%q is not a message of the protocol: %v", s.replies.Text(), err)
		}
		if reply.ID != nil && *reply.ID == id {
			return string(reply.Result)
		}
	}
	t.Fatalf("no reply to %s", method)
	return ""
}

func TestChangesOfServerCanBeUndone(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	s := serve(t.Context(), t, dir, home)
	s.ask(t, 1, "tools/call", `{"name":"fs.write","arguments":{"path":"in/new.txt","text":"new\n"}}`)
	if got, err := os.ReadFile(filepath.Join(dir, "in/new.txt")); string(got) != "new\n" {
		t.Fatalf("got file content %q, %v", got, err)
	}
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-s.exit; code != 0 {
		t.Fatalf("got exit code %d: %s", code, &s.stderr)
	}
	named := regexp.MustCompile(`^replan: undo the changes with replan undo (\S+)\n$`).FindStringSubmatch(s.stderr.String())
	if named == nil {
		t.Fatalf("got %q on standard error", &s.stderr)
	}
	if code := cli.Main(t.Context(), []string{"undo", named[1]}, inFolder(dir, home)); code != 0 {
		t.Errorf("undo: got exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "in")); !os.IsNotExist(err) {
		t.Errorf("the created folder is still there: %v", err)
	}
}

func TestStoppedServerEndsSilently(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	s := serve(ctx, t, dir, t.TempDir())
	s.ask(t, 1, "tools/list", `{}`)
	stop()
	if code := <-s.exit; code != 0 || s.stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q on standard error", code, &s.stderr)
	}
}

func TestServerAnswersAllRequestsBeforeEndOfInput(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n")
	const calls = 40
	for _, odd := range []string{`{"jsonrpc":2,"id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1.5,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":{},"method":"tools/call"}`, `{"jsonrpc":"2.0","id":7,"method":"tools/call","result":{}}`, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":3}`, `[]`} {
		in.WriteString(odd + "\n") // these need no answers
	}
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"fs.write","arguments":{"path":"f%d","text":"x"}}}`+"\n", i, i)
	}
	dir := t.TempDir()
	var out, stderr bytes.Buffer
	std := inFolder(dir, t.TempDir())
	std.In, std.Out, std.Err = strings.NewReader(strings.TrimSuffix(in.String(), "\n")), &out, &stderr
	if code := cli.Main(t.Context(), []string{"serve", "--workspace"}, std); code != 0 {
		t.Fatalf("got exit code %d: %s", code, &stderr)
	}
	if n := strings.Count(out.String(), " created +1 -0"); n < calls || strings.Contains(out.String(), "stopped") {
		t.Errorf("got answers to %d of %d calls:\n%s", n, calls, &out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != calls {
		t.Errorf("got %d files, want %d: %v", len(entries), calls, err)
	}
}
