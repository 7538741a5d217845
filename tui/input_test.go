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
)

var (
	altR      = tea.KeyPressMsg{Code: 'r', Mod: tea.ModAlt}
	altE      = tea.KeyPressMsg{Code: 'e', Mod: tea.ModAlt}
	altP      = tea.KeyPressMsg{Code: 'p', Mod: tea.ModAlt}
	altQ      = tea.KeyPressMsg{Code: 'q', Mod: tea.ModAlt}
	deleteKey = tea.KeyPressMsg{Code: tea.KeyDelete}
)

// answers delivers data of the session.
func (s *screen) answers(data ...any) *screen {
	st := newStory().session(data...)
	s.m.Update(tui.Batch(st.events, st.now))
	s.answered(st)
	return s
}

// someFiles are names for an @.
func someFiles() session.Completions {
	return session.Completions{Of: session.CompleteMentions, Items: []session.Completion{
		{Text: ".gitignore"},
		{Text: "a note.txt"},
		{Text: "docs/", Folder: true},
		{Text: "docs/guide.md"},
		{Text: "internal/", Folder: true},
		{Text: "internal/slug.go"},
		{Text: "internal/slug_test.go"},
		{Text: "my files/", Folder: true},
		{Text: "my files/x"},
		{Text: "wiki:page://front", Detail: "the front page, resource of wiki"},
	}}
}

// someCommands are commands for a slash.
func someCommands() session.Completions {
	return session.Completions{Of: session.CompleteCommands, Items: []session.Completion{
		{Text: "/plan", Detail: "Create, save, check and run plans"},
		{Text: "/plan list", Detail: "List the plans"},
		{Text: "/plan run", Detail: "Run a plan", Usage: "ID|FILE", Takes: []session.Completing{session.CompletePlans, session.CompleteFiles}},
		{Text: "/model", Detail: "What answers", Usage: "[NAME]", Takes: []session.Completing{session.CompleteModels}},
		{Text: "/models", Detail: "List the models"},
		{Text: "/help", Detail: "What the chat takes"},
	}}
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
	s := settled(t, newStory().greeted(), 120, 36).press(letters("see @")...)
	s.sent(asks("completions mentions"))
	s.lacks("files and resources")
	s.answers(someFiles())
	s.wants("files and resources")
	s.wants("internal/")
	s.lacks("internal/slug.go") // it is in a subfolder
	s.wants("tab take")
}

func TestMentionCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
		sent string // "" for nothing
	}{
		"tab takes the first":                 {slices.Concat(letters("see @slug"), []tea.KeyPressMsg{tabKey}), "see @internal/slug.go ", ""},
		"enter takes it too":                  {slices.Concat(letters("@slug"), []tea.KeyPressMsg{enter}), "@internal/slug.go ", ""},
		"down selects the next":               {slices.Concat(letters("@slug"), []tea.KeyPressMsg{downKey, tabKey}), "@internal/slug_test.go ", ""},
		"up returns":                          {slices.Concat(letters("@slug"), []tea.KeyPressMsg{downKey, upKey, enter}), "@internal/slug.go ", ""},
		"a folder continues":                  {slices.Concat(letters("@inter"), []tea.KeyPressMsg{tabKey, downKey, tabKey}), "@internal/slug_test.go ", ""},
		"blanks are quoted":                   {slices.Concat(letters("@note"), []tea.KeyPressMsg{tabKey}), `@"a note.txt" `, ""},
		"a quoted folder continues in quotes": {slices.Concat(letters("@my"), []tea.KeyPressMsg{tabKey, tabKey}), `@"my files/x" `, ""},
		"a name in quotes is completed":       {slices.Concat(letters(`@"a n`), []tea.KeyPressMsg{tabKey}), `@"a note.txt" `, ""},
		"a resource has its server's name":    {slices.Concat(letters("@front"), []tea.KeyPressMsg{tabKey}), "@wiki:page://front ", ""},
		"escape closes the list":              {slices.Concat(letters("@slug"), []tea.KeyPressMsg{escape, enter}), "", "@slug"},
		"a complete name is sent":             {slices.Concat(letters("@internal/slug.go"), []tea.KeyPressMsg{enter}), "", "@internal/slug.go"},
		"an at sign inside a word":            {slices.Concat(letters("me@slug"), []tea.KeyPressMsg{enter}), "", "me@slug"},
		"an escaped at sign":                  {slices.Concat(letters(`\@slug`), []tea.KeyPressMsg{enter}), "", `\@slug`},
		"in the middle of a line":             {slices.Concat(letters("and"), []tea.KeyPressMsg{leftKey, leftKey, leftKey}, letters("@slug "), []tea.KeyPressMsg{leftKey, tabKey}), "@internal/slug.go and", ""},
		"no match shows no list":              {slices.Concat(letters("@zzz"), []tea.KeyPressMsg{enter}), "", "@zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36)
			s.answers(session.Status{Problem: "none"}, someFiles()).press(c.keys...)
			s.typed(c.want)
			var sent []string
			for _, command := range s.session.commands() {
				if submit, ok := command.(session.Submit); ok {
					sent = append(sent, submit.Text)
				}
			}
			if got := strings.Join(sent, "|"); got != c.sent {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
		})
	}
}

func TestSlashCommandCompletion(t *testing.T) {
	plans := session.Completions{Of: session.CompletePlans, Items: []session.Completion{{Text: "tidy-001", Detail: "Tidy up"}, {Text: "ship-002"}}}
	files := session.Completions{Of: session.CompleteFiles, Items: []session.Completion{{Text: "a b.json"}, {Text: "x/", Folder: true}}}
	models := session.Completions{Of: session.CompleteModels, Items: []session.Completion{{Text: "qwen3:8b"}}}
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
		sent string
	}{
		"tab takes a command":              {slices.Concat(letters("/pl"), []tea.KeyPressMsg{tabKey}), "/plan ", ""},
		"tab takes a subcommand":           {slices.Concat(letters("/plan r"), []tea.KeyPressMsg{tabKey}), "/plan run ", ""},
		"an id":                            {slices.Concat(letters("/plan run tidy"), []tea.KeyPressMsg{tabKey}), "/plan run tidy-001 ", ""},
		"a file in quotes":                 {slices.Concat(letters("/plan run b.j"), []tea.KeyPressMsg{tabKey}), `/plan run "a b.json" `, ""},
		"one word of a command":            {slices.Concat(letters("/list"), []tea.KeyPressMsg{tabKey}), "/plan list", ""},
		"a complete command is sent":       {slices.Concat(letters("/help"), []tea.KeyPressMsg{enter}), "", "/help"},
		"an optional argument is left out": {slices.Concat(letters("/think "), []tea.KeyPressMsg{enter}), "", "/think"},
		"part of an id is sent":            {slices.Concat(letters("/plan run tid"), []tea.KeyPressMsg{enter}), "", "/plan run tid"},
		"a selected row is taken":          {slices.Concat(letters("/model "), []tea.KeyPressMsg{downKey, enter}), "/model qwen3:8b ", ""},
		"a slash inside a line":            {slices.Concat(letters("and /pl"), []tea.KeyPressMsg{enter}), "", "and /pl"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36)
			s.answers(someCommands(), plans, files, models).press(c.keys...)
			s.typed(c.want)
			commands := s.session.commands()
			submit, sent := commands[len(commands)-1].(session.Submit)
			if sent != (c.sent != "") || submit.Text != c.sent {
				t.Errorf("sent %q, want %q", submit.Text, c.sent)
			}
		})
	}
}

func TestMouseChoosesRowsOfInputLists(t *testing.T) {
	for _, width := range []int{120, 80} {
		s := open(t, tui.Options{}, width, 36)
		s.answers(someFiles()).press(letters("@slug")...)
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
		"files":    func(s *screen) { s.answers(someFiles()).press(letters("see @slu")...).press(downKey) },
		"commands": func(s *screen) { s.answers(someCommands()).press(letters("/")...) },
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
				s := open(t, size.options, size.width, size.height).show(newStory().greeted())
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

func TestPlainTextRequestsNoCompletions(t *testing.T) {
	s := settled(t, newStory().greeted(), 120, 36).press(letters("a plain goal")...)
	for _, c := range s.session.commands() {
		if asked, ok := c.(asks); ok && strings.HasPrefix(string(asked), "completions") {
			t.Error("the session was asked for completions")
		}
	}
}

func TestLongPasteBecomesToken(t *testing.T) {
	long := strings.Repeat("line\n", 30)
	s := open(t, tui.Options{}, 120, 36).press(letters("see ")...)
	s.m.Update(tea.PasteMsg{Content: long})
	s.typed("see [pasted 30 lines]")
	s.m.Update(tea.PasteMsg{Content: strings.Repeat("x", 3000)})
	s.typed("see [pasted 30 lines][pasted 3000 characters]")
	s.m.Update(tea.PasteMsg{Content: long})
	s.typed("see [pasted 30 lines][pasted 3000 characters][pasted 30 lines, 2]")
	s.press(backspace)
	s.typed("see [pasted 30 lines][pasted 3000 characters]")
	s.press(leftKey, deleteKey) // the cursor steps over a token
	s.typed("see [pasted 30 lines]")
	s.press(letters("!")...).press(leftKey, altP)
	s.typed("see " + long + "!")
}

func TestPasteTokenIsSentAsPastedText(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	long := strings.Repeat("a\tb\n", 25) + "end"
	_, cmd := s.m.Update(tea.PasteMsg{Content: strings.ReplaceAll(long, "\n", "\r\n")})
	s.carryOut(cmd)
	s.press(letters(" sum it up")...).press(enter)
	s.submitted(long + " sum it up")
	s.typed("")
}

func TestPastedControlCharactersAreEscaped(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36)
	s.m.Update(tea.PasteMsg{Content: "\x1b[31mred\x1b[0m\x07 a\u202eb\nsecond\n"})
	s.typed("red^G a<U+202E>b\nsecond\n")
	for _, c := range s.session.commands() {
		if _, sent := c.(session.Submit); sent {
			t.Error("the paste was sent")
		}
	}
}

func TestBackslashEnterBreaksLine(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters(`one\`)...).press(enter).press(letters("two")...)
	s.typed("one\ntwo")
	s.press(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModShift}).press(letters("three")...).press(enter)
	s.submitted("one\ntwo\nthree")
}

func TestHistoryIncludesOtherSessions(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).answers(event.ChatUser{Text: "two"}, session.History{Here: []string{"one", "two"}, Elsewhere: []string{"far"}})
	s.press(upKey)
	s.typed("two")
	s.press(upKey)
	s.typed("one")
	s.press(upKey)
	s.typed("one")
	s.press(downKey, downKey)
	s.typed("")
}

func TestLeadingBlankSkipsHistory(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).press(letters(" secret")...).press(enter)
	s.submitted(" secret")
	s.answers(event.ChatUser{Text: "secret"}).press(upKey)
	s.typed("")
}

func TestHistorySearch(t *testing.T) {
	history := session.History{Here: []string{"rename a to b", "run the tests", "look around", "Run it again"}, Elsewhere: []string{"run all tests"}}
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
	}{
		"the newest match":               {slices.Concat(letters("run"), []tea.KeyPressMsg{enter}), "Run it again"},
		"the key again selects the next": {slices.Concat(letters("run"), []tea.KeyPressMsg{altR, tabKey}), "run the tests"},
		"other folders come last":        {slices.Concat(letters("run"), []tea.KeyPressMsg{downKey, downKey, enter}), "run all tests"},
		"backspace":                      {slices.Concat(letters("lookx"), []tea.KeyPressMsg{backspace, enter}), "look around"},
		"escape keeps the draft":         {slices.Concat(letters("run"), []tea.KeyPressMsg{escape}), "draft"},
		"no match keeps the draft":       {slices.Concat(letters("zzz"), []tea.KeyPressMsg{enter}), "draft"},
		"several words are one query":    {slices.Concat(letters("run the"), []tea.KeyPressMsg{enter}), "run the tests"},
		"up and down stay in the list":   {slices.Concat(letters("run"), []tea.KeyPressMsg{downKey, upKey, upKey, enter}), "Run it again"},
		"a page ends at the last row":    {[]tea.KeyPressMsg{pageDown, enter}, "run all tests"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).answers(history).press(letters("draft")...).press(altR)
			s.wants("history ›") // a page is what is drawn
			s.press(c.keys...)
			s.typed(c.want)
			s.lacks("history ›")
		})
	}
	open(t, tui.Options{}, 120, 36).press(altR).wants("Nothing was sent yet.")
}

func TestQueuedTextsCanBeTakenBackAndRemoved(t *testing.T) {
	queue := session.Queue{Waiting: []string{"first", "second"}, Jobs: []session.QueuedJob{{ID: 4, Text: "first"}, {ID: 7, Text: "second"}}}
	s := settled(t, newStory().branching(), 120, 36).answers(queue)
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
	if left, _ := filepath.Glob(filepath.Join(dir, "replan-draft-*")); len(left) > 0 {
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
