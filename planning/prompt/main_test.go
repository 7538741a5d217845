package prompt_test

import (
	"os"
	"testing"

	"replan/internal/testgarbage"
)

func TestMain(m *testing.M) {
	testgarbage.CollectLess()
	os.Exit(m.Run())
}
