package tui

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/panes"
	"replan/tui/replay"
)

// playback is the replay of a run in place of this screen, or on it.
type playback struct {
	player  *replay.Player // plays a run in place of this screen; nil for none
	control *replay.Player // plays on this screen; nil for none
	frozen  bool           // animations stop while the player is paused
	recall  keymap.Recall  // the run that the user asked to play
}

// plays reports whether a run is played in place of this screen.
func (p *playback) plays() bool { return p.player != nil }

// on reports whether a player plays on this screen.
func (p *playback) on() bool { return p.control != nil }

// screen returns the player that plays in place of this screen.
func (p *playback) screen() *replay.Player { return p.player }

// actions returns the actions of the player on this screen.
func (p *playback) actions(k *keymap.Map) keymap.Handlers { return replay.Actions(p.control, k) }

// state returns the state of the player on this screen, nil for none.
func (p *playback) state() *frame.Played {
	c := p.control
	if c == nil {
		return nil
	}
	return &frame.Played{Paused: c.Paused, Over: c.Paused && c.At == len(c.Events)}
}

// freeze stops or resumes all animation.
func (p *playback) freeze(frozen bool) { p.frozen = frozen }

// still reports whether animations are stopped.
func (p *playback) still() bool { return p.frozen }

// begin plays in place of this screen.
func (p *playback) begin(player *replay.Player) { p.player = player }

// end stops playing in place of this screen, and returns what was played on.
func (p *playback) end() replay.PlayedScreen {
	played := p.halt()
	p.player = nil
	return played
}

// want notes which run the user asked to play.
func (p *playback) want(r keymap.Recall) { p.recall = r }

// wanted returns the run that the user asked to play if these are its events, and why it
// cannot be shown.
func (p *playback) wanted(d keymap.JournalMsg) (r keymap.Recall, why string, found bool) {
	r = p.recall
	if r.Run != d.Run || errors.Is(d.Err, session.ErrClosed) {
		return r, "", false
	}
	p.recall = keymap.Recall{}
	if d.Err != nil || len(d.Events) == 0 {
		if d.Err != nil {
			why = d.Err.Error()
		}
		why = "The replay cannot be shown: " + untrusted.FirstLine(why)
	}
	return r, why, true
}

// halt ends the player of this screen, if there is one, and returns what it played on.
func (p *playback) halt() replay.PlayedScreen {
	if p.player == nil {
		return nil
	}
	p.player.Halt()
	return p.player.Screen
}

// replayName shows the name of a replay in place of the input.
type replayName struct {
	styles *draw.Styles
	keys   *keymap.Map
	input  *input.Pane
}

// show shows the first of names that fits.
func (r *replayName) show(names ...string) {
	for i := range names {
		names[i] += " " + r.styles.Glyphs.Separator + " " + r.keys.Name("replay.quit") + " quits"
	}
	r.input.Close(names...)
}

// replayActions returns the actions that take the place of those of a session while a
// past run is shown: it asks nobody and sends nothing.
func (m *Model) replayActions() keymap.Handlers {
	handlers := replay.Refusals()
	nothingToLeave := func() string {
		if m.panes.Focus() != panes.Chat {
			return ""
		}
		return "A replay has nothing to stop; " + m.keys.Name("replay.quit") + " quits."
	}
	handlers["run.stop"] = keymap.Handler{Refuse: nothingToLeave, Do: keymap.Just(m.exits.back)}
	return handlers
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
		screen.toasts.Quiet = true
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
		p.Paused = true
		return p.ShowUpTo(len(events))
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
	return m.Animate()
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

// Freeze stops or resumes all animation.
func (m *Model) Freeze(frozen bool) { m.playback.freeze(frozen) }

// Surface describes what the screen draws to the player on it.
func (m *Model) Surface() replay.Surface {
	return replay.Surface{Styles: m.styles, Small: m.panes.Layout().Small, AtInput: m.dialogs.front() == nil && m.panes.Focus() == panes.Chat}
}
