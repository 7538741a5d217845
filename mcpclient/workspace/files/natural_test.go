package files_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// newNatural creates a workspace like the projects that people name files of.
func newNatural(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"README.md": "# Shop\n\nTimeout: 30 seconds\n", "config/dev.json": "{\"timeout\": 30}\n", "config/prod.json": "{\"timeout\": 60}\n",
		"order/order.go": "package order\n\nfunc IsEmpty() bool { return true } // TODO: round\n", "order/order_test.go": "package order\n\nfunc TestTotal() {}\n",
		"cmd/shop/main.go": "package main\n\nvar port = os.Getenv(\"SHOP_PORT\") // TODO: https\n",
	})
	return b
}

func TestPathsAreTakenAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	b := newNatural(t)
	for _, c := range []struct {
		tool, path string
		text       string // a part of the answer
	}{
		{"fs.read", "/README.md", "# Shop"},
		{"fs.read", "@README.md", "# Shop"},
		{"fs.read", "`README.md`", "# Shop"},
		{"fs.read", "README.md:3", "# Shop"},
		{"fs.read", filepath.Join(b.Dir, "README.md"), "# Shop"},
		{"fs.read", "config/dev*", "{\"timeout\": 30}\n"},
		{"fs.read", "config/*.json", "==> config/dev.json <==\n{\"timeout\": 30}\n==> config/prod.json <==\n{\"timeout\": 60}\n"},
		{"fs.read", "config", "==> config/prod.json <==\n{\"timeout\": 60}\n"},
		{"fs.list", "/", "4 entries in ."},
		{"fs.list", "/config", "2 entries in config"},
		{"fs.list", "config/dev.json", "1 entries in config/dev.json"},
		{"fs.list", "**/*.go", "3 entries in ."},
		{"fs.list", "*.json", "2 entries in ."},
		{"fs.stat", "/", ""},
		{"fs.search", "*.go", "order/order.go:3: func IsEmpty"},
		{"fs.search", "cmd/**", "1 matching line in 1 file"},
		{"fs.search", "/order", "1 matching line in 1 file"},
		{"fs.search", "order/order.go", "1 matching line in 1 file"},
	} {
		t.Run(c.tool+" "+c.path, func(t *testing.T) {
			call := args{"path": c.path}
			if c.tool == "fs.search" {
				call["query"] = "TODO"
			}
			if got := b.Must(t, c.tool, call); !strings.Contains(got.Text, c.text) {
				t.Errorf("got %q, want %q in it", got.Text, c.text)
			}
		})
	}
}

func TestRefusalsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newNatural(t)
	b.Write(t, map[string]string{"cmd/e\u0301e\u0300.md": "x"})
	for _, c := range []struct {
		tool, path string
		parts      []string
	}{
		{"fs.read", "config/devel.json", []string{"similar: config/dev.json"}},
		{"fs.read", "confg/dev.json", []string{"similar: config/dev.json"}},
		{"fs.read", "README", []string{"similar: README.md"}},
		{"fs.read", "readme.txt", []string{"similar: README.md"}},
		{"fs.read", "cmd/\u00e9\u00e8.md", []string{"similar: cmd/e\u0301e\u0300.md"}}, // macOS writes accents so,
		{"fs.read", ".", []string{"is a folder", "README.md, cmd, config and order"}},
		{"fs.read", "*.py", []string{`no file "*.py"`}},
		{"fs.read", "/etc/passwd", []string{"outside the workspace"}},
		{"fs.list", "confg", []string{`no folder "confg"`, "similar: config"}},
		{"fs.search", "ordr", []string{"no file or folder", "similar: order"}},
		{"fs.remove", "config/*.json", []string{"is a pattern", "config/dev.json, config/prod.json"}},
		{"fs.patch", "orders/order.go", []string{"similar: order/order.go"}},
	} {
		call := args{"path": c.path}
		switch c.tool {
		case "fs.search":
			call["query"] = "TODO"
		case "fs.patch":
			call["old"], call["new"] = "a", "b"
		}
		b.Refused(t, c.tool, call, c.parts...)
	}
}

// A rule about paths has judged the path as it is written, so a path that may mean
// several files is no way around it.
func TestPathsOfSeveralFilesAreNoWayAroundRules(t *testing.T) {
	t.Parallel()
	b := newNatural(t)
	judged := map[string]any{builtin.MetaPaths: map[string]any{}}
	for tool, paths := range map[string][]string{"fs.read": {"config/*.json", "config"}, "fs.list": {"*.go"}, "fs.search": {"**/*.go"}} {
		for _, p := range paths {
			if got := b.Ask(t, tool, args{"path": p, "query": "x"}, judged); !got.IsError {
				t.Errorf("%s of %s was done: %s", tool, p, got.Text)
			}
		}
	}
	got := b.Ask(t, "fs.read", args{"path": "/README.md"}, judged)
	if !got.IsError || !strings.Contains(got.Text, "README.md") {
		t.Errorf("got %q, which no rule was asked about", got.Text)
	}
	if got := b.Ask(t, "fs.read", args{"path": "README.md"}, judged); got.IsError {
		t.Errorf("got %q", got.Text)
	}
}

func TestSearchesFindWhatWasMeant(t *testing.T) {
	t.Parallel()
	b := newNatural(t)
	type result struct {
		Matches, Near []struct{ Path, Text string }
		Total         int
		Note          string
	}
	for name, c := range map[string]struct {
		args  args
		found []string
		near  []string
		note  string
	}{
		"expression without regex":   {args{"query": `func \w+\(`}, []string{"order/order.go", "order/order_test.go"}, nil, "regular expression"},
		"alternatives without regex": {args{"query": "port|env"}, []string{"cmd/shop/main.go"}, nil, "regular expression"},
		"any text between":           {args{"query": "func Test.*"}, []string{"order/order_test.go"}, nil, "regular expression"},
		"other case":                 {args{"query": "todo"}, nil, []string{"cmd/shop/main.go", "order/order.go"}, "ignore_case finds 2 lines"},
		"text that is there":         {args{"query": "TODO:"}, []string{"cmd/shop/main.go", "order/order.go"}, nil, ""},
		"nothing":                    {args{"query": "nowhere"}, nil, nil, ""},
		"a folder as glob":           {args{"query": "timeout", "glob": "config/"}, []string{"config/dev.json", "config/prod.json"}, nil, ""},
		"an ending as glob":          {args{"query": "timeout", "glob": ".json"}, []string{"config/dev.json", "config/prod.json"}, nil, ""},
		"several globs":              {args{"query": "imeout", "glob": "*.json, *.md"}, []string{"README.md", "config/dev.json", "config/prod.json"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := workspacetest.Into[result](t, b.Must(t, "fs.search", c.args).Data)
			var found, near []string
			for _, m := range got.Matches {
				found = append(found, m.Path)
			}
			for _, m := range got.Near {
				near = append(near, m.Path)
			}
			if !slices.Equal(found, c.found) || got.Total != len(found) || !slices.Equal(near, c.near) || !strings.Contains(got.Note, c.note) || c.note == "" && got.Note != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}
