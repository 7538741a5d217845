package runner_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// killsOfRun is how many times TestKilledRunLosesAndRepeatsNoStep kills one run.
const killsOfRun = 7

// crashVariable makes this test binary run or resume the crash test's plan as a
// process that can be killed.
const crashVariable = "REPLAN_TEST_CRASH"

// quick stops the race detector from sleeping for a second at exit.
const quick = "GORACE=atexit_sleep_ms=0"

// crashOrder is the order passed to the process.
type crashOrder struct {
	Dir     string
	InDoubt event.DoubtDecision // "" checks the effects, as a user would
	Seed    uint64              // of the durations of calls
	FanOut  bool                // run one step for fifty items
}

// big is a result too large for a line of the journal.
var big = strings.Repeat("0123456789 äöü\n", 300<<10/18)

// crashPlan returns a plan of twelve steps: three only read and nine leave a
// mark.
func crashPlan() plan.Plan {
	step := func(index, tool string, after ...string) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text("Step " + index), Tool: tool, Args: map[string]any{"step": index}, DependsOn: after}
	}
	first, last := step("1", "look"), step("12", "mark", "10", "11")
	first.ResultVariable, last.Args["text"] = "big", "${big}"
	return plan.Plan{Title: "Survive", Steps: []plan.Step{
		first, step("2", "mark"), step("3", "mark"), step("4", "mark"), step("5", "mark"), step("6", "look"),
		step("7", "look", "2"), step("8", "mark", "3", "4"), step("9", "mark", "1"), step("10", "mark", "6", "7"),
		step("11", "mark", "8", "9"), last,
	}}
}

// fanOutPlan returns a plan of one step that leaves a mark for each of fifty items. Each is
// called as its step is.
func fanOutPlan() plan.Plan {
	items := make([]any, plan.DefaultMax)
	for i := range items {
		items[i] = fmt.Sprintf("1.%d", i+1)
	}
	return plan.Plan{Title: "Survive", Steps: []plan.Step{{
		Index: "1", Title: "Mark all", Tool: "mark", Args: map[string]any{"step": "${item}"}, ResultVariable: "marked",
		ForEach: &plan.ForEach{Items: items, As: plan.DefaultAs, Max: plan.DefaultMax},
	}}}
}

var crashTools = plan.Catalog{
	{Server: "t", Name: "look", ReadOnly: true, Annotated: true},
	{Server: "t", Name: "mark", Annotated: true},
}

// crashChild runs the plan in this process until it ends or is killed. It prints
// each event once it is on disk, and each mark once it is made.
func crashChild(text string) int {
	var order crashOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return fail(err)
	}
	j, past, err := openCrashed(journal.Folder{Dir: order.Dir})
	if err != nil {
		return fail(err)
	}
	marks, err := os.OpenFile(filepath.Join(order.Dir, "marks"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fail(err)
	}
	p := crashPlan()
	if order.FanOut {
		p = fanOutPlan()
	}
	job := runner.Job{
		ID: "r", Plan: &p, Past: past, Journal: j, Catalog: crashTools,
		Limits: event.Limits{MaxConcurrency: 8}, InDoubt: order.InDoubt,
		Call: func(_ context.Context, c plan.ToolCall) (any, error) { return crashCall(marks, order.Seed, c) },
		Events: func(e event.Event) {
			fmt.Println(e.Data.Kind())
		},
	}
	if order.InDoubt == "" {
		job.Doubt = func(_ context.Context, q agent.Question) event.DoubtDecision {
			if count(order.Dir, "end "+q.Step) > 0 {
				return event.DoubtDone
			}
			return event.DoubtRerun
		}
	}
	if _, err := runner.Run(context.Background(), job); err != nil {
		return fail(err)
	}
	if err := errors.Join(j.Close(), marks.Close()); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// openCrashed opens the run's journal, or creates it if the previous process was
// killed before it could.
func openCrashed(runs journal.Folder) (*journal.Journal, []event.Event, error) {
	j, past, err := runs.Open("r")
	if errors.Is(err, event.ErrNoEvents) {
		if _, err := runs.Delete("r"); err != nil {
			return nil, nil, err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		j, err = runs.Create("r")
	}
	return j, past, err
}

// crashCall pauses and marks its beginning and its end. The seed and the step
// decide how long the effect takes, so a kill can hit its middle. No test waits
// for these pauses.
func crashCall(marks *os.File, seed uint64, c plan.ToolCall) (any, error) {
	step, _ := c.Args["step"].(string)
	number, err := strconv.ParseUint(strings.ReplaceAll(step, ".", ""), 10, 64)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, number)) //nolint:gosec // chosen by a seed
	pause := func() { time.Sleep(time.Duration(random.Int64N(int64(8 * time.Millisecond)))) }
	if c.Tool.ReadOnly {
		pause()
		if step == "1" {
			return big, nil
		}
		return nil, nil
	}
	text, _ := c.Args["text"].(string)
	for _, word := range []string{"begin", "end"} {
		if _, err := fmt.Fprintf(marks, "%s %s %x \n", word, c.Args["step"], sha256.Sum256([]byte(text))); err != nil {
			return nil, err
		}
		fmt.Println(word)
		pause()
	}
	return nil, nil
}

// count returns the number of marks that begin with these words.
func count(dir, words string) int {
	data, err := os.ReadFile(filepath.Join(dir, "marks")) //nolint:gosec // the test's own
	if err != nil {
		return 0 // no mark was made yet
	}
	return strings.Count("\n"+string(data), "\n"+words+" ")
}

// crashRun is one run that is killed repeatedly.
type crashRun struct {
	t      *testing.T
	dir    string
	runs   journal.Folder
	random *rand.Rand
	begun  map[string]int // marks of each completed step when it was first seen as completed
	killed int
	fanOut bool
}

// process starts a process that continues the run, and kills it a moment after it
// has printed that many lines; a negative count lets it finish. It reports
// whether the process was killed.
func (c *crashRun) process(inDoubt event.DoubtDecision, after int, later time.Duration) bool {
	c.t.Helper()
	order, err := json.Marshal(crashOrder{c.dir, inDoubt, c.random.Uint64(), c.fanOut})
	if err != nil {
		c.t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(c.t.Context(), os.Args[0]) //nolint:gosec // this test binary
	cmd.Env, cmd.Stderr = append(os.Environ(), crashVariable+"="+string(order), quick), &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	printed := 0
	for printed != after && lines.Scan() {
		printed++
	}
	if printed == after {
		<-time.After(later)
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			c.t.Fatal(err)
		}
	}
	for lines.Scan() { // drain what it printed before it died
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return true
	}
	if err != nil {
		c.t.Fatalf("the process failed: %v\n%s", err, stderr.String())
	}
	return false
}

// look reads the disk after a process has exited: no completed step has begun
// again, and none has begun whose start is missing from the journal.
func (c *crashRun) look() (run agent.Run, events []event.Event, torn bool) {
	c.t.Helper()
	events, torn, err := journal.Read(c.runs.Path("r"))
	if errors.Is(err, fs.ErrNotExist) {
		return run, nil, false
	}
	if err != nil {
		c.t.Fatal(err)
	}
	started := map[string]int{}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			c.t.Fatal(err)
		}
		if d, ok := e.Data.(event.StepStarted); ok {
			started[d.Index]++
		}
	}
	steps := slices.Clone(run.Steps)
	for _, s := range run.Steps {
		steps = append(steps, s.Items...)
	}
	for _, s := range steps {
		begun := count(c.dir, "begin "+s.Step.Index)
		if begun > started[s.Step.Index] {
			c.t.Errorf("step %s began %d times, the journal holds %d starts", s.Step.Index, begun, started[s.Step.Index])
		}
		switch before, ok := c.begun[s.Step.Index]; {
		case s.Status != agent.StepCompleted:
		case !ok:
			c.begun[s.Step.Index] = begun
		case begun != before:
			c.t.Errorf("step %s was completed and began again", s.Step.Index)
		}
	}
	return run, events, torn
}

// story reads the whole journal of a finished run: it counts the doubts it holds,
// and fails the test for a missing doubt or a step that ran twice after it was
// completed. excused are the steps that an option declared done.
func story(t *testing.T, events []event.Event) (doubts int, excused map[string]bool) {
	t.Helper()
	done, running, lost := map[string]bool{}, map[string]bool{}, map[string]bool{}
	excused = map[string]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.StepStarted:
			if done[d.Index] || lost[d.Index] {
				t.Errorf("event %d: step %s started again; completed: %t, in doubt: %t", e.Seq, d.Index, done[d.Index], lost[d.Index])
			}
			running[d.Index] = d.Tool == "mark"
		case event.StepCompleted:
			done[d.Index] = true
			delete(running, d.Index)
		case event.RunResumed:
			for index, effectful := range running {
				if effectful {
					lost[index] = true
				}
			}
			clear(running)
		case event.StepInDoubt:
			if !lost[d.Index] {
				t.Errorf("event %d: step %s is in doubt but was not running", e.Seq, d.Index)
			}
			doubts++
			delete(lost, d.Index)
		case event.DoubtResolved:
			if d.Decision == event.DoubtDone {
				done[d.Step] = true
				excused[d.Step] = d.By == "--in-doubt done"
			}
		case event.RunCompleted:
			if len(lost) > 0 {
				t.Errorf("event %d: the run ended without doubts about %v", e.Seq, lost)
			}
		}
	}
	return doubts, excused
}

// crashRandom chooses where processes are killed. It uses the seed of the other
// random tests, RAPID_SEED, or a new one that is printed if the test fails.
func crashRandom(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	if fixed, err := strconv.ParseUint(os.Getenv("RAPID_SEED"), 0, 64); err == nil && fixed != 0 {
		seed = fixed
	}
	t.Logf("the kills are chosen by RAPID_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chosen by a seed
}

// A process killed at any time loses no step and repeats none: completed steps
// stay completed, steps that only read run again, and the next process reports
// steps that may have taken effect before it does anything else about them.
func TestKilledRunLosesAndRepeatsNoStep(t *testing.T) {
	kills := 100 // over as many runs as needed
	if testing.Short() {
		kills = 20
	}
	t.Run("graph", func(t *testing.T) { killRuns(t, kills, false) })
	t.Run("fan-out", func(t *testing.T) { killRuns(t, kills/2, true) })
}

// killRuns kills processes that run a plan, and checks what they leave.
func killRuns(t *testing.T, kills int, fanOut bool) {
	t.Helper()
	answers := []event.DoubtDecision{event.DoubtDone, event.DoubtRerun, event.DoubtAbort, ""}
	random := crashRandom(t)
	lines := 14 // that a process prints before it is killed, at most
	if fanOut {
		lines = 60
	}
	var killed, runs, torn, doubts, early int
	for runs = 0; killed < kills && runs < kills; runs++ {
		dir := t.TempDir()
		c := &crashRun{t: t, dir: dir, runs: journal.Folder{Dir: dir}, random: random, begun: map[string]int{}, fanOut: fanOut}
		var run agent.Run
		var events []event.Event
		for n := 0; run.Result == nil || run.Result.Status != event.StatusCompleted; n++ {
			after, later := -1, time.Duration(0)
			if n > 4*killsOfRun {
				t.Fatalf("the run does not end: %+v", run.Snapshot(true))
			}
			if c.killed < killsOfRun {
				after, later = random.IntN(lines), time.Duration(random.Int64N(int64(3*time.Millisecond)))
				if after == 0 {
					later *= 10 // the process needs time to start
				}
			}
			if c.process(answers[(runs+n)%len(answers)], after, later) {
				c.killed++
			}
			var cut bool
			if run, events, cut = c.look(); cut {
				torn++
			}
			if len(events) == 0 {
				early++
			}
		}
		found, excused := story(t, events)
		doubts += found
		killed += c.killed
		checkMarks(t, &run, dir, excused)
		if !fanOut && run.Variables()["big"] != big {
			t.Error("the large result changed")
		}
		bytes := journalBytes(t, c.runs)
		if c.process(event.DoubtAbort, -1, 0); !slices.Equal(journalBytes(t, c.runs), bytes) {
			t.Error("a completed run was continued")
		}
	}
	t.Logf("%d kills over %d runs: %d before anything was on disk, %d tore a line, %d steps in doubt", killed, runs, early, torn, doubts)
	if killed < kills || doubts == 0 {
		t.Errorf("only %d kills and %d doubts", killed, doubts)
	}
}

// checkMarks checks the effect of every step, and the text that the last step
// made of the large result.
func checkMarks(t *testing.T, run *agent.Run, dir string, excused map[string]bool) {
	t.Helper()
	for _, of := range run.Steps {
		for _, s := range append([]*agent.StepState{of}, of.Items...) {
			if s.Step.ForEach == nil && s.Step.Tool == "mark" && count(dir, "end "+s.Step.Index) == 0 && !excused[s.Step.Index] {
				t.Errorf("step %s left no mark", s.Step.Index)
			}
		}
	}
	if whole := fmt.Sprintf("begin 12 %x", sha256.Sum256([]byte(big))); count(dir, "begin 12") != count(dir, whole) {
		t.Error("the last step got another text than the first step read")
	}
}

func journalBytes(t *testing.T, runs journal.Folder) []byte {
	t.Helper()
	data, err := os.ReadFile(runs.Path("r"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// While one process runs a run, another cannot resume it or change its journal.
func TestSecondProcessCannotResumeRun(t *testing.T) {
	runs := journal.Folder{Dir: t.TempDir()}
	j, err := runs.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(crashOrder{Dir: runs.Dir, InDoubt: event.DoubtRerun})
	if err != nil {
		t.Fatal(err)
	}
	p := crashPlan()
	result, err := runner.Run(t.Context(), runner.Job{
		ID: "r", Plan: &p, Journal: j, Catalog: crashTools,
		Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
			if c.Args["step"] != "12" {
				return big, nil
			}
			before := journalBytes(t, runs)
			cmd := exec.CommandContext(ctx, os.Args[0]) //nolint:gosec // this test binary
			cmd.Env = append(os.Environ(), crashVariable+"="+string(order), quick)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), journal.ErrLocked.Error()) {
				t.Errorf("the second process printed %q: %v", out, err)
			}
			if !slices.Equal(before, journalBytes(t, runs)) {
				t.Error("the second process wrote into the journal")
			}
			return nil, nil
		},
	})
	if err != nil || result.Reason != event.ReasonGoalMet {
		t.Errorf("the first process ended with %s: %v", result.Reason, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
