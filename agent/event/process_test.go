package event_test

import (
	"reflect"
	"testing"

	"replan/agent/event"
)

func TestLeftProcessesOfUnfinishedCalls(t *testing.T) {
	process := func(index string, pid int) event.StepProcess {
		return event.StepProcess{Index: index, Attempt: 1, PID: pid, Start: "s"}
	}
	for name, c := range map[string]struct {
		events []event.Data
		want   []event.StepProcess
	}{
		"no processes":  {},
		"running calls": {[]event.Data{process("1", 10), process("1", 11), process("2", 12)}, []event.StepProcess{process("1", 10), process("1", 11), process("2", 12)}},
		"finished calls": {[]event.Data{
			process("1", 10), process("2", 11), process("3", 12),
			event.StepCompleted{Index: "1", Attempt: 1},
			event.StepFailed{Index: "2", Attempt: 1},
			event.StepInDoubt{Index: "3", Attempt: 1},
		}, []event.StepProcess{}},
		"end of a later attempt": {[]event.Data{process("1", 10), event.StepFailed{Index: "1", Attempt: 2}}, []event.StepProcess{process("1", 10)}},
		"ended by a resume":      {[]event.Data{process("1", 10), event.RunResumed{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var events []event.Event
			for _, d := range c.events {
				events = append(events, event.Event{Data: d})
			}
			if got := event.LeftProcesses(events); len(got) != len(c.want) || len(got) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
