//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/ollama/ollamatest"
	"replan/agent/store/journal"
)

// kills is how many times TestKilledProgramRepeatsNothing kills the program.
var kills = flag.Int("kills", 8, "how often the program is killed")

// killsOfRun is how many of those one run gets at most.
const killsOfRun = 6

// killPlan calls tools of a server and a program, asks at gates, runs fan-outs with checks and a
// sub-agent, waits for something, changes a file, and fails so that the rest is planned anew.
const killPlan = `{"id":"kill-1","title":"Survive","steps":[
	{"index":"1","title":"List","tool":"fs.list","args":{},"result_variable":"files"},
	{"index":"2","title":"Program","tool":"proc.run","args":{"argv":["toolserver","!mark","2"]}},
	{"index":"3","title":"Server","tool":"marks:mark","args":{"key":"3"},"gate":true},
	{"index":"4","title":"Each","tool":"marks:mark","for_each":["4a","4b","4c","4d"],"at_once":2,"args":{"key":"${item}"},"depends_on":["1"],
	 "check":[{"expect":"item in ['4a','4b','4c','4d'] && result != ''"},{"tool":"fs.list","expect":"any(result.entries, .path == 'kill.json')"}]},
	{"index":"4w","title":"Wait","tool":"fs.list","args":{},"depends_on":["1"],"until":{"expect":"any(result.entries, .path == 'kill.json')","every":"100ms","for":"1m"},
	 "check":[{"expect":"result.truncated == false"}]},
	{"index":"4x","title":"Each again","tool":"proc.run","for_each":["4e","4f"],"args":{"argv":["toolserver","!mark","${item}"]},"depends_on":["4w"],
	 "check":[{"tool":"fs.list","expect":"any(result.entries, .path == 'kill.json')"}]},
	{"index":"5","title":"File","tool":"fs.write","args":{"path":"five.txt","text":"5\n"},"depends_on":["2"]},
	{"index":"6","title":"Agent","executor":"agent","profile":"marker","depends_on":["3"]},
	{"index":"7","title":"Fail","tool":"fs.read","args":{"path":"missing.txt"},"depends_on":["4","4x","5","6"],"on_failure":"replan"},
	{"index":"8","title":"Dropped","tool":"marks:mark","args":{"key":"8"},"depends_on":["7"]}]}`

// killReplan replaces the steps from the one that failed.
const killReplan = `{"title":"Survive","steps":[
	{"index":"9","title":"List again","tool":"fs.list","args":{}},
	{"index":"10","title":"Last","tool":"marks:mark","args":{"key":"10"},"depends_on":["9"]},
	{"index":"11","title":"Last file","tool":"fs.write","args":{"path":"eleven.txt","text":"11\n"},"depends_on":["9"]}]}`

// killReplies are those of the model: the sub-agent makes a call and says so, and the
// rest is planned anew.
func killReplies() []ollamatest.Reply {
	called := func(r ollamatest.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m ollamatest.Message) bool { return m.Role == "tool" })
	}
	return []ollamatest.Reply{
		{When: func(r ollamatest.Request) bool { return called(r) }, Text: "marked", Times: -1},
		{Purpose: "step", Step: "6", Calls: []ollamatest.Call{{Name: "mark", Args: map[string]any{"key": "6"}}}, Times: -1},
		{Purpose: "replan", Text: killReplan, Times: -1},
		{Purpose: "repair", Text: killReplan, Times: -1},
	}
}

// orphans watches the children of killed programs: each holds a connection.
type orphans struct {
	listener net.Listener
	mu       sync.Mutex
	ended    *sync.Cond
	open     int // children that have not ended
	left     int // those that did not end in time
}

func watchOrphans(t *testing.T) *orphans {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &orphans{listener: l}
	o.ended = sync.NewCond(&o.mu)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			o.add(1, 0)
			all.Go(func() {
				_ = conn.SetReadDeadline(time.Now().Add(longest))
				var timeout net.Error
				_, err := io.Copy(io.Discard, conn)
				if errors.As(err, &timeout) && timeout.Timeout() {
					o.add(-1, 1)
				} else {
					o.add(-1, 0)
				}
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return o
}

func (o *orphans) add(open, left int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open, o.left = o.open+open, o.left+left
	o.ended.Broadcast()
}

// wait waits until every child has ended, and returns how many did not in time.
func (o *orphans) wait() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.open > 0 {
		o.ended.Wait()
	}
	return o.left
}

// killed is one run whose program is killed again and again.
type killed struct {
	t                    *testing.T
	folder, home, model  string
	random               *rand.Rand
	orphans              *orphans
	done                 map[string]int // key → marks of its beginning when its step was first seen as completed
	kills, undos, doubts int            // of the program, of those during an undo; questions about doubts
}

// program runs replan and kills it a moment after it has printed that many lines; a
// negative number lets it end. It returns the exit code, -1 for a kill.
func (k *killed) program(lines int, later time.Duration, args ...string) (code int, stderr string) {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), "replan", args...)
	var problem bytes.Buffer
	cmd.Dir, cmd.Stderr = k.folder, &problem
	cmd.Env = append(os.Environ(), "REPLAN_HOME="+k.home, "OLLAMA_HOST="+k.model, "ALIVE="+k.orphans.listener.Addr().String(),
		marksVariable+"="+filepath.Join(k.home, "marks"), "GOGC="+lessCollection, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	read := bufio.NewReader(out)
	for n := 0; n != lines; n++ {
		if _, err := read.ReadString('\n'); err != nil {
			break
		}
	}
	if lines >= 0 {
		<-time.After(later)
		_ = cmd.Process.Kill() // it may have ended
	}
	_, _ = io.Copy(io.Discard, read)
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), problem.String()
}

// begun returns how often each call has begun.
func (k *killed) begun() map[string]int {
	text, _ := os.ReadFile(filepath.Join(k.home, "marks")) // missing before the first mark
	begun := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if key, ok := strings.CutPrefix(strings.TrimSpace(line), "begin "); ok {
			begun[key]++
		}
	}
	return begun
}

// keyOf returns the key of the mark that a call makes, "" for another call.
func keyOf(d event.StepStarted) string {
	key, _ := d.Args["key"].(string)
	if argv, _ := d.Args["argv"].([]any); len(argv) > 0 {
		key, _ = argv[len(argv)-1].(string)
	}
	return key
}

// look reads what the program has left: every journal opens, no call has begun that is
// not on disk, and none again unless that was the answer to a doubt.
func (k *killed) look() (run agent.Run, excused map[string]bool) {
	k.t.Helper()
	journals, err := filepath.Glob(filepath.Join(k.home, "runs", "*.jsonl"))
	if err != nil {
		k.t.Fatal(err)
	}
	excused = map[string]bool{}
	asked := map[event.Attempt]bool{}
	starts, reruns, completed, stepKey := map[string]int{}, map[string]int{}, map[string]bool{}, map[string]string{}
	k.doubts = 0
	for _, path := range journals {
		events, _, err := journal.Read(path)
		if err != nil {
			k.t.Fatal(err)
		}
		if len(events) == 0 {
			continue // killed before the first event
		}
		run = agent.Run{}
		for _, e := range events {
			if err := run.Apply(e); err != nil {
				k.t.Fatalf("%s: %v", path, err)
			}
			switch d := e.Data.(type) {
			case event.StepStarted:
				stepKey[d.Index] = keyOf(d)
				starts[stepKey[d.Index]]++
			case event.StepCompleted:
				completed[stepKey[d.Index]] = true
			case event.StepInDoubt:
				k.doubts++
				if a := (event.Attempt{Index: d.Index, Number: d.Attempt}); asked[a] {
					k.t.Errorf("attempt %d of step %s was asked about twice", a.Number, a.Index)
				} else {
					asked[a] = true
				}
			case event.DoubtResolved:
				switch d.Decision {
				case event.DoubtRerun:
					reruns[stepKey[d.Step]]++
				case event.DoubtDone:
					excused[stepKey[d.Step]] = true
				}
			}
		}
	}
	for key, begun := range k.begun() {
		switch before, ok := k.done[key]; {
		case begun > starts[key]:
			k.t.Errorf("call %s began %d times, the journal holds %d starts", key, begun, starts[key])
		case starts[key] > 1+reruns[key]:
			k.t.Errorf("call %s started %d times after %d decisions to run it again", key, starts[key], reruns[key])
		case ok && begun != before:
			k.t.Errorf("call %s was completed and began again", key)
		case completed[key]:
			k.done[key] = begun
		}
	}
	return run, excused
}

// play runs the plan until it is completed, with a kill after a number of lines that the
// seed decides, and then undoes it, with kills too.
func (k *killed) play(most int) {
	k.t.Helper()
	options := []string{"--output", "json", "--approve", "all", "--mcp-config", "servers.json"}
	args := []string{"plan", "run", "kill.json"}
	var run agent.Run
	var excused map[string]bool
	for tries := 0; run.Result == nil || run.Result.Status != event.StatusCompleted; tries++ {
		if tries > 4*killsOfRun {
			k.t.Fatalf("the run does not end: %+v", run.Snapshot(true))
		}
		lines, later := -1, time.Duration(k.random.Int64N(int64(4*time.Millisecond)))
		if k.kills < min(most, killsOfRun) {
			if lines = k.random.IntN(30); lines == 0 {
				later *= 30 // the program needs time to start
			}
		}
		code, problem := k.program(lines, later, append(args, options...)...)
		if code < 0 {
			k.kills++
		}
		k.gone()
		if run, excused = k.look(); !slices.Contains([]int{-1, 0, 3}, code) {
			k.t.Fatalf("replan %v: exit code %d: %s\n%+v", args, code, problem, run.Snapshot(true))
		}
		if run.ID != "" {
			args = []string{"plan", "resume", run.ID}
			if answer := []string{"rerun", "done", "abort", ""}[k.random.IntN(4)]; answer != "" {
				args = append(args, "--in-doubt", answer)
			}
		}
	}
	begun := k.begun()
	for _, key := range []string{"2", "3", "4a", "4b", "4c", "4d", "4e", "4f", "6", "10"} {
		if begun[key] == 0 && !excused[key] {
			k.t.Errorf("call %s was lost", key)
		}
	}
	if begun["8"] > 0 {
		k.t.Error("a call that the new plan dropped was made")
	}
	k.undo(run.ID, most)
}

// undo undoes the run, killed a few times before.
func (k *killed) undo(run string, most int) {
	k.t.Helper()
	for tries := 0; ; tries++ {
		lines := -1
		if tries < 2 && k.kills < most {
			lines = 0
		}
		code, problem := k.program(lines, time.Duration(k.random.Int64N(int64(200*time.Millisecond))), "undo", run, "--yes")
		k.gone()
		k.look()
		if code >= 0 {
			if code > 0 {
				k.t.Fatalf("undo: exit code %d: %s", code, problem)
			}
			break
		}
		k.kills++
		k.undos++
	}
	for _, name := range []string{"five.txt", "eleven.txt"} {
		if _, err := os.Stat(filepath.Join(k.folder, name)); err == nil {
			k.t.Errorf("%s is still there after the undo", name)
		}
	}
}

func (k *killed) gone() {
	k.t.Helper()
	if left := k.orphans.wait(); left > 0 {
		k.t.Fatalf("%d children outlived the program", left)
	}
}

// A program that is killed at any time loses no step, repeats none silently, and leaves
// no child and no journal that does not open. -kills N kills it N times; RAPID_SEED is
// the seed of the choices.
func TestKilledProgramRepeatsNothing(t *testing.T) {
	most := *kills
	if testing.Short() {
		most /= 3
	}
	seed := uint64(1)
	if given, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 0, 64); err == nil {
		seed = given
	}
	t.Logf("the kills are chosen by RAPID_SEED=%d", seed)
	model, err := ollamatest.Start(context.Background(), ollamatest.Script{Model: "scripted", Replies: killReplies()})
	if err != nil {
		t.Fatal(err)
	}
	total, undos, doubts, runs := 0, 0, 0, 0
	for ; total < most && !t.Failed(); runs++ {
		k := &killed{
			t: t, folder: t.TempDir(), home: t.TempDir(), model: model.URL(), done: map[string]int{}, orphans: watchOrphans(t),
			random: rand.New(rand.NewPCG(seed, uint64(runs))), //nolint:gosec // chosen by a seed
		}
		write(t, filepath.Join(k.folder, "kill.json"), killPlan)
		write(t, filepath.Join(k.folder, "servers.json"), `{"mcpServers": {"marks": {"command": "toolserver", "args": ["marks"], "env": {
			"ALIVE": "`+k.orphans.listener.Addr().String()+`", "`+marksVariable+`": "`+filepath.Join(k.home, "marks")+`"}}}}`)
		write(t, filepath.Join(k.home, "config.toml"), "[profiles.marker]\ndescription = \"marks\"\ntools = [\"marks:mark\"]\n")
		k.play(most - total)
		total, undos, doubts = total+k.kills, undos+k.undos, doubts+k.doubts
	}
	if err := model.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills of %d runs, %d of them during an undo; %d steps in doubt", total, runs, undos, doubts)
}
