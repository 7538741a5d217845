package prompt

import (
	"cmp"
	"slices"
	"strings"

	"replan/planning/plan"
	"replan/planning/reply"
)

// ChatParent is the parent of a model's calls in chat.
const ChatParent = "chat"

// Tools with which a model makes and runs plans in chat. They take precedence
// over those of servers, and are not offered to planners and sub-agents.
const (
	PlanCreate           = "plan_create"
	PlanExecute          = "plan_execute"
	PlanCreateAndExecute = "plan_create_and_execute"
)

// PlanServer is the server of the plan tools and of [ToolsFind] in a catalog.
const PlanServer = "replan"

// PlanTools returns the descriptions of the plan tools.
func PlanTools() plan.Catalog {
	goal := `{"type":"object","properties":{"goal":{"type":"string","description":"the task, complete in itself"}},"required":["goal"],"additionalProperties":false}`
	id := `{"type":"object","properties":{"id":{"type":"string","description":"the id that plan_create returned"}},"required":["id"],"additionalProperties":false}`
	return plan.Catalog{
		{
			Name: PlanCreate, Server: PlanServer, InputSchema: []byte(goal), Annotated: true, ReadOnly: true, Trusted: true,
			Description: "Plan work of several steps and store the plan. Nothing is run. Returns the plan's id and its steps.",
		},
		{
			Name: PlanExecute, Server: PlanServer, InputSchema: []byte(id), Annotated: true, Trusted: true,
			Description: "Run a stored plan. Steps with effects ask the user. Returns their results.",
		},
		{
			Name: PlanCreateAndExecute, Server: PlanServer, InputSchema: []byte(goal), Annotated: true, Trusted: true,
			Description: "Plan work of several steps and run the plan at once. Use it for anything that changes files or takes more than two calls.",
		},
	}
}

// IsPlanTool reports whether a tool of a catalog is one of PlanTools. A server
// with just the same name is not trusted.
func IsPlanTool(t plan.Tool) bool {
	return t.Server == PlanServer && t.Trusted && t.Name != ToolsFind
}

// OwnTools returns the tools that replan carries out itself: [PlanTools] and
// [FindTool].
func OwnTools() plan.Catalog { return append(PlanTools(), FindTool()) }

// Turn is the position in the loop of a sub-agent.
type Turn struct {
	Number  int    // of the next reply, from 1
	Last    bool   // no calls are made after it, so it must be an answer
	Outline string // of the sub-agent's own plan; "" if it made none
}

// AgentTools returns the tools of a sub-agent under the profile.
func AgentTools(b Brief, profile Profile) plan.Catalog {
	tools := plan.Catalog{}
	for _, t := range distinct(b.Catalog) {
		if profile.May(t) {
			tools = append(tools, t)
		}
	}
	return tools
}

// distinct returns the tools without those of one server under one name: no call can
// mean one of them.
func distinct(c plan.Catalog) plan.Catalog {
	count := make(map[string]int, len(c))
	for _, t := range c {
		count[t.QualifiedName()]++
	}
	return slices.DeleteFunc(slices.Clone(c), func(t plan.Tool) bool { return count[t.QualifiedName()] > 1 })
}

// ChatTools returns the tools that a model may call in chat: none if it does not
// manage loops, and only those that read for a side question.
func ChatTools(b Brief) plan.Catalog {
	if !b.Prompting.ManagesLoops() {
		return nil
	}
	tools := distinct(b.Catalog)
	switch {
	case b.Prompting.About != nil:
		return reading(tools)
	case b.Prompting.PlanTools:
		return append(PlanTools(), tools...)
	}
	return tools
}

// AgentBrief returns the brief from which a sub-agent plans its step.
func AgentBrief(b Brief, step plan.Step, profile Profile) Brief {
	prompting := b.Prompting.under(profile)
	prompting.SkipReview, prompting.SkipAnalysis, prompting.SkipPlan = true, false, false
	prompting.ForcePlan, prompting.Conversation, prompting.Mentions, prompting.Profiles = false, nil, nil, nil
	prompting.Think = cmp.Or(profile.Think, prompting.Think)
	b.Prompting, b.Looks = prompting, nil
	b.Goal = string(step.Title)
	if step.ExpectedOutcome != "" {
		b.Goal += "\n\nIt is done when this holds: " + string(step.ExpectedOutcome)
	}
	b.Catalog = AgentTools(b, profile)
	return b
}

// offer lets the model call tools, unless the reply has to be an answer. A model that
// writes its calls gets a list of them, in the last turn too: the messages before it are
// in the server's cache.
func (c *composition) offer(tools plan.Catalog, last bool) {
	c.listed = c.brief.Prompting.WritesCalls && len(tools) > 0
	c.final = last
	if c.listed || !last {
		c.tools = tools
	}
}

// AgentRequest returns the request for a sub-agent's turn on a step. inputs are
// the ended steps before it, see [StepRequest]; talk is the turns since, see
// [ReplyMessage], [Answered] and [Reminder]. While there is room, the messages of a turn
// are those of the previous turn plus the new ones. They include nothing of the
// user's conversation. In the last turn nothing can be called.
func AgentRequest(b Brief, p plan.Plan, step plan.Step, profile Profile, inputs []plan.HistoryItem, turns []Message, turn Turn) Request {
	b.Prompting = b.Prompting.under(profile)
	// The model's own calls take no references, so it should see none.
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].ResultVariable = ""
	}
	tools := AgentTools(b, profile)
	c := composition{
		brief: b, purpose: PurposeAgent, step: step.Index, budgets: stepBudgets, agent: &profile, turns: turns, items: inputs,
		notes: notesOn(b, tools),
		last: func(cut *cutter) string {
			return b.Prompting.prompt("agent", agentData{
				dataOf(step, p, inputs, cut), disarm(plan.OneLine(b.Goal, 2000)), named("your own plan for it", turn.Outline),
			})
		},
	}
	c.offer(tools, turn.Last)
	req := c.request()
	req.Model = profile.Model
	return req
}

// ReplyMessage returns a reply as a turn of the conversation.
func ReplyMessage(r reply.Reply) Message {
	return Message{Role: RoleAssistant, Content: reply.StripThinking(r.Text), Calls: r.Calls}
}

// Answered returns the turn with the result of a call and the text beside it, or
// with the reason why there is none. whole is the location of the full result, in
// case it is shortened. Pictures have a turn of their own, see [Pictures].
func Answered(use reply.ToolUse, result any, beside, failure, whole string) Message {
	text := Text(result)
	if beside != "" {
		text += "\n" + readable(beside)
	}
	if failure != "" {
		text = "error: " + readable(failure)
	}
	cut := &cutter{textBudget: resultBudgets[0]}
	return Message{Role: RoleTool, Tool: use.Name, CallID: use.ID, Content: fenced(answerLabel(use.Name, whole), cut.text(text, whole))}
}

// Reminder returns the turn that makes a sub-agent continue. It is usually short, and
// repeats the goal of the step now and then. It does so each time for a model that writes
// its calls, which goes by what it reads last.
func Reminder(b Brief, step plan.Step, turn Turn) Message {
	text := "Go on."
	if turn.Number%5 == 0 || turn.Last || b.Prompting.WritesCalls {
		text += " What it is for: " + disarm(plan.OneLine(string(step.Title), 400)) + "."
	}
	if turn.Last {
		text += " No further call will be made: answer now, from what you have."
	}
	return Message{Role: RoleUser, Content: text}
}

// Remark returns the turn with which the user steers a working model.
func Remark(text string) Message { return Message{Role: RoleUser, Content: text} }

// The longest thought, in characters, that comes before a call or an answer in a
// listed request. Small models choose better after a short one.
const maxThought = 200

// listing describes the tools that a listed request lets the model call, and the
// form of its replies.
func listing(tools plan.Catalog) string {
	var lines strings.Builder
	for _, t := range tools {
		lines.WriteString(toolLine(tools.ShortName(t), t))
	}
	return "# Tools\n\nThe tools that you may call: name(arguments) -> result. `?` marks an argument that may be left out.\n\n" +
		fenced("tools", strings.TrimSuffix(lines.String(), "\n")) + "\n\n" +
		"Reply with one JSON object. It calls one tool: {\"thought\": \"…\", \"tool\": \"…\", \"args\": {…}}. " +
		"Or it is the final answer: {\"thought\": \"…\", \"answer\": \"…\"}. Call the tool, do not describe it."
}

// maxTurnForms bounds the forms of calls in the format of a listed turn, in bytes: the
// built-in operators take 12 KB. The journal holds the format of each turn.
const maxTurnForms = 16 << 10

// turnFormat is the format of a reply to a listed request: a call or an answer, or an
// answer alone. Each tool has a form with its own arguments; those that find no room share
// one with any arguments.
func turnFormat(tools plan.Offer) []byte {
	thought := property{"thought", schema{Type: "string", MaxLength: maxThought}}
	answer := schema{Type: "object", Properties: properties{thought, {"answer", textSchema}}, Required: []string{"thought", "answer"}}
	if len(tools) == 0 {
		return paddedFormat(answer)
	}
	call := func(args schema, names ...string) schema {
		return schema{Type: "object", Properties: properties{thought, {"tool", choice(names...)}, {"args", args}}, Required: []string{"thought", "tool", "args"}}
	}
	var forms []schema
	var others []string
	room := maxTurnForms
	for _, t := range tools {
		name := plan.Catalog(tools).ShortName(t)
		form := call(callFormat(t), name)
		if size := len(encodeSchema(form)); size <= room {
			forms, room = append(forms, form), room-size
		} else {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		forms = append(forms, call(objectSchema, others...))
	}
	return paddedFormat(schema{AnyOf: append(forms, answer)})
}

// list makes the tools of a request listed ones: the model calls them by its reply, and
// the calls before, with their results, are text.
func (c composition) list(req *Request) {
	if !c.listed {
		return
	}
	req.Listed, req.Tools = req.Tools, nil
	if c.final {
		req.Listed = nil
	}
	req.Format = turnFormat(req.Listed)
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		req.Messages[i] = asText(m)
	}
}

// asText is a turn without calls and their results in fields of their own.
func asText(m Message) Message {
	if m.Role == RoleTool {
		m.Role, m.Tool, m.CallID = RoleUser, "", ""
	}
	if len(m.Calls) == 0 {
		return m
	}
	lines := make([]string, len(m.Calls))
	for i, use := range m.Calls {
		lines[i] = plan.CanonicalJSON(listedCall{strings.TrimSpace(m.Content), use.Name, use.Args})
		m.Content = ""
	}
	m.Content, m.Calls = strings.Join(lines, "\n"), nil
	return m
}

// listedCall is a call in the form that a listed request asks for. An empty thought is left
// out: small models would go on with empty ones.
type listedCall struct {
	Thought string         `json:"thought,omitempty"`
	Tool    string         `json:"tool"`
	Args    map[string]any `json:"args"`
}

// ReadReply reads a reply to a turn of a sub-agent or of the chat. Calls in its text
// become calls of the reply, and the answer of a listed request becomes its text.
// tools are those that the loop may call, and none if it may call none. The reply that
// the model wrote is kept.
func ReadReply(req Request, tools plan.Offer, r reply.Reply) reply.Reply {
	held := req.Purpose == PurposeSynthesis && len(req.Format) > 0
	if len(r.Calls) > 0 || req.Purpose != PurposeAgent && req.Purpose != PurposeChat && !held {
		return r
	}
	read := reply.ReadCalls
	if len(req.Format) > 0 {
		read = reply.ReadTurn
	}
	w := read(r.Text, tools, r.CutOff)
	if !w.Any() && len(req.Format) == 0 {
		return r
	}
	r.Written, r.Text = r.Text, w.Text
	r.Calls, r.Broken = append(w.Calls, w.Unknown...), w.Broken && len(w.Calls)+len(w.Unknown) == 0
	return r
}
