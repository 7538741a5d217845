package runner

import (
	"time"

	"replan/agent/event"
)

// account tracks how much of its limits a session has used.
type account struct {
	each   event.Limits        // of each run
	limits event.SessionLimits // of all runs together
	used   event.Usage         // by finished runs, except those that another run counts
	ms     int64               // duration of those runs
}

// spend charges the usage of a run to the session's budget.
func (a *account) spend(used event.Usage, ms int64) {
	a.used.PromptTokens += used.PromptTokens
	a.used.CompletionTokens += used.CompletionTokens
	a.used.ToolCalls += used.ToolCalls
	a.ms += ms
}

// lease returns the limits of a new run, and which limit of the session is used up; ""
// is none.
func (a *account) lease() (leased event.Limits, spent string) {
	return a.limits.Lease(a.each, a.used, event.Usage{}, a.ms, 0)
}

// spent returns which limit of the session is used up, "" for none.
func (a *account) spent() string {
	_, spent := a.lease()
	return spent
}

// leaseAgain bounds the limits of a run that is resumed. own and elapsed are what it has
// used so far, which does not count against the session.
func (a *account) leaseAgain(limits event.Limits, own event.Usage, elapsed time.Duration) event.Limits {
	leased, _ := a.limits.Lease(limits, a.used, own, a.ms, elapsed.Milliseconds())
	return leased
}

// leaseInner bounds the limits of an inner run by what the current runs have left of the
// session's. own is the inner run's usage so far, which does not count against the session.
func (a *account) leaseInner(limits event.Limits, own, current event.Usage, elapsed time.Duration) (leased event.Limits, spent string) {
	all := account{used: a.used, ms: a.ms}
	all.spend(current, elapsed.Milliseconds())
	return a.limits.Lease(limits, all.used, own, all.ms, 0)
}

// replay charges what an earlier process of the session has used, as journaled.
func (a *account) replay(data event.Data) {
	switch d := data.(type) {
	case event.ChatReply:
		if d.Usage != nil {
			a.spend(*d.Usage, d.MS)
		}
	case event.ChatSide:
		a.spend(d.Usage, d.MS)
	case event.ChatCompacted:
		if !d.Undone {
			a.spend(event.Usage{PromptTokens: d.Tokens}, 0)
		}
	}
}

// ofPlan returns the limits of a run whose plan is given. Its steps are
// unbounded, unless the bound is one that does not grow.
func ofPlan(l event.Limits) event.Limits {
	if l.GrowSteps {
		l.MaxSteps = 0
	}
	return l
}
