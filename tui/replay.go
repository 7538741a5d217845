package tui

import (
	"errors"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/input"
	"replan/tui/keymap"
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
func (p *playback) state() *frame.Playback {
	if p.control == nil {
		return nil
	}
	paused, over := p.control.Rests()
	return &frame.Playback{Paused: paused, Over: over}
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
