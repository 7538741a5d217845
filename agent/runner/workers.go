package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/timelimit"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// work runs a call on an idle worker, or on a new one. Workers stay until the run
// ends or stops, because a goroutine whose stack has already grown is cheaper
// than a new one.
func (e *engine) work(do func()) {
	select {
	case e.calling <- do:
		return
	default:
	}
	e.workers.Go(func() {
		for {
			do()
			select {
			case do = <-e.calling:
			case <-e.ctx.Done():
				return
			}
		}
	})
}

// catch turns a panic of a model, a tool or the core into an error. So the journal is
// closed and children end as after any other failure. Defer it.
func (e *engine) catch(err *error) {
	value := recover()
	if value == nil {
		return
	}
	if e.crashed == nil {
		panic(value)
	}
	*err = errors.New("internal error: " + e.crashed(value, debug.Stack()))
}

// ask is Ask of the model; a panic is an error.
func (e *engine) ask(ctx context.Context, r prompt.Request, stream func(text, thinking string)) (reply reply.Reply, err error) {
	defer e.catch(&err)
	return e.model.Ask(ctx, r, stream)
}

// call is Call of the tools; a panic is an error that leaves open what was done.
func (e *engine) call(ctx context.Context, under *call, c plan.ToolCall) (result any, err error) {
	defer e.catch(&err)
	if e.admit != nil {
		end, err := e.admitted(ctx, under, c.Tool)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	return e.tools.Call(ctx, c)
}

// admitted is Admit of the configuration, while the clock of the call stands.
func (e *engine) admitted(ctx context.Context, under *call, t plan.Tool) (end func(), err error) {
	if under.limit != nil {
		defer under.limit.Hold()()
	}
	return e.admit(ctx, t)
}

// preview is Preview of the tools; a panic is an error.
func (e *engine) preview(c plan.ToolCall) (preview plan.ToolPreview, err error) {
	defer e.catch(&err)
	return e.tools.Preview(e.ctx, c)
}

// callModel sends a request to the model and publishes the stream and the reply.
func (e *engine) callModel(ctx context.Context, under *call, c agent.CallModel, w weight) {
	var stream reply.StepStream
	begun := e.now()
	e.foresee(ctx, c, w)
	reply, err := e.ask(ctx, c.Request, func(text, thinking string) {
		e.streams(c.Delta(text, thinking))
		if c.Drafts() {
			for _, step := range stream.Feed(text) {
				e.emit(event.PlanDrafting{Step: step})
			}
		}
	})
	if err == nil {
		e.emit(c.Replied(reply))
		return
	}
	kind, sentence := event.FailureModel, err.Error()
	switch {
	case e.interrupted():
		kind, sentence = event.FailureInterrupted, context.Cause(e.ctx).Error()
	case under.stopped() != nil:
		kind, sentence = event.FailureInterrupted, under.stopped().Error()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		kind, sentence = event.FailureTimeout, tooLong(c.Timeout)
	case errors.Is(err, context.DeadlineExceeded):
		kind = event.FailureTimeout
	case errors.Is(err, prompt.ErrTooLong):
		kind = event.FailureTooLong
	}
	reply.MS = e.since(begun)
	e.emit(c.Failed(kind, sentence, reply))
}

// statusAfter is how long a goal may take to be understood without a note beforehand.
const statusAfter = time.Minute

// warnings are what a session says only once, whichever of its runs comes to it
// first. It is safe for concurrent use.
type warnings struct{ slow atomic.Bool }

// weight is what makes the prompts of a run long, beside the goal.
type weight struct {
	conversation int // bytes of earlier turns
	foreign      int // tools of MCP servers
}

// weight measures the run. Only the owner of the engine calls it.
func (e *engine) weight() weight {
	var w weight
	for _, m := range e.prompting.Conversation {
		w.conversation += len(m.Content)
	}
	for _, t := range e.run.Catalog {
		if !t.Trusted {
			w.foreign++
		}
	}
	return w
}

// foresee reports how long the model will read, if its server can tell. Once a
// session it says beforehand that a goal takes long to be understood.
func (e *engine) foresee(ctx context.Context, c agent.CallModel, w weight) {
	f, err := e.forecast(ctx, c.Request)
	if err != nil || f.Tokens == 0 {
		return // the request itself will say what is wrong
	}
	plans := c.Index == "" && c.Request.Purpose.Phase() > 0
	if wait := f.Reading() + f.Writing(); plans && f.Speed.Known() && wait > statusAfter && e.warnings.slow.CompareAndSwap(false, true) {
		e.emit(event.Note{Level: "info", Text: untrusted.Text(slowly(c.Request, f, wait, w))})
	}
	e.emit(c.Reading(f))
}

// forecast is Forecast of the model; a panic is an error.
func (e *engine) forecast(ctx context.Context, r prompt.Request) (f pace.Forecast, err error) {
	server, ok := e.model.(ModelForecaster)
	if !ok {
		return f, nil
	}
	defer e.catch(&err)
	return server.Forecast(ctx, r)
}

// manyTools is how many tools of MCP servers make a prompt notably longer.
const manyTools = 8

// slowly says how long the model will take to understand a goal, and what would help. That
// is what makes most of the prompt, else a smaller model.
func slowly(r prompt.Request, f pace.Forecast, wait time.Duration, w weight) string {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Content)
	}
	help := "A smaller model would help."
	switch {
	case w.conversation > bytes/2:
		help = "Most of it is the conversation so far: /compact, a new session or a smaller model would help."
	case w.foreign >= manyTools:
		help = fmt.Sprintf("It describes %s of MCP servers: fewer servers or a smaller model would help.", english.Count(w.foreign, "tool"))
	}
	return fmt.Sprintf("%s %s here: understanding the goal will take about %s. %s", r.Model, f.Speed, wait.Round(time.Second), help)
}

// streams publishes streamed output. It drops empty chunks: a model thinks in
// many pieces that a step's output does not show.
func (e *engine) streams(data event.Data) {
	if output, ok := data.(event.StepOutput); ok && output.Chunk == "" {
		return
	}
	e.emit(data)
}

// callTool calls a tool for a step.
func (e *engine) callTool(ctx context.Context, under *call, c agent.CallTool) {
	begun := e.now()
	call := plan.ToolCall{Tool: c.Tool, Args: c.Args, Hashes: c.Hashes, Diff: c.Diff, Command: c.Command, Hold: c.Hold, Paths: c.Paths, Run: e.id, Timeout: c.Timeout}
	if e.publish != nil {
		e.listen(&call, c.Index)
	}
	if !c.Tool.ReadOnly {
		call.Process = func(pid int, start string) {
			e.emit(event.StepProcess{Index: c.Index, Attempt: c.Attempt, PID: pid, Start: start})
		}
	}
	if !c.Tool.Trusted {
		call.Elicit = func(ctx context.Context, q plan.Elicitation) plan.ElicitationAnswer {
			return e.elicit(ctx, under, c.Index, c.Attempt, q)
		}
	}
	var kept plan.Beside
	if keeper, ok := e.journal.(AttachmentStore); ok {
		call.SaveAttachment = func(content []byte, mediaType string) (plan.Attachment, error) {
			a, err := keeper.SaveAttachment(content, mediaType)
			if err == nil && !slices.Contains(kept.Attachments, a) {
				kept.Attachments = append(kept.Attachments, a)
			}
			return a, err
		}
	}
	call.Beside = func(text string) { kept.Text = untrusted.Text(text) }
	result, err := e.acceptAndCall(ctx, under, call)
	if err != nil {
		e.emit(e.toolFailure(ctx, under, c, err, kept.Attachments, e.since(begun)))
		return
	}
	e.emit(event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: result, Beside: kept, MS: e.since(begun)})
}

// acceptAndCall calls a tool. A tool that its server has changed is called only
// after its gate, which has shown all of the change.
func (e *engine) acceptAndCall(ctx context.Context, under *call, call plan.ToolCall) (any, error) {
	if call.Tool.Changed != "" && !call.Tool.TooLong {
		if err := e.tools.Accept(ctx, plan.ServerChange{Server: call.Tool.Server, Tool: call.Tool.Name, Pin: call.Tool.Pin}); err != nil {
			return nil, &plan.ToolError{Tool: call.Tool.QualifiedName(), Message: err.Error()}
		}
	}
	return e.call(ctx, under, call)
}

// listen publishes the output and progress of a running tool.
func (e *engine) listen(call *plan.ToolCall, index string) {
	call.Output = func(chunk string) { e.streams(event.StepOutput{Index: index, Chunk: chunk}) }
	call.Progress = func(done, total float64, message string) {
		e.emit(event.StepProgress{Index: index, Done: done, Total: total, Message: untrusted.Text(message)})
	}
}

func tooLong(limit time.Duration) string {
	return fmt.Sprintf("it took longer than its limit of %s", limit)
}

// overran reports whether a call of a tool failed since its time limit passed, and says
// so. The runner or the tools may notice it first.
func overran(ctx context.Context, err error, limit time.Duration, of string) (string, bool) {
	late, ok := errors.AsType[*plan.TimeoutError](err)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) && (!ok || !late.OfCall) {
		return "", false
	}
	text := tooLong(limit) + ", " + of
	if ok && late.Meanwhile != "" {
		text += "; " + late.Meanwhile
	}
	return text, true
}

// toolFailure returns the event for a failed call. A call that cannot
// be repeated is in doubt unless the tool itself reported the failure.
func (e *engine) toolFailure(ctx context.Context, under *call, c agent.CallTool, err error, files []plan.Attachment, ms int64) event.Data {
	failed := event.StepFailed{
		Index: c.Index, Attempt: c.Attempt, Error: untrusted.Text(err.Error()), Failure: event.FailureTool, Attachments: files, MS: ms,
	}
	var toolError *plan.ToolError
	notDone := errors.As(err, &toolError)
	if notDone {
		failed.Paths = toolError.Paths
		failed.Removes, failed.Outdated = toolError.Removes, untrusted.Text(toolError.Outdated)
	}
	late, passed := overran(ctx, err, c.Timeout, c.Limit)
	switch {
	case notDone && !errors.Is(err, context.Canceled):
		return failed
	case e.interrupted():
		failed.Failure, failed.Error = event.FailureInterrupted, untrusted.Text(context.Cause(e.ctx).Error())
	case under.stopped() != nil:
		failed.Failure, failed.Error = event.FailureInterrupted, untrusted.Text(under.stopped().Error())
	case passed:
		failed.Failure, failed.Error = event.FailureTimeout, untrusted.Text(late)
	case errors.Is(err, context.DeadlineExceeded):
		failed.Failure = event.FailureTimeout // the server's own limit
	}
	if notDone || c.Tool.Repeatable() {
		return failed
	}
	return event.StepInDoubt{Index: c.Index, Attempt: c.Attempt, Reason: failed.Error, MS: ms}
}

// callCheck calls the tool of a check. A run that was stopped evaluates it after a
// resume.
func (e *engine) callCheck(ctx context.Context, under *call, c agent.CallCheck) {
	begun := e.now()
	if c.Timeout > 0 {
		ctx, under.limit = timelimit.New(ctx, c.Timeout)
		defer under.limit.Stop()
	}
	result, err := e.call(ctx, under, plan.ToolCall{Tool: c.Tool, Args: c.Check.Args, Paths: c.Paths, Run: e.id, Timeout: c.Timeout})
	ms := e.since(begun)
	late, passed := overran(ctx, err, c.Timeout, c.Limit)
	var toolError *plan.ToolError
	switch {
	case e.interrupted():
	case err == nil:
		e.emit(c.Returned(result, ms))
	case under.stopped() != nil:
		e.emit(c.Unanswered(under.stopped().Error(), ms))
	case passed:
		e.emit(c.Unanswered(late, ms))
	case errors.As(err, &toolError) && toolError.Paths != nil:
		e.emit(c.Unanswered(err.Error(), ms))
	case errors.As(err, &toolError) && !toolError.NotCalled && !errors.Is(err, context.Canceled):
		e.emit(c.ToolFailed(err.Error(), ms))
	default:
		e.emit(c.Unanswered(err.Error(), ms))
	}
}

// callPlan makes or runs a plan on behalf of a chat model.
func (e *engine) callPlan(ctx context.Context, under *call, c agent.CallPlan) {
	if e.plan == nil {
		e.emit(event.StepFailed{
			Index: c.Index, Attempt: c.Attempt, Failure: event.FailureTool,
			Error: "no plans can be made or run here: call the available tools, or answer",
		})
		return
	}
	e.emit(e.plan(ctx, under, c))
}

// openGate previews the call if the tool supports it. Then it opens the gate,
// after the gate before it. A call that would change nothing passes the gate of a
// built-in rule, and may then change nothing.
func (e *engine) openGate(g agent.OpenGate, before <-chan struct{}) {
	gate := g.Gate
	if g.Tool.Previews || g.Tool.Commands {
		begun := e.now()
		preview, err := e.preview(plan.ToolCall{Tool: g.Tool, Args: gate.Args})
		switch {
		case e.interrupted():
			return
		case err != nil:
			e.after(before)
			e.emit(event.StepFailed{Index: gate.Step, Attempt: g.Attempt, Error: untrusted.Text(err.Error()), Failure: event.FailureTool, Gate: gate.Gate, MS: e.since(begun)})
			return
		}
		gate.Diff, gate.Hashes, gate.Command = preview.Diff, preview.Hashes, preview.Command
		gate.Nothing = preview.Nothing && preview.Hashes != nil && len(preview.Hashes) == 0 && gate.Rule.Source == rule.SourceBuiltIn && !gate.Planned
		if gate.Removes = preview.Removes; gate.Removes != "" {
			gate.Rule = agent.RemovalRule(gate.Tool, gate.Removes)
		}
	}
	if e.offer != nil && !gate.Nothing {
		gate = e.offer(gate, g.Tool)
	}
	e.after(before)
	e.emit(gate)
}

// after waits until the previously requested gate is open. Gates thus open in
// the order of their requests, however long their diffs take.
func (e *engine) after(before <-chan struct{}) {
	if before == nil {
		return
	}
	select {
	case <-before:
	case <-e.ctx.Done():
	}
}

// wake waits and fires the timer.
func (e *engine) wake(w agent.Wake, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		e.emit(event.TimerFired{ID: w.ID})
	case <-e.ctx.Done():
	}
}

// interrupted reports whether the run was stopped, as opposed to slow or broken.
func (e *engine) interrupted() bool { return e.ctx.Err() != nil }

// since returns the wall-clock time elapsed since then, in ms; 0 if the clock was set
// back.
func (e *engine) since(then time.Time) int64 { return max(e.now().Sub(then).Milliseconds(), 0) }
