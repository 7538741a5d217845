package tui

import (
	"replan/planning/prompt"
	"replan/tui/chat"
	"replan/tui/frame"
	"replan/tui/keymap"
	"replan/tui/live"
)

// situation gathers what the frame shows of the session and its runs. It only reads.
type situation struct {
	keys    *keymap.Map
	live    *live.Runs
	session *sessionFeed
	waiting *waiting
	chat    interface {
		CommandSent() bool
		Narrator(run string) *chat.Narrator
	}
	input interface {
		Preparing(command bool) string
	}
}

// state returns what the frame around the panes shows.
func (s *situation) state() frame.State {
	run := s.live.Current()
	f := s.session.frameState()
	f.Run, f.Active, f.Preparing, f.Stopping = run.State, run.Active(), s.live.Preparing(), s.live.Stopping()
	f.Waiting, f.Reviewing = s.waiting.asked(), s.waiting.reviewing()
	if f.Preparing {
		f.Preparation = s.input.Preparing(s.chat.CommandSent())
		if s.holdsGoals() {
			f.Preparation = "waiting for your answer (" + s.keys.Name("gate") + ")"
		}
	}
	if !f.Active {
		return f
	}
	for _, r := range s.live.All() {
		f.Runs = append(f.Runs, r.State)
	}
	f.AskedStep = s.waiting.askedStep(run.State.ID)
	f.Requests = s.requests(run)
	return f
}

// requests returns the open model requests of a run.
func (s *situation) requests(run *live.Run) frame.Requests {
	var r frame.Requests
	_, _, r.Tools = run.Requested(prompt.PurposeTools)
	_, _, r.Repair = run.Requested(prompt.PurposeRepair)
	r.ArgumentsOf, _, r.Arguments = run.Requested(prompt.PurposeStep)
	if !run.State.Synthesis.Started {
		return r
	}
	_, r.AnswerSince, r.Answer = run.Requested(prompt.PurposeSynthesis)
	if !r.Answer {
		_, r.AnswerSince, r.Answer = run.Requested(prompt.PurposeChat)
	}
	narrator := s.chat.Narrator(run.State.ID)
	r.Writing, r.CallsShown = narrator.Writing(), narrator.Cards() > 0
	return r
}

// holdsGoals reports whether no run starts before the user has answered about the
// servers of the project.
func (s *situation) holdsGoals() bool {
	return s.waiting.asksForSession() && s.session.serverWaits()
}
