package wording

import (
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// HealthKind is what has become of a tool server or of the model.
type HealthKind uint8

// Kinds of changes.
const (
	ServerLost       HealthKind = iota + 1 // it had started, and its tools cannot be called
	ServerRestarts                         // it had started, and starts again after a fault
	ServerNotStarted                       // it has never started, and could not
	ServerMissing                          // it had failed before the session was followed, or while it was stopped
	ServerStopped                          // the user has stopped it
	ServerBack                             // its tools can be called, after a change of the kinds above but a stop
	ModelSilent                            // it had answered, and does not
	ModelAnswers                           // it did not answer, and does
)

// HealthChange is a change of a tool server or of the model.
type HealthChange struct {
	Kind   HealthKind
	Server plan.ServerStatus // now; of a change of a server
	Model  untrusted.Text    // that answers
	Why    untrusted.Text    // the model is silent
	Again  bool              // the model had answered before it was silent
}

// Health follows the tool servers and the model of a session. The zero value has seen no
// status.
type Health struct {
	states map[string]plan.ServerState // by server, as last reported
	missed map[string]bool             // servers whose tools cannot be called: whether they had started before
	model  session.Status              // the last one, without its servers
	silent bool                        // the model has answered, and does not
}

// Follow takes the newest status of the session, and returns what has changed since the
// last one: servers in their order, then the model.
func (h *Health) Follow(now session.Status) []HealthChange {
	var changes []HealthChange
	states := make(map[string]plan.ServerState, len(now.Servers))
	for _, s := range now.Servers {
		states[s.Name] = s.State
		if kind := h.server(h.states[s.Name], s); kind != 0 {
			changes = append(changes, HealthChange{Kind: kind, Server: s})
		}
	}
	was := h.model
	h.states, h.model = states, now
	h.model.Servers = nil
	switch {
	case was.Model != "" && was.Problem == "" && now.Problem != "":
		h.silent = true
		changes = append(changes, HealthChange{Kind: ModelSilent, Why: now.Problem})
	case was.Problem != "" && now.Problem == "" && now.Model != "":
		changes = append(changes, HealthChange{Kind: ModelAnswers, Model: now.Model, Again: h.silent})
		h.silent = false
	}
	return changes
}

// server says what a change of a server's state means, 0 for nothing.
func (h *Health) server(before plan.ServerState, s plan.ServerStatus) HealthKind {
	started, missed := h.missed[s.Name]
	miss := func(kind HealthKind, started bool) HealthKind {
		if h.missed == nil {
			h.missed = map[string]bool{}
		}
		h.missed[s.Name] = started
		return kind
	}
	failed, restarts := s.State == plan.ServerFailed, s.State == plan.ServerStarting && s.Error != ""
	switch {
	case s.State == before:
		return 0
	case failed && (before == plan.ServerReady || before == plan.ServerStarting && started):
		return miss(ServerLost, true)
	case failed && before == plan.ServerStarting:
		return miss(ServerNotStarted, false)
	case failed:
		return miss(ServerMissing, started)
	case restarts && before == plan.ServerReady:
		return miss(ServerRestarts, true)
	case restarts:
		return miss(0, started)
	case s.State == plan.ServerStopped:
		return ServerStopped
	case s.State == plan.ServerReady && missed:
		delete(h.missed, s.Name)
		return ServerBack
	default:
		return 0
	}
}
