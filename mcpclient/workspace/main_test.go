package workspace_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

const stdioFolder = "WORKSPACE_TEST_STDIO" // makes the test binary serve this folder

func TestMain(m *testing.M) {
	if dir := os.Getenv(stdioFolder); dir != "" {
		ops, err := workspace.New(workspace.Config{Dir: dir})
		if err == nil {
			err = server.ServeStdio(ops.Server())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	workspacetest.Main(m)
}

type (
	args = workspacetest.Args
)

var (
	git     = workspacetest.Git
	needGit = workspacetest.NeedGit
	preview = workspacetest.Preview
	start   = workspacetest.Start
)

type bench = workspacetest.Bench

var newBench = workspacetest.New
