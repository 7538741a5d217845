package ollamatest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/ollama/ollama/api"

	"replan/planning/prompt"
)

const maxBody = 64 << 20 // bytes of one request

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	req := Request{Raw: body}
	req.Purpose, req.Step = purposeOf(r.Header)
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	switch {
	case req.asksNothing():
		s.recordAhead(req)
	case len(req.Messages) > 0:
		s.record(req)
	}
	m, ok := s.find(req.Model)
	if !ok {
		writeError(w, http.StatusNotFound, notFound(req.Model))
		return
	}
	if status, message := refuse(m, req); status != 0 {
		writeError(w, status, message)
		return
	}
	s.load(m, req)
	if len(req.Messages) == 0 {
		end := s.line(req)
		end.Done, end.DoneReason = true, "load"
		if unloads(req.KeepAlive) {
			end.DoneReason = "unload"
		}
		writeJSON(w, http.StatusOK, end)
		return
	}
	reply, ok := Reply{DoneReason: "length"}, true
	if !req.asksNothing() {
		reply, ok = s.recorded(req)
		if recorded := s.plays(req); !ok && recorded && !s.script.Loose {
			writeError(w, http.StatusInternalServerError, unrecorded)
			return
		}
	}
	if !ok {
		reply, ok = s.take(req)
	}
	if !ok {
		writeError(w, http.StatusInternalServerError, fmt.Sprintf("ollamatest: no reply left for %q", req.label()))
		return
	}
	if reply.Hold != nil {
		select {
		case <-reply.Hold:
		case <-r.Context().Done():
			return
		}
	}
	if reply.Status != 0 {
		writeError(w, reply.Status, reply.Error)
		return
	}
	if len(reply.Calls) > 0 && !req.offersTools() {
		writeError(w, http.StatusInternalServerError, fmt.Sprintf("ollamatest: the reply calls %s, but %q offers no tools", reply.Calls[0].Name, req.label()))
		return
	}
	a := &answer{server: s, model: m, req: req, reply: reply, w: w, began: time.Now()}
	if s.cache != nil {
		if a.slot = s.cache.read(r.Context(), m, req); a.slot == nil {
			return
		}
		defer s.cache.leave(a.slot)
	}
	a.stream(r.Context())
}

// refuse returns the error with which Ollama rejects a request before any model
// sees it, or status 0 if it accepts the request.
func refuse(m Model, req Request) (status int, message string) {
	if !m.can("completion") {
		return http.StatusBadRequest, fmt.Sprintf("%q does not support chat", req.Model)
	}
	if req.offersTools() && !m.can("tools") {
		return http.StatusBadRequest, fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", m.Name)
	}
	if req.shows() && !m.can("vision") {
		return http.StatusInternalServerError, "image input is not supported by this model"
	}
	if message := badThink(m, req); message != "" {
		return http.StatusBadRequest, message
	}
	if message := badFormat(req.Format); message != "" {
		return http.StatusInternalServerError, message
	}
	if need := m.memory(window(m, req)); m.MostBytes > 0 && need > m.MostBytes {
		return http.StatusInternalServerError, fmt.Sprintf("model requires more system memory (%d B) than is available (%d B)", need, m.MostBytes)
	}
	if req.Truncate != nil && !*req.Truncate && req.estimatedTokens() > window(m, req) {
		return http.StatusBadRequest, "the input length exceeds the context length"
	}
	return 0, ""
}

// window returns the context window of the request in tokens.
func window(m Model, req Request) int {
	n := req.NumCtx()
	if n == 0 {
		n = m.NumCtx
	}
	if n == 0 {
		n = defaultNumCtx
	}
	return min(n, m.ContextLength)
}

func badThink(m Model, req Request) string {
	word, isWord := req.Think.(string)
	on := req.Think == true || isWord
	switch {
	case isWord && !slices.Contains([]string{"high", "medium", "low", "max"}, word):
		return fmt.Sprintf("invalid think value: %q (must be \"high\", \"medium\", \"low\", \"max\", true, or false)", word)
	case on && !m.can("thinking"):
		return fmt.Sprintf("%q does not support thinking", req.Model)
	}
	return ""
}

func badFormat(format json.RawMessage) string {
	const invalid = "invalid JSON schema in format"
	if len(format) == 0 {
		return ""
	}
	var value any
	if err := json.Unmarshal(format, &value); err != nil {
		return invalid
	}
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		if v != "" && v != "json" {
			return fmt.Sprintf("invalid format: %q; expected \"json\" or a valid JSON Schema object", v)
		}
		return ""
	case map[string]any:
		kind, isString := v["type"].(string)
		known := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
		if isString && !slices.Contains(known, kind) {
			return invalid
		}
		return ""
	}
	return invalid
}

func (s *Server) record(req Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

func (s *Server) recordAhead(req Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = append(s.ahead, req)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// plays reports whether a request is for the recorded model.
func (s *Server) plays(req Request) bool {
	r := s.script.Recording
	return r != nil && prompt.SameModel(r.Model().Name, req.Model)
}

// recorded returns the recorded reply to a request.
func (s *Server) recorded(req Request) (Reply, bool) {
	if !s.plays(req) {
		return Reply{}, false
	}
	return s.script.Recording.take(req, s.script.Loose)
}

// take returns the matching reply and counts it as used.
func (s *Server) take(req Request) (Reply, bool) {
	for i, reply := range s.script.Replies {
		if s.left(i, false) && reply.fits(req) && s.left(i, true) {
			return reply, true
		}
	}
	return Reply{}, false
}

// left reports whether reply i may still be used, and counts it as used if use is
// set. It calls the script's own functions without the lock, since they may call
// the server.
func (s *Server) left(i int, use bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := s.script.Replies[i].Times
	if times >= 0 && s.used[i] >= max(times, 1) {
		return false
	}
	if use {
		s.used[i]++
	}
	return true
}

func (s *Server) line(req Request) api.ChatResponse {
	return api.ChatResponse{Model: req.Model, CreatedAt: time.Now().UTC(), Message: api.Message{Role: "assistant"}}
}

// answer is a reply that is being sent to a client.
type answer struct {
	server *Server
	model  Model
	req    Request
	reply  Reply
	w      http.ResponseWriter
	began  time.Time
	slot   *slot            // nil if reading and writing cost nothing
	count  int              // pieces of the reply
	sent   int              // chunks sent so far
	bytes  int              // bytes of the body sent so far
	whole  api.ChatResponse // for clients that do not stream
}

// piece is one chunk of text or thinking, or a call.
type piece struct {
	text, thinking string
	call           *api.ToolCall
	tokens         int // cost of writing it
}

func (a *answer) stream(ctx context.Context) {
	if a.streams() {
		a.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	pieces, breaks := a.pieces()
	a.count = len(pieces)
	limit := a.req.NumPredict()
	for i, p := range pieces {
		if limit > 0 && i >= limit {
			a.finish("length")
			return
		}
		if !a.wait(ctx, i, p) {
			return
		}
		if ctx.Err() != nil || !a.send(p) {
			return
		}
	}
	switch {
	case breaks && a.reply.CutAfter != 0:
		a.flush()
		panic(http.ErrAbortHandler) // the only way in net/http to break a connection
	case breaks:
		a.flush()
	case a.reply.Error != "":
		a.flush()
		_ = json.NewEncoder(a.w).Encode(map[string]string{"error": a.reply.Error})
	default:
		a.finish("")
	}
}

// pieces returns what to send, and whether the stream breaks afterwards.
func (a *answer) pieces() (out []piece, breaks bool) {
	cut := func(text string) []string { return chunks(text, a.server.script.ChunkSize) }
	size := a.server.tokenSize()
	if a.slot != nil {
		cut = func(text string) []string { return tokens(text, size) }
	}
	if a.model.can("thinking") && a.req.Think != false {
		for _, c := range cut(a.reply.Thinking) {
			out = append(out, piece{thinking: c, tokens: 1})
		}
	}
	text := a.reply.text(a.req)
	for _, limit := range []int{a.reply.CutAfter, a.reply.EndAfter} {
		if limit != 0 {
			text, breaks = text[:min(max(limit, 0), len(text))], true
		}
	}
	parts := cut(text)
	if len(a.reply.Pieces) > 0 {
		parts, breaks = a.reply.Pieces, true
	}
	for _, c := range parts {
		out = append(out, piece{text: c, tokens: 1})
	}
	if breaks {
		return out, true
	}
	for i, call := range a.reply.Calls {
		asked := &api.ToolCall{ID: call.ID, Function: api.ToolCallFunction{Index: i, Name: call.Name, Arguments: api.NewToolCallFunctionArguments()}}
		if asked.ID == "" {
			asked.ID = fmt.Sprintf("call_%08x", i+1)
		}
		for _, key := range slices.Sorted(maps.Keys(call.Args)) {
			asked.Function.Arguments.Set(key, call.Args[key])
		}
		out = append(out, piece{call: asked, tokens: (len(callText(call.Name, asked.Function.Arguments.String())) + size - 1) / size})
	}
	return out, false
}

// wait waits until the model has written piece i of its reply.
func (a *answer) wait(ctx context.Context, i int, p piece) bool {
	if a.slot != nil {
		return a.server.cache.write(ctx, a.slot, p)
	}
	if a.reply.Took != (api.Metrics{}) {
		return a.waitLike(ctx, i)
	}
	if a.server.script.Pace <= 0 || i == 0 {
		return true
	}
	return sleep(ctx, time.Now().Add(a.server.script.Pace))
}

// waitLike waits as long as the real model took to piece i, or shorter by the speedup.
func (a *answer) waitLike(ctx context.Context, i int) bool {
	if a.server.script.Speedup <= 0 {
		return ctx.Err() == nil
	}
	took := float64(a.reply.Took.PromptEvalDuration) + float64(a.reply.Took.EvalDuration)*float64(i)/float64(max(a.count, 1))
	return sleep(ctx, a.began.Add(time.Duration(took/a.server.script.Speedup)))
}

// sleep waits until the given time and reports whether it was reached.
func sleep(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends one piece and reports whether the client still reads.
func (a *answer) send(p piece) bool {
	a.sent += p.tokens
	if !a.streams() {
		a.whole.Message.Content += p.text
		a.whole.Message.Thinking += p.thinking
		if p.call != nil {
			a.whole.Message.ToolCalls = append(a.whole.Message.ToolCalls, *p.call)
		}
		return true
	}
	line := a.server.line(a.req)
	line.Message.Content, line.Message.Thinking = p.text, p.thinking
	if p.call != nil {
		line.Message.ToolCalls = []api.ToolCall{*p.call}
	}
	return a.write(line)
}

func (a *answer) finish(reason string) {
	if reason == "" {
		reason = a.reply.DoneReason
	}
	if reason == "" {
		reason = "stop"
	}
	end := a.server.line(a.req)
	end.Message.Content, end.Message.Thinking = a.whole.Message.Content, a.whole.Message.Thinking
	end.Message.ToolCalls = a.whole.Message.ToolCalls
	end.Done, end.DoneReason = true, reason
	elapsed := time.Since(a.began)
	end.Metrics = api.Metrics{
		TotalDuration:   elapsed,
		PromptEvalCount: a.req.estimatedTokens(),
		EvalCount:       a.sent,
		EvalDuration:    elapsed,
	}
	if a.slot != nil {
		end.PromptEvalCount, end.PromptEvalDuration = a.slot.promptTokens, a.slot.readFor
		end.EvalDuration = elapsed - a.slot.readFor
	}
	if took := a.reply.Took; took != (api.Metrics{}) {
		end.Metrics = took
		end.TotalDuration = took.PromptEvalDuration + took.EvalDuration
	}
	if !a.streams() {
		writeJSON(a.w, http.StatusOK, end)
		return
	}
	a.write(end)
}

// write sends one line, or the part of it before the point where the stream must
// break. It reports whether the stream continues.
func (a *answer) write(line api.ChatResponse) bool {
	body, err := json.Marshal(line)
	if err != nil {
		return false
	}
	body = append(body, '\n')
	cut, end := a.within(a.reply.BreakAfter, body), a.within(a.reply.StopAfter, body)
	if stop := min(cut, end); stop < len(body) {
		_, _ = a.w.Write(body[:stop])
		a.flush()
		if cut == stop {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	a.bytes += len(body)
	if _, err := a.w.Write(body); err != nil {
		return false
	}
	a.flush()
	return true
}

// within returns how many bytes of the next line fit below a limit; all of them
// if there is no limit.
func (a *answer) within(limit int, line []byte) int {
	if limit == 0 {
		return len(line)
	}
	return min(max(limit, 0)-a.bytes, len(line))
}

// flush sends buffered data. If flushing fails, the connection is broken and the
// next write reports it.
func (a *answer) flush() { _ = http.NewResponseController(a.w).Flush() }

func (a *answer) streams() bool { return a.req.Stream == nil || *a.req.Stream }
