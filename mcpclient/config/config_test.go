package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"replan/mcpclient/config"
)

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadKeepsOrderAndExpandsVariables(t *testing.T) {
	t.Setenv("REPLAN_TEST_DIR", "/srv")
	t.Setenv("REPLAN_TEST_EMPTY", "")
	servers, err := config.Read(configFile(t, `{
		// what this project needs
		"other": 1,
		"mcpServers": {
			"zebra": {
				"command": "${REPLAN_TEST_DIR}/bin/zebra",
				"args": ["--root", "${REPLAN_TEST_DIR}", "$HOME", "${REPLAN_TEST_NONE:-}", "${not a name}"],
				"env": {"MODE": "${REPLAN_TEST_EMPTY:-fast}", "DIR": "a${REPLAN_TEST_DIR}b"},
				"cwd": "sub",
				"timeout": "90s",
				"startup_timeout": 45,
				"inherit": ["AWS_PROFILE"],
				"alwaysAllow": ["x"],
			},
			"api.v2": {
				"type": "http", "url": "https://example.com${REPLAN_TEST_DIR}/mcp", /* streamable */
				"headers": {"Authorization": "Bearer ${REPLAN_TEST_NONE:-anonymous}"},
				"timeout": 1500,
				"startup_timeout": "2m",
			},
			"off": {"command": "${REPLAN_TEST_NONE}", "disabled": true},
		},
	}`), config.SourceProject, "/work")
	if err != nil {
		t.Fatal(err)
	}
	type plain struct {
		Name, Command, Dir, URL string
		Args                    []string
		Env, Headers            map[string]string
		Source                  config.Source
		Timeout, StartTimeout   time.Duration
		Inherit                 []string
		Disabled                bool
	}
	var got []plain
	for _, s := range servers {
		got = append(got, plain{s.Name, s.Command, s.Dir, s.URL, s.Args, s.Env, s.Headers, s.Source, s.Timeout, s.StartTimeout, s.Inherit, s.Disabled})
	}
	want := []plain{
		{
			Name: "zebra", Command: "/srv/bin/zebra", Args: []string{"--root", "/srv", "$HOME", "", "${not a name}"}, Dir: "sub",
			Env: map[string]string{"MODE": "fast", "DIR": "a/srvb"}, Source: config.SourceProject, Timeout: 90 * time.Second,
			StartTimeout: 45 * time.Second, Inherit: []string{"AWS_PROFILE"},
		},
		{
			Name: "api.v2", URL: "https://example.com/srv/mcp", Headers: map[string]string{"Authorization": "Bearer anonymous"},
			Source: config.SourceProject, Timeout: 1500 * time.Millisecond, StartTimeout: 2 * time.Minute,
		},
		{Name: "off", Command: "${REPLAN_TEST_NONE}", Source: config.SourceProject, Disabled: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestReadReportsMissingFile(t *testing.T) {
	_, err := config.Read(filepath.Join(t.TempDir(), "none.json"), config.SourceUser, "/work")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestConfigErrorsNameFileLineAndServer(t *testing.T) {
	one := func(server string) string { return "{\"mcpServers\": {\n\"it\": " + server + "\n}}" }
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":                                {`{"mcpServers": {`, "is not JSON"},
		"empty file":                              {"\n", "is empty"},
		"byte order mark only":                    {"\ufeff", "is empty"},
		"list":                                    {`[]`, "must be an object"},
		"no servers":                              {`{"mcp_servers": {}}`, `there is no "mcpServers"`},
		"list of servers":                         {`{"mcpServers": []}`, `"mcpServers" must be an object`},
		"neither command nor url":                 {one(`{}`), `:2: server "it": has neither "command" nor "url"`},
		"both command and url":                    {one(`{"command":"x","url":"http://x"}`), `has both "command" and "url"`},
		"older transport without url":             {one(`{"type":"sse","command":"x"}`), `is of type "sse" and has no "url"`},
		"two addresses":                           {one(`{"url":"http://x","httpUrl":"http://y"}`), `has more than one of "url", "httpUrl" and "serverUrl"`},
		"input of VS Code":                        {one(`{"command":"x","env":{"KEY":"${input:api-key}"}}`), `asks for the input "api-key", which only VS Code can ask for; write ${env:NAME} in place of ${input:api-key}`},
		"setting of VS Code":                      {one(`{"command":"${config:python.path}"}`), `${config:python.path} is a variable of editors that is not supported`},
		"unset variable of an editor":             {one(`{"command":"${env:REPLAN_TEST_NONE}"}`), "the environment variable REPLAN_TEST_NONE is not set; set it, or write ${env:REPLAN_TEST_NONE:-default}"},
		"number as a list of tools":               {one(`{"command":"x","includeTools":7}`), `"includeTools" must be a list of texts, not number`},
		"pattern that cannot be read":             {one(`{"command":"x","excludeTools":["get_["]}`), `"get_[" is not a pattern of tools`},
		"list of roots":                           {one(`{"command":"x","roots":["a"]}`), `"roots" must be true or false, not array`},
		"text as required":                        {one(`{"command":"x","required":"yes"}`), `"required" must be true or false, not string`},
		"text as enabled":                         {one(`{"command":"x","enabled":"no"}`), `"enabled" must be true or false, not string`},
		"text as oauth":                           {one(`{"url":"http://x","oauth":"yes"}`), `"oauth" must be an object, not string`},
		"port that no address has":                {one(`{"url":"http://x","oauth":{"callbackPort":70000}}`), `"oauth" has the port 70000`},
		"unknown transport":                       {one(`{"type":"carrier pigeon","command":"x"}`), `"carrier pigeon" is not a type`},
		"stdio without command":                   {one(`{"type":"stdio","url":"http://x"}`), `has no "command"`},
		"http without url":                        {one(`{"type":"http","command":"x"}`), `has no "url"`},
		"number as command":                       {one(`{"command": 7}`), `"command" must be text, not number`},
		"text as args":                            {one(`{"command":"x","args":"-a -b"}`), `"args" must be a list of texts, not string`},
		"number among args":                       {one(`{"command":"x","args":["a",1]}`), `"args" must be a list of texts, not number`},
		"number in env":                           {one(`{"command":"x","env":{"A":1}}`), `"env" must be an object of texts, not number`},
		"list as headers":                         {one(`{"url":"http://x","headers":[]}`), `"headers" must be an object of texts, not array`},
		"text as disabled":                        {one(`{"command":"x","disabled":"yes"}`), `"disabled" must be true or false, not string`},
		"text as server":                          {one(`"x"`), `must be an object, not string`},
		"timeout that is not a duration":          {one(`{"command":"x","timeout":"soon"}`), `"timeout" is "soon"`},
		"zero timeout":                            {one(`{"command":"x","timeout":0}`), `"timeout" must be more than 0`},
		"list as timeout":                         {one(`{"command":"x","timeout":[1]}`), `"timeout" must be a duration`},
		"unknown protocol":                        {one(`{"command":"x","protocol":"2026"}`), `"protocol" is "2026"; the versions are 2026-07-28, `},
		"newer protocol over the older transport": {one(`{"type":"sse","url":"http://x","protocol":"2026-07-28"}`), `"protocol" is "2026-07-28", which servers of type "sse" do not speak`},
		"startup timeout that is not a duration":  {one(`{"command":"x","startup_timeout":"soon"}`), `"startup_timeout" is "soon"; write a duration such as "30s", or a number of seconds`},
		"text as inherit":                         {one(`{"command":"x","inherit":"PATH"}`), `"inherit" must be a list of names of environment variables, not string`},
		"unset variable":                          {one(`{"command":"${REPLAN_TEST_NONE}"}`), "the environment variable REPLAN_TEST_NONE is not set"},
		"url without scheme":                      {one(`{"url":"example.com/mcp"}`), `"url" is not an address`},
		"url with unknown scheme":                 {one(`{"url":"file:///etc/passwd"}`), `"url" is not an address`},
		"name with a blank":                       {`{"mcpServers":{"a b":{"command":"x"}}}`, "a name may hold letters"},
		"name with a colon":                       {`{"mcpServers":{"a:b":{"command":"x"}}}`, "a name may hold letters"},
		"name of the plan tools":                  {`{"mcpServers":{"replan":{"command":"x"}}}`, `:1: server "replan": this name is kept for the program's own tools; choose another`},
		"name of the operators":                   {`{"mcpServers":{"workspace":{"url":"http://x"}}}`, `:1: server "workspace": this name is kept`},
		"reserved name in capitals":               {`{"mcpServers":{"Replan":{"command":"x","disabled":true}}}`, `:1: server "Replan": this name is kept`},
		"duplicate name":                          {"{\"mcpServers\":{\"it\":{\"command\":\"x\"},\n\"it\":{\"command\":\"y\"}}}", `:2: server "it": the name is used twice`},
		"file too large":                          {`{"mcpServers":{}}` + strings.Repeat(" ", 1<<20), "larger than 1024 KB"},
	} {
		t.Run(name, func(t *testing.T) {
			path := configFile(t, c.text)
			_, err := config.Read(path, config.SourceUser, "/work")
			if err == nil {
				t.Fatal("got no error")
			}
			if text := err.Error(); !strings.Contains(text, path) || !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestValidServersAreReadDespiteInvalidOnes(t *testing.T) {
	servers, err := config.Read(configFile(t, `{"mcpServers":{
		"bad": {"args": []},
		"good": {"command": "x"},
		"worse": {"type": "pigeon"}}}`), config.SourceUser, "/work")
	var names, problems []string
	for _, s := range servers {
		names, problems = append(names, s.Name), append(problems, s.Problem)
	}
	if !slices.Equal(names, []string{"bad", "good", "worse"}) || problems[1] != "" ||
		problems[0] != `mcp.json:2: has neither "command" nor "url"; add one of them` || !strings.HasPrefix(problems[2], `mcp.json:4: "pigeon" is not a type`) {
		t.Errorf("got %q with the problems %q", names, problems)
	}
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestReadIgnoresByteOrderMark(t *testing.T) {
	servers, err := config.Read(configFile(t, "\ufeff"+`{"mcpServers":{"it":{"command":"x"}}}`), config.SourceUser, "/work")
	if err != nil || len(servers) != 1 || servers[0].Command != "x" {
		t.Errorf("got %+v, %v", servers, err)
	}
}

func TestDisabledServerMayBeIncomplete(t *testing.T) {
	for _, server := range []string{`{"type":"sse","url":"http://x/sse","disabled":true}`, `{"disabled":true}`, `{"command":"${REPLAN_TEST_NONE}","disabled":true}`} {
		servers, err := config.Read(configFile(t, `{"mcpServers":{"it":`+server+`}}`), config.SourceUser, "/work")
		if err != nil || len(servers) != 1 || !servers[0].Disabled || servers[0].Problem != "" {
			t.Errorf("%s: got %+v, %v", server, servers, err)
		}
	}
}

func TestReadNeverPanics(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			`{`, `}`, `[`, `]`, `,`, `:`, `"mcpServers"`, `"it"`, `"command"`, `"x"`, `"env"`, `null`, `1`, `//`, "\n", `/*`, `*/`, `"\ud800"`, `${`,
		}), 0, 20).Draw(t, "pieces")
		path := filepath.Join(dir, "mcp.json")
		if err := os.WriteFile(path, []byte(strings.Join(pieces, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		servers, err := config.Read(path, config.SourceUser, "/work")
		for _, s := range servers {
			if s.Problem == "" && s.Command == "" && s.URL == "" {
				t.Fatalf("got a server without command and url: %+v (%v)", s, err)
			}
		}
	})
}

// Only the user's own files may send a variable of the environment with a login.
func TestLoginOfAProjectsServerHasNoVariables(t *testing.T) {
	t.Setenv("REPLAN_TEST_TOKEN", "hunter2")
	for _, text := range []string{
		`{"mcpServers": {"team": {"url": "http://x/mcp", "oauth": {"clientId": "a${REPLAN_TEST_TOKEN}"}}}}`,
		`{"mcpServers": {"team": {"url": "http://x/mcp", "oauth": {"clientId": "a", "client_secret": "${env:REPLAN_TEST_TOKEN}"}}}}`,
		`{"mcp": {"team": {"type": "remote", "url": "http://x/mcp", "oauth": {"clientId": "{env:REPLAN_TEST_TOKEN}"}}}}`,
	} {
		path := configFile(t, text)
		servers, err := config.Read(path, config.SourceProject, "/work")
		if err == nil || !strings.Contains(err.Error(), "a project's file may have none there") || len(servers) != 1 || servers[0].Problem == "" || servers[0].OAuth != nil {
			t.Errorf("%s: got %+v, %v", text, servers, err)
		}
		servers, err = config.Read(path, config.SourceUser, "/work")
		if err != nil || !strings.Contains(servers[0].OAuth.ClientID+servers[0].OAuth.ClientSecret, "hunter2") {
			t.Errorf("the user's: %s: got %+v, %v", text, servers, err)
		}
	}
}

func TestReadRefusesWhatNestsWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":`+strings.Repeat("[", 1<<19)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Read(path, config.SourceProject, ""); err == nil || !strings.Contains(err.Error(), "nests deeper") {
		t.Errorf("got %v", err)
	}
}
