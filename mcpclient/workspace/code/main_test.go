package code_test

import (
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) {
	workspacetest.Main(m)
}

type (
	args = workspacetest.Args
	tb   = workspacetest.TB
)

var toAny = workspacetest.ToAny

// bench is a workspace with a connected client.
type bench struct{ *workspacetest.Bench }

func newBench(t testing.TB, cfg workspace.Config) *bench {
	t.Helper()
	return &bench{workspacetest.New(t, cfg)}
}
