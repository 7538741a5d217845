package runner_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashVariable); path != "" {
		os.Exit(crashChild(path))
	}
	goleak.VerifyTestMain(m)
}
