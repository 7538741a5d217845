package agent_test

import (
	"reflect"
	"testing"

	"replan/agent"
)

func TestOnlyProcessesOfCallsThatDidNotComeBackAreLeft(t *testing.T) {
	process := func(index string, pid int) agent.StepProcess {
		return agent.StepProcess{Index: index, Attempt: 1, PID: pid, Start: "s"}
	}
	for name, c := range map[string]struct {
		events []agent.Data
		want   []agent.StepProcess
	}{
		"none where there were none": {},
		"those under way":            {[]agent.Data{process("1", 10), process("1", 11), process("2", 12)}, []agent.StepProcess{process("1", 10), process("1", 11), process("2", 12)}},
		"none of what came back": {[]agent.Data{
			process("1", 10), process("2", 11), process("3", 12),
			agent.StepCompleted{Index: "1", Attempt: 1},
			agent.StepFailed{Index: "2", Attempt: 1},
			agent.StepInDoubt{Index: "3", Attempt: 1},
		}, []agent.StepProcess{}},
		"those of a later attempt":     {[]agent.Data{process("1", 10), agent.StepFailed{Index: "1", Attempt: 2}}, []agent.StepProcess{process("1", 10)}},
		"none that a resume has ended": {[]agent.Data{process("1", 10), agent.RunResumed{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var events []agent.Event
			for _, d := range c.events {
				events = append(events, agent.Event{Data: d})
			}
			if got := agent.LeftProcesses(events); len(got) != len(c.want) || len(got) > 0 && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
