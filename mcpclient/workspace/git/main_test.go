package git_test

import (
	"testing"

	"go.uber.org/goleak"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // it ends by itself, a second after the last lexing
}

type (
	args = workspacetest.Args
)

// bench is a workspace with a client that speaks to it.
type bench struct{ *workspacetest.Bench }

func newBench(t testing.TB, cfg workspace.Config) *bench {
	t.Helper()
	return &bench{workspacetest.New(t, cfg)}
}

func into[T any](t workspacetest.TB, data map[string]any) T {
	t.Helper()
	return workspacetest.Into[T](t, data)
}
