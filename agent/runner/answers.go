package runner

import (
	"cmp"
	"errors"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// byUser marks an answer as given by the user.
const byUser = "user"

// answers passes what the user answers to the run that asked.
type answers struct {
	events     *publisher
	background *background
	runs       *runs
	rules      *rulebook
	browse     func(url string) error // opens a page; nil if there is no browser
}

// give passes on an answer. It does nothing if the question is not open any more.
func (a *answers) give(c session.Command) {
	switch c := c.(type) {
	case session.Resolve:
		a.resolve(c)
	case session.Edit:
		a.edit(c)
	case session.Review:
		a.review(c)
	case session.AnswerElicitation:
		a.elicitation(c)
	case session.ResolveDoubt:
		if e := a.runs.find(c.Run); e != nil && e.asks(c.Step, true) {
			a.runs.apply(e, event.DoubtResolved{Step: c.Step, Decision: c.Decision, By: cmp.Or(c.By, byUser)})
		}
	}
}

// resolve answers an open gate.
func (a *answers) resolve(c session.Resolve) {
	e := a.runs.find(c.Run)
	if e == nil || !e.open(c.Gate, c.Call) {
		return
	}
	resolved := event.GateResolved{Gate: c.Gate, Call: c.Call, Decision: c.Decision, Scope: cmp.Or(c.Scope, event.ScopeOnce), By: cmp.Or(c.By, byUser)}
	if c.Decision == event.Deny {
		resolved.Reason = untrusted.Text(strings.TrimSpace(c.Reason))
	}
	gate := e.gate(c.Gate)
	switch resolved.Scope {
	case event.ScopeRun:
		if _, why := gate.ForRun(); why != "" {
			resolved.Scope = event.ScopeOnce
		}
	case event.ScopeAlways:
		if !a.remember(gate.Always, string(gate.NoAlways), &resolved) {
			return
		}
	case event.ScopeTool:
		resolved.Scope = event.ScopeAlways
		if !a.remember(gate.AlwaysTool, string(gate.NoAlways), &resolved) {
			return
		}
	}
	a.runs.apply(e, append([]event.Data{resolved}, e.released(resolved)...)...)
}

// remember saves the rule that a gate offers, exactly as shown, and records it in
// the answer. If saving fails, the permission for this one call stands. remember
// reports whether the gate is answered at all: the user cannot
// have agreed to a rule that was not displayed.
func (a *answers) remember(offered *event.Always, without string, resolved *event.GateResolved) bool {
	if offered == nil || resolved.Decision != event.Allow {
		a.events.note("warn", "no rule can be saved for this call: "+without)
		return false
	}
	if err := a.rules.add(*offered); err != nil {
		resolved.Scope = event.ScopeOnce
		a.events.note("error", "this call passes once, because the rule is not kept: "+err.Error())
		return true
	}
	saved := offered.Rule
	resolved.Rule = &saved
	return true
}

// edit replaces the arguments at an open gate if they fit the tool.
func (a *answers) edit(c session.Edit) {
	e := a.runs.find(c.Run)
	if e == nil || !e.open(c.Gate, c.Call) {
		return
	}
	if err := e.checkArgs(c.Gate, c.Args); err != nil {
		a.events.note("warn", "the call stays as it was: "+err.Error())
		return
	}
	a.runs.apply(e, event.GateResolved{Gate: c.Gate, Call: c.Call, Decision: event.Edit, Scope: event.ScopeOnce, By: cmp.Or(c.By, byUser), Args: c.Args})
}

// review answers a held plan. If the answer is no valid plan, all its problems
// are reported and the plan stays held.
func (a *answers) review(c session.Review) {
	e := a.runs.find(c.Run)
	if e == nil || !e.awaitsReview() {
		return
	}
	reviewed, err := e.reviewed(c)
	if err != nil {
		a.events.note("warn", "the plan still waits for review: "+err.Error())
		return
	}
	a.runs.apply(e, reviewed)
}

// decide says how to continue after a failed step. It returns the decision if the run has
// ended, so that it has to be resumed for it.
func (a *answers) decide(c session.ResolveFailure) (decision *event.FailureResolved, ended bool) {
	decision = &event.FailureResolved{Step: c.Step, Decision: c.Decision, Args: c.Args, By: cmp.Or(c.By, byUser)}
	e := a.runs.find(c.Run)
	switch {
	case e == nil || e.over():
		return decision, c.Decision != event.FailureAbort // which is how it ended already
	case e.asks(c.Step, false):
		a.runs.apply(e, *decision)
	}
	return nil, false
}

// elicitation passes the answer to a question of a server to its call. It opens the page
// of an accepted question for one.
func (a *answers) elicitation(c session.AnswerElicitation) {
	e := a.runs.find(c.Run)
	if e == nil {
		return
	}
	question, answered, err := e.answerElicitation(c.ID, plan.ElicitationAnswer{Action: c.Action, Content: c.Content}, cmp.Or(c.By, byUser))
	if err != nil {
		a.events.note("warn", "the answer was not sent: "+err.Error())
	}
	if !answered {
		return
	}
	a.runs.settle(e)
	if c.Action == plan.ElicitationAccept && question.URL != "" {
		a.openPage(question.URL)
	}
}

// openPage opens a web page, or tells the user to.
func (a *answers) openPage(url string) {
	a.background.run(func() func() {
		err := errors.New("no browser is known here")
		if a.browse != nil {
			err = a.browse(url)
		}
		if err != nil {
			a.background.publishLater(event.Note{Level: "warn", Text: untrusted.Text("open the page yourself: " + url + " (" + err.Error() + ")")})
		}
		return nil
	})
}
