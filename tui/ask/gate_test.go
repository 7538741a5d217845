package ask_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/panetest"
)

func TestGateAnswers(t *testing.T) {
	for key, want := range map[string]session.Command{
		"y": answer("4.1.1", event.Allow, event.ScopeOnce),
		"r": answer("4.1.1", event.Allow, event.ScopeRun),
	} {
		t.Run(key, func(t *testing.T) {
			s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
			s.Type(key)
			s.Sent(want)
			if s.dialog.Showing() {
				t.Error("the gate is still open after its answer")
			}
		})
	}
}

func TestOtherKeysDoNotAnswerGate(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
	s.Press(panetest.Named("enter", "tab", "ctrl+y", "ctrl+d")...)
	s.Type("qYNR ")
	s.Update(tea.PasteMsg{Content: "y"})
	s.Sent()
	if !s.dialog.Showing() {
		t.Error("the gate closed without an answer")
	}
}

func TestGateNamesItsKeysAtOthers(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
	s.Type("x")
	s.Wants("x is no answer: use y, r, n or e. Esc looks around.")
	s.Rest()
	s.Press(panetest.Key("enter"))
	s.Wants("Enter is no answer: use y, r, n or e. Esc looks around.")
	s.Sent()
}

func TestRuleAndEditorOfGateIgnoreEarlyKeys(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HelperGate())...)
	s.Touch(panetest.Key("a"))
	s.Touch(panetest.Key("y"))
	s.Sent()
	s.Wants("Allow always", "y came too early; press it again.")
	s.Touch(panetest.Key("esc")) // leaving saves nothing, and counts at once
	s.Lacks("Allow always")
	s.Rest()
	s.Touch(panetest.Key("e"))
	before := s.draw()
	for _, k := range panetest.Letters("dit") {
		s.Touch(k)
	}
	s.Wants("t came too early")
	if got := s.draw(); !slices.Equal(got, before) {
		t.Errorf("typed into the editor:\n%s", s.Text())
	}
}

// TestEarlyKeyIsNamedForAWhile: whoever looks up after the key sees what became of it.
func TestEarlyKeyIsNamedForAWhile(t *testing.T) {
	s := open(t, 120, 36).happens(renames(panetest.HandlerGate())...)
	s.Type("y")
	s.Wants("y came too early; press it again.")
	s.Rest() // the grace time is over
	s.Wants("y came too early; press it again.")
	s.Rest() // the message has been shown
	s.Lacks("too early")

	s = open(t, 120, 60).happens(renames(panetest.HandlerGate())...)
	s.Type("y")
	s.Rest()
	s.Type("y")
	s.Lacks("too early")
	s.Sent(allow("4.1.1"))
}

// TestNewGateBesideHiddenOneIgnoresKeys: the dialog opens again at the gate that the
// user left, while the keys went to the input.
func TestNewGateBesideHiddenOneIgnoresKeys(t *testing.T) {
	s := settled(t, 120, 60, abreast("1")...)
	s.Press(panetest.Key("esc"))
	s.happens(panetest.Reading("2"))
	s.Wants("Gate 1 of 2")
	s.Touch(panetest.Key("y"))
	s.Sent()
	s.Wants("too early")
}

func TestAnswerFromElsewhereClosesGate(t *testing.T) {
	s := open(t, 120, 36).happens(renames(panetest.HandlerGate())...)
	s.happens(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "--approve all"})
	if s.dialog.Showing() {
		t.Error("the gate is still open")
	}
}

func TestServersOfAProjectAreAnsweredByYesOrNo(t *testing.T) {
	s := open(t, 120, 36)
	for _, question := range panetest.ToolServers() {
		s.pending.Open("s-1", question)
	}
	s.happens()
	s.Rest()
	s.Wants("npx -y @example/tickets-mcp --project auth")
	s.Type("r")
	s.Sent()
	s.Wants("y or n")
	s.Type("y")
	s.Sent(session.Resolve{Run: "s-1", Gate: "servers.1", Decision: event.Allow, Scope: event.ScopeOnce})
}

func TestGateShowsWholeCall(t *testing.T) {
	s := settled(t, 120, 60, renames(panetest.HandlerGate())...)
	s.Type("i")
	s.Wants(
		"it changes files of the workspace", "func verifyUser(ctx context.Context, token string) (User, error) {",
		"\"auth/handler.go\"", "+// verifyUser returns", "-// authenticate returns", `"new" includes output of step 2 (fs.read)`,
	)
}

func TestWorkspaceComputedArgumentsRaiseNoWarning(t *testing.T) {
	// routed is a rename whose diff and hashes come from a tool of a server, trusted or not.
	routed := func(t *testing.T, trusted bool, tool string) *screen {
		gate := panetest.HandlerGate()
		gate.Provenance = []rule.Provenance{{Arg: "diff", Step: "2", Tool: tool}, {Arg: "hashes", Step: "2", Tool: tool}}
		return settled(t, 120, 60, renames(gate, plan.Tool{Name: tool, Server: "s", Trusted: trusted, ReadOnly: true, Annotated: true})...)
	}
	s := routed(t, true, "code.transform")
	s.Wants("computed by step 2 (code.transform) ▸")
	s.Type("i")
	s.Wants(`"diff" and "hashes" include what was computed by step 2 (code.transform)`)
	s.Lacks("untrusted", "beware")
	for name, s := range map[string]*screen{"untrusted server": routed(t, false, "code.transform"), "text that was read": routed(t, true, "fs.read")} {
		t.Run(name, func(*testing.T) {
			s.Wants("arguments include output of step 2", "contains untrusted text")
			s.Lacks("beware")
			s.Type("i")
			s.Wants(`"diff" and "hashes" include output of step 2`, "an untrusted result")
		})
	}
}

func TestNotesOfGatePointToDetailsOnce(t *testing.T) {
	gate := panetest.HandlerGate()
	gate.Provenance = []rule.Provenance{{Arg: "diff", Step: "2", Tool: "fs.read"}}
	glyph := panetest.DarkLook().Glyphs.Folded
	for height := 16; height < 60; height++ {
		s := settled(t, 120, height, renames(gate)...)
		if text := s.Text(); strings.Contains(text, glyph+" "+glyph) {
			t.Fatalf("in %d lines:\n%s", height, text)
		}
	}
}

func TestGateOpensAtFirstChangedLine(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {60, 20}, {80, 24}, {120, 36}, {200, 60}} {
		s := open(t, size[0], size[1]).happens(renames(panetest.HandlerGate())...)
		s.Wants("-    user, err := authenticate(r", "asks: ")
		if size[1] >= 24 {
			s.Wants("auth/handler.go  +3 −3")
		}
	}
}

func TestYesIsTakenOnceAllChangesWereInView(t *testing.T) {
	s := settled(t, 40, 12, renames(panetest.HandlerGate())...)
	s.Wants("y once (4 more)")
	s.Touch(panetest.Key("y"))
	s.Sent()
	s.Wants("y shows the next", "-// authenticate returns") // the next unseen part
	s.Type("y")
	s.Sent() // a key held down does not answer
	for range 20 {
		s.Rest()
		if strings.Contains(s.Text(), "This is the rest of it") {
			break
		}
		s.Type("r")
		s.Sent()
	}
	s.Type("r")
	s.Sent(answer("4.1.1", event.Allow, event.ScopeRun))

	s = settled(t, 80, 24, renames(panetest.HandlerGate())...)
	s.Wants("y allow once (3 more changed lines below)")
	s.Type("r")
	s.Sent()
	s.Rest()
	s.Type("j")
	s.seen()
	s.Lacks("more changed line")
	s.Type("y")
	s.Sent(allow("4.1.1"))
}

// TestRestOfChangesIsNotUnread: the first yes scrolls to the end of the changes.
func TestRestOfChangesIsNotUnread(t *testing.T) {
	s := settled(t, 80, 24, renames(panetest.HandlerGate())...)
	s.Wants("y allow once (3 more changed lines below)")
	s.Type("y")
	s.Sent()
	s.Wants("This is the rest of it; y again allows it.")
	s.Lacks("more changed line")
}

// TestEndOfGateIsReached: the answers may need another line once all changes were in
// view.
func TestEndOfGateIsReached(t *testing.T) {
	for _, size := range [][2]int{{100, 36}, {80, 24}, {60, 20}} {
		for n := 4; n < 40; n += 3 {
			gate := panetest.Patching("5", "a.md", panetest.PatchRule)
			gate.Diff = fmt.Sprintf("--- a/a.md\n+++ b/a.md\n@@ -0,0 +1,%d @@\n", n) + strings.Repeat("+new\n", n-1) + "+the end\n"
			s := settled(t, size[0], size[1], renames(gate)...)
			s.Press(panetest.Key("end"))
			s.Wants("+the end")
		}
	}
}

func TestSeenChangesStaySeen(t *testing.T) {
	s := settled(t, 80, 24, renames(panetest.HandlerGate())...).seen()
	s.resize(60, 20)
	s.Press(panetest.Named("pgup", "pgup", "pgup")...)
	s.Lacks("more changed line")
	s.Type("as")
	s.Press(panetest.Key("esc"))
	s.dialog.Reopen()
	s.Lacks("more changed line")
}

func TestLinesBehindOtherDialogAreUnseen(t *testing.T) {
	s := open(t, 40, 12)
	s.over = true
	s.happens(renames(panetest.HandlerGate())...)
	s.seen()
	s.over = false
	s.resize(40, 12)
	s.Wants("more)")
}

func TestAlwaysIsOfferedOnlyWithRule(t *testing.T) {
	open(t, 120, 36).happens(renames(panetest.HandlerGate())...).Lacks("a always")
	open(t, 120, 36).happens(renames(panetest.HelperGate())...).Wants("a always…")
}

func TestAlwaysShowsRuleBeforeSaving(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HelperGate())...)
	s.Type("a")
	s.Wants("[[policy]]", "tool = 'workspace:fs.patch'", "args = {path = 'auth/jwt.go', all = '', diff = ''}", "workspace = '/src/auth-service'", "action = 'allow'")
	s.Type("are ")
	s.Press(panetest.Key("enter"))
	s.Sent() // only y saves it
	s.Press(panetest.Key("esc"))
	s.Sent()
	s.Lacks("[[policy]]")
	if !s.dialog.Showing() {
		t.Fatal("leaving the rule closes the gate")
	}
	s.Type("a")
	s.Wants("action = 'allow'")
	s.Type("y")
	s.Sent(answer("7.2.1", event.Allow, event.ScopeAlways))
	if s.dialog.Showing() {
		t.Error("the gate is still open after its answer")
	}
}

func TestAlwaysRequiresReadingWholeRule(t *testing.T) {
	gate := panetest.HelperGate()
	gate.Always.Text = "[[policy]]\ntool = 'x'\nargs = {a = '1', b = '2', c = '3', d = '4', e = '5', f = '6', g = '7', h = '8', i = '9', j = '10', k = '11', l = '12', m = '13', n = '14', o = '15', p = '16'}\naction = 'allow'\n"
	s := settled(t, 40, 12, renames(gate)...)
	s.Type("a")
	s.Wants("[[policy]]")
	s.Type("y")
	s.Sent()
	s.Wants("Read the whole rule")
	s.Type("jjjjj")
	s.Wants("action = 'allow'")
	s.Type("y")
	s.Sent(answer("7.2.1", event.Allow, event.ScopeAlways))
}

func TestAlwaysSaysWhyNoRuleIsOffered(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
	s.Type("a")
	s.Sent()
	s.Wants(`"always" is off: the arguments come from a result that can change.`)
	s.Type("y")
	s.Sent(allow("4.1.1"))
}

// patch is the tool that the gates of renames are about.
var patch = plan.Tool{
	Name: "fs.patch", Server: "workspace", Trusted: true, Annotated: true, Previews: true,
	InputSchema: []byte(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}}}`),
}

func TestGateCallCanBeEdited(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HelperGate(), patch)...)
	s.Queries = previews{}
	s.Type("e")
	s.Wants("Edit arguments", "all   not set") // an argument that the call does not have
	s.kill()                                   // the new text
	s.Update(tea.PasteMsg{Content: "${x} stays"})
	s.Press(panetest.Key("shift+tab"))
	s.Update(tea.PasteMsg{Content: `"yes"`})
	s.Press(panetest.Key("ctrl+s"))
	s.Sent()
	s.Wants("Not sent: the args of fs.patch do not fit: all: got string, want boolean")
	s.Press(panetest.Key("ctrl+z"))
	s.Update(tea.PasteMsg{Content: "true"})
	s.Press(panetest.Key("ctrl+s"))
	s.Sent(session.Edit{Run: run, Gate: "7.2.1", Args: map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "${x} stays", "all": true}})
	if s.dialog.Showing() {
		t.Error("the gate of the old call is still open")
	}
}

func TestEditedCallThatCannotBeMadeIsNotSent(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HelperGate())...)
	s.Queries = previews{err: errors.New("the diff cannot be read: line 3")}
	s.Type("eX")
	s.Press(panetest.Key("ctrl+s"))
	s.Sent()
	s.Wants("Edit arguments", "Not sent: the diff cannot be read: line 3")
	s.Queries = previews{}
	s.Type("Y")
	s.Lacks("Not sent")
	if s.Press(panetest.Key("ctrl+s")); s.dialog.Showing() {
		t.Error("the gate of the old call is still open")
	}
}

func TestEditedCallOpensNewGate(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HelperGate(), patch)...)
	edited := panetest.HelperGate()
	edited.Gate, edited.Args = "7.2.1e1", map[string]any{"path": "docs/a.md"}
	edited.Diff = "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-x\n+y\n"
	s.happens(event.GateResolved{Gate: "7.2.1", Decision: event.Edit, Scope: event.ScopeOnce, By: "user", Args: edited.Args}, edited)
	s.Wants("docs/a.md")
	s.Touch(panetest.Key("y"))
	s.Sent() // just opened: the grace time starts again
	s.Rest()
	s.Type("y")
	s.Sent(allow("7.2.1e1"))
}

// TestRepeatedCallIsOfferedForTheRun: the second gate for a call says which answer
// allows the next ones.
func TestRepeatedCallIsOfferedForTheRun(t *testing.T) {
	const offer = "r test.run for this run (otherwise it asks again)"
	gate := func(step string, args map[string]any) event.GateRequested {
		return event.GateRequested{
			Gate: step + ".1.1", Step: step, Title: "Run the tests", Tool: "test.run", Server: "workspace", Trusted: true, Args: args,
			Command: &plan.Command{Argv: []string{"go", "test", "./..."}},
		}
	}
	all, one := map[string]any{"allow_none": true}, map[string]any{"path": "./auth"}
	for name, c := range map[string]struct {
		args   map[string]any
		by     event.Decision
		offers bool
	}{
		"same call":         {all, event.Allow, true},
		"another call":      {one, event.Allow, false},
		"a call was denied": {all, event.Deny, false},
	} {
		t.Run(name, func(t *testing.T) {
			begins := abreast()
			for _, i := range []int{0, 1} {
				begins[1].(event.PlanCreated).Plan.Steps[i].Tool = "test.run"
			}
			s := settled(t, 120, 36, append(begins, gate("1", all))...)
			s.Wants("r test.run for this run")
			s.Lacks(offer)
			s.happens(event.GateResolved{Gate: "1.1.1", Decision: c.by, Scope: event.ScopeOnce, By: "user"})
			if c.by == event.Allow {
				s.happens(event.StepStarted{Index: "1", Attempt: 1, Executor: plan.ExecutorTool, Tool: "test.run", Args: all}, event.StepCompleted{Index: "1", Attempt: 1})
			} else {
				s.happens(event.StepFailed{Index: "1", Attempt: 1, Error: "denied at the gate", Failure: event.FailureDenied})
			}
			s.happens(gate("2", c.args))
			s.Wants("test.run")
			if got := strings.Contains(s.Text(), offer); got != c.offers {
				t.Errorf("offered: %t\n%s", got, s.Text())
			}
		})
	}
}
