package agent

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
)

// Bounds of displayed results without a model's answer, in characters.
const (
	shownOfAll = 12_000
	shownOfOne = 4_000
)

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
		s.Result = r.answers().result(ending{status: StatusUnfinished})
	}
	r.roster().every(func(step *StepState) {
		switch {
		case step.Draft:
		case step.Status == StepCompleted && step.Parent == "":
			s.CompletedSteps = append(s.CompletedSteps, step.Step.Index)
		case step.Status == StepInDoubt, step.Status == StepRunning && step.Loop == nil && !step.expands() && (step.isLost() || !live && !r.caller().repeatable(step)):
			s.InDoubt = append(s.InDoubt, step.Step.Index)
		}
	})
	return s
}

// AcceptanceOf returns what is known about the acceptance of the plan.
func AcceptanceOf(r *Run) []plan.Evidence { return evidenceOf("", r.Plan.Acceptance, r.Accepted) }

// claims reports whether nothing but a model or a tool with effects says that a completed
// step has done its work.
func (r answers) claims(s *StepState) bool {
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
		if item.NotTaken || item.gate.denied() {
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
