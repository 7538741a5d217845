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
)

type recalled struct {
	Facts []struct{ Text, Added string }
	Total int
}

func (r recalled) texts() []string {
	texts := make([]string, len(r.Facts))
	for i, f := range r.Facts {
		texts[i] = f.Text
	}
	return texts
}

type remembered struct {
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

// holds puts text into the file behind the operators' back.
func (d *desk) holds(t tb, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}

var today = regexp.MustCompile(`\(added \d{4}-\d{2}-\d{2}\)`)

// text is what the file holds, with TODAY in the place of dates.
func (d *desk) text(t tb) string {
	t.Helper()
	data, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return today.ReplaceAllString(string(data), "TODAY")
}

func (d *desk) recalls(t tb, a args) recalled {
	t.Helper()
	return into[recalled](t, d.Must(t, "memory.read", a).Data)
}

func (d *desk) remembers(t tb, a args) remembered {
	t.Helper()
	return into[remembered](t, d.Must(t, "memory.write", a).Data)
}

func TestWithoutAMemoryThereAreNoToolsForIt(t *testing.T) {
	b := newBench(t, workspace.Config{})
	list, err := b.Client.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(list.Tools, func(tool mcp.Tool) bool { return strings.HasPrefix(tool.Name, "memory.") }) {
		t.Errorf("they are offered: %v", list.Tools)
	}
}

func TestWhatIsRememberedIsThereTheNextTime(t *testing.T) {
	d := newDesk(t)
	if got := d.recalls(t, nil); len(got.Facts) != 0 || got.Total != 0 {
		t.Errorf("before anything was remembered: %+v", got)
	}
	before := time.Now().Format(time.DateOnly)
	got := d.remembers(t, args{"text": "I prefer table tests."})
	after := time.Now().Format(time.DateOnly)
	if got.Change != "added" || got.Text != "I prefer table tests." || got.Total != 1 {
		t.Errorf("it says %+v", got)
	}
	d.remembers(t, args{"text": "My editor is Helix"})
	other := newBench(t, workspace.Config{Memory: d.path})
	facts := into[recalled](t, other.Must(t, "memory.read", nil).Data)
	if want := []string{"I prefer table tests.", "My editor is Helix"}; !slices.Equal(facts.texts(), want) || facts.Total != 2 {
		t.Fatalf("read %+v, want %q", facts, want)
	}
	if day := facts.Facts[0].Added; day < before || day > after {
		t.Errorf("added on %q, want a day from %s to %s", day, before, after)
	}
	if info, err := os.Stat(d.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is open to others: %v %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(d.path)); err != nil || len(entries) != 2 {
		t.Errorf("besides the file and its lock there is something else: %v %v", entries, err)
	}
	d.Same(t, map[string]string{}) // nothing of it lies in the workspace
}

func TestOnlyTheFactItselfChangesInTheFile(t *testing.T) {
	const hand = "# Mine\r\n\r\nSome words.\r\n* I like Go\r\n\r\n## Work\r\n- I use tabs\r\n"
	const plain = "# Mine\n\n- I like Go (added 2020-02-02)\n  and I mean it\n- I use tabs\n\nSome words.\n"
	for name, c := range map[string]struct {
		before string
		args   args
		after  string
	}{
		"a new one comes last":            {plain, args{"text": "I use vim"}, plain + "\n- I use vim TODAY\n"},
		"a new one follows the others":    {"- a\n", args{"text": "b"}, "- a\n- b TODAY\n"},
		"a last line without its end":     {"- a", args{"text": "b"}, "- a\n- b TODAY\n"},
		"a file that is empty":            {"", args{"text": "b"}, "- b TODAY\n"},
		"line ends of another system":     {hand, args{"text": "b"}, hand + "- b TODAY\r\n"},
		"a correction stays in its place": {hand, args{"text": "I like Go best", "replaces": "I like Go"}, strings.Replace(hand, "I like Go", "I like Go best TODAY", 1)},
		"a fact is named in another case": {hand, args{"text": "", "replaces": "- i like  GO."}, strings.Replace(hand, "* I like Go\r\n", "", 1)},
		"a fact over two lines goes whole": {
			plain, args{"text": "", "replaces": "I like Go (added 2020-02-02) and I mean it"}, "# Mine\n\n- I use tabs\n\nSome words.\n",
		},
		"a correction that another fact says": {"- a\n- b\n", args{"text": "B", "replaces": "a"}, "- b\n"},
		"a fact that stands there twice":      {"- a\n- b\n- A.\n", args{"text": "c", "replaces": "a"}, "- c TODAY\n- b\n"},
		"a correction of its case alone":      {"- a\n", args{"text": "A", "replaces": "a"}, "- A TODAY\n"},
		"the last fact":                       {"- a\n", args{"text": "", "replaces": "a"}, ""},
		"a fact after a mark of byte order":   {"\ufeff- a\n- b\n", args{"text": "c", "replaces": "a"}, "\ufeff- c TODAY\n- b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.holds(t, c.before)
			d.remembers(t, c.args)
			want := today.ReplaceAllString(c.after, "TODAY")
			if got := d.text(t); got != want {
				t.Errorf("the file holds\n%q, want\n%q", got, want)
			}
		})
	}
}

func TestWhatCountsAsAFact(t *testing.T) {
	d := newDesk(t)
	d.holds(t, "# Title\n\nwords\n- one\n* two\n+ three\n  - nested\n\t wrapped\n\n  no more of it\n- \n- --\n-no bullet\n1. number\n- dated (added 2024-05-06)\n")
	got := d.recalls(t, nil)
	if want := []string{"one", "two", "three", "nested wrapped", "dated"}; !slices.Equal(got.texts(), want) {
		t.Errorf("read %q, want %q", got.texts(), want)
	}
	if last := got.Facts[len(got.Facts)-1]; last.Added != "2024-05-06" {
		t.Errorf("its date is %q", last.Added)
	}
}

func TestFactsAreFoundByTheirWords(t *testing.T) {
	d := newDesk(t)
	d.holds(t, "- I like the tests as tables\n- I like the GO language\n- I like the mornings\n- Ich trinke Tee in ÖSTERREICH\n")
	for name, c := range map[string]struct {
		args  args
		want  []string
		total int
	}{
		"everything in its order":       {nil, []string{"I like the tests as tables", "I like the GO language", "I like the mornings", "Ich trinke Tee in ÖSTERREICH"}, 4},
		"no more than asked for":        {args{"limit": 1}, []string{"I like the tests as tables"}, 4},
		"a word in any case":            {args{"query": "österreich?"}, []string{"Ich trinke Tee in ÖSTERREICH"}, 1},
		"a form of a word":              {args{"query": "table"}, []string{"I like the tests as tables"}, 1},
		"a short word as it is":         {args{"query": "go i"}, []string{"I like the GO language", "I like the mornings", "I like the tests as tables"}, 3},
		"the rare word before the many": {args{"query": "the test"}, []string{"I like the tests as tables", "I like the mornings", "I like the GO language"}, 3},
		"a part of a word finds none":   {args{"query": "able o"}, []string{}, 0},
		"a query without words":         {args{"query": " ?", "limit": 2}, []string{"I like the tests as tables", "I like the GO language"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.recalls(t, c.args)
			if !slices.Equal(got.texts(), c.want) || got.Total != c.total {
				t.Errorf("found %q of %d, want %q of %d", got.texts(), got.Total, c.want, c.total)
			}
		})
	}
	d.Refused(t, "memory.read", args{"limit": -1}, "limit of memory.read")
}

func TestWhatIsKnownIsNotRememberedTwice(t *testing.T) {
	d := newDesk(t)
	d.holds(t, "- I prefer tabs (added 2024-05-06)\n")
	got := d.remembers(t, args{"text": "  i prefer   TABS. "})
	if got.Change != "none" || got.Text != "I prefer tabs" || got.Total != 1 || got.Diff != "" {
		t.Errorf("it says %+v", got)
	}
	if after := d.recalls(t, nil); after.Total != 1 || after.Facts[0].Added != "2024-05-06" {
		t.Errorf("the file changed: %+v", after)
	}
}

func TestWhatIsNotRemembered(t *testing.T) {
	d := newDesk(t)
	const kept = "- I prefer tabs\n- My shell is fish\n"
	for name, c := range map[string]struct {
		args args
		says []string
	}{
		"nothing":                       {args{"text": " "}, []string{"text of memory.write is empty"}},
		"no text":                       {args{"replaces": "I prefer tabs"}, []string{"needs the argument text"}},
		"two lines":                     {args{"text": "one\ntwo"}, []string{"one line"}},
		"a line that only some break":   {args{"text": "one\u2028two"}, []string{"one line"}},
		"what steers a terminal":        {args{"text": "a\x1b[2Jb"}, []string{"cannot be seen"}},
		"what turns the text around":    {args{"text": "a\u202eb"}, []string{"cannot be seen"}},
		"what hides":                    {args{"text": "a\u200bb"}, []string{"cannot be seen"}},
		"no words":                      {args{"text": "- !!"}, []string{"says nothing"}},
		"a story":                       {args{"text": strings.Repeat("ü", 501)}, []string{"at most 500", "501"}},
		"in place of what is not there": {args{"text": "x", "replaces": "I prefer blanks"}, []string{`no fact "I prefer blanks"`, `"I prefer tabs"`}},
		"in place of nothing alike":     {args{"text": "x", "replaces": "zzz"}, []string{`no fact "zzz"`, "memory.read"}},
	} {
		t.Run(name, func(t *testing.T) {
			d.holds(t, kept)
			d.Refused(t, "memory.write", c.args, c.says...)
			if got := d.Ask(t, "memory.write", c.args, preview); !got.IsError {
				t.Errorf("a gate would have shown it: %q", got.Text)
			}
			if got := d.text(t); got != kept {
				t.Errorf("the file holds %q now", got)
			}
		})
	}
	d.holds(t, "")
	d.remembers(t, args{"text": strings.Repeat("ü", 500)})
	d.remembers(t, args{"text": "my family is \U0001F469\u200D\U0001F467"})
}

func TestTheMemoryHasAnEnd(t *testing.T) {
	d := newDesk(t)
	var facts strings.Builder
	for i := range 200 {
		fmt.Fprintf(&facts, "- fact %d\n", i)
	}
	d.holds(t, facts.String())
	if got := d.recalls(t, nil); len(got.Facts) != 50 || got.Total != 200 {
		t.Errorf("%d of %d facts without a limit", len(got.Facts), got.Total)
	}
	if got := d.recalls(t, args{"limit": 1000}); len(got.Facts) != 200 {
		t.Errorf("%d facts of 1000 asked for", len(got.Facts))
	}
	d.Refused(t, "memory.write", args{"text": "one more"}, "full", "200 facts")
	d.remembers(t, args{"text": "one else", "replaces": "fact 7"})
	d.remembers(t, args{"text": "", "replaces": "fact 8"})
	d.remembers(t, args{"text": "one more"})

	const bound = 64 << 10
	d.holds(t, "- a\n"+strings.Repeat("x", bound-4-10))
	d.Refused(t, "memory.write", args{"text": "one more"}, "full", "65536")
	d.remembers(t, args{"text": "", "replaces": "a"})
	d.holds(t, strings.Repeat("x", bound+1))
	d.Refused(t, "memory.read", nil, "65537 bytes", "by hand")
	d.Refused(t, "memory.write", args{"text": "x"}, "by hand")
}

func TestAMemoryThatIsNoText(t *testing.T) {
	d := newDesk(t)
	for _, text := range []string{"- a\x00\n", "- caf\xe9\n"} {
		d.holds(t, text)
		d.Refused(t, "memory.read", nil, "not UTF-8 text")
		d.Refused(t, "memory.write", args{"text": "x"}, "not UTF-8 text")
		if got := d.text(t); got != text {
			t.Errorf("the file holds %q now", got)
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

func TestAMemoryMayBeALink(t *testing.T) {
	d := newDesk(t)
	real := filepath.Join(t.TempDir(), "mine.md")
	if err := os.WriteFile(real, []byte("- a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, d.path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	d.remembers(t, args{"text": "b"})
	if data, err := os.ReadFile(real); err != nil || !strings.HasPrefix(string(data), "- a\n- b (added ") {
		t.Errorf("the file it leads to holds %q: %v", data, err)
	}
}

func TestAChangeOfTheMemoryIsShownBeforehand(t *testing.T) {
	d := newDesk(t)
	call := args{"text": "I prefer tabs"}
	shown := into[remembered](t, d.Ask(t, "memory.write", call, preview).Data)
	if _, err := os.Stat(filepath.Dir(d.path)); !os.IsNotExist(err) {
		t.Errorf("showing it left something behind: %v", err)
	}
	if !strings.HasPrefix(shown.Diff, "--- /dev/null\n+++ b/memory.md\n") || !strings.Contains(shown.Diff, "\n+- I prefer tabs (added ") {
		t.Errorf("shown is %q", shown.Diff)
	}
	if want := map[string]string{"memory.md": ""}; !maps.Equal(shown.Hashes, want) {
		t.Errorf("made against %v, want %v", shown.Hashes, want)
	}
	done := d.Ask(t, "memory.write", call, map[string]any{builtin.MetaHashes: shown.Hashes})
	if got := into[remembered](t, done.Data); done.IsError || got.Diff != shown.Diff {
		t.Errorf("done is %q, shown was %q", done.Text, shown.Diff)
	}
	call = args{"text": "I prefer blanks", "replaces": "I prefer tabs"}
	shown = into[remembered](t, d.Ask(t, "memory.write", call, preview).Data)
	if !strings.Contains(shown.Diff, "\n-- I prefer tabs (added ") || !strings.Contains(shown.Diff, "\n+- I prefer blanks (added ") {
		t.Errorf("shown is %q", shown.Diff)
	}
	for name, c := range map[string]struct {
		hashes map[string]string
		text   string
		says   string
	}{
		"the file changed":         {shown.Hashes, "- I prefer tabs\n- and else\n", "changed since it was approved; look at the new diff"},
		"the fact is gone":         {shown.Hashes, "", "changed since it was approved"},
		"another file was shown":   {map[string]string{"x": ""}, "- I prefer tabs\n", "was not in the diff that was approved"},
		"nothing was to be there":  {map[string]string{"memory.md": ""}, "- I prefer tabs\n", "changed since it was approved"},
		"an approval of no change": {map[string]string{}, "- I prefer tabs\n", "was not in the diff that was approved"},
	} {
		t.Run(name, func(t *testing.T) {
			d.holds(t, c.text)
			got := d.Ask(t, "memory.write", call, map[string]any{builtin.MetaHashes: c.hashes})
			if !got.IsError || !strings.Contains(got.Text, c.says) {
				t.Errorf("says %q, want %q", got.Text, c.says)
			}
			if got := d.text(t); got != c.text {
				t.Errorf("the file holds %q now", got)
			}
		})
	}
}

func TestFactsOfSeveralAtOnceAllCount(t *testing.T) {
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
	if got := d.recalls(t, nil); got.Total != each*len(others) {
		t.Errorf("%d facts, want %d: %q", got.Total, each*len(others), got.texts())
	}
}

func TestReadingTheMemoryWaitsForNobody(t *testing.T) {
	d := newDesk(t)
	d.holds(t, "- a\n")
	lock := flock.New(d.path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	if got := d.recalls(t, nil); got.Total != 1 {
		t.Errorf("read %+v", got)
	}
	if got := d.Ask(t, "memory.write", args{"text": "b"}, preview); got.IsError {
		t.Errorf("its change is not shown: %s", got.Text)
	}
}

// Whatever the file holds, a fact that is added is read back as it was given,
// and the file is as before once it is removed.
func TestNoFileIsTooStrangeForAFact(t *testing.T) {
	d := newDesk(t)
	line := rapid.SampledFrom([]string{
		"", " ", "- a", "* b c", "  - nested", "   wrapped", "# Title", "words", "- ", "---", "- x (added 2024-01-01)", "\ufeff", "```", "- (added 2024-01-01)", "+ é",
	})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		before := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), end)
		text := rapid.SampledFrom([]string{"new", "a new one (added 2020-01-01)", "new: - a * b", "# new"}).Draw(t, "text")
		d.holds(t, before)
		known := d.recalls(t, nil)
		d.remembers(t, args{"text": text})
		got := d.recalls(t, nil)
		if want := append(known.texts(), text); !slices.Equal(got.texts(), want) {
			t.Fatalf("%q holds %q, want %q", before, got.texts(), want)
		}
		d.remembers(t, args{"text": "", "replaces": text})
		data, err := os.ReadFile(d.path)
		if err != nil || strings.TrimRight(string(data), "\r\n") != strings.TrimRight(before, "\r\n") {
			t.Fatalf("%q became %q: %v", before, data, err)
		}
	})
}
