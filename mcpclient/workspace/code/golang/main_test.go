package golang_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
)

var errStop = errors.New("enough")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contextWithCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	return context.WithCancelCause(t.Context())
}
