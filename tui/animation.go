package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/tui/clock"
	"replan/tui/draw"
	"replan/tui/live"
)

// animation moves what spins or counts on the screen, while there is any.
type animation struct {
	clock    clock.Clock
	styles   *draw.Styles // hold the time and the frame that is drawn
	live     *live.Runs
	dialogs  *dialogs
	session  *sessionFeed
	playback *playback
}

// start starts the clock if something moves.
func (a *animation) start() tea.Cmd {
	if a.moves() {
		return a.clock.Start()
	}
	return nil
}

// beat advances everything by one frame.
func (a *animation) beat(msg clock.BeatMsg) tea.Cmd {
	cmd := a.clock.Beat(msg, a.moves())
	a.styles.Advance()
	a.update()
	return cmd
}

// record records when an event happened and when it arrived.
func (a *animation) record(event, arrived time.Time) { a.clock.Record(event, arrived) }

// update draws with the time of the newest event or beat.
func (a *animation) update() { a.styles.SetTime(a.clock.Now()) }

// calm reduces the motion, or stops reducing it.
func (a *animation) calm(on bool) { a.clock.SetCalm(on) }

// moves reports whether the screen needs animation.
func (a *animation) moves() bool {
	growing := a.dialogs.grows() && !a.session.ended()
	return !a.playback.still() && (a.session.sideAsked() || a.live.Preparing() || growing || a.live.Animated())
}
