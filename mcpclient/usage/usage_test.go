package usage_test

import (
	"testing"
	"time"

	"replan/mcpclient/usage"
)

func TestSummaryCountsCallsAndTakesMedianOfTheNewest(t *testing.T) {
	ms := func(n ...int) (all []time.Duration) {
		for _, n := range n {
			all = append(all, time.Duration(n)*time.Millisecond)
		}
		return all
	}
	var slowThenFast []time.Duration
	for range 150 {
		slowThenFast = append(slowThenFast, time.Second)
	}
	for range 100 {
		slowThenFast = append(slowThenFast, time.Millisecond)
	}
	for name, test := range map[string]struct {
		took   []time.Duration
		failed int // of the first calls
		want   usage.Summary
	}{
		"no call":                {},
		"one call":               {ms(7), 1, usage.Summary{Calls: 1, Failures: 1, Last: 7 * time.Millisecond, Median: 7 * time.Millisecond}},
		"odd number":             {ms(9, 1, 5), 0, usage.Summary{Calls: 3, Last: 5 * time.Millisecond, Median: 5 * time.Millisecond}},
		"even number":            {ms(8, 2, 4, 90), 2, usage.Summary{Calls: 4, Failures: 2, Last: 90 * time.Millisecond, Median: 6 * time.Millisecond}},
		"old calls do not count": {slowThenFast, 0, usage.Summary{Calls: 250, Last: time.Millisecond, Median: time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			var r usage.Record
			for i, took := range test.took {
				r.Add(took, i < test.failed)
			}
			if got := r.Summary(); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
