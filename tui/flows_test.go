package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"go.uber.org/goleak"

	"replan/themes"
	"replan/tui"
	"replan/tui/draw"
)

// flow is one path through the screen, played in the real program under teatest:
// its start, its keys, and the effect of the last one.
type flow struct {
	from   func(*story) *story // nil: two steps run at once
	o      tui.Options
	first  []string // keys before, by name; @text types a text, ~ ends a grace time
	paste  string   // pasted after those
	events []any    // of the session, after that
	then   []string // keys after that
	keys   []string // the action's keys, where this is empty
	wants  string   // on the screen afterwards
	lacks  string   // not on it
	focus  string   // the pane with the focus
	sends  any      // a command or query to the session
	quits  bool     // the program ends
	moves  bool     // the frame changes, if only in its colors
}

// TestEveryActionHasAFlow checks that the table of flows has each action and no
// other.
func TestEveryActionHasAFlow(t *testing.T) {
	var ids []string
	for _, a := range tui.New(newFakeSession(), tui.Options{}).Actions() {
		ids = append(ids, a.ID)
		if _, ok := flows[a.ID]; !ok && a.ID != "suspend" { // it would stop the tests too; a test of cli does it in a shell
			t.Errorf("no flow presses the key of %s (%s)", a.ID, a.Does)
		}
	}
	for id := range flows {
		if !slices.Contains(ids, id) {
			t.Errorf("there is no action %s", id)
		}
	}
}

// TestFlows plays each flow with every key of its action, and the paths of more
// than one key.
func TestFlows(t *testing.T) {
	if testing.Short() {
		t.Skip("has no goroutine that the race detector could watch")
	}
	keys := map[string][]string{}
	for _, a := range tui.New(newFakeSession(), tui.Options{}).Actions() {
		keys[a.ID] = append(keys[a.ID], a.Keys...)
	}
	for id, f := range flows {
		if len(f.keys) == 0 {
			f.keys = slices.Compact(keys[id])
		}
		for _, key := range f.keys {
			t.Run(id+"/"+key, func(t *testing.T) { f.play(t, key) })
		}
	}
	for path, f := range paths {
		t.Run(path, func(t *testing.T) { f.play(t, f.keys[0]) })
	}
}

// play plays the flow with that last key.
func (f flow) play(t *testing.T, key string) {
	p := startProgram(t, f)
	for _, name := range f.first {
		p.press(name)
	}
	if f.paste != "" {
		p.test.Send(tea.PasteMsg{Content: f.paste})
	}
	if f.events != nil {
		st := more(p.story).Session(f.events...)
		p.test.Send(tui.Batch(st.Events, st.Now))
		for _, a := range st.Answers {
			p.test.Send(a)
		}
	}
	for _, name := range f.then {
		p.press(name)
	}
	before, drawn := p.frame(), p.drawn()
	p.press(key)
	if f.quits {
		p.ended()
		return
	}
	if f.sends != nil {
		p.received(f.sends)
	}
	shown := p.frame()
	for late := time.Now().Add(10 * time.Second); !strings.Contains(shown, f.wants) && time.Now().Before(late); {
		shown = p.frame() // what a command answers may come after the key's own frame
	}
	if f.wants != "" && !strings.Contains(shown, f.wants) {
		t.Errorf("%q is not on the screen after %s; before:\n%s\nafter:\n%s", f.wants, key, before, shown)
	}
	if f.moves && p.drawn() == drawn {
		t.Errorf("%s changes nothing on the screen:\n%s", key, shown)
	}
	if f.wants != "" && !f.moves && f.sends == nil && f.focus == "" && f.lacks == "" && strings.Contains(before, f.wants) {
		t.Errorf("%q was already on the screen before %s:\n%s", f.wants, key, before)
	}
	if f.lacks != "" && (strings.Contains(shown, f.lacks) || !strings.Contains(before, f.lacks)) {
		t.Errorf("%q was missing before %s, or is still shown; before:\n%s\nafter:\n%s", f.lacks, key, before, shown)
	}
	if f.focus != "" && p.focused() != f.focus {
		t.Errorf("%s focuses the pane %s, want %s", key, p.focused(), f.focus)
	}
}

// program is the real program with a model that tests can inspect.
type program struct {
	t       *testing.T
	session *fakeSession
	model   *watchedModel
	story   *story
	test    *teatest.TestModel
}

// watchedModel is a screen that runs functions in its own goroutine.
type watchedModel struct {
	*tui.Model
}

// asked is a message that inspects the screen and may return another message.
type asked func(m *tui.Model) tea.Msg

// Update passes messages on. A stage that a key opened takes the next key at once.
func (w *watchedModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if look, ok := msg.(asked); ok {
		if msg = look(w.Model); msg == nil {
			return w, nil
		}
	}
	_, cmd := w.Model.Update(msg)
	if over := w.RestedLater(); over != nil {
		w.Model.Update(over)
	}
	return w, cmd
}

func startProgram(t *testing.T, f flow) *program {
	leaks := goleak.IgnoreCurrent()
	p := &program{t: t, session: newFakeSession()}
	f.o.Pauses = draw.Pauses{Answer: -1, Toast: time.Hour} // a notice stays until the flow has seen it
	p.model = &watchedModel{tui.New(p.session, f.o)}
	p.test = teatest.NewTestModel(t, p.model, teatest.WithInitialTermSize(120, 36))
	var once sync.Once
	quit := func() {
		once.Do(func() {
			if err := p.test.Quit(); err != nil {
				t.Error(err)
			}
			p.test.WaitFinished(t, teatest.WithFinalTimeout(longestFlow))
		})
	}
	t.Cleanup(func() {
		quit()
		goleak.VerifyNone(t, append(endsByItself(), leaks)...)
	})
	from := f.from
	if from == nil {
		from = (*story).Branching
	}
	st := from(newStory())
	p.story = st
	p.test.Send(tui.Batch(st.Events, st.Now))
	for _, a := range st.Answers {
		p.test.Send(a)
	}
	p.press("~")
	return p
}

// press presses the key of that name.
func (p *program) press(name string) {
	switch {
	case name == "~":
		p.test.Send(asked(func(m *tui.Model) tea.Msg { return m.Rested() }))
		p.test.Send(asked(func(m *tui.Model) tea.Msg { return m.ReviewRested() }))
		p.test.Send(asked(func(m *tui.Model) tea.Msg { return m.ChangesRested() }))
	case strings.HasPrefix(name, "@"):
		for _, k := range letters(name[1:]) {
			p.test.Send(k)
		}
	default:
		p.test.Send(tui.KeyNamed(name))
	}
}

// look waits until all messages have been handled, and inspects the screen.
func (p *program) look(at func(m *tui.Model) string) string {
	seen := make(chan string, 1)
	p.test.Send(asked(func(m *tui.Model) tea.Msg {
		seen <- at(m)
		return nil
	}))
	return <-seen
}

func (p *program) drawn() string {
	return p.look(func(m *tui.Model) string { return m.View().Content })
}

// frame returns the text on the screen, with all spinners at the same frame: the
// clock of the real program beats while a slow machine plays a flow.
func (p *program) frame() string {
	still := []string{}
	for _, glyph := range themes.UnicodeGlyphs().Spinner {
		still = append(still, glyph, "⠋")
	}
	return strings.NewReplacer(still...).Replace(ansi.Strip(p.drawn()))
}

func (p *program) focused() string { return p.look((*tui.Model).Focus) }

// received waits until the session has received a command or query. It fails if
// nothing more is sent for a while.
func (p *program) received(want any) {
	p.t.Helper()
	for more := true; more; {
		select {
		case <-p.session.got:
		case <-time.After(longestFlow):
			more = false
		}
		for _, c := range p.session.commands() {
			if fmt.Sprintf("%#v", c) == fmt.Sprintf("%#v", want) {
				return
			}
		}
		if len(p.session.commands()) > 8 {
			break
		}
	}
	p.t.Errorf("the session received %#v, want %#v", p.session.commands(), want)
}

// ended waits for the program's end.
func (p *program) ended() { p.test.WaitFinished(p.t, teatest.WithFinalTimeout(longestFlow)) }

// longestFlow limits how long the program may take to end or to send a command;
// usually it does so at once.
const longestFlow = time.Minute

// endsByItself lists goroutines that may outlive a program: teatest's wait for an
// interrupt, a timer of Bubble Tea's, and the clock of the highlighter's
// regular expressions, none of which can be stopped.
func endsByItself() []goleak.Option {
	return []goleak.Option{
		// The reader of a terminal that sent a key when its program ended.
		goleak.IgnoreTopFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest/v2.NewTestModel.func2"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.Tick.func1"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).execBatchMsg"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"),
	}
}
