package mcpclient_test

import (
	"errors"
	"strings"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/pooltest"
	"replan/planning/plan"
)

func TestInvalidServerFailsAlone(t *testing.T) {
	path := pooltest.ConfigFile(t, `{"mcpServers":{
		"unset": {"command": "docker", "args": ["run"], "env": {"T": "${REPLAN_TEST_NONE}"}},
		"odd": {"url": "http://x/mcp", "oauth": {"clientMetadataUrl": "http://x/client.json"}},
		"port": {"command": "x", "env": {"PORT": 8080}},
		"@odd name": {"command": "x"},
		"workspace": {"command": "x"},
		"twice": {"command": "x", "disabled": true},
		"twice": {"command": "y"}}}`)
	servers, err := config.Read(path, config.SourceProject, "/work")
	if err == nil {
		t.Fatal("got no error")
	}
	servers = append(servers, aChild("good", "server", nil), config.Unusable("/a/.mcp.json", config.SourceProject, errors.New("/a/.mcp.json is empty")))
	p := newPool(t, mcpclient.Config{Servers: servers, Trust: mcpclient.TrustAsk})
	if got, err := call(t, p, "good:where", nil); err != nil || got == "" {
		t.Errorf("call of the valid server: got %v, %v", got, err)
	}
	want := map[string]string{
		"unset": "the environment variable REPLAN_TEST_NONE is not set", "odd": `no https address with a path`, "port": `"env" must be`, "@odd name": "a name may hold",
		"workspace": "this name is kept", "twice (line 8)": "used twice", ".mcp.json": "is empty",
	}
	failed := map[string]string{}
	for _, s := range p.Status() {
		if s.State == plan.ServerFailed {
			failed[s.Name] = string(s.Error)
			if err := p.Restart(s.Name); err == nil || !strings.Contains(err.Error(), "with its configuration") {
				t.Errorf("restart of %s: got error %v", s.Name, err)
			}
		}
	}
	for name, text := range want {
		if !strings.Contains(failed[name], text) {
			t.Errorf("%s failed with %q, want %q", name, failed[name], text)
		}
	}
	if len(failed) != len(want) || len(p.Pending()) > 0 || len(p.LeftOut()) > 0 {
		t.Errorf("failed %q, waiting %+v, left out %q", failed, p.Pending(), p.LeftOut())
	}
}
