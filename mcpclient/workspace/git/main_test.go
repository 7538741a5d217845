package git_test

import (
	"testing"

	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) {
	workspacetest.Main(m)
}

type (
	args = workspacetest.Args
)

type bench = workspacetest.Bench

var newBench = workspacetest.New
