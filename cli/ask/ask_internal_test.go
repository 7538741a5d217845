package ask

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plain"
)

// asker asks questions of a scripted user. It records the output and the
// commands that the answers send.
type asker struct {
	t      *testing.T
	q      *Questions
	typed  *io.PipeWriter
	output chan string // each write
	sent   chan session.Command
}

// Write records output for the user.
func (a *asker) Write(p []byte) (int, error) {
	a.output <- string(p)
	return len(p), nil
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	in, typed := io.Pipe()
	a := &asker{t: t, typed: typed, output: make(chan string, 100), sent: make(chan session.Command, 100)}
	input, err := NewInput(in, QuietTime)
	if err != nil {
		t.Fatal(err)
	}
	a.q = New(input, NewOutput(a, nil), func(c session.Command) { a.sent <- c }, Options{Gates: true})
	t.Cleanup(func() {
		_ = typed.Close()
		a.q.Close()
	})
	return a
}

// wantOutput checks the next write of output.
func (a *asker) wantOutput(want string) {
	a.t.Helper()
	if got := <-a.output; got != want {
		a.t.Fatalf("got output %q, want %q", got, want)
	}
}

// typeLine typeLine a line and enter.
func (a *asker) typeLine(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.typed, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// wantSent checks the next command.
func (a *asker) wantSent(want session.Command) {
	a.t.Helper()
	if got := <-a.sent; !reflect.DeepEqual(got, want) {
		a.t.Fatalf("got command %+v, want %+v", got, want)
	}
}

const choice = " [y]es, [r] for this run, [n]o, [e]dit, [?]: "

func gateOf(gate, step, tool string) question {
	return gateQuestion("r", event.GateRequested{Gate: gate, Step: step, Tool: tool}, func(map[string]any) error { return nil }, false)
}

func TestQuestionsAreAskedOneByOne(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("first", "1", "fs.patch"))
	a.q.put(gateOf("second", "2", "test.run\x1b[2J"))
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "r", Gate: "first", Decision: event.Allow, Scope: event.ScopeOnce})
	a.wantOutput("  Allow test.run^[[2J in step 2?" + choice)
	a.typeLine("run")
	a.wantSent(session.Resolve{Run: "r", Gate: "second", Decision: event.Allow, Scope: event.ScopeRun})
}

func TestInvalidAnswerIsAskedAgainAndEndOfInputDenies(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  Allow fs.patch in step 1?" + choice
	for line, complaint := range map[string]string{"": "", "yse\x1b[2J": "  yse^[[2J is not an answer; ? lists the answers\n", "d": "  d is not an answer; ? lists the answers\n"} {
		a.wantOutput(prompt)
		a.typeLine(line)
		if complaint != "" {
			a.wantOutput(complaint)
		}
	}
	a.wantOutput(prompt)
	_ = a.typed.Close()
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Deny, Scope: event.ScopeOnce})
	a.wantOutput("\n") // enter was not pressed
}

func TestQuestionMarkExplainsAnswers(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	for _, line := range []string{"?", "Help"} {
		a.wantOutput("  Allow fs.patch in step 1?" + choice)
		a.typeLine(line)
		output := <-a.output
		for _, answer := range []string{"y, yes, once: ", "r, run: ", "a, always: ", "n, no, deny: ", "e, edit: "} {
			if !strings.Contains(output, "\n    "+answer) && !strings.HasPrefix(output, "    "+answer) {
				t.Errorf("%s does not explain %q: %q", line, answer, output)
			}
		}
	}
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	a.typeLine("once")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestGatesDecidedElsewhereAreNotAsked(t *testing.T) {
	a := newAsker(t)
	for _, gate := range []string{"first", "second", "third"} {
		a.q.put(gateOf(gate, gate, "fs.patch"))
	}
	a.wantOutput("  Allow fs.patch in step first?" + choice)
	a.q.decided("r", "first")
	a.q.decided("r", "second")
	a.typeLine("y") // answers a question that is no longer open
	a.wantOutput("  Allow fs.patch in step third?" + choice)
	a.typeLine("n")
	a.wantSent(session.Resolve{Run: "r", Gate: "third", Decision: event.Deny, Scope: event.ScopeOnce})
}

// eventFeed returns a function that passes events of a run to the questions and
// numbers them per run.
func (a *asker) eventFeed() func(run string, data ...event.Data) {
	seq := map[string]uint64{}
	return func(run string, data ...event.Data) {
		for _, d := range data {
			seq[run]++
			a.q.Observe(event.Event{Seq: seq[run], Time: time.Unix(int64(seq[run]), 0), Run: run, Data: d})
		}
	}
}

// patching returns the first events of a run whose one step patches a file.
func patching() []event.Data {
	plan := plan.Plan{
		Title: "Patch", Steps: []plan.Step{{Index: "1", Title: "Patch", Executor: plan.ExecutorTool, Tool: "fs.patch"}},
	}
	return []event.Data{event.RunStarted{Goal: "patch", Plan: &plan}, event.PlanCreated{Plan: plan, Revision: 1}}
}

func TestGateOfInnerRunIsAnsweredUnderItsOwnID(t *testing.T) {
	a := newAsker(t)
	feed := a.eventFeed()
	gate := event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.patch"}
	allow := func(run string) session.Resolve {
		return session.Resolve{Run: run, Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce}
	}
	prompt := "  Allow fs.patch in step 1?" + choice
	feed("outer", patching()...)
	feed("child", append(patching(), gate)...)
	a.wantOutput(prompt)
	a.typeLine("y")
	a.wantSent(allow("child"))
	feed("child", event.GateResolved{Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}})
	feed("outer", gate)
	a.wantOutput(prompt)
	a.typeLine("y")
	a.wantSent(allow("outer"))
}

func TestDenialAtGateIsFinal(t *testing.T) {
	for why, want := range map[untrusted.Text]string{plan.DeniedAtGate: "", "denied by --deny fs.patch": "  1 fs.patch denied: [r]etry, [s]kip it, re[p]lan, [a]bort, [?]: "} {
		a := newAsker(t)
		events := patching()
		started := events[0].(event.RunStarted)
		started.Model, started.Attended = "m", true
		a.eventFeed()("r", started, events[1], event.StepFailed{Index: "1", Attempt: 1, Failure: event.FailureDenied, Error: why})
		if want != "" {
			a.wantOutput(want)
			a.typeLine("a")
		}
		a.wantSent(session.ResolveFailure{Run: "r", Step: "1", Decision: event.FailureAbort})
		if len(a.output) > 0 {
			t.Errorf("asked %q", <-a.output)
		}
	}
}

func TestEndOfInnerRunDropsItsQuestions(t *testing.T) {
	a := newAsker(t)
	feed := a.eventFeed()
	feed("outer", append(patching(), event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.patch"})...)
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	feed("child", append(patching(), event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.write"})...)
	feed("child", event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted}})
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "outer", Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
	// The child's question is dropped: the next question is the last one.
	a.q.put(gateOf("last", "2", "test.run"))
	a.wantOutput("  Allow test.run in step 2?" + choice)
}

func TestOutputDuringQuestionGetsItsOwnLines(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  Allow fs.patch in step 1?" + choice
	a.wantOutput(prompt)
	if _, err := io.WriteString(a.q.out, "✓ step 2\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n", "✓ step 2\n", prompt} {
		a.wantOutput(want)
	}
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeOnce})
	if _, err := io.WriteString(a.q.out, "✓ step 1\n"); err != nil {
		t.Fatal(err)
	}
	a.wantOutput("✓ step 1\n")
}

// A user who reads the diff of one gate must not answer the question of another.
func TestOpenQuestionNamesItsGateOnceBelowAnotherGate(t *testing.T) {
	a := newAsker(t)
	log, feed := plain.New(a.q.out, "s", plain.Options{}), a.eventFeed()
	install := event.GateRequested{Gate: "servers.1", Title: "Install gopls\x1b[2J"}
	feed("s", install)
	prompt := "  Install gopls^[[2J? [y]es, [n]o, [?]: "
	a.wantOutput(prompt)
	patch := event.GateRequested{Gate: "1.1.1", Step: "1", Title: "Patch", Tool: "fs.patch", Diff: "-a\n-b\n+c\n+d\n"}
	for i, d := range append(patching(), patch) {
		if err := log.Event(event.Event{Seq: uint64(i + 1), Time: time.Unix(1, 0), Run: "r", Data: d}); err != nil {
			t.Fatal(err)
		}
		feed("r", d)
		a.wantOutput("\n")
		if got := <-a.output; d.Kind() == patch.Kind() && !strings.HasSuffix(got, "    -a\n    -b\n    +c\n    +d\n") {
			t.Errorf("got output %q, want the whole gate", got)
		}
		a.wantOutput(prompt)
	}
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "s", Gate: "servers.1", Decision: event.Allow, Scope: event.ScopeOnce})
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
}

func TestGateAsksWithItsFilesAndRepeatsItsHeadBelowALongDiff(t *testing.T) {
	ask := func(diff string, files ...string) string {
		g := event.GateRequested{Gate: "g", Step: "4", Title: "Apply the change", Tool: "fs.patch", Trusted: true, Diff: diff, Hashes: map[string]string{}}
		for _, name := range files {
			g.Hashes[name] = "h"
		}
		return gateQuestion("r", g, func(map[string]any) error { return nil }, false).prompt
	}
	short := "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n"
	long := short + "--- a/b.go\n+++ b/b.go\n@@ -0,0 +1,20 @@\n" + strings.Repeat("+line\n", 20)
	for got, want := range map[string]string{
		ask(short, "a.go"):        "  Allow fs.patch on a.go in step 4?" + choice,
		ask(long, "a.go", "b.go"): "  4 Apply the change  fs.patch  a.go +1 -1 and b.go +20 -0\n  Allow fs.patch on 2 files in step 4?" + choice,
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAlwaysShowsTheRuleBeforeSavingIt(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateQuestion("r", event.GateRequested{
		Gate: "g", Step: "1", Tool: "fs.patch", Always: &event.Always{Text: "[[policy]]\ntool = 'workspace:fs.patch'\naction = 'allow'\n"},
	}, func(map[string]any) error { return nil }, false))
	prompt := "  Allow fs.patch in step 1? [y]es, [r] for this run, [a]lways, [n]o, [e]dit, [?]: "
	rule := "  this rule will be added to your configuration, before the other rules:\n    [[policy]]\n    tool = 'workspace:fs.patch'\n    action = 'allow'\n"
	saving := "  save it, and allow this call? [y]es, [n]o: "
	a.wantOutput(prompt)
	a.typeLine("a")
	a.wantOutput(rule)
	a.wantOutput(saving)
	a.typeLine("a")
	a.wantOutput(saving)
	a.typeLine("n")
	a.wantOutput(prompt)
	a.typeLine("Always")
	a.wantOutput(rule)
	a.wantOutput(saving)
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeAlways})
}

func TestAlwaysAsksWhetherItMeansTheCallOrTheTool(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateQuestion("r", event.GateRequested{
		Gate: "g", Step: "1", Tool: "search", Always: &event.Always{Text: "this\n"}, AlwaysTool: &event.Always{Text: "any\n"},
	}, func(map[string]any) error { return nil }, false))
	head := "  this rule will be added to your configuration, before the other rules:\n    "
	saving := "  save it, and allow this call? [y]es, [n]o: "
	prompt := "  Allow search in step 1? [y]es, [r] for this run, [a]lways, [n]o, [e]dit, [?]: "
	choose := "  always [c] this call, [t] this tool with any arguments, [n] neither: "
	a.wantOutput(prompt)
	a.typeLine("a")
	a.wantOutput(choose)
	a.typeLine("c")
	a.wantOutput(head + "this\n")
	a.wantOutput(saving)
	a.typeLine("n")
	a.wantOutput(prompt)
	a.typeLine("a")
	a.wantOutput(choose)
	a.typeLine("t")
	a.wantOutput(head + "any\n")
	a.wantOutput(saving)
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeTool})
}

func TestRefusedAlwaysGivesTheReason(t *testing.T) {
	a := newAsker(t)
	g := event.GateRequested{Gate: "g", Step: "1", Tool: "fs.patch", NoAlways: "its arguments carry text from a result"}
	a.q.put(gateQuestion("r", g, func(map[string]any) error { return nil }, false))
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	a.typeLine("a")
	a.wantOutput("  not always: its arguments carry text from a result\n")
	a.wantOutput("  Allow fs.patch in step 1?" + choice)
	a.typeLine("n")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Deny, Scope: event.ScopeOnce})
}

func TestCallIsEditedAsOneLineOfJSON(t *testing.T) {
	a := newAsker(t)
	g := event.GateRequested{Gate: "g", Step: "1", Tool: "fs.write", Args: map[string]any{"path": "A.md", "text": "x\x1b[2J"}}
	a.q.put(gateQuestion("r", g, func(args map[string]any) error {
		if args["path"] == nil {
			return errors.New("the args of fs.write do not fit: path is missing")
		}
		return nil
	}, false))
	prompt, edit := "  Allow fs.write in step 1?"+choice, "  the arguments, as one line of JSON (empty keeps them): "
	a.wantOutput(prompt)
	a.typeLine("e")
	a.wantOutput("  {\"path\":\"A.md\",\"text\":\"x\\u001b[2J\"}\n")
	a.wantOutput(edit)
	a.typeLine("{nonsense")
	if output := <-a.output; !strings.HasPrefix(output, "  this is not JSON") {
		t.Errorf("got output %q", output)
	}
	a.wantOutput(edit)
	a.typeLine("[1]")
	a.wantOutput("  arguments are a JSON object such as {\"name\": \"value\"}\n")
	a.wantOutput(edit)
	a.typeLine(`{"text": "y"}`)
	a.wantOutput("  the args of fs.write do not fit: path is missing\n")
	a.wantOutput(edit)
	a.typeLine("")
	a.wantOutput(prompt)
	a.typeLine("E")
	a.wantOutput("  {\"path\":\"A.md\",\"text\":\"x\\u001b[2J\"}\n")
	a.wantOutput(edit)
	a.typeLine(`{"path": "Docs/B.md", "text": "Y"}`)
	a.wantSent(session.Edit{Run: "r", Gate: "g", Args: map[string]any{"path": "Docs/B.md", "text": "Y"}})
}
