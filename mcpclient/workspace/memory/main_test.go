package memory_test

import (
	"testing"

	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) {
	workspacetest.Main(m)
}

type (
	args = workspacetest.Args
	tb   = workspacetest.TB
)

var preview = workspacetest.Preview

type bench = workspacetest.Bench

var newBench = workspacetest.New
