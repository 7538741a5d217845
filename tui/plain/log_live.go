package plain

import (
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/tui/wording"
)

// Live describes the work under way on one line, for a terminal that redraws it in
// place. It returns "" without a terminal, and while nothing runs.
func (l *Log) Live(now time.Time) string {
	if !l.onTerminal() {
		return ""
	}
	for _, run := range slices.Backward(l.runs.all()) { // a run that another one waits for comes after it
		work, since := current(run)
		if len(work) == 0 {
			continue
		}
		elapsed := "  " + wording.Ticking(max(now.Sub(since), 0))
		if far := wording.ReadingOf(run, now); far != "" {
			work = append(work, "reading "+far)
		}
		return l.spinning(strings.Join(work, l.Between), elapsed)
	}
	return ""
}

// phases names the phases of planning in the order of a run.
var phases = [...]string{"thinking about the goal", "reviewing the approach", "planning"}

// current returns what a run does now, and since when.
func current(r *agent.Run) (work []string, since time.Time) {
	add := func(words string, at time.Time) {
		if len(work) == 0 || at.Before(since) {
			since = at
		}
		work = append(work, words)
	}
	if r.Result != nil {
		return nil, since
	}
	for i, p := range r.Phases {
		if p.Status == agent.PhaseRunning {
			add(phases[i], p.StartedAt)
		}
	}
	for _, s := range r.Steps {
		if s.Status == agent.StepRunning {
			words := s.Step.Index + " " + s.Step.Title.Line()
			if s.Items != nil {
				words += " (" + wording.ItemsWords(s) + ")"
			}
			if message := s.Progress.Message.FirstLine(); message != "" {
				words += " (" + message + ")"
			}
			add(words, s.StartedAt)
		}
	}
	if r.Replanning != nil {
		add("replanning", r.Replanning.StartedAt)
	}
	if len(work) == 0 && r.Synthesis.Started && !r.Synthesis.Done {
		add("writing the answer", r.Synthesis.StartedAt)
	}
	return work, since
}
