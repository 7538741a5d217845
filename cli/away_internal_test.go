package cli

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestSecondInterruptSaysWhatBecomesOfTheRun(t *testing.T) {
	o := &options{follows: new(atomic.Bool)}
	if words := o.secondInterrupt(); !strings.HasPrefix(words, "stopping;") {
		t.Errorf("of a run of this machine: %q", words)
	}
	o.follows.Store(true)
	if words := o.secondInterrupt(); !strings.HasPrefix(words, "leaving the run to the workers;") {
		t.Errorf("of a run of workers: %q", words)
	}
}
