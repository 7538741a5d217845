package input

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// newPane returns a focused input with room for three lines.
func newPane(now *time.Time) *Pane {
	p := New(panetest.DarkLook(), panetest.Keys(), Options{
		Editor: []string{"/usr/bin/vi"},
		Now:    func() time.Time { return *now },
		Commands: func() []session.Completion {
			return []session.Completion{{Text: "/plan", Detail: "Run plans", Usage: "ID"}}
		},
	})
	p.State = State{Focused: true}
	p.Height(40, 6, 3)
	p.SetHeight(3)
	return p
}

// types types letters and returns what the last one asked for.
func types(p *Pane, text string) (w keymap.Requests) {
	for _, r := range text {
		w = p.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return w
}

func TestTypingWarmsModelOncePerMinute(t *testing.T) {
	for name, tt := range map[string]struct {
		state State
		text  string
		after time.Duration // since the last load; 0 for no load before
		loads bool
	}{
		"the first letter":       {State{Focused: true}, "a", 0, true},
		"a command":              {State{Focused: true}, "/", 0, false},
		"within a minute":        {State{Focused: true}, "a", time.Minute - 1, false},
		"after a minute":         {State{Focused: true}, "a", time.Minute, true},
		"during a run":           {State{Focused: true, Busy: true}, "a", 0, false},
		"in an ended session":    {State{Focused: true, Closed: true}, "a", 0, false},
		"when no run can start":  {State{Focused: true, Blocked: true}, "a", 0, false},
		"when the input is used": {State{Focused: true}, "ab", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			p := newPane(&now)
			p.State = tt.state
			if tt.after > 0 {
				p.warmed = now.Add(-tt.after)
			}
			w := types(p, tt.text)
			if loads := reflect.DeepEqual(panetest.Sent(w), []session.Command{session.Warm{}}); loads != tt.loads {
				t.Errorf("typing %q sends %v", tt.text, panetest.Sent(w))
			}
		})
	}
}

func TestPasteIsExpandedWhenSent(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	text := strings.Repeat("a line of pasted text\n", 200)
	if w := p.Update(tea.PasteMsg{Content: text}); keymap.Place(keymap.First[keymap.Focus](w)) != keymap.PlaceChat {
		t.Error("a paste does not focus the input")
	}
	if got := p.Text(); got != "[pasted 200 lines]" {
		t.Errorf("the paste is shown as %q", got)
	}
	w := p.Actions()["chat.send"].Do()
	if want := []session.Command{session.Submit{Text: strings.TrimSpace(text)}}; !reflect.DeepEqual(panetest.Sent(w), want) {
		t.Errorf("%v is sent", panetest.Sent(w))
	}
}

func TestQueuedTextComesBeforeHistory(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	p.Remember("sent before")
	p.SetQueue(session.Queue{Waiting: []string{"queued"}, Jobs: []session.QueuedJob{{ID: 7, Text: "queued"}}})
	w := p.Actions()["chat.before"].Do()
	if want := []session.Command{session.Unqueue{ID: 7, Back: true}}; !reflect.DeepEqual(panetest.Sent(w), want) {
		t.Errorf("%v is sent", panetest.Sent(w))
	}
	types(p, "x")
	p.Actions()["chat.before"].Do()
	if p.Text() != "sent before" {
		t.Errorf("the input holds %q", p.Text())
	}
	p.Actions()["chat.after"].Do()
	if p.Text() != "x" {
		t.Errorf("the draft became %q", p.Text())
	}
	p.PutBack("queued")
	if p.Text() != "x" || p.sent[len(p.sent)-1] != "queued" {
		t.Errorf("a returned text makes %q with the history %q", p.Text(), p.sent)
	}
}

func TestQueueIsDrawnAboveInputIfItFits(t *testing.T) {
	now := time.Unix(1000, 0)
	for height, first := range map[int]string{1: "Describe a goal, or / for commands", 2: "2 queued: b (1 more before it)", 3: "1 queued: a"} {
		p := newPane(&now)
		p.SetQueue(session.Queue{Waiting: []string{"a", "b"}})
		p.SetHeight(height)
		lines := p.View(draw.Rect{W: 40, H: height})
		if len(lines) != height {
			t.Fatalf("%d lines for a height of %d", len(lines), height)
		}
		if !strings.Contains(ansi.Strip(lines[0]), first) {
			t.Errorf("height %d: %q", height, ansi.Strip(lines[0]))
		}
		if c := p.Cursor(); c == nil || c.Y != height-1 {
			t.Errorf("height %d: the cursor is at %v", height, c)
		}
	}
}

func TestEditedTextReplacesDraft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	now := time.Unix(1000, 0)
	p := newPane(&now)
	types(p, "draft")
	w := p.Update(EditedMsg{err: errors.New("vi failed: exit status 1")})
	if panetest.Footer(w) != "Your text is unchanged: vi failed: exit status 1." || p.Text() != "draft" {
		t.Errorf("a failed editor says %q and leaves %q", panetest.Footer(w), p.Text())
	}
	w = p.Update(EditedMsg{text: "saved", err: errors.New("vi failed: exit status 1")})
	path, _, _ := strings.Cut(strings.TrimPrefix(panetest.Footer(w), "The saved text is in "), ". Your text is unchanged: vi failed")
	if text, err := os.ReadFile(path); err != nil || string(text) != "saved\n" || p.Text() != "draft" { //nolint:gosec // of the test
		t.Errorf("a failed editor that saved says %q and leaves %q, %v", panetest.Footer(w), text, err)
	}
	w = p.Update(EditedMsg{text: "edited\x1b[31m"})
	if keymap.Place(keymap.First[keymap.Focus](w)) != keymap.PlaceChat || p.Text() != "edited" {
		t.Errorf("the editor leaves %q", p.Text())
	}
}

func TestClosedInputTakesNoText(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	p.Close("replay of run 1")
	p.SetQueue(session.Queue{Waiting: []string{"queued"}, Jobs: []session.QueuedJob{{ID: 7, Text: "queued"}}})
	const why = "A replay takes no input; q quits."
	if w := p.Update(tea.PasteMsg{Content: "x"}); panetest.Footer(w) != why || !p.Empty() {
		t.Errorf("a paste says %q and leaves %q", panetest.Footer(w), p.Text())
	}
	command := p.Commands().Actions[0]
	if got := command.Refusal(); got != why {
		t.Errorf("a command is refused with %q", got)
	}
	if drop := p.Actions()["chat.drop_queued"]; drop.Refusal() == "" {
		t.Error("a queued entry can be removed")
	}
}

func TestCompletionsOfSeveralKindsAreListedTogether(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	known := func(of session.Completing, texts ...session.Completion) {
		p.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: of, Items: texts}})
	}
	types(p, "/plan run")
	known(session.CompleteCommands, session.Completion{Text: "/plan run", Usage: "ID|FILE", Takes: []session.Completing{session.CompletePlans, session.CompleteFiles}})
	queries := keymap.Of[keymap.Query](types(p, " "))
	if len(queries) != 2 {
		t.Fatalf("%d queries are made", len(queries))
	}
	for _, query := range queries {
		if again := p.Update(query(t.Context(), runner.Closed())); keymap.First[keymap.Query](again) != nil || p.Listing() {
			t.Error("an unanswered query lists something")
		}
	}
	known(session.CompletePlans, session.Completion{Text: "tidy"})
	known(session.CompleteFiles, session.Completion{Text: "a plan.json"})
	if got := ansi.Strip(strings.Join(p.ListOver(make([]string, 5), 60), "\n")); !strings.Contains(got, "/plan run ID|FILE · plans and files") || !strings.Contains(got, "tidy") {
		t.Errorf("the list is\n%s", got)
	}
	if _, taken := p.ClickList(p.completer.FirstLine() + 1); !taken || p.Text() != `/plan run "a plan.json" ` {
		t.Errorf("a click makes %q", p.Text())
	}
}

func TestFurtherArgumentsAreCompletedAfterThoseBefore(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	known := func(of session.Completing, texts ...session.Completion) {
		p.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: of, Items: texts}})
	}
	types(p, "/team:lead")
	known(session.CompleteCommands, session.Completion{Text: "/team:lead", Usage: "TEAM NAME", Takes: []session.Completing{"team"}, Then: []session.Completing{"name"}})
	types(p, ` "Big Sales" A`)
	known(session.Completing("name").After([]string{"Big Sales"}), session.Completion{Text: "Ann"}, session.Completion{Text: "Bob"})
	if got := ansi.Strip(strings.Join(p.ListOver(make([]string, 5), 40), "\n")); !strings.Contains(got, "values") || !strings.Contains(got, "Ann") || strings.Contains(got, "Bob") {
		t.Errorf("the list is\n%s", got)
	}
	if _, taken := p.ClickList(p.completer.FirstLine()); !taken || p.Text() != `/team:lead "Big Sales" Ann ` {
		t.Errorf("a click makes %q", p.Text())
	}
	types(p, "B")
	if p.Listing() {
		t.Error("a word after the last argument is completed")
	}
}

func TestListIsHiddenBehindDialogsAndOtherPanes(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	p.Remember("sent before")
	p.Actions()["chat.history"].Do()
	for name, hide := range map[string]func(){
		"a dialog":   func() { p.Covered = true },
		"other pane": func() { p.Focused = false },
		"no room":    func() { p.SetHeight(0) },
	} {
		if !p.Listing() {
			t.Fatal("the history search is not shown")
		}
		hide()
		if p.Listing() || p.WheelList(10, 1) {
			t.Errorf("%s: the list takes keys", name)
		}
		p.State = State{Focused: true}
		p.SetHeight(3)
	}
}
