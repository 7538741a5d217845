package wording

import (
	"fmt"
	"slices"
	"time"

	"replan/agent"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/prompt"
)

// Open returns the newest request of a run that has no reply yet, nil if there is
// none.
func Open(r *agent.Run) *agent.Exchange {
	for _, x := range slices.Backward(r.Exchanges) {
		if !x.Done {
			return x
		}
	}
	return nil
}

// OpenFor returns the newest request for a step that has no reply yet, nil if there
// is none.
func OpenFor(r *agent.Run, s *agent.StepState) *agent.Exchange {
	for _, x := range slices.Backward(r.Exchanges) {
		if !x.Done && x.Step == s.Step.Index {
			return x
		}
	}
	return nil
}

// Reading says how far the model has read the prompt of a request: "40 % of 1,900
// tokens, 48 s left". It returns "" if the length is unknown.
func Reading(x *agent.Exchange, now time.Time) string {
	if x == nil || x.ReadingAt.IsZero() || x.Forecast.New() == 0 {
		return ""
	}
	elapsed, expected := max(now.Sub(x.ReadingAt), 0), x.Forecast.Reading()
	switch {
	case expected == 0:
		return "about " + RoundTokens(x.Forecast.New())
	case elapsed >= expected:
		return RoundTokens(x.Forecast.New()) + ", longer than the expected " + span(expected)
	default:
		return fmt.Sprintf("%d %% of %s, %s left", int(100*elapsed/expected), RoundTokens(x.Forecast.New()), span(expected-elapsed))
	}
}

// ReadingUnseen is Reading for a request whose reply does not show while it comes:
// once the prompt should have been read, it returns "".
func ReadingUnseen(x *agent.Exchange, now time.Time) string {
	if x == nil || now.Sub(x.ReadingAt) >= x.Forecast.Reading() {
		return ""
	}
	return Reading(x, now)
}

// ReadingOf is Reading for the newest open request of a run, "" once its reply
// comes.
func ReadingOf(r *agent.Run, now time.Time) string {
	x := Open(r)
	silent := false // the reply would show
	switch {
	case x == nil:
	case x.Step == "" && x.Purpose.Phase() > 0:
		p := r.Phases[x.Purpose.Phase()-1]
		silent = p.Text == "" && p.Thinking == ""
	case x.Purpose == prompt.PurposeReplan && r.Replanning != nil:
		silent = r.Replanning.Text == "" && r.Replanning.Thinking == ""
	case x.Purpose == prompt.PurposeSynthesis, x.Purpose == prompt.PurposeChat:
		silent = r.Synthesis.Text == "" && r.Synthesis.Thinking == ""
	}
	if silent {
		return Reading(x, now)
	}
	return ReadingUnseen(x, now)
}

// WillRead says what a model begins to read, and how long that should take: "coder
// reads about 1,900 tokens, about 1 min 16 s". It returns "" if that is too short to
// notice.
func WillRead(model string, f pace.Forecast) string {
	const noticed = 10 * time.Second
	words := untrusted.Line(model) + " reads about " + RoundTokens(f.New())
	switch expected := f.Reading(); {
	case expected == 0 && f.New() > 0:
		return words
	case expected < noticed:
		return ""
	default:
		return words + ", about " + span(expected)
	}
}

// RoundTokens writes an estimated number of tokens: 90 tokens, 1,900 tokens.
func RoundTokens(n int) string {
	switch {
	case n < 100:
		return fmt.Sprintf("%d tokens", n)
	case n < 1000:
		return fmt.Sprintf("%d tokens", (n+5)/10*10)
	default:
		n = (n + 50) / 100 * 100
		return fmt.Sprintf("%d,%03d tokens", n/1000, n%1000)
	}
}

// span writes a time to wait: 48 s, 1 min 20 s.
func span(d time.Duration) string {
	s := int((d + time.Second - 1) / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}
