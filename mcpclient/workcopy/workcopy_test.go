package workcopy_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/mcpclient/workcopy"
	"replan/mcpclient/workspace"
)

// bench is a workspace with its copy.
type bench struct {
	*workcopy.Copy
	folder, copies, backups string
	target                  *workspace.Operators
}

// newBench opens a copy of a folder with these files.
func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	above := t.TempDir()
	b := &bench{folder: filepath.Join(above, "work"), copies: filepath.Join(above, "copies"), backups: filepath.Join(above, "runs")}
	for name, text := range files {
		write(t, filepath.Join(b.folder, name), text)
	}
	b.open(t)
	return b
}

// open opens the copy as a new session does.
func (b *bench) open(t *testing.T) {
	t.Helper()
	c, err := workcopy.Open(t.Context(), workcopy.Config{Folder: b.folder, Copies: b.copies})
	if err != nil {
		t.Fatal(err)
	}
	b.Copy = c
	own, err := workspace.New(workspace.Config{Dir: c.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if b.target, err = workspace.New(workspace.Config{Dir: b.folder, Backups: b.backups}); err != nil {
		t.Fatal(err)
	}
	c.Use(own, b.target)
	t.Cleanup(func() {
		if err := errors.Join(own.Close(), b.target.Close(), c.Close()); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
}

func write(t *testing.T, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, at string) string {
	t.Helper()
	text, err := os.ReadFile(at)
	if errors.Is(err, os.ErrNotExist) {
		return "(missing)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run starts a run and changes files of the copy.
func (b *bench) run(t *testing.T, id string, files map[string]string) {
	t.Helper()
	if err := b.Refresh(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := b.Begin(id); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if at := filepath.Join(b.Dir, name); text == "(missing)" {
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, at, text)
		}
	}
}

func (b *bench) changes(t *testing.T) workcopy.Offer {
	t.Helper()
	o, err := b.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (b *bench) settle(t *testing.T, choice workcopy.Choice) workcopy.Settled {
	t.Helper()
	s, err := b.Settle(t.Context(), choice)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// names returns the changed paths of an offer.
func names(o workcopy.Offer) (out []string) {
	for _, f := range o.Files {
		out = append(out, f.Action+" "+f.Path)
	}
	return out
}

var three = map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", "c.txt": "c\n"}

func TestChangesStayInTheCopyUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "sub/b.txt": "(missing)", "new/d.txt": "d\n"})
	o := b.changes(t)
	want := []string{"changed a.txt", "created new", "created new/d.txt", "removed sub/b.txt"}
	if !slices.Equal(names(o), want) || !strings.Contains(o.Files[0].Diff, "-a\n+A\n") || !slices.Equal(o.Runs, []string{"r-1"}) {
		t.Fatalf("got %q of %q\n%s", names(o), o.Runs, o.Files[0].Diff)
	}
	if got := read(t, filepath.Join(b.folder, "a.txt")); got != "a\n" {
		t.Fatalf("before it is taken: %q", got)
	}
	s := b.settle(t, workcopy.Choice{Offer: o.ID, All: true})
	if len(s.Taken) != 4 || len(s.Dropped) > 0 {
		t.Errorf("got %+v", s)
	}
	for name, want := range map[string]string{"a.txt": "A\n", "sub/b.txt": "(missing)", "new/d.txt": "d\n", "c.txt": "c\n"} {
		if got := read(t, filepath.Join(b.folder, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if o := b.changes(t); !o.Empty() {
		t.Errorf("after it is taken: %q", names(o))
	}
	if _, err := b.target.Undo(t.Context(), false, "r-1"); err != nil {
		t.Fatal(err)
	}
	for name, want := range three {
		if got := read(t, filepath.Join(b.folder, name)); got != want {
			t.Errorf("after the undo, %s: got %q, want %q", name, got, want)
		}
	}
}

func TestDroppedChangesLeaveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "sub/b.txt": "(missing)", "new/d.txt": "d\n"})
	if s := b.settle(t, workcopy.Choice{}); len(s.Taken) > 0 || len(s.Dropped) != 4 {
		t.Errorf("got %+v", s)
	}
	for _, dir := range []string{b.folder, b.Dir} {
		for name, want := range map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n", "c.txt": "c\n", "new/d.txt": "(missing)"} {
			if got := read(t, filepath.Join(dir, name)); got != want {
				t.Errorf("%s in %s: got %q, want %q", name, dir, got, want)
			}
		}
	}
}

func TestChangesAreTakenByFileAndByHunk(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("same\n", 20)
	b := newBench(t, map[string]string{"a.txt": "first\n" + long + "last\n", "b.txt": "b\n"})
	b.run(t, "r-1", map[string]string{"a.txt": "FIRST\n" + long + "LAST\n", "b.txt": "B\n", "c.txt": "c\n"})
	o := b.changes(t)
	if o.Files[0].Hunks != 2 {
		t.Fatalf("got %d hunks", o.Files[0].Hunks)
	}
	s := b.settle(t, workcopy.Choice{Offer: o.ID, Files: map[string]workcopy.FileChoice{"a.txt": {Hunks: []int{1}}, "c.txt": {All: true}}})
	if !slices.Equal(s.Dropped, []string{"b.txt"}) {
		t.Errorf("dropped %q", s.Dropped)
	}
	for name, want := range map[string]string{"a.txt": "first\n" + long + "LAST\n", "b.txt": "b\n", "c.txt": "c\n"} {
		if got := read(t, filepath.Join(b.folder, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if o := b.changes(t); !o.Empty() {
		t.Errorf("left: %q", names(o))
	}
}

func TestWhatIsNotTakenCanWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "sub/b.txt": "B\n", "c.txt": "C\n"})
	write(t, filepath.Join(b.folder, "c.txt"), "mine\n")
	s := b.settle(t, workcopy.Choice{Files: map[string]workcopy.FileChoice{"a.txt": {All: true}}, Keep: true})
	if len(s.Taken) != 1 || len(s.Dropped) > 0 || !slices.Equal(s.Notes, []string{"2 changed files wait in the copy"}) {
		t.Errorf("got %+v", s)
	}
	if err := b.Refresh(t.Context(), "r-1"); err != nil { // the run continues
		t.Error(err)
	}
	write(t, filepath.Join(b.Dir, "a.txt"), "AA\n")
	if o := b.changes(t); !slices.Equal(names(o), []string{"changed a.txt", "changed c.txt", "changed sub/b.txt"}) || o.Files[0].Conflict || !o.Files[1].Conflict {
		t.Errorf("got %q", names(o))
	}
	b.settle(t, workcopy.Choice{Files: map[string]workcopy.FileChoice{"a.txt": {All: true}, "sub/b.txt": {All: true}}})
	for name, want := range map[string]string{"a.txt": "AA\n", "sub/b.txt": "B\n", "c.txt": "mine\n"} {
		if got := read(t, filepath.Join(b.folder, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if b.Waits() {
		t.Error("changes wait")
	}
}

// As after a kill: the files are in the folder, and what is known of the copy is from
// before.
func TestChangesThatWereTakenBeforeAKillAreNotTakenTwice(t *testing.T) {
	t.Parallel()
	for rule, choice := range map[string]workcopy.Choice{
		"all":   {All: true},
		"a.txt": {Files: map[string]workcopy.FileChoice{"a.txt": {All: true}}, Keep: true},
	} {
		t.Run(rule, func(t *testing.T) {
			b := newBench(t, three)
			b.run(t, "r-1", map[string]string{"a.txt": "A\n", "c.txt": "C\n"})
			place := filepath.Dir(b.Dir)
			for _, name := range []string{"state.json", "base"} {
				at := filepath.Join(place, name)
				if err := errors.Join(os.Rename(at, at+".before"), os.MkdirAll(filepath.Join(at, "full"), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.Settle(t.Context(), choice); err == nil {
				t.Error("the state was stored")
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"state.json", "base"} {
				at := filepath.Join(place, name)
				if err := errors.Join(os.RemoveAll(at), os.Rename(at+".before", at)); err != nil {
					t.Fatal(err)
				}
			}
			b.open(t)
			var left []string
			if choice.Keep {
				left = []string{"changed c.txt"}
			}
			if o := b.changes(t); !slices.Equal(names(o), left) {
				t.Errorf("offered %q, want %q", names(o), left)
			}
			b.settle(t, workcopy.Choice{All: true})
			for name, want := range map[string]string{"a.txt": "A\n", "c.txt": "C\n"} {
				if got := read(t, filepath.Join(b.folder, name)); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
			if _, err := b.target.Undo(t.Context(), false, "r-1"); err != nil || read(t, filepath.Join(b.folder, "a.txt"))+read(t, filepath.Join(b.folder, "c.txt")) != "a\nc\n" {
				t.Errorf("after an undo: %q, %v", read(t, filepath.Join(b.folder, "a.txt")), err)
			}
		})
	}
}

func TestNamesThatCannotBeTakenDropNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	if _, err := b.Settle(t.Context(), workcopy.Choice{Files: map[string]workcopy.FileChoice{"a.text": {All: true}}}); err == nil || !strings.Contains(err.Error(), "no run changed a.text") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(b.folder, "a.txt"), "mine\n")
	if _, err := b.Settle(t.Context(), workcopy.Choice{Files: map[string]workcopy.FileChoice{"a.txt": {All: true}}}); err == nil || !strings.Contains(err.Error(), "a.txt changed in this folder too") {
		t.Errorf("got %v", err)
	}
	if got := names(b.changes(t)); !slices.Equal(got, []string{"changed a.txt"}) {
		t.Errorf("got %q", got)
	}
}

func TestRunBeginsOnlyOnceItIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	place := filepath.Dir(b.Dir)
	if err := os.Rename(place, place+"-away"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if b.Begin("r-1") == nil {
			t.Error("the run began")
		}
	}
}

func TestNewExecutablesAreShownAsSuch(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"script": "true\n"})
	if err := os.Chmod(filepath.Join(b.Dir, "script"), 0o755); err != nil {
		t.Fatal(err)
	}
	if o := b.changes(t); len(o.Files) != 1 || !strings.HasPrefix(o.Files[0].Diff, "mode of script: 0755\n") {
		t.Errorf("got %+v", o.Files)
	}
}

func TestChangesAreNotTakenUnseen(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	o := b.changes(t)
	write(t, filepath.Join(b.Dir, "c.txt"), "C\n")
	if _, err := b.Settle(t.Context(), workcopy.Choice{Offer: o.ID, All: true}); !errors.Is(err, workcopy.ErrOutdated) {
		t.Errorf("got %v", err)
	}
	if got := read(t, filepath.Join(b.folder, "a.txt")); got != "a\n" {
		t.Errorf("got %q", got)
	}
}

// A change is found by its content, whatever the program did to the times.
func TestChangeOfTheSameSizeAndTimeIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", nil)
	at := filepath.Join(b.Dir, "a.txt")
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at, "z\n")
	if err := os.Chtimes(at, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := names(b.changes(t)); !slices.Equal(got, []string{"changed a.txt"}) {
		t.Errorf("got %q", got)
	}
}

func TestCopyFollowsTheFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	write(t, filepath.Join(b.folder, "c.txt"), "mine\n")
	write(t, filepath.Join(b.folder, "e/f.txt"), "f\n")
	if err := os.RemoveAll(filepath.Join(b.folder, "sub")); err != nil {
		t.Fatal(err)
	}
	b.run(t, "r-2", nil)
	for name, want := range map[string]string{"a.txt": "A\n", "c.txt": "mine\n", "e/f.txt": "f\n", "sub/b.txt": "(missing)"} {
		if got := read(t, filepath.Join(b.Dir, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if o := b.changes(t); !slices.Equal(names(o), []string{"changed a.txt"}) || !slices.Equal(o.Runs, []string{"r-1", "r-2"}) {
		t.Errorf("got %q of %q", names(o), o.Runs)
	}
}

func TestFileThatChangedInBothIsNotTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"a.txt": "A\n", "c.txt": "C\n"})
	write(t, filepath.Join(b.folder, "a.txt"), "mine\n")
	o := b.changes(t)
	if !o.Files[0].Conflict || o.Files[1].Conflict {
		t.Fatalf("got %+v", o.Files)
	}
	s := b.settle(t, workcopy.Choice{All: true})
	if len(s.Dropped) > 0 || len(s.Notes) != 1 || read(t, filepath.Join(b.folder, "a.txt")) != "mine\n" || read(t, filepath.Join(b.folder, "c.txt")) != "C\n" {
		t.Errorf("got %+v", s)
	}
	if read(t, filepath.Join(b.Dir, "a.txt")) != "A\n" || !b.Waits() {
		t.Error("what the run made of the file is gone")
	}
	b.settle(t, workcopy.Choice{})
	if read(t, filepath.Join(b.Dir, "a.txt")) != "mine\n" || b.Waits() {
		t.Error("the drop left it")
	}
}

func TestLinksAndLargeFilesAreNamedAndStay(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"large": strings.Repeat("x", 5<<20), "a.txt": "A\n"})
	if err := os.Symlink("/etc", filepath.Join(b.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	o := b.changes(t)
	if all := strings.Join(o.Notes, "\n"); !strings.Contains(all, "large cannot be taken") || !strings.Contains(all, "link cannot be taken") {
		t.Errorf("got %q", all)
	}
	if s := b.settle(t, workcopy.Choice{Offer: o.ID, All: true}); len(s.Taken) != 1 || len(s.Notes) == 0 {
		t.Errorf("got %+v", s)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "large")); err != nil {
		t.Error(err)
	}
	b.settle(t, workcopy.Choice{})
	if _, err := os.Lstat(filepath.Join(b.Dir, "link")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the drop: %v", err)
	}
}

// gitIn runs git in a folder.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository opens a copy of a repository with one commit.
func newRepository(t *testing.T, inside string) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	above := t.TempDir()
	top := filepath.Join(above, "top")
	b := &bench{folder: filepath.Join(top, inside), copies: filepath.Join(above, "copies"), backups: filepath.Join(above, "runs")}
	write(t, filepath.Join(b.folder, "a.txt"), "a\n")
	write(t, filepath.Join(b.folder, ".gitignore"), "*.log\n")
	write(t, filepath.Join(top, "lib/lib.txt"), "lib\n")
	gitIn(t, top, "init", "-q", "-b", "main")
	gitIn(t, top, "add", ".")
	gitIn(t, top, "commit", "-q", "-m", "One")
	b.open(t)
	return b
}

func TestFolderInARepositoryIsCopiedWithAllOfIt(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "sub")
	if got := read(t, filepath.Join(b.Dir, "../lib/lib.txt")); got != "lib\n" {
		t.Errorf("beside the folder: %q", got)
	}
	b.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	if got := names(b.changes(t)); !slices.Equal(got, []string{"changed a.txt"}) {
		t.Errorf("got %q", got)
	}
	if got := gitIn(t, b.Dir, "status", "--porcelain"); got != "M sub/a.txt" && got != "M a.txt" {
		t.Errorf("got status %q", got)
	}
}

func TestLinkedWorktreeIsCopiedWithItsBranch(t *testing.T) {
	t.Parallel()
	b := newRepository(t, "")
	linked := &bench{folder: filepath.Join(filepath.Dir(b.folder), "linked"), copies: b.copies, backups: b.backups}
	gitIn(t, b.folder, "worktree", "add", "-q", "-b", "other", linked.folder)
	linked.open(t)
	linked.run(t, "r-1", map[string]string{"a.txt": "A\n"})
	gitIn(t, linked.Dir, "commit", "-q", "-am", "Two")
	linked.settle(t, workcopy.Choice{All: true})
	if got := gitIn(t, linked.folder, "log", "--format=%s", "other"); got != "Two\nOne" {
		t.Errorf("got commits %q", got)
	}
	if got := gitIn(t, b.folder, "log", "--format=%s", "main") + gitIn(t, b.folder, "status", "--porcelain") + gitIn(t, linked.folder, "status", "--porcelain"); got != "One" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkRefresh(b *testing.B) {
	above := b.TempDir()
	folder := filepath.Join(above, "work")
	for i := range 2000 {
		at := filepath.Join(folder, strconv.Itoa(i%50), strconv.Itoa(i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("x"), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	c, err := workcopy.Open(b.Context(), workcopy.Config{Folder: folder, Copies: filepath.Join(above, "copies")})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only read
	for b.Loop() {
		if err := c.Refresh(b.Context(), ""); err != nil {
			b.Fatal(err)
		}
	}
}

// Servers leave sockets, and programs pipes, in the folders that they work in.
func TestWhatIsNoFileIsDropped(t *testing.T) {
	t.Parallel()
	b := newBench(t, three)
	b.run(t, "r-1", map[string]string{"new/d.txt": "d\n"})
	for _, name := range []string{"s", "new/s"} {
		l, err := net.Listen("unix", filepath.Join(b.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(b.folder, "s"), "file\n")
	b.settle(t, workcopy.Choice{})
	if got := read(t, filepath.Join(b.Dir, "s")); got != "file\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new folder is there: %v", err)
	}
}
