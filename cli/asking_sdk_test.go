//go:build npm && unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/config"
	"replan/planning/plan"
)

// everything starts server-everything over a transport.
func (f *foreign) everything(t *testing.T, transport string) config.Server {
	t.Helper()
	if transport == "stdio" {
		return f.program("e", "server-everything")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	s := config.Server{Name: "e", URL: "http://127.0.0.1:" + port + "/mcp", Source: config.SourceFlag}
	if transport == "streamableHttp" {
		f.everythingOverHTTP(t, port)
		return s
	}
	s.URL, s.SSE = "http://127.0.0.1:"+port+"/sse", true
	node := exec.CommandContext(t.Context(), "node", f.file("server-everything"), "sse")
	node.Env = append(os.Environ(), "PORT="+port)
	errs, err := node.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	startForeign(t, node)
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		if strings.Contains(lines.Text(), "running on port") {
			return s
		}
	}
	t.Fatal("the server does not listen")
	return s
}

// TestOfficialSDKServerAsks has a server ask for a form, a page and the workspace.
func TestOfficialSDKServerAsks(t *testing.T) {
	f := installServers(t)
	for _, transport := range []string{"stdio", "streamableHttp", "sse"} {
		t.Run(transport, func(t *testing.T) {
			p := f.pool(t, f.everything(t, transport))
			var asked []plan.Elicitation
			call := func(name string, args map[string]any, answer plan.ElicitationAnswer) (string, error) {
				tool, err := p.Ready(t.Context()).Find(name)
				if err != nil {
					t.Fatalf("%v; servers: %+v", err, p.Status())
				}
				value, err := p.Call(t.Context(), plan.ToolCall{Tool: tool, Args: args, Elicit: func(_ context.Context, q plan.Elicitation) plan.ElicitationAnswer {
					asked = append(asked, q)
					return answer
				}})
				text, _ := value.(string)
				return text, err
			}
			accept := plan.ElicitationAnswer{Action: plan.ElicitationAccept}
			filled := plan.ElicitationAnswer{Action: plan.ElicitationAccept, Content: map[string]any{"name": "Ann", "check": true, "integer": json.Number("7")}}
			if got, err := call("e:trigger-elicitation-request", nil, filled); err != nil || !strings.Contains(got, "- Name: Ann") || len(asked) != 1 || !strings.Contains(string(asked[0].Schema), `"firstLine"`) {
				t.Errorf("the form: %q, %v, asked %+v", got, err, asked)
			}
			page := map[string]any{"url": "https://example.com/login", "message": "Log in"}
			if got, err := call("e:trigger-url-elicitation", page, accept); err != nil || !strings.Contains(got, "User completed") || asked[1].URL != "https://example.com/login" {
				t.Errorf("the page: %q, %v, asked %+v", got, err, asked[1:])
			}
			page["errorPath"] = true
			if _, err := call("e:trigger-url-elicitation", page, accept); !errors.As(err, new(*plan.ToolError)) || !strings.Contains(err.Error(), "then run the call again") || asked[2].URL != "https://modelcontextprotocol.io" {
				t.Errorf("the page before the call: %v, asked %+v", err, asked[2:])
			}
			if got, err := call("e:trigger-url-elicitation", page, plan.ElicitationAnswer{Action: plan.ElicitationDecline}); err != nil || !strings.Contains(got, "User declined") {
				t.Errorf("the call after its page: %q, %v", got, err)
			}
			if got, err := call("e:get-roots-list", nil, accept); err != nil || !strings.Contains(got, "URI: file:///") {
				t.Errorf("the workspace: %q, %v", got, err)
			}
		})
	}
}

// TestOfficialSDKServerMayUseTheWorkspace starts server-filesystem without a folder: it
// then asks for those of its client.
func TestOfficialSDKServerMayUseTheWorkspace(t *testing.T) {
	f := installServers(t)
	p := f.pool(t, f.program("files", "server-filesystem"))
	folder := ""
	for until := time.Now().Add(10 * time.Second); folder == ""; { // it checks the folders beside calls
		allowed, _, err := callForeign(t, p, "files:list_allowed_directories", nil)
		if err != nil || time.Now().After(until) {
			t.Fatalf("got %v, %v", allowed, err)
		}
		words, _ := allowed.(map[string]any)["content"].(string)
		_, folder, _ = strings.Cut(words, "directories:\n")
	}
	if _, _, err := callForeign(t, p, "files:write_file", map[string]any{"path": filepath.Join(folder, "a.txt"), "content": "x"}); err != nil {
		t.Errorf("%v in %q", err, folder)
	}
}

func TestOfficialSDKServerOffersPromptsAndResources(t *testing.T) {
	f := installServers(t)
	p := f.pool(t, f.program("e", "server-everything"))
	list, err := p.Prompts().Of(t.Context(), "e")
	var names []string
	for _, one := range list {
		names = append(names, one.Name)
	}
	if err != nil || !slices.Equal(names, []string{"simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"}) {
		t.Errorf("got the prompts %v, %v", names, err)
	}
	complete := func(argument string, before map[string]string, want ...string) {
		if got, err := p.Prompts().Complete(t.Context(), "e", "completable-prompt", argument, before); err != nil || !slices.Equal(got, want) {
			t.Errorf("got the completions %v, %v, want %v", got, err, want)
		}
	}
	complete("department", nil, "Engineering", "Sales", "Marketing", "Support")
	complete("name", map[string]string{"department": "Sales"}, "David", "Eve", "Frank")
	if m, err := p.Prompts().Read(t.Context(), "e", "args-prompt", map[string]string{"city": "Bern"}); err != nil || m.Text != "What's weather in Bern?" {
		t.Errorf("got the prompt %+v, %v", m, err)
	}
	resources, err := p.Resources(t.Context())
	var open []string
	for _, r := range resources {
		if r.Open {
			open = append(open, r.URI)
		}
	}
	if err != nil || len(resources) != 9 || !slices.Equal(open, []string{"demo://resource/dynamic/text/", "demo://resource/dynamic/blob/"}) {
		t.Errorf("got the resources %+v, %v", resources, err)
	}
	args := map[string]any{"server": "e", "uri": "demo://resource/dynamic/text/7"}
	if value, _, err := callForeign(t, p, "mcp:resources.read", args); err != nil || !strings.HasPrefix(value.(string), "Resource 7: This is a plaintext resource") {
		t.Errorf("got the resource %v, %v", value, err)
	}
	args["uri"] = "demo://resource/dynamic/blob/7"
	if value, files, err := callForeign(t, p, "mcp:resources.read", args); err != nil || len(files) != 1 || !strings.HasPrefix(files[0], "Resource 7: This is a base64 blob") {
		t.Errorf("got the resource %v, %v, %q", value, err, files)
	}
	// It reports changes of what its client has subscribed to.
	noted := make(chan struct{}, 1)
	p.Watch(func() {
		select {
		case noted <- struct{}{}:
		default:
		}
	})
	if _, ok, err := p.ReadResource(t.Context(), "e", "demo://resource/dynamic/text/7"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, _, err := callForeign(t, p, "e:toggle-subscriber-updates", nil); err != nil {
		t.Fatal(err)
	}
	for !slices.ContainsFunc(p.Notes(), func(note string) bool {
		return strings.HasPrefix(note, "@e:demo://resource/dynamic/text/7 has changed")
	}) {
		<-noted
	}
}
