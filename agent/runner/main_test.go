package runner_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"replan/internal/testgarbage"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		os.Exit(crashChild(path))
	}
	testgarbage.CollectLess()
	goleak.VerifyTestMain(m)
}
