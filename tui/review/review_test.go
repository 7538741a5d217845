package review_test

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
	"replan/tui/review"
)

// held returns a run whose plan waits for review.
func held(t *testing.T) *agent.Run {
	t.Helper()
	p := plan.Plan{Title: "P", Steps: []plan.Step{panetest.TimedStep("1", "look"), panetest.TimedStep("2", "look", "1"), panetest.TimedStep("3", "look")}}
	run, _ := panetest.Past{
		{At: 0, Data: event.RunStarted{Plan: &p, Limits: event.DefaultLimits(), Catalog: panetest.TimedTools, Review: true, Rules: []rule.Rule{{Tool: "look", Verdict: rule.VerdictRun}}}},
		{At: 0, Data: event.PlanCreated{Plan: p, Revision: 1}},
	}.Folded(t)
	return run
}

// opened returns a review of a run that has just opened.
func opened(t *testing.T) *review.Dialog {
	t.Helper()
	d := review.New(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
	d.Set(held(t), 0)
	return d
}

// answers returns the answers to a plan in a request.
func answers(w keymap.Requests) []agent.ReviewAnswer {
	var out []agent.ReviewAnswer
	for _, c := range panetest.Sent(w) {
		if r, ok := c.(session.Review); ok {
			out = append(out, r.Answer)
		}
	}
	return out
}

func TestPlanOpensTheReviewWithItsGuardOn(t *testing.T) {
	d := opened(t)
	if title, fresh := d.TakeFresh(); !d.Shown() || !d.Guard().Ignores() || !fresh || title != "P" {
		t.Fatalf("shown %v, ignores keys %v, fresh %v %q", d.Shown(), d.Guard().Ignores(), fresh, title)
	}
	if w := d.Actions().Press("review.run"); len(answers(w)) != 0 || d.Guard().Message() == "" {
		t.Errorf("an early key sent %v, and says %q", panetest.Sent(w), d.Guard().Message())
	}
	if _, fresh := d.TakeFresh(); fresh {
		t.Error("the user is told of the plan twice")
	}
}

func TestPlanIsAnsweredOnce(t *testing.T) {
	d := opened(t)
	d.Reopen() // the user asks for it
	if got := answers(d.Actions().Press("review.run")); len(got) != 1 || got[0].Decision != event.ReviewRun {
		t.Fatalf("answered %+v", got)
	}
	if d.Shown() || d.Waits() {
		t.Error("the review stays while its answer is under way")
	}
	if got := answers(d.Actions().Press("review.run")); len(got) != 0 {
		t.Errorf("answered again: %+v", got)
	}
}

func TestReviewComesBackWithItsGuardOn(t *testing.T) {
	for name, back := range map[string]func(d *review.Dialog){
		"from behind a question": func(d *review.Dialog) { d.Hide(true); d.Hide(false) },
		"after a refusal": func(d *review.Dialog) {
			d.Actions().Press("review.run")
			d.Refused("it cannot run")
			d.Hide(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := opened(t)
			d.Reopen()
			if back(d); !d.Shown() || !d.Guard().Ignores() {
				t.Errorf("shown %v, ignores keys %v", d.Shown(), d.Guard().Ignores())
			}
		})
	}
}

func TestStepThatOthersNeedIsRemovedWithThemOrNot(t *testing.T) {
	for _, c := range []struct {
		key   string
		steps int // that will run
	}{{"quit.yes", 1}, {"quit.no", 3}} {
		d := opened(t)
		d.Reopen()
		d.Actions().Press("review.take_out") // step 1, which step 2 needs
		d.Actions().Press(c.key)
		got := answers(d.Actions().Press("review.run"))
		if len(got) != 1 {
			t.Fatalf("%s: answered %+v", c.key, got)
		}
		left := 3 // a plan without changes
		if got[0].Plan != nil {
			left = len(got[0].Plan.Steps)
		}
		if left != c.steps {
			t.Errorf("%s: %d steps run, want %d", c.key, left, c.steps)
		}
	}
}

func TestHiddenReviewIsShownInPlaceOfItsAnswer(t *testing.T) {
	d := opened(t)
	d.Reopen()
	d.Actions().Press("dialog.leave")
	if w := d.Answers()["review.run"].Do(); len(panetest.Sent(w)) != 0 || !d.Shown() {
		t.Errorf("sent %v, shown %v", panetest.Sent(w), d.Shown())
	}
}
