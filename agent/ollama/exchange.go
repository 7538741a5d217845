package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"replan/planning/prompt"
	"replan/planning/reply"

	"github.com/ollama/ollama/api"
)

// exchange is one request with all its retries.
type exchange struct {
	client *Client
	info   prompt.ModelInfo
	known  *known
	req    prompt.Request
	delta  func(text, thinking string)
	extend func() // records a sign of life

	text, thinking   strings.Builder
	calls            []reply.ToolUse
	cutOff           bool
	promptTokens     int
	completionTokens int
	promptTime       time.Duration
	writeTime        time.Duration
	note             string
	loadTime         time.Duration // of the model
	replies          int           // whole ones

	try try
}

// try is the output received in one HTTP request.
type try struct {
	text    int    // bytes in the exchange before this try
	thought int    // bytes of thinking
	spoken  bool   // text or a call has arrived
	last    string // last piece of text or thinking, trimmed
	equal   int    // length of the current run of equal pieces
}

// reply returns everything received so far.
func (x *exchange) reply() reply.Reply {
	return reply.Reply{
		Text:             x.text.String(),
		Thinking:         x.thinking.String(),
		Calls:            x.calls,
		CutOff:           x.cutOff,
		PromptTokens:     x.promptTokens,
		CompletionTokens: x.completionTokens,
		ContextWindow:    x.info.ContextWindow,
		Note:             x.note,
		PromptMS:         milliseconds(x.promptTime),
		WriteMS:          milliseconds(x.writeTime),
	}
}

// milliseconds rounds up, so that a measured time is never 0.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// run sends the request until there is a reply. It retries without the features that the
// server rejects. It also retries once with the other think setting if a formatted reply
// is empty or breaks its format. extend is called at each sign of life.
func (x *exchange) run(ctx context.Context, extend func()) error {
	x.extend = extend
	s := x.known.setting(x.req)
	err := x.whenFree(ctx, s)
	for err != nil && x.empty() && x.known.learn(x.req, s, err) {
		x.client.logger().Warn("the server rejects a parameter; asking without it", "model", x.info.Name, "purpose", string(x.req.Purpose), "error", err)
		s = x.known.setting(x.req)
		err = x.whenFree(ctx, s)
	}
	switch {
	case s.think == nil || len(s.format) == 0:
	case x.empty() && endedOrBroke(err):
		return x.fill(ctx, s, err)
	case err == nil && !x.cutOff && len(x.calls) == 0 && breaksFormat(x.text.String(), s.format) && x.known.mayFormat():
		x.reformat(ctx, s)
	}
	if err == nil && s.think != nil && s.think.Bool() && len(s.format) > 0 {
		x.note = string(x.client.defect(x.info.Name, x.known))
	}
	return err
}

// fill asks again for a formatted reply that was empty.
func (x *exchange) fill(ctx context.Context, s requestForm, err error) error {
	other := !s.think.Bool()
	x.client.logger().Warn("a formatted reply has no words in it", "model", x.info.Name, "think", s.think.Bool(), "error", err)
	s.think = &api.ThinkValue{Value: other}
	again := x.whenFree(ctx, s)
	if again != nil && err == nil && ctx.Err() == nil {
		// The first reply was empty but valid; the parser reports what it lacks.
		x.client.logger().Warn("asking again did not help", "model", x.info.Name, "error", again)
		return nil
	}
	if again == nil && !x.empty() {
		x.client.preferThinking(ctx, x.known, other)
		x.note = string(x.client.defect(x.info.Name, x.known))
	}
	return again
}

// reformat asks again for a reply that breaks its format: before 0.34, Ollama does
// not apply a format to some models unless they think first. If that does not
// help, the first reply stands, and the model is never asked twice again.
func (x *exchange) reformat(ctx context.Context, s requestForm) {
	other := !s.think.Bool()
	x.client.logger().Warn("a reply breaks its format", "model", x.info.Name, "think", s.think.Bool(), "purpose", string(x.req.Purpose))
	text, thinking := x.text.String(), x.thinking.String()
	x.text.Reset()
	x.thinking.Reset()
	s.think = &api.ThinkValue{Value: other}
	err := x.whenFree(ctx, s)
	if err == nil && !x.cutOff && !breaksFormat(x.text.String(), s.format) {
		x.client.preferThinking(ctx, x.known, other)
		x.note = string(x.client.defect(x.info.Name, x.known))
		return
	}
	x.client.logger().Warn("asking again did not help", "model", x.info.Name, "error", err)
	x.text.Reset()
	x.text.WriteString(text)
	x.thinking.Reset()
	x.thinking.WriteString(thinking)
	x.calls, x.cutOff = nil, false
}

// breaksFormat reports whether a whole reply cannot have been written under a
// format: it is no JSON, or no object where the format wants one.
func breaksFormat(text string, format json.RawMessage) bool {
	text = strings.TrimSpace(text)
	var schema struct {
		Type any `json:"type"`
	}
	object := json.Unmarshal(format, &schema) == nil && schema.Type == "object"
	return !json.Valid([]byte(text)) || object && !strings.HasPrefix(text, "{")
}

// empty reports whether nothing usable has arrived.
func (x *exchange) empty() bool {
	return len(x.calls) == 0 && strings.TrimSpace(x.text.String()) == ""
}

// endedOrBroke reports whether there was a reply at all, complete or not.
func endedOrBroke(err error) bool {
	var cut *CutStreamError
	return err == nil || errors.As(err, &cut)
}

// whenFree sends a request and retries a busy server with growing delays.
func (x *exchange) whenFree(ctx context.Context, s requestForm) error {
	delay := x.client.firstDelay()
	for try := 1; ; try++ {
		err := x.once(ctx, s)
		if code, _ := status(err); code != http.StatusServiceUnavailable || try == busyTries {
			return err
		}
		x.client.logger().Info("Ollama is busy", "try", try, "again_in", delay)
		if err := pause(ctx, delay); err != nil {
			return err
		}
		delay *= 2
	}
}

func pause(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once makes one HTTP request and reads its stream.
func (x *exchange) once(ctx context.Context, s requestForm) error {
	answered, done := false, false
	x.try = try{text: x.text.Len()}
	kept, asking := x.client.tape(x.req.Header())
	err := asking.Chat(ctx, x.chatRequest(s), func(line api.ChatResponse) error {
		answered = true
		x.extend()
		raw := kept.line()
		if len(line.Message.ToolCalls) > 0 {
			calls, err := readCalls(raw)
			if err != nil {
				return err
			}
			x.calls = append(x.calls, calls...)
			x.try.spoken = true
		}
		x.take(line.Message.Content, line.Message.Thinking)
		if line.Done || line.DoneReason != "" { // newer backends leave out one or the other
			done = true
			x.cutOff = line.DoneReason == "length"
			x.promptTokens += line.PromptEvalCount
			x.completionTokens += line.EvalCount
			x.promptTime += line.PromptEvalDuration
			x.writeTime += line.EvalDuration
			x.loadTime += line.LoadDuration
			x.replies++
			return nil
		}
		return x.patience()
	})
	if done {
		return nil // later connection errors do not matter
	}
	if err == nil && !x.empty() && kept.ended() && x.try.equal < repeatsGivenUp {
		x.note = unsaidEnd
		x.replies++
		return nil
	}
	var stalled *StalledError
	if errors.As(err, &stalled) || silent(err) {
		return err
	}
	if err == nil {
		err = kept.refusal()
	}
	if code, _ := status(err); code != 0 {
		return err
	}
	switch {
	case kept.breach() != nil:
		err = reason(kept.breach())
	case kept.torn():
		err = fmt.Errorf("the server ended the stream in the middle of a line: %w", io.ErrUnexpectedEOF)
	case err == nil && answered:
		err = fmt.Errorf("the server ended the stream: %w", io.ErrUnexpectedEOF)
	case err == nil:
		err = fmt.Errorf("the server sent nothing: %w", io.ErrUnexpectedEOF)
	}
	return &CutStreamError{Model: x.info.Name, Bytes: x.text.Len(), Repeats: x.try.equal, Err: err}
}

// unsaidEnd is the note on a reply that ended as the connection says, and of which the server
// did not say that it was done.
const unsaidEnd = "the server ended the reply without saying that it is whole"

func (x *exchange) take(text, thinking string) {
	if text == "" && thinking == "" {
		return
	}
	x.text.WriteString(text)
	x.thinking.WriteString(thinking)
	x.try.thought += len(thinking)
	if piece := strings.TrimSpace(text + thinking); piece == x.try.last {
		x.try.equal++
	} else {
		x.try.last, x.try.equal = piece, 1
	}
	if x.delta != nil {
		x.delta(text, thinking)
	}
}

// patience returns an error once the model has thought for too long without a
// word of text. An old model thinks in its text, between tags.
func (x *exchange) patience() error {
	if x.req.MaxThinking <= 0 || x.try.spoken {
		return nil
	}
	const opening, closing = "<think>", "</think>"
	text := strings.TrimSpace(x.text.String()[x.try.text:])
	thought := x.try.thought
	switch {
	case strings.HasPrefix(text, opening) && !strings.Contains(text, closing):
		thought += len(text) - len(opening)
	case strings.HasPrefix(text, opening):
		_, text, _ = strings.Cut(text, closing)
		x.try.spoken = strings.TrimSpace(text) != ""
	default:
		x.try.spoken = !strings.HasPrefix(opening, text)
	}
	if x.try.spoken || thought <= x.req.MaxThinking {
		return nil
	}
	return &StalledError{Model: x.info.Name, Bytes: thought}
}
