package workspace_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
)

// sample returns a small Go project in a repository with an uncommitted change, a
// branch and a remote. The remote and the memory lie beside it.
func sample(t *testing.T) *bench {
	t.Helper()
	needGit(t)
	all := t.TempDir()
	dir, remote := filepath.Join(all, "project"), filepath.Join(all, "remote")
	for _, folder := range []string{dir, remote} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, workspace.Config{Dir: dir, Memory: filepath.Join(all, "memory.md")})
	b.Write(t, map[string]string{
		".gitignore":    "*.log\n",
		"go.mod":        "module sample\n\ngo 1.21\n",
		"greet.go":      "// Package sample greets.\npackage sample\n\n// Greet says hello to a name.\nfunc Greet(name string) string {\n\treturn \"hello \" + name\n}\n",
		"greet_test.go": "package sample\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n\tif Greet(\"you\") != \"hello you\" {\n\t\tt.Error(\"no greeting\")\n\t}\n}\n",
		"docs/a.md":     "# A\n\nGreet people.\n",
		"empty.txt":     "",
		"config.json":   "{\"port\": 8080}\n",
	})
	git(t, remote, "init", "-q", "--bare")
	for _, arg := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Some One"},
		{"config", "user.email", "one@example.org"},
		{"remote", "add", "origin", remote},
		{"add", "."},
		{"commit", "-q", "-m", "First greeting"},
		{"branch", "other"},
	} {
		git(t, dir, arg...)
	}
	b.Write(t, map[string]string{"docs/a.md": "# A\n\nGreet all people.\n", "docs/new.md": "# New\n", "x.log": "ignored\n"})
	return b
}

// sampleCalls are calls of every tool that succeed in the sample.
var sampleCalls = map[string][]args{
	"fs.read":         {{"path": "greet.go"}, {"path": "greet.go", "offset": 2, "limit": 1}},
	"fs.list":         {nil, {"path": "docs", "depth": 3}},
	"fs.stat":         {{"path": "greet.go"}, {"path": "docs"}, {"path": "."}, {"path": "empty.txt"}},
	"fs.search":       {{"query": "Greet"}, {"query": "G[a-z]+t", "regex": true, "context": 2}, {"query": "no such text"}},
	"fs.patch":        {{"path": "docs/a.md", "old": "Greet", "new": "Salute"}, {"diff": "--- a/docs/new.md\n+++ b/docs/new.md\n@@ -1 +1 @@\n-# New\n+# Newer\n"}},
	"fs.write":        {{"path": "made/b.md", "text": "# B\n"}},
	"fs.move":         {{"from": "docs", "to": "manual"}, {"from": "greet.go", "to": "in/greeting.go"}},
	"fs.mkdir":        {{"path": "a/b/c"}, {"path": "docs"}},
	"fs.remove":       {{"path": "empty.txt"}, {"path": "docs", "recursive": true}},
	"code.symbols":    {nil, {"path": "greet.go"}},
	"code.definition": {{"symbol": "Greet"}},
	"code.references": {{"symbol": "Greet"}},
	"code.parse":      {{"path": "greet.go"}, {"path": "docs/a.md"}},
	"code.summarize":  {{"path": "greet.go"}, {"text": "# A\n\nwords\n"}},
	"code.transform":  {{"kind": "rename", "symbol": "Greet", "new_name": "Salute"}, {"kind": "replace", "pattern": "people", "replacement": "folk"}},
	"code.remove":     {{"symbol": "Greet", "path": "greet.go"}},
	"code.insert":     {{"symbol": "Greet", "text": "const polite = true"}, {"symbol": "Greet", "text": "const polite = true", "where": "after"}},
	"code.comment":    {{"symbol": "Greet", "text": "Says hello."}},
	"data.set":        {{"path": "config.json", "key": "port", "value": "9090"}},
	"test.detect":     {nil},
	"test.run":        {nil, {"run": "TestGreet"}},
	"test.lint":       {nil},
	"vcs.status":      {nil},
	"vcs.diff":        {nil, {"of": "commit"}},
	"vcs.log":         {nil, {"path": "greet.go", "max": 1}},
	"vcs.show":        {nil, {"ref": "HEAD", "path": "greet.go"}},
	"vcs.branches":    {nil},
	"vcs.branch":      {{"name": "topic", "create": true}},
	"vcs.commit":      {{"message": "Greet all people"}},
	"vcs.push":        {{"remote": "origin", "branch": "main", "set_upstream": true}},
	"proc.run":        {{"argv": []string{"go", "version"}}},
	"memory.read":     {nil},
	"memory.write":    {{"text": "likes table tests"}},
}

// slowTools start compilers.
var slowTools = []string{"test.run", "test.lint"}

// samples returns the sample calls of a tool. Every tool must have some.
func samples(t *testing.T, tool string) []args {
	t.Helper()
	calls, ok := sampleCalls[tool]
	if !ok {
		t.Fatalf("%s has no call in sampleCalls", tool)
	}
	if testing.Short() && slices.Contains(slowTools, tool) {
		t.Skip("runs the go command")
	}
	return calls
}

// tools returns all tools by name.
func tools(t *testing.T) map[string]mcp.Tool {
	t.Helper()
	b := newBench(t, workspace.Config{Memory: filepath.Join(t.TempDir(), "memory.md")})
	list, err := b.Client.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]mcp.Tool{}
	for _, tool := range list.Tools {
		all[tool.Name] = tool
	}
	return all
}

func TestToolsAreFullyDescribed(t *testing.T) {
	t.Parallel()
	const maxDescription = 430 // characters; every planning request has all descriptions
	name := regexp.MustCompile(`^(fs|code|data|test|vcs|proc|memory)\.[a-z]+$`)
	for _, tool := range tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			if !name.MatchString(tool.Name) {
				t.Error("the name is not GROUP.ACTION")
			}
			if n := len(tool.Description); n == 0 || n > maxDescription {
				t.Errorf("the description has %d characters", n)
			}
			a := tool.Annotations
			switch {
			case a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil:
				t.Fatalf("an annotation is missing: %+v", a)
			case *a.ReadOnlyHint && (*a.DestructiveHint || !*a.IdempotentHint):
				t.Errorf("a read-only tool must be idempotent and not destructive: %+v", a)
			}
			raw, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			var shown struct {
				InputSchema struct {
					Type                 string
					AdditionalProperties any
					Properties           map[string]struct{ Type, Description string }
				}
			}
			if err := json.Unmarshal(raw, &shown); err != nil {
				t.Fatal(err)
			}
			if in := shown.InputSchema; in.Type != "object" || in.AdditionalProperties != false {
				t.Errorf("the schema allows other arguments: %s", raw)
			}
			for arg, p := range shown.InputSchema.Properties {
				if p.Type == "" || p.Description == "" {
					t.Errorf("argument %s has no type or description: %+v", arg, p)
				}
			}
		})
	}
}

func TestToolAnnotations(t *testing.T) {
	t.Parallel()
	type hints struct{ readOnly, destructive, idempotent, openWorld, previews bool }
	reads := hints{readOnly: true, idempotent: true}
	want := map[string]hints{
		"fs.read": reads, "fs.list": reads, "fs.stat": reads, "fs.search": reads,
		"fs.patch":    {destructive: true, previews: true},
		"fs.write":    {destructive: true, idempotent: true, previews: true},
		"fs.move":     {destructive: true, previews: true},
		"fs.mkdir":    {idempotent: true, previews: true},
		"fs.remove":   {destructive: true, previews: true},
		"memory.read": reads, "memory.write": {destructive: true, previews: true},
	}
	got := map[string]hints{}
	for name, tool := range tools(t) {
		if group, _, _ := strings.Cut(name, "."); group != "fs" && group != "memory" {
			continue
		}
		a := tool.Annotations
		previews := tool.Meta != nil && tool.Meta.AdditionalFields[builtin.MetaPreviews] == true
		got[name] = hints{*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint, previews}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResultsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	unchanged := sample(t)
	for name, tool := range tools(t) {
		t.Run(name, func(t *testing.T) {
			for _, call := range samples(t, name) {
				b := unchanged
				if !*tool.Annotations.ReadOnlyHint {
					b = sample(t)
				}
				out := b.Must(t, name, call)
				if tool.RawOutputSchema == nil && tool.OutputSchema.Type == "" {
					if out.Data != nil {
						t.Errorf("got result %v of a tool without an output schema", out.Data)
					}
					continue
				}
				valid(t, tool, out.Data)
			}
		})
	}
}

// valid checks a result against the schema of its tool.
func valid(t *testing.T, tool mcp.Tool, data map[string]any) {
	t.Helper()
	raw, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	var shown struct{ OutputSchema json.RawMessage }
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(shown.OutputSchema))
	if err != nil {
		t.Fatalf("%s: %v", shown.OutputSchema, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("result.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("result.json")
	if err != nil {
		t.Fatal(err)
	}
	result, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(result))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil || data == nil {
		t.Errorf("%s does not match %s: %v", result, shown.OutputSchema, err)
	}
}

// state returns names, modes, times and contents of everything in a folder.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		name, _ := filepath.Rel(dir, at)
		all[name] = fmt.Sprint(info.Mode(), info.ModTime(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReadOnlyToolsChangeNothing(t *testing.T) {
	t.Parallel()
	for name, tool := range tools(t) {
		if !*tool.Annotations.ReadOnlyHint {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := sample(t)
			before := state(t, b.Dir)
			for _, call := range samples(t, name) {
				b.Must(t, name, call)
			}
			changedNothing(t, b.Dir, before)
		})
	}
}

func TestPreviewsChangeNothing(t *testing.T) {
	t.Parallel()
	for name, tool := range tools(t) {
		if tool.Meta == nil || tool.Meta.AdditionalFields[builtin.MetaPreviews] != true && tool.Meta.AdditionalFields[builtin.MetaCommands] != true {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := sample(t)
			before := state(t, b.Dir)
			for _, call := range samples(t, name) {
				if out := b.Ask(t, name, call, preview); out.IsError || out.Data["hashes"] == nil && out.Data["command"] == nil {
					t.Errorf("preview of %v: got %s", call, out.Text)
				}
			}
			changedNothing(t, b.Dir, before)
		})
	}
}

func changedNothing(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := state(t, dir)
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s changed from %s to %s", name, before[name], after[name])
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was created", name)
		}
	}
}
