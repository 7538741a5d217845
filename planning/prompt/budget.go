package prompt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"replan/planning/plan"
)

const (
	// cautiousBytesPerToken is a guess for text and code where nothing was
	// measured; the exact number is the model's own affair.
	cautiousBytesPerToken = 3
	// calibrationMargin keeps an estimate above the measurement: the text to come
	// may be denser than the text before.
	calibrationMargin = 1.1
	// turnTokens are a turn's own marks.
	turnTokens = 8
)

// bytesPerToken is the rate of an estimate.
func (p Prompting) bytesPerToken() float64 {
	if p.BytesPerToken <= 0 {
		return cautiousBytesPerToken
	}
	// Beyond these bounds something was measured that is no text.
	return min(max(p.BytesPerToken, 0.5), 8) / calibrationMargin
}

// resultTime is how long a machine may read the results of earlier steps in one
// request.
const resultTime = 40 * time.Second

// resultRoom is how many characters of results the machine reads in resultTime.
func (p Prompting) resultRoom() int {
	if p.ReadSpeed <= 0 {
		return math.MaxInt
	}
	return int(p.ReadSpeed * resultTime.Seconds() * p.bytesPerToken())
}

// usualReply is how many tokens replies of each purpose usually have.
var usualReply = map[Purpose]int{
	PurposeAnalysis: 200, PurposeReview: 300, PurposeTools: 60, PurposePlan: 300, PurposeRepair: 300, PurposeReplan: 300,
	PurposeStep: 200, PurposeAgent: 150, PurposeSynthesis: 200, PurposeCompact: 400, PurposeChat: 200,
}

// usualThoughts is how many tokens a model usually thinks before its reply.
const usualThoughts = 500

// UsualReply is how many tokens the reply to a request usually has.
func UsualReply(req Request) int {
	n := usualReply[req.Purpose]
	if req.Think {
		n += usualThoughts
	}
	return min(n, cmp.Or(req.MaxTokens, n))
}

// tokens estimates how many tokens messages take.
func (p Prompting) tokens(messages []Message) int {
	per, n := p.bytesPerToken(), 0
	for _, m := range messages {
		n += int(math.Ceil(float64(messageBytes(m))/per)) + turnTokens
		if p.Vision {
			n += len(m.Images) * pictureTokens
		}
	}
	return n
}

func messageBytes(m Message) int {
	n := len(m.Content)
	for _, use := range m.Calls {
		n += len(use.Name) + len(plan.CanonicalJSON(use.Args)) + 32 // as chat templates write a call
	}
	return n
}

// offerTokens estimates how many tokens tools take that may be called.
func (p Prompting) offerTokens(tools plan.Catalog) int {
	return int(math.Ceil(float64(offerBytes(tools)) / p.bytesPerToken()))
}

// offerBytes is how many bytes tools take that may be called, as chat templates
// write them.
func offerBytes(tools plan.Catalog) int {
	n := 0
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.InputSchema) + 64
	}
	return n
}

// ConversationTokens estimates the tokens of a conversation in a prompt: by the
// measured bytes per token, with a tenth more, else by a cautious guess.
func ConversationTokens(p Prompting, messages []Message) int { return p.tokens(messages) }

// OfferTokens estimates the tokens of tools that may be called, with their whole
// descriptions.
func OfferTokens(p Prompting, tools plan.Catalog) int { return p.offerTokens(tools) }

// Tokens estimates the tokens at the start of every request that plans. These are the
// system prompt, the conversation, the sketch of the project, the mentions of the goal,
// and the tools of other servers. The goal and the request itself are not included.
func Tokens(b Brief) int {
	p := b.Prompting
	asks := Message{Role: RoleUser}
	for _, m := range Attached(p.Mentions, 0) {
		asks.Content, asks.Images = m.Content, m.Images
	}
	asks.Content = joined([]string{ground(b), asks.Content, newShortlist(b).message()})
	return p.tokens([]Message{{Role: RoleSystem, Content: systemPrompt(b, p.Instructions)}, asks}) + p.tokens(p.Conversation)
}

// Opening estimates the tokens of what a run begins with: [Tokens] and the goal, but
// without the conversation, which may be summarized.
func Opening(b Brief) int {
	b.Prompting.ContextWindow, b.Prompting.Conversation = 0, nil // the list of tools as long as it may be
	return Tokens(b) + b.Prompting.tokens([]Message{{Role: RoleUser, Content: b.Goal}})
}

// wanted estimates the tokens of the request and its reply with everything except the
// tools that no window has room for. It returns 0 if they fit the window.
func (c composition) wanted() int {
	wide := c
	wide.brief.Prompting.ContextWindow = max(c.brief.Prompting.ContextWindow, widestOffer)
	p := c.brief.Prompting
	if c.agent != nil {
		p.Conversation, p.Mentions = nil, nil
	}
	cut := &cutter{textBudget: resultBudgets[0]}
	if c.budgets != nil {
		cut.textBudget = c.budgets[0]
	}
	n := p.tokens(c.messages(p.Conversation, Attached(p.Mentions, 0), p.Instructions, cut)) + p.tokens(c.turns) +
		p.offerTokens(wide.offered()) + cmp.Or(c.tokens, p.MaxTokens, DefaultMaxTokens)
	if n <= p.ContextWindow {
		return 0
	}
	return n
}

// mostBytesPerToken is more than any text has. A prompt that is too long even so
// cannot fit.
const mostBytesPerToken = 8

// tooLong names the largest part of messages that are too long after all shortening, and
// what to do about it. It is the first half of a sentence that ends in "choose another
// model". never reports whether they cannot fit, however the model's server counts.
func (c composition) tooLong(messages []Message) (sentence string, never bool) {
	p, bytes := c.brief.Prompting, 0
	for _, m := range messages {
		bytes += messageBytes(m)
	}
	type part struct {
		name, remedy string
		bytes        int
	}
	system := part{"the system prompt", "shorten the prompts of the configuration", len(messages[0].Content)}
	if p.System == "" && len(p.Prompts) == 0 {
		system.remedy = ""
	}
	parts := []part{{"the goal", "put long text into a file and mention it with @", len(c.brief.Goal)}, system}
	if c.plans != nil {
		parts = append(parts, part{"the list of tools", "offer fewer tools in a profile, stop servers", len(c.plans.message) + len(c.plans.more)})
	}
	rest := part{"the part with earlier results", "split the goal", bytes}
	for _, known := range parts {
		rest.bytes -= known.bytes
	}
	parts = append(parts, rest)
	largest := slices.MaxFunc(parts, func(a, b part) int { return cmp.Compare(a.bytes, b.bytes) })
	tokens := int(float64(largest.bytes) / p.bytesPerToken())
	sentence = fmt.Sprintf("%s alone takes about %d tokens; ", largest.name, tokens)
	if largest.remedy != "" {
		sentence += largest.remedy + ", or "
	}
	return sentence, bytes/mostBytesPerToken > p.ContextWindow
}

// Results of calls are shortened to shortAnswer characters if room is short, and
// then left out. They go in groups of answersAtOnce, so that the start of the
// prompt, cached by the server, does not change with every call.
const (
	shortAnswer   = 400
	answersAtOnce = 4
)

// fitMessages fits the turns since a request began into room tokens, if it can: the
// oldest results of calls are shortened first, then left out. It returns the
// number of both.
func (p Prompting) fitMessages(messages []Message, room int) ([]Message, int) {
	if p.tokens(messages) <= room {
		return messages, 0
	}
	messages = slices.Clone(messages)
	var answers []int // their positions
	for i, m := range messages {
		if m.Role == RoleTool {
			answers = append(answers, i)
		}
	}
	touched := make(map[int]bool)
	for _, bound := range []int{shortAnswer, 0} {
		for group := range slices.Chunk(answers, answersAtOnce) {
			for _, i := range group {
				if shorter := shortenAnswer(messages[i], bound); len(shorter.Content) < len(messages[i].Content) {
					messages[i], touched[i] = shorter, true
				}
			}
			if p.tokens(messages) <= room {
				return messages, len(touched)
			}
		}
	}
	return messages, len(touched)
}

// answerLabel is the label of a result of a call; whole is the place of the full
// result.
func answerLabel(tool, whole string) string {
	label := "what came back from " + plan.OneLine(tool, 80)
	if whole != "" {
		label += ", " + plan.OneLine(whole, 80)
	}
	return label
}

// shortenAnswer leaves bound characters of the result of a call, which [Answered]
// wrote, and says where the whole lies.
func shortenAnswer(m Message, bound int) Message {
	first, body, ok := strings.Cut(m.Content, "\n")
	label, fences := strings.CutPrefix(first, dataMark)
	opening, body, ok2 := strings.Cut(body, "\n")
	body, closed := strings.CutSuffix(body, "\n"+opening)
	if !ok || !ok2 || !fences || !closed {
		return m
	}
	_, whole, _ := strings.Cut(label, answerLabel(m.Tool, "")+", ")
	mark := "[… left out"
	if whole != "" {
		mark += "; the whole is " + whole
	}
	mark += " …]"
	if runes := []rune(body); bound > 0 && len(runes) > bound {
		head := bound * 2 / 3
		mark = string(runes[:head]) + "\n" + mark + "\n" + string(runes[len(runes)-bound+head:])
	} else if bound > 0 {
		return m
	}
	body = mark
	m.Content = fenced(label, body)
	return m
}
