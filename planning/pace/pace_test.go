package pace_test

import (
	"math"
	"testing"
	"time"

	"replan/planning/pace"
	"replan/planning/reply"
)

func TestSpeedIsLearnedFromWhatWasRead(t *testing.T) {
	fresh := reply.Reply{PromptTokens: 1000, PromptMS: 40_000, CompletionTokens: 60, WriteMS: 5000}                        // 25 read, 12 written
	remembered := reply.Reply{PromptTokens: 1200, CachedTokens: 1000, PromptMS: 8000, CompletionTokens: 60, WriteMS: 5000} // the same speed
	for _, tc := range []struct {
		name    string
		before  pace.Speed
		replies []reply.Reply
		want    pace.Speed
	}{
		{"nothing measured", pace.Speed{}, []reply.Reply{{PromptTokens: 1000, CompletionTokens: 60}}, pace.Speed{}},
		{"first reply", pace.Speed{}, []reply.Reply{fresh}, pace.Speed{Read: 25, Write: 12}},
		{"first prompt that may all be remembered says nothing about reading", pace.Speed{}, []reply.Reply{{PromptTokens: 1000, CachedTokens: 1000, PromptMS: 100, CompletionTokens: 60, WriteMS: 5000}}, pace.Speed{Write: 12}},
		{"unless it was read too slowly for that", pace.Speed{}, []reply.Reply{{PromptTokens: 1000, CachedTokens: 1000, PromptMS: 40_000, CompletionTokens: 60, WriteMS: 5000}}, pace.Speed{Read: 25, Write: 12}},
		{"prompt remembered as expected", pace.Speed{Read: 25, Write: 12}, []reply.Reply{remembered, remembered}, pace.Speed{Read: 25, Write: 12}},
		{"prompt read again against expectation", pace.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1200, CachedTokens: 1000, PromptMS: 48_000}}, pace.Speed{Read: 25, Write: 12}},
		{"prompt remembered against expectation counts little", pace.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1000, PromptMS: 200}}, pace.Speed{Read: 31.25, Write: 12}},
		{"and is forgotten with the next one", pace.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1000, PromptMS: 200}, fresh}, pace.Speed{Read: 25, Write: 12}},
		{"slower machine counts at once", pace.Speed{Read: 500, Write: 12}, []reply.Reply{fresh}, pace.Speed{Read: 25, Write: 12}},
		{"faster machine counts in steps", pace.Speed{Read: 16, Write: 12}, []reply.Reply{fresh, fresh}, pace.Speed{Read: 25, Write: 12}},
		{"short prompt and reply say nothing", pace.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 30, PromptMS: 3000, CompletionTokens: 1, WriteMS: 9000}}, pace.Speed{Read: 25, Write: 12}},
		{"writing is averaged", pace.Speed{Read: 25, Write: 16}, []reply.Reply{fresh}, pace.Speed{Read: 25, Write: 14}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.before
			for _, r := range tc.replies {
				got = got.Learn(r)
			}
			if math.Abs(got.Read-tc.want.Read) > 0.01 || math.Abs(got.Write-tc.want.Write) > 0.01 {
				t.Errorf("learned %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestLimitsFollowTheMachine(t *testing.T) {
	slow, fast := pace.Speed{Read: 25, Write: 10}, pace.Speed{Read: 2000, Write: 100}
	for _, tc := range []struct {
		name           string
		forecast       pace.Forecast
		longest        int
		held           bool
		silence, whole time.Duration
	}{
		{"fast machine has the least limit", pace.Forecast{Tokens: 3000, Speed: fast}, 4096, false, 2 * time.Minute, 2*time.Minute + 7380*time.Millisecond},
		{"slow machine has three times what it takes", pace.Forecast{Tokens: 3000, Speed: slow}, 500, false, 6 * time.Minute, 8*time.Minute + 30*time.Second},
		{"no cache is counted on", pace.Forecast{Tokens: 3000, Cached: 2900, Speed: slow}, 500, false, 6 * time.Minute, 8*time.Minute + 30*time.Second},
		{"a call comes in one piece", pace.Forecast{Tokens: 3000, Speed: slow}, 500, true, 8*time.Minute + 30*time.Second, 8*time.Minute + 30*time.Second},
		{"unmeasured machine may be slow and has to load the model", pace.Forecast{Tokens: 100}, 30, false, 10 * time.Minute, 10 * time.Minute},
		{"unmeasured machine with a long prompt", pace.Forecast{Tokens: 3000}, 300, false, 15 * time.Minute, 20 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if silence, whole := tc.forecast.Limits(tc.longest, tc.held); silence != tc.silence || whole != tc.whole {
				t.Errorf("silence for %s, whole in %s; want %s and %s", silence, whole, tc.silence, tc.whole)
			}
		})
	}
}
