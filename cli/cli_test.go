package cli_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/ollama/ollamatest"
	"replan/agent/store/journal"
	"replan/cli"
	"replan/cli/crash"
	"replan/internal/testgarbage"
	"replan/mcpclient/box"
)

// lessCollection is the GOGC that saves a sixth of the time of many short processes.
const lessCollection = "400"

func TestMain(m *testing.M) {
	if box.Inside() {
		os.Exit(box.Main())
	}
	if crash.Watching() {
		if os.Getenv("REPLAN_TEST_UNWATCHED") != "" {
			os.Exit(0)
		}
		if os.Getenv("REPLAN_TEST_PANIC") != "" {
			announce("watcher")
		}
		os.Exit(crash.Main(os.Stdin, os.Stdout))
	}
	testgarbage.CollectLess()
	// Scripts mostly wait for other processes. A flag on the command line overrides
	// this.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(leakless{m}, map[string]func(){
		"replan": func() {
			if file := os.Getenv("REPLAN_TEST_PANIC"); file != "" && !crash.Watching() {
				panicsOnSignal(file)
			}
			if os.Getenv("REPLAN_TEST_NOISE") != "" && !crash.Watching() {
				noisyOnSignal()
			}
			system := cli.System()
			if quiet, err := time.ParseDuration(os.Getenv("REPLAN_TEST_QUIET")); err == nil {
				system.Quiet = quiet
			}
			os.Exit(cli.Main(context.Background(), os.Args[1:], system))
		},
		"toolserver":    toolServer,
		"replan-worker": workerProgram,
		"modelserver":   startedServer,
	})
}

// leakless are tests that may leave no goroutine behind. They are checked at the end,
// because many of them run at once.
type leakless struct{ tests *testing.M }

// Run runs the tests and returns the exit code.
func (l leakless) Run() int {
	code := l.tests.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(unstoppable...); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// unstoppable are goroutines of libraries that cannot be stopped: teatest's wait for an
// interrupt, and the clock of the highlighter's regular expressions.
var unstoppable = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest/v2.NewTestModel.func2"),
	goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"),
}

// TestScripts runs the command line as a user does. In addition to testscript's
// own commands there are:
//
//	model FILE…        starts a scripted model and points OLLAMA_HOST at it; each
//	                   file is one reply: a line purpose: PURPOSE [STEP], then its
//	                   text; without the line it answers in chat. Lines before it
//	                   are options: !cut N, !long, !hold, !once (later requests get
//	                   the next reply), !call NAME ARGS (a tool call, args as JSON),
//	                   !echo (the text is followed by the request's last message);
//	                   !toolless and !thinks configure the model.
//	asked PURPOSE WANT…   checks that the model got a request with this purpose, such as
//	                   'step 1', and that each WANT matches the body of one such
//	                   request; with ! before it, that none matches
//	events FILE WANT…  checks that each line of FILE is an event, that the numbers of
//	                   each run increase, and that the kinds WANT occur in this order
//	result FILE STATUS REASON   checks how the run ended, by the last event
//	runid FILE NAME             sets variable NAME to the run of the events in FILE
//	newest NAME                 sets variable NAME to the run with the newest journal
//	exit WANT PROGRAM…          runs the program and checks its exit code
//	picture FILE WIDTH HEIGHT   draws a PNG file
//
// and those for MCP servers in mcp_test.go.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPLAN_TEST_QUIET", "20ms") // the answers are typed after the questions
			env.Setenv("REPLAN_HOME", env.WorkDir+"/home")
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1") // nothing listens there
			env.Setenv("REPLAN_ON", "")
			for name, value := range goEnv() {
				env.Setenv(name, value)
			}
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOFLAGS", "-vet=off -ldflags=-w") // what the scripts test is neither go vet nor debug data
			env.Setenv("GOGC", lessCollection)
			env.Values[modelKey{}] = new(*ollamatest.Server)
			prepareMCP(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": startModel, "events": checkEvents, "result": checkResult,
			"asked": checkAsked, "runid": setRunID, "newest": setNewest,
			"httpserver": serveHTTP, "watch": startWatch, "gone": checkGone, "hear": hearOf, "exit": checkExit,
			"picture": drawPicture,
		},
		Condition: func(name string) (bool, error) {
			if name != "box" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			_, err := box.Supported()
			return err == nil, nil
		},
		RequireExplicitExec: false,
	})
}

// concurrentScripts are the scripts that the race detector plays: their runs do much
// at the same time. The others start hundreds of processes that do little.
var concurrentScripts = []string{"agents", "interrupt", "plan-until"}

// scripts returns the scripts to play; with -short, which the race detector runs
// with, a few.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("found %d scripts: %v", len(all), err)
	}
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return !slices.Contains(concurrentScripts, strings.TrimSuffix(filepath.Base(name), ".txtar"))
	})
}

// startModel implements the script command model.
func startModel(ts *testscript.TestScript, _ bool, files []string) {
	script := ollamatest.Script{Model: "scripted", ContextLength: 8192, Capabilities: []string{"completion", "tools"}}
	for _, name := range files {
		text := ts.ReadFile(name)
		reply := ollamatest.Reply{Times: -1}
		echo := false
		for strings.HasPrefix(text, "!") {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			switch option, rest, _ := strings.Cut(line, " "); option {
			case "!toolless":
				script.Capabilities = []string{"completion"}
			case "!sees":
				script.Capabilities = append(script.Capabilities, "vision")
			case "!thinks":
				script.Capabilities = append(script.Capabilities, "thinking")
			case "!hold":
				reply.Hold = make(chan struct{})
			case "!once":
				reply.Times = 1
			case "!call":
				reply.Calls = append(reply.Calls, readCall(ts, rest))
			case "!echo":
				echo = true
			case "!long":
				reply.DoneReason = "length"
			default:
				if _, err := fmt.Sscanf(line, "!cut %d", &reply.CutAfter); err != nil {
					ts.Fatalf("%s: unknown option %q", name, line)
				}
			}
		}
		if rest, ok := strings.CutPrefix(text, "purpose: "); ok {
			rest, text, _ = strings.Cut(rest, "\n")
			reply.Purpose, reply.Step, _ = strings.Cut(rest, " ")
		}
		reply.Text = strings.TrimRight(text, "\n")
		if echo {
			prefix := reply.Text
			reply.TextFor = func(r ollamatest.Request) string { return prefix + "\n" + r.Last() }
		}
		script.Replies = append(script.Replies, reply)
	}
	server, err := ollamatest.Start(context.Background(), script)
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	ts.Setenv("OLLAMA_HOST", server.URL())
	*ts.Value(modelKey{}).(**ollamatest.Server) = server
}

// modelKey is the key of a script's most recently started model.
type modelKey struct{}

// readCall parses a tool call: its name, then its arguments as JSON.
func readCall(ts *testscript.TestScript, text string) ollamatest.Call {
	name, args, _ := strings.Cut(text, " ")
	call := ollamatest.Call{Name: name}
	ts.Check(json.Unmarshal([]byte(args), &call.Args))
	return call
}

// checkAsked implements the script command asked.
func checkAsked(ts *testscript.TestScript, none bool, args []string) {
	var bodies []string
	purpose, step, _ := strings.Cut(args[0], " ")
	for _, r := range (*ts.Value(modelKey{}).(**ollamatest.Server)).Requests() {
		if r.IsFor(purpose, step) {
			bodies = append(bodies, string(r.Raw))
		}
	}
	never := none && len(args) == 1
	if never != (len(bodies) == 0) {
		ts.Fatalf("the model got %d requests for %q: %s", len(bodies), args[0], strings.Join(bodies, "\n"))
	}
	for _, want := range args[1:] {
		pattern, err := regexp.Compile(want)
		ts.Check(err)
		if found := slices.ContainsFunc(bodies, pattern.MatchString); found == none {
			ts.Fatalf("%q found: %v, in the requests for %q:\n%s", want, found, args[0], strings.Join(bodies, "\n"))
		}
	}
}

func readEvents(ts *testscript.TestScript, name string) []event.Event {
	var events []event.Event
	newest := map[string]uint64{} // by run, because runs can be nested
	for i, line := range strings.Split(strings.TrimSpace(ts.ReadFile(name)), "\n") {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			ts.Fatalf("line %d is not an event: %v in %q", i+1, err, line)
		}
		if e.Seq <= newest[e.Run] {
			ts.Fatalf("line %d: event %d of run %s follows event %d", i+1, e.Seq, e.Run, newest[e.Run])
		}
		newest[e.Run] = e.Seq
		events = append(events, e)
	}
	return events
}

// setRunID implements the script command runid.
func setRunID(ts *testscript.TestScript, _ bool, args []string) {
	setRun(ts, args[1], readEvents(ts, args[0])[0].Run)
}

// setNewest implements the script command newest. After the program was killed,
// only the files on disk can be relied on.
func setNewest(ts *testscript.TestScript, _ bool, args []string) {
	runs, err := journal.Folder{Dir: ts.MkAbs("home/runs")}.List()
	ts.Check(err)
	if len(runs) == 0 {
		ts.Fatalf("no run found")
	}
	setRun(ts, args[0], runs[0].ID)
}

// setRun sets a variable to a run's id, and SHORT_ before its name to the short id.
func setRun(ts *testscript.TestScript, name, id string) {
	ts.Setenv(name, id)
	ts.Setenv("SHORT_"+name, agent.ShortID(id))
}

// checkEvents implements the script command events.
func checkEvents(ts *testscript.TestScript, _ bool, args []string) {
	events := readEvents(ts, args[0])
	at := 0
	for _, want := range args[1:] {
		for at < len(events) && string(events[at].Data.Kind()) != want {
			at++
		}
		if at == len(events) {
			ts.Fatalf("event %s is missing or out of order", want)
		}
		at++
	}
}

// checkResult implements the script command result.
func checkResult(ts *testscript.TestScript, _ bool, args []string) {
	events := readEvents(ts, args[0])
	end, ok := events[len(events)-1].Data.(event.RunCompleted)
	if !ok {
		ts.Fatalf("the last event is %s, want the end of the run", events[len(events)-1].Data.Kind())
	}
	if string(end.Status) != args[1] || string(end.Reason) != args[2] {
		ts.Fatalf("the run ended %s %s (%s), want %s %s", end.Status, end.Reason, end.Error, args[1], args[2])
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// marksVariable names the file of the marks that calls make.
const marksVariable = "REPLAN_TEST_MARKS"

// mark records the beginning and the end of a call with an effect. The effect takes a
// moment, so that a kill can hit its middle. No test waits for it.
func mark(key string) error {
	marks, err := os.OpenFile(os.Getenv(marksVariable), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer marks.Close() //nolint:errcheck // appended line by line
	for _, word := range []string{"begin", "end"} {
		if _, err := fmt.Fprintln(marks, word, key); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}
