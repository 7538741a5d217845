package replay

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/story"
	"replan/tui/wording"
)

// atOnce is the speed without delays.
const atOnce = 0

// speeds returns the playback speeds as multiples of the original speed.
func speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8, 16, atOnce} }

// Options configure a player.
type Options struct {
	Speed float64       // multiple of the original speed; 0 plays everything at once
	Frame time.Duration // between two drawn frames
	Alone bool          // the replay is all the program shows
	// RoomyFrom is the height of the terminal from which the player has a line of
	// its own.
	RoomyFrom int
	Keys      *keymap.Map
}

// Player replays a run on its own screen, and creates a new screen when it seeks
// backward. It has a single timer, which it can stop.
type Player struct {
	// fresh creates an empty screen that keeps the view of the previous one, which
	// is nil at first.
	fresh         func(p *Player, before PlayedScreen) PlayedScreen
	Screen        PlayedScreen
	options       Options
	width, height int // of the terminal
	Events        []event.Event
	due           []time.Duration // time of each event since the start, at original speed
	clock         []time.Duration // time of the run at each event, without the breaks between its parts
	stops         []int           // number of events before each moment worth seeking
	At            int             // number of events played
	speed         float64
	Paused        bool

	count  int           // number of waits
	halted chan struct{} // ends the current wait; nil if there is none
}

type (
	// PlayMsg ends the player's wait number count.
	PlayMsg struct{ count int }
	// InnerMsg is a message for the inner screen.
	InnerMsg struct{ Msg tea.Msg }
	// outerMsg is a message from the inner screen to the terminal.
	outerMsg struct{ msg tea.Msg }
	// LeftMsg reports that the user has left the replay.
	LeftMsg struct{}
)

// Outward marks the message of a command as one for the terminal.
func Outward(cmd tea.Cmd) tea.Cmd {
	return func() tea.Msg { return outerMsg{cmd()} }
}

// New returns a player of events that has played none yet.
func New(events []event.Event, o Options, fresh func(p *Player, before PlayedScreen) PlayedScreen) *Player {
	p := &Player{fresh: fresh, options: o, Events: events, speed: nearestSpeed(o.Speed), due: make([]time.Duration, len(events)), clock: runClock(events)}
	for i, e := range events {
		if i > 0 {
			p.due[i] = p.due[i-1] + session.Rest(e.Time.Sub(events[i-1].Time), 1)
		}
		if _, ok := story.Moment(e.Data); ok {
			p.stops = append(p.stops, i+1)
		}
	}
	p.renew()
	return p
}

// runClock returns the time of the run at each event. It stands still while the run had
// ended: until it was resumed, or until its files were restored.
func runClock(events []event.Event) []time.Duration {
	clock := make([]time.Duration, len(events))
	run, ended := "", false // the outermost run
	for i, e := range events {
		kind := e.Data.Kind()
		resumes := kind == event.KindRunResumed && e.Run == run
		rests := ended || resumes || kind == event.KindRunUndone
		if i > 0 {
			if clock[i] = clock[i-1]; !rests {
				clock[i] += max(e.Time.Sub(events[i-1].Time), 0)
			}
		}
		switch {
		case kind == event.KindRunStarted && run == "":
			run = e.Run
		case e.Run == run && kind == event.KindRunCompleted:
			ended = true
		case resumes:
			ended = false
		}
	}
	return clock
}

// nearestSpeed returns the available speed nearest to the given one.
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

// renew starts over on a fresh screen.
func (p *Player) renew() { p.Screen, p.At = p.fresh(p, p.Screen), 0 }

// ShowUpTo plays the first upto events. It starts over on a fresh screen if that is a
// step backward.
func (p *Player) ShowUpTo(upto int) tea.Cmd {
	upto = max(min(upto, len(p.Events)), 0)
	if upto < p.At {
		p.renew()
	}
	var cmd tea.Cmd
	if upto > p.At {
		p.Screen.Freeze(p.Paused)
		cmd = p.Screen.ShowEvents(p.Events[p.At:upto], upto == len(p.Events))
		p.At = upto
	}
	return p.Inward(cmd)
}

// ShowEnd shows the end of the run, paused.
func (p *Player) ShowEnd() tea.Cmd {
	p.Paused = true
	return p.ShowUpTo(len(p.Events))
}

// Rests reports whether playback is paused, and whether it is over.
func (p *Player) Rests() (paused, over bool) { return p.Paused, p.Paused && p.At == len(p.Events) }

// Wait waits for the next event. It cancels any earlier wait.
func (p *Player) Wait() tea.Cmd {
	p.Halt()
	if p.Paused || p.At >= len(p.Events) {
		return nil
	}
	var rest time.Duration
	if p.At > 0 {
		rest = session.Rest(p.due[p.At]-p.due[p.At-1], p.speed)
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

// Halt ends the current wait.
func (p *Player) Halt() {
	p.count++
	if p.halted != nil {
		close(p.halted)
		p.halted = nil
	}
}

// Next plays the due events after a wait, then waits for the next ones.
func (p *Player) Next(msg PlayMsg) tea.Cmd {
	if msg.count != p.count || p.At >= len(p.Events) {
		return nil
	}
	upto := len(p.Events)
	if p.speed != atOnce {
		// Events within one frame are played together.
		within := p.due[p.At] + time.Duration(float64(p.options.Frame)*p.speed)
		upto = p.At + 1
		for upto < len(p.Events) && p.due[upto] <= within {
			upto++
		}
	}
	cmd := p.ShowUpTo(upto)
	if p.At == len(p.Events) {
		p.rest(true)
	}
	return tea.Batch(cmd, p.Wait())
}

// rest pauses or resumes playback.
func (p *Player) rest(rest bool) {
	p.Paused = rest
	p.Screen.Freeze(rest)
}

// Toggle pauses or resumes playback. At the end it starts from the beginning.
func (p *Player) Toggle() tea.Cmd {
	var cmd tea.Cmd
	if _, over := p.Rests(); over {
		cmd = p.ShowUpTo(0)
	}
	p.rest(!p.Paused)
	return tea.Batch(cmd, p.Wait(), p.Inward(p.Screen.Animate()))
}

// Seek moves to the position after the given number of events. It keeps playing
// from there unless paused.
func (p *Player) Seek(to int) tea.Cmd {
	cmd := p.ShowUpTo(to)
	p.Screen.Freeze(p.Paused)
	return tea.Batch(cmd, p.Wait())
}

// Moment returns the position of the next moment, or of the previous one.
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

// Faster moves by positions in the list of speeds.
func (p *Player) Faster(by int) tea.Cmd {
	all := speeds()
	p.speed = all[max(min(slices.Index(all, p.speed)+by, len(all)-1), 0)]
	return p.Wait()
}

// Inward wraps a command of the inner screen so that its message returns to that
// screen. Quitting the inner screen leaves the replay, or the program if it shows
// nothing else.
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
			if p.options.Alone {
				return msg
			}
			return LeftMsg{}
		default:
			return InnerMsg{msg}
		}
	}
}

// Line draws the speed, the progress of the replay and its last moment. A non-empty
// notice appears on the right.
func (p *Player) Line(l *draw.Styles, notice string, width int) string {
	glyph, style := l.Glyphs.Play, l.Running
	if p.Paused {
		glyph, style = l.Glyphs.Pause, l.Warning
	}
	speed := "max"
	if p.speed != atOnce {
		speed = fmt.Sprintf("%gx", p.speed)
	}
	left := " " + style.Render(glyph) + " " + l.Strong.Render(speed) + " "
	var whole, passed time.Duration
	if n := len(p.Events); n > 0 {
		whole = p.clock[n-1]
		if p.At > 0 {
			passed = p.clock[p.At-1]
		}
	}
	times := l.Text.Render(wording.ClockTime(passed)) + l.Muted.Render("/"+wording.ClockTime(whole)) + " "
	right := ""
	if width >= 60 {
		right = l.Faint.Render(fmt.Sprintf("event %d/%d ", p.At, len(p.Events)))
	}
	if what := p.last(); what != "" && width >= 70 {
		right = l.Muted.Render(l.Cut(what, width/3)) + l.Faint.Render(" "+l.Glyphs.Separator+" ") + right
	}
	if notice != "" {
		right = l.Warning.Render(l.Glyphs.Gate+" "+notice) + " " + right
	}
	room := width - draw.VisibleWidth(left) - draw.VisibleWidth(times) - draw.VisibleWidth(right) - 1
	if right != "" {
		room -= 2 // between the sides
	}
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

// last describes the last moment played in a few words.
func (p *Player) last() string {
	for i := p.At - 1; i >= 0; i-- {
		words, _ := story.Moment(p.Events[i].Data)
		if words == "" {
			continue
		}
		resumed := func(e event.Event) bool { return e.Data.Kind() == event.KindRunResumed }
		if p.Events[i].Data.Kind() == event.KindRunCompleted && slices.ContainsFunc(p.Events[i:], resumed) {
			return "the run stops" // and is resumed later
		}
		return words
	}
	return ""
}
