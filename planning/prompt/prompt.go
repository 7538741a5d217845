package prompt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/markdown"
	"replan/planning/plan"
)

// textBudget is how much of the results a prompt holds, in characters.
type textBudget struct {
	each  int // of one text
	older int // of all older results together, see [cutter.results]
}

// The budgets of a prompt. The first with which the prompt fits its window is
// taken; the older results shrink before the others do.
var (
	resultBudgets = []textBudget{{4000, 16000}, {4000, 8000}, {4000, 4000}, {2000, 2000}, {1000, 1000}, {500, 500}}
	// A step works on its inputs, so it gets more of them if the window is known
	// to hold them.
	stepBudgets = []textBudget{
		{16000, 16000}, {16000, 8000}, {16000, 4000}, {8000, 4000}, {8000, 2000}, {4000, 2000}, {2000, 1000}, {1000, 500}, {500, 500},
	}
)

// cutter shortens the texts of one prompt and counts the parts left out.
type cutter struct {
	textBudget
	texts      int         // texts shortened
	characters int         // characters left out
	shown      int         // characters kept of all texts
	cuts       []resultCut // the results not shown whole
}

// leftOut returns how many characters were left out so far.
func (c *cutter) leftOut() int { return c.characters }

// text returns s, without its middle if it is longer than the bound. The start and
// the end of a result matter most: the question, and the outcome. whole is the
// place of the full text, "" for none.
func (c *cutter) text(s, whole string) string {
	return c.textWithin(s, whole, c.each)
}

// textWithin is text with a bound of its own.
func (c *cutter) textWithin(s, whole string, bound int) string {
	runes := utf8.RuneCountInString(s) // a result may have megabytes
	c.shown += min(runes, bound)
	if runes <= bound {
		return s
	}
	head := bound * 2 / 3
	tail := bound - head
	out := runes - bound
	c.texts++
	c.characters += out
	if whole != "" {
		whole = "; the whole is " + whole
	}
	return firstRunes(s, head) + "\n[… " + strconv.Itoa(out) + " characters left out" + whole + " …]\n" + lastRunes(s, tail)
}

// firstRunes are the first n characters of a text.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// lastRunes are the last n characters of a text.
func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// maxThinking bounds the thoughts of a model before the first word of a phase or
// of a sub-agent's turn, in bytes: about 3000 tokens. Small models without a word
// by then go round in circles.
const maxThinking = 12_000

// composition is an unfinished request: the stable messages at the start of every
// request of a run, the last message, and the turns since.
type composition struct {
	brief   Brief
	purpose Purpose
	step    string
	format  json.RawMessage
	timeout time.Duration // 0 means the one of the brief, and without one that of the machine
	budgets []textBudget  // nil means resultBudgets
	tokens  int           // bound of the reply; 0 means the one of the brief

	temperature float64 // 0 means the model's own, and a low one for a small model

	agent  *Profile           // of the sub-agent; nil for the planner and the chat
	tools  plan.Catalog       // on offer
	notes  string             // how the servers of tools want to be used, for the chat and sub-agents
	plans  *planTools         // the tools of a request of planning; nil for all others
	listed bool               // the tools are listed, see [Request]
	final  bool               // with listed: the reply has to be an answer
	turns  []Message          // see [ReplyMessage] and [Answered]
	items  []plan.HistoryItem // whose pictures the last message shows
	room   int                // for these pictures, those of the goal and of the conversation
	// last writes what is known from results, and what is wanted; its texts go through
	// the cutter. Nil means a turn of the chat, whose goal is the last message.
	last func(*cutter) string
}

// request makes the request, as long as its window allows.
func (c composition) request() (req Request) {
	p := c.brief.Prompting
	own, _ := c.ownPictures()
	c.turns, c.room = newestPictures(c.turns, p.pictureRoom()-own)
	c.room += own
	req = Request{
		Purpose: c.purpose, Step: c.step, Model: p.Models.Of(c.purpose).Name, Format: c.format, Tools: plan.Offer(c.tools),
		MaxTokens: cmp.Or(c.tokens, p.MaxTokens), Timeout: c.timeout,
	}
	if c.temperature > 0 || p.Small {
		req.Temperature = cmp.Or(c.temperature, smallTemperature)
	}
	defer c.list(&req)
	req.Think, req.Level = c.thinks()
	if c.describesTools() {
		req.Untyped = c.plans.alone
	}
	if c.purpose.Phase() > 0 || c.purpose == PurposeRepair || c.purpose == PurposeReplan || c.purpose == PurposeAgent {
		req.MaxThinking = maxThinking
	}
	if req.MaxTokens <= 0 {
		req.MaxTokens = DefaultMaxTokens
	}
	if req.Timeout <= 0 {
		req.Timeout = p.PhaseTimeout
	}
	if p.ContextWindow <= 0 {
		cut := &cutter{textBudget: resultBudgets[0]}
		c.notes = c.noted(c.tools)
		req.Messages = append(c.messages(p.Conversation, Attached(p.Mentions, 0), p.Instructions, cut), c.turns...)
		req.Shortened, req.Partial = c.untypedTools(losses{texts: cut.texts, characters: cut.characters}.sentence(0)), cut.partial()
		return req
	}
	// A reply may take half of the window at most, or there would be no room
	// left to ask for one.
	req.MaxTokens = min(req.MaxTokens, p.ContextWindow/2)
	most := req.MaxTokens
	for tools, over := c.offered(), 0; ; {
		req.MaxTokens = most
		lost := c.fill(&req, tools)
		if lost.over > 0 {
			// A reply cut off is better than none.
			req.MaxTokens = max(most-lost.over, min(most, p.ContextWindow/8))
			lost = c.fill(&req, tools)
		}
		req.Shortened = lost.sentence(p.ContextWindow)
		if over = lost.over; over == 0 || len(tools) == 0 {
			break
		}
		tools = c.fewer(tools, over)
	}
	if req.Shortened != "" || req.MaxTokens < most {
		req.Wanted = c.wanted()
	}
	if len(req.Messages) > 0 && p.tokens(req.Messages) > p.ContextWindow-req.MaxTokens {
		req.TooLong, req.Never = c.tooLong(req.Messages)
	}
	req.Shortened = c.untypedTools(req.Shortened)
	return req
}

// noted are the notes of a request for tools on offer, with the tools if they are
// listed.
func (c composition) noted(tools plan.Catalog) string {
	if !c.listed {
		return c.notes
	}
	return strings.TrimPrefix(c.notes+"\n\n"+listing(tools), "\n\n")
}

// describesTools reports whether the format holds the args of tools.
func (c composition) describesTools() bool {
	return c.plans != nil && c.format != nil && c.purpose != PurposeTools
}

// untypedTools adds the tools whose args may be any to the notes of a request.
func (c composition) untypedTools(text string) string {
	if !c.describesTools() {
		return text
	}
	if names := c.plans.noRoom; len(names) > 0 {
		text += fmt.Sprintf(" The format of a plan has no room for the args of %s, which may be any: %s.", english.Count(len(names), "tool"), listFew(names))
	}
	if names := c.plans.unreadable; len(names) > 0 {
		text += fmt.Sprintf(" The args of %s may be any, since the schema cannot be read: %s.", english.Count(len(names), "tool"), listFew(names))
	}
	return strings.TrimSpace(text)
}

// fill adds the messages there is room for beside the reply and the tools on
// offer.
func (c composition) fill(req *Request, tools plan.Catalog) losses {
	p := c.brief.Prompting
	room := p.ContextWindow - req.MaxTokens - p.offerTokens(tools)
	if c.notes = c.noted(tools); c.listed {
		room = p.ContextWindow - req.MaxTokens
	}
	messages, lost := c.fit(room)
	turns, lostTurns := p.fitMessages(c.turns, room-p.tokens(messages))
	if over := p.tokens(messages) + p.tokens(turns) - room; over > 0 && len(c.turns) > 0 {
		messages, lost = c.fit(room - p.tokens(turns)) // the turns before make way
	}
	req.Messages, req.Tools = append(messages, turns...), plan.Offer(tools)
	req.Partial = lost.partial
	lost.answers = lostTurns
	lost.tools, req.Unoffered = c.unoffered(tools)
	lost.over = max(p.tokens(req.Messages)-room, 0)
	return lost
}

// thinks decides whether the model may think first, and how hard. By default it may where
// it decides in prose: in a sub-agent's turns, and in a chat turn without an analysis
// before it. A reply in a format is never thought about, whatever the level, and neither
// is the analysis. The format would bind only after the thinking, or not at all.
func (c composition) thinks() (bool, ThinkLevel) {
	level := c.brief.Prompting.Think
	if c.agent != nil {
		level = cmp.Or(c.agent.Think, level)
	}
	switch {
	case c.format != nil || c.listed, c.purpose != PurposeAgent && c.purpose != PurposeChat, level == ThinkOff:
		return false, ThinkAuto
	case level == ThinkAuto:
		return c.purpose != PurposeChat || c.brief.Prompting.SkipAnalysis, ThinkAuto
	case level == ThinkOn:
		return true, ThinkAuto
	default:
		return true, level
	}
}

// fit makes the messages take no more than room tokens. It first shortens results,
// then leaves out the oldest turns of the conversation, then shortens the mentions
// of the goal, then the project's instructions.
func (c composition) fit(room int) ([]Message, losses) {
	p := c.brief.Prompting
	if c.agent != nil {
		p.Conversation, p.Mentions = nil, nil
	}
	attachment := Attached(p.Mentions, 0)
	budgets := c.budgets
	if budgets == nil {
		budgets = resultBudgets
	}
	var cut *cutter
	var messages []Message
	var lost losses
	try := func(budget textBudget, instructions string) int {
		cut = &cutter{textBudget: budget}
		messages = c.messages(p.Conversation[lost.turns:], attachment, instructions, cut)
		return p.tokens(messages) - room
	}
	over, readable := 0, p.resultRoom()
	for _, budget := range budgets {
		if over = try(budget, p.Instructions); over <= 0 && cut.shown <= readable {
			break
		}
		lost.slow = over <= 0
	}
	last := budgets[len(budgets)-1]
	for lost.turns < len(p.Conversation) && over > 0 {
		lost.turns++
		over = try(last, p.Instructions)
	}
	if over > 0 && len(p.Mentions) > 0 {
		const least = 200 // characters; fewer say nothing
		attachment, lost.mentions = attachedWithin(p.Mentions, max(least, mentioned(p.Mentions)-int(p.bytesPerToken()*float64(over+20*len(p.Mentions)))))
		over = try(last, p.Instructions)
	}
	if over > 0 && p.Instructions != "" {
		notes := &cutter{textBudget: textBudget{each: max(0, len([]rune(p.Instructions))-int(p.bytesPerToken()*float64(over+20)))}}
		try(last, notes.text(p.Instructions, ""))
		lost.instructions = notes.characters
	}
	if p.Vision {
		_, lost.pictures = c.ownPictures()
	}
	lost.texts, lost.characters, lost.partial = cut.texts, cut.characters, cut.partial()
	return messages, lost
}

// losses are the parts left out of a prompt.
type losses struct {
	texts, characters int  // texts shortened, and by how much
	turns             int  // of the conversation left out
	mentions          int  // characters of the goal's mentions
	pictures          int  // that the goal attaches, left out
	instructions      int  // characters of the project's instructions
	answers           int  // results of calls shortened or left out
	over              int  // tokens too long even so
	slow              bool // the window had room for more, but the machine would read it too long

	tools   []string // left out of the offer
	partial []string // the steps whose results are not shown whole
}

// sentence lists the parts left out, in one sentence; "" if there are none.
func (l losses) sentence(window int) string {
	var parts []string
	if l.texts > 0 {
		parts = append(parts, fmt.Sprintf("%d of the texts in it shortened by %d characters", l.texts, l.characters))
	}
	if l.answers > 0 {
		parts = append(parts, fmt.Sprintf("the oldest results of calls shortened, %d in all", l.answers))
	}
	if l.turns > 0 {
		parts = append(parts, fmt.Sprintf("the %d oldest messages of the conversation left out", l.turns))
	}
	if l.mentions > 0 {
		parts = append(parts, fmt.Sprintf("what you mention shortened by %d characters", l.mentions))
	}
	if l.pictures > 0 {
		parts = append(parts, fmt.Sprintf("%s that you attach not shown", english.Count(l.pictures, "picture")))
	}
	if l.instructions > 0 {
		parts = append(parts, fmt.Sprintf("the project's instructions shortened by %d characters", l.instructions))
	}
	if len(l.tools) > 0 {
		parts = append(parts, fmt.Sprintf("%s not offered: %s", english.Count(len(l.tools), "tool"), listFew(l.tools)))
	}
	if l.over > 0 {
		parts = append(parts, fmt.Sprintf("about %d tokens too long all the same; give the model a larger context", l.over))
	}
	if len(parts) == 0 {
		return ""
	}
	what := strings.Join(parts, ", ")
	if l.slow {
		return fmt.Sprintf("The prompt was shortened so that this machine reads it in time: %s.", what)
	}
	if window > 0 {
		return fmt.Sprintf("The prompt was shortened for a window of %d tokens: %s.", window, what)
	}
	return "The prompt: " + what + "."
}

// messages lines up the conversation, the stable part first: the system prompt, the turns
// before, and one message with all that this request is about. Its goal comes last.
func (c composition) messages(conversation, attachment []Message, instructions string, cut *cutter) []Message {
	var notes []Message
	if c.notes != "" {
		notes = []Message{{Role: RoleUser, Content: c.notes}}
	}
	if c.agent != nil {
		last, _ := c.lastMessage(nil, cut)
		return slices.Concat([]Message{{Role: RoleSystem, Content: agentSystem(*c.agent, instructions)}}, notes, []Message{last})
	}
	last, left := c.lastMessage(attachment, cut)
	conversation, _ = newestPictures(conversation, left)
	messages := make([]Message, 0, len(conversation)+2+len(c.turns))
	messages = append(messages, Message{Role: RoleSystem, Content: systemPrompt(c.brief, instructions)})
	messages = append(messages, conversation...)
	messages = append(messages, notes...)
	return append(messages, last)
}

// lastMessage is the message that asks, with the pictures of the goal and of the items
// that it is about. It also returns for how many more pictures there is room.
func (c composition) lastMessage(attachment []Message, cut *cutter) (Message, int) {
	var parts []string
	var attached []plan.Attachment
	if c.agent == nil && c.purpose != PurposeCompact {
		for _, m := range attachment {
			attached = append(attached, m.Images...)
		}
	}
	switch {
	case c.agent != nil || c.purpose == PurposeCompact || c.brief.Prompting.About != nil:
		parts = []string{c.ask(cut)}
	case c.last == nil: // a turn of the chat
		parts = contents(attachment)
		if c.brief.Prompting.Small && len(c.tools) == 0 {
			parts = append(parts, "No plan is needed now. Answer in plain text.") // the system prompt is about plans
		}
		parts = append(parts, c.brief.Goal)
	default:
		parts = append([]string{ground(c.brief)}, contents(attachment)...)
		if c.plans != nil {
			parts = append(parts, c.plans.message, c.plans.more)
		}
		parts = append(parts, c.ask(cut), "Goal: "+c.brief.Goal)
	}
	shown, whose := c.picturesWith(attached)
	message := Message{Role: RoleUser, Content: joined(parts) + whose, Images: shown}
	few, left := newestPictures([]Message{message}, c.room)
	return few[0], left
}

// joined puts the parts of a message below each other, except for empty ones.
func joined(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" }), "\n\n")
}

// ask says what is wanted.
func (c composition) ask(cut *cutter) string {
	if c.last == nil {
		return ""
	}
	return c.last(cut)
}

func contents(messages []Message) []string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	return texts
}

// dataMark opens untrusted text.
const dataMark = "Data: "

// fenced puts untrusted text between marks it cannot close, and labels it as data.
func fenced(label, text string) string {
	return dataMark + plan.OneLine(label, 200) + "\n" + walled(text)
}

// walled puts text between marks it cannot close, and leaves out base64.
func walled(text string) string {
	return markdown.Block(disarm(withoutBase64(text)))
}

// controlTokens are the marks of speakers and pictures in chat templates. A server
// that finds one in a tool's result would take the rest for another's words, or put
// a picture there.
var controlTokens = lazyregexp.New(`<\|[^|<>\s]{1,40}\|>|<(?:start|end)_of_turn>|\[/?INST\]|\[img(?:-\d+)?\]`)

// disarm breaks chat template marks; they stay readable and do nothing.
func disarm(text string) string {
	if !strings.Contains(text, "<|") && !strings.Contains(text, "_of_turn>") && !strings.Contains(text, "INST]") && !strings.Contains(text, "[img") {
		return text // the pattern takes milliseconds for a long text
	}
	return controlTokens.ReplaceAllStringFunc(text, func(mark string) string {
		return mark[:1] + "¦" + mark[1:]
	})
}
