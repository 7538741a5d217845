package mcpclient

import (
	"context"
	"slices"

	"replan/planning/plan"
)

// Program is a program of this machine, no MCP server, that is started only after
// a yes.
type Program struct {
	Name     string
	Command  string // its path
	Args     []string
	Question string // what is asked
	Why      string // what a yes means
}

// program is a program that was asked about.
type program struct {
	Program
	state programState
	run   func(ctx context.Context) // of an offer: what a yes does; nil for a permission
}

type programState int

const (
	programAsked programState = iota
	programAllowed
	programDenied
)

// offeredBefore is where offers are remembered, in place of a workspace: each is
// made once.
const offeredBefore = "*"

func (p Program) server() Server {
	return Server{Name: p.Name, Command: p.Command, Args: p.Args, Source: SourceProject}
}

func (p *program) forPeople() plan.PendingServer {
	shown := p.server().forPeople()
	shown.Question, shown.Why = p.Question, p.Why
	return shown
}

// MayStart reports whether the user has said yes to a program for this workspace.
// Where nobody has been asked yet, Pending names it from now on; a yes is
// remembered as that to a server of the project is.
func (p *Pool) MayStart(wanted Program) bool {
	return p.ask(p.cfg.Dir, wanted, nil) == programAllowed
}

// Offer asks, once for every user, whether a program is to be run now. A yes runs
// it in the background, until the pool ends at the latest.
func (p *Pool) Offer(wanted Program, run func(ctx context.Context)) {
	p.ask(offeredBefore, wanted, run)
}

// ask returns how the user has answered, and puts the question where it is new.
func (p *Pool) ask(workspace string, wanted Program, run func(ctx context.Context)) programState {
	allowed, err := p.trust.read()
	if err != nil {
		p.log.Warn("allowed programs", "error", err)
	}
	if slices.Contains(allowed.Allowed[workspace], digest(wanted.server())) {
		return programAllowed
	}
	if p.cfg.Trust == TrustNone {
		return programDenied
	}
	p.mu.Lock()
	for _, known := range p.programs {
		if digest(known.server()) == digest(wanted.server()) {
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

// answerPrograms answers the programs that are asked about, and returns those that
// were allowed and those that were offered. The mutex is held.
func (p *Pool) answerPrograms(yes bool) (allowed, offered []Server) {
	for _, asked := range p.programs {
		if asked.state != programAsked {
			continue
		}
		asked.state = programDenied
		if yes {
			asked.state = programAllowed
		}
		switch {
		case asked.run == nil && yes:
			allowed = append(allowed, asked.server())
		case asked.run != nil:
			offered = append(offered, asked.server())
			if yes {
				p.work.Go(func() { asked.run(p.life) })
			}
		}
	}
	return allowed, offered
}
