package server

import (
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Status returns the health of the server for people, without secrets of the
// configurations.
func (s *Server) Status() plan.ServerStatus {
	now := s.state.facts()
	secrets := s.settings.Secrets
	shown := func(text string) untrusted.Text { return untrusted.Text(secrets.Text(text)) }
	out := plan.ServerStatus{
		Name: s.config.Name, State: now.State, Tools: len(now.description.Tools()),
		Source: s.config.Source.String(), StartMS: now.startup.Milliseconds(), LastError: shown(now.failed),
		Declined: now.Declined, Allowed: s.isAllowed(now), Disabled: now.Disabled,
		Protocol: now.protocol, BadEntry: now.State == plan.ServerFailed && s.isBadEntry(),
		NeedsLogin: now.needLogin, Changes: len(now.description.Changes()), TaskTools: untrusted.Text(now.tasks),
		StartLimit: s.startTimeout(), Log: s.logFile(now),
	}
	switch {
	case now.State == plan.ServerReady, now.State == plan.ServerStopped:
		out.Note = shown(now.Problem)
	case now.State == plan.ServerFailed && s.isRequired(now):
		out.Error = shown("is required, but " + now.Problem)
	default:
		out.Error = shown(now.Problem)
	}
	if now.startup > 0 {
		out.StartMS = max(out.StartMS, 1)
	}
	calls := s.caller.usage()
	out.Calls, out.Failures, out.LastMS, out.MedianMS = calls.Calls, calls.Failures, calls.Last.Milliseconds(), calls.Median.Milliseconds()
	if now.lastLine != nil && now.State == plan.ServerStarting {
		out.Doing = shown(now.lastLine())
	}
	if now.conn != nil && s.builtin == nil && !now.description.InstructionsChanged() {
		out.Instructions = untrusted.Text(secrets.Known(now.conn.Instructions()))
	}
	s.describeTransport(&out)
	return out
}
