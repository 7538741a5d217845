// Package transcript writes a conversation as Markdown: messages, plans with the
// outcome of their steps, decisions, and the reasons for revisions. It omits text
// that looks like a secret.
package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/tui/plain"
)

// Conversation is the input for a transcript.
type Conversation struct {
	Session   []event.Event     // of the session, in order
	Runs      [][]event.Event   // runs started by the session, each in order
	Planners  planning.Planners // planners of the plans; nil means the three phases and a model
	Home      string            // user's folder, written as ~; "" leaves paths unchanged
	Exported  time.Time         // time of the export; sets the time zone of all times
	Workspace string
}

// Markdown writes the conversation. It notes any part that it cannot follow at the
// place of that part.
func Markdown(c Conversation) string {
	w := &writer{home: strings.TrimRight(c.Home, "/"), zone: c.Exported.Location()}
	w.line("# Conversation with replan")
	w.line("")
	if c.Workspace != "" {
		w.line("- folder `%s`", w.path(c.Workspace))
	}
	if len(c.Session) > 0 {
		w.line("- begun %s", w.time(c.Session[0].Time))
	}
	w.line("- written %s", w.time(c.Exported))
	runs := slices.DeleteFunc(slices.Clone(c.Runs), func(events []event.Event) bool { return len(events) == 0 })
	slices.SortStableFunc(runs, func(a, b []event.Event) int { return a[0].Time.Compare(b[0].Time) })
	answers := map[string]string{}
	for _, e := range c.Session {
		for len(runs) > 0 && runs[0][0].Time.Before(e.Time) {
			answers[runs[0][0].Run] = w.run(runs[0], c.Planners)
			runs = runs[1:]
		}
		w.said(e, answers)
	}
	for _, events := range runs {
		w.run(events, c.Planners)
	}
	return redact.Text(strings.TrimRight(w.text.String(), "\n") + "\n")
}

// writer writes a transcript.
type writer struct {
	text strings.Builder
	home string
	zone *time.Location
}

func (w *writer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(&w.text, format+"\n", args...)
}

// heading starts a section.
func (w *writer) heading(format string, args ...any) {
	w.line("")
	w.line(format, args...)
	w.line("")
}

func (w *writer) time(t time.Time) string { return t.In(w.zone).Format("2006-01-02 15:04 MST") }

// path shortens a path in the user's folder.
func (w *writer) path(path string) string {
	if rest, in := strings.CutPrefix(path, w.home+"/"); in && w.home != "" {
		return "~/" + rest
	}
	return path
}

// prose makes text of several lines safe for display and keeps its tabs.
func prose(text string) string {
	parts := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\t")
	for i, part := range parts {
		parts[i] = untrusted.Visible(part)
	}
	return strings.Join(parts, "\t")
}

// inline formats text as one line without Markdown markup.
func inline(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "]", `\]`, "|", `\|`).Replace(untrusted.Line(text))
}

// named formats a name as code.
func named(name string) string {
	return "`" + strings.ReplaceAll(untrusted.Line(name), "`", "'") + "`"
}

// said writes an event of the session itself. answers holds the answers of the runs
// already written.
func (w *writer) said(e event.Event, answers map[string]string) {
	switch d := e.Data.(type) {
	case event.ChatUser:
		w.heading("## You, %s", e.Time.In(w.zone).Format("15:04"))
		for line := range strings.SplitSeq(prose(d.Text), "\n") {
			w.line("%s", strings.TrimRight("> "+line, " "))
		}
	case event.ChatReply:
		if answer, told := answers[d.Run]; d.Text == "" || told && (answer == d.Text || d.Status != event.StatusCompleted) {
			return
		}
		w.line("")
		w.line("%s", prose(d.Said()))
	case event.ChatCompacted:
		words := fmt.Sprintf("%d messages summed up", d.Turns)
		if d.Undone {
			words = fmt.Sprintf("%d messages stand in the conversation again", d.Turns)
		}
		w.line("")
		w.line("*%s*", words)
	case event.Note:
		w.line("")
		w.line("*%s: %s*", inline(d.Level), inline(d.Text))
	}
}

// run writes a run and returns its answer.
func (w *writer) run(events []event.Event, planners planning.Planners) string {
	run := agent.NewRun(planners)
	var told []string
	if d, ok := events[0].Data.(event.RunStarted); ok && d.Outer != "" {
		told = append(told, "a call of the run "+named(d.Outer)+" has started it")
	}
	gates := map[string]event.GateRequested{}
	for _, e := range events {
		if err := run.Apply(e); err != nil && !e.Data.Kind().Passing() {
			told = append(told, "the rest cannot be followed: "+inline(err.Error()))
			break
		}
		if g, ok := e.Data.(event.GateRequested); ok {
			gates[g.Gate] = g
		}
		if words := happened(e.Data, gates); words != "" {
			told = append(told, words)
		}
	}
	w.plan(run)
	w.calls(run)
	if len(told) > 0 {
		w.heading("### What happened")
		for _, words := range told {
			w.line("- %s", words)
		}
	}
	answer := run.Synthesis.Text
	if run.Result != nil {
		answer = cmp.Or(run.Result.Answer, answer)
	}
	if answer != "" {
		w.heading("### Answer")
		w.line("%s", prose(answer))
	}
	w.ending(run)
	return answer
}

// plan draws the current plan with the steps that revisions removed. It ensures
// that no line can end the enclosing block.
func (w *writer) plan(run *agent.Run) {
	if run.Revision == 0 {
		return
	}
	w.heading("### Plan: %s", inline(cmp.Or(run.Plan.Title, run.Goal)))
	w.line("```text")
	w.line("%s", strings.TrimRight(plain.Run(run, false, stateWords), "\n"))
	w.line("```")
	w.planNotes(run.Plan)
}

// planNotes writes the contents of a plan other than its steps.
func (w *writer) planNotes(p plan.Plan) {
	if p.DoneWhen == "" && len(p.Milestones) == 0 && len(p.Risks) == 0 {
		return
	}
	w.line("")
	if p.DoneWhen != "" {
		w.line("- Done when: %s", inline(p.DoneWhen))
	}
	for _, m := range p.Milestones {
		w.line("- Milestone: %s (%s)", inline(m.Title), inline(strings.Join(m.Steps, ", ")))
	}
	for _, risk := range p.Risks {
		w.line("- Risk: %s", inline(risk))
	}
}

// calls writes the calls a model made while it answered.
func (w *writer) calls(run *agent.Run) {
	if run.Chat == nil || len(run.Chat.Calls) == 0 {
		return
	}
	w.heading("### Calls")
	for _, c := range run.Chat.Calls {
		w.step(c)
	}
}

// step writes one step: its state, its title and its duration.
func (w *writer) step(s *agent.StepState) {
	signs := map[agent.StepStatus]string{
		agent.StepCompleted: "✓", agent.StepFailed: "✗", agent.StepSkipped: "—", agent.StepInDoubt: "?", agent.StepWaiting: "◆",
	}
	title := inline(s.Step.Title)
	if s.Step.Tool != "" && s.Step.Tool != s.Step.Title && !strings.HasSuffix(s.Step.Tool, ":"+s.Step.Title) {
		title += " " + named(s.Step.Tool)
	}
	w.line("- %s **%s** %s: %s", cmp.Or(signs[s.Status], "·"), inline(s.Step.Index), title, stateWords(s))
}

// stateWords describes the state of a step.
func stateWords(s *agent.StepState) string {
	words := map[agent.StepStatus]string{
		agent.StepPending: "not run", agent.StepWaiting: "waits at a gate", agent.StepRunning: "running", agent.StepCompleted: "done",
		agent.StepFailed: "failed", agent.StepSkipped: "skipped", agent.StepInDoubt: "in doubt",
	}
	state := words[s.Status]
	if s.Status == agent.StepCompleted || s.Status == agent.StepFailed {
		state += fmt.Sprintf(" in %.1f s", float64(s.MS)/1000)
	}
	if s.Attempt > 1 {
		state += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	if s.DryRun {
		state = "dry run: nothing was called"
	}
	return state
}

// happened describes an event for a reader, or returns "" if it is of no interest.
func happened(data event.Data, gates map[string]event.GateRequested) string {
	switch d := data.(type) {
	case event.RouteMatched:
		return "planned by its words"
	case event.RunResumed:
		return "taken up again"
	case event.JournalDamaged:
		return fmt.Sprintf("line %d of the journal is damaged, and what it said is lost", d.Line)
	case event.RunSteered:
		return "you said: " + inline(d.Text)
	case event.PhaseFailed:
		return "planning failed: " + inline(untrusted.FirstLine(d.Reason))
	case event.StepFailed:
		if d.Removes != "" {
			return fmt.Sprintf("step %s was held: it %s", inline(d.Index), inline(d.Removes))
		}
		if d.Outdated != "" {
			return fmt.Sprintf("step %s was held: %s", inline(d.Index), inline(d.Outdated))
		}
		return fmt.Sprintf("step %s failed: %s", inline(d.Index), inline(untrusted.FirstLine(d.Error)))
	case event.StepInDoubt:
		return fmt.Sprintf("step %s is in doubt: %s", inline(d.Index), inline(d.Reason))
	case event.FailureResolved:
		return fmt.Sprintf("step %s: %s, decided by %s", inline(d.Step), inline(string(d.Decision)), inline(d.By))
	case event.DoubtResolved:
		return fmt.Sprintf("step %s: %s, decided by %s", inline(d.Step), inline(string(d.Decision)), inline(d.By))
	case event.GateResolved:
		return decided(d, gates[d.Gate])
	case event.PlanDiff:
		return revised(d)
	case event.ReplanRefused:
		return "a new plan was refused: " + inline(d.Reason)
	case event.GuardBlocked:
		return "stopped: " + inline(d.Reason)
	case event.GuardWarned:
		return inline(d.Reason)
	case event.Note:
		return inline(d.Text)
	default:
		return ""
	}
}

// decided describes the question of a gate and its answer.
func decided(d event.GateResolved, g event.GateRequested) string {
	how := map[event.Decision]string{event.Allow: "allowed", event.Deny: "denied", event.Edit: "edited"}[d.Decision]
	words := fmt.Sprintf("gate: %s %s", cmp.Or(how, inline(string(d.Decision))), named(g.Tool))
	if g.Step != "" {
		words += " in step " + inline(g.Step)
	}
	switch d.Scope {
	case event.ScopeRun:
		words += " for the run"
	case event.ScopeAlways:
		words += " for always"
	}
	if g.Rule.Why != "" {
		words += " (asked because " + inline(g.Rule.Why) + ")"
	}
	return words + ", by " + inline(d.By)
}

// revised says what a revision changed and why.
func revised(d event.PlanDiff) string {
	var parts []string
	for _, p := range []struct {
		name  string
		steps []string
	}{{"removed", d.Removed}, {"added", d.Added}, {"revised", d.Revised}} {
		if len(p.steps) > 0 {
			parts = append(parts, p.name+" "+inline(strings.Join(p.steps, ", ")))
		}
	}
	words := fmt.Sprintf("**revision %d**: %s", d.Revision, strings.Join(parts, "; "))
	if reason := untrusted.FirstLine(d.Reason); reason != "" {
		words += ", because " + inline(reason)
	}
	return words
}

// ending writes how the run ended.
func (w *writer) ending(run *agent.Run) {
	r := run.Result
	w.line("")
	if r == nil {
		w.line("*the run %s goes on*", named(run.ID))
		return
	}
	words := fmt.Sprintf("%s (%s) in %.1f s, %s, %s, %s", r.Status, strings.ReplaceAll(string(r.Reason), "_", " "),
		float64(r.DurationMS)/1000, english.Count(r.Usage.Steps, "step"), english.Count(r.Usage.Replans, "replan"), english.Count(r.Usage.PromptTokens+r.Usage.CompletionTokens, "token"))
	if r.Error != "" {
		words += ": " + inline(untrusted.FirstLine(r.Error))
	}
	w.line("*%s; run %s*", words, named(run.ID))
}
