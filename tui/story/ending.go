package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// Ending is how a run ended.
type Ending struct {
	Result   event.Result   // without its error, if that was told
	Word     string         // the outcome of a run that was not stopped
	Steps    string         // how many steps of the plan are done; "" without a plan
	Evidence string         // how many checks hold; "" without checks
	Failed   untrusted.Text // why a step failed last; "" for none
	Doubt    untrusted.Text // why a step is in doubt; "" for none

	resumes string // what a resume does, behind the key or command; "" if none is possible
	kept    bool   // finished steps are kept then
}

// Resume says what resuming the ended run with a key or a command does. It returns "" if the
// run cannot be resumed on its own.
func (e *Ending) Resume(by string) string {
	switch {
	case e.resumes == "":
		return ""
	case e.kept:
		return "Finished steps are kept; " + by + e.resumes
	default:
		return by + e.resumes
	}
}

// tellEnding tells how the run ended: its answer or its results, why it ended, and what
// can be done about it.
func (s *Story) tellEnding(r event.Result) {
	s.writing = false
	var results []Result
	if r.Answer != "" {
		answer := Entry{Kind: Answer, Text: r.Answer}
		if s.to == Lines {
			answer.Text = untrusted.Text(s.withoutFailure(s.withoutDiffs(r.Answer.Visible())))
		}
		if answer.Text != "" {
			answer.Words = cutOffWords(s.run)
		}
		s.tell(Lines|Screen, answer)
	} else if r.Status == event.StatusCompleted && !s.nested { // the answer covers the results of a nested run
		results = s.results(r)
		s.tell(Lines|Screen, Entry{Kind: Results, Results: results})
	}
	if s.run.DryRun() {
		for _, c := range s.run.Plan.Acceptance {
			s.tell(Lines, Entry{Words: "would check: " + wording.CheckWords(c)})
		}
	}
	if r.Unanswered != "" {
		s.tell(Lines, Entry{Level: Info, Words: "the answer is missing; ask for it again: replan plan resume " + s.run.ID})
	}
	e := &Ending{Result: r, Word: s.outcomeWord(r), Steps: s.stepsDone(), Evidence: wording.EvidenceWords(s.run), Failed: s.failed, Doubt: s.doubt}
	if s.to&Caller == 0 && s.explained(r) {
		e.Result.Error = ""
	}
	s.sayResume(e)
	if e.Result.Error != "" {
		s.tell(Lines, Entry{Level: Fatal, Words: r.Error.Line()})
	}
	noPlan := r.Reason == event.ReasonNoPlan && len(s.run.Exchanges) > 0
	if noPlan {
		s.tell(Lines, Entry{Level: Info, Words: "try again, or choose a larger model with --model; replan replay " + wording.ShortID(s.run.ID) + " shows its replies"})
	}
	s.tell(Lines|Screen|Caller, Entry{Kind: Outcome, Words: wording.EndWords(s.run, r), Facts: s.figures(r), Results: results, Ending: e})
	if noPlan && !s.nested {
		s.tell(Live, Entry{Kind: Advice})
	}
}

// figures lists what a run used and what is shown of it.
func (s *Story) figures(r event.Result) []string {
	parts := wording.UsageParts(r)
	if evidence := wording.EvidenceWords(s.run); evidence != "" {
		parts = append(parts, evidence)
	}
	if s.run.DryRun() {
		parts = append(parts, wording.NothingCalled)
	}
	return parts
}

// explained reports whether the reader has been told the error of a run, or is told it with
// the outcome.
func (s *Story) explained(r event.Result) bool {
	denied := s.to == Lines && r.Reason == event.ReasonDenied && s.failed != "" // the outcome says it again
	return r.Error == s.ended || denied || repeatsFailure(r.Error, s.failed) || wording.FailureReason(s.run, r) != "" || repeatsPhase(s.run, r)
}

// outcomeWord describes the outcome of a run that was not stopped.
func (s *Story) outcomeWord(r event.Result) string {
	switch why := wording.FailureReason(s.run, r); {
	case r.Status == event.StatusFailed && why != "" && (repeatsFailure(r.Error, s.failed) || strings.Contains(r.Answer.Line(), why)):
		return "failed" // it was told why
	case r.Status == event.StatusFailed:
		return "failed: " + cmp.Or(why, wording.ReasonWords(r.Reason))
	case s.run.DryRun():
		return wording.NothingCalled
	case s.run.PlanOnly():
		return "planned: nothing was run"
	case r.Reason == event.ReasonPartial:
		return "partial: " + wording.PartialWords(s.run, r)
	case r.Reason.Nothing():
		return wording.ReasonWords(r.Reason)
	default:
		return "done"
	}
}

// stepsDone counts the steps of the plan: "6 steps", "3 of 4 steps". The usage of a run also
// counts calls of agents and earlier attempts.
func (s *Story) stepsDone() string {
	all := len(s.run.Plan.Steps)
	switch done := s.run.Done(); {
	case all == 0:
		return ""
	case done < all:
		return fmt.Sprintf("%d of %s", done, english.Count(all, "step"))
	default:
		return english.Count(all, "step")
	}
}

// sayResume completes an ending with what resuming the run does.
func (s *Story) sayResume(e *Ending) {
	if s.run.DryRun() || s.nested { // no journal; or resumed with the run that started it
		return
	}
	e.resumes = " resumes the run"
	if e.Result.Unanswered != "" {
		e.resumes += " and asks for it again."
		return
	}
	var failed []string
	for _, step := range s.run.Steps {
		switch {
		case step.Status == agent.StepCompleted:
			e.kept = true
		case step.Status == agent.StepFailed && !s.skippedByUser(step.Step.Index):
			failed = append(failed, untrusted.Line(step.Step.Index))
		}
	}
	switch len(failed) {
	case 0:
	case 1:
		e.resumes += " and tries step " + failed[0] + " again"
	default:
		e.resumes += " and tries the failed steps again"
	}
	e.resumes += "."
}

// skippedByUser reports whether the user chose to skip a failed step, which no resume tries
// again.
func (s *Story) skippedByUser(index string) bool {
	attempts := s.run.AttemptsOf(index)
	if len(attempts) == 0 {
		return false
	}
	return slices.ContainsFunc(attempts[len(attempts)-1].Asked, func(a agent.Asked) bool {
		return a.About == agent.AskedFailure && a.Decision == string(event.FailureSkip)
	})
}

// results returns the results of a plan without a written answer: those that no other step
// used.
func (s *Story) results(r event.Result) (all []Result) {
	if s.to == Lines && r.Plan == nil {
		return nil
	}
	for _, step := range unusedResults(s.run) {
		members, _ := step.Result.(map[string]any)
		diff, _ := members["diff"].(string)
		all = append(all, Result{Step: step, Shown: diff != "" && slices.Contains(s.diffs, diff)})
	}
	return all
}

// DiffFence matches a fenced block of a diff in Markdown.
var DiffFence = lazyregexp.New("(?ms)^```+diff\n(.*?)^```+ *$\n?")

// withoutDiffs drops the fenced diffs of an answer that a gate already showed.
func (s *Story) withoutDiffs(answer string) string {
	return DiffFence.ReplaceAllStringFunc(answer, func(block string) string {
		diff := strings.TrimSpace(DiffFence.FindStringSubmatch(block)[1])
		for _, shown := range s.diffs {
			if strings.TrimSpace(untrusted.Visible(shown)) == diff {
				return ""
			}
		}
		return block
	})
}

// textFence matches a fenced block of text with the colon before it.
var textFence = lazyregexp.New("(?ms):\n\n^```+text\n(.*?)^```+ *$\n?")

// withoutFailure drops the text of the last failure from an answer, and an answer that says
// nothing else: the entry of its step told it.
func (s *Story) withoutFailure(answer string) string {
	why := strings.TrimRight(s.failed.FirstLine(), ".")
	if why == "" {
		return answer
	}
	answer = textFence.ReplaceAllStringFunc(answer, func(block string) string {
		if text := textFence.FindStringSubmatch(block)[1]; !strings.HasPrefix(text, why) {
			return block
		}
		return ": " + why + "."
	})
	line := strings.TrimRight(strings.TrimSpace(answer), ".")
	if strings.HasPrefix(line, "`") && strings.HasSuffix(line, "` failed: "+why) && !strings.Contains(line, "\n") {
		return ""
	}
	return answer
}
