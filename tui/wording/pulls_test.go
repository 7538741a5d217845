package wording_test

import (
	"strings"
	"testing"

	"replan/agent/session"
	"replan/tui/wording"
)

func TestFiguresOfAPullSayShareBytesSpeedAndTimeLeft(t *testing.T) {
	for want, p := range map[string]session.PullProgress{
		"":                      {Model: "m"},
		"pulling manifest":      {Step: "pulling manifest"},
		"verifying sha256":      {Step: "verifying sha256", Done: 5, Total: 5},
		"50%, 1.0 GB of 2.0 GB": {Step: "pulling 1a2b", Done: 1e9, Total: 2e9},
		"50%, 1.0 GB of 2.0 GB, 100 MB/s, 0:10 left": {Step: "pulling 1a2b", Done: 1e9, Total: 2e9, Rate: 1e8},
	} {
		if got := strings.Join(wording.PullFigures(p), ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
