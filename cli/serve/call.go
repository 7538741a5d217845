package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/plantool"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/plain"
	"replan/tui/story"
)

// call is one call that plans or runs, with its session. It outlives the request
// that started it where the client asks its user between two requests.
type call struct {
	server  *Server
	session Session
	tool    string
	ending  sync.Once
	watched chan struct{} // closed when all events were read
	over    chan struct{} // closed when the session has answered, or ended without an answer
	news    chan struct{} // has a value when gates opened or closed

	mu           sync.Mutex
	runs         map[string]*clientRun // as they stand
	mainRun      string                // the run that the call started or resumes; "" before it
	lastEarlier  map[string]uint64     // by run: the last event of an earlier session
	gates        []gate                // open, in the order in which they opened
	gateTexts    map[string]string     // of the gates, by [gateID]
	denied       []denial
	reply        *event.ChatReply // nil until the session has answered
	report       func(progress)   // nil while no request waits
	lastReported float64          // progress that was reported
}

// clientRun is a run of a call, with what it tells the client.
type clientRun struct {
	run   *agent.Run
	story *story.Story
}

// progress is what a client learns of a run in progress.
type progress struct {
	done    float64 // increases with every report
	total   int     // steps; 0 while there is no plan
	message string
}

// Errors of calls that end early.
var (
	errStopped = errors.New("the call was stopped")
	errClosed  = errors.New("replan serve is stopping")
	errTooLate = errors.New("the answer came too late: the run was stopped, and run_resume continues it")
)

// newCall returns a call of a tool, which a session carries out.
func newCall(s *Server, of Session, tool string, report func(progress)) *call {
	return &call{
		server: s, session: of, tool: tool, watched: make(chan struct{}), over: make(chan struct{}), news: make(chan struct{}, 1),
		runs: map[string]*clientRun{}, lastEarlier: map[string]uint64{}, gateTexts: map[string]string{},
		report: report,
	}
}

// begin has the session carry out a command, and answers the request.
func (c *call) begin(ctx context.Context, first session.Command) (*mcp.CallToolResult, error) {
	go c.watch()
	c.session.Send(first)
	return c.wait(ctx)
}

// end stops the run, if it has not ended, and waits for its children.
func (c *call) end() {
	c.ending.Do(func() {
		c.session.Close()
		<-c.watched
		c.server.release()
	})
}

// wait answers a request: with the result of the call, or with questions for the
// user of a client that asks them between two requests. The end of ctx ends the
// run.
func (c *call) wait(ctx context.Context) (*mcp.CallToolResult, error) {
	defer c.tell(nil)
	var questions sync.WaitGroup
	defer questions.Wait()
	questionCtx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan answer, 1)
	way, asking := c.server.askWay(ctx), false
	for {
		select {
		case <-c.over:
			c.end()
			return c.result()
		case <-ctx.Done():
			c.end()
			return refused(errStopped), nil
		case a := <-answers:
			if ctx.Err() != nil {
				continue // the question ended with the call: this is no denial
			}
			asking = false
			c.resolve(a)
		case <-c.news:
		}
		open := c.open()
		switch {
		case len(open) == 0 || asking || c.server.answered() != "":
		case way == asksNever:
			for _, g := range open {
				c.resolve(answer{gate: g, decision: event.Deny, by: noUser})
			}
		case way == asksBetween:
			return c.park(open), nil
		default:
			asking = true
			questions.Go(func() { answers <- c.server.ask(questionCtx, open[0]) })
		}
	}
}

// tell sets who learns of the progress.
func (c *call) tell(report func(progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = report
}

// open returns the open gates.
func (c *call) open() []gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.gates)
}

// resolve answers a gate. A gate that is closed already stays so.
func (c *call) resolve(a answer) {
	c.mu.Lock()
	c.gates = slices.DeleteFunc(c.gates, func(g gate) bool { return g.id() == a.gate.id() })
	c.mu.Unlock()
	c.session.Send(session.Resolve{Run: a.gate.run, Gate: a.gate.Gate, Call: a.gate.Call, Decision: a.decision, Scope: a.scope, By: a.by, Reason: a.reason})
}

// watch reads the events of the session until it ends.
func (c *call) watch() {
	defer close(c.watched)
	for e := range c.session.Events() {
		c.observe(e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered(event.ChatReply{Run: c.mainRun, Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Text: untrusted.Text(errStopped.Error())})
}

// answered takes the session's answer. Later ones do not count.
func (c *call) answered(reply event.ChatReply) {
	if c.reply == nil {
		c.reply = &reply
		close(c.over)
	}
}

// observe takes one event.
func (c *call) observe(e event.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch d := e.Data.(type) {
	case session.Resuming:
		c.lastEarlier[d.Run] = d.Upto
	case session.Returned:
		c.answered(event.ChatReply{Status: event.StatusFailed, Text: d.Reason})
	case event.ChatReply:
		c.answered(d)
	case event.Note: // such as a server that failed
		c.server.logger().Info("note of a served call", "text", d.Text.Line())
	case event.RunStarted:
		c.follow(e.Run)
	}
	run := c.runs[e.Run]
	if run == nil { // an event of the session itself
		return
	}
	entries, err := run.story.Apply(e)
	if err != nil {
		c.server.logger().Error("follow the events of a run", "run", e.Run, "error", err)
		return
	}
	earlier := e.Seq <= c.lastEarlier[e.Run] // from an earlier life of the run
	for _, entry := range entries {
		c.takeEntry(e.Run, entry, earlier)
	}
	if !earlier {
		c.refresh(e.Run, run.run)
	}
}

// follow begins to follow a run.
func (c *call) follow(id string) {
	run := &clientRun{agent.NewRun(nil), story.New(story.Client|story.Asked, story.NewOnce())}
	run.story.Follow(run.run, c.mainRun != "")
	c.runs[id] = run
	if c.mainRun == "" {
		c.mainRun = id
	}
}

// refresh updates the open gates of a run.
func (c *call) refresh(id string, run *agent.Run) {
	before := len(c.gates)
	c.gates = slices.DeleteFunc(c.gates, func(g gate) bool {
		return g.run == id && !slices.ContainsFunc(run.Gates, func(open *agent.Gate) bool { return open.Gate == g.Gate })
	})
	changed := len(c.gates) != before
	for _, open := range run.Gates {
		key := gateID(id, open.Gate)
		if text, ok := c.gateTexts[key]; ok {
			delete(c.gateTexts, key) // an answer holds for one request
			c.gates = append(c.gates, gate{GateRequested: open.GateRequested, run: id, goal: run.Goal.Line(), text: text})
			changed = true
		}
	}
	if changed {
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// takeEntry takes one entry of a run. Those from an earlier life of it only word its open gates.
func (c *call) takeEntry(id string, e story.Entry, earlier bool) {
	run := c.runs[id].run
	switch {
	case e.Kind == story.GateOpens:
		c.gateTexts[gateID(id, e.Gate.Gate)] = plain.Text(run, id != c.mainRun, e)
	case earlier:
	case e.Kind == story.GateAnswered:
		if d := e.Event.(event.GateResolved); d.Decision == event.Deny && e.Gate != nil {
			c.denied = append(c.denied, denial{tool: untrusted.Line(e.Gate.QualifiedTool()), by: d.By, reason: d.Reason.Line()})
		}
	case e.Brief != "" && id == c.mainRun:
		c.progressed(e.Brief, run)
	}
}

// progressed reports the progress of a run: the steps that ended, and what it does.
func (c *call) progressed(message string, run *agent.Run) {
	if c.report == nil {
		return
	}
	ended := 0.0
	for _, s := range run.Steps {
		switch {
		case s.Draft:
		case s.Status.Ended():
			ended++
		case len(s.Items) > 0:
			ended += float64(s.EndedItems()) / float64(len(s.Items))
		}
	}
	// The protocol wants a number that increases with each report.
	const little = 0.001
	c.lastReported = max(ended, c.lastReported+little)
	c.report(progress{done: c.lastReported, total: len(run.Plan.Steps), message: message})
}

// result returns the result of a call that has ended.
func (c *call) result() (*mcp.CallToolResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var run *agent.Run
	if first := c.runs[c.mainRun]; first != nil {
		run = first.run
	}
	switch {
	case c.tool == prompt.PlanCreate && run != nil && c.reply.Status == event.StatusCompleted && run.Plan.ID != "":
		return result(plantool.Created(run.Plan), false)
	case c.tool == prompt.PlanCreate && c.reply.Status == event.StatusCompleted:
		return refused(errors.New("no plan was made: describe the goal in more detail")), nil
	case run == nil || c.tool == prompt.PlanCreate:
		return refused(errors.New(c.reply.Text.Visible())), nil
	}
	out := c.server.shown(run, false)
	out.Hint = c.hint(run)
	failed := out.Status != string(event.StatusCompleted)
	return result(out, failed)
}

// park keeps a call until its client comes back with the answers to its gates. If
// it does not in time, the run is stopped.
func (c *call) park(open []gate) *mcp.CallToolResult {
	state := rand.Text()
	questions := server.NewInputRequestBuilder(state)
	for _, g := range open {
		questions.Elicit(g.id(), g.question())
	}
	if !c.server.park(state, c) {
		c.end()
		return refused(errClosed)
	}
	return questions.ToolResult()
}

// take answers the gates that a parked call has asked about, and has those that
// opened meanwhile asked about.
func (c *call) take(responses mcp.InputResponses) {
	for _, g := range c.open() {
		if _, asked := responses[g.id()]; asked {
			c.resolve(g.answered(server.ElicitationResponse(responses, g.id())))
		}
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// hint says what the caller can do about the end of a run.
func (c *call) hint(run *agent.Run) string {
	if len(c.denied) > 0 {
		d := c.denied[0]
		const remedy = "%s was denied by %s: start replan serve with --allow %[1]s, or with another --approve, then call run_resume"
		switch {
		case c.server.answered() != "":
			return fmt.Sprintf(remedy, d.tool, c.server.answered())
		case d.by == noUser || d.by == failedToAsk || d.by == notOffered:
			return fmt.Sprintf(remedy, d.tool, d.by)
		default:
			if d.reason != "" {
				return d.tool + " was declined by the user, who says: " + d.reason
			}
			return d.tool + " was declined by the user: do not try it again in another way"
		}
	}
	switch {
	case run.Result != nil && run.Result.Reason == event.ReasonInDoubt:
		return "the user must say whether the step took effect: replan plan resume " + agent.ShortID(run.ID) + " --in-doubt rerun, or done"
	case run.Resumable():
		return "run_resume continues it"
	default:
		return ""
	}
}
