package runner

import "replan/agent/session"

// Abilities returns what the session can do, which is everything.
func (*Session) Abilities() session.Abilities { return session.Abilities{} }
