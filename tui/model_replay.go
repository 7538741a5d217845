package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
)

// replayActions returns the actions that take the place of those of a session while a past
// run is shown. It asks no questions and sends nothing.
func (m *Model) replayActions() keymap.Handlers {
	return replay.Refusals().With(replayExits().For(m.exits))
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
		screen.appearance.like(m.appearance)
		screen.redraw()
		screen.toasts.Silence()
		screen.clipboard.outward()
		if was, ok := before.(*Model); ok {
			screen.panes.Like(was.panes)
			screen.chat.ShowThinking(was.chat.ShowsThinking)
			width, height := was.panes.Size()
			screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
		}
		return screen
	})
	m.playback.begin(p)
	p.Resize(m.panes.Size())
	if atEnd {
		return p.ShowEnd()
	}
	const opening = 3 // events: session status, user request, run start
	return tea.Batch(p.ShowUpTo(min(opening, len(events))), p.Wait())
}

// endReplay returns from the replay to this screen.
func (m *Model) endReplay() tea.Cmd {
	if !m.playback.plays() {
		return nil
	}
	if played, ok := m.playback.end().(*Model); ok {
		m.panes.TakeSizes(played.panes) // saved with the next key
	}
	m.arrange()
	return m.animation.start()
}

// playRecalled plays the run requested in the list of runs.
func (m *Model) playRecalled(d keymap.JournalMsg) tea.Cmd {
	want, why, found := m.playback.wanted(d)
	if !found {
		return nil
	}
	listed := m.dialogs.noReplay(why)
	if why == "" {
		return m.play(session.ReplayEvents(d.Run, d.Events), 1, want.AtEnd)
	}
	if !listed {
		m.message.Set(why)
	}
	return nil
}

// The following methods make a Model a [replay.PlayedScreen].

// ShowEvents shows events of a replayed run; last means that no more follow.
func (m *Model) ShowEvents(events []event.Event, last bool) tea.Cmd {
	_, cmd := m.Update(eventsMsg{events: coalesce(slices.Clone(events)), arrived: m.options.Now(), closed: last})
	return cmd
}

// Animate starts the clock if something moves.
func (m *Model) Animate() tea.Cmd { return m.animation.start() }

// Freeze stops or resumes all animation.
func (m *Model) Freeze(frozen bool) { m.playback.freeze(frozen) }

// Surface describes what the screen draws to the player on it.
func (m *Model) Surface() replay.Surface {
	return replay.Surface{Styles: m.styles, Small: m.panes.Layout().Small, AtInput: m.dialogs.front() == nil && m.panes.Focus() == panes.Chat}
}
