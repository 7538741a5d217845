package cli

import (
	"errors"
	"strings"
	"testing"

	"replan/cli/exit"
)

func TestErrorWithoutExitCodeIsUsageError(t *testing.T) {
	if status := report(IO{Err: &strings.Builder{}}, false, errors.New("limits.max_steps takes a whole number")); status != exit.BadUsage {
		t.Errorf("got exit code %d, want %d", status, exit.BadUsage)
	}
}
