package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"replan/agent"
	"replan/agent/journal"
	"replan/agent/ollama/ollamatest"
	"replan/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"replan":     func() { os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System())) },
		"toolserver": toolServer,
	})
}

// TestScripts runs the command line as a user does. Beside testscript's own
// commands there are:
//
//	model FILE…        starts a scripted model and points OLLAMA_HOST at it; each
//	                   file is one reply: the heading it answers, and its text.
//	                   Lines before it give orders: !cut N, !long, !hold, !toolless,
//	                   !echo (the request's last message follows the text).
//	events FILE WANT…  holds that FILE has an event a line, numbered upwards, and
//	                   that the kinds WANT come in this order
//	result FILE STATUS REASON   holds how the last event says the run ended
//	runid FILE NAME             puts the run of the events in FILE into the variable NAME
//	newest NAME                 puts the run whose journal is the newest into the variable NAME
//	exit WANT PROGRAM…          runs the program and holds its exit code
//
// and those for MCP servers in mcp_test.go.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPLAN_HOME", env.WorkDir+"/home")
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1") // nobody answers there
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} {
				env.Setenv(name, goEnv(name))
			}
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOTOOLCHAIN", "local")
			prepareMCP(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model": startModel, "events": checkEvents, "result": checkResult,
			"runid": setRunID, "newest": setNewest,
			"httpserver": serveHTTP, "watch": startWatch, "gone": checkGone, "hear": hearOf, "exit": checkExit,
		},
		RequireExplicitExec: false,
	})
}

// startModel is the script command model.
func startModel(ts *testscript.TestScript, _ bool, files []string) {
	script := ollamatest.Script{Model: "scripted", ContextLength: 8192, Capabilities: []string{"completion", "tools"}}
	for _, name := range files {
		text := ts.ReadFile(name)
		var reply ollamatest.Reply
		echo := false
		for strings.HasPrefix(text, "!") {
			var order string
			order, text, _ = strings.Cut(text, "\n")
			switch order {
			case "!toolless":
				script.Capabilities = []string{"completion"}
			case "!hold":
				reply.Hold = make(chan struct{})
			case "!echo":
				echo = true
			case "!long":
				reply.DoneReason = "length"
			default:
				if _, err := fmt.Sscanf(order, "!cut %d", &reply.CutAfter); err != nil {
					ts.Fatalf("%s: %q is no order", name, order)
				}
			}
		}
		if strings.HasPrefix(text, "# ") {
			reply.Heading, text, _ = strings.Cut(text, "\n")
		}
		reply.Text, reply.Times = strings.TrimRight(text, "\n"), -1
		if echo {
			said := reply.Text
			reply.TextFor = func(r ollamatest.Request) string { return said + "\n" + r.Last() }
		}
		script.Replies = append(script.Replies, reply)
	}
	server, err := ollamatest.Start(context.Background(), script)
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	ts.Setenv("OLLAMA_HOST", server.URL())
}

func readEvents(ts *testscript.TestScript, name string) []agent.Event {
	var events []agent.Event
	for i, line := range strings.Split(strings.TrimSpace(ts.ReadFile(name)), "\n") {
		var e agent.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			ts.Fatalf("line %d is no event: %v in %q", i+1, err, line)
		}
		if n := len(events); n > 0 && e.Seq <= events[n-1].Seq {
			ts.Fatalf("line %d: number %d comes after %d", i+1, e.Seq, events[n-1].Seq)
		}
		events = append(events, e)
	}
	return events
}

// setRunID is the script command runid.
func setRunID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[1], readEvents(ts, args[0])[0].Run)
}

// setNewest is the script command newest: of a program that was killed, only what
// is on disk is sure.
func setNewest(ts *testscript.TestScript, _ bool, args []string) {
	runs, err := journal.Folder{Dir: ts.MkAbs("home/runs")}.List()
	ts.Check(err)
	if len(runs) == 0 {
		ts.Fatalf("there is no run")
	}
	ts.Setenv(args[0], runs[0].ID)
}

// checkEvents is the script command events.
func checkEvents(ts *testscript.TestScript, _ bool, args []string) {
	events := readEvents(ts, args[0])
	at := 0
	for _, want := range args[1:] {
		for at < len(events) && string(events[at].Data.Kind()) != want {
			at++
		}
		if at == len(events) {
			ts.Fatalf("no %s follows where it should", want)
		}
		at++
	}
}

// checkResult is the script command result.
func checkResult(ts *testscript.TestScript, _ bool, args []string) {
	events := readEvents(ts, args[0])
	end, ok := events[len(events)-1].Data.(agent.RunCompleted)
	if !ok {
		ts.Fatalf("the last event is %s", events[len(events)-1].Data.Kind())
	}
	if string(end.Status) != args[1] || string(end.Reason) != args[2] {
		ts.Fatalf("the run ended %s %s (%s), want %s %s", end.Status, end.Reason, end.Error, args[1], args[2])
	}
}
