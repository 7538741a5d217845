package agent

import (
	"slices"

	"replan/agent/event"
)

// LeftProcesses returns the process groups that events tell of and whose calls
// have not come back: where their program was killed they may still be at work.
func LeftProcesses(events []event.Event) []event.StepProcess {
	var left []event.StepProcess
	ended := func(index string, number int) {
		left = slices.DeleteFunc(left, func(p event.StepProcess) bool { return p.Index == index && p.Attempt == number })
	}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.StepProcess:
			left = append(left, d)
		case event.StepCompleted:
			ended(d.Index, d.Attempt)
		case event.StepFailed:
			ended(d.Index, d.Attempt)
		case event.StepInDoubt:
			ended(d.Index, d.Attempt)
		case event.RunResumed:
			left = nil // that resume has seen to them
		}
	}
	return left
}
