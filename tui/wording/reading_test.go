package wording_test

import (
	"testing"
	"time"

	"replan/agent"
	"replan/planning/pace"
	"replan/tui/wording"
)

func TestReadingSaysHowFarItIs(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	slow := pace.Forecast{Tokens: 2900, Cached: 1000, Speed: pace.Speed{Read: 25, Write: 10}} // 76 s
	for _, tc := range []struct {
		name     string
		forecast pace.Forecast
		after    time.Duration
		want     string
		unseen   string
		first    string
	}{
		{"at the start", slow, 0, "0 % of 1,900 tokens, 1 min 16 s left", "0 % of 1,900 tokens, 1 min 16 s left", "coder reads about 1,900 tokens, about 1 min 16 s"},
		{"on the way", slow, 31 * time.Second, "40 % of 1,900 tokens, 45 s left", "40 % of 1,900 tokens, 45 s left", "coder reads about 1,900 tokens, about 1 min 16 s"},
		{"later than expected", slow, 80 * time.Second, "1,900 tokens, longer than the expected 1 min 16 s", "", "coder reads about 1,900 tokens, about 1 min 16 s"},
		{"not measured", pace.Forecast{Tokens: 412}, 80 * time.Second, "about 410 tokens", "", "coder reads about 410 tokens"},
		{"soon over", pace.Forecast{Tokens: 400, Speed: pace.Speed{Read: 2000}}, 0, "0 % of 400 tokens, 1 s left", "0 % of 400 tokens, 1 s left", ""},
		{"nothing known", pace.Forecast{}, time.Second, "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := &agent.Exchange{Forecast: tc.forecast, ReadingAt: began}
			if got := wording.Reading(x, began.Add(tc.after)); got != tc.want {
				t.Errorf("the line says %q, want %q", got, tc.want)
			}
			if got := wording.ReadingUnseen(x, began.Add(tc.after)); got != tc.unseen {
				t.Errorf("where the reply does not show, the line says %q, want %q", got, tc.unseen)
			}
			if got := wording.WillRead("coder", tc.forecast); got != tc.first {
				t.Errorf("the log says %q, want %q", got, tc.first)
			}
		})
	}
	if got := wording.Reading(&agent.Exchange{Forecast: slow}, began); got != "" {
		t.Errorf("while the model is loaded, the line says %q", got)
	}
}
