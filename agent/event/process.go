package event

import (
	"slices"
)

// LeftProcesses returns the process groups of calls that have not returned. If
// their program was killed, they may still be running.
func LeftProcesses(events []Event) []StepProcess {
	var left []StepProcess
	ended := func(index string, number int) {
		left = slices.DeleteFunc(left, func(p StepProcess) bool { return p.Index == index && p.Attempt == number })
	}
	for _, e := range events {
		switch d := e.Data.(type) {
		case StepProcess:
			left = append(left, d)
		case StepCompleted:
			ended(d.Index, d.Attempt)
		case StepFailed:
			ended(d.Index, d.Attempt)
		case StepInDoubt:
			ended(d.Index, d.Attempt)
		case RunResumed:
			left = nil // the resume has handled them
		}
	}
	return left
}
