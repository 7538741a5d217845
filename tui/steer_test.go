package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui"
)

func TestEnterQueuesAndControlTSteers(t *testing.T) {
	s := settled(t, newStory().exploring(), 120, 36).press(letters("leave the tests alone")...)
	s.wants("enter queue  ctrl+t steer")
	s.press(ctrl('t'))
	s.sent(runner.Steer{Text: "leave the tests alone"})
	if s.m.Typed() != "" {
		t.Errorf("the input still says %q", s.m.Typed())
	}
	s.press(letters("then this")...).press(enter)
	s.sent(runner.Steer{Text: "leave the tests alone"}, runner.Submit{Text: "then this"})
}

func TestSteeringSaysWhyItCannotBeDone(t *testing.T) {
	for name, c := range map[string]struct {
		st   *story
		keys []tea.KeyPressMsg
		word string
	}{
		"no run":        {newStory().told(), append(letters("x"), ctrl('t')), "No run goes on that could hear it; enter sends it."},
		"no text":       {newStory().exploring(), []tea.KeyPressMsg{ctrl('t')}, "Type what the run shall hear first."},
		"another pane":  {newStory().exploring(), []tea.KeyPressMsg{tabKey, ctrl('t')}, "Tab leads to the input"},
		"before a run":  {newStory().greeted(), append(letters("x"), ctrl('t')), "No run goes on"},
		"while it ends": {newStory().answering(), append(letters("x"), ctrl('t')), "Nothing in this run can hear it; enter queues it."},
	} {
		t.Run(name, func(t *testing.T) {
			settled(t, c.st, 120, 36).press(c.keys...).wants(c.word)
		})
	}
}

func TestTheUsersWordToARunStandsInTheChat(t *testing.T) {
	s := settled(t, newStory().spoken(), 120, 36)
	s.wants("› leave the tests alone,")
	s.wants("said to the run that goes on")
	if s.press(upKey); s.m.Typed() != "leave the tests alone,\nthey are mine" {
		t.Errorf("the history has %q", s.m.Typed())
	}
}

func TestASummaryIsSaidWithTheWayBack(t *testing.T) {
	s := settled(t, newStory().spoken(), 120, 36)
	s.wants("18 messages summed up, 9.1k → 1.2k tokens")
	s.wants("/compact undo")
	s.wants("18 messages stand in the conversation again")
	s.wants("what changed in the token helper lately?") // nothing is taken from the screen
	st := newStory().greeted().session(event.ChatCompacted{Turns: 3, Before: 900, After: 200, ByRule: true})
	settled(t, st, 120, 36).wants("3 messages shortened, 900 → 200 tokens · /compact undo")
}

func TestTheFirstLetterHasTheModelLoadedOnceAMinute(t *testing.T) {
	now := time.Unix(0, 0)
	s := open(t, tui.Options{Now: func() time.Time { return now }}, 120, 36).show(newStory().greeted())
	warmed := func(want int) {
		t.Helper()
		n := 0
		for _, c := range s.session.commands() {
			if (c == runner.Warm{}) {
				n++
			}
		}
		if n != want {
			t.Fatalf("%d times, want %d", n, want)
		}
	}
	s.press(letters("/plan")...)
	warmed(0) // asks no model
	s.press(ctrl('c')).press(letters("fix")...)
	warmed(1)
	s.press(ctrl('c')).press(letters("fix")...)
	warmed(1)
	now = now.Add(time.Minute)
	s.press(letters("more")...)
	warmed(1) // not the first letter
	s.press(ctrl('c'))
	_, cmd := s.m.Update(tea.PasteMsg{Content: "pasted"})
	s.carryOut(cmd)
	warmed(2)

	running := open(t, tui.Options{}, 120, 36).show(newStory().exploring()).press(letters("x")...)
	if got := running.session.commands(); len(got) != 0 {
		t.Errorf("while a run goes on %v is sent", got)
	}
	without := open(t, tui.Options{}, 120, 36).show(newStory().session(session.Status{Problem: "Ollama does not answer"})).press(letters("x")...)
	if got := without.session.commands(); len(got) != 0 {
		t.Errorf("without a server %v is sent", got)
	}
}

func TestTheMeterSaysWhatItKnows(t *testing.T) {
	status := session.Status{Workspace: "/src", Model: "m", ContextWindow: 8192}
	with := func(tokens int) session.Status { s := status; s.ContextTokens = tokens; return s }
	for name, c := range map[string]struct {
		st   *story
		want string
	}{
		"nothing is known but the window":         {newStory().session(status), "m · 8k ctx"},
		"an estimate while nothing goes on":       {newStory().session(with(1210)), "m · ▰▱▱▱ ~1.2k/8k ctx"},
		"the run's own count while it goes on":    {newStory().exploring().session(with(1210)), "1.7k/32k ctx"},
		"an estimate again when the run is over":  {newStory().told().session(with(1210)), "~1.2k/8k ctx"},
		"the last count where nothing was judged": {newStory().finished().session(status), "4.3k/32k ctx"},
	} {
		t.Run(name, func(t *testing.T) { settled(t, c.st, 120, 36).wants(c.want) })
	}
}

func TestTheHeaderNamesHowTheSessionWorks(t *testing.T) {
	s := settled(t, newStory().calling(), 120, 36)
	s.wants("answering · qwen3:8b · think low · reviewer · ▰▱▱▱ 2.0k/32k ctx")
	settled(t, newStory().greeted(), 120, 36).lacks("think")
}

func TestTheMeterOutlivesTheFolderAndALongName(t *testing.T) {
	for _, model := range []string{"qwen3:8b", "qwen2.5-coder:7b-instruct-q4_K_M", "m"} {
		for _, tokens := range []int{1210, 27_400, 120_500} {
			st := newStory().told().session(session.Status{Workspace: "/src/auth-service", Model: model, ContextWindow: 131_072, ContextTokens: tokens, Tools: 6})
			header := settled(t, st, 40, 12).lines()[0]
			if !strings.Contains(header, "/128k") || !strings.Contains(header, model[:min(len(model), 6)]) {
				t.Errorf("%s", header)
			}
		}
	}
	settled(t, newStory().session(session.Status{Workspace: "/src/auth-service", Model: "m", ContextWindow: 8192}), 40, 12).wants("service")
}

func TestTheProjectsNotesAreNamedOnce(t *testing.T) {
	s := settled(t, newStory().choosing(), 120, 36)
	s.wants("notes of this project: AGENTS.md")
	st := newStory().choosing().session(event.ChatUser{Text: "go"}, event.ChatReply{Text: "done"}, event.ChatUser{Text: "on"})
	n := strings.Count(settled(t, st, 120, 36).text(), "notes of this project")
	if n != 1 {
		t.Errorf("named %d times", n)
	}
	late := newStory().session(event.ChatUser{Text: "go"}, session.Status{Workspace: "/src", Instructions: "../AGENTS.md"})
	settled(t, late, 120, 36).wants("notes of this project: ../AGENTS.md")
}

func TestAModelAtItsTurnIsToldApartFromAnAnswer(t *testing.T) {
	st := newStory().calling()
	settled(t, st, 120, 36).lacks("the model goes on") // a call is under way
	st = newStory().calling().chat(event.StepCompleted{Index: "chat.2", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: request(prompt.PurposeChat, "")})
	settled(t, st, 120, 36).wants("the model goes on")
}

func TestAWordThatWasTypedAsACommandStandsOnce(t *testing.T) {
	st := newStory().exploring().session(event.ChatUser{Text: "/steer leave the tests"}).run(event.RunSteered{Text: "leave the tests"})
	s := settled(t, st, 120, 60)
	s.wants("said to the run that goes on")
	if n := strings.Count(s.text(), "leave the tests"); n != 1 {
		t.Errorf("it stands there %d times:\n%s", n, s.text())
	}
}
