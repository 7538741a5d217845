package dialog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// The preview shows what the journal of the chosen run says. Only one journal is
// read at a time: keys pressed in the meantime choose the next one.

// PastRun is a run read from its journal.
type PastRun struct {
	ID      string
	State   *agent.Run // from the readable part of the journal; nil if there is none
	Changed time.Time  // of its last event
	Err     error
}

// NewPastRun folds the events of a journal.
func NewPastRun(id string, events []event.Event, err error) PastRun {
	p := PastRun{ID: id, Err: err}
	if len(events) == 0 {
		return p
	}
	run := agent.NewRun(nil)
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			p.Err = err
			break
		}
		p.Changed = e.Time
	}
	p.State = run
	return p
}

// readNext returns the query for the chosen run's journal, or nil if the preview
// needs none now.
func (d *Runs) readNext() keymap.Query {
	if !d.Shown() || !d.roomy || d.listsConversations || d.reading != "" || d.At >= len(d.runs) || d.past.ID == d.runs[d.At].Run {
		return nil
	}
	id := d.runs[d.At].Run
	d.reading = id
	return func(ctx context.Context, s session.Queries) tea.Msg {
		events, err := s.Journal(ctx, id)
		return keymap.AnswerMsg[PastRun]{Value: NewPastRun(id, events, err)}
	}
}

// reads adds the query for the journal of the chosen run to requests that ask nothing.
func (d *Runs) reads(w keymap.Requests) keymap.Requests {
	if keymap.First[keymap.Query](w) != nil {
		return w
	}
	return append(w, d.readNext())
}

// previewing makes each of the actions end what lasts until the next key, and ask
// for the journal of the run that it chose.
func (d *Runs) previewing(hs keymap.Handlers) keymap.Handlers {
	hs = hs.First(d.nextKey)
	for id, h := range hs {
		do := h.Do
		h.Do = func() keymap.Requests {
			return d.reads(do())
		}
		hs[id] = h
	}
	return hs
}

// preview draws what is known of a run on exactly height lines.
func (d *Runs) preview(s agent.Summary, width, height int) draw.Section {
	const goalLines, errorLines = 2, 2
	l := d.Styles
	var lines []string
	if goal := s.Goal.Visible(); goal != "" {
		lines = append(lines, draw.Paint(l.Strong, l.AtMost(draw.Wrap(goal, width), goalLines, width))...)
	}
	glyph, _, style := d.State(s)
	var run *agent.Run
	if d.past.ID == s.Run {
		run = d.past.State
	}
	state := draw.Hang(glyph+" ", l.AtMost(draw.Wrap(d.stateWords(s, run), width-2), errorLines, width-2))
	lines = append(lines, draw.Paint(style, state)...)
	lines = append(lines, draw.Paint(l.Faint, draw.Flow(d.dates(s, run), " "+l.Glyphs.Separator+" ", width))...)
	if why := d.failure(s, run); why != "" {
		lines = append(lines, draw.Paint(l.Danger, l.AtMost(draw.Wrap(why, width), errorLines, width))...)
	}
	if run != nil && len(run.Steps) > 0 {
		lines = append(lines, d.steps(run, width, height-len(lines))...)
	}
	return d.section(l.Faint.Render(s.Run), "", l.Block(lines, width, height))
}

// stateWords says how the run ended, or else its state.
func (d *Runs) stateWords(s agent.Summary, run *agent.Run) string {
	_, word, _ := d.State(s)
	switch {
	case run != nil && run.Result != nil && !d.active(s):
		return wording.RunEnd(run)
	case s.Undone:
		word = wording.RunState(s)
	case s.Status == agent.StatusRunning && (!d.active(s) || d.live.Can.Continues):
		word = d.live.Can.OtherRuns().State
	case s.Status == event.StatusFailed, s.Status == agent.StatusWaiting:
		word = wording.RunState(s)
	}
	return english.Capital(word)
}

// dates says when a run started and ended, how much is done, and how often its plan
// was revised.
func (d *Runs) dates(s agent.Summary, run *agent.Run) []string {
	const day, clock = "2006-01-02 ", "15:04"
	started, changed := s.Started.Local(), d.past.Changed.Local()
	parts := []string{"started " + started.Format(day+clock)}
	if run != nil && !d.active(s) && s.Status != agent.StatusRunning {
		word := "ended "
		if run.Result == nil {
			word = "last event "
		}
		layout := day + clock
		if changed.Format(day) == started.Format(day) {
			layout = clock
		}
		parts = append(parts, word+changed.Format(layout))
	}
	if s.Steps > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s done", s.Done, english.Count(s.Steps, "step")))
	}
	if s.Replans > 0 {
		parts = append(parts, english.Count(s.Replans, "replan"))
	}
	return parts
}

// failure returns the last error of a run, or why its journal cannot be read.
func (d *Runs) failure(s agent.Summary, run *agent.Run) string {
	switch {
	case d.past.ID == s.Run && d.past.Err != nil:
		return "The journal cannot be read: " + untrusted.Line(d.past.Err.Error())
	case run == nil:
		return ""
	case s.Declined:
		return "" // the state says it
	case s.Status == event.StatusFailed && run.Result != nil && run.Result.Error != "":
		if wording.FailureReason(run, *run.Result) != "" {
			return "" // the state says it
		}
		return run.Result.Error.FirstLine()
	}
	why := ""
	for _, step := range run.Steps {
		if step.Status == agent.StepFailed && step.Error != "" {
			why = wording.FailedWords(step.Step.Index, step.Failure, step.Error)
		}
	}
	return why
}

// steps lists the steps of a run on at most height lines, in two columns where one is too
// long. If not all fit, it lists those around the first that is not done.
func (d *Runs) steps(run *agent.Run, width, height int) []string {
	const twoFrom, gap = 90, 2 // cells
	l := d.Styles
	columns := 1
	if len(run.Steps) > height && width >= twoFrom {
		columns = 2
	}
	room := height * columns
	if room < 1 {
		return nil
	}
	first, more := 0, len(run.Steps)-room
	if more > 0 {
		room -= columns // the last line counts the rest
		more += columns
		isOpen := func(s *agent.StepState) bool { return s.Status != agent.StepCompleted }
		first = max(min(slices.IndexFunc(run.Steps, isOpen)-room/2, more), 0)
	}
	shown := run.Steps[first:min(first+room, len(run.Steps))]
	rows := (len(shown) + columns - 1) / columns
	each := (width - gap*(columns-1)) / columns
	var lines []string
	for i := range rows {
		line := d.step(run, shown[i], each)
		if columns > 1 && rows+i < len(shown) {
			line += strings.Repeat(" ", gap) + d.step(run, shown[rows+i], each)
		}
		lines = append(lines, line)
	}
	if more > 0 {
		lines = append(lines, l.Faint.Render(l.Glyphs.Ellipsis+" "+english.Count(more, "more step")))
	}
	return lines
}

// step draws one step of a run on a line.
func (d *Runs) step(run *agent.Run, s *agent.StepState, width int) string {
	l := d.Styles
	glyph, style := draw.StateGlyph(l, run, s)
	left := style.Render(glyph) + " " + l.Muted.Render(l.Cut(s.Step.Index, 6)+" ") + l.Text.Render(s.Step.Title.Line())
	word, style := draw.StateWord(l, run, s)
	return l.Fit(left, width-draw.VisibleWidth(word)-1) + " " + style.Render(word)
}
