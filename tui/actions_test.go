package tui_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/tui"
	"replan/tui/dialog"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

var ctrlK = tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}

func TestCommandOfChatOpensDialog(t *testing.T) {
	for line, want := range map[string]string{"/theme": "Themes", "/settings": "Settings"} {
		s := open(t, tui.Options{}, 120, 36).press(letters(line)...).press(enter)
		s.sent()
		s.wants(want)
		if got := s.m.Typed(); got != "" {
			t.Errorf("%s: the input holds %q", line, got)
		}
	}
}

// TestEveryActionIsInPaletteAndHelp checks that each action with a key has a line
// in help, and that the palette finds each that is more than a key.
func TestEveryActionIsInPaletteAndHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	commands := []session.Completion{{Text: "/plan run", Detail: "run a plan", Usage: "ID|FILE"}, {Text: "/compact", Detail: "sum up the oldest part of the chat"}}
	s := open(t, tui.Options{Commands: func() []session.Completion { return commands }}, 120, 400).show(newStory().Branching())
	s.press(tea.KeyPressMsg{Code: tea.KeyF1})
	for _, c := range commands {
		s.wants(c.Text)
		s.wants(string(c.Detail))
	}
	help := s.text()
	s.press(escape)
	for _, a := range s.m.Actions() {
		shown := strings.Fields(a.Does)
		if !strings.Contains(help, a.Key) || !strings.Contains(help, strings.Join(shown[:min(len(shown), 3)], " ")) {
			t.Errorf("help lacks %s: %s %s", a.ID, a.Key, a.Does)
		}
		if !a.InPalette || a.Answers {
			continue
		}
		if found := s.offered(a); found != "" {
			t.Errorf("the palette does not find %s:\n%s", a.ID, found)
		}
	}
	s.press(ctrlK).press(letters("oldest part")...)
	s.wants("/compact")
	s.press(enter)
	if got := s.m.Typed(); got != "/compact" {
		t.Errorf("the chosen command puts %q into the input", got)
	}
	s.press(ctrlK).press(letters("run a plan")...).press(enter)
	s.wants("The input is not empty")
	s.press(escape, escape, ctrl('c'), ctrlK).press(letters("run a plan")...).press(enter)
	if got := s.m.Typed(); got != "/plan run " {
		t.Errorf("a command with arguments leaves %q in the input", got)
	}
}

// offered searches the palette for an action, and returns the screen if it is not
// found.
func (s *screen) offered(a tui.Action) string {
	title, _, _ := strings.Cut(a.Does, "; ")
	title, _, _ = strings.Cut(title, " (")
	s.press(ctrlK).press(letters(title)...)
	defer s.press(escape, escape)
	if found := s.text(); !strings.Contains(found, title[1:]) || !strings.Contains(found, a.Key) {
		return found
	}
	return ""
}

// TestEveryAltKeyHasAnotherWay holds that no action depends on alt, which terminals on
// macOS type as a letter: another key or the palette reaches it.
func TestEveryAltKeyHasAnotherWay(t *testing.T) {
	s := open(t, tui.Options{}, 120, 400).show(newStory().Finished())
	for _, a := range s.m.Actions() {
		alone := !slices.ContainsFunc(a.Keys, func(key string) bool { return !strings.HasPrefix(key, "alt+") })
		if !alone {
			continue
		}
		if found := s.offered(a); found != "" {
			t.Errorf("%s has the keys %v, and the palette lacks it:\n%s", a.ID, a.Keys, found)
		}
	}
}

func TestPaletteFindsByVisibleWords(t *testing.T) {
	s := settled(t, newStory().Finished(), 120, 36)
	s.m.Update(someModels())
	for query, first := range map[string]string{
		"undo": "Undo last run", "dark": "Switch theme: color-blind-dark", "theme": "Switch theme", "theme paper": "Switch theme: paper",
		"model": "Switch model or profile", "timeline": "Open timeline", "review": "Toggle plan review", "servers": "Show tool servers",
		"commit": "Commit changes", "show ch": "Show changes",
	} {
		s.press(ctrlK).press(letters(query)...)
		_, below, _ := strings.Cut(s.front(), "├")
		if lines := strings.Split(below, "\n"); len(lines) < 2 || !strings.Contains(lines[1], first) {
			t.Errorf("%q does not find %q first:\n%s", query, first, s.text())
		}
		s.press(escape, escape)
	}
	for _, hidden := range []string{"put_back", "half a page", "box on the left"} {
		s.press(ctrlK).press(letters(hidden)...)
		s.wants("No match")
		s.press(escape, escape)
	}
}

func TestPaletteFindsWhatCanBeDoneFirst(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 36).press(ctrlK).press(letters("undo")...)
	_, can := s.find("Open runs")
	_, cannot := s.find("Undo last run")
	if !strings.Contains(s.lines()[can-1], "├") || cannot < can {
		t.Errorf("got row %d for the available entry and %d for the other:\n%s", can, cannot, s.text())
	}
	s.wants("Undo last run  The run is active: undo it when it has ended.")
}

func TestPaletteShowsWholeReasonAndRecentEntries(t *testing.T) {
	s := settled(t, newStory().Branching(), 40, 12).press(ctrlK).press(letters("undo last")...)
	s.wants("The run is active: undo it when it")
	s.wants("has ended.")
	s.wants("esc clear")
	s.press(escape).wants("esc close")
	s.press(letters("switch theme frost")...).press(enter).press(ctrlK, downKey).lacks("Switch theme: frost") // in use
	s.press(escape, ctrlK).press(letters("switch theme fern")...).press(enter).press(ctrlK)
	if _, below, _ := strings.Cut(s.front(), "├"); !strings.Contains(below, "Switch theme: frost") {
		t.Errorf("the palette does not offer the recent entries first:\n%s", s.text())
	}
}

func TestPaletteOffersWhatTheSessionLists(t *testing.T) {
	s := open(t, tui.Options{Examples: []string{"run the tests"}}, 120, 36).show(newStory().Greeted()).press(ctrlK)
	s.m.Update(keymap.AnswerMsg[[]agent.Summary]{Value: []agent.Summary{{Run: "r-1", Goal: "fix the parser", Status: event.StatusFailed, Resumable: true}}})
	s.m.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompletePlans, Items: []session.Completion{{Text: "deploy", Detail: "Deploy it"}}}})
	s.m.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompleteFiles, Items: []session.Completion{{Text: "internal/slug.go"}}}})
	s.wants("Resume run: fix the parser")
	s.lacks("slug.go")
	s.press(letters("slug")...).wants("Mention internal/slug.go")
	s.press(enter)
	s.typed("@internal/slug.go ")
	s.press(ctrl('c'), ctrlK).press(letters("deploy")...).press(enter)
	s.typed("/plan run deploy")
	s.press(ctrl('c'), ctrlK).press(letters("undo")...).press(enter)
	if !slices.Contains(s.session.commands(), any(asks("undo "))) {
		t.Error("no undo was asked for")
	}
	s.press(escape, ctrlK)
	s.m.Update(someModels())
	s.press(letters("gemma")...).press(enter)
	s.press(ctrlK).press(letters("paper")...).press(enter)
	s.press(ctrlK).press(letters("run tests")...).press(enter)
	s.press(ctrlK).press(letters("resume run")...).press(enter)
	s.press(ctrlK).press(letters("commit")...).press(enter)
	model, theme := "gemma3:1b", "paper"
	s.sent(session.Choose{Model: &model}, session.SaveSetting{Key: "screen.theme", Value: &theme}, session.Submit{Text: "run the tests"}, session.Resume{Run: "r-1"}, session.Submit{Text: "commit"})
}

func TestPaletteRunsActionOrSaysWhyNot(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 36).press(ctrlK)
	s.wants("Commands")
	s.press(letters("follow the")...).press(enter)
	s.lacks("Commands")
	if s.m.Focus() != "plan" {
		t.Errorf("an action of the plan focuses %s", s.m.Focus())
	}
	s.press(ctrlK).press(letters("open gate or")...).press(enter)
	s.wants("Commands")
	s.wants("No gate is open.")
	s.press(escape).press(letters("stop the run")...)
	s.press(enter)
	s.lacks("Commands")
	s.sent(session.Stop{})
}

func TestPaletteAnswersOpenGate(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 36).press(ctrlK)
	s.wants("Commands")
	s.press(letters("deny")...).press(enter)
	s.wants("why not?")
	s.press(enter)
	s.sent(session.Resolve{Run: panetest.StoryRun, Gate: "4.1.1", Decision: event.Deny, Scope: event.ScopeOnce})
}

func TestPaletteAnswerShowsHiddenGateFirst(t *testing.T) {
	s := settled(t, newStory().Gated(), 120, 36).press(escape).press(ctrlK).press(letters("allow once")...).press(enter)
	if s.sent(); !s.m.GateOpen() {
		t.Error("the gate is not on the screen")
	}
}

func TestHelpBeginsWithKeysOfDialogOrPane(t *testing.T) {
	s := settled(t, newStory().Branching(), 120, 36).press(ctrlR).press(f1)
	s.wants("In the dialog below")
	s.press(escape)
	s.wants("Looking for runs")
	s.press(escape, tabKey).press(letters("?")...)
	s.lacks("In the dialog below")
	if plan, chat := strings.Index(s.text(), "follow the running step"), strings.Index(s.text(), "new line"); plan < 0 || chat >= 0 && chat < plan {
		t.Errorf("help of the plan does not begin with the plan's keys:\n%s", s.text())
	}
}

func TestKeysAreConfigurable(t *testing.T) {
	for name, c := range map[string]struct {
		keys keymap.Keys
		want string // in the error; "" for no error
	}{
		"another key":           {keys: keymap.Keys{"plan.follow": {"F"}, "gate": {"ctrl+b"}}},
		"two keys":              {keys: keymap.Keys{"help": {"?", "f2"}}},
		"no key":                {keys: keymap.Keys{"models": {}}},
		"swapped keys":          {keys: keymap.Keys{"plan.follow": {"x"}, "plan.cancel": {"f"}}},
		"unknown action":        {keys: keymap.Keys{"plan.fly": {"f"}}, want: `there is no action "plan.fly"`},
		"unknown key":           {keys: keymap.Keys{"plan.follow": {"hyper+f"}}, want: `there is no key "hyper+f"`},
		"key of another action": {keys: keymap.Keys{"plan.follow": {"x"}}, want: `the key of plan.cancel already`},
		"global key":            {keys: keymap.Keys{"plan.follow": {"ctrl+r"}}, want: `the key of runs already`},
		"letter in the input":   {keys: keymap.Keys{"gate": {"g"}}, want: "would be typed as text"},
		"letter for sending":    {keys: keymap.Keys{"chat.send": {"s"}}, want: "would be typed as text"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tui.CheckKeys(c.keys)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	s := open(t, tui.Options{Keys: keymap.Keys{"pane.next": {"ctrl+b"}}}, 120, 36).show(newStory().Branching())
	if s.press(tabKey); s.m.Focus() != "chat" {
		t.Error("the old key still works")
	}
	if s.press(tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl}); s.m.Focus() != "plan" {
		t.Error("the new key does nothing")
	}
	s.wants("ctrl+b pane")
}

func TestMessagesNameConfiguredKeys(t *testing.T) {
	keys := keymap.Keys{"pane.next": {"ctrl+b"}, "help": {"f2"}, "chat.new_line": {"ctrl+l"}, "look": {"f5"}}
	s := open(t, tui.Options{Keys: keys}, 120, 36).show(newStory().Branching())
	s.press(ctrl('b'), ctrl('t'))
	s.wants("Ctrl+b moves to the input: ctrl+t sends what you type there")
	s.press(ctrl('b'), ctrl('b')).press(letters("one")...).press(ctrl('l')).press(letters("two")...)
	if got := s.m.Typed(); got != "one\ntwo" {
		t.Errorf("the key for a new line makes %q", got)
	}
}

// TestManualListsEveryAction compares the table in docs/screen.md with the
// actions; -update writes it.
func TestManualListsEveryAction(t *testing.T) {
	const file, begin, end = "../docs/screen.md", "<!-- actions: held against the program by a test; -update writes them -->\n", "<!-- end of actions -->"
	manual, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(manual), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the actions", file)
	}
	var want strings.Builder
	want.WriteString("\n| action | keys | does |\n|---|---|---|\n")
	listed := map[string]bool{}
	for _, a := range tui.New(newFakeSession(), tui.Options{}).Actions() {
		if listed[a.ID] {
			continue
		}
		listed[a.ID] = true
		var keys []string
		for _, name := range a.Keys {
			keys = append(keys, "`"+strings.ReplaceAll(name, "|", `\|`)+"`")
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", a.ID, strings.Join(keys, " "), a.Does)
	}
	want.WriteString("\n")
	if table == want.String() {
		return
	}
	if update := flag.Lookup("update"); update == nil || update.Value.String() != "true" {
		t.Fatalf("the actions in %s are not those of the program: run the tests of tui with -update", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+want.String()+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPaletteRemembersTenEntriesAcrossStarts(t *testing.T) {
	recent := []string{"Switch theme: fern", "gone"}
	for i := range 9 {
		recent = append(recent, fmt.Sprintf("gone %d", i))
	}
	s := open(t, tui.Options{Recent: recent}, 120, 36).show(newStory().Greeted()).press(ctrlK)
	if _, below, _ := strings.Cut(s.front(), "├"); !strings.Contains(strings.Join(strings.Split(below, "\n")[1:5], "\n"), "Switch theme: fern") {
		t.Errorf("the palette does not offer the recent entry first:\n%s", s.text())
	}
	s.press(letters("switch theme frost")...).press(enter)
	want := session.SaveSetting{Key: dialog.KeyRecent, Value: new(strings.Join(append([]string{"Switch theme: frost"}, recent[:9]...), "\n"))}
	if got := s.session.commands(); !reflect.DeepEqual(got[len(got)-1], want) {
		t.Errorf("sent %#v, want %#v at the end", got, want)
	}
	s.show(newStory().Session(session.SettingSaved{Key: dialog.KeyRecent, Value: *want.Value}))
	s.lacks("for this session")
	s.lacks("Recent Switch")
}
