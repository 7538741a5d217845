package tui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
)

// asReplay makes a new screen show a past run: it asks nobody and sends nothing.
// It returns the handlers to use in place of those of a session.
func (m *Model) asReplay() keymap.Handlers {
	m.live.Recorded = true
	m.pending.Muted = true
	m.inputNamesReplay("replay")
	handlers := replay.Refusals()
	nothingToLeave := func() string {
		if m.panes.Focus() != panes.Chat {
			return ""
		}
		return "A replay has nothing to stop; " + m.keys.Name("replay.quit") + " quits."
	}
	handlers["run.stop"] = keymap.Handler{Refuse: nothingToLeave, Do: keymap.Just(m.leadBack)}
	return handlers
}

// inputNamesReplay shows the name of a replay in place of the input: the first of
// names that fits.
func (m *Model) inputNamesReplay(names ...string) {
	for i := range names {
		names[i] += " " + m.look.Glyphs.Separator + " " + m.keys.Name("replay.quit") + " quits"
	}
	m.input.Close(names...)
}

// play plays a run in place of this screen, from its start or at its end.
func (m *Model) play(events []event.Event, speed float64, atEnd bool) tea.Cmd {
	o := m.options
	o.Replay, o.Recorded, o.Intro, o.Goal, o.Suggestions, o.Drawn, o.GoOn = true, nil, "", "", nil, nil, nil
	o.ChatWidth, o.PlanHeight = m.panes.Shares()
	o.ShowThinking = m.chat.ShowsThinking
	settings := replay.Options{Speed: speed, Frame: batchInterval, Alone: m.options.Replay, RoomyFrom: panes.MinHeight + 2, Keys: m.keys}
	p := replay.New(events, settings, func(p *replay.Player, before replay.PlayedScreen) replay.PlayedScreen {
		screen := newScreen(runner.Closed(), o, p)
		screen.theming = m.theming
		screen.graphics, screen.detail.Graphics = m.graphics, m.graphics
		screen.applyTheme()
		screen.toasts.Quiet = true
		screen.clipboard = func(text string) tea.Cmd { return replay.Outward(tea.SetClipboard(text)) }
		if was, ok := before.(*Model); ok {
			screen.panes.Like(was.panes)
			screen.chat.ShowThinking(was.chat.ShowsThinking)
			width, height := was.panes.Size()
			screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
		}
		return screen
	})
	m.player = p
	p.Resize(m.panes.Size())
	if atEnd {
		p.Paused = true
		return p.ShowUpTo(len(events))
	}
	const opening = 3 // events: session status, user request, run start
	return tea.Batch(p.ShowUpTo(min(opening, len(events))), p.Wait())
}

// endReplay returns from the replay to this screen.
func (m *Model) endReplay() tea.Cmd {
	if m.player == nil {
		return nil
	}
	m.player.Halt()
	if played, ok := m.player.Screen.(*Model); ok {
		m.panes.TakeSizes(played.panes) // saved with the next key
	}
	m.player = nil
	m.arrange()
	return m.Animate()
}

// playRecalled plays the run requested in the list of runs.
func (m *Model) playRecalled(d keymap.JournalMsg) tea.Cmd {
	want := m.recall
	if want.Run != d.Run || errors.Is(d.Err, session.ErrClosed) {
		return nil
	}
	m.recall = keymap.Recall{}
	if d.Err != nil || len(d.Events) == 0 {
		why := ""
		if d.Err != nil {
			why = d.Err.Error()
		}
		why = "The replay cannot be shown: " + untrusted.FirstLine(why)
		m.dialogs.runs.ShowMessage(why)
		if !m.dialogs.runs.Shown() {
			m.message.Set(why)
		}
		return nil
	}
	m.dialogs.runs.ShowMessage("")
	return m.play(session.ReplayEvents(d.Run, d.Events), 1, want.AtEnd)
}

// The following methods make a Model a [replay.PlayedScreen].

// ShowEvents shows events of a replayed run; last means that no more follow.
func (m *Model) ShowEvents(events []event.Event, last bool) tea.Cmd {
	_, cmd := m.Update(eventsMsg{events: coalesce(slices.Clone(events)), arrived: m.options.Now(), closed: last})
	return cmd
}

// Freeze stops or resumes all animation.
func (m *Model) Freeze(frozen bool) { m.frozen = frozen }

// Surface describes what the screen draws to the player on it.
func (m *Model) Surface() replay.Surface {
	return replay.Surface{Look: m.look, Small: m.panes.Layout().Small, AtInput: m.dialogs.front() == nil && m.panes.Focus() == panes.Chat}
}
