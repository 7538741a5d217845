package ask

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning/plan"
)

// asker puts questions to somebody who types, and tells what was said to them and
// what was sent for them.
type asker struct {
	t     *testing.T
	q     *Questions
	typed *io.PipeWriter
	said  chan string // each write
	sent  chan runner.Command
}

// Write takes what is said to the user.
func (a *asker) Write(p []byte) (int, error) {
	a.said <- string(p)
	return len(p), nil
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	in, typed := io.Pipe()
	a := &asker{t: t, typed: typed, said: make(chan string, 100), sent: make(chan runner.Command, 100)}
	input, err := NewInput(in)
	if err != nil {
		t.Fatal(err)
	}
	a.q = New(input, NewOutput(a), func(c runner.Command) { a.sent <- c }, Options{Gates: true})
	t.Cleanup(func() {
		_ = typed.Close()
		a.q.Close()
	})
	return a
}

// hears holds what is said to the user next.
func (a *asker) hears(want string) {
	a.t.Helper()
	if got := <-a.said; got != want {
		a.t.Fatalf("it says %q, want %q", got, want)
	}
}

// types answers with a line.
func (a *asker) types(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.typed, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// sends holds what is sent next.
func (a *asker) sends(want runner.Command) {
	a.t.Helper()
	if got := <-a.sent; !reflect.DeepEqual(got, want) {
		a.t.Fatalf("it sends %+v, want %+v", got, want)
	}
}

const choice = " [y]es once, [r] for this run, [n]o, [e]dit, [?]: "

func gateOf(gate, step, tool string) question {
	return gateQuestion("r", event.GateRequested{Gate: gate, Step: step, Tool: tool}, func(map[string]any) error { return nil })
}

func TestAQuestionIsAskedWhenTheOneBeforeItIsAnswered(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("first", "1", "fs.patch"))
	a.q.put(gateOf("second", "2", "test.run\x1b[2J"))
	a.hears("  open this gate? (1 fs.patch)" + choice)
	a.types("y")
	a.sends(runner.Resolve{Run: "r", Gate: "first", Decision: event.Allow, Scope: event.ScopeOnce})
	a.hears("  open this gate? (2 test.run^[[2J)" + choice)
	a.types("run")
	a.sends(runner.Resolve{Run: "r", Gate: "second", Decision: event.Allow, Scope: event.ScopeRun})
}

func TestWhatIsNoAnswerIsAskedAgainAndTheEndOfInputIsTheCarefulOne(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  open this gate? (1 fs.patch)" + choice
	for line, says := range map[string]string{"": "", "yse\x1b[2J": "  yse^[[2J is no answer here; ? explains them\n", "d": "  d is no answer here; ? explains them\n"} {
		a.hears(prompt)
		a.types(line)
		if says != "" {
			a.hears(says)
		}
	}
	a.hears(prompt)
	_ = a.typed.Close()
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: event.Deny, Scope: event.ScopeOnce})
	a.hears("\n") // since nobody pressed enter
}

func TestAQuestionMarkExplainsTheAnswers(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	for _, line := range []string{"?", "Help"} {
		a.hears("  open this gate? (1 fs.patch)" + choice)
		a.types(line)
		said := <-a.said
		for _, answer := range []string{"y, yes, once: ", "r, run: ", "a, always: ", "n, no, deny: ", "e, edit: "} {
			if !strings.Contains(said, "\n    "+answer) && !strings.HasPrefix(said, "    "+answer) {
				t.Errorf("%s does not explain %q: %q", line, answer, said)
			}
		}
	}
	a.hears("  open this gate? (1 fs.patch)" + choice)
	a.types("once")
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestWhatWasDecidedMeanwhileIsAskedNoMore(t *testing.T) {
	a := newAsker(t)
	for _, gate := range []string{"first", "second", "third"} {
		a.q.put(gateOf(gate, gate, "fs.patch"))
	}
	a.hears("  open this gate? (first fs.patch)" + choice)
	a.q.decided("r", "first")
	a.q.decided("r", "second")
	a.types("y") // to a question that is open no more
	a.hears("  open this gate? (third fs.patch)" + choice)
	a.types("n")
	a.sends(runner.Resolve{Run: "r", Gate: "third", Decision: event.Deny, Scope: event.ScopeOnce})
}

// hearing tells the questions events of two runs as they come, one within the
// other.
func (a *asker) hearing() func(run string, data ...event.Data) {
	seq := map[string]uint64{}
	return func(run string, data ...event.Data) {
		for _, d := range data {
			seq[run]++
			a.q.Hear(event.Event{Seq: seq[run], Time: time.Unix(int64(seq[run]), 0), Run: run, Data: d})
		}
	}
}

// patching is the start of a run with one step that patches a file.
func patching() []event.Data {
	plan := plan.Plan{
		Title: "Patch", Steps: []plan.Step{{Index: "1", Title: "Patch", Executor: plan.ExecutorTool, Tool: "fs.patch"}},
	}
	return []event.Data{event.RunStarted{Goal: "patch", Plan: &plan}, event.PlanCreated{Plan: plan, Revision: 1}}
}

func TestARunWithinARunIsAskedAboutUnderItsOwnName(t *testing.T) {
	a := newAsker(t)
	hear := a.hearing()
	gate := event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.patch"}
	allow := func(run string) runner.Resolve {
		return runner.Resolve{Run: run, Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce}
	}
	prompt := "  open this gate? (1 fs.patch)" + choice
	hear("outer", patching()...)
	hear("child", append(patching(), gate)...)
	a.hears(prompt)
	a.types("y")
	a.sends(allow("child"))
	hear("child", event.GateResolved{Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}})
	hear("outer", gate)
	a.hears(prompt)
	a.types("y")
	a.sends(allow("outer"))
}

func TestWhatARunWithinARunAskedIsForgottenWithIt(t *testing.T) {
	a := newAsker(t)
	hear := a.hearing()
	hear("outer", append(patching(), event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.patch"})...)
	a.hears("  open this gate? (1 fs.patch)" + choice)
	hear("child", append(patching(), event.GateRequested{Gate: "1.1.1", Step: "1", Tool: "fs.write"})...)
	hear("child", event.RunCompleted{Result: event.Result{Status: event.StatusCancelled, Reason: event.ReasonInterrupted}})
	a.types("y")
	a.sends(runner.Resolve{Run: "outer", Gate: "1.1.1", Decision: event.Allow, Scope: event.ScopeOnce})
	// What the child asked is not put any more: the next question is the last one.
	a.q.put(gateOf("last", "2", "test.run"))
	a.hears("  open this gate? (2 test.run)" + choice)
}

func TestWhatHappensWhileAQuestionIsOpenStandsOnLinesOfItsOwn(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateOf("g", "1", "fs.patch"))
	prompt := "  open this gate? (1 fs.patch)" + choice
	a.hears(prompt)
	if _, err := io.WriteString(a.q.out, "✓ step 2\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n", "✓ step 2\n", prompt} {
		a.hears(want)
	}
	a.types("y")
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeOnce})
	if _, err := io.WriteString(a.q.out, "✓ step 1\n"); err != nil {
		t.Fatal(err)
	}
	a.hears("✓ step 1\n")
}

func TestAlwaysIsAskedAboutWithTheRuleBeforeItIsSaved(t *testing.T) {
	a := newAsker(t)
	a.q.put(gateQuestion("r", event.GateRequested{
		Gate: "g", Step: "1", Tool: "fs.patch", Always: &event.Always{Text: "[[policy]]\ntool = 'workspace:fs.patch'\naction = 'allow'\n"},
	}, func(map[string]any) error { return nil }))
	prompt := "  open this gate? (1 fs.patch) [y]es once, [r] for this run, [a]lways, [n]o, [e]dit, [?]: "
	rule := "  this rule will stand in your configuration, before its other rules:\n    [[policy]]\n    tool = 'workspace:fs.patch'\n    action = 'allow'\n"
	saving := "  save it, and let this call pass? [y]es, [n]o: "
	a.hears(prompt)
	a.types("a")
	a.hears(rule)
	a.hears(saving)
	a.types("a")
	a.hears(saving)
	a.types("n")
	a.hears(prompt)
	a.types("Always")
	a.hears(rule)
	a.hears(saving)
	a.types("y")
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeAlways})
}

func TestWhereNoRuleIsOfferedTheLineLogSaysWhy(t *testing.T) {
	a := newAsker(t)
	g := event.GateRequested{Gate: "g", Step: "1", Tool: "fs.patch", NoAlways: "its arguments carry text from a result"}
	a.q.put(gateQuestion("r", g, func(map[string]any) error { return nil }))
	a.hears("  open this gate? (1 fs.patch)" + choice)
	a.types("a")
	a.hears("  not always: its arguments carry text from a result\n")
	a.hears("  open this gate? (1 fs.patch)" + choice)
	a.types("n")
	a.sends(runner.Resolve{Run: "r", Gate: "g", Decision: event.Deny, Scope: event.ScopeOnce})
}

func TestACallIsEditedInOneLineOfJSON(t *testing.T) {
	a := newAsker(t)
	g := event.GateRequested{Gate: "g", Step: "1", Tool: "fs.write", Args: map[string]any{"path": "A.md", "text": "x\x1b[2J"}}
	a.q.put(gateQuestion("r", g, func(args map[string]any) error {
		if args["path"] == nil {
			return errors.New("the args of fs.write do not fit: path is missing")
		}
		return nil
	}))
	prompt, edit := "  open this gate? (1 fs.write)"+choice, "  its arguments, as one line of JSON (empty leaves them): "
	a.hears(prompt)
	a.types("e")
	a.hears("  {\"path\":\"A.md\",\"text\":\"x\\u001b[2J\"}\n")
	a.hears(edit)
	a.types("{nonsense")
	if said := <-a.said; !strings.HasPrefix(said, "  this is not JSON") {
		t.Errorf("it says %q", said)
	}
	a.hears(edit)
	a.types("[1]")
	a.hears("  arguments are an object, as in {\"name\": \"value\"}\n")
	a.hears(edit)
	a.types(`{"text": "y"}`)
	a.hears("  the args of fs.write do not fit: path is missing\n")
	a.hears(edit)
	a.types("")
	a.hears(prompt)
	a.types("E")
	a.hears("  {\"path\":\"A.md\",\"text\":\"x\\u001b[2J\"}\n")
	a.hears(edit)
	a.types(`{"path": "Docs/B.md", "text": "Y"}`)
	a.sends(runner.Edit{Run: "r", Gate: "g", Args: map[string]any{"path": "Docs/B.md", "text": "Y"}})
}
