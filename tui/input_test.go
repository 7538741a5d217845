package tui_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui"
	"replan/tui/panetest"
)

var (
	altR = tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt}
	altE = tea.KeyPressMsg{Code: 'e', Mod: tea.ModAlt}
	altQ = tea.KeyPressMsg{Code: 'q', Mod: tea.ModAlt}
)

// answers delivers data of the session.
func (s *screen) answers(data ...any) *screen {
	st := newStory().Session(data...)
	s.m.Update(tui.Batch(st.Events, st.Now))
	s.answered(st)
	return s
}

// submitted checks the submitted texts and ignores other commands.
func (s *screen) submitted(want ...string) {
	s.t.Helper()
	var got []string
	for _, c := range s.session.commands() {
		if submit, ok := c.(session.Submit); ok {
			got = append(got, submit.Text)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("sent %q, want %q", got, want)
	}
}

func (s *screen) typed(want string) {
	s.t.Helper()
	if got := s.m.Typed(); got != want {
		s.t.Errorf("the input holds %q, want %q", got, want)
	}
}

func TestAtSignListsFilesAndResources(t *testing.T) {
	s := settled(t, newStory().Greeted(), 120, 36).press(letters("see @")...)
	s.sent(asks("completions mentions"))
	s.lacks("files and resources")
	s.answers(panetest.SomeFiles())
	s.wants("files and resources")
	s.wants("internal/")
	s.lacks("internal/slug.go") // it is in a subfolder
	s.wants("tab take")
}

func TestMouseChoosesRowsOfInputLists(t *testing.T) {
	for _, width := range []int{120, 80} {
		s := open(t, tui.Options{}, width, 36)
		s.answers(panetest.SomeFiles()).press(letters("@slug")...)
		s.m.Update(tea.MouseWheelMsg{X: 8, Y: lineOf(s, "internal/slug.go"), Button: tea.MouseWheelDown})
		s.press(tabKey)
		s.typed("@internal/slug_test.go ")
		s.press(ctrl('c')).press(letters("@slug")...)
		_, cmd := s.m.Update(tea.MouseClickMsg{X: 8, Y: lineOf(s, "internal/slug_test.go"), Button: tea.MouseLeft})
		s.carryOut(cmd)
		s.typed("@internal/slug_test.go ")
		s.answers(session.History{Here: []string{"run the tests", "look around"}}).press(ctrl('c'), altR)
		s.m.Update(tea.MouseClickMsg{X: 8, Y: lineOf(s, "run the tests"), Button: tea.MouseLeft})
		s.typed("run the tests")
		s.lacks("history ›")
	}
}

func TestTheListOverTheInputIsDrawnWideAndNarrow(t *testing.T) {
	lists := map[string]func(*screen){
		"files":    func(s *screen) { s.answers(panetest.SomeFiles()).press(letters("see @slu")...).press(downKey) },
		"commands": func(s *screen) { s.answers(panetest.SomeCommands()).press(letters("/")...) },
		"history": func(s *screen) {
			s.answers(session.History{Here: []string{"rename a to b", "run the tests", "one\ntwo tests\nthree"}, Elsewhere: []string{"run all tests"}}).press(altR).press(letters("test")...)
		},
		"queue": func(s *screen) {
			s.answers(session.Queue{Waiting: []string{"one", "two", "three", "four"}, Jobs: []session.QueuedJob{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}}).press(letters("more")...)
		},
	}
	for name, list := range lists {
		for _, size := range []struct {
			name          string
			width, height int
			options       tui.Options
		}{{"120x36", 120, 36, tui.Options{}}, {"80x24", 80, 24, tui.Options{}}, {"40x12", 40, 12, tui.Options{ASCII: true}}} {
			t.Run(name+" "+size.name, func(t *testing.T) {
				s := open(t, size.options, size.width, size.height).show(newStory().Greeted())
				list(s)
				for i, line := range strings.Split(s.m.View().Content, "\n") {
					if w := ansi.StringWidth(line); w != size.width {
						t.Errorf("line %d is %d cells wide", i, w)
					}
				}
				golden.RequireEqual(t, s.pane("chat"))
			})
		}
	}
}

func TestLeadingBlankSkipsHistory(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters(" secret")...).press(enter)
	s.submitted(" secret")
	s.answers(event.ChatUser{Text: "secret"}).press(upKey)
	s.typed("")
}

func TestQueuedTextsCanBeTakenBackAndRemoved(t *testing.T) {
	queue := session.Queue{Waiting: []string{"first", "second"}, Jobs: []session.QueuedJob{{ID: 4, Text: "first"}, {ID: 7, Text: "second"}}}
	s := settled(t, newStory().Branching(), 120, 36).answers(queue)
	s.wants("1 queued: first")
	s.wants("2 queued: second")
	s.press(upKey)
	s.sent(session.Unqueue{ID: 7, Back: true})
	s.answers(session.Queue{Waiting: queue.Waiting[:1], Jobs: queue.Jobs[:1]}, session.Returned{Text: "second"})
	s.typed("second")
	s.press(altQ)
	s.wants("Removed from the queue: first")
	s.sent(session.Unqueue{ID: 7, Back: true}, session.Unqueue{ID: 4})
	s.answers(session.Queue{}).press(altQ)
	s.wants("Nothing is queued.")
}

func TestRejectedTextReturnsWithReason(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters("explain @x.go")...).press(escape, enter)
	s.answers(session.Returned{Text: "explain @x.go", Reason: "nothing was sent: there is no x.go"})
	s.typed("explain @x.go")
	s.wants("nothing was sent: there is no x.go")
	// The typed text stays, and the rejected one goes to the history.
	s.answers(session.Returned{Text: "another", Reason: "no"})
	s.typed("explain @x.go")
	s.press(upKey)
	s.typed("another")
}

func TestMessageListsMentionedFiles(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).answers(event.ChatUser{Text: "explain @a.go and @docs/", Mentions: []prompt.Mention{
		{Name: "a.go", Text: "x", Bytes: 2150}, {Name: "docs/", Folder: true, Text: "docs/a\ndocs/b\n"}, {Name: "big", Text: strings.Repeat("x", 64<<10), Bytes: 3 << 20, Cut: true},
	}})
	for _, want := range []string{"@ a.go · 2.1 KB", "@ docs/ · 2 names", "@ big · the first 64 KB of 3.0 MB"} {
		s.wants(want)
	}
}

// editing is the screen in a program that ends with the editor.
type editing struct {
	*tui.Model
	text chan string
}

func (e editing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := e.Model.Update(msg)
	if tui.IsEdited(msg) {
		e.text <- e.Typed()
		return e, tea.Quit
	}
	return e, cmd
}

// edited returns the input after the editor has run on a draft.
func edited(t *testing.T, o tui.Options, draft string) string {
	t.Helper()
	s := open(t, o, 120, 36).press(letters(draft)...)
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), typing.Close() }()
	e := editing{s.m, make(chan string, 1)}
	program := tea.NewProgram(e, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithoutSignalHandler(), tea.WithWindowSize(120, 36))
	go program.Send(altE)
	if _, err := program.Run(); err != nil {
		t.Fatal(err)
	}
	return <-e.text
}

func TestEditorEditsDraft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	script := filepath.Join(dir, "editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nstat -c %a \"$2\" > \"$1\"\nprintf ' and more\\nlines\\n' >> \"$2\"\n"), 0o700); err != nil { //nolint:gosec // it must be executable
		t.Fatal(err)
	}
	modeFile := filepath.Join(dir, "mode")
	text := edited(t, tui.Options{Editor: []string{script, modeFile}}, "a draft")
	if text != "a draft and more\nlines" {
		t.Errorf("the input holds %q", text)
	}
	if mode, err := os.ReadFile(modeFile); err != nil || strings.TrimSpace(string(mode)) != "600" {
		t.Errorf("the draft file has mode %s, want 600 (%v)", mode, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "replan-edit-*")); len(left) > 0 {
		t.Errorf("the files %q are left", left)
	}
}

func TestFailedEditorKeepsDraft(t *testing.T) {
	if text := edited(t, tui.Options{Editor: []string{"/nonexistent/editor"}}, "a draft"); text != "a draft" {
		t.Errorf("the input holds %q", text)
	}
	s := open(t, tui.Options{}, 120, 36).press(altE)
	s.wants("No editor is set")
}
