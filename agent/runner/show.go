package runner

// Restarter is a set of tools whose servers the user may restart. [Tools] may be
// one too.
type Restarter interface {
	// Restart stops a server if it runs, and starts it. It does not wait until the
	// server is ready.
	Restart(server string) error
}

// findBranch finds out which branch the workspace is on.
func (s *Session) findBranch() {
	if s.cfg.Branch == nil {
		return
	}
	s.workers.Go(func() {
		branch := s.cfg.Branch()
		s.outcomes <- outcome{finish: func() {
			if s.status.Branch != branch {
				s.status.Branch = branch
				s.tell()
			}
		}}
	})
}

// restart restarts a tool server.
func (s *Session) restart(server string) {
	again, ok := s.cfg.Tools.(Restarter)
	if !ok {
		s.tellOf("warn", "these servers cannot be started anew from here")
		return
	}
	if err := again.Restart(server); err != nil {
		s.tellOf("warn", err.Error())
		return
	}
	delete(s.troubles, server) // what goes wrong from now on is new
}
