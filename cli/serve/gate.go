package serve

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/agent/event"
)

// gate is an open gate of a run.
type gate struct {
	event.GateRequested
	run  string
	goal string
	text string // the whole call and its diff as text, control characters visible
}

// gateID identifies a gate among those of several runs.
func gateID(run, gate string) string { return run + "/" + gate }

func (g gate) id() string { return gateID(g.run, g.Gate) }

// answer is the answer to a gate.
type answer struct {
	gate     gate
	decision event.Decision
	scope    event.Scope
	by       string // "" is the user
	reason   string // why not, in the user's words
}

// denial is a gate that was denied.
type denial struct{ tool, by, reason string }

// What answers the gates that no user of the client answers.
const (
	noUser      = "replan serve, because this client cannot ask its user (it has no elicitation)"
	failedToAsk = "replan serve, because this client failed to ask its user"
	notOffered  = "replan serve, because this client answered with none of the choices"
)

// The decisions that a user can choose from.
const (
	allowOnce = "allow once"
	allowRun  = "allow for this run"
	deny      = "deny"
)

// longestQuestion is the number of bytes of a call and its diff that a user is
// shown. A longer one must not be allowed unseen.
const longestQuestion = 20_000

// question returns the form that asks the user about the gate.
func (g gate) question() mcp.ElicitationParams {
	decisions := []string{allowOnce}
	if _, why := g.ForRun(); why == "" {
		decisions = append(decisions, allowRun)
	}
	text := fmt.Sprintf("replan asks before a step of its run %s, whose goal is: %s\n\n%s", g.run, g.goal, g.text)
	if len(g.text) > longestQuestion {
		decisions = nil
		text = fmt.Sprintf("replan cannot show a step of its run %s here: the call has %d bytes. Deny it, and resume the run on a terminal with replan plan resume %[1]s.", g.run, len(g.text))
	}
	return mcp.ElicitationParams{
		Mode: mcp.ElicitationModeForm, Message: text,
		RequestedSchema: map[string]any{
			"type": "object", "required": []string{"decision"},
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "description": "May replan make this call?", "enum": append(decisions, deny)},
				"reason":   map[string]any{"type": "string", "title": "Reason", "description": "With deny: why not, or what to do instead. It may stay empty."},
			},
		},
	}
}

// answered reads the user's answer. Whatever is no permission denies.
func (g gate) answered(r *mcp.ElicitationResult) answer {
	out := answer{gate: g, decision: event.Deny, scope: event.ScopeOnce}
	if r == nil || r.Action != mcp.ElicitationResponseActionAccept || len(g.text) > longestQuestion {
		return out
	}
	form, _ := r.Content.(map[string]any)
	switch form["decision"] {
	case allowOnce:
		out.decision = event.Allow
	case allowRun:
		if _, why := g.ForRun(); why == "" {
			out.decision, out.scope = event.Allow, event.ScopeRun
		}
	case deny:
		out.reason, _ = form["reason"].(string)
	default:
		out.by = notOffered
	}
	return out
}

// askWay is how a client asks its user.
type askWay int

const (
	asksNever   askWay = iota
	asksDuring         // while a call waits
	asksBetween        // between two requests, since protocol 2026-07-28
)

// askWay returns how the client of a request asks its user.
func (s *Server) askWay(ctx context.Context) askWay {
	client, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok {
		return asksNever
	}
	can := client.GetClientCapabilities().Elicitation
	switch {
	case can == nil || can.Form == nil && can.URL != nil: // without a mode, forms are meant
		return asksNever
	case mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)):
		return asksBetween
	default:
		return asksDuring
	}
}

// ask asks the user of the client about a gate. A client that fails to ask denies.
func (s *Server) ask(ctx context.Context, g gate) answer {
	reply, err := s.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{Params: g.question()})
	if err != nil {
		s.cfg.Logger.Warn("ask the user of an MCP client", "error", err)
		return answer{gate: g, decision: event.Deny, scope: event.ScopeOnce, by: failedToAsk}
	}
	return g.answered(reply)
}
