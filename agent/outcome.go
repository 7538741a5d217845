package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/markdown"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Bounds of displayed results without a model's answer, in characters.
const (
	shownOfAll = 12_000
	shownOfOne = 4_000
)

// missingAnswer returns why the model wrote no complete answer, or "" if it did
// or rules replace it.
func (r *Run) missingAnswer() string {
	if !r.Synthesis.Done || r.Synthesis.Direct || r.ruleAnswers() {
		return ""
	}
	return string(r.Synthesis.Error)
}

// ruleAnswers reports whether the answer by rule replaces one that the model
// never began.
func (r *Run) ruleAnswers() bool {
	return r.Synthesis.Text == "" && r.Route != nil && r.Revision == 1
}

// supported returns an answer with a note on what it names and no result holds.
func (r decision) supported(answer string) string {
	var results strings.Builder
	var counts []int
	for _, item := range r.History {
		results.WriteString(plan.CanonicalJSON(item.Args) + "\n" + prompt.Text(item.Result) + "\n" + string(item.Title) + "\n" + string(item.Error) + "\n")
		counts = append(counts, countsIn(item.Result)...)
	}
	sketch := r.prompting.Sketch
	known := string(r.Goal) + "\n" + strings.Join(slices.Concat(sketch.Files, sketch.Near, sketch.Named, sketch.Changed), "\n") + "\n" + plan.CanonicalJSON(r.Plan)
	for _, m := range r.prompting.Conversation {
		known += "\n" + m.Content
	}
	for _, m := range r.prompting.Mentions {
		known += "\n" + m.Text
	}
	claims := reply.Unsupported(answer, results.String(), known, counts)
	for i, c := range claims {
		claims[i] = "`" + c + "`"
	}
	if r.prompting.Small {
		answer += r.passage(answer)
	}
	if len(claims) == 0 {
		return answer
	}
	return answer + "\n\n*No result shows " + english.List(claims, "or") + ".*"
}

// passage quotes the lines that hold what the goal asks, since the words of small models
// are often not the whole answer; "" if the answer quotes them, or none do.
func (r decision) passage(answer string) string {
	p, ok := intent.PassageFor(string(r.Goal), r.History)
	if !ok {
		return ""
	}
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if strings.Contains(plain(answer), plain(p.Text)) {
		return ""
	}
	return fmt.Sprintf("\n\nFrom `%s`, line %d:\n\n%s", p.Path, p.Line, markdown.Block(p.Text))
}

// countsIn returns the lengths of the lists in a result.
func countsIn(v any) []int {
	object, _ := v.(map[string]any)
	var counts []int
	for _, field := range object {
		if list, ok := field.([]any); ok {
			counts = append(counts, len(list))
		}
	}
	return counts
}

// unwritten returns the answer if the model gave none or only a part: that part,
// or the steps with their results.
func (r decision) unwritten() string {
	if r.ruleAnswers() {
		return r.ruled()
	}
	if r.Synthesis.Text != "" {
		return r.Synthesis.Text + "\n\n*The answer was cut off: " + string(r.Synthesis.Error) + "*"
	}
	return "The steps are done, but the model wrote no answer: " + string(r.Synthesis.Error) + "\n\n" + r.stepResults(shownOfAll)
}

// Results returns what each step of a completed run produced if nobody wrote an
// answer; otherwise "". Later turns are sent it as part of the conversation. It
// therefore takes at most a sixth of the context window, at three characters a
// token.
func (r *Run) Results() string {
	hasResult := func(s *StepState) bool { return resultText(s) != "" }
	if r.Result == nil || r.Result.Status != event.StatusCompleted || r.Result.Answer != "" || r.dryRun || !slices.ContainsFunc(r.Steps, hasResult) {
		return ""
	}
	bound := shownOfAll
	if r.ContextWindow > 0 {
		bound = min(bound, r.ContextWindow/2)
	}
	return r.stepResults(bound)
}

// stepResults lists the steps with their results as Markdown, with at most bound
// characters of results.
func (r *Run) stepResults(bound int) string {
	sizes := make([]int, len(r.Steps))
	for i, s := range r.Steps {
		sizes[i] = min(utf8.RuneCountInString(resultText(s)), shownOfOne)
	}
	shares := prompt.Shares(sizes, bound)
	var text strings.Builder
	text.WriteString("What the steps brought:\n")
	for i, s := range r.Steps {
		fmt.Fprintf(&text, "\n**%s. %s**: %s\n", s.Step.Index, s.Step.Title, s.Status)
		if result := resultText(s); result != "" {
			shown, left := firstCharacters(result, shares[i])
			if left > 0 {
				shown += fmt.Sprintf("\n… %d more characters", left)
			}
			text.WriteString("\n" + markdown.Block(shown) + "\n")
		}
	}
	return text.String()
}

// firstCharacters returns the first n characters of a text, and how many more it has.
func firstCharacters(text string, n int) (first string, left int) {
	for at := range text {
		if n == 0 {
			return strings.ToValidUTF8(text[:at], "\uFFFD"), utf8.RuneCountInString(text[at:])
		}
		n--
	}
	return text, 0
}

// resultText returns the result of a step as text, or "" if it has none.
func resultText(s *StepState) string {
	switch result := s.Result.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(result)
	default:
		return plan.CanonicalJSON(result)
	}
}

// Summary describes a run in one line of a list.
type Summary struct {
	Run       string         `json:"run"`
	Plan      string         `json:"plan"` // id of the stored plan that it ran; "" for a goal or a file without one
	Goal      untrusted.Text `json:"goal"`
	Title     untrusted.Text `json:"title,omitempty"` // of the plan
	Status    event.Status   `json:"status"`          // StatusUnfinished if it has not ended
	Reason    event.Reason   `json:"reason"`
	Started   time.Time      `json:"started"`
	Steps     int            `json:"steps"` // of the current plan
	Done      int            `json:"done"`  // number of completed steps
	Replans   int            `json:"replans"`
	Workspace string         `json:"workspace"`
	Session   string         `json:"session,omitempty"`
	Outer     string         `json:"outer,omitempty"`     // the run whose model requested this one, and with which it is resumed
	Resumable bool           `json:"resumable"`           // something is left to do
	PlanOnly  bool           `json:"plan_only,omitempty"` // the run only makes a plan
	Undone    bool           `json:"undone,omitempty"`    // its changes are undone
	Restored  int            `json:"restored,omitempty"`  // number of files that the undo restored
	Why       untrusted.Text `json:"why,omitempty"`       // why it waits, or why it failed before it began
}

// Statuses of a run that has not ended.
const (
	StatusUnfinished event.Status = "unfinished" // its program ended, or its state is unknown
	StatusRunning    event.Status = "running"    // a process is executing it
	StatusWaiting    event.Status = "waiting"    // for a worker
)

// Summary returns the summary of the run.
func (r *Run) Summary() Summary {
	s := Summary{
		Run: r.ID, Plan: r.Plan.ID, Goal: r.Goal, Title: r.Plan.Title, Status: StatusUnfinished,
		Started: r.StartedAt, Steps: len(r.Plan.Steps), Done: r.Done(), Replans: r.Usage.Replans,
		Workspace: r.Workspace, Session: r.session, Outer: r.outerRun, Resumable: r.Resumable(), PlanOnly: r.planOnly,
	}
	if r.Result != nil {
		s.Status, s.Reason = r.Result.Status, r.Result.Reason
	}
	if r.Undone != nil {
		s.Undone = true
		for _, f := range r.Undone.Files {
			if !f.Folder {
				s.Restored++
			}
		}
	}
	return s
}

// ShortID returns the part of a run id after its date, which distinguishes runs of
// the same day.
func ShortID(run string) string {
	if strings.Count(run, "-") > 1 {
		return run[strings.LastIndexByte(run, '-')+1:]
	}
	return run
}

// Resumable reports whether a resume would find something to do. The run has
// begun and is not completed, or the model still owes an answer. Undone steps cannot
// be continued.
func (r *Run) Resumable() bool {
	return r.ID != "" && !r.dryRun && r.Undone == nil && (r.Result == nil || r.Result.Status != event.StatusCompleted || r.Unanswered() != "")
}

// Snapshot is the state of a run so far.
type Snapshot struct {
	event.Result
	CompletedSteps []string `json:"completed_steps"`
	InDoubt        []string `json:"in_doubt"`
}

// Snapshot returns the result so far, and the steps that are done or in doubt. A
// run that has not ended has the status unfinished and no reason. live means that
// some process is executing it. Without one, a step that was running is in doubt
// unless it is read-only.
func (r *Run) Snapshot(live bool) Snapshot {
	s := Snapshot{CompletedSteps: []string{}, InDoubt: []string{}}
	if r.Result != nil {
		s.Result = *r.Result
	} else {
		s.Result = r.result(ending{status: StatusUnfinished})
	}
	r.every(func(step *StepState) {
		switch {
		case step.Draft:
		case step.Status == StepCompleted && step.Parent == "":
			s.CompletedSteps = append(s.CompletedSteps, step.Step.Index)
		case step.Status == StepInDoubt, step.Status == StepRunning && step.Loop == nil && !step.expands() && (step.interruption.isLost() || !live && !r.repeatable(step)):
			s.InDoubt = append(s.InDoubt, step.Step.Index)
		}
	})
	return s
}

// Evidence returns what is known about the checks of the plan, and about the steps that
// no check covers although they may have effects or are a model's work.
func (r *Run) Evidence() []plan.Evidence {
	out := []plan.Evidence{}
	for _, s := range r.Steps {
		switch {
		case s.Draft || s.DryRun || s.NotTaken:
		case s.expands() && len(itemChecks(s)) > 0:
			out = append(out, itemEvidence(s)...)
		case len(ChecksOf(s.Step)) > 0:
			out = append(out, evidenceOf(s.Step.Index, ChecksOf(s.Step), s.Checked)...)
		case s.Status == StepCompleted && claims(r, s):
			out = append(out, plan.Evidence{Title: s.Step.Title, State: plan.StateClaimed, Saw: []expression.Sight{}, Step: s.Step.Index})
		}
	}
	if r.dryRun {
		return out
	}
	return append(out, AcceptanceOf(r)...)
}

// AcceptanceOf returns what is known about the acceptance of the plan.
func AcceptanceOf(r *Run) []plan.Evidence { return evidenceOf("", r.Plan.Acceptance, r.Accepted) }

// claims reports whether nothing but a model or a tool with effects says that a completed
// step has done its work.
func claims(r *Run, s *StepState) bool {
	if s.expands() && !slices.ContainsFunc(s.Items, func(item *StepState) bool { return item.Status == StepCompleted }) {
		return false // it has done nothing
	}
	facts := r.facts(s.Step.Tool)
	return s.Step.Executor != plan.ExecutorTool || facts.Err != nil || !facts.Tool.ReadOnly
}

func evidenceOf(step string, checks []plan.Check, done []event.CheckCompleted) []plan.Evidence {
	out := make([]plan.Evidence, len(checks))
	for i, c := range checks {
		out[i] = plan.Evidence{Title: titleOf(c), State: plan.StateUnchecked, Saw: []expression.Sight{}, Step: step}
		if i < len(done) {
			out[i].State, out[i].Saw, out[i].Reason = done[i].State, done[i].Saw, done[i].Reason
		}
	}
	return out
}

// StateOf returns how far a completed step is shown to have done its work: refuted and
// unchecked before verified. It is "" for a step of which nothing is claimed.
func (r *Run) StateOf(s *StepState) plan.EvidenceState {
	switch {
	case s.Draft || s.DryRun:
		return ""
	case s.expands() && len(itemChecks(s)) > 0:
		if evidence := itemEvidence(s); len(evidence) > 0 {
			return worst(evidence).State
		}
		return ""
	case len(ChecksOf(s.Step)) == 0:
		if s.Status == StepCompleted && claims(r, s) {
			return plan.StateClaimed
		}
		return ""
	case len(s.Checked) == 0:
		return plan.StateUnchecked
	}
	return worst(evidenceOf(s.Step.Index, ChecksOf(s.Step), s.Checked)).State
}

// worst returns the first evidence that is refuted, else that is unchecked, else the first.
// There is at least one.
func worst(evidence []plan.Evidence) plan.Evidence {
	for _, state := range []plan.EvidenceState{plan.StateRefuted, plan.StateUnchecked} {
		if i := slices.IndexFunc(evidence, func(e plan.Evidence) bool { return e.State == state }); i >= 0 {
			return evidence[i]
		}
	}
	return evidence[0]
}

// itemChecks returns the checks of each item of a step.
func itemChecks(s *StepState) []plan.Check {
	step := s.Step
	step.ForEach = nil
	return ChecksOf(step)
}

// itemEvidence returns one evidence per check of a step with items: the worst of those that
// its items have. A failed item leaves its checks unchecked. A list without items shows nothing.
func itemEvidence(s *StepState) []plan.Evidence {
	checks := itemChecks(s)
	if s.Items == nil {
		return evidenceOf(s.Step.Index, checks, nil)
	}
	var out []plan.Evidence // after the first item one per check
	for _, item := range s.Items {
		if item.NotTaken || item.gate.answer == gateDenied {
			continue // it is left out
		}
		of := evidenceOf(item.Step.Index, checks, item.Checked)
		if out == nil {
			out = of
			continue
		}
		for i := range out {
			out[i] = worst([]plan.Evidence{out[i], of[i]})
		}
	}
	for i := range out {
		if out[i].State == plan.StateVerified {
			out[i].Step = s.Step.Index
		}
	}
	return out
}
