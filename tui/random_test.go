package tui_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

// TestRandomInputKeepsFrameSize presses two thousand keys by seed, or six thousand with
// REPLAN_TEST_LONG, scrolls, clicks, pastes and resizes, while the events of a story
// arrive. Nothing may panic, and every frame has as many lines as the screen, each
// exactly as wide.
func TestRandomInputKeepsFrameSize(t *testing.T) {
	seeds, inputs := 10, 200 // of each seed
	switch {
	case testing.Short():
		seeds, inputs = 4, 100
	case os.Getenv("REPLAN_TEST_LONG") != "":
		seeds, inputs = 20, 300
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			newHand(t, seed).play(inputs)
		})
	}
}

// hand is a user who does anything to a screen.
type hand struct {
	t       *testing.T
	rand    *rand.Rand
	m       *tui.Model
	keys    []string
	events  []event.Event // still to be delivered
	answers []tea.Msg     // to queries, after the events
	now     time.Time
	width   int
	height  int
	inputs  []string // the latest inputs
}

func newHand(t *testing.T, seed uint64) *hand {
	h := &hand{t: t, rand: rand.New(rand.NewPCG(seed, 7)), width: 120, height: 36} //nolint:gosec // chosen by a seed
	modes := []tui.Options{{}, {ASCII: true}, {NoColor: true}, {Theme: themes.Light}, {ReducedMotion: true}}
	if seed%10 == 4 {
		modes[4] = tui.Options{Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}
	}
	h.m = tui.New(newFakeSession(), modes[int(seed)%len(modes)]) //nolint:gosec // small
	for _, a := range h.m.Actions() {
		if a.ID != "quit" {
			h.keys = append(h.keys, a.Keys...)
		}
	}
	stories := []func(*story) *story{
		(*story).Finished, (*story).Reviewing, (*story).Stopped, (*story).Failing, (*story).Exploring, (*story).Servers, (*story).Crowded, (*story).Calling, (*story).Resumed, (*story).Wide,
	}
	story := stories[int(seed)%len(stories)](newStory()) //nolint:gosec // small
	h.events, h.now = story.Events, story.Events[0].Time
	h.input("resize", tea.WindowSizeMsg{Width: h.width, Height: h.height})
	return h
}

// play gives so many inputs and checks every frame.
func (h *hand) play(inputs int) {
	for range inputs {
		switch n := h.rand.IntN(100); {
		case n < 12:
			h.deliver()
		case n < 18:
			h.resize()
		case n < 24:
			h.drag()
		case n < 28:
			h.input("wheel", tea.MouseWheelMsg{X: h.rand.IntN(h.width), Y: h.rand.IntN(h.height), Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[h.rand.IntN(2)]})
		case n < 30:
			h.input("paste", tea.PasteMsg{Content: strings.Repeat("wide 漢字 e\u0301 👩‍👩‍👧 \u202e tab\tend\n", 1+h.rand.IntN(5))})
		case n < 34:
			h.now = h.now.Add(100 * time.Millisecond)
			h.input("beat", tui.Beat(h.now))
		case n < 38:
			h.input("rest", h.m.Rested())
			h.input("rest of the review", h.m.ReviewRested())
		case n < 55:
			letters := []rune("abxyznefghjklq/@?! 漢é1234")
			r := letters[h.rand.IntN(len(letters))]
			h.input(string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
		default:
			name := h.keys[h.rand.IntN(len(h.keys))]
			h.input(name, tui.KeyNamed(name))
		}
	}
}

// deliver gives the screen the next few events, and starts another run after the
// last.
func (h *hand) deliver() {
	n := min(1+h.rand.IntN(6), len(h.events))
	if n == 0 {
		next := []func(*story) *story{(*story).Servers, (*story).Reviewing, (*story).Crowded}[h.rand.IntN(3)](newStory())
		for _, a := range h.answers {
			h.input("an answer", a)
		}
		next.Session(session.Models{Model: "qwen3:8b", Models: []prompt.ModelInfo{{Name: "qwen3:8b", Chats: true}}},
			[]agent.Summary{{Run: panetest.StoryRun, Goal: "漢字 " + panetest.StoryGoal, Status: agent.StatusUnfinished, Resumable: true}},
			panetest.SettingsInForce(), panetest.SomeFiles(), panetest.SomeCommands(), panetest.Undo(),
			[]session.Conversation{{Session: "s-0", First: "漢字 👩‍👩‍👧 e\u0301"}})
		h.events, h.answers = next.Events, next.Answers
		return
	}
	batch := h.events[:n]
	h.events, h.now = h.events[n:], batch[n-1].Time
	h.input("events to "+string(batch[n-1].Data.Kind()), tui.Batch(batch, h.now))
}

// drag presses a mouse button, may move the mouse, and may release the button.
func (h *hand) drag() {
	at := func() (x, y int) { return h.rand.IntN(h.width + 1), h.rand.IntN(h.height + 1) }
	x, y := at()
	h.input("click", tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	for range h.rand.IntN(3) {
		x, y = at()
		h.input("drag", tea.MouseMotionMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
	if h.rand.IntN(4) > 0 {
		h.input("release", tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
}

func (h *hand) resize() {
	sizes := [][2]int{{120, 36}, {200, 50}, {80, 24}, {40, 12}, {100, 15}, {99, 12}, {39, 12}, {1, 1}, {250, 8}}
	size := sizes[h.rand.IntN(len(sizes))]
	if h.rand.IntN(2) == 0 {
		size = [2]int{1 + h.rand.IntN(220), 1 + h.rand.IntN(60)}
	}
	h.width, h.height = size[0], size[1]
	h.input(fmt.Sprintf("resize %dx%d", h.width, h.height), tea.WindowSizeMsg{Width: h.width, Height: h.height})
}

// input gives the screen one message and checks the next frame.
func (h *hand) input(what string, msg tea.Msg) {
	h.t.Helper()
	h.inputs = append(h.inputs, what)
	h.inputs = h.inputs[max(len(h.inputs)-25, 0):]
	defer func() {
		if r := recover(); r != nil {
			h.t.Errorf("a panic after %q on %dx%d", h.inputs, h.width, h.height)
			panic(r)
		}
	}()
	h.m.Update(msg)
	lines := strings.Split(h.m.View().Content, "\n")
	if len(lines) != h.height {
		h.t.Fatalf("the frame has %d lines on %dx%d after %q", len(lines), h.width, h.height, h.inputs)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w != h.width {
			h.t.Fatalf("line %d is %d cells wide on %dx%d after %q:\n%s", i+1, w, h.width, h.height, h.inputs, ansi.Strip(strings.Join(lines, "\n")))
		}
	}
}
