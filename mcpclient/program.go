package mcpclient

import (
	"context"
	"slices"

	"replan/mcpclient/config"
	"replan/planning/plan"
)

// Program is a local program other than an MCP server that needs the user's
// permission to start.
type Program struct {
	Name     string
	Command  string // its path
	Args     []string
	Question string // the question for the user
	Why      string // the effect of a yes
}

// program is a program and the state of its permission.
type program struct {
	Program
	state programState
	run   func(ctx context.Context) error // what to run after a yes to an offer; nil for a permission
}

type programState int

const (
	programAsked programState = iota
	programAllowed
	programDenied
)

// offeredBefore takes the place of the workspace when offers are stored, since
// each is made only once.
const offeredBefore = "*"

func (p Program) server() config.Server {
	return config.Server{Name: p.Name, Command: p.Command, Args: p.Args, Source: config.SourceProject}
}

func (p *program) forPeople() plan.PendingServer {
	shown := p.server().AsWritten()
	shown.Question, shown.Why = p.Question, p.Why
	return shown
}

// MayStart reports whether the user allowed a program for this workspace. If
// the user has not been asked yet, Pending lists it from now on. Permissions
// are stored as they are for a project's servers.
func (p *Pool) MayStart(wanted Program) bool {
	return p.ask(p.cfg.Dir, wanted, nil) == programAllowed
}

// Offer asks whether to run a program now. A yes runs it in the background, until
// the pool ends at the latest. Once the user said no, or the program succeeded, no
// later pool of the user offers it again.
func (p *Pool) Offer(wanted Program, run func(ctx context.Context) error) {
	p.ask(offeredBefore, wanted, run)
}

// Accepted reports whether the user said yes to an offer in this workspace, now or
// earlier, and it succeeded.
func (p *Pool) Accepted(offer Program) bool {
	allowed, _ := p.trust.read() // a damaged file is reported by ask
	return allowed.allows(p.cfg.Dir, offer.server())
}

// ask returns the user's answer, and adds the question if it is new.
func (p *Pool) ask(workspace string, wanted Program, run func(ctx context.Context) error) programState {
	allowed, err := p.trust.read()
	if err != nil {
		p.log.Warn("allowed programs", "error", err)
	}
	if allowed.allows(workspace, wanted.server()) {
		return programAllowed
	}
	if p.cfg.Trust != TrustAsk {
		return programDenied
	}
	p.mu.Lock()
	for _, known := range p.programs {
		if fingerprint(workspace, known.server()) == fingerprint(workspace, wanted.server()) {
			defer p.mu.Unlock()
			return known.state
		}
	}
	p.programs = append(p.programs, &program{Program: wanted, run: run})
	p.broadcast()
	p.mu.Unlock()
	p.notify()
	return programAsked
}

// isAmong reports whether the user was asked about a server or program, as it is now.
func isAmong(asked []plan.PendingServer, one plan.PendingServer) bool {
	return slices.ContainsFunc(asked, one.Equal)
}

// answerPrograms answers the given questions and returns the allowed programs and
// the declined offers. The caller holds the mutex.
func (p *Pool) answerPrograms(questions []plan.PendingServer, yes bool) (allowed, declined []config.Server) {
	for _, asked := range p.programs {
		if asked.state != programAsked || !isAmong(questions, asked.forPeople()) {
			continue
		}
		asked.state = programDenied
		if yes {
			asked.state = programAllowed
		}
		switch {
		case asked.run == nil && yes:
			allowed = append(allowed, asked.server())
		case asked.run != nil && yes:
			p.work.Go(func() { p.accept(asked) })
		case asked.run != nil:
			declined = append(declined, asked.server())
		}
	}
	return allowed, declined
}

// accept runs an offered program and remembers a success.
func (p *Pool) accept(offer *program) {
	err := offer.run(p.life)
	for _, workspace := range []string{offeredBefore, p.cfg.Dir} {
		if err == nil {
			err = p.trust.remember(workspace, []config.Server{offer.server()}, true)
		}
	}
	if err != nil {
		p.log.Warn("an offered program", "program", offer.Name, "error", err)
	}
}

// Note tells the user something, by way of [Pool.Notes].
func (p *Pool) Note(text string) {
	noteOn(p, "", text)
}

// note tells the user something about a server, or about none.
type note struct{ server, text string }

func noteOn(p *Pool, server, text string) {
	p.mu.Lock()
	p.notes = append(p.notes, note{server, text})
	p.mu.Unlock()
	p.notify()
}

// Notes returns the notes since the last call.
func (p *Pool) Notes() []string { return NotesOn(p, "") }

// NotesOn returns the notes since the last call that are about a server, or about none.
// Without a name it returns all.
func NotesOn(p *Pool, server string) (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.notes {
		if server == "" || n.server == "" || n.server == server {
			texts = append(texts, n.text)
		}
	}
	p.notes = nil
	return texts
}
