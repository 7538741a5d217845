package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"

	"pgregory.net/rapid"
)

// The drafts of one plan: a call that a rule denies, one at a gate, and one that
// only looks.
const (
	lookDraft   = `{"title":"Look","steps":[{"index":"1","title":"Look at a","tool":"look","args":{"at":"a"}}]}`
	changeDraft = `{"title":"Change","steps":[{"index":"1","title":"Look at a","tool":"look","args":{"at":"a"}},{"index":"2","title":"Change a","tool":"change","args":{"at":"a"},"depends_on":["1"]}]}`
	twiceDraft  = `{"title":"Twice","steps":[{"index":"1","title":"Change a","tool":"change","args":{"at":"a"}},{"index":"2","title":"Change b","tool":"change","args":{"at":"b"}}]}`
	faultyDraft = `{"title":"Fly","steps":[{"index":"1","title":"Fly to a","tool":"fly","args":{"at":"a"}}]}`
)

// drafting starts a run that asks for a draft of each text.
func drafting(w *world, texts ...string) event.RunStarted {
	w.reply = script{prompt.PurposePlan: texts}.reply
	start := started(event.DefaultLimits())
	start.Prompting.Drafts = len(texts)
	return start
}

// drawDrafts draws how many drafts a run makes, and whether its user takes another
// one than the best.
func (w *world) drawDrafts(t *rapid.T, start event.RunStarted) event.RunStarted {
	w.another = func() bool { return rapid.Bool().Draw(t, "another draft") }
	start.Prompting.Drafts = rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "drafts")
	return start
}

func TestRulesOfTheRunRankDrafts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mirror(w)
	w.play(drafting(w, twiceDraft, changeDraft, faultyDraft))
	created := all[event.PlanCreated](w)[0]
	if created.Plan.Title != "Change" || len(created.Drafts) != 3 {
		t.Fatalf("took %q of %d drafts", created.Plan.Title, len(created.Drafts))
	}
	if d := created.Drafts; d[0].Gates != 2 || d[1].Gates != 1 || !d[1].Taken || len(d[2].Faults) != 1 || d[0].Plan.Title != "Twice" {
		t.Errorf("got the drafts %+v", d)
	}
	if len(w.run.Drafts) != 3 {
		t.Errorf("the run holds %d drafts", len(w.run.Drafts))
	}
	var starts []string
	for _, d := range all[event.StepStarted](w) {
		starts = append(starts, d.Tool)
	}
	if fmt.Sprint(starts) != "[look change]" {
		t.Errorf("called %v", starts)
	}
}

func TestNoStepOfADraftStartsEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eager(w)
	w.play(drafting(w, changeDraft, lookDraft))
	if n := len(all[event.PlanDrafting](w)); n > 0 {
		t.Errorf("%d steps of drafts were reported", n)
	}
	for _, d := range all[event.StepStarted](w) {
		if d.Draft {
			t.Errorf("step %s started before a draft was taken", d.Index)
		}
	}
}

func TestFailedDraftIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"timeout": errors.New("it took too long"), "too long": prompt.ErrTooLong} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mirror(w)
			start := drafting(w, lookDraft, "", "")
			w.reply = func(r prompt.Request) (string, error) {
				if r.Draft.Further() {
					return "", cause
				}
				return script{prompt.PurposePlan: {lookDraft}, prompt.PurposeSynthesis: {"done"}}.reply(r)
			}
			if result := w.play(start); result.Status != event.StatusCompleted {
				t.Fatalf("%s: %s", result.Reason, result.Error)
			}
			if p := w.run.Phases[2]; p.Status != agent.PhaseCompleted || p.Reason != "" {
				t.Errorf("got the phase %+v", p)
			}
			if d := all[event.PlanCreated](w)[0].Drafts; len(d) != 3 || !d[0].Taken || d[2].Missing == "" {
				t.Errorf("got the drafts %+v", d)
			}
		})
	}
}

func TestTokensOfAllDraftsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := drafting(w, lookDraft, changeDraft, twiceDraft)
	start.Limits.MaxTokens = 150 // a request takes 100 and its reply some
	if result := w.play(start); result.Reason != event.ReasonTokenBudget {
		t.Errorf("got %s, want the token budget to end it", result.Reason)
	}
	if n := len(all[event.PhaseStarted](w)); n != 2 {
		t.Errorf("asked for %d drafts, want 2", n)
	}
}

func TestDraftsBeforeAKillAreKept(t *testing.T) {
	t.Parallel()
	whole := newWorld(t)
	start := drafting(whole, twiceDraft, changeDraft, lookDraft)
	whole.play(start)
	want := all[event.PlanCreated](whole)[0]
	for i := range slices.Index(whole.kinds(), event.KindPlanCreated) {
		w := newWorld(t)
		first := drafting(w, twiceDraft, changeDraft, lookDraft)
		w.reply = byDraft(twiceDraft, changeDraft, lookDraft)
		w.play(first)
		replies := 0
		for _, k := range w.kinds()[:i+1] {
			if k == event.KindPhaseCompleted {
				replies++
			}
		}
		w.kill(i + 1)
		mirrorOn(w)
		asked := 0
		w.reply = func(r prompt.Request) (string, error) {
			if r.Purpose == prompt.PurposePlan {
				asked++
			}
			return byDraft(twiceDraft, changeDraft, lookDraft)(r)
		}
		w.resume(resumed(first))
		got := all[event.PlanCreated](w)[0]
		if asked != 3-replies || got.Plan.Title != want.Plan.Title || len(got.Drafts) != 3 || !plan.SameSteps(got.Plan.Steps, want.Plan.Steps) {
			t.Errorf("after %d events: asked for %d more drafts after %d, and took %q of %d", i+1, asked, replies, got.Plan.Title, len(got.Drafts))
		}
	}
}

// byDraft replies to every request for a draft with the text of that draft.
func byDraft(texts ...string) func(prompt.Request) (string, error) {
	return func(r prompt.Request) (string, error) {
		if r.Draft != nil {
			return texts[r.Draft.Number-1], nil
		}
		return "done", nil
	}
}

// choosing holds a plan of three drafts for review; the user takes another one.
func choosing(w *world, number int) event.RunStarted {
	start := drafting(w, changeDraft, twiceDraft, faultyDraft)
	w.reply = byDraft(changeDraft, twiceDraft, faultyDraft)
	start.Review = true
	w.another = func() bool {
		take := number == w.run.Review().NextDraft()
		number = 0
		return take
	}
	return start
}

func TestUserTakesAnotherDraftUnderReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mirror(w)
	w.play(choosing(w, 2))
	if d := w.run.Drafts; w.run.Plan.Title != "Twice" || d[0].Taken || d[0].Plan == nil || !d[1].Taken || d[1].Plan != nil {
		t.Errorf("the plan is %q of the drafts %+v", w.run.Plan.Title, d)
	}
	for _, d := range all[event.StepStarted](w) {
		if d.Tool != "change" {
			t.Errorf("step %s called %s, which draft 2 does not", d.Index, d.Tool)
		}
	}
	if len(w.run.Steps) != 2 || w.run.Done() != 2 {
		t.Errorf("%d of %d steps are done", w.run.Done(), len(w.run.Steps))
	}
}

func TestDraftTakenUnderReviewIsKeptAfterAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := choosing(w, 2)
	w.play(start)
	w.killAt(event.KindPlanChosen)
	mirrorOn(w)
	if w.run.Plan.Title != "Twice" || !w.run.AwaitsReview() {
		t.Fatalf("the plan %q does not wait for its review", w.run.Plan.Title)
	}
	result := w.resume(resumed(start))
	if result.Status != event.StatusCompleted || w.run.Plan.Title != "Twice" {
		t.Errorf("%s with the plan %q", result.Reason, w.run.Plan.Title)
	}
}

func TestDraftThatCannotRunIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := choosing(w, 0)
	checked := false
	w.review = func(v *agent.Review) event.ReviewDecision {
		checked = true
		for number, want := range map[int]string{1: "is the plan already", 3: "fly", 4: "there is no draft 4"} {
			if _, err := w.run.ChooseDraft(number, "user"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("draft %d: got %v, want %q", number, err, want)
			}
		}
		if n := v.NextDraft(); n != 2 {
			t.Errorf("the next draft is %d, want 2", n)
		}
		return event.ReviewRun
	}
	w.play(start)
	if err := w.offer(event.PlanChosen{Draft: 2}); !checked || !errors.Is(err, agent.ErrOutOfOrder) {
		t.Errorf("after the review: %v", err)
	}
}
