package chat

import (
	"replan/agent"
	"replan/agent/event"
	"replan/tui/story"
)

// drawCommand draws an entry of a run that carries out a command of the user, whose card says
// all but what happened at its gate. It reports whether the entry needs nothing else.
func (n *Narrator) drawCommand(e story.Entry) bool {
	if !runsCommand(n.run) || n.nested || n.run.DryRun() {
		return false
	}
	ran := len(n.run.Steps) == 1 && (n.run.Steps[0].Status == agent.StepCompleted || n.run.Steps[0].Failure == event.FailureTool)
	switch e.Kind {
	case story.Answer, story.Results, story.Failure:
		return true
	case story.Plan:
		n.command = commandBlock(n.pane.Styles, n.run)
		n.add(n.command)
		if n.run.Model == "" {
			n.pane.ranByWords()
		}
		return true
	case story.GateAnswered: // above the card
		n.drawAnswer(e)
		if n.command != nil {
			n.pane.remove(n.command)
			n.add(n.command.withGap(false))
		}
		return true
	case story.Outcome:
		n.settleRun()
		return ran
	default:
		return false
	}
}
