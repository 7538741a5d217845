package mcpclient

import (
	"context"
	"fmt"

	"replan/mcpclient/config"
	"replan/mcpclient/server"
	"replan/mcpclient/trust"
	"replan/planning/plan"
)

// Program is a local program other than an MCP server that needs the user's
// permission to start.
type Program = trust.Program

// permissions are what the user allows: a project's own servers, other programs, and what
// servers say of their tools.
type permissions struct {
	workspace  string
	life       context.Context // of the pool
	roster     *roster
	signal     *server.Signal
	admissions *admissions
	programs   *trust.Programs
}

// Pending returns the project's own servers that wait for permission, as
// written in their file: variables may be secrets, so they are not expanded.
// The programs of [Pool.MayStart] and [Pool.Offer] follow.
func (p *permissions) Pending() []plan.PendingServer {
	var waiting []plan.PendingServer
	for _, s := range p.roster.all() {
		if question, waits := s.Pending(); waits {
			waiting = append(waiting, question)
		}
	}
	return append(waiting, p.programs.Pending()...)
}

// Answer starts those of the Pending servers that the user was asked about, or
// leaves them out, and stores the answer for this workspace. A server whose entry
// has changed since the question stays pending. Answer does not wait for the
// servers. If the answer cannot be stored, it still counts for this pool, and
// Answer returns the error.
func (p *permissions) Answer(_ context.Context, asked []plan.PendingServer, yes bool) error {
	var answered, declined []config.Server
	err := p.roster.change(func(all []*server.Server) []*server.Server {
		for _, s := range all {
			question, _ := s.Pending()
			if trust.WasAsked(asked, question) && (yes && s.Allow() || !yes && s.Decline()) {
				answered = append(answered, s.Config())
			}
		}
		allowed, refused, run := p.programs.Answer(asked, yes)
		for _, accepted := range run {
			p.roster.run(func() { accepted(p.life) })
		}
		answered, declined = append(answered, allowed...), refused
		return all
	})
	p.signal.Wake()
	if err != nil || len(answered)+len(declined) == 0 {
		return err
	}
	p.signal.Tell()
	if err := p.admissions.rememberDeclined(declined); err != nil {
		return err
	}
	return p.admissions.remember(answered, yes)
}

// Revoke stops a server of the project's own configuration that the user has allowed,
// and remembers that the user says no to it. Its calls in progress fail. A restart asks
// again. If that cannot be stored, it still counts for this pool, and Revoke returns
// the error.
func (p *permissions) Revoke(name string) error {
	known := p.admissions.decisions()
	var revoked config.Server
	err := p.roster.replace(name, func(old *server.Server) (*server.Server, error) {
		if !old.IsAllowed() {
			return nil, fmt.Errorf("%s is no server of the project that you have allowed", name)
		}
		revoked = old.Config()
		known.answers = known.answers.With(p.workspace, revoked, false)
		s := p.admissions.newServer(revoked, known)
		s.Replaces(old)
		return s, nil
	})
	if err != nil {
		return err
	}
	p.signal.Announce()
	return p.admissions.remember([]config.Server{revoked}, false)
}

// MayStart reports whether the user allowed a program for this workspace. If
// the user has not been asked yet, Pending lists it from now on. Permissions
// are stored as they are for a project's servers.
func (p *permissions) MayStart(wanted Program) bool {
	allowed, asks := p.programs.MayStart(wanted)
	if asks {
		p.signal.Announce()
	}
	return allowed
}

// Offer asks whether to run a program now. A yes runs it in the background, until
// the pool ends at the latest. Once the user said no, or the program succeeded, no
// later pool of the user offers it again.
func (p *permissions) Offer(wanted Program, run func(ctx context.Context) error) {
	if p.programs.Offer(wanted, run) {
		p.signal.Announce()
	}
}

// Accepted reports whether the user said yes to an offer in this workspace, now or
// earlier, and it succeeded.
func (p *permissions) Accepted(offer Program) bool { return p.programs.Accepted(offer) }

// LeftOut returns the names of the project's own servers that were left out
// because no user was present to allow them.
func (p *permissions) LeftOut() []string {
	var out []string
	for _, v := range p.roster.views() {
		if v.LeftOut {
			out = append(out, v.Name)
		}
	}
	return out
}

// Changes returns what servers say that the user has not accepted, in the order of
// the servers.
func (p *permissions) Changes() []plan.ServerChange {
	var all []plan.ServerChange
	for _, s := range p.roster.all() {
		all = append(all, s.Changes()...)
	}
	return all
}

// Accept pins what a server says in place of the earlier text, after the user has
// seen the difference. It fails if the server says something else by now.
func (p *permissions) Accept(ctx context.Context, seen plan.ServerChange) error {
	s, err := p.roster.find(seen.Server)
	if err != nil {
		return err
	}
	return s.Accept(ctx, seen)
}
