package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/cli/app"
	"replan/cli/config"
	"replan/cli/host"
	"replan/cli/plans"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/plain"
	"replan/tui/wording"
)

// showOptions are the options of replan runs show.
type showOptions struct{ app *app.App }

// run prints the current state of a run.
func (o showOptions) run(ctx context.Context, args []string) error {
	shown, err := host.Of(o.app).Show(ctx, args)
	if err != nil {
		return err
	}
	return o.print(shown)
}

// print prints the current state of a run.
func (o showOptions) print(shown host.Shown) error {
	out := o.app.Out()
	run, summary, snapshot := shown.Run, shown.Summary, shown.Snapshot
	snapshot.Run, snapshot.Status = summary.Run, summary.Status // it may have no events
	if out.JSON() {
		return out.PrintJSON(struct {
			agent.Snapshot
			Resumable bool `json:"resumable"`
			Undone    bool `json:"undone,omitempty"`
			Restored  int  `json:"restored,omitempty"`

			Why untrusted.Text `json:"why,omitempty"`
		}{snapshot, summary.Resumable, summary.Undone, summary.Restored, summary.Why})
	}
	if run.ID == "" {
		return out.Lines(func(p *plain.Printer) { o.submittedText(p, summary) })
	}
	return out.Lines(func(p *plain.Printer) { o.runText(p, run, summary, snapshot) })
}

// runText prints the current state of a run for people.
func (o showOptions) runText(p *plain.Printer, run *agent.Run, s agent.Summary, snapshot agent.Snapshot) {
	styles := p.Styles()
	state := plain.Ink{Text: wording.RunState(s), Style: styles.Running}
	if r := run.Result; r != nil {
		state = plain.Ink{Text: wording.RunEnd(run), Style: styles.Danger}
		switch {
		case s.Undone:
			state.Style = styles.Muted
		case s.Declined:
			state.Style = styles.Text
		case r.Status == event.StatusCompleted:
			state.Style = styles.Success
		case r.Status == event.StatusCanceled:
			state.Style = styles.Warning
		}
	}
	p.Line("%s  %s", p.Strong(s.Run), state)
	used := run.Usage
	used.Steps = 0
	counts := wording.UsageParts(event.Result{Usage: used})
	if s.Steps > 0 {
		counts = slices.Insert(counts, 0, fmt.Sprintf("%d of %s done", s.Done, english.Count(s.Steps, "step")))
	}
	fields := []plain.Field{
		{Name: "goal", Value: s.Goal},
		{Name: "started", Value: s.Started.Local().Format(app.TimeShown) + " in " + s.Workspace},
		{Name: "progress", Value: strings.Join(counts, ", ")},
	}
	if m := run.Measured(); m != nil {
		fields = append(fields, plain.Field{Name: "driven", Value: "with " + m.String()})
	}
	p.Fields(fields...)
	if s.Status == agent.StatusWaiting && s.Why != "" { // the first line has its beginning
		p.Line("")
		p.Line("%s", english.Capital(s.Why.Line()))
	}
	if len(run.Steps) > 0 {
		p.Line("")
	}
	why := ""
	if run.Result != nil {
		why = wording.FailureReason(run, *run.Result) // in the first line
	}
	stepLines(p, run, why)
	if run.Checks() && !s.Declined {
		p.Line("")
		p.Line("%s:", config.First(wording.EvidenceWords(run), "evidence"))
		for _, e := range snapshot.Evidence {
			p.Line("  %s", wording.EvidenceLine(e))
		}
	}
	if len(snapshot.InDoubt) > 0 {
		p.Line("")
		p.Line("in doubt: %s; a resume asks%s", strings.Join(snapshot.InDoubt, ", "), o.app.Out().OutsideChat(", or takes --in-doubt rerun, done or abort"))
	}
	if r := run.Result; r != nil {
		if r.Answer != "" {
			p.Line("")
			p.Markdown(r.Answer.Visible())
		}
		if r.Error != "" && why == "" && !s.Declined && r.Reason != event.ReasonInterrupted {
			p.Line("")
			p.Line("%s %s", p.Signs.Failed, r.Error)
		}
	}
	if s.Resumable {
		p.Line("")
		p.Line("resume it: %s %s%s", o.app.Out().Named("plan resume"), wording.ShortID(s.Run), host.Of(o.app).Again())
	}
}

// stepLines prints the steps of a run. An error that the outcome names, why, is left out.
func stepLines(p *plain.Printer, run *agent.Run, why string) {
	for _, step := range run.Steps {
		sign := map[agent.StepStatus]plain.Ink{
			agent.StepCompleted: p.Signs.Done, agent.StepFailed: p.Signs.Failed, agent.StepInDoubt: p.Signs.Gate,
			agent.StepWaiting: p.Signs.Gate, agent.StepRunning: p.Signs.Started, agent.StepChecking: p.Signs.Started, agent.StepSkipped: p.Signs.Skipped,
		}[step.Status]
		switch {
		case wording.IsDeclined(step):
			sign = p.Signs.Declined
		case sign.Text == "":
			sign = p.Signs.Pending
		}
		p.Line("%s %s. %s  %s", sign, step.Step.Index, step.Step.Title, p.Faint("[%s]%s", plans.Executor(step.Step), stepWords(run, step, why)))
		for _, item := range wording.ItemsLeftOut(step) {
			p.Line("    %s %s  %s", item.Step.Index, wording.InnerTitle(item, step), p.Faint("%s", strings.TrimSpace(stepWords(run, item, why))))
		}
	}
}

// submittedText prints a run of workers that has no events.
func (o showOptions) submittedText(p *plain.Printer, s agent.Summary) {
	p.Line("%s  %s", p.Strong(s.Run), wording.RunWords(s))
	p.Fields(
		plain.Field{Name: "goal", Value: config.First(s.Goal, s.Title)},
		plain.Field{Name: "submitted", Value: s.Started.Local().Format(app.TimeShown)},
	)
	p.Line("")
	p.Line("%s", english.Capital(host.NotBegun(s)))
	if s.Resumable {
		p.Line("resume it: %s %s%s", o.app.Out().Named("plan resume"), wording.ShortID(s.Run), host.Of(o.app).Again())
	}
}

// stepWords returns the remarks after a step's title. An error that the outcome of the
// run names is left out.
func stepWords(run *agent.Run, s *agent.StepState, outcome string) string {
	words := ""
	switch s.Status {
	case agent.StepCompleted:
		words = "  " + (time.Duration(s.MS) * time.Millisecond).String()
		if s.Items != nil {
			words += "  " + wording.ItemsWords(s)
		}
	case agent.StepFailed, agent.StepSkipped:
		if s.NotTaken {
			return "  " + s.Error.Line()
		}
		if why, declined := s.Declined(); declined {
			return "  " + wording.DeclinedState(why)
		}
		words = "  " + string(s.Status)
		if outcome == "" || outcome != wording.ShortCause(s.Error) {
			words += ": " + wording.Excerpt(s.Error, 120)
		}
	case agent.StepInDoubt:
		words = "  in doubt"
	case agent.StepChecking:
		words = "  not checked yet"
	case agent.StepRunning, agent.StepWaiting:
		words = "  " + string(s.Status)
		if s.Items != nil {
			words += "  " + wording.ItemsWords(s)
		}
	}
	if state := wording.EvidenceOf(run, s); state != "" && s.Status == agent.StepCompleted {
		words += "  " + string(state)
	}
	if s.Attempt > 1 {
		words += fmt.Sprintf("  attempt %d", s.Attempt)
	}
	return words
}
