package prompt_test

import (
	"math"
	"testing"
	"time"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestSpeedIsLearnedFromWhatWasRead(t *testing.T) {
	fresh := reply.Reply{PromptTokens: 1000, PromptMS: 40_000, CompletionTokens: 60, WriteMS: 5000}                        // 25 read, 12 written
	remembered := reply.Reply{PromptTokens: 1200, CachedTokens: 1000, PromptMS: 8000, CompletionTokens: 60, WriteMS: 5000} // the same speed
	for _, tc := range []struct {
		name    string
		before  prompt.Speed
		replies []reply.Reply
		want    prompt.Speed
	}{
		{"nothing measured", prompt.Speed{}, []reply.Reply{{PromptTokens: 1000, CompletionTokens: 60}}, prompt.Speed{}},
		{"first reply", prompt.Speed{}, []reply.Reply{fresh}, prompt.Speed{Read: 25, Write: 12}},
		{"first prompt that may all be remembered says nothing about reading", prompt.Speed{}, []reply.Reply{{PromptTokens: 1000, CachedTokens: 1000, PromptMS: 100, CompletionTokens: 60, WriteMS: 5000}}, prompt.Speed{Write: 12}},
		{"prompt remembered as expected", prompt.Speed{Read: 25, Write: 12}, []reply.Reply{remembered, remembered}, prompt.Speed{Read: 25, Write: 12}},
		{"prompt read again against expectation", prompt.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1200, CachedTokens: 1000, PromptMS: 48_000}}, prompt.Speed{Read: 25, Write: 12}},
		{"prompt remembered against expectation counts little", prompt.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1000, PromptMS: 200}}, prompt.Speed{Read: 31.25, Write: 12}},
		{"and is forgotten with the next one", prompt.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 1000, PromptMS: 200}, fresh}, prompt.Speed{Read: 25, Write: 12}},
		{"slower machine counts at once", prompt.Speed{Read: 500, Write: 12}, []reply.Reply{fresh}, prompt.Speed{Read: 25, Write: 12}},
		{"faster machine counts in steps", prompt.Speed{Read: 16, Write: 12}, []reply.Reply{fresh, fresh}, prompt.Speed{Read: 25, Write: 12}},
		{"short prompt and reply say nothing", prompt.Speed{Read: 25, Write: 12}, []reply.Reply{{PromptTokens: 30, PromptMS: 3000, CompletionTokens: 2, WriteMS: 9000}}, prompt.Speed{Read: 25, Write: 12}},
		{"writing is averaged", prompt.Speed{Read: 25, Write: 16}, []reply.Reply{fresh}, prompt.Speed{Read: 25, Write: 14}},
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
	slow, fast := prompt.Speed{Read: 25, Write: 10}, prompt.Speed{Read: 2000, Write: 100}
	call := prompt.Request{MaxTokens: 500, Tools: plan.Offer{{Name: "fs.read"}}}
	for _, tc := range []struct {
		name           string
		forecast       prompt.Forecast
		req            prompt.Request
		silence, whole time.Duration
	}{
		{"fast machine has the least limit", prompt.Forecast{Tokens: 3000, Speed: fast}, prompt.Request{}, 2 * time.Minute, 2*time.Minute + 7380*time.Millisecond},
		{"slow machine has three times what it takes", prompt.Forecast{Tokens: 3000, Speed: slow}, prompt.Request{MaxTokens: 500}, 6 * time.Minute, 8*time.Minute + 30*time.Second},
		{"no cache is counted on", prompt.Forecast{Tokens: 3000, Cached: 2900, Speed: slow}, prompt.Request{MaxTokens: 500}, 6 * time.Minute, 8*time.Minute + 30*time.Second},
		{"a call comes in one piece", prompt.Forecast{Tokens: 3000, Speed: slow}, call, 8*time.Minute + 30*time.Second, 8*time.Minute + 30*time.Second},
		{"unmeasured machine may be slow and has to load the model", prompt.Forecast{Tokens: 100}, prompt.Request{MaxTokens: 30}, 10 * time.Minute, 10 * time.Minute},
		{"unmeasured machine with a long prompt", prompt.Forecast{Tokens: 3000}, prompt.Request{MaxTokens: 300}, 15 * time.Minute, 20 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if silence, whole := tc.forecast.Limits(tc.req); silence != tc.silence || whole != tc.whole {
				t.Errorf("silence for %s, whole in %s; want %s and %s", silence, whole, tc.silence, tc.whole)
			}
		})
	}
}
