package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/panetest"
)

// crowded: five calls wait at once, three of them similar; one tool was allowed
// for the run before.
func (s *story) crowded() *story { return s.asked().after(100).run(panetest.Crowd(storyGoal)...) }

func allow(step string) session.Resolve {
	return session.Resolve{Run: storyRun, Gate: step + ".1.1", Decision: event.Allow, Scope: event.ScopeOnce}
}

func deny(step string) session.Resolve {
	answer := allow(step)
	answer.Decision = event.Deny
	return answer
}

func TestTheQueueOfGatesIsDrawn(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []tea.KeyPressMsg
	}{
		{"listed", nil},
		{"the second", []tea.KeyPressMsg{tabKey}},
		{"the rule of the configuration", []tea.KeyPressMsg{tabKey, tabKey}},
		{"all like this", letters("A")},
		{"allowed", []tea.KeyPressMsg{altA}},
	} {
		for _, size := range [][2]int{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				s := settled(t, newStory().crowded(), size[0], size[1])
				s.press(c.keys...)
				s.m.Update(s.m.Rested())
				golden.RequireEqual(t, s.front()+"\n")
			})
		}
	}
}

var altA = tea.KeyPressMsg{Code: 'a', Mod: tea.ModAlt}

func TestTabCyclesThroughGates(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 40)
	for _, c := range []struct {
		key  tea.KeyPressMsg
		want string
	}{{tabKey, "Gate 2 of 5"}, {tabKey, "Gate 3 of 5"}, {backTab, "Gate 2 of 5"}, {backTab, "Gate 1 of 5"}, {backTab, "Gate 5 of 5"}, {tabKey, "Gate 1 of 5"}} {
		s.press(c.key) // no grace time between them
		s.wants(c.want)
	}
	s.press(tabKey)
	s.m.Update(letters("y")[0])
	s.sent() // the gate just came into view and takes no answer yet
	s.m.Update(s.m.Rested())
	s.seen()
	_, cmd := s.m.Update(letters("y")[0])
	s.sending(cmd)
	s.sent(allow("3"))
	s.wants("Gate 2 of 4")
	s.wants("secret/key.go")
}

func TestShownGateStaysWhenOthersAreAnswered(t *testing.T) {
	st := newStory().crowded()
	s := settled(t, st, 120, 40).press(tabKey, tabKey)
	s.wants("Patch secret/key.go")
	next := more(st)
	s.show(next.run(event.GateResolved{Gate: "2.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"}))
	s.wants("Gate 2 of 4")
	s.wants("Patch secret/key.go")
}

func TestClickChoosesGateInQueue(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 40)
	for y, line := range s.lines() {
		if strings.Contains(line, "step 5  vcs.push") {
			s.m.Update(tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft})
		}
	}
	s.wants("Gate 4 of 5")
	s.wants("Push it")
}

func TestApproveSimilarAllowsEachMatchingCallOnce(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 60).press(letters("A")...)
	s.sent()
	s.wants("Allows these 3 calls of fs.patch once each.")
	for _, path := range []string{"auth/handler.go", "auth/jwt.go", "auth/user.go"} {
		s.wants(path)
	}
	s.wants("contains untrusted text")
	s.lacks("secret/key.go")
	_, cmd := s.m.Update(letters("y")[0])
	s.sendingAll(cmd, 3)
	s.sent(allow("2"), allow("3"), allow("6"))
	s.wants("Gate 1 of 2")
	s.wants("Patch secret/key.go")
}

// seen pages through the open gate, so that all of its call has been in view.
func (s *screen) seen() *screen {
	for range 30 {
		s.press(pageDown)
	}
	return s
}

// sendingAll carries out a batch of commands of which n send something, and waits
// for nothing else.
func (s *screen) sendingAll(cmd tea.Cmd, n int) {
	batch, ok := cmd().(tea.BatchMsg)
	if !ok {
		s.t.Fatal("no batch")
	}
	for _, c := range batch {
		if c != nil {
			go c()
		}
	}
	for range n {
		<-s.session.got
	}
}

func TestApproveSimilarCanBeCanceled(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 40).press(letters("A")...).press(escape)
	s.wants("Gate 1 of 5")
	s.sent()
}

func TestSimilarCallsAreDeniedTogether(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 60).press(letters("A")...)
	_, cmd := s.m.Update(letters("n")[0])
	s.sendingAll(cmd, 3)
	s.sent(deny("2"), deny("3"), deny("6"))
}

func TestCallsThatAreLeftOutAreDenied(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 60).press(tabKey)
	s.m.Update(s.m.Rested())
	s.press(space).press(letters("A")...)
	s.wants("allow these 2, once each, and deny the 1 left out")
	_, cmd := s.m.Update(letters("y")[0])
	s.sendingAll(cmd, 3)
	s.sent(allow("2"), deny("3"), allow("6"))
}

func TestCallsCanBeLeftOutWhereAllAreShown(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 60).press(letters("A")...)
	s.m.Update(s.m.Rested())
	s.press(tabKey, space)
	s.wants("2 of 3, left out")
	s.wants("allow these 2, once each, and deny the 1 left out")
	s.press(tabKey, space, tabKey, space)
	s.wants("All others are left out: n denies all of them")
	s.press(tabKey, space) // takes the second one back
	_, cmd := s.m.Update(letters("y")[0])
	s.sendingAll(cmd, 3)
	s.sent(allow("2"), allow("3"), deny("6"))
}

func TestAllSimilarNeedsOneCallThatIsNotLeftOut(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 60)
	for _, tabs := range []int{0, 1, 3} {
		s.press(slices.Repeat([]tea.KeyPressMsg{tabKey}, tabs)...)
		s.m.Update(s.m.Rested())
		s.press(space)
	}
	s.press(letters("A")...)
	s.wants("All of them are left out")
	s.sent()
}

func TestApproveSimilarClosesWhenOneIsAnsweredElsewhere(t *testing.T) {
	st := newStory().crowded()
	s := settled(t, st, 120, 40).press(letters("A")...)
	s.show(more(st).run(event.GateResolved{Gate: "6.1.1", Decision: event.Deny, Scope: event.ScopeOnce, By: "user"}))
	s.lacks("Allows these")
	s.wants("Gate 1 of 4")
	s.sent()
}

func TestApproveSimilarSkipsLaterGates(t *testing.T) {
	st := newStory().crowded()
	s := settled(t, st, 120, 60).press(letters("A")...)
	s.show(more(st).run(panetest.Patching("1", "auth/late.go", panetest.PatchRule)))
	s.lacks("auth/late.go")
	s.wants("Allows these 3 calls")
	_, cmd := s.m.Update(letters("y")[0])
	s.sendingAll(cmd, 3)
	s.sent(allow("2"), allow("3"), allow("6"))
}

func TestApproveSimilarRequiresReadingWholeList(t *testing.T) {
	s := settled(t, newStory().crowded(), 40, 12).press(letters("A")...)
	s.wants("Allows these 3 calls")
	s.press(letters("y")...)
	s.sent()
	s.wants("Read the whole list first")
	for range 20 {
		s.press(letters("j")...)
		s.text()
	}
	_, cmd := s.m.Update(letters("y")[0])
	s.sendingAll(cmd, 3)
	s.sent(allow("2"), allow("3"), allow("6"))
}

func TestApproveSimilarRequiresReadingLongerListAgain(t *testing.T) {
	st := newStory().crowded()
	s := settled(t, st, 40, 12).press(letters("A")...).seen()
	s.press(escape)
	s.show(more(st).run(panetest.Patching("1", "auth/late.go", panetest.PatchRule)))
	s.m.Update(s.m.Rested())
	s.press(letters("A")...)
	s.wants("Allows these 4 calls")
	s.press(letters("y")...)
	s.sent()
	s.wants("Read the whole list first")
}

func TestApproveSimilarReportsNoMatch(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36).press(letters("A")...)
	s.wants("No other waiting gate has the same tool and rule")
	s.sent()
	s = settled(t, newStory().crowded(), 120, 36).press(tabKey, tabKey)
	s.m.Update(s.m.Rested())
	s.press(letters("A")...)
	s.wants("No other waiting gate has the same tool and rule") // another rule asks about it
	s.sent()
}

func TestGateShowsRuleAndAllowedCalls(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 40)
	s.wants("asks: changes files · built-in rule ▸")
	s.lacks("why it asks")
	s.press(letters("i")...)
	s.wants("why      it changes files")
	s.wants("rule     tools that can change or delete data need your approval (built-in rule)")
	s.wants("allowed  workspace:fs.write with any arguments (in this run, from the next call on)")
	s.press(letters("i")...)
	s.lacks("why it asks")
	s.press(tabKey, tabKey)
	s.wants("asks: secrets are looked at · rule in config.toml ▸")
	s.m.Update(s.m.Rested())
	s.press(letters("i")...)
	s.wants("why      secrets are looked at")
	s.wants("rule     fs.patch path=secret/** needs your approval (config.toml)")
}

func TestAltAShowsAllowedCallsAndPastGates(t *testing.T) {
	s := settled(t, newStory().crowded(), 120, 40).press(altA)
	s.wants("workspace:fs.write with any arguments")
	s.wants("step 1 · fs.patch · allowed for this run")
	s.press(escape)
	if !s.m.GateOpen() {
		t.Error("the gate is closed")
	}
	s = open(t, tui.Options{}, 120, 36).press(altA)
	s.wants("There is no run yet.")
}
