package pace

import (
	"cmp"
	"strconv"
	"time"

	"replan/planning/reply"
)

// Speed is how fast a model works on its server, in tokens a second. A figure of 0
// was not measured yet.
type Speed struct {
	Read  float64 `json:"read,omitempty"`  // of prompts
	Write float64 `json:"write,omitempty"` // of replies
}

// What is measured, and how fast an estimate follows.
const (
	leastRead    = 64   // tokens; reading fewer takes as long as everything around it
	leastWritten = 2    // tokens
	rise         = 1.25 // the most by which one reply raises the speed of reading
	slowReads    = 4    // times as fast as it writes, a machine without a graphics card reads
)

// Learn returns the speed as known after a reply. It is pure, so that a folded run
// learns the same again.
//
// A server counts the part of a prompt that it remembered as read, but it took no time.
// The speed of reading lies between that of the part which was surely new and that of the
// whole prompt. Learn moves the estimate into these bounds. It goes down at once, since
// time limits depend on it, and up in steps, since a fast reply may come from an unknown
// cache.
func (s Speed) Learn(r reply.Reply) Speed {
	if seconds := float64(r.WriteMS) / 1000; seconds > 0 && r.CompletionTokens >= leastWritten {
		now := float64(r.CompletionTokens) / seconds
		s.Write = (cmp.Or(s.Write, now) + now) / 2
	}
	seconds := float64(r.PromptMS) / 1000
	if seconds <= 0 || r.PromptTokens < leastRead {
		return s
	}
	slowest, fastest := float64(r.PromptTokens-r.CachedTokens)/seconds, float64(r.PromptTokens)/seconds
	switch {
	case r.PromptTokens-r.CachedTokens >= leastRead:
		s.Read = min(max(s.Read, min(slowest, cmp.Or(s.Read*rise, slowest))), fastest)
	case s.Read == 0 && fastest <= s.Write*slowReads:
		s.Read = fastest // too slow for a prompt that was remembered
	}
	return s
}

// String says both figures, as far as they are known: "reads 25, writes 12 tokens a
// second".
func (s Speed) String() string {
	switch {
	case s.Read <= 0 && s.Write <= 0:
		return ""
	case s.Write <= 0:
		return "reads " + rate(s.Read) + " tokens a second"
	case s.Read <= 0:
		return "writes " + rate(s.Write) + " tokens a second"
	default:
		return "reads " + rate(s.Read) + ", writes " + rate(s.Write) + " tokens a second"
	}
}

// rate writes tokens a second; those of slow machines with a decimal.
func rate(perSecond float64) string {
	if perSecond < 10 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64)
	}
	return strconv.Itoa(int(perSecond + 0.5))
}

// Known reports whether both figures were measured.
func (s Speed) Known() bool { return s.Read > 0 && s.Write > 0 }

// Forecast is how long a request should take, by what was measured of its model
// before.
type Forecast struct {
	Tokens int   `json:"tokens"`           // of the prompt, estimated
	Cached int   `json:"cached,omitempty"` // of these, that the server should remember from the request before
	Reply  int   `json:"reply,omitempty"`  // tokens that replies to such requests usually have
	Speed  Speed `json:"speed,omitzero"`   // of the model
}

// New is how many tokens of the prompt the server has to read.
func (f Forecast) New() int { return max(f.Tokens-f.Cached, 0) }

// Reading is how long the server should read the prompt; 0 if that is not known.
func (f Forecast) Reading() time.Duration { return f.Speed.reading(f.New()) }

// Writing is how long the model should write its reply; 0 if that is not known.
func (f Forecast) Writing() time.Duration { return f.Speed.writing(f.Reply) }

func (s Speed) reading(tokens int) time.Duration { return span(tokens, s.Read) }
func (s Speed) writing(tokens int) time.Duration { return span(tokens, s.Write) }

// span is how long tokens take at a rate; 0 if the rate is not known.
func span(tokens int, rate float64) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(tokens) / rate * float64(time.Second))
}

// Limits of requests for which no limit is set.
const (
	// LeastLimit is the shortest limit, however fast the machine is.
	LeastLimit = 2 * time.Minute
	// leastUnmeasured is the shortest time until the first word before anything was
	// measured. The model may have to be read from a slow disk first.
	leastUnmeasured = 10 * time.Minute
	slack           = 3 // times the expected time
)

// unmeasured is the speed of the slowest machine that anybody may use. It stands
// for what was not measured yet.
var unmeasured = Speed{Read: 10, Write: 3}

// Limits returns time limits for a request: how long nothing may come, and how long
// the whole request may take. Both are three times what it should take, at least
// [LeastLimit]. They count on no cache, and on a reply of longest tokens, the most
// that the request allows. held says that a reply may come in one piece, as a call
// does.
func (f Forecast) Limits(longest int, held bool) (silence, whole time.Duration) {
	speed, least := Speed{cmp.Or(f.Speed.Read, unmeasured.Read), cmp.Or(f.Speed.Write, unmeasured.Write)}, LeastLimit
	if f.Speed.Read == 0 {
		least = leastUnmeasured
	}
	reading, writing := speed.reading(f.Tokens), speed.writing(longest)
	silence = reading
	if held {
		silence += writing
	}
	return max(least, slack*silence), max(least, slack*(reading+writing))
}
