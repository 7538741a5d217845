package workspace_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

const stdioFolder = "WORKSPACE_TEST_STDIO" // makes the test binary a server over this folder

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
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // it ends by itself, a second after the last lexing
}

type (
	args = workspacetest.Args
	tb   = workspacetest.TB
)

var (
	git     = workspacetest.Git
	needGit = workspacetest.NeedGit
	preview = workspacetest.Preview
	start   = workspacetest.Start
)

// bench is a workspace with a client that speaks to it.
type bench struct{ *workspacetest.Bench }

func newBench(t testing.TB, cfg workspace.Config) *bench {
	t.Helper()
	return &bench{workspacetest.New(t, cfg)}
}

func into[T any](t tb, data map[string]any) T {
	t.Helper()
	return workspacetest.Into[T](t, data)
}

type changeResult struct {
	Files []struct {
		Path           string
		Added, Removed int
	}
	Diff   string
	Hashes map[string]string
}
