package replay

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/telling"
)

// AtOnce is the speed that waits for nothing.
const atOnce = 0

// speeds are how many times as fast as it was a run can be played.
func speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8, 16, atOnce} }

// PlayedScreen is the screen that a player plays on.
type PlayedScreen interface {
	tea.Model
	// TellEvents shows events; last says that no more of the run follow.
	TellEvents(events []event.Event, last bool) tea.Cmd
	// Freeze stops everything that moves, or lets it go on.
	Freeze(frozen bool)
	// Animate starts the clock where something moves.
	Animate() tea.Cmd
}

// Player plays a run again on a screen of its own, which it makes anew where it
// seeks back. It has one timer, which it can stop.
type Player struct {
	// fresh makes a screen on which nothing has happened. It looks where the one
	// before did, which is nil at first.
	fresh  func(p *Player, before PlayedScreen) PlayedScreen
	Screen PlayedScreen
	frame  time.Duration // between two drawn frames
	Events []event.Event
	due    []time.Duration // when each event comes, from the start, at the pace of the run
	stops  []int           // how many events were told at each moment worth seeking
	At     int             // events that were told
	speed  float64
	Paused bool
	Alone  bool // the program shows nothing else

	count  int           // of waits
	halted chan struct{} // ends the wait that is under way; nil where none is
}

type (
	// PlayMsg ends the wait of the player with that count.
	PlayMsg struct{ count int }
	// InnerMsg is for the screen that the player plays on.
	InnerMsg struct{ Msg tea.Msg }
	// outerMsg comes from that screen and is for the terminal.
	outerMsg struct{ msg tea.Msg }
	// LeftMsg says that the user has left the replay.
	LeftMsg struct{}
)

// Outward marks the message of a command as one for the terminal.
func Outward(cmd tea.Cmd) tea.Cmd {
	return func() tea.Msg { return outerMsg{cmd()} }
}

// New makes a player of what was told, which has told nothing yet.
func New(events []event.Event, speed float64, frame time.Duration, fresh func(p *Player, before PlayedScreen) PlayedScreen) *Player {
	p := &Player{fresh: fresh, frame: frame, Events: events, speed: nearestSpeed(speed), due: make([]time.Duration, len(events))}
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
func (p *Player) renew() { p.Screen, p.At = p.fresh(p, p.Screen), 0 }

// Tell tells the events up to that many.
func (p *Player) Tell(upto int) tea.Cmd {
	upto = max(min(upto, len(p.Events)), 0)
	if upto < p.At {
		p.renew()
	}
	var cmd tea.Cmd
	if upto > p.At {
		p.Screen.Freeze(p.Paused)
		cmd = p.Screen.TellEvents(p.Events[p.At:upto], upto == len(p.Events))
		p.At = upto
	}
	return p.Inward(cmd)
}

// Wait waits for the next event, in place of any wait before.
func (p *Player) Wait() tea.Cmd {
	p.Halt()
	if p.Paused || p.At >= len(p.Events) {
		return nil
	}
	var rest time.Duration
	if p.At > 0 {
		rest = runner.Rest(p.due[p.At]-p.due[p.At-1], p.speed)
	}
	halted, count := make(chan struct{}), p.count
	p.halted = halted
	timer := time.NewTimer(rest)
	return func() tea.Msg {
		defer timer.Stop()
		select {
		case <-timer.C:
			return PlayMsg{count}
		case <-halted:
			return nil
		}
	}
}

// Halt ends the wait that is under way.
func (p *Player) Halt() {
	p.count++
	if p.halted != nil {
		close(p.halted)
		p.halted = nil
	}
}

// Next tells what is due after a wait, and waits for what comes then.
func (p *Player) Next(msg PlayMsg) tea.Cmd {
	if msg.count != p.count || p.At >= len(p.Events) {
		return nil
	}
	upto := len(p.Events)
	if p.speed != atOnce {
		// What comes within one drawn frame is told together.
		within := p.due[p.At] + time.Duration(float64(p.frame)*p.speed)
		upto = p.At + 1
		for upto < len(p.Events) && p.due[upto] <= within {
			upto++
		}
	}
	told := p.Tell(upto)
	if p.At == len(p.Events) {
		p.rest(true)
	}
	return tea.Batch(told, p.Wait())
}

// rest stops playing, or goes on.
func (p *Player) rest(rest bool) {
	p.Paused = rest
	p.Screen.Freeze(rest)
}

// Toggle pauses or goes on; at the end it begins anew.
func (p *Player) Toggle() tea.Cmd {
	var told tea.Cmd
	if p.Paused && p.At == len(p.Events) {
		told = p.Tell(0)
	}
	p.rest(!p.Paused)
	return tea.Batch(told, p.Wait(), p.Inward(p.Screen.Animate()))
}

// Seek goes to where that many events were told, and plays on from there unless
// it rests.
func (p *Player) Seek(to int) tea.Cmd {
	told := p.Tell(to)
	p.Screen.Freeze(p.Paused)
	return tea.Batch(told, p.Wait())
}

// Moment is where the next moment is, or the one before.
func (p *Player) Moment(forth bool) int {
	if forth {
		for _, stop := range p.stops {
			if stop > p.At {
				return stop
			}
		}
		return len(p.Events)
	}
	for _, stop := range slices.Backward(p.stops) {
		if stop < p.At {
			return stop
		}
	}
	return 0
}

// Faster takes the next speed, or the one before.
func (p *Player) Faster(by int) tea.Cmd {
	all := speeds()
	p.speed = all[max(min(slices.Index(all, p.speed)+by, len(all)-1), 0)]
	return p.Wait()
}

// Inward wraps a command of the inner screen so that its message returns to that
// screen. Quitting the screen leaves the replay, unless there is nothing else.
func (p *Player) Inward(cmd tea.Cmd) tea.Cmd {
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
				out[i] = p.Inward(c)
			}
			return out
		case PlayMsg, InnerMsg:
			return msg
		case outerMsg:
			return msg.msg
		case tea.QuitMsg:
			if p.Alone {
				return msg
			}
			return LeftMsg{}
		default:
			return InnerMsg{msg}
		}
	}
}

// Line is the speed, how far the replay has come, and what happened last. notice
// stands at its right where it is not empty.
func (p *Player) Line(l *draw.Look, notice string, width int) string {
	glyph, style := l.Glyphs.Play, l.Running
	if p.Paused {
		glyph, style = l.Glyphs.Pause, l.Warning
	}
	speed := "max"
	if p.speed != atOnce {
		speed = fmt.Sprintf("%gx", p.speed)
	}
	left := " " + style.Render(glyph) + " " + l.Strong.Render(speed) + " "
	var whole, gone time.Duration
	if n := len(p.Events); n > 0 {
		begun := p.Events[0].Time
		whole = p.Events[n-1].Time.Sub(begun)
		if p.At > 0 {
			gone = p.Events[p.At-1].Time.Sub(begun)
		}
	}
	times := l.Text.Render(telling.ClockTime(gone)) + l.Muted.Render("/"+telling.ClockTime(whole)) + " "
	right := ""
	if width >= 60 {
		right = l.Faint.Render(fmt.Sprintf("%d/%d ", p.At, len(p.Events)))
	}
	if what := p.last(); what != "" && width >= 70 {
		right = l.Muted.Render(l.Cut(what, width/3)) + l.Faint.Render(" "+l.Glyphs.Separator+" ") + right
	}
	if notice != "" {
		right = l.Warning.Render(l.Glyphs.Gate+" "+notice) + " " + right
	}
	room := width - draw.VisibleWidth(left) - draw.VisibleWidth(times) - draw.VisibleWidth(right) - 1
	bar := ""
	if room >= 6 {
		share := 1.0
		if n := len(p.Events); n > 0 && p.due[n-1] > 0 {
			share = 0
			if p.At > 0 {
				share = float64(p.due[p.At-1]) / float64(p.due[n-1])
			}
		}
		bar = l.Gauge(share, min(room, 60), style) + " "
	}
	return l.Fit(l.Sides(left+bar+times, right, width), width)
}

// last is the last moment that was told, in a few words.
func (p *Player) last() string {
	for i := p.At - 1; i >= 0; i-- {
		switch d := p.Events[i].Data.(type) {
		case event.PhaseStarted:
			return untrusted.Line(d.Label)
		case event.PlanCreated:
			return "the plan is there"
		case event.PlanDiff:
			return fmt.Sprintf("revision %d", d.Revision)
		case event.StepStarted:
			return telling.StepWords(d.Index) + " starts"
		case event.StepCompleted:
			return telling.StepWords(d.Index) + " done"
		case event.StepFailed:
			if d.Removes != "" || d.Outdated != "" {
				return telling.StepWords(d.Index) + " is held"
			}
			return telling.StepWords(d.Index) + " failed"
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
