package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/tui/untrusted"
)

// question is a step that waits for the user's word: it is in doubt, or it
// failed.
type question struct {
	agent.Question
	run      string
	time     int // how often the run has been taken up, so that a resumed run asks anew
	attempt  int
	expects  string
	noReplan string // why there can be no replan; "" where there can
	over     bool   // the run has ended: the answer takes it up again
}

func (q question) id() string {
	return fmt.Sprintf("%s step %s attempt %d %d", q.run, q.Step, q.attempt, q.time)
}

func (q question) of() string { return q.run }
func (q question) on() string { return q.Step }

func (q question) sign(l *look) (string, lipgloss.Style) {
	if q.Doubt {
		return l.glyphs.Doubt, l.Warning
	}
	return l.glyphs.Failed, l.Danger
}

func (q question) name() string {
	switch {
	case q.Doubt:
		return "In doubt"
	case q.Denied:
		return "Denied"
	default:
		return "Failed"
	}
}

func (q question) about() []string {
	parts := []string{stepWords(q.Step)}
	if q.Tool != "" {
		parts = append(parts, untrusted.Line(q.Tool))
	}
	return parts
}

func (q question) brief() (step, what, args string) {
	what = untrusted.Line(q.Tool)
	if what == "" {
		what = "model"
	}
	return stepWords(q.Step), what + " " + strings.ToLower(q.name()), brief(q.Args)
}

func (q question) choices(k *keyMap) []choice {
	if q.Doubt {
		settle := func(d event.DoubtDecision) runner.Command {
			return runner.Settle{Run: q.run, Step: q.Step, Decision: d}
		}
		return []choice{
			{id: "question.done", key: k.TookEffect, does: "it took effect: go on", short: "done", send: settle(event.DoubtDone)},
			{id: "question.rerun", key: k.Rerun, does: "run it again", short: "run again", send: settle(event.DoubtRerun)},
			{id: "question.abort", key: k.Abort, does: "abort, it stays in doubt", short: "abort", send: settle(event.DoubtAbort)},
		}
	}
	decide := func(d event.FailureDecision) runner.Command {
		return runner.Decide{Run: q.run, Step: q.Step, Decision: d}
	}
	replan := choice{id: "question.replan", key: k.Replan, does: "replan", short: "replan", send: decide(event.FailureReplan)}
	if q.noReplan != "" {
		replan.does, replan.refuse = "replan ("+q.noReplan+")", "No replan: "+q.noReplan+"."
	}
	args := q.Args
	if args == nil {
		args = map[string]any{}
	}
	edit := choice{id: "question.edit", key: k.EditArgs, does: "edit arguments", short: "edit", edit: args}
	if q.Tool == "" {
		edit.does, edit.refuse = "edit arguments (it has none)", "A step that the model carries out has no arguments."
	}
	choices := []choice{
		{id: "question.retry", key: k.Retry, does: "retry", short: "retry", send: decide(event.FailureRetry)},
		{id: "question.skip", key: k.Skip, does: "skip, with what needs it", short: "skip", send: decide(event.FailureSkip)},
		replan, edit,
	}
	abort := choice{id: "question.abort", key: k.Abort, does: "abort, end run", short: "abort", send: decide(event.FailureAbort)}
	if q.over {
		abort.hidden, abort.refuse = true, "The run has ended already; esc leaves it so."
	}
	return append(choices, abort)
}

// with runs the step again with other arguments.
func (q question) with(args map[string]any) (runner.Command, error) {
	return runner.Decide{Run: q.run, Step: q.Step, Decision: event.FailureRetry, Args: args}, nil
}

func (q question) resends() string { return "run the step with these" }

// write writes what the step was to do, what came of it, and its whole call.
func (q question) write(l *look, d *document) {
	title := untrusted.Line(q.Title)
	if title == "" {
		title = "Step " + untrusted.Line(q.Step)
	}
	tool := q.Tool
	if tool == "" {
		tool = "model"
	}
	d.call(title, tool, "", q.Step)
	reason := clip(strings.TrimSpace(q.Reason))
	switch {
	case q.Doubt:
		d.field("doubt", l.Warning, reason)
		d.field("", l.Text, "It was started, and nobody knows whether it took effect: look before you answer.")
	case q.Denied:
		d.field("why", l.Warning, reason)
		d.field("", l.Text, "It was not called.")
	default:
		d.field("error", l.Danger, reason)
	}
	if q.over {
		d.field("run", l.Text, "has ended; an answer takes it up again")
	}
	if q.attempt > 1 {
		d.field("attempt", l.Text, fmt.Sprint(q.attempt))
	}
	if q.expects != "" {
		d.field("expects", l.Text, q.expects)
	}
	if len(q.Args) > 0 {
		d.heading("the whole call")
		d.object(q.Args)
	}
}

// openQuestions are the steps of a run that wait for the user's word.
func (m *Model) openQuestions(r *agent.Run) []asking {
	var out []asking
	for _, q := range r.Questions() {
		out = append(out, m.questionOf(r, q))
	}
	return out
}

// questionOf adds to a question of the run what is to be shown with it.
func (m *Model) questionOf(r *agent.Run, q agent.Question) question {
	asked := question{Question: q, run: r.ID, time: m.resumes}
	if s := r.Step(q.Step); s != nil {
		asked.attempt, asked.expects = s.Attempt, s.Step.ExpectedOutcome
	}
	asked.noReplan = whyNoReplan(r, q.Replan)
	return asked
}

// whyNoReplan says in few words why there can be no new plan, "" where there
// can. possible is whether there is anybody to make one.
func whyNoReplan(r *agent.Run, possible bool) string {
	switch {
	case !possible:
		return "no model"
	case r.Limits.MaxReplans > 0 && r.Usage.Replans >= r.Limits.MaxReplans:
		return plural(r.Usage.Replans, "replan") + " used"
	default:
		return ""
	}
}

// takeUp opens the dialog of a failed step of a run that has ended, and reports
// whether that can be done.
func (m *Model) takeUp(s *agent.StepState) bool {
	if !m.resumable() || s.Status != agent.StepBroken {
		return false
	}
	r := m.shown.run
	args := s.Args
	if args == nil {
		args = s.Step.Args
	}
	q := m.questionOf(r, agent.Question{
		Step: s.Step.Index, Title: s.Step.Title, Tool: s.Step.Tool, Reason: s.Error, Args: args, Denied: s.Failure == event.FailureDenied,
		Replan: m.modelName() != "" || m.options.Planners != nil,
	})
	q.over = true
	m.reopened = &q
	m.ask.forget(r.ID)
	return true
}
