package trust

import (
	"context"
	"log/slog"
	"slices"
	"sync"

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

func (p Program) server() config.Server {
	return config.Server{Name: p.Name, Command: p.Command, Args: p.Args, Source: config.SourceProject}
}

func (p Program) pending() plan.PendingServer {
	shown := p.server().AsWritten()
	shown.Question, shown.Why = p.Question, p.Why
	return shown
}

// Programs are the local programs that the user is asked about. They are safe for
// concurrent use.
type Programs struct {
	consent   Consent
	workspace string
	mode      Mode
	log       *slog.Logger

	mu    sync.Mutex
	asked []*askedProgram
}

// askedProgram is a program with the user's answer.
type askedProgram struct {
	Program
	answer programAnswer
	run    func(ctx context.Context) error // what to run after a yes to an offer; nil for a permission
}

type programAnswer int

const (
	programAsked programAnswer = iota
	programAllowed
	programDenied
)

// NewPrograms returns the programs of a workspace. No program has been asked about.
func NewPrograms(consent Consent, workspace string, mode Mode, log *slog.Logger) *Programs {
	return &Programs{consent: consent, workspace: workspace, mode: mode, log: log}
}

// MayStart reports whether the user allowed a program for this workspace, and whether
// that is a new question, which Pending lists from now on. Permissions are stored as
// they are for a project's servers.
func (p *Programs) MayStart(wanted Program) (allowed, asks bool) {
	answer, asks := p.ask(p.workspace, wanted, nil)
	return answer == programAllowed, asks
}

// Offer asks whether to run a program now. It reports whether that is a new question,
// which Pending lists from now on. Once the user said no, or the program succeeded,
// the user is never offered it again.
func (p *Programs) Offer(wanted Program, run func(ctx context.Context) error) (asks bool) {
	_, asks = p.ask(offeredBefore, wanted, run)
	return asks
}

// Accepted reports whether the user said yes to an offer in this workspace, now or
// earlier, and it succeeded.
func (p *Programs) Accepted(offer Program) bool {
	answers, _ := p.consent.Read() // a damaged file is reported by ask
	return answers.Allow(p.workspace, offer.server())
}

// ask returns the user's answer, and adds the question if it is new.
func (p *Programs) ask(workspace string, wanted Program, run func(ctx context.Context) error) (answer programAnswer, asks bool) {
	answers, err := p.consent.Read()
	if err != nil {
		p.log.Warn("allowed programs", "error", err)
	}
	if answers.Allow(workspace, wanted.server()) {
		return programAllowed, false
	}
	if p.mode != Ask {
		return programDenied, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.asked {
		if fingerprint(workspace, known.server()) == fingerprint(workspace, wanted.server()) {
			return known.answer, false
		}
	}
	p.asked = append(p.asked, &askedProgram{Program: wanted, run: run})
	return programAsked, true
}

// Pending returns the questions that wait for an answer.
func (p *Programs) Pending() []plan.PendingServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var waiting []plan.PendingServer
	for _, asked := range p.asked {
		if asked.answer == programAsked {
			waiting = append(waiting, asked.pending())
		}
	}
	return waiting
}

// Answer answers those of the pending questions that the user was asked. It returns the
// programs to remember as allowed, the offers to remember as declined, and what to run
// after a yes to offers.
func (p *Programs) Answer(questions []plan.PendingServer, yes bool) (allowed, declined []config.Server, run []func(context.Context)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, asked := range p.asked {
		if asked.answer != programAsked || !WasAsked(questions, asked.pending()) {
			continue
		}
		asked.answer = programDenied
		if yes {
			asked.answer = programAllowed
		}
		switch {
		case asked.run == nil && yes:
			allowed = append(allowed, asked.server())
		case asked.run != nil && yes:
			run = append(run, func(ctx context.Context) { p.accept(ctx, asked) })
		case asked.run != nil:
			declined = append(declined, asked.server())
		}
	}
	return allowed, declined, run
}

// accept runs an offered program and remembers a success.
func (p *Programs) accept(ctx context.Context, offer *askedProgram) {
	err := offer.run(ctx)
	for _, workspace := range []string{offeredBefore, p.workspace} {
		if err == nil {
			err = p.consent.Remember(workspace, []config.Server{offer.server()}, true)
		}
	}
	if err != nil {
		p.log.Warn("an offered program", "program", offer.Name, "error", err)
	}
}

// WasAsked reports whether the user was asked about a server or program, as it is now.
func WasAsked(questions []plan.PendingServer, one plan.PendingServer) bool {
	return slices.ContainsFunc(questions, one.Equal)
}
