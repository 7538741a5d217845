package app_test

import (
	"strings"
	"testing"

	"replan/cli/app"
)

func TestSecondInterruptSaysWhatBecomesOfTheRun(t *testing.T) {
	a := app.New("", app.IO{}, nil)
	if words := a.SecondInterrupt(); !strings.HasPrefix(words, "stopping;") {
		t.Errorf("of a run of this machine: %q", words)
	}
	a.FollowWorkers()
	if words := a.SecondInterrupt(); !strings.HasPrefix(words, "leaving the run to the workers;") {
		t.Errorf("of a run of workers: %q", words)
	}
}
