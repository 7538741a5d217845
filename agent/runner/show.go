package runner

import (
	"context"
	"slices"

	"replan/agent"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/planning/plan"
)

// Restarter is a set of tools of which the user may have a server started anew.
// [Tools] may be one too.
type Restarter interface {
	// Restart ends a server, if it is there, and starts it; it does not wait for
	// that.
	Restart(server string) error
}

// shown carries out the commands that only show what there is.
func (s *Session) shown(ctx context.Context, c Command) {
	switch c := c.(type) {
	case Look:
		s.look(ctx)
	case Servers:
		s.servers(ctx)
	case Restart:
		s.restart(c.Server)
	case Settings:
		if s.cfg.Settings != nil {
			_ = s.say(s.cfg.Settings())
		}
	case Talks:
		s.talks()
	case Recall:
		s.recallRun(c.Run)
	case branched:
		if s.status.Branch != c.name {
			s.status.Branch = c.name
			s.tell()
		}
	}
}

// branched is the branch that the workspace is on.
type branched struct{ name string }

func (branched) command() {}

// findBranch finds out which branch the workspace is on.
func (s *Session) findBranch() {
	if s.cfg.Branch == nil {
		return
	}
	s.workers.Go(func() { s.said <- said{then: branched{s.cfg.Branch()}} })
}

// servers tells which tool servers there are and what they offer, as far as that
// is known now.
func (s *Session) servers(ctx context.Context) {
	rules := slices.Concat(s.cfg.Rules, policy.BuiltIn(policy.Trust{Workspace: s.cfg.Trusted}))
	s.workers.Go(func() {
		// Nobody is waited for: what starts is shown as starting.
		now, cancel := context.WithCancel(ctx)
		cancel()
		told := session.Servers{Servers: s.cfg.Tools.Status(), Tools: []session.OfferedTool{}}
		for _, t := range s.cfg.Tools.Ready(now) {
			told.Tools = append(told.Tools, session.OfferedTool{
				Server: t.Server, Name: t.Name, Description: t.Description, ReadOnly: t.ReadOnly, Destructive: t.Destructive,
				Verdict: verdictOn(rules, t),
			})
		}
		s.said <- said{events: []agent.Data{told}}
	})
}

// verdictOn is what the rules say of the calls of a tool, "" where that hangs on
// their arguments.
func verdictOn(rules []agent.Rule, t plan.Tool) agent.Verdict {
	verdict := agent.Verdict("")
	for i, rule := range agent.Speaking(rules, t) {
		if i > 0 && rule.Verdict != verdict {
			return ""
		}
		verdict = rule.Verdict
	}
	return verdict
}

// restart has a tool server started anew.
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

// talks tells which conversations there are.
func (s *Session) talks() {
	s.workers.Go(func() {
		talks, err := s.cfg.Store.Conversations()
		for i := range talks {
			talks[i].Open = talks[i].Open || talks[i].Session == s.id
		}
		w := said{events: []agent.Data{session.Conversations{Talks: talks}}}
		if err != nil {
			w.events = append(w.events, agent.Note{Level: "warn", Text: err.Error()})
		}
		s.said <- w
	})
}

// recallRun tells all that happened in a run.
func (s *Session) recallRun(run string) {
	s.workers.Go(func() {
		told := session.Journal{Run: run}
		var err error
		told.Events, err = s.cfg.Store.ReadRun(run)
		if err != nil {
			told.Problem = err.Error()
		}
		s.said <- said{events: []agent.Data{told}}
	})
}
