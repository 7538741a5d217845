package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

var altY, ctrlF = alt('y'), ctrl('f')

// clipboard returns the text that a command copies, "" for none.
func clipboard(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	msg := cmd()
	if strings.Contains(fmt.Sprintf("%T", msg), "lipboard") {
		return fmt.Sprint(msg)
	}
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			if text := clipboard(c); text != "" {
				return text
			}
		}
	}
	return ""
}

// mouse delivers a mouse message and returns the text that it copies.
func (s *screen) mouse(msg tea.Msg) string {
	_, cmd := s.m.Update(msg)
	return clipboard(cmd)
}

// find returns the position of a text on the screen.
func (s *screen) find(text string) (x, y int) {
	s.t.Helper()
	for y, line := range s.lines() {
		if i := strings.Index(line, text); i >= 0 {
			return ansi.StringWidth(line[:i]), y
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.text())
	return 0, 0
}

// chat is the chat on the screen, which is the left half of a wide one.
func (s *screen) chat() string {
	lines := s.lines()
	for i, line := range lines {
		if ansi.StringWidth(line) > 100 {
			lines[i] = ansi.Truncate(line, 66, "")
		}
	}
	return strings.Join(lines[1:len(lines)-1], "\n") + "\n"
}

func left(x, y int) tea.Mouse { return tea.Mouse{X: x, Y: y, Button: tea.MouseLeft} }

// drag drags the mouse from one cell to another and returns the copied text.
func (s *screen) drag(fromX, fromY, toX, toY int) string {
	s.mouse(tea.MouseClickMsg(left(fromX, fromY)))
	s.mouse(tea.MouseMotionMsg(left(toX, toY)))
	return s.mouse(tea.MouseReleaseMsg(left(toX, toY)))
}

// answered is a session with one answer of that Markdown.
func answered(text string) *story {
	return newStory().Greeted().Session(event.ChatUser{Text: "tell me"}, event.ChatReply{Text: untrusted.Text(text)})
}

const twoBlocks = "First:\n\n```go\nfunc a() {\n\treturn\n}\n```\n\nand then a sentence that is long enough to be broken at least once by the width of the chat\n\n```\nmake all   \n```\n"

func TestKeyCopiesCodeBlocksNewestFirst(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(answered(twoBlocks))
	for _, c := range []struct{ text, notice string }{
		{"make all   ", "code block 2 of 2, 1 line, sent to the clipboard"},
		{"func a() {\n\treturn\n}", "code block 1 of 2, 3 lines, sent to the clipboard"},
		{"make all   ", "code block 2 of 2"},
	} {
		_, cmd := s.m.Update(altY)
		if got := clipboard(cmd); got != c.text {
			t.Errorf("copied %q, want %q", got, c.text)
		}
		s.wants(c.notice)
	}
	s.wants("▌ make all")
	s.press(letters("x")...).lacks("▌ make all")
	_, cmd := s.m.Update(altY)
	if got := clipboard(cmd); got != "make all   " {
		t.Errorf("after another key it copies %q", got)
	}
}

func TestSearchLightsAndWalksTheMatches(t *testing.T) {
	for name, size := range map[string][2]int{"wide": {120, 24}, "narrow": {40, 12}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{Theme: themes.Dark}, size[0], size[1]).show(newStory().Finished())
			s.press(ctrlF).press(letters("verifyuser")...)
			first := 0
			for n := 1; n <= 3; n++ {
				if strings.Contains(s.text(), fmt.Sprintf("%d of 3", n)) {
					first = n
				}
			}
			for i, k := range []tea.KeyPressMsg{enter, ctrl('n'), enter, downKey, upKey} {
				s.press(k)
				if further := i + 1; k == upKey {
					s.wants(fmt.Sprintf("%d of 3", first))
				} else {
					s.wants(fmt.Sprintf("%d of 3", (first-1+further)%3+1))
				}
			}
			golden.RequireEqual(t, s.chat())
			s.press(escape).lacks("find verifyuser")
			s.sent()
		})
	}
}

func TestPasteGoesToTheOpenSearch(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(ctrlF)
	s.m.Update(tea.PasteMsg{Content: "verifyUsery"})
	s.wants("not found")
	if s.m.Typed() != "" {
		t.Errorf("the input holds %q", s.m.Typed())
	}
}

// thoughtful is a direct answer before which the model thought for three seconds.
func thoughtful() *story {
	s := newStory().Greeted().Session(event.ChatUser{Text: "why?"}).
		Run(event.RunStarted{Goal: "why?", Workspace: "/src", Session: panetest.StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits()},
			event.PhaseSkipped{Phase: 1}, event.SynthesisStarted{Direct: true, Request: prompt.Request{Purpose: prompt.PurposeChat}}).
		After(100).Run(event.SynthesisDelta{Thinking: "The user asks why. "}).
		After(3100).Run(event.SynthesisDelta{Thinking: "There is no reason."})
	return s.Run(event.SynthesisDelta{Text: "Because."})
}

func TestThinkingFoldsByKeyAndClick(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	st := thoughtful()
	for _, e := range st.Events {
		s.m.Update(tui.Batch([]event.Event{e}, e.Time)) // one by one, as they arrive
	}
	s.wants("▸ thinking · 3.1s · 8 words")
	s.lacks("There is no reason.")
	s.press(alt('t')).wants("▾ thinking · 3.1s · 8 words")
	s.wants("│ The user asks why. There is no reason.")
	x, y := s.find("▾ thinking")
	s.mouse(tea.MouseClickMsg(left(x, y)))
	s.mouse(tea.MouseReleaseMsg(left(x, y)))
	s.lacks("There is no reason.")
	s.press(alt('T')).wants("There is no reason.")
	s.press(ctrlF).press(letters("no reason")...).wants("1 of 1")
}

func TestDragCopiesTextWithoutBordersAndBreaks(t *testing.T) {
	s := open(t, tui.Options{}, 64, 24).show(answered(twoBlocks))
	x, y := s.find("and then")
	s.find("by the width")
	want := "and then a sentence that is long enough to be broken at least once by the width of the chat"
	if got := s.drag(x, y, 60, y+1); got != want {
		t.Errorf("copied %q", got)
	}
	s.wants("91 characters, sent to the clipboard")
	if lit := s.m.View().Content; !strings.Contains(lit, "\x1b[7m") {
		t.Error("nothing is highlighted")
	}
	x, y = s.find("func a()")
	if got := s.drag(x-2, y, x+20, y+2); got != "func a() {\n    return\n}" {
		t.Errorf("copied %q", got)
	}
	if got := s.drag(x+20, y+2, x-2, y); got != "func a() {\n    return\n}" {
		t.Errorf("dragging backwards copies %q", got)
	}
	s.press(downKey)
	if lit := s.m.View().Content; strings.Contains(lit, "\x1b[7m") {
		t.Error("a key leaves the highlight")
	}
}

func TestSelectionStaysInItsPane(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	x, y := s.find("user, err := verifyUser")
	if got := s.drag(x, y, 119, y); got != "user, err := verifyUser(ctx, token)" {
		t.Errorf("from the chat it copies %q", got)
	}
	x, y = s.find("Two files changed.")
	if got := s.drag(x, y, 0, 35); !strings.HasPrefix(got, "Two files changed.") || strings.ContainsAny(got, "│╰") {
		t.Errorf("from the step it copies %q", got)
	}
	s.press(f1)
	x, y = s.find("Everywhere")
	if got := s.drag(x, y, 119, y+1); strings.ContainsAny(got, "│╰") || !strings.HasPrefix(got, "Everywhere") || !strings.Contains(got, "\n") {
		t.Errorf("from help it copies %q", got)
	}
}

func TestDoubleAndTripleClickSelectWordAndLine(t *testing.T) {
	now := time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC)
	s := open(t, tui.Options{Now: func() time.Time { return now }}, 120, 36).show(answered("see auth/handler.go for (it), and then go on reading until the line is broken by the width"))
	x, y := s.find("auth/handler.go")
	click := func() string {
		s.mouse(tea.MouseClickMsg(left(x+3, y)))
		return s.mouse(tea.MouseReleaseMsg(left(x+3, y)))
	}
	for _, want := range []string{"", "auth/handler.go", "see auth/handler.go for (it), and then go on reading until the line is broken by the width", ""} {
		if got := click(); got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
	click()
	now = now.Add(time.Second)
	if got := click(); got != "" {
		t.Errorf("two slow clicks copy %q", got)
	}
}

func TestShiftDragIsLeftToTheTerminal(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(answered("words"))
	x, y := s.find("words")
	at := left(x, y)
	at.Mod = tea.ModShift
	s.mouse(tea.MouseClickMsg(at))
	at.X += 3
	s.mouse(tea.MouseMotionMsg(at))
	if got := s.mouse(tea.MouseReleaseMsg(at)); got != "" {
		t.Errorf("copied %q", got)
	}
}

func TestClickOnHintPressesItsKey(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	x, y := s.find("? help")
	s.mouse(tea.MouseClickMsg(left(x+2, y)))
	if !s.m.HelpOpen() {
		t.Error("help is not open")
	}
	x, y = s.find("esc close")
	s.mouse(tea.MouseClickMsg(left(x, y)))
	if s.m.HelpOpen() {
		t.Error("help is still open")
	}
	x, y = s.find("tab pane")
	if s.mouse(tea.MouseClickMsg(left(x, y))); s.m.Focus() != "plan" {
		t.Errorf("the focus is on %s", s.m.Focus())
	}
}

func TestClickOnStepTabShowsIt(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	x, y := s.find(" args ")
	s.mouse(tea.MouseClickMsg(left(x+2, y)))
	s.wants("does     model")
	if s.m.Focus() != "step" {
		t.Errorf("the focus is on %s", s.m.Focus())
	}
}

func TestAltXExportsChat(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(alt('x'))
	s.wants("The chat is empty.")
	s = open(t, tui.Options{}, 120, 36).show(answered("words")).press(alt('x'))
	s.sent(session.Submit{Text: "/export"})
	s = open(t, tui.Options{Replay: true}, 120, 36).show(newStory().Finished()).press(alt('x'))
	s.wants("This is a replay: nothing is written")
}

func TestCardsUnfoldToWhatTheyAskedAndCameTo(t *testing.T) {
	for name, size := range map[string][2]int{"wide": {120, 40}, "narrow": {40, 30}} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{Theme: themes.Dark}, size[0], size[1]).show(newStory().Calling())
			x, y := s.find("60ms ▸")
			s.lacks("3f2a91c rename in the handler")
			s.mouse(tea.MouseClickMsg(left(x, y)))
			s.mouse(tea.MouseReleaseMsg(left(x, y)))
			s.wants("result")
			s.wants("3f2a91c rename in the handler")
			golden.RequireEqual(t, s.chat())
		})
	}
}

func TestThePlanUnfoldsInTheChat(t *testing.T) {
	s := open(t, tui.Options{Theme: themes.Dark}, 80, 40).show(newStory().Finished())
	s.lacks("8 Run the tests again")
	s.press(alt('u'), alt('u')).press(alt('u')) // thinking is below it
	x, y := s.find("✓ plan 2.3s")
	s.mouse(tea.MouseClickMsg(left(x, y)))
	s.mouse(tea.MouseReleaseMsg(left(x, y)))
	s.wants("8 Run the tests again")
	golden.RequireEqual(t, s.chat())
}
