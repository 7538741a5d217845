package host_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/remote"
	"replan/agent/runner"
	"replan/agent/runner/conformance"
	"replan/agent/store"
	"replan/distributed/host"
	"replan/distributed/postgrestest"
	"replan/distributed/records"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

var (
	kills    = flag.Int("kills", 6, "how many workers are killed")
	killSeed = flag.Uint64("kill-seed", 1, "which runs and kills are drawn")
	fsync    = flag.Bool("fsync", false, "have PostgreSQL wait for the disk")
)

// The environment of a worker process of the tests.
const (
	workerAddress = "REPLAN_TEST_ADDRESS"
	workerFolder  = "REPLAN_TEST_FOLDER" // for its store and the effects
	workerID      = "REPLAN_TEST_WORKER"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerAddress) != "" {
		if err := workUntilKilled(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	server.NoSync = !*fsync
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// server is PostgreSQL, if this machine has it. It waits for the disk only with -fsync.
var server = &postgrestest.Server{}

// onEach runs a test on a new database of each kind, beside other tests: they wait a lot.
func onEach(t *testing.T, test func(t *testing.T, address string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "runs.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, server.Database(t))
	})
}

// workUntilKilled is a worker process, whose tool leaves its effects in a file.
func workUntilKilled() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d, err := records.Open(ctx, os.Getenv(workerAddress))
	if err != nil {
		return err
	}
	dir := os.Getenv(workerFolder)
	h, err := host.Start(ctx, host.Config{
		Database: d, Worker: remote.Worker{ID: os.Getenv(workerID), Version: version}, Rhythm: 20 * time.Millisecond, AtOnce: 20,
		Open: func(_ context.Context, task remote.Task) (host.Opened, error) {
			cfg := conformance.Case{}.Config()
			cfg.Limits.MaxConcurrency = 4
			cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: filepath.Join(dir, os.Getenv(workerID))})
			cfg.Tools = effects{cfg.Tools, filepath.Join(dir, "effects"), task.Run}
			return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
		},
	})
	if err != nil {
		return errors.Join(err, d.Close())
	}
	fmt.Println("works")
	<-ctx.Done()
	return h.Close()
}

// effects is a server whose tool change appends a line to a file: the run and where.
// A deadly place ends the process, and one that stalls stops it.
type effects struct {
	runner.Tools
	file, run string
}

// Call carries out a call.
func (e effects) Call(_ context.Context, c plan.ToolCall) (any, error) {
	switch c.Args["where"] {
	case "deadly":
		os.Exit(1)
	case "stalls":
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return nil, err
		}
	}
	if c.Tool.Name != "change" {
		return map[string]any{"n": 1}, nil
	}
	f, err := os.OpenFile(e.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "%s %v\n", e.run, c.Args["where"])
	return map[string]any{"n": 1}, errors.Join(err, f.Close())
}

// workerProcess is a worker in a process of its own.
type workerProcess struct {
	command *exec.Cmd
	id      string
}

// startWorker starts a worker process, and waits until it works.
func startWorker(t *testing.T, address, dir, id string) workerProcess {
	t.Helper()
	command := exec.Command(os.Args[0]) //nolint:gosec // this test itself
	command.Env = append(os.Environ(), workerAddress+"="+address, workerFolder+"="+dir, workerID+"="+id)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "works\n" {
		t.Fatalf("the worker %s says %q: %v", id, line, err)
	}
	return workerProcess{command, id}
}

// kill ends the process at once.
func (p workerProcess) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.command.Wait() // it was killed
}

// longPlan returns a plan of a number of steps that change something, some at once.
func longPlan(random *rand.Rand, steps int) plan.Plan {
	p := plan.Plan{Title: "Long"}
	for i := range steps {
		step := plan.Step{Index: strconv.Itoa(i + 1), Title: untrusted.Text(fmt.Sprint("Step ", i+1)), Tool: "change", Args: map[string]any{"where": i + 1}, OnFailure: plan.OnFailureSkip}
		if i > 2 {
			step.DependsOn = []string{strconv.Itoa(1 + random.IntN(i))}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

func TestRunThatKillsItsWorkersFails(t *testing.T) {
	address, dir := "sqlite:"+filepath.Join(t.TempDir(), "runs.db"), t.TempDir()
	next := startWorker(t, address, dir, "w0")
	c := openClient(t, address)
	deadly := plan.Plan{Title: "Deadly", Steps: []plan.Step{{Index: "1", Title: "Change", Tool: "change", Args: map[string]any{"where": "deadly"}}}} // with a gate
	w := submit(t, c, remote.Task{Run: "r-1", Plan: &deadly, Approve: policy.ApproveAll, InDoubt: event.DoubtRerun})
	for n := range 5 {
		_ = next.command.Wait() // its run kills it
		next = startWorker(t, address, dir, fmt.Sprint("w", n+1))
	}
	defer func() { _ = next.command.Process.Kill() }() // unless its run did
	if end := await[event.ChatReply](t, w, 1); end.Reason != event.ReasonWorkersFailed || !strings.HasPrefix(string(end.Text), "its workers died 5 times at this place") {
		t.Errorf("the run ended with %s: %s", end.Reason, end.Text)
	}
	w.rest()
	resume(t, c, "r-1", remote.Terms{Approve: policy.ApproveAll, InDoubt: event.DoubtRerun})
	_ = next.command.Wait() // it is tried again
}

func TestKilledWorkersRepeatNothingAndLoseNoRun(t *testing.T) {
	onEach(t, func(t *testing.T, address string) { killWorkers(t, address, *kills) })
}

// killWorkers kills workers while runs are under way, until all kills are used up, and
// fails if an effect is repeated or a run lost. Steps in doubt count as done, so that
// no effect may be there twice.
func killWorkers(t *testing.T, address string, kills int) {
	random := rand.New(rand.NewPCG(*killSeed, 0)) //nolint:gosec // the same in every run
	dir := t.TempDir()
	started := 0
	next := func() workerProcess {
		started++
		return startWorker(t, address, dir, fmt.Sprintf("w%d", started))
	}
	workers := []workerProcess{next(), next(), next()}
	submitting := openClient(t, address)
	var followers sync.WaitGroup
	var mu sync.Mutex
	happened := make(chan struct{}, 1) // something was recorded
	ended := map[string]event.Status{}
	doubts, submitted := 0, 0
	submit := func() {
		submitted++
		p := longPlan(random, 20)
		run := fmt.Sprintf("r-%d", submitted)
		if err := submitting.Submit(t.Context(), remote.Task{Run: run, Plan: &p, Approve: policy.ApproveAll, InDoubt: event.DoubtDone}, version); err != nil {
			t.Fatal(err)
		}
		followers.Go(func() {
			err := submitting.Follow(t.Context(), run, func(r records.Record, _ bool) error {
				mu.Lock()
				defer mu.Unlock()
				for _, e := range r.Events {
					if _, ok := e.Data.(event.StepInDoubt); ok {
						doubts++
					}
				}
				if r.End != nil {
					ended[run] = r.End.Status
				}
				select {
				case happened <- struct{}{}:
				default:
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	open := func() int {
		mu.Lock()
		defer mu.Unlock()
		return submitted - len(ended)
	}
	for range kills {
		for range 1 + random.IntN(20) {
			for open() < 3 {
				submit() // or nothing might happen any more
			}
			<-happened
		}
		victim := random.IntN(len(workers))
		workers[victim].kill(t)
		workers[victim] = next()
	}
	followers.Wait()
	for _, w := range workers {
		w.kill(t)
	}
	if len(ended) != submitted {
		t.Errorf("%d of %d runs ended", len(ended), submitted)
	}
	for run, status := range ended {
		if status != event.StatusCompleted {
			t.Errorf("the run %s is %s", run, status)
		}
	}
	t.Logf("%d kills, %d runs, %d effects, %d steps in doubt", kills, submitted, checkEffects(t, dir), doubts)
}

// checkEffects fails if an effect is there twice. It returns their number.
func checkEffects(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if seen[line]++; seen[line] > 1 {
			t.Errorf("the effect %q was repeated", line)
		}
	}
	return len(seen)
}

// With SQLite a process that stalls in a transaction keeps all others out.
func TestStalledWorkerLosesItsRunAndRepeatsNothing(t *testing.T) {
	address := server.Database(t)
	dir := t.TempDir()
	stalled := startWorker(t, address, dir, "w1")
	defer stalled.kill(t)
	c := openClient(t, address)
	p := longPlan(rand.New(rand.NewPCG(3, 0)), 100) //nolint:gosec // the same in every run
	p.Steps[50].Args["where"] = "stalls"
	w := submit(t, c, remote.Task{Run: "r-1", Plan: &p, Approve: policy.ApproveAll, InDoubt: event.DoubtDone})
	await[event.StepCompleted](t, w, 1)
	other := startWorker(t, address, dir, "w2")
	defer other.kill(t)
	await[event.RunResumed](t, w, 1)
	if err := stalled.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if end := await[event.RunCompleted](t, w, 1); end.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %s", end.Status, end.Error)
	}
	checkEffects(t, dir)
}
