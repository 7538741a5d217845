package timeline_test

import (
	"testing"
	"time"

	"replan/tui/timeline"
)

func TestTimelineTicksAreRound(t *testing.T) {
	for span, want := range map[time.Duration]time.Duration{
		90 * time.Millisecond: 10 * time.Millisecond, 3 * time.Second: 500 * time.Millisecond, 12 * time.Second: 2 * time.Second, 10 * time.Minute: 100 * time.Second,
	} {
		if got := timeline.TickEvery(span, 9); got != want {
			t.Errorf("%v: every %v, want %v", span, got, want)
		}
	}
}
