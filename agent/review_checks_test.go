package agent_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// reviewTest is a change of a held plan, which then runs.
type reviewTest struct {
	name    string
	change  func(v *agent.Review) error
	refused string // part of the error
	order   string
	changes string
}

func (test reviewTest) run(t *testing.T) {
	w := held(t, reviewed)
	v := w.run.Review()
	err := test.change(v)
	if got := fmt.Sprint(err); (err != nil) != (test.refused != "") || !strings.Contains(got, test.refused) {
		t.Errorf("got error %v, want %q", err, test.refused)
	}
	if got := ordered(v); got != test.order {
		t.Errorf("got the order %s, want %s", got, test.order)
	}
	if got := v.Changes().String(); got != test.changes {
		t.Errorf("got the changes %q, want %q", got, test.changes)
	}
	w.answerReview(v.Answer(event.ReviewRun))
	if result := w.finish(); result.Status != event.StatusCompleted {
		t.Errorf("the run ended %s: %s", result.Reason, result.Error)
	}
}

// editFields replaces fields of a step, given as JSON.
func editFields(v *agent.Review, index, fields string) error {
	step, _ := v.Plan().Step(index)
	all := object(plan.CanonicalJSON(plan.EditableFields(step)))
	maps.Copy(all, object(fields))
	edited, err := plan.ReadFields(step, all)
	if err != nil {
		return err
	}
	return v.Edit(edited)
}

// object reads a JSON object.
func object(text string) map[string]any {
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v.(map[string]any)
}

// editChecks replaces the checks of a step.
func editChecks(v *agent.Review, index, list string) error {
	step, _ := v.Plan().Step(index)
	step.Checks = checks(list)
	return v.Edit(step)
}

// checks reads a list of checks, or one.
func checks(list string) []plan.Check {
	v, err := plan.DecodeValue([]byte(list))
	if err != nil {
		panic(err)
	}
	read, _ := plan.ReadChecks(v, "check")
	return read
}

func TestReviewOfChecks(t *testing.T) {
	tests := []reviewTest{
		{
			name:    "add a check",
			change:  func(v *agent.Review) error { return editChecks(v, "1", `{"expect": "len(result) > 0"}`) },
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "add a check and drop it",
			change: func(v *agent.Review) error {
				return errors.Join(editChecks(v, "1", `{"expect": "len(result) > 0"}`), editChecks(v, "1", `[]`))
			},
			order: "1 2 3 4",
		},
		{
			name:    "check that cannot be false is refused",
			change:  func(v *agent.Review) error { return editChecks(v, "1", `{"expect": "1 < 2"}`) },
			refused: "gives the same answer whatever happens",
			order:   "1 2 3 4",
		},
		{
			name:    "bad expression is refused",
			change:  func(v *agent.Review) error { return editChecks(v, "1", `{"expect": "reslt.n > 0"}`) },
			refused: "did you mean result",
			order:   "1 2 3 4",
		},
		{
			name:    "edit the acceptance",
			change:  func(v *agent.Review) error { return v.EditAcceptance(checks(`{"expect": "len(seen) > 0"}`)) },
			order:   "1 2 3 4",
			changes: "acceptance edited",
		},
		{
			name: "edit the acceptance back",
			change: func(v *agent.Review) error {
				return errors.Join(v.EditAcceptance(checks(`{"expect": "len(seen) > 0"}`)), v.EditAcceptance(nil))
			},
			order: "1 2 3 4",
		},
		{
			name:    "acceptance without a tool that names a result is refused",
			change:  func(v *agent.Review) error { return v.EditAcceptance(checks(`{"expect": "result.n > 0"}`)) },
			refused: "it calls no tool",
			order:   "1 2 3 4",
		},
		{
			name: "acceptance cannot name the result of a removed step",
			change: func(v *agent.Review) error {
				return errors.Join(v.Remove("1", true), v.EditAcceptance(checks(`{"expect": "len(seen) > 0"}`)))
			},
			refused: "names the result of a removed step",
			order:   "-1 2 -3 4",
			changes: "2 out",
		},
		{
			name: "step stays behind the one that its check needs",
			change: func(v *agent.Review) error {
				return errors.Join(editChecks(v, "2", `{"expect": "len(seen) > 0"}`), v.Move("2", -1))
			},
			refused: "step 2 needs the result of step 1 (seen)",
			order:   "1 2 3 4",
			changes: "1 edited",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func TestReviewOfConditionsListsAndWaits(t *testing.T) {
	list := `{"for_each": ["a", "b"], "args": {"at": "${item}"}}`
	tests := []reviewTest{
		{
			name:    "add a condition",
			change:  func(v *agent.Review) error { return editFields(v, "4", `{"when": "seen != ''"}`) },
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "add a condition and drop it",
			change: func(v *agent.Review) error {
				return errors.Join(editFields(v, "4", `{"when": "seen != ''"}`), editFields(v, "4", `{"when": null}`))
			},
			order: "1 2 3 4",
		},
		{
			name:    "add a list",
			change:  func(v *agent.Review) error { return editFields(v, "2", list) },
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "add a wait",
			change: func(v *agent.Review) error {
				return editFields(v, "1", `{"until": {"expect": "result != ''", "every": "1s"}}`)
			},
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name: "approved gate asks again for a list",
			change: func(v *agent.Review) error {
				return errors.Join(v.Approve("2", true), editFields(v, "2", `{"for_each": ["a", "b"]}`))
			},
			order:   "1 2 3 4",
			changes: "1 edited",
		},
		{
			name:    "bad condition is refused with its place",
			change:  func(v *agent.Review) error { return editFields(v, "4", `{"when": "seen = ''"}`) },
			refused: "column 6: unexpected token",
			order:   "1 2 3 4",
		},
		{
			name:    "condition with an unknown name is refused with the near one",
			change:  func(v *agent.Review) error { return editFields(v, "4", `{"when": "sen == ''"}`) },
			refused: "did you mean seen",
			order:   "1 2 3 4",
		},
		{
			name:    "step that is needed cannot wait for the one that needs it",
			change:  func(v *agent.Review) error { return editFields(v, "1", `{"for_each": "${seen}"}`) },
			refused: "seen",
			order:   "1 2 3 4",
		},
		{
			name:    "wait of a step with effects is refused",
			change:  func(v *agent.Review) error { return editFields(v, "2", `{"until": {"expect": "result != ''"}}`) },
			refused: "only reads",
			order:   "1 2 3 4",
		},
		{
			name:    "no list is refused",
			change:  func(v *agent.Review) error { return editFields(v, "2", `{"for_each": 7}`) },
			refused: "for_each must be a list",
			order:   "1 2 3 4",
		},
		{
			name:    "bound without a list is refused",
			change:  func(v *agent.Review) error { return editFields(v, "2", `{"max": 7}`) },
			refused: "max needs for_each",
			order:   "1 2 3 4",
		},
		{
			name:    "other field is refused",
			change:  func(v *agent.Review) error { return editFields(v, "2", `{"tool": "look"}`) },
			refused: `"tool" cannot be edited here`,
			order:   "1 2 3 4",
		},
		{
			name: "step stays behind the one that its condition needs",
			change: func(v *agent.Review) error {
				return errors.Join(editFields(v, "2", `{"when": "seen != ''"}`), v.Move("2", -1))
			},
			refused: "step 2 needs the result of step 1 (seen)",
			order:   "1 2 3 4",
			changes: "1 edited",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func TestReviewedConditionsAndListsDecideTheRun(t *testing.T) {
	w := held(t, reviewed)
	v := w.run.Review()
	if err := errors.Join(editFields(v, "4", `{"when": "seen == ''"}`), editFields(v, "2", `{"for_each": ["a", "b"], "args": {"at": "${item}"}}`)); err != nil {
		t.Fatal(err)
	}
	w.answerReview(v.Answer(event.ReviewRun))
	w.kill(len(w.events))
	w.resume(resumed(given(t, reviewed)))
	got := w.starts()
	slices.Sort(got)
	if !slices.Equal(got, []string{"1", "2.1", "2.2", "3"}) {
		t.Errorf("the steps %v started", got)
	}
}

func TestReviewedChecksDecideTheRun(t *testing.T) {
	tests := []struct {
		name   string
		change func(v *agent.Review) error
		reason event.Reason
	}{
		{"check of a step", func(v *agent.Review) error { return editChecks(v, "4", `{"expect": "result == ''"}`) }, event.ReasonStepFailed},
		{"acceptance", func(v *agent.Review) error { return v.EditAcceptance(checks(`{"expect": "seen == ''"}`)) }, event.ReasonRefuted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := held(t, reviewed)
			v := w.run.Review()
			if err := test.change(v); err != nil {
				t.Fatal(err)
			}
			w.answerReview(v.Answer(event.ReviewRun))
			w.kill(len(w.events))
			w.resume(resumed(given(t, reviewed)))
			if r := w.run.Result; r.Status != event.StatusFailed || r.Reason != test.reason {
				t.Errorf("the run ended %s, %s: %s", r.Status, r.Reason, r.Error)
			}
			d := all[event.PlanReviewed](w)[0]
			if d.Acceptance != (test.reason == event.ReasonRefuted) || len(d.Edited) == 0 && !d.Acceptance {
				t.Errorf("the event says %+v", d)
			}
		})
	}
}

func TestDroppedChecksAreNotHeld(t *testing.T) {
	w := held(t, `{"title":"T","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"seen","check":[{"expect":"result == ''"}]}],
		"acceptance":[{"expect":"seen == ''"}]}`)
	v := w.run.Review()
	if err := errors.Join(editChecks(v, "1", `[]`), v.EditAcceptance(nil)); err != nil {
		t.Fatal(err)
	}
	w.answerReview(v.Answer(event.ReviewRun))
	if r := w.finish(); r.Status != event.StatusCompleted {
		t.Errorf("the run ended %s: %s", r.Reason, r.Error)
	}
}

func TestPlanRefusedByAnotherPersonIsNotTakenForUnasked(t *testing.T) {
	for by, unasked := range map[string]bool{"user": false, "ann@laptop": false, "nobody was there to be asked": true} {
		w := held(t, reviewed)
		d, err := w.run.AnswerReview(agent.ReviewAnswer{Revision: w.run.Revision, Decision: event.ReviewRefuse}, by)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(d)
		if sentence := string(w.finish().Error); strings.Contains(sentence, "waits for review") != unasked {
			t.Errorf("refused by %s, the run says: %s", by, sentence)
		}
	}
}
