//go:build npm && unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/cli"
)

// sdkVersion is the version of the official SDK that the test uses.
const sdkVersion = "1.32.2"

// installSDK returns a folder with the official SDK.
func installSDK(t *testing.T) string {
	t.Helper()
	return installPackages(t, "sdk-"+sdkVersion, "@modelcontextprotocol/sdk@"+sdkVersion)
}

// installPackages returns a folder with npm packages, which it installs once for all
// later tests under a name that changes with their versions. Without npm the test is
// skipped.
func installPackages(t *testing.T, name string, packages ...string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the test needs %s: %v", program, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("there is no place to keep packages: %v", err)
	}
	folder := filepath.Join(cache, "replan-test", name)
	if _, err := os.Stat(filepath.Join(folder, "installed")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder}, packages...)
	if out, err := exec.CommandContext(t.Context(), "npm", args...).CombinedOutput(); err != nil {
		t.Skipf("%s cannot be installed: %v\n%s", strings.Join(packages, ", "), err, out)
	}
	if err := os.WriteFile(filepath.Join(folder, "installed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// sdkSeen is what the client on the SDK saw.
type sdkSeen struct {
	Questions    []mcp.ElicitationParams
	Progress     []mcp.ProgressNotificationParams
	Server       mcp.Implementation
	Instructions string
	Tools        []struct {
		Name         string
		OutputSchema map[string]any
		Annotations  struct{ ReadOnlyHint *bool }
	}
	Ran, Created, Listed struct {
		StructuredContent map[string]any
		IsError           bool
	}
	Cancelled string
	After     struct {
		Status    string
		Resumable bool
	}
}

func TestOfficialSDKDrivesPlans(t *testing.T) {
	sdk := installSDK(t)
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			script, err := os.ReadFile("testdata/sdk/client.mjs")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(sdk, "client.mjs") // beside the packages that it imports
			if err := os.WriteFile(file, script, 0o600); err != nil {
				t.Fatal(err)
			}
			s := &planServer{folder: t.TempDir(), home: t.TempDir()}
			env := append(os.Environ(), "REPLAN_HOME="+s.home, "OLLAMA_HOST="+planModel(t).URL(), "REPLAN_SERVE_TOKEN="+serveToken)
			args := []string{"serve", "--planner", "phases"}
			opened := pipeIn(t, s.folder)
			node := exec.CommandContext(t.Context(), "node", append([]string{file, "stdio", s.folder}, args...)...)
			if kind == "http" {
				server := exec.CommandContext(context.WithoutCancel(t.Context()), "replan", append(args, "--http", "127.0.0.1:0")...)
				server.Dir, server.Env = s.folder, env
				node = exec.CommandContext(t.Context(), "node", file, "http", s.startHTTP(t, server), serveToken)
			}
			node.Env, node.Stderr = env, os.Stderr
			in, err := node.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := node.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := node.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			if line, err := lines.ReadString('\n'); line != "waiting\n" {
				t.Fatalf("got %q, %v", line, err)
			}
			child := opened()
			if _, err := in.Write([]byte("the child is there\n")); err != nil {
				t.Fatal(err)
			}
			var seen sdkSeen
			if err := json.NewDecoder(lines).Decode(&seen); err != nil {
				t.Fatal(err)
			}
			if err := node.Wait(); err != nil {
				t.Error(err)
			}
			untilGone(t, child)
			seen.check(t)
		})
	}
}

func (seen sdkSeen) check(t *testing.T) {
	t.Helper()
	if seen.Server.Name != "replan" || seen.Server.Version != cli.Version || !strings.Contains(seen.Instructions, "plan_create") {
		t.Errorf("the server is %+v: %s", seen.Server, seen.Instructions)
	}
	var names []string
	for _, tool := range seen.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema["type"] != "object" || tool.Annotations.ReadOnlyHint == nil {
			t.Errorf("%s has no output schema or no annotations: %+v", tool.Name, tool)
		}
	}
	slices.Sort(names)
	if want := []string{"plan_create", "plan_create_and_execute", "plan_execute", "run_resume", "run_show", "runs_list"}; !slices.Equal(names, want) {
		t.Errorf("got the tools %q", names)
	}
	if seen.Ran.IsError || seen.Ran.StructuredContent["status"] != "completed" || seen.Created.StructuredContent["id"] == nil || seen.Listed.StructuredContent["runs"] == nil {
		t.Errorf("got %+v, %+v, %+v", seen.Ran, seen.Created, seen.Listed)
	}
	if len(seen.Questions) != 2 || !strings.Contains(seen.Questions[0].Message, "greet.txt") || !strings.Contains(seen.Questions[1].Message, `["cat","pipe"]`) {
		t.Errorf("got the questions %+v", seen.Questions)
	}
	checkProgress(t, seen.Progress, "planning: analysis", "Write the greeting")
	if !strings.Contains(seen.Cancelled, "no longer wanted") || seen.After.Status != "cancelled" || !seen.After.Resumable {
		t.Errorf("the canceled call ended with %q, its run is %+v", seen.Cancelled, seen.After)
	}
}
