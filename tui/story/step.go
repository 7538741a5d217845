package story

import (
	"fmt"
	"slices"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plantext"
	"replan/tui/wording"
)

// progressPause is the least time between two entries about the progress of a step.
const progressPause = 2 * time.Second

// steps remembers what was told last of each step, so that nothing is told twice.
type steps struct {
	failure  failure                   // of a step, told last
	attempt  string                    // the attempt whose failure was told last
	polled   map[string]untrusted.Text // what each step waits for
	tenths   map[string]int            // of the items of each step that have ended, by run and step
	progress map[string]progress       // told last, by run and step
	held     heldLines                 // until it is known whether the step is done
}

// failure is the failure of a step.
type failure struct {
	step   string
	reason untrusted.Text
}

// progress is the newest message of a running tool.
type progress struct {
	message string
	at      time.Time
}

// place is where the entries of a step stand.
type place struct {
	step  *agent.StepState // nil if the run has none of this index
	of    *agent.StepState // whose call or item the step is; nil for a call of the chat
	inner bool             // it is a call or an item
	item  bool
	name  string // its index and title
	depth int
}

// placeOf returns the place of a step of the run.
func placeOf(run *agent.Run, index string) place {
	p := place{step: run.Step(index), name: index + " "}
	if p.step == nil {
		return p
	}
	if p.inner = p.step.Parent != ""; !p.inner {
		p.name += p.step.Step.Title.Line()
		return p
	}
	p.of = run.Step(p.step.Parent)
	_, p.item = p.step.Item()
	p.name += wording.InnerTitle(p.step, p.of)
	switch {
	case p.of == nil: // in the chat
	case p.of.Parent != "":
		p.depth = 2
	default:
		p.depth = 1
	}
	return p
}

// tell tells what happened to a step, to a call that a model makes in it, or to one of
// its items.
func (s *steps) tell(at scene, data event.Data) bool {
	switch d := data.(type) {
	case event.StepExpanded:
		s.tellExpanded(at, d)
	case event.StepStarted:
		s.tellStarted(at, d)
	case event.StepCompleted:
		s.tellCompleted(at, d)
	case event.StepFailed:
		s.tellFailed(at, d)
	case event.CheckCompleted:
		s.tellChecked(at, d)
	case event.StepRetry:
		s.tellRetried(at, d)
	case event.StepSkipped:
		s.tellSkipped(at, d)
	case event.StepInDoubt:
		p, why := placeOf(at.run, d.Index), ""
		if !at.hasEnd(d.Reason) {
			why = colon(d.Reason)
		}
		if !s.tellOfMany(at, p, data) {
			at.tell(Lines, Entry{Level: Doubt, Depth: p.depth, Words: p.name + "  in doubt" + why})
		}
		at.tell(Screen|Record|Caller, Entry{Level: Doubt, Words: inDoubtWords(d), doubts: d.Reason})
	case event.StepProgress:
		s.tellProgress(at, d)
	case event.DoubtResolved:
		at.tell(Lines, Entry{Level: Decision, Depth: 1, Words: "step " + d.Step + ": " + wording.OfDoubt(d.Decision).Does + wording.SignedBy(d.By)})
		at.tell(Screen, Entry{Level: Decision, Words: wording.DoubtWords(d) + wording.ByWords(d.By)})
		at.tell(Record, Entry{Level: Decision, Words: wording.DoubtWords(d) + wording.SignedBy(d.By)})
	case event.FailureResolved:
		s.tellDecided(at, d)
	default:
		return false
	}
	return true
}

// releaseHeld tells of the steps of a run that ends before they were checked.
func (s *steps) releaseHeld(at scene) { s.held.releaseRun(at) }

// colon returns a reason for use after the statement it explains.
func colon(reason untrusted.Text) string {
	why := reason.Line()
	if why == "" {
		return ""
	}
	return ": " + why
}

// attempt counts the attempts of a step from the second on.
func attempt(number int) string {
	if number < 2 {
		return ""
	}
	return fmt.Sprintf(", attempt %d", number)
}

// tellExpanded tells that a step begins with its items.
func (s *steps) tellExpanded(at scene, d event.StepExpanded) {
	at.tell(Client, Entry{Brief: d.Title.Line() + ": " + english.Count(len(d.Items), "item")})
	step := at.run.Step(d.Index)
	if step == nil {
		return
	}
	words := english.Count(len(d.Items), "item")
	if done := step.EndedItems(); done > 0 {
		words += fmt.Sprintf(", %d done before", done)
	}
	at.tell(Lines, Entry{
		Level: Started, Words: d.Index + " " + step.Step.Title.Line(),
		Facts: []string{"[" + plantext.Executor(step.Step.Executor, step.Step.Tool) + "]" + attempt(d.Attempt), words},
	})
}

// tellStarted tells that a step or a call begins, but not the further calls of a step that
// waits.
func (s *steps) tellStarted(at scene, d event.StepStarted) {
	if d.Parent == "" {
		at.tell(Client, Entry{Brief: d.Title.Line()})
	}
	at.tell(Caller, Entry{Kind: Call, Words: d.Title.Line()})
	granted := Entry{Kind: Granted, Level: Info, Words: grantedWords(at.run, d), Event: d}
	if wording.CarriesUntrustedText(d.Provenance, at.run.Catalog) {
		granted.Level = Warn // no user sees the call
	}
	if granted.Words != "" {
		at.tell(Screen, granted)
	}
	p := placeOf(at.run, d.Index)
	if s.tellOfMany(at, p, d) || p.step != nil && p.step.Polls > 0 {
		return
	}
	if p.inner {
		at.tell(Lines, Entry{Kind: Call, Level: Started, Depth: p.depth, Words: p.name, Args: d.Args})
	} else {
		at.tell(Lines, Entry{
			Level: Begins, Words: d.Index + " " + d.Title.Line(),
			Facts: []string{"[" + plantext.Executor(d.Executor, d.Tool) + "]" + attempt(d.Attempt)},
		})
	}
	for _, c := range d.Coerced {
		at.tell(Lines, Entry{Level: Info, Depth: p.depth + 1, Words: fmt.Sprintf("fitted to the tool's %ss: %s", c.Differs(), untrusted.Line(c.String()))})
	}
	if granted.Depth = p.depth + 1; granted.Words != "" {
		at.tell(Lines, granted)
	}
}

// tellCompleted tells the end of a call. A step that waits is told by what it waits for.
func (s *steps) tellCompleted(at scene, d event.StepCompleted) {
	at.tell(Client, Entry{Brief: brief(at.run, d.Index)})
	at.event(Caller, d, Entry{Kind: Returned, Level: Done, Words: wording.ResultWords(d.Result)})
	if d.DryRun && d.Gate != nil {
		at.tell(Screen, Entry{Level: Asks, Words: fmt.Sprintf("step %s %s: %s", d.Index, wording.WouldWords(*d.Gate), wording.RuleReason(*d.Gate))})
	}
	p, took := placeOf(at.run, d.Index), wording.Milliseconds(d.MS)
	done := Entry{Level: Done, Depth: p.depth, Words: p.name, Facts: []string{took}}
	switch {
	case s.tellOfMany(at, p, d):
		return
	case d.DryRun && p.inner && !p.item:
		at.tell(Lines, Entry{Depth: p.depth, Words: p.name + "  dry run: not called"})
		return
	case d.DryRun:
		at.tell(Lines, Entry{Kind: Dry, Level: Would, Depth: p.depth, Words: p.name, Args: d.Args, Step: p.step, Event: d})
		return
	case p.inner && p.step.Step.Until != nil, p.step != nil && p.step.Step.Until != nil && p.step.Step.ForEach == nil:
		return // what it waits for has an entry of its own
	case p.inner:
		if why := wording.Fruitless(p.step).Visible(); why != "" {
			done.Level, done.Detail = Failed, why
		}
	case p.step != nil && p.step.Items != nil:
		done.Facts = []string{wording.ItemsWords(p.step), took}
	default:
		done.Kind = Found
		if words := wording.ResultWords(d.Result); words != "" {
			done.Facts = append(done.Facts, words)
		}
	}
	if !s.held.begin(at, d.Index, done) {
		at.tell(Lines, done)
	}
}

// brief returns the title of a step of the plan, "" of a call. An item gives that of its
// step and how many have ended, once for each percent of them.
func brief(run *agent.Run, index string) string {
	p := placeOf(run, index)
	switch {
	case p.step == nil:
		return ""
	case !p.inner:
		return p.step.Step.Title.Line()
	case !p.item || p.of == nil:
		return ""
	}
	if ended, all := p.of.EndedItems(), len(p.of.Items); ended*100/all > (ended-1)*100/all {
		return p.of.Step.Title.Line() + ": " + wording.ItemsWords(p.of)
	}
	return ""
}

// tellFailed tells that a step failed. The screen asks what to do about it, so the chat
// tells it with the answer, or if the run passes over it.
func (s *steps) tellFailed(at scene, d event.StepFailed) {
	at.tell(Client, Entry{Brief: brief(at.run, d.Index)})
	if q := at.run.Questions(); at.isRead(Replay) && len(q) > 0 && q[0].Step == d.Index {
		s.tellFailure(at, d.Index, d.Error)
	}
	p := placeOf(at.run, d.Index)
	if p.step != nil && at.run.PassesOver(p.step) {
		s.tellFailure(at, d.Index, d.Error)
	}
	switch {
	case d.Removes != "":
		at.tell(Record, Entry{Level: Asks, Words: "step " + untrusted.Line(d.Index) + " was held: it " + untrusted.Line(d.Removes)})
		s.tellOfMany(at, p, d)
		return // its gate reports the reason
	case d.Outdated != "":
		at.tell(Record, Entry{Level: Asks, Words: "step " + untrusted.Line(d.Index) + " was held: " + d.Outdated.Line()})
		s.tellOfMany(at, p, d)
		return
	}
	if p.step != nil && wording.IsDeclined(p.step) {
		s.tellDeclined(at, p, d)
		return
	}
	at.tell(Record|Caller, Entry{Kind: Failure, Level: Failed, Words: wording.FailedWords(d.Index, d.Failure, d.Error), fails: d.Error})
	if s.tellOfMany(at, p, d) {
		return
	}
	failed := Entry{Level: Failed, Depth: p.depth, Words: p.name, Facts: []string{wording.Milliseconds(d.MS)}, fails: d.Error}
	if d.Error != plan.DeniedAtGate && !at.hasEnd(d.Error) { // else its gate or the end of the run has just said it
		failed.Detail = d.Error.Visible()
	}
	at.tell(Lines, failed)
	s.held.release(at, d.Index, false)
}

// tellDeclined tells that the user said no to the call of a step. The answer at its gate has told
// it to all who are told of answers.
func (s *steps) tellDeclined(at scene, p place, d event.StepFailed) {
	at.tell(Caller, Entry{Kind: Failure, Level: Declined, Words: wording.StepWords(d.Index) + " was declined", fails: d.Error})
	if !s.tellOfMany(at, p, d) {
		at.tell(Lines, Entry{Level: Declined, Depth: p.depth, Words: p.name, Facts: []string{"declined"}, fails: d.Error})
	}
}

// tellFailure tells once that an attempt of a step failed.
func (s *steps) tellFailure(at scene, index string, reason untrusted.Text) {
	if !at.isRead(Screen) || s.attempt == attemptOf(at.run, index) {
		return
	}
	s.attempt = attemptOf(at.run, index)
	kind := event.FailureKind("")
	if step := at.run.Step(index); step != nil {
		if wording.IsDeclined(step) {
			return // the answer at its gate said it
		}
		kind = step.Failure
	}
	words := wording.FailedWords(index, kind, reason)
	if now := (failure{index, reason}); now == s.failure {
		words = wording.StepWords(index) + " failed again, for the same reason"
	} else {
		s.failure = now
	}
	at.tell(Screen, Entry{Kind: Failure, Level: Failed, Words: words, fails: reason})
}

// attemptOf names the current attempt of a step.
func attemptOf(run *agent.Run, index string) string {
	if step := run.Step(index); step != nil {
		return fmt.Sprintf("%s attempt %d", index, step.Attempt)
	}
	return index
}

// tellDecided tells how the run continues after a failed step.
func (s *steps) tellDecided(at scene, d event.FailureResolved) {
	switch {
	case at.before.failure == "":
	case endsRun(at.run, d) && s.attempt != attemptOf(at.run, d.Step):
		s.failure = failure{} // the outcome says it
		at.forgetFailure()
	default:
		s.tellFailure(at, d.Step, at.before.failure)
	}
	at.tell(Screen, Entry{Level: Decision, Words: wording.FailureWords(d) + wording.ByWords(d.By)})
	at.tell(Record, Entry{Level: Decision, Words: wording.FailureWords(d) + wording.SignedBy(d.By)})
	if step := at.run.Step(d.Step); step != nil && step.Error == plan.DeniedAtGate && d.Decision == event.FailureAbort {
		return // the answer at the gate said it
	}
	at.tell(Lines, Entry{Level: Decision, Depth: 1, Words: "step " + d.Step + ": " + wording.OfFailure(d.Decision).Does + wording.SignedBy(d.By), Args: d.Args})
}

// endsRun reports whether the user ended the run at a failed step, so that the outcome says
// why it failed.
func endsRun(run *agent.Run, d event.FailureResolved) bool {
	step := run.Step(d.Step)
	return d.Decision == event.FailureAbort && step != nil && step.Failure != event.FailureDenied && step.Failure != event.FailureInterrupted
}

// tellChecked tells what a check found. To the chat, a refuted one of the plan's acceptance
// is the reason of the replan, or of the end of the run.
func (s *steps) tellChecked(at scene, d event.CheckCompleted) {
	e := Entry{Words: checkedWords(d)}
	switch d.State {
	case plan.StateVerified:
		e.Level = Done
	case plan.StateRefuted:
		e.Level = Failed
	default:
		e.Level = Info
	}
	if d.Index == "" {
		e.Kind = Accepted
		to := Lines
		if d.State == plan.StateVerified || d.State == plan.StateUnchecked {
			to |= Screen
		}
		at.tell(to, e)
		return
	}
	p := placeOf(at.run, d.Index)
	if s.tellOfMany(at, p, d) {
		return
	}
	if e.Depth = p.depth + 1; p.inner {
		e.Words = d.Index + " " + e.Words // other items may have ended since its own line
	}
	if !s.held.add(at, d.Index, e) {
		at.tell(Lines, e)
	}
}

// tellRetried tells that a step is tried again, or what it waits for, each state of it once.
func (s *steps) tellRetried(at scene, d event.StepRetry) {
	step := at.run.Step(d.Index)
	name := d.Index + " "
	if step != nil {
		name += step.Step.Title.Line()
	}
	if step == nil || step.Polls == 0 {
		at.tell(Lines, Entry{Level: Again, Words: name + "  again"})
		return
	}
	if s.polled[d.Index] != d.Error {
		s.polled[d.Index] = d.Error
		at.tell(Lines, Entry{Level: Info, Depth: 1, Words: name + "  " + d.Error.Line()})
	}
}

// tellSkipped tells that a step was left out.
func (s *steps) tellSkipped(at scene, d event.StepSkipped) {
	at.tell(Client, Entry{Brief: brief(at.run, d.Index)})
	p, why := placeOf(at.run, d.Index), "skipped: "+d.Reason.Line()
	if s.tellOfMany(at, p, d) {
		return
	}
	if p.step != nil && (p.inner || p.step.NotTaken) {
		why = p.step.Error.Line()
	}
	at.tell(Lines, Entry{Level: Skipped, Depth: p.depth, Words: p.name + "  " + why})
}

// tellProgress tells a new message of a running tool, from time to time.
func (s *steps) tellProgress(at scene, d event.StepProgress) {
	key := at.run.ID + " " + d.Index
	message, last := d.Message.FirstLine(), s.progress[key]
	if message == "" || message == last.message || at.run.Now.Sub(last.at) < progressPause {
		return
	}
	s.progress[key] = progress{message, at.run.Now}
	e := Entry{Kind: Progress, Depth: 1, Words: d.Index + " " + message}
	if d.Total > 0 {
		e.Facts = []string{fmt.Sprintf("%.0f%%", 100*max(min(d.Done/d.Total, 1), 0))}
	}
	at.tell(Lines, e)
}

// tellOfMany tells the progress of a long list, in tenths. It reports whether the event
// needs no entry of its own; a failure or a doubt does.
func (s *steps) tellOfMany(at scene, p place, data event.Data) bool {
	const dryShown = 10
	if !p.item || p.of == nil || len(p.of.Items) <= plan.DefaultMax {
		return false
	}
	key, tenth := at.run.ID+" "+p.of.Step.Index, 10*p.of.EndedItems()/len(p.of.Items)
	if tenth != s.tenths[key] && tenth != 10 && !p.step.DryRun {
		s.tenths[key] = tenth
		at.tell(Lines, Entry{Level: Info, Depth: 1, Words: p.of.Step.Index + " " + wording.ItemsWords(p.of)})
	}
	switch d := data.(type) {
	case event.StepStarted, event.StepSkipped:
		return true
	case event.CheckCompleted:
		return d.State == plan.StateVerified
	case event.StepCompleted:
		n := slices.Index(p.of.Items, p.step)
		if d.DryRun && n == dryShown {
			at.tell(Lines, Entry{Level: Info, Depth: 1, Words: "and " + english.Count(len(p.of.Items)-dryShown, "item") + " more"})
		}
		return !d.DryRun || n >= dryShown
	default:
		return false
	}
}
