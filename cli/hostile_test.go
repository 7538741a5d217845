package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/agent/ollama/ollamatest"
	"replan/cli"
)

// hostile holds control sequences and invisible characters: a window title, the
// clipboard, a link, a cursor move, a question to the terminal, C1 controls,
// directions of writing, characters without width, tags.
const hostile = "\x1b]0;OWN\a\x1b]52;c;T1dO\x07\x1b]8;;http://x\x1b\\\x1b[6666X\x1bP1$q\x1b\\\u009b31m\u202eevil\u200b\u2066\b\x7f\x01\U000E0041\u2028\tZ"

// spelled is hostile as a file system or git takes it: with a raw C1 byte.
const spelled = "\x1b]0;OWN\a\u009b31m\x9b32m\u202e\u200b\U000E0041\tZ"

// hostileWorld is a folder and a home in which every text from outside is hostile.
type hostileWorld struct {
	folder, home string
	host         string // of the model
}

// quoted is hostile as JSON and TOML write it.
func quoted(prefix string) string {
	data, err := json.Marshal(prefix + hostile)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}

func hostileTools(t *testing.T) string {
	s := server.NewMCPServer("it"+hostile, "1"+hostile, server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithResourceCapabilities(false, false))
	reads := mcp.WithReadOnlyHintAnnotation(true)
	titled := mcp.WithTitleAnnotation("title" + hostile)
	text := mcp.WithString("text", mcp.Description("of"+hostile))
	add := func(name string, answer func() (*mcp.CallToolResult, error)) {
		s.AddTool(mcp.NewTool(name, reads, titled, text, mcp.WithDescription("does "+hostile)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return answer() })
	}
	add("say", func() (*mcp.CallToolResult, error) { return mcp.NewToolResultText("said " + hostile), nil })
	add("say"+hostile, func() (*mcp.CallToolResult, error) { return mcp.NewToolResultText("said " + hostile), nil })
	add("fail", func() (*mcp.CallToolResult, error) { return mcp.NewToolResultError("failed " + hostile), nil })
	add("refuse", func() (*mcp.CallToolResult, error) { return nil, errors.New("refused " + hostile) })
	add("list", func() (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(map[string]any{"name" + hostile: []any{"value" + hostile}}, "listed "+hostile), nil
	})
	s.AddPrompt(mcp.NewPrompt("ask", mcp.WithPromptDescription("asks "+hostile)), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("refused " + hostile)
	})
	s.AddResource(mcp.NewResource("x://a", "name"+hostile, mcp.WithResourceDescription(hostile)), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("refused " + hostile)
	})
	over := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(over.Close)
	return over.URL + "/mcp"
}

const hostilePlan = `{"id":"h-1","title":TEXT,"goal":TEXT,"context":TEXT,"variables":{"v":TEXT},"risks":[TEXT],
"steps":[{"index":"1","title":TEXT,"tool":"it:say","args":{"text":TEXT},"result_variable":"r","expected_outcome":TEXT},
{"index":"2","title":TEXT,"tool":"it:fail","args":{"text":TEXT},"on_failure":"skip"},{"index":"3","title":TEXT,"tool":"it:refuse","on_failure":"skip"},
{"index":"4","title":TEXT,"tool":"it:list","args":{"text":"${r}"},"depends_on":["1"]},{"index":"5","title":TEXT,"tool":"fs.write","args":{"path":"new.txt","text":TEXT},"on_failure":"skip"}]}`

func newHostileWorld(t *testing.T) hostileWorld {
	t.Helper()
	top := t.TempDir()
	// JSON cannot hold the name of a folder that is no text; its runs are not found again.
	w := hostileWorld{folder: filepath.Join(top, "in"+strings.ToValidUTF8(spelled, "")), home: filepath.Join(top, "home")}
	for _, dir := range []string{w.folder, w.home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Skip("the file system refuses such names: ", err)
		}
	}
	model, err := ollamatest.Start(t.Context(), ollamatest.Script{Model: "scripted", Capabilities: []string{"completion", "tools"}, Replies: []ollamatest.Reply{
		{Purpose: "analysis", Text: `{"mode":"direct","complexity":"simple","reflect":false}`, Times: -1}, {Text: "answer " + hostile, Times: -1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	w.host = model.URL()
	plan := strings.ReplaceAll(hostilePlan, "TEXT", quoted(""))
	for name, text := range map[string]string{
		"AGENTS.md": "# Rules " + hostile + "\n", "file" + spelled + ".txt": "needle " + hostile + "\n", "plan.json": plan, "changed.json": strings.ReplaceAll(plan, `"4"`, quoted("4")),
		"broken.json": `{"title":"` + hostile + `" oops`, ".mcp.json": `{"mcpServers":{` + quoted("s") + `:{"command":"x"},"ok":{"command":` + quoted("/bin/") + `,"args":[` + quoted("") + `]}}}`,
		"vars.json": `{"v":` + quoted("") + `}`,
	} {
		write(t, filepath.Join(w.folder, name), text)
	}
	for name, text := range map[string]string{
		"mcp.json":    `{"mcpServers":{"it":{"url":"` + hostileTools(t) + `"},"dead":{"command":"/bin/sh","args":["-c","printf 'lost \\033]0;OWN\\007\\233' >&2; exit 3",` + quoted("") + `]},"gone":{"command":` + quoted("/no/") + `}}}`,
		"config.toml": "[model]\nname = \"scripted\"\n",
	} {
		write(t, filepath.Join(w.home, name), text)
	}
	if _, err := exec.LookPath("git"); err == nil {
		for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a" + spelled, "-c", "user.email=a@b", "commit", "-q", "-m", "subject " + spelled}, {"symbolic-ref", "HEAD", "refs/heads/b\u009b\x9b\u202e\u200b"}} {
			git := exec.Command("git", args...)
			git.Dir = w.folder
			if out, err := git.CombinedOutput(); err != nil {
				t.Logf("git %q: %v: %s", args, err, out)
			}
		}
	}
	return w
}

// run runs a command in the world.
func (w hostileWorld) run(ctx context.Context, terminal bool, args ...string) (code int, out, errs []byte) {
	var stdout, stderr bytes.Buffer
	code = cli.Main(ctx, args, cli.IO{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr, Terminal: terminal,
		Getenv: func(name string) string {
			return map[string]string{"REPLAN_HOME": w.home, "OLLAMA_HOST": w.host, "PATH": os.Getenv("PATH"), "TERM": "xterm-256color"}[name]
		},
		Getwd: func() (string, error) { return w.folder, nil },
	})
	return code, stdout.Bytes(), stderr.Bytes()
}

// ours are the sequences that lines on a terminal may hold: colors, what the line that
// says what runs needs, and questions to the terminal. None is one of hostile's.
var ours = regexp.MustCompile("\x1b\\[[0-9;:?>=<]*\\$?[A-WYZa-z]|\x1b\\]11;\\?\a|\r")

// checkClean fails if text holds what a terminal obeys or a reader cannot see. Tabs
// part the columns of listings and stay in diffs.
func checkClean(t *testing.T, what string, text []byte) {
	t.Helper()
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == utf8.RuneError && size == 1 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			at := len(text) - len(rest)
			t.Errorf("%s %q in %q", what, rest[:size], text[max(0, at-60):min(len(text), at+60)])
			return
		}
		rest = rest[size:]
	}
}

// aboutObjects says what commands are about that take no words. The others, and new
// ones, get hostile words.
var aboutObjects = map[string]string{
	"plan check": "plan.json", "plan run": "plan.json", "plan import": "broken.json", "plan show": "h-1", "plan export": "h-1", "plan diff": "last", "plan resume": "last",
	"replay": "last", "runs show": "last", "runs": "", "runs list": "", "plan list": "", "tools": "", "tools list": "", "tools show": "it:say", "tools call": "it:fail", "tools accept": "it",
	"mcp list": "", "mcp test": "dead", "mcp remove": "it", "doctor": "", "undo": "last",
	"config list": "", "config path": "", "config edit": "", "config get": "screen.theme", "config unset": "screen.theme", "models": "", "models list": "",
}

// TestHostileTextLeavesNoCommandRaw runs every command on what is hostile: as lines, as
// lines on a terminal, and as JSON. With REPLAN_TEST_LONG it tries all objects with each.
func TestHostileTextLeavesNoCommandRaw(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands run without the race detector")
	}
	w := newHostileWorld(t)
	t.Chdir(w.folder) // files are named from there
	if code, out, errs := w.run(t.Context(), false, "plan", "run", "plan.json", "--approve", "all", "--output", "json"); code != 0 {
		t.Fatalf("the plan did not run: exit code %d, %s%s", code, out, errs)
	}
	w.run(t.Context(), false, "plan", "import", "plan.json")
	paths := commandPaths(t)
	for _, path := range paths {
		name := strings.Join(path, " ")
		group := slices.ContainsFunc(paths, func(p []string) bool { return len(p) > len(path) && strings.HasPrefix(strings.Join(p, " "), name+" ") })
		object, known := aboutObjects[name]
		if !known {
			object = hostile
		}
		objects := []string{object}
		if os.Getenv("REPLAN_TEST_LONG") != "" {
			objects = []string{"", hostile, "plan.json", "broken.json", "h-1", "last", "it", "it:say", "dead"}
		}
		t.Run(name, func(t *testing.T) {
			for _, object := range objects {
				own := w
				own.home = t.TempDir()
				if err := os.CopyFS(own.home, os.DirFS(w.home)); err != nil {
					t.Fatal(err)
				}
				args := slices.Clone(path)
				if object != "" {
					args = append(args, object)
				}
				own.checkLines(t, args)
				if name != "completion" && (!group || object != "") {
					own.checkJSON(t, args)
				}
			}
		})
	}
}

func (w hostileWorld) checkLines(t *testing.T, args []string) {
	t.Helper()
	for _, terminal := range []bool{false, true} {
		_, out, errs := w.run(t.Context(), terminal, append(args, "--plain")...)
		if terminal {
			out, errs = ours.ReplaceAll(out, nil), ours.ReplaceAll(errs, nil)
		}
		checkClean(t, fmt.Sprintf("%q prints", args), out)
		checkClean(t, fmt.Sprintf("%q says", args), errs)
	}
}

func (w hostileWorld) checkJSON(t *testing.T, args []string) {
	t.Helper()
	code, out, errs := w.run(t.Context(), false, append(args, "--output", "json")...)
	checkClean(t, fmt.Sprintf("%q with JSON prints", args), out)
	checkClean(t, fmt.Sprintf("%q with JSON says", args), errs)
	if code != 0 {
		return
	}
	same := false
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Errorf("%q prints %q, which is no JSON: %v", args, out, err)
			return
		}
		same = same || holds(v, hostile)
	}
	// What servers say of their tools is cleaned when it arrives.
	if !same && args[0] != "tools" && bytes.Contains(out, []byte("evil")) {
		t.Errorf("%q prints %q, which means another text", args, out)
	}
}

// holds reports whether a JSON value contains a text unchanged.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return holds(v, text) })
	case map[string]any:
		for name, v := range v {
			if strings.Contains(name, text) || holds(v, text) {
				return true
			}
		}
	}
	return false
}
