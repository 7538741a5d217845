package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// atOnce is the speed that waits for nothing.
const atOnce = 0

// speeds are how many times as fast as it was a run can be played.
func speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8, 16, atOnce} }

// playedScreen is the screen that a player plays on.
type playedScreen interface {
	tea.Model
	// tellEvents shows events; last says that no more of the run follow.
	tellEvents(events []event.Event, last bool) tea.Cmd
	// freeze stops everything that moves, or lets it go on.
	freeze(frozen bool)
	// animate starts the clock where something moves.
	animate() tea.Cmd
}

// player plays a run again on a screen of its own, which it makes anew where it
// seeks back. It has one timer, which it can stop.
type player struct {
	// fresh makes a screen on which nothing has happened. It looks where the one
	// before did, which is nil at first.
	fresh  func(p *player, before playedScreen) playedScreen
	screen playedScreen
	frame  time.Duration // between two drawn frames
	events []event.Event
	due    []time.Duration // when each event comes, from the start, at the pace of the run
	stops  []int           // how many events were told at each moment worth seeking
	at     int             // events that were told
	speed  float64
	paused bool
	alone  bool // the program shows nothing else

	count  int           // of waits
	halted chan struct{} // ends the wait that is under way; nil where none is
}

type (
	// playMsg ends the wait of the player with that count.
	playMsg struct{ count int }
	// innerMsg is for the screen that the player plays on.
	innerMsg struct{ msg tea.Msg }
	// outerMsg comes from that screen and is for the terminal.
	outerMsg struct{ msg tea.Msg }
	// leftMsg says that the user has left the replay.
	leftMsg struct{}
)

// outward marks the message of a command as one for the terminal.
func outward(cmd tea.Cmd) tea.Cmd {
	return func() tea.Msg { return outerMsg{cmd()} }
}

// newPlayer makes a player of what was told, which has told nothing yet.
func newPlayer(events []event.Event, speed float64, frame time.Duration, fresh func(p *player, before playedScreen) playedScreen) *player {
	p := &player{fresh: fresh, frame: frame, events: events, speed: nearestSpeed(speed), due: make([]time.Duration, len(events))}
	for i, e := range events {
		if i > 0 {
			p.due[i] = p.due[i-1] + runner.Rest(e.Time.Sub(events[i-1].Time), 1)
		}
		if worthSeeking(e.Data) {
			p.stops = append(p.stops, i+1)
		}
	}
	p.renew()
	return p
}

// nearestSpeed is the speed there is that is nearest to one.
func nearestSpeed(speed float64) float64 {
	if speed <= 0 {
		return atOnce
	}
	best := 1.0
	for _, s := range speeds() {
		if s != atOnce && max(s, speed)/min(s, speed) < max(best, speed)/min(best, speed) {
			best = s
		}
	}
	return best
}

// worthSeeking reports whether an event is a moment of the run that a reader
// knows.
func worthSeeking(data event.Data) bool {
	switch data.(type) {
	case event.PhaseStarted, event.PhaseCompleted, event.PlanCreated, event.PlanDiff, event.StepStarted, event.StepCompleted,
		event.StepFailed, event.StepSkipped, event.StepInDoubt, event.GateRequested, event.GateResolved, event.ReplanStarted,
		event.SynthesisStarted, event.SynthesisCompleted, event.RunResumed, event.RunCompleted:
		return true
	default:
		return false
	}
}

// renew begins on a fresh screen.
func (p *player) renew() { p.screen, p.at = p.fresh(p, p.screen), 0 }

// tell tells the events up to that many.
func (p *player) tell(upto int) tea.Cmd {
	upto = max(min(upto, len(p.events)), 0)
	if upto < p.at {
		p.renew()
	}
	var cmd tea.Cmd
	if upto > p.at {
		p.screen.freeze(p.paused)
		cmd = p.screen.tellEvents(p.events[p.at:upto], upto == len(p.events))
		p.at = upto
	}
	return p.inward(cmd)
}

// wait waits for the next event, in place of any wait before.
func (p *player) wait() tea.Cmd {
	p.halt()
	if p.paused || p.at >= len(p.events) {
		return nil
	}
	var rest time.Duration
	if p.at > 0 {
		rest = runner.Rest(p.due[p.at]-p.due[p.at-1], p.speed)
	}
	halted, count := make(chan struct{}), p.count
	p.halted = halted
	timer := time.NewTimer(rest)
	return func() tea.Msg {
		defer timer.Stop()
		select {
		case <-timer.C:
			return playMsg{count}
		case <-halted:
			return nil
		}
	}
}

// halt ends the wait that is under way.
func (p *player) halt() {
	p.count++
	if p.halted != nil {
		close(p.halted)
		p.halted = nil
	}
}

// next tells what is due after a wait, and waits for what comes then.
func (p *player) next(msg playMsg) tea.Cmd {
	if msg.count != p.count || p.at >= len(p.events) {
		return nil
	}
	upto := len(p.events)
	if p.speed != atOnce {
		// What comes within one drawn frame is told together.
		within := p.due[p.at] + time.Duration(float64(p.frame)*p.speed)
		upto = p.at + 1
		for upto < len(p.events) && p.due[upto] <= within {
			upto++
		}
	}
	told := p.tell(upto)
	if p.at == len(p.events) {
		p.rest(true)
	}
	return tea.Batch(told, p.wait())
}

// rest stops playing, or goes on.
func (p *player) rest(rest bool) {
	p.paused = rest
	p.screen.freeze(rest)
}

// toggle pauses or goes on; at the end it begins anew.
func (p *player) toggle() tea.Cmd {
	var told tea.Cmd
	if p.paused && p.at == len(p.events) {
		told = p.tell(0)
	}
	p.rest(!p.paused)
	return tea.Batch(told, p.wait(), p.inward(p.screen.animate()))
}

// seek goes to where that many events were told, and plays on from there unless
// it rests.
func (p *player) seek(to int) tea.Cmd {
	told := p.tell(to)
	p.screen.freeze(p.paused)
	return tea.Batch(told, p.wait())
}

// moment is where the next moment is, or the one before.
func (p *player) moment(forth bool) int {
	if forth {
		for _, stop := range p.stops {
			if stop > p.at {
				return stop
			}
		}
		return len(p.events)
	}
	for _, stop := range slices.Backward(p.stops) {
		if stop < p.at {
			return stop
		}
	}
	return 0
}

// faster takes the next speed, or the one before.
func (p *player) faster(by int) tea.Cmd {
	all := speeds()
	p.speed = all[max(min(slices.Index(all, p.speed)+by, len(all)-1), 0)]
	return p.wait()
}

// inward wraps a command of the inner screen so that its message returns to that
// screen. Quitting the screen leaves the replay, unless there is nothing else.
func (p *player) inward(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			out := make(tea.BatchMsg, len(msg))
			for i, c := range msg {
				out[i] = p.inward(c)
			}
			return out
		case playMsg, innerMsg:
			return msg
		case outerMsg:
			return msg.msg
		case tea.QuitMsg:
			if p.alone {
				return msg
			}
			return leftMsg{}
		default:
			return innerMsg{msg}
		}
	}
}

// line is the speed, how far the replay has come, and what happened last. notice
// stands at its right where it is not empty.
func (p *player) line(l *look, notice string, width int) string {
	glyph, style := l.glyphs.Play, l.Running
	if p.paused {
		glyph, style = l.glyphs.Pause, l.Warning
	}
	speed := "max"
	if p.speed != atOnce {
		speed = fmt.Sprintf("%gx", p.speed)
	}
	left := " " + style.Render(glyph) + " " + l.Strong.Render(speed) + " "
	var whole, gone time.Duration
	if n := len(p.events); n > 0 {
		begun := p.events[0].Time
		whole = p.events[n-1].Time.Sub(begun)
		if p.at > 0 {
			gone = p.events[p.at-1].Time.Sub(begun)
		}
	}
	times := l.Text.Render(clockTime(gone)) + l.Muted.Render("/"+clockTime(whole)) + " "
	right := ""
	if width >= 60 {
		right = l.Faint.Render(fmt.Sprintf("%d/%d ", p.at, len(p.events)))
	}
	if what := p.last(); what != "" && width >= 70 {
		right = l.Muted.Render(l.cut(what, width/3)) + l.Faint.Render(" "+l.glyphs.Separator+" ") + right
	}
	if notice != "" {
		right = l.Warning.Render(l.glyphs.Gate+" "+notice) + " " + right
	}
	room := width - visibleWidth(left) - visibleWidth(times) - visibleWidth(right) - 1
	bar := ""
	if room >= 6 {
		share := 1.0
		if n := len(p.events); n > 0 && p.due[n-1] > 0 {
			share = 0
			if p.at > 0 {
				share = float64(p.due[p.at-1]) / float64(p.due[n-1])
			}
		}
		bar = l.gauge(share, min(room, 60), style) + " "
	}
	return l.fit(l.sides(left+bar+times, right, width), width)
}

// last is the last moment that was told, in a few words.
func (p *player) last() string {
	for i := p.at - 1; i >= 0; i-- {
		switch d := p.events[i].Data.(type) {
		case event.PhaseStarted:
			return untrusted.Line(d.Label)
		case event.PlanCreated:
			return "the plan is there"
		case event.PlanDiff:
			return fmt.Sprintf("revision %d", d.Revision)
		case event.StepStarted:
			return stepWords(d.Index) + " starts"
		case event.StepCompleted:
			return stepWords(d.Index) + " done"
		case event.StepFailed:
			if d.Removes != "" || d.Outdated != "" {
				return stepWords(d.Index) + " is held"
			}
			return stepWords(d.Index) + " failed"
		case event.GateRequested:
			return "a gate opens"
		case event.GateResolved:
			return "the gate is answered"
		case event.ReplanStarted:
			return "replanning"
		case event.SynthesisStarted:
			return "answering"
		case event.RunCompleted:
			return "the end"
		}
	}
	return ""
}
