package tui_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui"
	"replan/tui/dialog"
)

// sent compares the sent commands and queries, except the warming of the model
// while the user types, and what the palette keeps.
func (s *screen) sent(want ...any) {
	s.t.Helper()
	asking := slices.ContainsFunc(want, func(c any) bool { _, asked := c.(asks); return asked })
	got := slices.DeleteFunc(s.session.commands(), func(c any) bool {
		_, asked := c.(asks)
		keep, _ := c.(session.SaveSetting)
		return c == session.Warm{} || asked && !asking || keep.Key == dialog.KeyRecent
	})
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("sent %#v, want %#v", got, want)
	}
}

func TestEnterSendsInput(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted())
	s.press(letters("fix the tests?")...).press(enter)
	s.sent(session.Submit{Text: "fix the tests?"})
	if s.m.Typed() != "" {
		t.Errorf("the input still holds %q", s.m.Typed())
	}
}

func TestGoalOptionIsSentAtStart(t *testing.T) {
	s := open(t, tui.Options{Goal: " run the tests \n", Theme: "dark"}, 120, 36)
	s.carryOut(s.m.Init())
	s.sent(session.Submit{Text: "run the tests"})
}

func TestSuggestionComesBackUntilItIsSent(t *testing.T) {
	s := open(t, tui.Options{Suggestions: []string{"fix it"}}, 120, 36).press(ctrl('u')).press(letters("hello")...).press(enter)
	s.show(newStory().Session(event.ChatUser{Text: "hello"}, event.ChatReply{Text: "Send what you see."})).typed("fix it")
	s.press(enter).show(newStory().Session(event.ChatUser{Text: "fix it"}, event.ChatReply{Text: "done"})).typed("")
}

func TestNextSuggestionFollowsAnAnswer(t *testing.T) {
	s := open(t, tui.Options{Suggestions: []string{"fix it", "/model small", "explain it"}}, 120, 36).press(enter)
	s.show(newStory().Session(event.ChatUser{Text: "fix it"}, event.ChatReply{Text: "done"})).typed("/model small")
	s.press(enter).show(newStory().Session(event.ChatUser{Text: "/model small"}, event.ChatReply{Text: "small"})).typed("explain it")
}

func TestTabCyclesThroughPanes(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching())
	var focused []string
	for _, k := range []tea.KeyPressMsg{tabKey, tabKey, tabKey, backTab} {
		focused = append(focused, s.press(k).m.Focus())
	}
	if got := strings.Join(focused, " "); got != "plan step chat step" {
		t.Errorf("got the focus on %s", got)
	}
}

func TestQuestionMarkOpensHelpOnlyOnEmptyInput(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("why?")...)
	if s.m.HelpOpen() || s.m.Typed() != "why?" {
		t.Errorf("help %v, typed %q", s.m.HelpOpen(), s.m.Typed())
	}
	if s.press(f1); !s.m.HelpOpen() {
		t.Error("F1 opens no help while typing")
	}
	s.press(escape, ctrl('c'))
	if s.press(letters("?")...); !s.m.HelpOpen() {
		t.Error("? opens no help where the input is empty")
	}
	s.wants("Everywhere")
}

func TestHelpListsKeys(t *testing.T) {
	s := open(t, tui.Options{}, 200, 120).press(f1)
	for _, text := range []string{"shift+tab", "alt+enter", "ctrl+g", "allow once", "allow this tool for the run", "follow the running", "half a page up", "send the text to the current run", "requests to the model", "switch model or profile", "collapse or expand", "expand all", "next gate", "filter steps", "think harder"} {
		s.wants(text)
	}
}

func TestEscapeStopsRun(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching()).press(escape)
	s.sent(session.Stop{})
	s.wants("stopping")
	s.press(escape)
	s.sent(session.Stop{})
	s.wants("The run is stopping.")
}

func TestEscapeReportsNothingRuns(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(escape)
	s.sent()
	s.wants("Nothing is running.")
}

func TestStoppedRunSaysHowToResume(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Stopped())
	s.wants("Finished steps are kept; ctrl+r, enter resumes the run.")
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func TestCtrlCClearsInputThenQuits(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("abc")...)
	if _, cmd := s.m.Update(ctrl('c')); cmd != nil || s.m.Typed() != "" {
		t.Errorf("the first ctrl+c left %q", s.m.Typed())
	}
	if _, cmd := s.m.Update(ctrl('c')); !quits(cmd) {
		t.Error("the second ctrl+c does not quit")
	}
}

func TestQuitAsksDuringRun(t *testing.T) {
	for _, c := range []struct {
		name string
		key  tea.KeyPressMsg
		quit bool
	}{{"y quits", letters("y")[0], true}, {"ctrl+c again quits", ctrl('c'), true}, {"n stays", letters("n")[0], false}, {"esc stays", escape, false}} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).show(newStory().Branching())
			if _, cmd := s.m.Update(ctrl('c')); cmd != nil {
				t.Fatal("quitting does not ask")
			}
			s.wants("A run is active. Stop it and quit?")
			if _, cmd := s.m.Update(c.key); quits(cmd) != c.quit {
				t.Errorf("got quits %v", !c.quit)
			}
			s.sent()
		})
	}
}

func TestCtrlDQuitsOnlyOnEmptyInput(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("ab")...)
	if _, cmd := s.m.Update(ctrl('d')); quits(cmd) {
		t.Error("ctrl+d quits although there is text")
	}
	s.press(ctrl('c'))
	if _, cmd := s.m.Update(ctrl('d')); !quits(cmd) {
		t.Error("ctrl+d does not quit")
	}
}

func TestShortChatDoesNotScroll(t *testing.T) {
	s := open(t, tui.Options{Intro: "Hello."}, 120, 36)
	s.press(tea.KeyPressMsg{Code: tea.KeyPgUp}, tea.KeyPressMsg{Code: tea.KeyPgUp})
	if text := s.text(); strings.Contains(text, "below") {
		t.Errorf("a short chat shows lines below:\n%s", text)
	}
}

func TestScrolledViewStaysWhenTextArrives(t *testing.T) {
	st := newStory().Greeted()
	for i := range 40 {
		st.Session(event.Note{Level: "info", Text: untrusted.Text(strings.Repeat("x", i+1))})
	}
	s := open(t, tui.Options{}, 80, 24).show(st)
	s.press(pageUp)
	s.wants("lines below")
	before := s.lines()[2:10]
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Session(event.Note{Level: "info", Text: "one more"}))
	if after := s.lines()[2:10]; !reflect.DeepEqual(before, after) {
		t.Errorf("the view moved:\n%s\n\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	s.press(pageDown, pageDown)
	s.wants("one more")
	s.lacks("lines below")
}

func TestMouseChoosesPanesAndSteps(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished())
	s.m.Update(tea.MouseClickMsg{X: 80, Y: 3, Button: tea.MouseLeft})
	if s.m.Focus() != "plan" || s.m.Selected() != "2" {
		t.Errorf("a click focuses %s, step %s", s.m.Focus(), s.m.Selected())
	}
	s.m.Update(tea.MouseWheelMsg{X: 80, Y: 4, Button: tea.MouseWheelDown})
	if s.m.Selected() != "2" {
		t.Errorf("the wheel selects %s", s.m.Selected())
	}
	s.m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.m.View()
	s.m.Update(tea.MouseClickMsg{X: 2, Y: 1, Button: tea.MouseLeft})
	if s.m.Focus() != "chat" {
		t.Errorf("a click on the first tab focuses %s", s.m.Focus())
	}
}

func TestClockBeatsOnlyWhileSomethingSpins(t *testing.T) {
	for name, want := range map[string]bool{
		"empty": false, "analyzing": true, "drafting": true, "branching": true, "gated": false, "replanning": true,
		"revised": false, "tested": true, "answering": true, "finished": false, "stopped": false, "servers": false,
	} {
		t.Run(name, func(t *testing.T) {
			st := states[name]()
			s := open(t, tui.Options{}, 120, 36)
			s.m.Update(tui.Batch(st.Events, st.Now))
			if s.m.Beating() != want {
				t.Errorf("got beating %v", s.m.Beating())
			}
			_, cmd := s.m.Update(tui.Beat(st.Now.Add(time.Second)))
			if (cmd != nil) != want {
				t.Errorf("after a beat: got another beat %v", cmd != nil)
			}
			if s.m.Beating() != want {
				t.Errorf("after a beat: got beating %v", s.m.Beating())
			}
		})
	}
}

func TestNextBatchStartsNoSecondClock(t *testing.T) {
	st := newStory().Branching()
	s := open(t, tui.Options{}, 120, 36)
	s.m.Update(tui.Batch(st.Events, st.Now))
	next := &story{Now: st.Now, Seq: st.Seq}
	if _, cmd := s.m.Update(tui.Batch(next.Run(event.StepOutput{Index: "2", Chunk: "x"}).Events, st.Now)); cmd != nil {
		t.Error("a second clock was started")
	}
}

func TestElapsedTimeAdvancesBetweenEvents(t *testing.T) {
	st := newStory().Branching()
	s := open(t, tui.Options{}, 120, 36)
	arrived := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // a replay: the events are old
	s.m.Update(tui.Batch(st.Events, arrived))
	s.m.Update(tui.Beat(arrived.Add(3 * time.Second)))
	s.wants("3s")
}

func TestUnreachableModelServerIsReportedInFull(t *testing.T) {
	problem := "Ollama does not answer: start it with `ollama serve`, or name another host"
	st := newStory().Session(session.Status{Workspace: "/src", Problem: untrusted.Text(problem)})
	for _, size := range []struct{ w, h int }{{40, 12}, {80, 24}} {
		s := open(t, tui.Options{}, size.w, size.h).show(st)
		if shown := strings.Join(strings.Fields(s.text()), " "); !strings.Contains(shown, "! "+problem) {
			t.Errorf("the message is incomplete:\n%s", s.text())
		}
	}
	open(t, tui.Options{}, 120, 36).show(st).wants("! Ollama does not answer: start it")
}

func TestUnreachableModelServerIsReportedOnceInChat(t *testing.T) {
	const problem = "Ollama does not answer at 127.0.0.1:11434: start it with `ollama serve`, or choose another host with --host"
	down := session.Status{Workspace: "/src", Problem: problem}
	failed := event.ChatReply{Status: event.StatusFailed, Reason: event.ReasonNoModel, Text: problem}
	for name, data := range map[string][]any{
		"a goal fails":           {down, event.ChatUser{Text: "go"}, down, failed, down},
		"down between goals":     {session.Status{Workspace: "/src"}, event.ChatUser{Text: "go"}, down, failed, down},
		"a goal is stopped":      {down, event.ChatUser{Text: "go"}, event.ChatReply{Status: event.StatusCanceled, Text: "stopped"}, down},
		"a command is sent":      {down, event.ChatUser{Text: "/help"}, event.ChatReply{Text: "keys"}, down},
		"a session is continued": {event.ChatUser{Text: "go"}, event.ChatReply{Text: "went"}, down, down},
	} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{120, 80, 40} {
				s := open(t, tui.Options{}, width, 36).show(newStory().Session(data...))
				shown := strings.NewReplacer("│", " ").Replace(s.text())
				if width >= 100 { // the chat is the left half
					shown = ""
					for _, line := range s.lines() {
						left, _, _ := strings.Cut(strings.TrimPrefix(line, "│"), "│")
						shown += left + "\n"
					}
				}
				shown = strings.Join(strings.Fields(shown), " ")
				if n := strings.Count(shown, "Ollama does not answer"); n != 1 || !strings.Contains(shown, problem) {
					t.Errorf("%d cells: reported %d times:\n%s", width, n, s.text())
				}
			}
		})
	}
}

func TestUntrustedTextIsEscaped(t *testing.T) {
	evil := "a\x1b]0;owned\x07b\x1b[2Jc\u202ed\u200be\x9b1m"
	st := newStory().Branching()
	st.Run(event.StepOutput{Index: "2", Chunk: evil}, event.Note{Level: "info", Text: untrusted.Text(evil)},
		event.GateRequested{Gate: "4.1.1", Step: "4", Title: untrusted.Text(evil), Tool: evil, Args: map[string]any{evil: evil, "list": []any{evil}}, Diff: "+" + evil, Rule: rule.Rule{Why: untrusted.Text(evil)}},
		event.SynthesisStarted{}, event.SynthesisDelta{Text: evil + " &#27;]0;x&#7; &#x202e;"})
	for _, size := range []struct{ w, h int }{{120, 60}, {80, 24}} {
		s := open(t, tui.Options{}, size.w, size.h).show(st)
		for range 2 {
			content := s.m.View().Content
			for _, bad := range []string{"\x1b]", "\x1b[2J", "\x07", "\u202e", "\u200b", "\u009b", "\x9b1m"} {
				if strings.Contains(content, bad) {
					t.Errorf("%q reaches the terminal", bad)
				}
			}
			s.m.Update(s.m.Rested())
			s.press(escape, tabKey, tabKey)
		}
	}
}
