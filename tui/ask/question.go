package ask

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Question is a step in doubt, or a failed step, that waits for the user's
// decision.
type Question struct {
	agent.Question
	Run      string
	Time     int // number of times the run was resumed; makes a resumed run ask again
	Attempt  int
	Expects  untrusted.Text
	NoReplan string       // why replanning is impossible; "" if it is possible
	Tools    plan.Catalog // tools of the run
	Over     bool         // the run has ended; an answer resumes it
}

func (q Question) id() string {
	return fmt.Sprintf("%s step %s attempt %d %d", q.Run, q.Step, q.Attempt, q.Time)
}

func (q Question) of() string { return q.Run }
func (q Question) on() string { return q.Step }

func (q Question) sign(l *draw.Styles) (string, lipgloss.Style) {
	switch {
	case q.Doubt:
		return l.Glyphs.Doubt, l.Warning
	case q.Declined:
		return l.Glyphs.Declined, l.Text
	}
	return l.Glyphs.Failed, l.Danger
}

// Name says whether the step is in doubt, denied or failed.
func (q Question) Name() string {
	return english.Capital(wording.QuestionState(q.Question))
}

func (q Question) about() []string {
	parts := []string{wording.StepWords(q.Step)}
	if q.Tool != "" {
		parts = append(parts, untrusted.Line(q.Tool))
	}
	return parts
}

// trusted reports whether the step calls a tool of the workspace's own.
func (q Question) trusted() bool {
	t, err := q.Tools.Find(q.Tool)
	return err == nil && t.Trusted
}

// Brief returns the step, the kind of request and the main argument, for a list of
// questions.
func (q Question) Brief() (step, what, args string) {
	what = untrusted.Line(q.Tool)
	if what == "" {
		what = "model"
	}
	return wording.StepWords(q.Step), what + " " + wording.QuestionState(q.Question), wording.ArgsLine(q.Args, q.trusted())
}

func (q Question) choices(k *keymap.Map) []choice {
	if q.Doubt {
		settle := func(id string, d event.DoubtDecision) choice {
			words := wording.OfDoubt(d)
			return choice{id: id, does: words.Choice, short: words.Short, send: session.ResolveDoubt{Run: q.Run, Step: q.Step, Decision: d}}
		}
		return []choice{
			settle("question.done", event.DoubtDone),
			settle("question.rerun", event.DoubtRerun),
			settle("question.abort", event.DoubtAbort),
		}
	}
	decide := func(id string, d event.FailureDecision) choice {
		words := wording.OfFailure(d)
		return choice{id: id, does: words.Choice, short: words.Short, send: session.ResolveFailure{Run: q.Run, Step: q.Step, Decision: d}}
	}
	replan := decide("question.replan", event.FailureReplan)
	if q.NoReplan != "" {
		replan.does, replan.refuse = "replan ("+q.NoReplan+")", "No replan: "+q.NoReplan+"."
	}
	args := q.Args
	if args == nil {
		args = map[string]any{}
	}
	edit := choice{id: "question.edit", does: "edit arguments", short: "edit", edit: args, schema: schemaOf(q.Tools, q.Tool)}
	if q.Tool == "" {
		edit.does, edit.refuse = "edit arguments (it has none)", "A step done by the model has no arguments."
	}
	choices := []choice{
		decide("question.retry", event.FailureRetry),
		decide("question.skip", event.FailureSkip),
		replan, edit,
	}
	abort := decide("question.abort", event.FailureAbort)
	if q.Over {
		abort.hidden, abort.refuse = true, "The run has already ended; "+k.Name("dialog.leave")+" keeps it."
	}
	return append(choices, abort)
}

// with runs the step again with other arguments.
func (q Question) with(args map[string]any) (session.Command, error) {
	return session.ResolveFailure{Run: q.Run, Step: q.Step, Decision: event.FailureRetry, Args: args}, nil
}

func (q Question) resends() string { return "retry" }

// write writes the purpose of the step, its outcome, and the full call.
func (q Question) write(l *draw.Styles, d *draw.Document, _ bool) page {
	title := q.Title.Line()
	if title == "" {
		title = "Step " + untrusted.Line(q.Step)
	}
	tool := q.Tool
	if tool == "" {
		tool = "model"
	}
	d.Call(title, tool, "", q.Step)
	reason := draw.Clip(strings.TrimSpace(q.Reason.Visible()))
	switch {
	case q.Doubt:
		d.Field("doubt", l.Warning, reason)
		d.Field("", l.Text, "It was started and may have taken effect: check before you answer.")
	case q.Declined:
		d.Field("why", l.Text, "you said no at its gate: it was not called")
	case q.Denied:
		d.Field("why", l.Warning, reason)
		d.Field("", l.Text, "It was not called.")
	default:
		d.Field("error", l.Danger, reason)
	}
	if q.Over {
		d.Field("run", l.Text, "has ended; an answer resumes it")
	}
	if q.Attempt > 1 {
		d.Field("attempt", l.Text, fmt.Sprint(q.Attempt))
	}
	if q.Expects != "" {
		d.Field("expects", l.Text, q.Expects.Visible())
	}
	if len(q.Args) > 0 {
		d.Heading("arguments")
		d.Object(q.Args)
	}
	return page{}
}

func (q Question) notes(*draw.Styles, int) []string { return nil }

// WhyNoReplan says briefly why replanning is impossible, or "" if it is possible.
// possible reports whether a planner is available.
func WhyNoReplan(r *agent.Run, possible bool) string {
	switch {
	case !possible:
		return "no model"
	case r.Limits.MaxReplans <= 0:
		return "no replans allowed"
	case r.Usage.Replans >= r.Limits.MaxReplans:
		return english.Count(r.Usage.Replans, "replan") + " used"
	default:
		return ""
	}
}
