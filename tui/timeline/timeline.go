package timeline

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/telling"
	"replan/tui/timing"
)

// Dialog shows when the steps of the run waited and ran, as bars on a common
// axis.
type Dialog struct {
	runs *live.Runs // the plan pane shows one of them
	look *draw.Look
	keys *keymap.Map
	open bool
	draw.List
	line *timing.Timeline
	run  *agent.Run // whose line it is
	seq  uint64     // sequence number of the run when line was made
	now  time.Time
	wish string // step selected in the plan
}

// New returns the timeline, closed.
func New(l *draw.Look, k *keymap.Map, runs *live.Runs) *Dialog {
	return &Dialog{look: l, keys: k, runs: runs}
}

// Open shows the timeline of the run in the plan pane at a step, or at the first row
// for "".
func (d *Dialog) Open(step string) {
	*d = *New(d.look, d.keys, d.runs)
	d.open, d.wish = true, step
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
	shut := keymap.Handler{Do: keymap.Just(func() { d.open = false })}
	return keymap.Handlers{
		"dialog.leave": shut, "plan.timeline": shut,
		"plan.open": {Do: func() keymap.Request {
			t := d.chosen()
			if t == nil || t.Kind != timing.TrackStep {
				return keymap.Request{}
			}
			d.open = false
			return keymap.Request{Step: t.Index}
		}},
	}.With(d.Moving(false, d.count())).First(d.Unpick)
}

// Update handles the mouse.
func (d *Dialog) Update(msg tea.Msg) keymap.Request {
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

func (d *Dialog) chosen() *timing.Track {
	if d.At >= d.count() {
		return nil
	}
	return &d.line.Tracks[d.At]
}

// measure recomputes the timeline if the run or the time changed. The selection
// stays on its track.
func (d *Dialog) measure(run *agent.Run) {
	now := d.look.Now
	if now.Before(run.Now) || run.Result != nil {
		now = run.Now
	}
	if d.run == run && d.seq == run.Seq && d.now.Equal(now) {
		return
	}
	var held timing.Track
	if t := d.chosen(); t != nil {
		held = *t
	}
	d.line, d.run, d.seq, d.now = timing.Chronicle(run, now), run, run.Seq, now
	for i := range d.line.Tracks {
		t := &d.line.Tracks[i]
		if d.wish != "" && t.Kind == timing.TrackStep && t.Index == d.wish || d.wish == "" && t.Kind == held.Kind && t.Index == held.Index {
			d.At = i
			break
		}
	}
	d.wish = ""
}

// View draws the timeline in the middle of the screen.
func (d *Dialog) View(size draw.Rect) []string {
	const widest = 160 // cells
	l, height, run := d.look, size.H, d.runs.Shown().State
	width := min(size.W, widest)
	inner := width - 4
	if run == nil {
		return l.Block(nil, size.W, height)
	}
	d.measure(run)
	below := d.below(inner, height-2)
	room := height - 2 - 1 - len(below) // minus borders and the axis above
	dense := height >= 16
	if dense {
		room--
	}
	room = max(room, 1)
	end := d.Window(len(d.line.Tracks), room, 1)
	c := d.columns(inner)
	lines := []string{d.axisLine(c)}
	for i := d.Top; i < end; i++ {
		lines = append(lines, d.row(&d.line.Tracks[i], i == d.At, c))
	}
	if dense {
		lines = append(lines, d.density(c))
	}
	lines = append(lines, below...)
	if len(lines) > height-2 {
		lines = lines[:height-2]
	}
	title := l.Strong.Render("Timeline") + l.Faint.Render(" "+l.Glyphs.Separator+" ") + l.Text.Render(d.summary(width-16))
	framed := l.Frame(width, l.Focus, draw.Section{Title: title, Note: l.Span(d.Top, end, len(d.line.Tracks)), Lines: draw.Padded(l.Block(lines, inner, len(lines))), Style: l.Focus})
	d.First = max((height-len(framed))/2, 0) + 2 // below border and axis
	return l.Middle(framed, width, size.W, height)
}

// summary returns the figures of the whole run, as many as fit in room cells.
func (d *Dialog) summary(room int) string {
	t := d.line
	parts := []string{"makespan " + telling.Seconds(t.Makespan()), "steps " + telling.Shortly(t.Sum), fmt.Sprintf("parallelism %.1f", t.Parallelism())}
	if t.Most > 1 {
		parts = append(parts, fmt.Sprintf("%d at once", t.Most))
	}
	if t.Gates > 0 {
		parts = append(parts, "at gates "+telling.Seconds(t.Gates))
	}
	if room < 40 {
		parts[0], parts[1], parts[2] = telling.Seconds(t.Makespan()), "sum "+telling.Shortly(t.Sum), fmt.Sprintf("×%.1f", t.Parallelism())
		if d.look.Theme.Mode.ASCII {
			parts[2] = fmt.Sprintf("x%.1f", t.Parallelism())
		}
	}
	line := parts[0]
	for _, p := range parts[1:] {
		next := line + " " + d.look.Glyphs.Separator + " " + p
		if draw.VisibleWidth(next) > room {
			break
		}
		line = next
	}
	return line
}

// below returns the figures of the selected track and the legend, in as many
// lines as fit.
func (d *Dialog) below(width, height int) []string {
	l := d.look
	var out []string
	t := d.chosen()
	if t != nil {
		out = draw.Wrap(d.words(t), width)
		if maxLines := max(height/4, 1); len(out) > maxLines {
			out = append(out[:maxLines-1:maxLines-1], l.Cut(strings.Join(out[maxLines-1:], " "), width))
		}
		out = draw.Paint(l.Text, out)
	}
	if height >= 14 {
		b := l.Glyphs.Bars
		legend := draw.Flow([]string{
			l.Accent.Render(l.Glyphs.Bullet) + " " + l.Running.Render(b.Critical) + l.Faint.Render(" ran, on the critical path"), l.Running.Render(b.Run) + l.Faint.Render(" ran in parallel"),
			l.Warning.Render(b.Gate) + l.Faint.Render(" at its gate"), l.Faint.Render(b.Wait + " waited"),
			l.Accent.Render(b.Plan) + l.Faint.Render(" a model planned or wrote"), l.Warning.Render(b.Mark) + l.Faint.Render(" a new plan"),
		}, "   ", width)
		out = append(append(append([]string{""}, out...), ""), legend...)
	}
	return out
}

// words returns the figures of a track.
func (d *Dialog) words(t *timing.Track) string {
	l := d.look
	var parts []string
	add := func(took time.Duration, what string) {
		if took > 0 {
			parts = append(parts, what+" "+telling.Shortly(took))
		}
	}
	switch t.Kind {
	case timing.TrackPlanning:
		for _, p := range d.line.Phases {
			parts = append(parts, p.Name+" "+telling.Seconds(p.To-p.From))
		}
		return "Planning took " + telling.Seconds(t.Ran) + ": " + strings.Join(parts, ", ") + d.cause(t)
	case timing.TrackReplan:
		return "Revision " + t.Index + " took " + telling.Seconds(t.Ran) + " to plan" + d.cause(t)
	case timing.TrackAnswer:
		return "The answer took " + telling.Seconds(t.Ran)
	}
	name := draw.StepTitle(l, t.Index) + " " + t.Title.Line() + ": "
	add(t.Needs, "waited for others")
	add(t.Slot, "for a slot")
	add(t.Gate, "at its gate")
	add(t.Pause, "to be tried again")
	if t.Tries > 0 {
		parts = append(parts, "ran "+telling.Shortly(t.Ran))
	} else if len(parts) == 0 {
		return name + "not ready yet"
	}
	if t.Tries > 1 {
		parts = append(parts, english.Count(t.Tries, "attempt"))
	}
	if t.Inner > 0 {
		parts = append(parts, english.Count(t.Inner, "call"))
	}
	if len(t.Beside) > 0 {
		parts = append(parts, "beside "+untrusted.Line(strings.Join(t.Beside, ", ")))
	}
	if t.Gone > 0 {
		parts = append(parts, fmt.Sprintf("removed by revision %d", t.Gone))
	}
	return name + strings.Join(parts, ", ") + d.cause(t)
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
