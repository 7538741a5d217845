package machine_test

import (
	"runtime"
	"testing"

	"replan/internal/machine"
)

func TestMemoryIsThatOfAMachine(t *testing.T) {
	switch got := machine.Memory(); runtime.GOOS {
	case "linux", "darwin", "windows":
		if got < 64<<20 || got > 1<<50 {
			t.Errorf("%d bytes", got)
		}
	default:
		if got != 0 {
			t.Errorf("%d bytes, want none", got)
		}
	}
}
