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

// served is replan serve --workspace in a folder, with its ends of the wire.
type served struct {
	dir     string
	in      *io.PipeWriter
	replies *bufio.Scanner
	said    bytes.Buffer // on standard error, complete once exit has a value
	exit    chan int
}

func serve(ctx context.Context, t *testing.T, dir, home string) *served {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &served{dir: dir, in: toServer, replies: bufio.NewScanner(fromServer), exit: make(chan int, 1)}
	std := inFolder(dir, home)
	std.In, std.Out, std.Err = in, out, &s.said
	go func() {
		code := cli.Main(ctx, []string{"serve", "--workspace"}, std)
		_ = out.Close()
		s.exit <- code
	}()
	t.Cleanup(func() { _ = toServer.Close() })
	s.ask(t, 0, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return s
}

// inFolder is what a program in a folder reads and writes, nothing of which is
// the user's own.
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

// ask sends a request and returns the result of the reply to it.
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
			t.Fatalf("%q is not of the protocol: %v", s.replies.Text(), err)
		}
		if reply.ID != nil && *reply.ID == id {
			return string(reply.Result)
		}
	}
	t.Fatalf("no reply to %s", method)
	return ""
}

func TestWhatAServerChangedCanBeUndone(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	s := serve(t.Context(), t, dir, home)
	s.ask(t, 1, "tools/call", `{"name":"fs.write","arguments":{"path":"in/new.txt","text":"new\n"}}`)
	if got, err := os.ReadFile(filepath.Join(dir, "in/new.txt")); string(got) != "new\n" {
		t.Fatalf("the file holds %q: %v", got, err)
	}
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-s.exit; code != 0 {
		t.Fatalf("it ended with %d: %s", code, &s.said)
	}
	named := regexp.MustCompile(`^replan: what was changed can be put back with replan undo (\S+)\n$`).FindStringSubmatch(s.said.String())
	if named == nil {
		t.Fatalf("it says %q", &s.said)
	}
	if code := cli.Main(t.Context(), []string{"undo", named[1]}, inFolder(dir, home)); code != 0 {
		t.Errorf("the undo ended with %d", code)
	}
	if _, err := os.Stat(filepath.Join(dir, "in")); !os.IsNotExist(err) {
		t.Errorf("what was made is still there: %v", err)
	}
}

func TestAServerThatIsStoppedEndsInSilence(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	s := serve(ctx, t, dir, t.TempDir())
	s.ask(t, 1, "tools/list", `{}`)
	stop()
	if code := <-s.exit; code != 0 || s.said.Len() > 0 {
		t.Errorf("it ended with %d and says %q", code, &s.said)
	}
}

func TestWhatWasAskedBeforeTheInputEndsIsAnswered(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n")
	const calls = 40
	for _, odd := range []string{`{"jsonrpc":2,"id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1.5,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":{},"method":"tools/call"}`, `{"jsonrpc":"2.0","id":7,"method":"tools/call","result":{}}`, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":3}`, `[]`} {
		in.WriteString(odd + "\n") // nobody waits for answers to these
	}
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"fs.write","arguments":{"path":"f%d","text":"x"}}}`+"\n", i, i)
	}
	dir := t.TempDir()
	var out, said bytes.Buffer
	std := inFolder(dir, t.TempDir())
	std.In, std.Out, std.Err = strings.NewReader(strings.TrimSuffix(in.String(), "\n")), &out, &said
	if code := cli.Main(t.Context(), []string{"serve", "--workspace"}, std); code != 0 {
		t.Fatalf("it ended with %d: %s", code, &said)
	}
	if n := strings.Count(out.String(), " created +1 -0"); n < calls || strings.Contains(out.String(), "stopped") {
		t.Errorf("%d of %d calls were answered:\n%s", n, calls, &out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != calls {
		t.Errorf("%d files were made: %v", len(entries), err)
	}
}
