package input_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

func TestMentionCompletion(t *testing.T) {
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
		sent string // "" for nothing
	}{
		"tab takes the first":                 {slices.Concat(panetest.Letters("see @slug"), []tea.KeyPressMsg{panetest.Key("tab")}), "see @internal/slug.go ", ""},
		"enter takes it too":                  {slices.Concat(panetest.Letters("@slug"), []tea.KeyPressMsg{panetest.Key("enter")}), "@internal/slug.go ", ""},
		"down selects the next":               {slices.Concat(panetest.Letters("@slug"), []tea.KeyPressMsg{panetest.Key("down"), panetest.Key("tab")}), "@internal/slug_test.go ", ""},
		"up returns":                          {slices.Concat(panetest.Letters("@slug"), []tea.KeyPressMsg{panetest.Key("down"), panetest.Key("up"), panetest.Key("enter")}), "@internal/slug.go ", ""},
		"a folder continues":                  {slices.Concat(panetest.Letters("@inter"), []tea.KeyPressMsg{panetest.Key("tab"), panetest.Key("down"), panetest.Key("tab")}), "@internal/slug_test.go ", ""},
		"blanks are quoted":                   {slices.Concat(panetest.Letters("@note"), []tea.KeyPressMsg{panetest.Key("tab")}), `@"a note.txt" `, ""},
		"a quoted folder continues in quotes": {slices.Concat(panetest.Letters("@my"), []tea.KeyPressMsg{panetest.Key("tab"), panetest.Key("tab")}), `@"my files/x" `, ""},
		"a name in quotes is completed":       {slices.Concat(panetest.Letters(`@"a n`), []tea.KeyPressMsg{panetest.Key("tab")}), `@"a note.txt" `, ""},
		"a resource has its server's name":    {slices.Concat(panetest.Letters("@front"), []tea.KeyPressMsg{panetest.Key("tab")}), "@wiki:page://front ", ""},
		"escape closes the list":              {slices.Concat(panetest.Letters("@slug"), []tea.KeyPressMsg{panetest.Key("esc"), panetest.Key("enter")}), "", "@slug"},
		"a complete name is sent":             {slices.Concat(panetest.Letters("@internal/slug.go"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "@internal/slug.go"},
		"an at sign inside a word":            {slices.Concat(panetest.Letters("me@slug"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "me@slug"},
		"an escaped at sign":                  {slices.Concat(panetest.Letters(`\@slug`), []tea.KeyPressMsg{panetest.Key("enter")}), "", `\@slug`},
		"in the middle of a line":             {slices.Concat(panetest.Letters("and"), []tea.KeyPressMsg{panetest.Key("left"), panetest.Key("left"), panetest.Key("left")}, panetest.Letters("@slug "), []tea.KeyPressMsg{panetest.Key("left"), panetest.Key("tab")}), "@internal/slug.go and", ""},
		"no match shows no list":              {slices.Concat(panetest.Letters("@zzz"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "@zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			s := typing(t)
			completes(s, panetest.SomeFiles())
			s.Press(c.keys...)
			typed(s, c.want)
			var sent []string
			for _, command := range s.Commands() {
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
		"tab takes a command":              {slices.Concat(panetest.Letters("/pl"), []tea.KeyPressMsg{panetest.Key("tab")}), "/plan ", ""},
		"tab takes a subcommand":           {slices.Concat(panetest.Letters("/plan r"), []tea.KeyPressMsg{panetest.Key("tab")}), "/plan run ", ""},
		"an id":                            {slices.Concat(panetest.Letters("/plan run tidy"), []tea.KeyPressMsg{panetest.Key("tab")}), "/plan run tidy-001 ", ""},
		"a file in quotes":                 {slices.Concat(panetest.Letters("/plan run b.j"), []tea.KeyPressMsg{panetest.Key("tab")}), `/plan run "a b.json" `, ""},
		"one word of a command":            {slices.Concat(panetest.Letters("/list"), []tea.KeyPressMsg{panetest.Key("tab")}), "/plan list", ""},
		"a complete command is sent":       {slices.Concat(panetest.Letters("/help"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "/help"},
		"an optional argument is left out": {slices.Concat(panetest.Letters("/think "), []tea.KeyPressMsg{panetest.Key("enter")}), "", "/think"},
		"part of an id is sent":            {slices.Concat(panetest.Letters("/plan run tid"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "/plan run tid"},
		"a selected row is taken":          {slices.Concat(panetest.Letters("/model "), []tea.KeyPressMsg{panetest.Key("down"), panetest.Key("enter")}), "/model qwen3:8b ", ""},
		"a slash inside a line":            {slices.Concat(panetest.Letters("and /pl"), []tea.KeyPressMsg{panetest.Key("enter")}), "", "and /pl"},
	} {
		t.Run(name, func(t *testing.T) {
			s := typing(t)
			completes(s, panetest.SomeCommands(), plans, files, models)
			s.Press(c.keys...)
			typed(s, c.want)
			if c.sent == "" {
				submitted(s)
			} else {
				submitted(s, c.sent)
			}
		})
	}
}

func TestLongPasteBecomesToken(t *testing.T) {
	long := strings.Repeat("line\n", 30)
	s := typing(t).Type("see ")
	s.Update(tea.PasteMsg{Content: long})
	typed(s, "see [pasted 30 lines]")
	s.Update(tea.PasteMsg{Content: strings.Repeat("x", 3000)})
	typed(s, "see [pasted 30 lines][pasted 3000 characters]")
	s.Update(tea.PasteMsg{Content: long})
	typed(s, "see [pasted 30 lines][pasted 3000 characters][pasted 30 lines, 2]")
	s.Press(panetest.Key("backspace"))
	typed(s, "see [pasted 30 lines][pasted 3000 characters]")
	s.Press(panetest.Key("left"), panetest.Key("delete")) // the cursor steps over a token
	typed(s, "see [pasted 30 lines]")
	s.Type("!").Press(panetest.Key("left"), panetest.Key("alt+p"))
	typed(s, "see "+long+"!")
}

func TestPasteTokenIsSentAsPastedText(t *testing.T) {
	s := typing(t)
	long := strings.Repeat("a\tb\n", 25) + "end"
	s.Update(tea.PasteMsg{Content: strings.ReplaceAll(long, "\n", "\r\n")})
	s.Type(" sum it up").Press(panetest.Key("enter"))
	submitted(s, long+" sum it up")
	typed(s, "")
}

func TestPastedControlCharactersAreEscaped(t *testing.T) {
	s := typing(t)
	s.Update(tea.PasteMsg{Content: "\x1b[31mred\x1b[0m\x07 a\u202eb\nsecond\n"})
	typed(s, "red^G a<U+202E>b\nsecond\n")
	for _, c := range s.Commands() {
		if _, sent := c.(session.Submit); sent {
			t.Error("the paste was sent")
		}
	}
}

func TestBackslashEnterBreaksLine(t *testing.T) {
	s := typing(t).Press(panetest.Letters(`one\`)...).Press(panetest.Key("enter")).Type("two")
	typed(s, "one\ntwo")
	s.Press(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModShift}).Type("three").Press(panetest.Key("enter"))
	submitted(s, "one\ntwo\nthree")
}

func TestHistorySearch(t *testing.T) {
	history := session.History{Here: []string{"rename a to b", "run the tests", "look around", "Run it again"}, Elsewhere: []string{"run all tests"}}
	for name, c := range map[string]struct {
		keys []tea.KeyPressMsg
		want string
	}{
		"the newest match":               {slices.Concat(panetest.Letters("run"), []tea.KeyPressMsg{panetest.Key("enter")}), "Run it again"},
		"the key again selects the next": {slices.Concat(panetest.Letters("run"), []tea.KeyPressMsg{panetest.Key("alt+r"), panetest.Key("tab")}), "run the tests"},
		"other folders come last":        {slices.Concat(panetest.Letters("run"), []tea.KeyPressMsg{panetest.Key("down"), panetest.Key("down"), panetest.Key("enter")}), "run all tests"},
		"backspace":                      {slices.Concat(panetest.Letters("lookx"), []tea.KeyPressMsg{panetest.Key("backspace"), panetest.Key("enter")}), "look around"},
		"escape keeps the draft":         {slices.Concat(panetest.Letters("run"), []tea.KeyPressMsg{panetest.Key("esc")}), "draft"},
		"no match keeps the draft":       {slices.Concat(panetest.Letters("zzz"), []tea.KeyPressMsg{panetest.Key("enter")}), "draft"},
		"several words are one query":    {slices.Concat(panetest.Letters("run the"), []tea.KeyPressMsg{panetest.Key("enter")}), "run the tests"},
		"up and down stay in the list":   {slices.Concat(panetest.Letters("run"), []tea.KeyPressMsg{panetest.Key("down"), panetest.Key("up"), panetest.Key("up"), panetest.Key("enter")}), "Run it again"},
		"a page ends at the last row":    {[]tea.KeyPressMsg{panetest.Key("pgdown"), panetest.Key("enter")}, "run all tests"},
	} {
		t.Run(name, func(t *testing.T) {
			s := typing(t)
			s.Part.(*input.Pane).Restore(history)
			s.Type("draft").Press(panetest.Key("alt+r"))
			s.Wants("history ›") // a page is what is drawn
			s.Press(c.keys...)
			typed(s, c.want)
			s.Lacks("history ›")
		})
	}
	typing(t).Press(panetest.Key("alt+r")).Wants("Nothing was sent yet.")
}

// typing is an empty input with the keys.
func typing(t *testing.T) *panetest.Driver {
	t.Helper()
	return suggested(t)
}

// suggested is an input with the keys that suggests these texts.
func suggested(t *testing.T, texts ...string) *panetest.Driver {
	t.Helper()
	const width = 120
	k := panetest.Keys()
	p := input.New(panetest.DarkLook(), k, input.Options{Texts: texts, Now: func() time.Time { return time.Unix(1000, 0) }})
	p.State = input.State{Focused: true}
	return &panetest.Driver{T: t, Keys: k, Part: p, Width: width, Draw: func() []string {
		p.SetHeight(p.Height(width, 12, 3))
		return append(p.ListOver(draw.Padded(make([]string, 20)), width), p.View(draw.Rect{W: width, H: 12})...)
	}}
}

// completes gives the input what it may complete.
func completes(s *panetest.Driver, all ...session.Completions) {
	for _, c := range all {
		s.Update(keymap.AnswerMsg[session.Completions]{Value: c})
	}
}

// typed fails the test unless the input holds this text.
func typed(s *panetest.Driver, want string) {
	s.T.Helper()
	if got := s.Part.(*input.Pane).Text(); got != want {
		s.T.Errorf("the input holds %q, want %q", got, want)
	}
}

// submitted fails the test unless these texts were sent.
func submitted(s *panetest.Driver, want ...string) {
	s.T.Helper()
	var got []string
	for _, c := range s.Commands() {
		if submit, ok := c.(session.Submit); ok {
			got = append(got, submit.Text)
		}
	}
	if !slices.Equal(got, want) {
		s.T.Errorf("sent %q, want %q", got, want)
	}
}

func TestEnterOnEmptyInputSendsNothing(t *testing.T) {
	s := typing(t).Press(panetest.Key("enter"))
	s.Sent()
	s.Wants("Type a goal first.")
}

func TestSuggestionFillsInput(t *testing.T) {
	s := suggested(t, "fix it").Press(panetest.Key("enter"))
	s.Sent(session.Submit{Text: "fix it"})
}

func TestNewLinesGrowInput(t *testing.T) {
	s := typing(t)
	s.Type("one").Press(tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt}).Type("two").Press(panetest.Key("ctrl+j")).Type("three")
	typed(s, "one\ntwo\nthree")
	s.Wants("› one\n  two\n  three")
}

func TestUpAndDownBrowseHistory(t *testing.T) {
	s := typing(t)
	s.Part.(*input.Pane).Restore(session.History{Here: []string{"first", "second"}})
	s.Type("draft")
	for _, c := range []struct {
		key  tea.KeyPressMsg
		want string
	}{{panetest.Key("up"), "second"}, {panetest.Key("up"), "first"}, {panetest.Key("up"), "first"}, {panetest.Key("down"), "second"}, {panetest.Key("down"), "draft"}, {panetest.Key("down"), "draft"}} {
		s.Press(c.key)
		typed(s, c.want)
	}
}

func TestPlainTextRequestsNoCompletions(t *testing.T) {
	s := typing(t)
	for _, k := range panetest.Letters("a plain goal") {
		if s.Press(k); keymap.Has[keymap.Query](s.Requests) {
			t.Errorf("%s asks for completions", k)
		}
	}
}

func TestHistoryIncludesOtherSessions(t *testing.T) {
	s := typing(t)
	s.Part.(*input.Pane).Remember("two")
	s.Part.(*input.Pane).Restore(session.History{Here: []string{"one", "two"}, Elsewhere: []string{"far"}})
	s.Press(panetest.Key("up"))
	typed(s, "two")
	s.Press(panetest.Key("up"))
	typed(s, "one")
	s.Press(panetest.Key("up"))
	typed(s, "one")
	s.Press(panetest.Key("down"), panetest.Key("down"))
	typed(s, "")
}
