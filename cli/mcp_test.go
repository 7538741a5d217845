package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/testscript"
)

// dot is a PNG of one pixel, in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// toolServer is the scripts' program toolserver: an MCP server on standard input
// and output that is named by its first argument, or one that misbehaves:
//
//	toolserver NAME     serves the tools of newToolServer
//	toolserver !mute    reads its input and never answers
//	toolserver !broken  prints an error and exits
//	toolserver !hold    keeps a connection to the watch open until it is killed
//	toolserver !tty F   tries to open the terminal and writes the outcome to F
//	toolserver !mark K  marks a call, see mark
func toolServer() {
	if file := os.Getenv("TTY_REPORT"); file != "" {
		reportTerminal(file)
	}
	name := "tools"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	switch name {
	case "!mute":
		announce("mute")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "!broken":
		fmt.Fprintln(os.Stderr, "my database is locked")
		os.Exit(3)
	case "!mark":
		announce("child")
		if err := mark(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	case "!tty":
		reportTerminal(os.Args[2])
	case "!hold":
		if conn := announce("child"); conn != nil {
			fmt.Println("held")
			_, _ = io.Copy(io.Discard, conn)
		}
	default:
		announce("server")
		_ = server.ServeStdio(newToolServer(name))
	}
}

// reportTerminal tries to open the controlling terminal and writes the outcome to
// a file.
func reportTerminal(file string) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	report := "opened"
	switch {
	case errors.Is(err, syscall.ENXIO):
		report = "ENXIO"
	case err != nil:
		report = err.Error()
	default:
		_ = tty.Close()
	}
	if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
}

// announce tells the watch that this process is alive. The connection stays open
// until the process ends.
func announce(what string) net.Conn {
	addr := os.Getenv("ALIVE")
	if addr == "" {
		return nil
	}
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		_, err = fmt.Fprintln(conn, what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	return conn
}

// addBooking adds what a server can do beside tools: book asks for the guests, and
// there are a resource, a template of them, a prompt and completions.
func addBooking(s *server.MCPServer) {
	s.AddPrompt(mcp.NewPrompt("menu", mcp.WithPromptDescription("Suggests a menu"), mcp.WithArgument("guest", mcp.RequiredArgument()), mcp.WithArgument("wish")),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := fmt.Sprintf("Suggest a menu for %s who wishes %q.", r.Params.Arguments["guest"], r.Params.Arguments["wish"])
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
		})
	s.AddTool(mcp.NewTool("book", mcp.WithDescription("Books a table"), mcp.WithReadOnlyHintAnnotation(true)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := server.ElicitationResponse(r.Params.InputResponses, "guests")
		if answer == nil {
			return server.NewInputRequestBuilder("1").Elicit("guests", mcp.ElicitationParams{Message: "How many guests?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"guests": map[string]any{"type": "integer", "minimum": 1}}, "required": []string{"guests"},
			}}).ToolResult(), nil
		}
		content, err := json.Marshal(answer.Content)
		return mcp.NewToolResultText(fmt.Sprintf("the answer was %s %s", answer.Action, content)), err
	})
}

// newToolServer offers a few tools, most of them read-only: lookup explains a
// word, wait waits until it is canceled, spawn starts a process that would
// outlive the server, crash and vanish end the server, big returns some MB of JSON, and
// flood more than the client reads. note has an effect: it writes a file. NOTE_ALSO adds to its description, NOTE_TIMES times.
// hand_over has one too, and never returns. The first calls of peek, deliver and
// fail_once differ from later ones. The server shelves has 200 more tools,
// and tables has more that the protocol knows, see addBooking.
func newToolServer(name string) *server.MCPServer {
	var handed atomic.Int32 // calls of hand_over
	s := server.NewMCPServer(name, "1", server.WithToolCapabilities(true))
	reads := func(tool string, more ...mcp.ToolOption) mcp.Tool {
		return mcp.NewTool(tool, append(more, mcp.WithReadOnlyHintAnnotation(true), mcp.WithDescription("Says what "+name+" knows"))...)
	}
	s.AddTool(reads("lookup", mcp.WithString("word", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		meaning := fmt.Sprintf("%s says that %s is a gate", name, r.GetString("word", ""))
		return mcp.NewToolResultStructured(map[string]any{"meaning": meaning}, meaning), nil
	})
	s.AddTool(reads("draw"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("A dot:"), mcp.NewImageContent(dot, "image/png")}}, nil
	})
	s.AddTool(reads("measure", mcp.WithString("file", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		content, err := os.ReadFile(r.GetString("file", ""))
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultStructured(map[string]any{"size": len(content), "copy": base64.StdEncoding.EncodeToString(bytes.Repeat(content, 20))}, "measured by hand"), nil
	})
	s.AddTool(reads("only_"+name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("only " + name + " has this"), nil
	})
	s.AddTool(reads("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if conn := announce("called"); conn != nil {
			defer conn.Close() //nolint:errcheck // the process lives on
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.AddTool(reads("spawn"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return spawn() })
	s.AddTool(reads("crash"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(7)
		return nil, nil
	})
	s.AddTool(mcp.NewTool("vanish", mcp.WithDescription("Ends the server")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(7)
		return nil, nil
	})
	s.AddTool(reads("big"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(`{"rows":["` + strings.Repeat("x", 5<<20) + `"]}`), nil
	})
	s.AddTool(reads("flood"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 20<<20)), nil
	})
	if name == "marks" {
		s.AddTool(mcp.NewTool("mark", mcp.WithDescription("Marks a call"), mcp.WithString("key", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("marked"), mark(r.GetString("key", ""))
		})
	}
	if name == "tables" {
		addBooking(s)
	}
	if name == "shelves" {
		for i := range 200 {
			s.AddTool(reads(fmt.Sprintf("shelf_%03d", i), mcp.WithString("row", mcp.Description("the row of the shelf"))), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("dust"), nil
			})
		}
	}
	// The first call of each waits until it is canceled, later calls return. peek
	// declares itself read-only, deliver has effects.
	s.AddTool(reads("peek"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return first(ctx, "peek.txt")
	})
	s.AddTool(mcp.NewTool("deliver", mcp.WithDescription("Delivers something")), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return first(ctx, "delivered.txt")
	})
	s.AddTool(reads("fail_once"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := os.Stat("failed.txt"); err == nil {
			return mcp.NewToolResultText("now it works"), nil
		}
		return mcp.NewToolResultError("the shelf is empty"), os.WriteFile("failed.txt", nil, 0o600)
	})
	s.AddTool(mcp.NewTool("hand_over", mcp.WithDescription("Hands something over, and never returns")), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		name := "one"
		if handed.Add(1) == 2 {
			name = "both"
		}
		if conn := announce(name); conn != nil {
			defer conn.Close() //nolint:errcheck // the process lives on
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	times, _ := strconv.Atoi(os.Getenv("NOTE_TIMES"))
	note := mcp.NewTool("note", mcp.WithDescription("Writes a note"+strings.Repeat(os.Getenv("NOTE_ALSO"), max(times, 1))), mcp.WithString("text", mcp.Required()))
	s.AddTool(note, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := r.GetString("text", "")
		return mcp.NewToolResultText("noted: " + text), os.WriteFile("note.txt", []byte(text), 0o600)
	})
	return s
}

// first appends a line to a file. The first call announces itself and waits until
// it is canceled.
func first(ctx context.Context, name string) (*mcp.CallToolResult, error) {
	before, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(before, "called\n"...), 0o600); err != nil {
		return nil, err
	}
	if len(before) > 0 {
		return mcp.NewToolResultText("called again"), nil
	}
	if conn := announce("called"); conn != nil {
		defer conn.Close() //nolint:errcheck // the process lives on
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// spawn starts a child of the server with the server's standard error, and
// returns once the child is connected to the watch.
func spawn() (*mcp.CallToolResult, error) {
	child := exec.Command(os.Args[0], "!hold")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return mcp.NewToolResultText(line), err
}

// serveHTTP implements the script command httpserver NAME: it serves the same
// tools over streamable HTTP and points TOOLS_URL at them.
func serveHTTP(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: httpserver NAME")
	}
	handler := server.NewStreamableHTTPServer(newToolServer(args[0]))
	web := httptest.NewServer(handler)
	ts.Defer(func() {
		web.CloseClientConnections()
		web.Close()
	})
	ts.Setenv("TOOLS_URL", web.URL+"/mcp")
}

// announceLimit limits waits that normally end at once.
const announceLimit = 30 * time.Second

// watch tracks the processes that a script starts: each keeps a connection to it
// open for as long as it lives.
type watch struct {
	announced chan string   // names of announced processes
	ended     chan struct{} // one value for each ended process
	alive     int
}

// theWatch is the key of a script's watch, and variables the key of the names in
// its environment.
type (
	theWatch  struct{}
	variables struct{}
)

// prepareMCP initializes the values that the commands of this file need.
func prepareMCP(env *testscript.Env) {
	// Under the race detector a process lingers a second after its end.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	names := []string{"ALIVE", "TOOLS_URL"}
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	env.Values[theWatch{}] = &watch{announced: make(chan string, 100), ended: make(chan struct{}, 100)}
	env.Values[variables{}] = names
}

func watchOf(ts *testscript.TestScript) *watch { return ts.Value(theWatch{}).(*watch) }

// startWatch implements the script command watch.
func startWatch(ts *testscript.TestScript, _ bool, _ []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	w := watchOf(ts)
	ts.Defer(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // nothing was written
				lines := bufio.NewReader(conn)
				name, err := lines.ReadString('\n')
				if err == nil {
					w.announced <- strings.TrimSpace(name)
				}
				_, _ = io.Copy(io.Discard, lines)
				w.ended <- struct{}{}
			}()
		}
	}()
	ts.Setenv("ALIVE", listener.Addr().String())
}

// waitFor waits until a process announces itself by the name.
func (w *watch) waitFor(ts *testscript.TestScript, name string) {
	timeout := time.After(announceLimit)
	for {
		select {
		case announced := <-w.announced:
			w.alive++
			if announced == name {
				return
			}
		case <-timeout:
			ts.Fatalf("no process called %s announced itself", name)
		}
	}
}

// hearOf implements the script command hear NAME: it waits until a process
// announces itself by the name.
func hearOf(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: hear NAME")
	}
	watchOf(ts).waitFor(ts, args[0])
}

// checkGone implements the script command gone N: it checks that N processes
// announced themselves since the last check and that all of them have ended.
func checkGone(ts *testscript.TestScript, _ bool, args []string) {
	w := watchOf(ts)
	want, err := strconv.Atoi(strings.Join(args, " "))
	ts.Check(err)
	for more := true; more; {
		select {
		case <-w.announced:
			w.alive++
		default:
			more = false
		}
	}
	if w.alive != want {
		ts.Fatalf("got %d announced processes, want %d", w.alive, want)
	}
	timeout := time.After(announceLimit)
	for ; w.alive > 0; w.alive-- {
		select {
		case <-w.ended:
		case <-timeout:
			ts.Fatalf("%d processes are still alive", w.alive)
		}
	}
}

// checkExit implements the script command exit WANT PROGRAM…: it runs the
// program, keeps its stdout and stderr, and checks its exit code. SIGNAL@NAME
// before the program sends the signal as soon as a process announces itself as
// NAME (INT+INT@NAME sends it twice). tty:FILE runs the program on a terminal
// where each question is answered with the next line of FILE, until the input
// ends.
func checkExit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exit WANT [SIGNAL@NAME|tty:FILE] PROGRAM…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	signal, name, signaled := strings.Cut(args[0], "@")
	typed, onTerminal := strings.CutPrefix(args[0], "tty:")
	if signaled || onTerminal {
		args = args[1:]
	}
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}

	path, err := lookPath(args[0], ts.Getenv("PATH"))
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range ts.Value(variables{}).([]string) {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	if onTerminal {
		terminal, err := pty.Start(cmd)
		ts.Check(err)
		output := answerOn(terminal, ts.ReadFile(typed))
		_, _ = ts.Stdout().Write(bytes.ReplaceAll(output, []byte("\r\n"), []byte("\n")))
		ts.Check(terminal.Close())
	} else {
		cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
		ts.Check(cmd.Start())
	}
	if signaled {
		watchOf(ts).waitFor(ts, name)
		for s := range strings.SplitSeq(signal, "+") {
			if err := cmd.Process.Signal(signals[s]); !errors.Is(err, os.ErrProcessDone) {
				ts.Check(err)
			}
		}
	}
	err = cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		ts.Fatalf("%v", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("got exit code %d, want %d (%s)", got, want, cmd.ProcessState)
	}
}

// answerOn types the next line at each question on a terminal, and ends the input
// when no line is left. It returns all output.
func answerOn(terminal io.ReadWriter, lines string) (output []byte) {
	answered := 0    // length of the output at the last answer
	var asked []byte // the question of that answer, nil if it was empty or the end of the input
	piece := make([]byte, 4096)
	for {
		n, err := terminal.Read(piece)
		output = append(output, piece[:n]...)
		if err != nil {
			return output // the end of a terminal is an error on Linux
		}
		if !bytes.HasSuffix(output[answered:], []byte(": ")) {
			continue
		}
		question := bytes.Clone(output[bytes.LastIndexByte(output, '\n')+1:])
		if bytes.Equal(question, asked) && bytes.HasPrefix(output[answered:], []byte("\r\n")) {
			answered = len(output) // the same question below another line; its answer is under way
			continue
		}
		line, rest, _ := strings.Cut(lines, "\n")
		if asked = question; line == "" {
			asked = nil
		}
		if lines == "" {
			line = "\x04"
		} else {
			line += "\n"
		}
		lines, answered = rest, len(output)
		if _, err := io.WriteString(terminal, line); err != nil {
			return output
		}
	}
}

func lookPath(name, path string) (string, error) {
	for dir := range strings.SplitSeq(path, string(os.PathListSeparator)) {
		if full := dir + string(os.PathSeparator) + name; isFile(full) {
			return full, nil
		}
	}
	return "", fmt.Errorf("%s not found in %s", name, path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
