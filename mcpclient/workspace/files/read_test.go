package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace"
)

func TestReadReturnsText(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	for name, text := range map[string]string{
		"plain": "a\nb\n", "no final newline": "a\nb", "CRLF": "a\r\nb\r\n", "empty": "", "JSON": `{"a": 1}`, "wide": "日本語\n",
	} {
		t.Run(name, func(t *testing.T) {
			b.Write(t, map[string]string{"f": text})
			if got := b.Must(t, "fs.read", args{"path": "f"}); got.Text != text || got.Data != nil {
				t.Errorf("got %q %v, want %q", got.Text, got.Data, text)
			}
		})
	}
}

func TestPartialReadSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{MaxOutput: 20})
	b.Write(t, map[string]string{"f": "one\ntwo\nthree\nfour\nfive\nsix\n", "long": strings.Repeat("é", 30), "short": "one\ntwo"})
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"lines from the middle": {args{"path": "f", "offset": 2, "limit": 2}, "two\nthree\n[cut: lines 2 to 3 of 6; go on with offset 4]\n"},
		"lines to the end":      {args{"path": "f", "offset": 5, "limit": 9}, "five\nsix\n"},
		"as much as fits":       {args{"path": "f"}, "one\ntwo\nthree\nfour\n[cut: lines 1 to 4 of 6; go on with offset 5]\n"},
		"too long line":         {args{"path": "long"}, strings.Repeat("é", 10) + "\n[cut: lines 1 to 1 of 1]\n"},
		"no final newline":      {args{"path": "short", "offset": 2}, "two"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := b.Must(t, "fs.read", c.args); got.Text != c.want {
				t.Errorf("got %q, want %q", got.Text, c.want)
			}
		})
	}
	b.Refused(t, "fs.read", args{"path": "f", "offset": 7}, "6 lines", "no line 7")
}

func TestReadRefusesNonText(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"bin": "ab\x00cd", "latin1": "caf\xe9", "dir/auth.go": "x", "large": strings.Repeat("x", 4<<20+1)})
	b.Refused(t, "fs.read", args{"path": "bin"}, "binary")
	b.Refused(t, "fs.read", args{"path": "latin1"}, "UTF-8")
	b.Refused(t, "fs.read", args{"path": "."}, "is a folder", "bin, large, latin1 and dir", "fs.list")
	b.Refused(t, "fs.read", args{"path": "large"}, "bytes")
	b.Refused(t, "fs.read", args{"path": "dir/auth.go/x"}, `"dir/auth.go" is a file`)
	b.Refused(t, "fs.read", args{"path": "src/auth.go"}, `no file "src/auth.go"`, "similar: dir/auth.go")
}

func TestPartialReadsAddUpToTheFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{MaxOutput: 50})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,20}`), 1, 40).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		b.Write(t, map[string]string{"f": text})
		var all strings.Builder
		offset := 1
		for offset > 0 {
			got := b.Must(t, "fs.read", args{"path": "f", "offset": offset, "limit": rapid.IntRange(0, 5).Draw(t, "limit")}).Text
			var from, to, of, next int
			mark := strings.LastIndex(got, "[cut: ")
			if mark < 0 {
				all.WriteString(got)
				break
			}
			if n, _ := fmt.Sscanf(got[mark:], "[cut: lines %d to %d of %d; go on with offset %d]", &from, &to, &of, &next); n != 4 || from != offset || next <= offset {
				t.Fatalf("got an unusable mark: %q", got[mark:])
			}
			all.WriteString(got[:mark])
			offset = next
		}
		if all.String() != text {
			t.Fatalf("got parts %q of the file %q", all.String(), text)
		}
	})
}

func TestListShowsFoldersAndFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a.go": "xy", "in/b.go": "", "in/deep/c.go": "", "out/x": "", "x.log": "", ".gitignore": "out/\n*.log\n", "node_modules/m/i.js": ""})
	list := func(a args) []string {
		var names []string
		for _, e := range b.Must(t, "fs.list", a).Data["entries"].([]any) {
			e := e.(map[string]any)
			names = append(names, e["type"].(string)+" "+e["path"].(string))
		}
		return names
	}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"one level":       {nil, []string{"file .gitignore", "file a.go", "dir in"}},
		"two levels":      {args{"depth": 2}, []string{"file .gitignore", "file a.go", "dir in", "file in/b.go", "dir in/deep"}},
		"below a folder":  {args{"path": "in", "depth": 2}, []string{"file in/b.go", "dir in/deep", "file in/deep/c.go"}},
		"excluded folder": {args{"path": "node_modules"}, []string{"dir node_modules/m"}},
		"path with ./":    {args{"path": "./in/"}, []string{"file in/b.go", "dir in/deep"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := list(c.args); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	b.Refused(t, "fs.list", args{"path": "missing"}, `no folder "missing"`)
}

func TestLongListIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	files := map[string]string{}
	for i := range 1001 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	b.Write(t, files)
	got := b.Must(t, "fs.list", nil)
	if n := len(got.Data["entries"].([]any)); n != 1000 || got.Data["truncated"] != true {
		t.Errorf("got %d entries, truncated %v", n, got.Data["truncated"])
	}
}

func TestSearchFindsLines(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	long := strings.Repeat("a", 500) + "needle" + strings.Repeat("b", 500)
	b.Write(t, map[string]string{
		"a.go": "one needle\nnone\nneedle and needle\r\n", "in/b.ts": "a.b needle\n", "in/deep/c.go": "needle()\n", "long.txt": long,
		"bin": "needle\x00", ".git/x": "needle", "vendor/v.go": "needle", "in/node_modules/n.js": "needle",
		"build/out.go": "needle", "x.log": "needle", "keep.log": "needle", "sub/only/root": "needle", "only/root": "needle",
		".gitignore": "# made\nbuild/\n*.log\n!keep.log\n/only\n",
	})
	search := func(a args) (got []string) {
		for _, m := range b.Must(t, "fs.search", a).Data["matches"].([]any) {
			m := m.(map[string]any)
			got = append(got, fmt.Sprintf("%s:%v", m["path"], m["line"]))
		}
		return got
	}
	for name, c := range map[string]struct {
		args args
		want []string
	}{
		"one match per line":        {args{"query": "needle"}, []string{"a.go:1", "a.go:3", "in/b.ts:1", "in/deep/c.go:1", "keep.log:1", "long.txt:1", "sub/only/root:1"}},
		"plain text":                {args{"query": "a.b"}, []string{"in/b.ts:1"}},
		"regular expression":        {args{"query": `^needle\b`, "regex": true}, []string{"a.go:3", "in/deep/c.go:1", "keep.log:1", "sub/only/root:1"}},
		"expression with line end":  {args{"query": `needle$`, "regex": true, "path": "a.go"}, []string{"a.go:1", "a.go:3"}},
		"name pattern":              {args{"query": "needle", "glob": "*.go"}, []string{"a.go:1", "a.go:3", "in/deep/c.go:1"}},
		"path pattern":              {args{"query": "needle", "glob": "in/**/*.go"}, []string{"in/deep/c.go:1"}},
		"pattern with alternatives": {args{"query": "needle", "glob": "*.{ts,txt}"}, []string{"in/b.ts:1", "long.txt:1"}},
		"folder":                    {args{"query": "needle", "path": "in"}, []string{"in/b.ts:1", "in/deep/c.go:1"}},
		"excluded folder":           {args{"query": "needle", "path": "vendor"}, []string{"vendor/v.go:1"}},
		"no match":                  {args{"query": "haystack"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := search(c.args); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	few := b.Must(t, "fs.search", args{"query": "needle", "max": 2}).Data
	if len(few["matches"].([]any)) != 2 || few["total"] != 7.0 || few["truncated"] != true {
		t.Errorf("max has no effect: %v", few)
	}
	shown := b.Must(t, "fs.search", args{"query": "needle", "path": "long.txt"}).Data["matches"].([]any)[0].(map[string]any)["text"].(string)
	if !strings.Contains(shown, "needle") || len(shown) > 300 {
		t.Errorf("got %q for a long line", shown)
	}
	b.Refused(t, "fs.search", args{"query": "x", "path": "missing"}, `"missing"`)
}

func TestSearchSkipsUnreadableFolders(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"a": "needle", "closed/b": "needle", "z": "needle"})
	closed := filepath.Join(b.Dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	total := b.Must(t, "fs.search", args{"query": "needle"}).Data["total"].(float64)
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user can read everything")
	}
	if total != 2 {
		t.Errorf("got %v matches, want 2", total)
	}
}
