package ollamatest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
)

const maxBody = 64 << 20 // bytes of one request

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	req := Request{Raw: body}
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if len(req.Messages) > 0 {
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
	if len(req.Messages) == 0 {
		end := s.line(req)
		end.Done, end.DoneReason = true, "load"
		writeJSON(w, http.StatusOK, end)
		return
	}
	reply, ok := s.take(req)
	if !ok {
		writeError(w, http.StatusInternalServerError, fmt.Sprintf("ollamatest: no reply left for %q", req.Heading()))
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
	a := &answer{server: s, model: m, req: req, reply: reply, w: w, began: time.Now()}
	a.stream(r.Context())
}

// refuse is the error with which Ollama turns a request away before any model
// sees it; status 0 means that it does not.
func refuse(m Model, req Request) (status int, message string) {
	if !m.can("completion") {
		return http.StatusBadRequest, fmt.Sprintf("%q does not support chat", req.Model)
	}
	if len(req.Tools) > 0 && string(req.Tools) != "null" && string(req.Tools) != "[]" && !m.can("tools") {
		return http.StatusBadRequest, fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", m.Name)
	}
	if message := badThink(m, req); message != "" {
		return http.StatusBadRequest, message
	}
	if message := badFormat(req.Format); message != "" {
		return http.StatusInternalServerError, message
	}
	if req.Truncate != nil && !*req.Truncate && req.estimatedTokens() > window(m, req) {
		return http.StatusBadRequest, "the input length exceeds the context length"
	}
	return 0, ""
}

// window is how many tokens the model is given room for.
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

// take finds the reply that serves and counts it as used.
func (s *Server) take(req Request) (Reply, bool) {
	for i, reply := range s.script.Replies {
		if s.left(i, false) && reply.fits(req) && s.left(i, true) {
			return reply, true
		}
	}
	return Reply{}, false
}

// left says whether reply i may still serve, and counts it as used if asked
// to. The script's own functions run outside of the lock, as they may ask the
// server something.
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

// answer is one reply on its way to a client.
type answer struct {
	server *Server
	model  Model
	req    Request
	reply  Reply
	w      http.ResponseWriter
	began  time.Time
	sent   int              // chunks so far
	whole  api.ChatResponse // what a client that wants no stream gets
}

// piece is one chunk of words or of thought.
type piece struct{ text, thinking string }

func (a *answer) stream(ctx context.Context) {
	if a.streams() {
		a.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	pieces, breaks := a.pieces()
	limit := a.req.NumPredict()
	for i, p := range pieces {
		if limit > 0 && i >= limit {
			a.finish("length")
			return
		}
		if i > 0 && !a.wait(ctx) {
			return
		}
		if ctx.Err() != nil || !a.send(p) {
			return
		}
	}
	switch {
	case breaks && a.reply.CutAfter != 0:
		a.flush()
		panic(http.ErrAbortHandler) // the one way to break a connection that net/http offers
	case breaks:
		a.flush()
	case a.reply.Error != "":
		a.flush()
		_ = json.NewEncoder(a.w).Encode(map[string]string{"error": a.reply.Error})
	default:
		a.finish("")
	}
}

// pieces is what is to be sent, and whether the stream breaks after it.
func (a *answer) pieces() (out []piece, breaks bool) {
	size := a.server.script.ChunkSize
	if a.model.can("thinking") && a.req.Think != false {
		for _, c := range chunks(a.reply.Thinking, size) {
			out = append(out, piece{thinking: c})
		}
	}
	text := a.reply.text(a.req)
	for _, limit := range []int{a.reply.CutAfter, a.reply.EndAfter} {
		if limit != 0 {
			text, breaks = text[:min(max(limit, 0), len(text))], true
		}
	}
	for _, c := range chunks(text, size) {
		out = append(out, piece{text: c})
	}
	return out, breaks
}

func (a *answer) wait(ctx context.Context) bool {
	if a.server.script.Pace <= 0 {
		return true
	}
	timer := time.NewTimer(a.server.script.Pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends one piece, and says whether anybody still listens.
func (a *answer) send(p piece) bool {
	a.sent++
	if !a.streams() {
		a.whole.Message.Content += p.text
		a.whole.Message.Thinking += p.thinking
		return true
	}
	line := a.server.line(a.req)
	line.Message.Content, line.Message.Thinking = p.text, p.thinking
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
	end.Done, end.DoneReason = true, reason
	took := time.Since(a.began)
	end.Metrics = api.Metrics{
		TotalDuration:   took,
		PromptEvalCount: a.req.estimatedTokens(),
		EvalCount:       a.sent,
		EvalDuration:    took,
	}
	if !a.streams() {
		writeJSON(a.w, http.StatusOK, end)
		return
	}
	a.write(end)
}

func (a *answer) write(line api.ChatResponse) bool {
	if err := json.NewEncoder(a.w).Encode(line); err != nil {
		return false
	}
	a.flush()
	return true
}

// flush sends what has been written; a connection that cannot be flushed is
// broken, which the next write finds out.
func (a *answer) flush() { _ = http.NewResponseController(a.w).Flush() }

func (a *answer) streams() bool { return a.req.Stream == nil || *a.req.Stream }
