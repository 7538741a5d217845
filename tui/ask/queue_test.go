package ask_test

import (
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/panetest"
)

// abreast is a run whose calls wait at gates, in the given order.
func abreast(gates ...string) []event.Data {
	return append([]event.Data{started()}, panetest.Abreast("", gates...)...)
}

// crowded is a run of which five calls wait at once, three of them similar.
func crowded() []event.Data { return append([]event.Data{started()}, panetest.Crowd("")...) }

func TestSeveralGatesQueue(t *testing.T) {
	gate := func(step string) event.GateRequested {
		return event.GateRequested{Gate: step + ".1.1", Step: step, Title: untrusted.Text("Question " + step), Tool: "fs.read", Args: map[string]any{"path": step}}
	}
	s := settled(t, 120, 36, append(renames(gate("4")), gate("5"))...)
	s.Wants("Gate 1 of 2", "Question 4")
	s.Touch(panetest.Key("y"))
	s.Wants("Question 5")
	s.Lacks("of 2")
	s.Touch(panetest.Key("y")) // too early for the second
	s.Rest()
	s.Touch(panetest.Key("n"))
	s.Press(panetest.Key("enter"))
	s.Sent(allow("4.1.1"), deny("5.1.1"))
	if s.dialog.Showing() {
		t.Error("a gate is still open")
	}
}

func TestGatesQueueInPlanOrder(t *testing.T) {
	s := settled(t, 120, 40, abreast("3", "1", "2")...)
	for _, step := range []string{"1", "2", "3"} {
		s.Wants("Gate "+step+" of 3", "Step "+step)
		s.Press(panetest.Key("tab"))
	}
	s = settled(t, 120, 40, abreast("3")...)
	s.Wants("Step 3")
	s.happens(panetest.Reading("1"), panetest.Reading("2"))
	s.Wants("Gate 3 of 3", "Step 3") // the shown gate stays
	s.Press(panetest.Key("esc"))
	s.dialog.Reopen()
	s.Wants("Gate 3 of 3")
}

func TestShortGateListsWaitingCalls(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		settled(t, size[0], size[1], abreast("1", "2", "3")...).Wants("step 2  vcs.push", "step 3  vcs.push")
	}
}

func TestListOfGatesSaysWhichPartItShows(t *testing.T) {
	settled(t, 120, 36, crowded()...).seen().Lacks("-5 of 5")
	settled(t, 80, 20, crowded()...).seen().Wants("1-3 of 5")
}

func TestTheQueueOfGatesIsDrawn(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []tea.KeyPressMsg
	}{
		{"listed", nil},
		{"the second", panetest.Named("tab")},
		{"the rule of the configuration", panetest.Named("tab", "tab")},
		{"all like this", panetest.Letters("A")},
	} {
		for _, size := range [][2]int{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				s := settled(t, size[0], size[1], crowded()...)
				s.Press(c.keys...)
				s.Rest()
				golden.RequireEqual(t, s.Front()+"\n")
			})
		}
	}
}

func TestTabCyclesThroughGates(t *testing.T) {
	s := settled(t, 120, 40, crowded()...)
	for _, c := range []struct{ key, want string }{
		{"tab", "Gate 2 of 5"}, {"tab", "Gate 3 of 5"}, {"shift+tab", "Gate 2 of 5"}, {"shift+tab", "Gate 1 of 5"}, {"shift+tab", "Gate 5 of 5"}, {"tab", "Gate 1 of 5"},
	} {
		s.Press(panetest.Key(c.key)) // no grace time between them
		s.Wants(c.want)
	}
	s.Press(panetest.Key("tab"))
	s.Touch(panetest.Key("y"))
	s.Sent() // the gate just came into view and takes no answer yet
	s.Rest()
	s.seen()
	s.Touch(panetest.Key("y"))
	s.Sent(allow("3.1.1"))
	s.Wants("Gate 2 of 4", "secret/key.go")
}

func TestShownGateStaysWhenOthersAreAnswered(t *testing.T) {
	s := settled(t, 120, 40, crowded()...)
	s.Press(panetest.Named("tab", "tab")...)
	s.Wants("Patch secret/key.go")
	s.happens(event.GateResolved{Gate: "2.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"})
	s.Wants("Gate 2 of 4", "Patch secret/key.go")
}

func TestClickChoosesGateInQueue(t *testing.T) {
	s := settled(t, 120, 40, crowded()...)
	s.ClickOn("step 5  vcs.push")
	s.Wants("Gate 4 of 5", "Push it")
}

// all opens the joint answer to the similar calls.
func all(t *testing.T, width, height int) *screen {
	t.Helper()
	s := settled(t, width, height, crowded()...)
	s.Type("A")
	return s
}

func TestApproveSimilarAllowsEachMatchingCallOnce(t *testing.T) {
	s := all(t, 120, 60)
	s.Sent()
	s.Wants("Allows these 3 calls of fs.patch once each.", "auth/handler.go", "auth/jwt.go", "auth/user.go", "contains untrusted text")
	s.Lacks("secret/key.go")
	s.Touch(panetest.Key("y"))
	s.Sent(allow("2.1.1"), allow("3.1.1"), allow("6.1.1"))
	s.Wants("Gate 1 of 2", "Patch secret/key.go")
}

func TestApproveSimilarCanBeCanceled(t *testing.T) {
	s := all(t, 120, 40)
	s.Press(panetest.Key("esc"))
	s.Wants("Gate 1 of 5")
	s.Sent()
}

func TestSimilarCallsAreDeniedTogether(t *testing.T) {
	s := all(t, 120, 60)
	s.Touch(panetest.Key("n"))
	s.Sent(deny("2.1.1"), deny("3.1.1"), deny("6.1.1"))
}

func TestCallsThatAreLeftOutAreDenied(t *testing.T) {
	s := settled(t, 120, 60, crowded()...)
	s.Press(panetest.Key("tab"))
	s.Rest()
	s.Type(" A")
	s.Wants("allow these 2, once each, and deny the 1 left out")
	s.Touch(panetest.Key("y"))
	s.Sent(allow("2.1.1"), deny("3.1.1"), allow("6.1.1"))
}

func TestCallsCanBeLeftOutWhereAllAreShown(t *testing.T) {
	s := all(t, 120, 60)
	s.Rest()
	s.Press(panetest.Named("tab", "space")...)
	s.Wants("2 of 3, left out", "allow these 2, once each, and deny the 1 left out")
	s.Press(panetest.Named("tab", "space", "tab", "space")...)
	s.Wants("All others are left out: n denies all of them")
	s.Press(panetest.Named("tab", "space")...) // takes the second one back
	s.Touch(panetest.Key("y"))
	s.Sent(allow("2.1.1"), allow("3.1.1"), deny("6.1.1"))
}

func TestAllSimilarNeedsOneCallThatIsNotLeftOut(t *testing.T) {
	s := settled(t, 120, 60, crowded()...)
	for _, tabs := range []int{0, 1, 3} {
		s.Press(slices.Repeat(panetest.Named("tab"), tabs)...)
		s.Rest()
		s.Press(panetest.Key("space"))
	}
	s.Type("A")
	s.Wants("All of them are left out")
	s.Sent()
}

func TestApproveSimilarClosesWhenOneIsAnsweredElsewhere(t *testing.T) {
	s := all(t, 120, 40).happens(event.GateResolved{Gate: "6.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"})
	s.Lacks("Allows these")
	s.Wants("Gate 1 of 4")
	s.Sent()
}

func TestApproveSimilarSkipsLaterGates(t *testing.T) {
	s := all(t, 120, 60).happens(panetest.Patching("1", "auth/late.go", panetest.PatchRule))
	s.Lacks("auth/late.go")
	s.Wants("Allows these 3 calls")
	s.Touch(panetest.Key("y"))
	s.Sent(allow("2.1.1"), allow("3.1.1"), allow("6.1.1"))
}

func TestApproveSimilarRequiresReadingWholeList(t *testing.T) {
	s := all(t, 40, 12)
	s.Wants("Allows these 3 calls")
	s.Type("y")
	s.Sent()
	s.Wants("Read the whole list first")
	for range 20 {
		s.Type("j")
	}
	s.Touch(panetest.Key("y"))
	s.Sent(allow("2.1.1"), allow("3.1.1"), allow("6.1.1"))
}

func TestApproveSimilarRequiresReadingLongerListAgain(t *testing.T) {
	s := all(t, 40, 12).seen()
	s.Press(panetest.Key("esc"))
	s.happens(panetest.Patching("1", "auth/late.go", panetest.PatchRule))
	s.Rest()
	s.Type("A")
	s.Wants("Allows these 4 calls")
	s.Type("y")
	s.Sent()
	s.Wants("Read the whole list first")
}

func TestApproveSimilarReportsNoMatch(t *testing.T) {
	s := settled(t, 120, 36, renames(panetest.HandlerGate())...)
	s.Type("A")
	s.Wants("No other waiting gate has the same tool and rule")
	s.Sent()
	s = settled(t, 120, 36, crowded()...)
	s.Press(panetest.Named("tab", "tab")...)
	s.Rest()
	s.Type("A")
	s.Wants("No other waiting gate has the same tool and rule") // another rule asks about it
	s.Sent()
}

func TestGateShowsRuleAndAllowedCalls(t *testing.T) {
	s := settled(t, 120, 40, crowded()...)
	s.Wants("asks: changes files · built-in rule ▸")
	s.Lacks("why it asks")
	s.Type("i")
	s.Wants(
		"why      it changes files", "rule     tools that can change or delete data need your approval (built-in rule)",
		"allowed  workspace:fs.write with any arguments (in this run, from the next call on)",
	)
	s.Type("i")
	s.Lacks("why it asks")
	s.Press(panetest.Named("tab", "tab")...)
	s.Wants("asks: secrets are looked at · rule in config.toml ▸")
	s.Rest()
	s.Type("i")
	s.Wants("why      secrets are looked at", "rule     fs.patch path=secret/** needs your approval (config.toml)")
}
