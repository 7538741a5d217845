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
	"replan/tui/plantext"
	"replan/tui/story"
	"replan/tui/wording"
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
	w := &writer{home: strings.TrimRight(c.Home, "/"), zone: c.Exported.Location(), session: story.New(story.Record, story.NewOnce())}
	w.line("# Conversation with replan")
	w.line("")
	if c.Workspace != "" {
		w.line("- folder `%s`", w.path(c.Workspace))
	}
	if len(c.Session) > 0 {
		w.line("- started %s", w.time(c.Session[0].Time))
	}
	w.line("- written %s", w.time(c.Exported))
	runs := slices.DeleteFunc(slices.Clone(c.Runs), func(events []event.Event) bool { return len(events) == 0 })
	slices.SortStableFunc(runs, func(a, b []event.Event) int { return a[0].Time.Compare(b[0].Time) })
	answers := map[string]untrusted.Text{}
	for _, e := range c.Session {
		for len(runs) > 0 && runs[0][0].Time.Before(e.Time) {
			answers[runs[0][0].Run] = w.run(runs[0], c.Planners)
			runs = runs[1:]
		}
		w.message(e, answers)
	}
	for _, events := range runs {
		w.run(events, c.Planners)
	}
	return redact.Text(strings.TrimRight(w.text.String(), "\n") + "\n")
}

// writer writes a transcript.
type writer struct {
	text    strings.Builder
	home    string
	zone    *time.Location
	session *story.Story // of the session itself
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
func prose[T ~string](text T) string {
	parts := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), "\t")
	for i, part := range parts {
		parts[i] = untrusted.Visible(part)
	}
	return strings.Join(parts, "\t")
}

// inline formats text as one line without Markdown markup.
func inline[T ~string](text T) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "]", `\]`, "|", `\|`).Replace(untrusted.Text(text).Line())
}

// named formats a name as code.
func named[T ~string](name T) string {
	return "`" + strings.ReplaceAll(untrusted.Text(name).Line(), "`", "'") + "`"
}

// message writes an event of the session itself. answers holds the answers of the runs
// already written.
func (w *writer) message(e event.Event, answers map[string]untrusted.Text) {
	switch d := e.Data.(type) {
	case event.ChatUser:
		w.heading("## You, %s", e.Time.In(w.zone).Format("15:04"))
		for line := range strings.SplitSeq(prose(d.Text), "\n") {
			w.line("%s", strings.TrimRight("> "+line, " "))
		}
	case event.ChatReply:
		if answer, answered := answers[d.Run]; d.Text == "" || answered && (answer == d.Text || d.Status != event.StatusCompleted) {
			return
		}
		w.line("")
		w.line("%s", prose(d.Content()))
	case event.ChatSide:
		w.heading("### %s, %s", wording.SideTitle, wording.SideNotInRun)
		w.line("%s", prose(d.Text))
		if words := wording.SideEnding(d); words != "" {
			w.line("*%s*", inline(words))
		}
		w.line("")
		w.line("*%s*", inline(strings.Join(wording.SideFacts(d), ", ")))
	default:
		for _, entry := range w.session.Session(d) {
			w.line("")
			w.line("*%s*", inline(entry.Words))
		}
	}
}

// run writes a run and returns its answer.
func (w *writer) run(events []event.Event, planners planning.Planners) untrusted.Text {
	run := agent.NewRun(planners)
	teller := story.New(story.Record, story.NewOnce())
	teller.Follow(run, false)
	var notes []string
	for _, e := range events {
		entries, err := teller.Apply(e)
		if err != nil && !e.Data.Kind().Passing() {
			notes = append(notes, "the rest cannot be read: "+inline(err.Error()))
			break
		}
		for _, entry := range entries {
			if words := note(entry); words != "" {
				notes = append(notes, words)
			}
		}
	}
	w.plan(run)
	w.calls(run)
	if len(notes) > 0 {
		w.heading("### What happened")
		for _, words := range notes {
			w.line("- %s", words)
		}
	}
	w.evidence(run)
	answer := untrusted.Text(run.Synthesis.Text)
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

// evidence lists what the checks of a plan show.
func (w *writer) evidence(run *agent.Run) {
	words := wording.EvidenceWords(run)
	if words == "" {
		return
	}
	w.heading("### Evidence: %s", words)
	for _, e := range run.Evidence() {
		w.line("- %s", inline(wording.EvidenceLine(e)))
	}
}

// plan draws the current plan with the steps that revisions removed. It ensures
// that no line can end the enclosing block.
func (w *writer) plan(run *agent.Run) {
	if run.Revision == 0 {
		return
	}
	w.heading("### Plan: %s", inline(cmp.Or(run.Plan.Title, run.Goal)))
	w.line("```text")
	w.line("%s", strings.TrimRight(plantext.Run(run, false, wording.StateSummary), "\n"))
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
	sign := cmp.Or(signs[s.Status], "·")
	if wording.IsDeclined(s) {
		sign = "⊘"
	}
	title := inline(s.Step.Title)
	if s.Step.Tool != "" && s.Step.Tool != s.Step.Title.Visible() && !strings.HasSuffix(s.Step.Tool, ":"+s.Step.Title.Visible()) {
		title += " " + named(s.Step.Tool)
	}
	w.line("- %s **%s** %s: %s", sign, inline(s.Step.Index), title, wording.StateSummary(s))
}

// note draws an entry as a line of Markdown.
func note(e story.Entry) string {
	switch e.Kind {
	case story.Outer:
		return "a call of the run " + named(e.Words) + " has started it"
	case story.GateAnswered:
		return decided(e)
	case story.Revision:
		number, what, _ := strings.Cut(e.Words, ": ")
		return "**" + number + "**: " + inline(what)
	default:
		return inline(e.Words)
	}
}

// decided draws the question of a gate and its answer.
func decided(e story.Entry) string {
	d, g := e.Event.(event.GateResolved), event.GateRequested{}
	if e.Gate != nil {
		g = *e.Gate
	}
	how := map[event.Decision]string{event.Allow: "allowed", event.Deny: "denied", event.Edit: "edited"}[d.Decision]
	if d.Declined() {
		how = "declined"
	}
	words := fmt.Sprintf("gate: %s %s", cmp.Or(how, inline(d.Decision)), named(g.Tool))
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
	words += inline(wording.SignedBy(d.By))
	if d.Declined() && d.Reason != "" {
		words += ": " + inline(d.Reason)
	}
	return words
}

// ending writes how the run ended.
func (w *writer) ending(run *agent.Run) {
	r := run.Result
	w.line("")
	if r == nil {
		w.line("*the run %s continues*", named(run.ID))
		return
	}
	why := wording.ReasonWords(r.Reason)
	if run.DeclinedAt() != nil {
		why = "declined"
	}
	words := fmt.Sprintf("%s (%s) in %.1f s, %s, %s, %s", r.Status, inline(why),
		float64(r.DurationMS)/1000, english.Count(len(run.Plan.Steps), "step"), english.Count(r.Usage.Replans, "replan"), english.Count(r.Usage.PromptTokens+r.Usage.CompletionTokens, "token"))
	if r.Error != "" {
		words += ": " + inline(r.Error.FirstLine())
	}
	w.line("*%s; run %s*", words, named(run.ID))
}
