package golang_test

import (
	"testing"

	"go.uber.org/goleak"

	"replan/internal/testgarbage"
)

func TestMain(m *testing.M) {
	testgarbage.CollectLess()
	goleak.VerifyTestMain(m)
}
