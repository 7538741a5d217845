package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/timing"
	"replan/tui/wording"
)

// Dialog shows when the steps of the run waited and ran, as bars on a common
// axis.
type Dialog struct {
	runs   *live.Runs // the plan pane shows one of them
	styles *draw.Styles
	keys   *keymap.Map
	open   bool
	draw.List
	line      *timing.Timeline
	run       *agent.Run // whose line it is
	seq       uint64     // sequence number of the run when line was made
	now       time.Duration
	preselect string // step selected in the plan
}

// New returns the timeline, closed.
func New(l *draw.Styles, k *keymap.Map, runs *live.Runs) *Dialog {
	return &Dialog{styles: l, keys: k, runs: runs}
}

// Open shows the timeline of the run in the plan pane at a step, or at the first row
// for "".
func (d *Dialog) Open(step string) {
	*d = *New(d.styles, d.keys, d.runs)
	d.open, d.preselect = true, step
	d.measure(d.runs.Shown().State)
}

// Shown reports whether the dialog is open.
func (d *Dialog) Shown() bool { return d.open }

// Typing reports that letters are keys.
func (d *Dialog) Typing() bool { return false }

// Retheme does nothing: no drawing is kept.
func (d *Dialog) Retheme() {}

// Cursor returns no text cursor.
func (d *Dialog) Cursor() *tea.Cursor { return nil }

// Place returns the place whose actions help lists first.
func (d *Dialog) Place() keymap.Place { return keymap.PlaceDialog }

// Hints returns the keys that are active now.
func (d *Dialog) Hints() []keymap.Hint {
	return []keymap.Hint{d.keys.Hint("close", "dialog.leave"), d.keys.Hint("choose", "move.up", "move.down"), d.keys.Hint("open", "plan.open")}
}

// Actions returns the actions of the timeline.
func (d *Dialog) Actions() keymap.Handlers {
	return actions().For(d).With(d.Moving(false, d.count())).First(d.Unpick)
}

// actions are the actions of the timeline.
func actions() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "plan.open", Do: (*Dialog).openStep},
		{ID: "dialog.leave", Do: keymap.Calls((*Dialog).close)},
		{ID: "plan.timeline", Do: keymap.Calls((*Dialog).close)},
	}
}

// openStep leaves the timeline for the selected step, if a step is selected.
func (d *Dialog) openStep() keymap.Requests {
	t := d.chosen()
	if t == nil || t.Kind != timing.TrackStep {
		return nil
	}
	d.close()
	return keymap.Requests{keymap.ShowStep(t.Index)}
}

func (d *Dialog) close() { d.open = false }

// Update handles the mouse.
func (d *Dialog) Update(msg tea.Msg) keymap.Requests {
	if _, key := msg.(tea.KeyPressMsg); key {
		d.Unpick()
	}
	return d.Mouse(msg, d.keys, d)
}

func (d *Dialog) count() int {
	if d.line == nil {
		return 0
	}
	return len(d.line.Tracks)
}

// chosen returns the selected track, or nil.
func (d *Dialog) chosen() *timing.Track {
	if d.At >= d.count() {
		return nil
	}
	return d.line.Tracks[d.At]
}

// measure recomputes the timeline if the run or the time changed. The selection
// stays on its track.
func (d *Dialog) measure(run *agent.Run) {
	now := timing.NewAxis(run, d.styles.Now).Now
	if d.run == run && d.seq == run.Seq && d.now == now {
		return
	}
	selected := &timing.Track{Kind: timing.TrackStep, Index: d.preselect}
	if d.preselect == "" {
		selected = d.chosen()
	}
	d.line, d.run, d.seq, d.now, d.preselect = timing.NewTimeline(run, d.styles.Now), run, run.Seq, now, ""
	if at := slices.IndexFunc(d.line.Tracks, func(t *timing.Track) bool {
		return selected != nil && t.Kind == selected.Kind && t.Index == selected.Index
	}); at >= 0 {
		d.Choose(at)
	}
}

// View draws the timeline in the middle of the screen.
func (d *Dialog) View(size draw.Rect) []string {
	const widest = 240 // cells
	l, run := d.styles, d.runs.Shown().State
	width, height := min(size.W, widest), size.H-2 // inside the borders
	if run == nil {
		return l.Block(nil, size.W, size.H)
	}
	d.measure(run)
	c, below := newChart(l, run, d.line, width-4), d.below(width-4, height)
	if height >= 14 {
		below = append([]string{c.density()}, below...)
	}
	end := d.Window(d.count(), max(height-1-len(below), 1), 1)
	lines := []string{c.heading()}
	for i := d.Top; i < end; i++ {
		lines = append(lines, c.track(d.line.Tracks[i], i == d.At))
	}
	lines = append(lines, below...)
	lines = l.Block(lines, width-4, min(len(lines), height))
	title := l.Strong.Render("Timeline") + l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Text.Render(d.summary(width-16))
	framed := l.Frame(width, l.Focus, draw.Section{Title: title, Note: l.Span(d.Top, end, d.count()), Lines: draw.Padded(lines), Style: l.Focus})
	d.DrawnAt(max((size.H-len(framed))/2, 0) + 2) // below border and axis
	return l.Middle(framed, width, size.W, size.H)
}

// summary returns the figures of the whole run, as many as fit in room cells.
func (d *Dialog) summary(room int) string {
	t := d.line
	span, sum := "total ", "steps "
	if room < 40 {
		span, sum = "", "sum "
	}
	parts := []string{span + wording.Seconds(t.Total), sum + wording.Shortly(t.Sum)}
	if t.Most > 1 {
		parts = append(parts, fmt.Sprintf("%d at once", t.Most))
	}
	if t.Gates > 0 {
		parts = append(parts, "at gates "+wording.Seconds(t.Gates))
	}
	return draw.Flow(parts, " "+d.styles.Glyphs.Separator+" ", room)[0]
}

// below returns the figures of the selected track and the legend, in as many
// lines as fit.
func (d *Dialog) below(width, height int) (out []string) {
	l, b := d.styles, d.styles.Glyphs.Bars
	if t := d.chosen(); t != nil {
		out = draw.Paint(l.Text, l.AtMost(draw.Wrap(d.words(t)+d.cause(t), width), max(height/4, 1), width))
	}
	if height < 14 {
		return out
	}
	signs := []string{
		l.Accent.Render(l.Glyphs.Bullet) + " " + l.Running.Render(b.Critical) + l.Faint.Render(" critical path"), l.Running.Render(b.Run) + l.Faint.Render(" ran beside it"),
		l.Warning.Render(b.Gate) + l.Faint.Render(" gate"), l.Faint.Render(b.Wait + " waited"),
		l.Accent.Render(b.Plan) + l.Faint.Render(" model"), l.Warning.Render(b.Mark) + l.Faint.Render(" new plan"),
	}
	if slices.ContainsFunc(d.line.Tracks, func(t *timing.Track) bool { return t.Kind == timing.TrackPlanning }) {
		signs = append(signs, l.Accent.Render("A R P")+l.Faint.Render(" analysis, review, plan"))
	}
	signs = append(signs, l.Muted.Render("2")+l.Faint.Render(" at once"))
	return slices.Concat([]string{""}, out, []string{""}, draw.Flow(signs, "  ", width))
}

// words returns the figures of a track.
func (d *Dialog) words(t *timing.Track) string {
	var parts []string
	add := func(is bool, words string) {
		if is {
			parts = append(parts, words)
		}
	}
	switch t.Kind {
	case timing.TrackPlanning:
		for _, p := range t.Stretches {
			add(true, p.Name+" "+wording.Seconds(p.To-p.From))
		}
		return "Planning took " + wording.Seconds(t.Ran) + ": " + strings.Join(parts, ", ")
	case timing.TrackReplan:
		return "Revision " + t.Index + " took " + wording.Seconds(t.Ran) + " to plan"
	case timing.TrackAnswer:
		return "The answer took " + wording.Seconds(t.Ran)
	}
	wait := func(kind timing.StretchKind, what string) {
		duration := t.Time(kind)
		add(duration > 0, what+" "+wording.Shortly(duration))
	}
	wait(timing.StretchNeeds, "waited for others")
	wait(timing.StretchSlot, "for a slot")
	wait(timing.StretchGate, "at its gate")
	wait(timing.StretchPause, "to be tried again")
	add(t.Tries > 0, "ran "+wording.Shortly(t.Ran))
	add(len(parts) == 0, "not ready yet")
	add(t.Tries > 1, english.Count(t.Tries, "attempt"))
	add(t.Items > 0, english.Count(t.Items, "item"))
	add(t.Inner > 0, english.Count(t.Inner, "call"))
	beside := d.line.Beside(t)
	add(len(beside) > 0, "beside "+untrusted.Line(strings.Join(beside, ", ")))
	add(t.RemovedIn > 0, fmt.Sprintf("removed by revision %d", t.RemovedIn))
	return draw.StepTitle(d.styles, t.Index) + " " + t.Title.Line() + ": " + strings.Join(parts, ", ")
}

// cause explains why a track is on the critical path.
func (d *Dialog) cause(t *timing.Track) string {
	switch {
	case !t.Critical:
		return ""
	case t.After == "":
		return "; the critical path starts here"
	default:
		return "; on the critical path, after " + untrusted.Line(t.After)
	}
}
