package dialog_test

import (
	"testing"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

func TestRevisionShowsWhatAStepWaitsForNow(t *testing.T) {
	data := repaired()
	d := data[len(data)-1].(event.PlanDiff)
	d.Plan.Steps[0].Until = &plan.Until{Expect: "result.ok", Every: time.Second, For: time.Minute}
	data[len(data)-1] = d
	revisions(t, 50, data...).Wants("+ until result.ok, every 1s for 1m0s")
}
