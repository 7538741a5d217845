package dialog_test

import (
	"errors"
	"testing"

	"replan/agent/event"
	"replan/tui/dialog"
)

func TestPastRunKeepsTheErrorOfADamagedJournal(t *testing.T) {
	damage := errors.New("line 7 is damaged")
	run := dialog.NewPastRun("r", []event.Event{{Seq: 1, Run: "r", Data: event.RunStarted{Goal: "look"}}}, damage)
	if !errors.Is(run.Err, damage) || run.State == nil {
		t.Errorf("got the error %v and the state %v", run.Err, run.State)
	}
}
