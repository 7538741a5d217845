package memory_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/mark3labs/mcp-go/mcp"
	"pgregory.net/rapid"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

type readResult struct {
	Facts []struct{ Text, Added string }
	Total int
}

func (r readResult) texts() []string {
	texts := make([]string, len(r.Facts))
	for i, f := range r.Facts {
		texts[i] = f.Text
	}
	return texts
}

type writeResult struct {
	Change, Text, Diff string
	Total              int
	Hashes             map[string]string
}

// desk is a bench with a memory.
type desk struct {
	*bench
	path string
}

func newDesk(t *testing.T) *desk {
	path := filepath.Join(t.TempDir(), "kept", "memory.md")
	return &desk{newBench(t, workspace.Config{Memory: path}), path}
}

// setText writes the file outside the operators.
func (d *desk) setText(t tb, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}

var today = regexp.MustCompile(`\(added \d{4}-\d{2}-\d{2}\)`)

// text returns the content of the file with TODAY in place of dates.
func (d *desk) text(t tb) string {
	t.Helper()
	data, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return today.ReplaceAllString(string(data), "TODAY")
}

func (d *desk) read(t tb, a args) readResult {
	t.Helper()
	return workspacetest.Into[readResult](t, d.Must(t, "memory.read", a).Data)
}

func (d *desk) write(t tb, a args) writeResult {
	t.Helper()
	return workspacetest.Into[writeResult](t, d.Must(t, "memory.write", a).Data)
}

func TestNoMemoryMeansNoMemoryTools(t *testing.T) {
	b := newBench(t, workspace.Config{})
	list, err := b.Client.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(list.Tools, func(tool mcp.Tool) bool { return strings.HasPrefix(tool.Name, "memory.") }) {
		t.Errorf("got tools %v", list.Tools)
	}
}

func TestFactsPersist(t *testing.T) {
	d := newDesk(t)
	if got := d.read(t, nil); len(got.Facts) != 0 || got.Total != 0 {
		t.Errorf("empty memory: got %+v", got)
	}
	before := time.Now().Format(time.DateOnly)
	got := d.write(t, args{"text": "I prefer table tests."})
	after := time.Now().Format(time.DateOnly)
	if got.Change != "added" || got.Text != "I prefer table tests." || got.Total != 1 {
		t.Errorf("got %+v", got)
	}
	d.write(t, args{"text": "My editor is Helix"})
	other := newBench(t, workspace.Config{Memory: d.path})
	facts := workspacetest.Into[readResult](t, other.Must(t, "memory.read", nil).Data)
	if want := []string{"I prefer table tests.", "My editor is Helix"}; !slices.Equal(facts.texts(), want) || facts.Total != 2 {
		t.Fatalf("got %+v, want %q", facts, want)
	}
	if day := facts.Facts[0].Added; day < before || day > after {
		t.Errorf("added on %q, want a day from %s to %s", day, before, after)
	}
	if info, err := os.Stat(d.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %v, want 0600: %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(d.path)); err != nil || len(entries) != 2 {
		t.Errorf("got files %v, want only the memory and its lock: %v", entries, err)
	}
	d.Same(t, map[string]string{}) // the workspace stays empty
}

func TestWriteKeepsTheRestOfTheFile(t *testing.T) {
	const hand = "# Mine\r\n\r\nSome words.\r\n* I like Go\r\n\r\n## Work\r\n- I use tabs\r\n"
	const plain = "# Mine\n\n- I like Go (added 2020-02-02)\n  and I mean it\n- I use tabs\n\nSome words.\n"
	for name, c := range map[string]struct {
		before string
		args   args
		after  string
	}{
		"new fact at the end":        {plain, args{"text": "I use vim"}, plain + "\n- I use vim TODAY\n"},
		"new fact after others":      {"- a\n", args{"text": "b"}, "- a\n- b TODAY\n"},
		"no final newline":           {"- a", args{"text": "b"}, "- a\n- b TODAY\n"},
		"empty file":                 {"", args{"text": "b"}, "- b TODAY\n"},
		"CRLF":                       {hand, args{"text": "b"}, hand + "- b TODAY\r\n"},
		"correction in place":        {hand, args{"text": "I like Go best", "replaces": "I like Go"}, strings.Replace(hand, "I like Go", "I like Go best TODAY", 1)},
		"fact named in another case": {hand, args{"text": "", "replaces": "- i like  GO."}, strings.Replace(hand, "* I like Go\r\n", "", 1)},
		"fact over two lines": {
			plain, args{"text": "", "replaces": "I like Go (added 2020-02-02) and I mean it"}, "# Mine\n\n- I use tabs\n\nSome words.\n",
		},
		"correction equal to another fact": {"- a\n- b\n", args{"text": "B", "replaces": "a"}, "- b\n"},
		"duplicate fact":                   {"- a\n- b\n- A.\n", args{"text": "c", "replaces": "a"}, "- c TODAY\n- b\n"},
		"correction of case only":          {"- a\n", args{"text": "A", "replaces": "a"}, "- A TODAY\n"},
		"last fact":                        {"- a\n", args{"text": "", "replaces": "a"}, ""},
		"byte order mark":                  {"\ufeff- a\n- b\n", args{"text": "c", "replaces": "a"}, "\ufeff- c TODAY\n- b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.setText(t, c.before)
			d.write(t, c.args)
			want := today.ReplaceAllString(c.after, "TODAY")
			if got := d.text(t); got != want {
				t.Errorf("got file content\n%q, want\n%q", got, want)
			}
		})
	}
}

func TestBulletsAreFacts(t *testing.T) {
	d := newDesk(t)
	d.setText(t, "# Title\n\nwords\n- one\n* two\n+ three\n  - nested\n\t wrapped\n\n  no more of it\n- \n- --\n-no bullet\n1. number\n- dated (added 2024-05-06)\n")
	got := d.read(t, nil)
	if want := []string{"one", "two", "three", "nested wrapped", "dated"}; !slices.Equal(got.texts(), want) {
		t.Errorf("got %q, want %q", got.texts(), want)
	}
	if last := got.Facts[len(got.Facts)-1]; last.Added != "2024-05-06" {
		t.Errorf("got date %q", last.Added)
	}
}

func TestFactsAreFoundByTheirWords(t *testing.T) {
	d := newDesk(t)
	d.setText(t, "- I like the tests as tables\n- I like the GO language\n- I like the mornings\n- Ich trinke Tee in ÖSTERREICH\n")
	for name, c := range map[string]struct {
		args  args
		want  []string
		total int
	}{
		"everything in order":  {nil, []string{"I like the tests as tables", "I like the GO language", "I like the mornings", "Ich trinke Tee in ÖSTERREICH"}, 4},
		"limit":                {args{"limit": 1}, []string{"I like the tests as tables"}, 4},
		"word in another case": {args{"query": "österreich?"}, []string{"Ich trinke Tee in ÖSTERREICH"}, 1},
		"other form of a word": {args{"query": "table"}, []string{"I like the tests as tables"}, 1},
		"short word":           {args{"query": "go i"}, []string{"I like the GO language", "I like the mornings", "I like the tests as tables"}, 3},
		"rare words first":     {args{"query": "the test"}, []string{"I like the tests as tables", "I like the mornings", "I like the GO language"}, 3},
		"part of a word":       {args{"query": "able o"}, []string{}, 0},
		"query without words":  {args{"query": " ?", "limit": 2}, []string{"I like the tests as tables", "I like the GO language"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.read(t, c.args)
			if !slices.Equal(got.texts(), c.want) || got.Total != c.total {
				t.Errorf("got %q of %d, want %q of %d", got.texts(), got.Total, c.want, c.total)
			}
		})
	}
	d.Refused(t, "memory.read", args{"limit": -1}, "limit of memory.read")
}

func TestKnownFactIsNotAddedAgain(t *testing.T) {
	d := newDesk(t)
	d.setText(t, "- I prefer tabs (added 2024-05-06)\n")
	got := d.write(t, args{"text": "  i prefer   TABS. "})
	if got.Change != "none" || got.Text != "I prefer tabs" || got.Total != 1 || got.Diff != "" {
		t.Errorf("got %+v", got)
	}
	if after := d.read(t, nil); after.Total != 1 || after.Facts[0].Added != "2024-05-06" {
		t.Errorf("the file changed: %+v", after)
	}
}

func TestInvalidFactsAreRefused(t *testing.T) {
	d := newDesk(t)
	const kept = "- I prefer tabs\n- My shell is fish\n"
	for name, c := range map[string]struct {
		args    args
		wantErr []string
	}{
		"empty text":                        {args{"text": " "}, []string{"text of memory.write is empty"}},
		"no text":                           {args{"replaces": "I prefer tabs"}, []string{"needs the argument text"}},
		"two lines":                         {args{"text": "one\ntwo"}, []string{"one line"}},
		"Unicode line separator":            {args{"text": "one\u2028two"}, []string{"one line"}},
		"control character":                 {args{"text": "a\x1b[2Jb"}, []string{"invisible characters"}},
		"bidirectional override":            {args{"text": "a\u202eb"}, []string{"invisible characters"}},
		"zero-width character":              {args{"text": "a\u200bb"}, []string{"invisible characters"}},
		"no words":                          {args{"text": "- !!"}, []string{"empty of content"}},
		"too long":                          {args{"text": strings.Repeat("ü", 501)}, []string{"at most 500", "501"}},
		"unknown fact to replace":           {args{"text": "x", "replaces": "I prefer blanks"}, []string{`no fact "I prefer blanks"`, `"I prefer tabs"`}},
		"unknown fact without similar ones": {args{"text": "x", "replaces": "zzz"}, []string{`no fact "zzz"`, "memory.read"}},
	} {
		t.Run(name, func(t *testing.T) {
			d.setText(t, kept)
			d.Refused(t, "memory.write", c.args, c.wantErr...)
			if got := d.Ask(t, "memory.write", c.args, preview); !got.IsError {
				t.Errorf("got a preview: %q", got.Text)
			}
			if got := d.text(t); got != kept {
				t.Errorf("got file content %q", got)
			}
		})
	}
	d.setText(t, "")
	d.write(t, args{"text": strings.Repeat("ü", 500)})
	d.write(t, args{"text": "my family is \U0001F469\u200D\U0001F467"})
}

func TestMemorySizeIsLimited(t *testing.T) {
	d := newDesk(t)
	var facts strings.Builder
	for i := range 200 {
		fmt.Fprintf(&facts, "- fact %d\n", i)
	}
	d.setText(t, facts.String())
	if got := d.read(t, nil); len(got.Facts) != 50 || got.Total != 200 {
		t.Errorf("no limit: got %d of %d facts", len(got.Facts), got.Total)
	}
	if got := d.read(t, args{"limit": 1000}); len(got.Facts) != 200 {
		t.Errorf("limit 1000: got %d facts, want 200", len(got.Facts))
	}
	d.Refused(t, "memory.write", args{"text": "one more"}, "full", "200 facts")
	d.write(t, args{"text": "one else", "replaces": "fact 7"})
	d.write(t, args{"text": "", "replaces": "fact 8"})
	d.write(t, args{"text": "one more"})

	const bound = 64 << 10
	d.setText(t, "- a\n"+strings.Repeat("x", bound-4-10))
	d.Refused(t, "memory.write", args{"text": "one more"}, "full", "65536")
	d.write(t, args{"text": "", "replaces": "a"})
	d.setText(t, strings.Repeat("x", bound+1))
	d.Refused(t, "memory.read", nil, "65537 bytes", "by hand")
	d.Refused(t, "memory.write", args{"text": "x"}, "by hand")
}

func TestMemoryMustBeTextFile(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{"- a\x00\n", "- caf\xe9\n"} {
		d.setText(t, text)
		d.Refused(t, "memory.read", nil, "not UTF-8 text")
		d.Refused(t, "memory.write", args{"text": "x"}, "not UTF-8 text")
		if got := d.text(t); got != text {
			t.Errorf("got file content %q", got)
		}
	}
	if err := os.Remove(d.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		t.Fatal(err)
	}
	d.Refused(t, "memory.read", nil, "not a regular file")
	d.Refused(t, "memory.write", args{"text": "x"}, "not a regular file")
}

func TestMemoryMayBeALink(t *testing.T) {
	d := newDesk(t)
	real := filepath.Join(t.TempDir(), "mine.md")
	if err := os.WriteFile(real, []byte("- a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, d.path); err != nil {
		t.Skipf("cannot create links: %v", err)
	}
	d.write(t, args{"text": "b"})
	if data, err := os.ReadFile(real); err != nil || !strings.HasPrefix(string(data), "- a\n- b (added ") {
		t.Errorf("got target content %q: %v", data, err)
	}
}

func TestMemoryPreview(t *testing.T) {
	d := newDesk(t)
	call := args{"text": "I prefer tabs"}
	shown := workspacetest.Into[writeResult](t, d.Ask(t, "memory.write", call, preview).Data)
	if _, err := os.Stat(filepath.Dir(d.path)); !os.IsNotExist(err) {
		t.Errorf("the preview created files: %v", err)
	}
	if !strings.HasPrefix(shown.Diff, "--- /dev/null\n+++ b/memory.md\n") || !strings.Contains(shown.Diff, "\n+- I prefer tabs (added ") {
		t.Errorf("got preview %q", shown.Diff)
	}
	if want := map[string]string{"memory.md": ""}; !maps.Equal(shown.Hashes, want) {
		t.Errorf("got hashes %v, want %v", shown.Hashes, want)
	}
	done := d.Ask(t, "memory.write", call, map[string]any{builtin.MetaHashes: shown.Hashes})
	if got := workspacetest.Into[writeResult](t, done.Data); done.IsError || got.Diff != shown.Diff {
		t.Errorf("got change %q, preview %q", done.Text, shown.Diff)
	}
	call = args{"text": "I prefer blanks", "replaces": "I prefer tabs"}
	shown = workspacetest.Into[writeResult](t, d.Ask(t, "memory.write", call, preview).Data)
	if !strings.Contains(shown.Diff, "\n-- I prefer tabs (added ") || !strings.Contains(shown.Diff, "\n+- I prefer blanks (added ") {
		t.Errorf("got preview %q", shown.Diff)
	}
	for name, c := range map[string]struct {
		hashes  map[string]string
		text    string
		wantErr string
	}{
		"changed file":             {shown.Hashes, "- I prefer tabs\n- and else\n", "changed since it was approved; look at the new diff"},
		"missing fact":             {shown.Hashes, "", "changed since it was approved"},
		"approval of another file": {map[string]string{"x": ""}, "- I prefer tabs\n", "was not in the diff that was approved"},
		"approval of a new file":   {map[string]string{"memory.md": ""}, "- I prefer tabs\n", "changed since it was approved"},
		"empty approval":           {map[string]string{}, "- I prefer tabs\n", "was not in the diff that was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			d.setText(t, c.text)
			got := d.Ask(t, "memory.write", call, map[string]any{builtin.MetaHashes: c.hashes})
			if !got.IsError || !strings.Contains(got.Text, c.wantErr) {
				t.Errorf("got %q, want %q", got.Text, c.wantErr)
			}
			if got := d.text(t); got != c.text {
				t.Errorf("got file content %q", got)
			}
		})
	}
}

func TestConcurrentWritesAllCount(t *testing.T) {
	d := newDesk(t)
	others := []*bench{d.bench, newBench(t, workspace.Config{Memory: d.path})}
	var wg sync.WaitGroup
	const each = 12
	for n, b := range others {
		for i := range each {
			wg.Go(func() {
				got, err := b.Try(t.Context(), "memory.write", args{"text": fmt.Sprintf("fact %d of %d", i, n)}, nil)
				if err != nil || got.IsError {
					t.Errorf("%v %s", err, got.Text)
				}
			})
		}
	}
	wg.Wait()
	if got := d.read(t, nil); got.Total != each*len(others) {
		t.Errorf("got %d facts, want %d: %q", got.Total, each*len(others), got.texts())
	}
}

func TestReadDoesNotWaitForLock(t *testing.T) {
	d := newDesk(t)
	d.setText(t, "- a\n")
	lock := flock.New(d.path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	if got := d.read(t, nil); got.Total != 1 {
		t.Errorf("got %+v", got)
	}
	if got := d.Ask(t, "memory.write", args{"text": "b"}, preview); got.IsError {
		t.Errorf("got no preview: %s", got.Text)
	}
}

// In any file, an added fact is read back unchanged, and its removal restores the
// file.
func TestAddedFactIsReadBackFromAnyFile(t *testing.T) {
	d := newDesk(t)
	line := rapid.SampledFrom([]string{
		"", " ", "- a", "* b c", "  - nested", "   wrapped", "# Title", "words", "- ", "---", "- x (added 2024-01-01)", "\ufeff", "```", "- (added 2024-01-01)", "+ é",
	})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		before := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), end)
		text := rapid.SampledFrom([]string{"new", "a new one (added 2020-01-01)", "new: - a * b", "# new"}).Draw(t, "text")
		d.setText(t, before)
		known := d.read(t, nil)
		d.write(t, args{"text": text})
		got := d.read(t, nil)
		if want := append(known.texts(), text); !slices.Equal(got.texts(), want) {
			t.Fatalf("%q: got %q, want %q", before, got.texts(), want)
		}
		d.write(t, args{"text": "", "replaces": text})
		data, err := os.ReadFile(d.path)
		if err != nil || strings.TrimRight(string(data), "\r\n") != strings.TrimRight(before, "\r\n") {
			t.Fatalf("got file content %q, want %q: %v", data, before, err)
		}
	})
}
