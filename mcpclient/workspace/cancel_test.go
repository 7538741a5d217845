package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofrs/flock"
	"go.uber.org/goleak"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

var errStopped = errors.New("the user stopped it")

// stopping is a context that is canceled when it is read for the given
// time, so that a call is canceled at the same place in every test.
type stopping struct {
	context.Context
	cancel context.CancelCauseFunc
	at     int64 // 0 is never
	looks  atomic.Int64
}

func stopAt(t *testing.T, look int64) *stopping {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return &stopping{Context: ctx, cancel: cancel, at: look}
}

func (s *stopping) look() {
	if s.looks.Add(1) == s.at {
		s.cancel(errStopped)
	}
}

func (s *stopping) Err() error            { s.look(); return s.Context.Err() }
func (s *stopping) Done() <-chan struct{} { s.look(); return s.Context.Done() }

// kept is what a call that is stopped must leave as it is: files, repository, remote
// and memory. Objects that no commit holds do not count, nor do lock files.
func kept(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := state(t, filepath.Dir(dir))
	maps.DeleteFunc(all, func(name, what string) bool {
		return what[0] == 'd' || strings.Contains(name, "/objects/") || strings.HasSuffix(name, ".lock")
	})
	return all
}

// otherPrograms do what they do by a program, which may have done it when it is
// stopped.
var otherPrograms = []string{"proc.run", "test.run", "test.lint", "vcs.branch", "vcs.push"}

func TestStoppedCallsOfEveryOperatorChangeNothing(t *testing.T) {
	all := tools(t)
	var b *bench
	var before map[string]string
	var invoke func(context.Context, string, args) error
	var started goleak.Option
	afresh := func() {
		b = sample(t)
		before, invoke, started = kept(t, b.Dir), workspace.Caller(b.Ops), goleak.IgnoreCurrent()
	}
	afresh()
	for name, tool := range all {
		calls, ok := sampleCalls[name]
		if !ok {
			t.Errorf("%s has no call in sampleCalls", name)
		}
		byOther := slices.Contains(otherPrograms, name)
		if *tool.Annotations.ReadOnlyHint {
			calls = calls[:1]
		}
		for _, call := range calls {
			for look := int64(0); ; look += 1 + look/4*4 {
				ctx := stopAt(t, look)
				if look == 0 {
					ctx.cancel(errStopped)
				}
				err := invoke(ctx, name, call)
				if leak := goleak.Find(started, workspacetest.LexerClock); leak != nil {
					t.Fatalf("%s %v stopped at look %d: %v", name, call, look, leak)
				}
				same, late := maps.Equal(before, kept(t, b.Dir)), ctx.looks.Load() < look
				switch {
				case late && err == nil: // it ended before it was stopped
				case err == nil && look > 0 && !*tool.Annotations.ReadOnlyHint: // it had begun to change something
				case !errors.Is(err, errStopped):
					t.Fatalf("%s %v stopped at look %d: got %v", name, call, look, err)
				case !same && (look < 2 || !byOther):
					t.Fatalf("%s %v stopped at look %d changed something", name, call, look)
				}
				if !same {
					afresh()
				}
				if late || look > 0 && slices.Contains(slowTools, name) { // nor does a slow one have to end
					break
				}
			}
		}
	}
}

// overMany are calls whose work grows with the files of the workspace. The others read
// or change as many files as they name, or have a program do their work.
var overMany = map[string]args{
	"fs.read":         {"path": "no/such.txt"}, // looks for files of a similar name
	"fs.stat":         {"path": "no/such.txt"},
	"fs.patch":        {"path": "no/such.txt", "old": "a", "new": "b"},
	"fs.list":         {"path": "many"},
	"fs.search":       {"query": "no such text"},
	"fs.move":         {"from": "many", "to": "more"},
	"fs.remove":       {"path": "many", "recursive": true},
	"code.symbols":    nil,
	"code.definition": {"symbol": "Greet"},
	"code.references": {"symbol": "Greet"},
	"code.parse":      {"path": "no/such.go"},
	"code.summarize":  {"path": "many"},
	"code.transform":  {"kind": "replace", "pattern": "no such text", "replacement": ""},
	"code.remove":     {"symbol": "Greet"},
	"code.insert":     {"symbol": "Greet", "text": "x"},
	"code.comment":    {"symbol": "Greet", "text": "x"},
	"test.detect":     nil,
	"data.set":        {"path": "no/such.json", "key": "a", "value": "b"},
	"fs.write":        {},
	"fs.mkdir":        {},
	"test.run":        {},
	"test.lint":       {},
	"vcs.status":      {},
	"vcs.diff":        {},
	"vcs.log":         {},
	"vcs.show":        {},
	"vcs.branches":    {},
	"vcs.branch":      {},
	"vcs.commit":      {},
	"vcs.push":        {},
	"proc.run":        {},
	"memory.read":     {},
	"memory.write":    {},
}

func TestOperatorsLookAtTheirContextForEachFile(t *testing.T) {
	t.Parallel()
	const many = 300
	files := map[string]string{"go.mod": "module m\n"}
	for i := range many {
		files[fmt.Sprintf("many/f%d.txt", i)] = "text\n"
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, files)
	invoke := workspace.Caller(b.Ops)
	for name := range tools(t) {
		call, ok := overMany[name]
		switch {
		case !ok:
			t.Errorf("%s is not in overMany", name)
			continue
		case call != nil && len(call) == 0:
			continue
		}
		ctx := stopAt(t, many)
		if err := invoke(ctx, name, call); !errors.Is(err, errStopped) {
			t.Errorf("%s: got %v after %d looks", name, err, ctx.looks.Load())
		}
	}
	b.Same(t, files)
}

func TestStoppedExpressionsEndInTheMiddleOfAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"lines.txt": strings.Repeat("a\n", 1<<20), "line.txt": strings.Repeat("a", 4<<20)})
	invoke := workspace.Caller(b.Ops)
	for file, slow := range map[string]string{
		"lines.txt": "[^z]*z|a",       // reads the rest of the file for each match: hours
		"line.txt":  "(a?){50}a{50}b", // does not match: half a minute
	} {
		for tool, call := range map[string]args{
			"fs.search":      {"path": file, "query": slow, "regex": true},
			"code.transform": {"kind": "replace", "path": file, "pattern": slow, "regex": true, "replacement": "b"},
		} {
			ctx := stopAt(t, 30)
			if err := invoke(ctx, tool, call); !errors.Is(err, errStopped) {
				t.Errorf("%s of %s: got %v", tool, file, err)
			}
		}
	}
}

func TestStoppedCallsDoNotWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	dir, backups, memory := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "memory.md")
	other := newBench(t, workspace.Config{Dir: dir, Backups: backups}) // stands for another program
	b := newBench(t, workspace.Config{Dir: dir, Backups: backups, Memory: memory})
	release, err := workspace.Turn(other.Ops)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	lock := flock.New(memory + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock() //nolint:errcheck // the folder is temporary
	invoke := workspace.Caller(b.Ops)
	for name, tool := range tools(t) {
		if *tool.Annotations.ReadOnlyHint || slices.Contains([]string{"proc.run", "test.run", "test.lint", "vcs.push"}, name) {
			continue // it changes no file itself
		}
		ctx := stopAt(t, 2)
		if err := invoke(ctx, name, sampleCalls[name][0]); !errors.Is(err, errStopped) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
