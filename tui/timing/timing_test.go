package timing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/timing"
	"replan/tui/wording"
)

func TestStepsDoNotWaitForTheReview(t *testing.T) {
	plan := plan.Plan{Title: "P", Steps: []plan.Step{panetest.TimedStep("1", "look"), panetest.TimedStep("2", "look", "1")}}
	run, now := panetest.Past{
		{0, event.RunStarted{Plan: &plan, Limits: event.DefaultLimits(), Catalog: panetest.TimedTools, Review: true, Rules: []rule.Rule{{Tool: "look", Verdict: rule.VerdictRun}}}},
		{0, event.PlanCreated{Plan: plan, Revision: 1}},
		{11, event.PlanReviewed{Revision: 1, Decision: event.ReviewRun, By: "user"}},
		{11, panetest.Begins("1", 1)},
		{13, panetest.Succeeds("1", 1)},
		{13, panetest.Begins("2", 1)},
		{14, panetest.Succeeds("2", 1)},
	}.Folded(t)
	want := "total 14 sum 3 most 1\n* 1 ran 2\n* 2 needs 2 ran 1 after step 1\n"
	if got := timelineWords(timing.NewTimeline(run, now)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTimelineAndPlanAgreeOnDuration(t *testing.T) {
	start, plan := panetest.TimedPlan(panetest.TimedStep("1", "look"))
	run, now := panetest.Past{{0, start}, {0, plan}, {0, panetest.Begins("1", 1)}, {0.011, event.StepCompleted{Index: "1", Attempt: 1, MS: 7}}}.Folded(t)
	line := timing.NewTimeline(run, now)
	plans, _ := draw.StateWord(panetest.DarkLook(), run, run.Steps[0])
	if got := wording.Shortly(line.Track("1").Ran); got != "7ms" || plans != got {
		t.Errorf("the timeline shows %s, the plan %s", got, plans)
	}
}

// timelineWords describes a timeline: a line for each track.
func timelineWords(t *timing.Timeline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "total %g sum %g most %d\n", t.Total.Seconds(), t.Sum.Seconds(), t.Most)
	for _, k := range t.Tracks {
		mark := ""
		if k.Critical {
			mark = "* "
		}
		fmt.Fprintf(&b, "%s%s", mark, strings.TrimSpace(k.Label()+" "+map[bool]string{true: string(k.Title)}[k.Kind != timing.TrackStep]))
		for _, part := range []struct {
			name     string
			duration time.Duration
		}{{"needs", k.Time(timing.StretchNeeds)}, {"slot", k.Time(timing.StretchSlot)}, {"gate", k.Time(timing.StretchGate)}, {"pause", k.Time(timing.StretchPause)}, {"ran", k.Ran}} {
			if part.duration > 0 {
				fmt.Fprintf(&b, " %s %g", part.name, part.duration.Seconds())
			}
		}
		if beside := t.Beside(k); len(beside) > 0 {
			fmt.Fprintf(&b, " beside %s", strings.Join(beside, ","))
		}
		if k.After != "" {
			fmt.Fprintf(&b, " after %s", k.After)
		}
		if k.RemovedIn > 0 {
			fmt.Fprintf(&b, " gone %d", k.RemovedIn)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTimelineWaitsAndCriticalPath(t *testing.T) {
	started, diamond := panetest.TimedPlan(panetest.TimedStep("1", "look"), panetest.TimedStep("2", "look", "1"), panetest.TimedStep("3", "look", "1"), panetest.TimedStep("4", "look", "2", "3"))
	gatedStart, gated := panetest.TimedPlan(panetest.TimedStep("1", "look"), panetest.TimedStep("2", "change", "1"))
	oneStart, one := panetest.TimedPlan(panetest.TimedStep("1", "look"))
	retried := panetest.TimedStep("1", "look")
	retried.Retries = 1
	retryStart, retry := panetest.TimedPlan(retried)
	wideStart, wide := panetest.TimedPlan(panetest.TimedStep("1", "look"), panetest.TimedStep("2", "look"), panetest.TimedStep("3", "look"))
	replaced := one.Plan
	replaced.Steps = []plan.Step{panetest.TimedStep("2", "look")}
	for name, c := range map[string]struct {
		past panetest.Past
		want string
	}{
		"slower of two steps is on critical path": {
			panetest.Past{{0, started}, {1, diamond}, {1, panetest.Begins("1", 1)}, {2, panetest.Succeeds("1", 1)}, {2, panetest.Begins("2", 1)}, {2, panetest.Begins("3", 1)}, {3, panetest.Succeeds("2", 1)}, {5, panetest.Succeeds("3", 1)}, {5, panetest.Begins("4", 1)}, {6, panetest.Succeeds("4", 1)}},
			"total 6 sum 6 most 2\n* 1 ran 1\n2 needs 1 ran 1 beside 3\n* 3 needs 1 ran 3 beside 2 after step 1\n* 4 needs 4 ran 1 after step 3\n",
		},
		"gate time counts apart": {
			panetest.Past{{0, gatedStart}, {1, gated}, {1, panetest.Begins("1", 1)}, {2, panetest.Succeeds("1", 1)}, {2, event.GateRequested{Gate: "2.1.1", Step: "2"}}, {6, event.GateResolved{Gate: "2.1.1", Decision: event.Allow, By: "user"}}, {6, panetest.Begins("2", 1)}, {7, panetest.Succeeds("2", 1)}},
			"total 7 sum 2 most 1\n* 1 ran 1\n* 2 needs 1 gate 4 ran 1 after step 1\n",
		},
		"open gate grows": {
			panetest.Past{{0, gatedStart}, {1, gated}, {1, panetest.Begins("1", 1)}, {2, panetest.Succeeds("1", 1)}, {2, event.GateRequested{Gate: "2.1.1", Step: "2"}}, {9, event.Note{}}},
			"total 9 sum 1 most 1\n* 1 ran 1\n* 2 needs 1 gate 7 after step 1\n",
		},
		"pause before retry counts apart": {
			panetest.Past{{0, retryStart}, {1, retry}, {1, panetest.Begins("1", 1)}, {2, panetest.Fails("1", 1)}, {2, event.StepRetry{Index: "1", Attempt: 1, At: time.Unix(4, 0)}}, {4, event.TimerFired{ID: "retry/1/2"}}, {4, panetest.Begins("1", 2)}, {5, panetest.Succeeds("1", 2)}},
			"total 5 sum 2 most 1\n* 1 pause 2 ran 2 after attempt 1\n",
		},
		"slot wait follows the step that had it": {
			panetest.Past{{0, wideStart}, {1, wide}, {1, panetest.Begins("1", 1)}, {1, panetest.Begins("2", 1)}, {2, panetest.Succeeds("1", 1)}, {2, panetest.Begins("3", 1)}, {3, panetest.Succeeds("2", 1)}, {5, panetest.Succeeds("3", 1)}},
			"total 5 sum 6 most 2\n* 1 ran 1 beside 2\n2 ran 2 beside 1,3\n* 3 slot 1 ran 3 beside 2 after a slot that step 1 had\n",
		},
		"revision between failed and new step": {
			panetest.Past{{0, oneStart}, {1, one}, {1, panetest.Begins("1", 1)}, {2, panetest.Fails("1", 1)}, {2, event.ReplanStarted{Attempt: 1, Step: "1", Error: "no", Remaining: []string{"1"}}}, {5, event.PlanDiff{Revision: 2, Removed: []string{"1"}, Added: []string{"2"}, Plan: replaced}}, {5, panetest.Begins("2", 1)}, {6, panetest.Succeeds("2", 1)}},
			"total 6 sum 2 most 1\n* 1 ran 1 gone 2\n* r2 replan ran 3 after step 1\n* 2 ran 1 after revision 2\n",
		},
		"time before a resume is left out": {
			panetest.Past{{0, oneStart}, {1, one}, {1, panetest.Begins("1", 1)}, {2, event.Note{}}, {100, event.RunResumed{Model: "m", Limits: event.DefaultLimits(), Catalog: panetest.TimedTools, Rules: oneStart.Rules}}, {101, panetest.Begins("1", 2)}, {102, panetest.Succeeds("1", 2)}},
			"total 4 sum 2 most 1\n* 1 slot 1 ran 2 after attempt 1\n",
		},
		"unready step has no times": {
			panetest.Past{{0, started}, {1, diamond}, {1, panetest.Begins("1", 1)}, {2, event.Note{}}},
			"total 2 sum 1 most 1\n* 1 ran 1\n2\n3\n4\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run, now := c.past.Folded(t)
			if got := timelineWords(timing.NewTimeline(run, now)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTimelineCountsConcurrentSteps(t *testing.T) {
	run := func(from, to int) *timing.Track {
		return &timing.Track{Kind: timing.TrackStep, Stretches: timing.Stretches{{Kind: timing.StretchRun, From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}}}
	}
	for name, c := range map[string]struct {
		tracks []*timing.Track
		want   string
	}{
		"sequential steps":      {[]*timing.Track{run(0, 5), run(5, 10)}, "[1 1]"},
		"overlapping steps":     {[]*timing.Track{run(0, 6), run(4, 10)}, "[2 2]"},
		"step without duration": {[]*timing.Track{run(1, 1)}, "[1 0]"},
		"no steps":              {nil, "[0 0]"},
	} {
		line := &timing.Timeline{Tracks: c.tracks}
		if got := fmt.Sprint(line.AtOnce(0, 10*time.Second, 2)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func BenchmarkTimelineOf1000Steps(b *testing.B) {
	var steps []plan.Step
	for i := range 1000 {
		step := panetest.TimedStep(fmt.Sprint(i+1), "look")
		if i > 0 {
			step.DependsOn = []string{fmt.Sprint((i + 1) / 2)}
		}
		steps = append(steps, step)
	}
	started, created := panetest.TimedPlan(steps...)
	run := &agent.Run{}
	seq, now := uint64(0), time.Unix(0, 0).UTC()
	apply := func(d event.Data) {
		seq, now = seq+1, now.Add(time.Millisecond)
		if err := run.Apply(event.Event{Seq: seq, Time: now, Run: "r", Data: d}); err != nil {
			b.Fatal(err)
		}
	}
	apply(started)
	apply(created)
	for i := range 1000 {
		apply(panetest.Begins(fmt.Sprint(i+1), 1))
		apply(panetest.Succeeds(fmt.Sprint(i+1), 1))
	}
	for b.Loop() {
		timing.NewTimeline(run, now)
	}
}
