package mcpclient_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/workspace"
	"replan/planning/plan"
)

var update = flag.Bool("update", false, "write the operators that the tests of planning read")

// inAWorkspace returns a pool with the built-in operators in a folder of files.
func inAWorkspace(t *testing.T, files map[string]string) (*mcpclient.Pool, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	operators, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = operators.Close() })
	return newPool(t, mcpclient.Config{
		Dir: dir, InProcess: existing(map[string]*server.MCPServer{"workspace": operators.Server()}),
	}), dir
}

func TestOperatorNamesMatchWorkspace(t *testing.T) {
	dir := t.TempDir()
	operators, err := workspace.New(workspace.Config{Dir: dir, Memory: filepath.Join(dir, "memory.md")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = operators.Close() })
	p := newPool(t, mcpclient.Config{Dir: dir, InProcess: existing(map[string]*server.MCPServer{"workspace": operators.Server()})})
	var names, lines []string
	for _, tool := range p.Ready(t.Context()) {
		names = append(names, tool.Name)
		tool.OutputSchema = nil // operators describe their results in words
		line, err := plan.EncodeJSON(tool)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	slices.Sort(names)
	slices.Sort(lines)
	file, want := filepath.Join("..", "planning", "plantest", "tools", "operators.json"), "[\n"+strings.Join(lines, ",\n")+"\n]\n"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if held, err := os.ReadFile(file); err != nil || string(held) != want {
		t.Errorf("%s does not hold these operators: run the test with -update: %v", file, err)
	}
	if !slices.Equal(names, plan.OperatorNames()) {
		t.Errorf("got operators %q, want %q", names, plan.OperatorNames())
	}
}

func TestApprovedChangeRequiresUnchangedFile(t *testing.T) {
	p, dir := inAWorkspace(t, map[string]string{"greet.txt": "hello\n"})
	patch := plan.ToolCall{
		Tool: tool(t, p, "fs.patch"),
		Args: map[string]any{"path": "greet.txt", "old": "hello", "new": "good day"},
	}
	if !patch.Tool.Previews || !patch.Tool.Trusted || patch.Tool.ReadOnly {
		t.Errorf("got tool %+v", patch.Tool)
	}
	preview, err := p.Preview(t.Context(), patch)
	if err != nil || !strings.Contains(preview.Diff, "+good day") || preview.Hashes["greet.txt"] == "" {
		t.Fatalf("got %+v, %v", preview, err)
	}
	patch.Hashes = preview.Hashes

	file := filepath.Join(dir, "greet.txt")
	if err := os.WriteFile(file, []byte("hello, you\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(t.Context(), patch); !isToolError(err) {
		t.Errorf("call after the file changed: got error %v", err)
	}
	if err := os.WriteFile(file, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(t.Context(), patch); err != nil {
		t.Error(err)
	}
	got, err := call(t, p, "fs.read", map[string]any{"path": "greet.txt"})
	if err != nil || got != "good day\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRunStreamsTestOutput(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the go command")
	}
	p, _ := inAWorkspace(t, map[string]string{
		"go.mod":    "module tiny\n\ngo 1.26\n",
		"a_test.go": "package tiny\n\nimport \"testing\"\n\nfunc TestRed(t *testing.T) { t.Error(\"red indeed\") }\n",
	})
	var output strings.Builder
	_, err := p.Call(t.Context(), plan.ToolCall{
		Tool:   tool(t, p, "test.run"),
		Output: func(chunk string) { output.WriteString(chunk) },
	})
	if !isToolError(err) || !strings.Contains(err.Error(), "TestRed") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(output.String(), "red indeed") {
		t.Errorf("got output %q", output.String())
	}
}
