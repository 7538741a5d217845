package trust_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/pooltest"
	"replan/planning/plan"
)

// project is a workspace that configures one server.
type project struct {
	t         *testing.T
	dir       string
	trustFile string
	server    config.Server
}

func newProject(t *testing.T) *project {
	t.Helper()
	dir := t.TempDir()
	server := aChild("own", "server", map[string]string{"LEVEL": "1"})
	server.Source = config.SourceProject
	return &project{t: t, dir: dir, trustFile: filepath.Join(dir, "state", "allowed.json"), server: server}
}

func (p *project) open(mode mcpclient.TrustMode) *mcpclient.Pool {
	p.t.Helper()
	return newPool(p.t, mcpclient.Config{Servers: []config.Server{p.server}, Dir: p.dir, TrustFile: p.trustFile, Trust: mode})
}

func (p *project) state(mode mcpclient.TrustMode) plan.ServerState {
	p.t.Helper()
	pool := p.open(mode)
	defer func() { _ = pool.Close() }()
	return status(p.t, pool, "own").State
}

func (p *project) approve() {
	p.t.Helper()
	pool := p.open(mcpclient.TrustAsk)
	if err := pool.Answer(p.t.Context(), pool.Pending(), true); err != nil {
		p.t.Fatal(err)
	}
	if got := status(p.t, pool, "own"); got.State != plan.ServerReady {
		p.t.Fatalf("after approval: got %+v", got)
	}
}

func TestProjectServerWaitsForApproval(t *testing.T) {
	t.Setenv("REPLAN_TEST_TOKEN", "hunter2")
	path := pooltest.ConfigFile(t, `{"mcpServers": {
		"own": {"command": "run", "args": ["--key", "${REPLAN_TEST_TOKEN}"], "env": {"LD_PRELOAD": "x.so"}, "cwd": "sub"},
		"web": {"url": "https://example.com/${REPLAN_TEST_TOKEN}", "oauth": {
			"clientId": "id", "clientSecret": "s", "clientMetadataUrl": "https://x.example/c.json", "callbackPort": 8080, "scopes": ["a", "b"]}}}}`)
	servers, err := config.Read(path, config.SourceProject, "/work")
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(t, mcpclient.Config{Servers: append(servers, config.Server{Name: "bare", Command: "x", Args: []string{"y"}, Source: config.SourceProject})})
	if got := p.Ready(t.Context()); len(got) != 0 {
		t.Errorf("got tools %v before approval", got.Names())
	}
	want := []plan.PendingServer{
		{Name: "own", Command: []string{"run", "--key", "${REPLAN_TEST_TOKEN}"}, Env: map[string]string{"LD_PRELOAD": "x.so"}, Dir: "sub"},
		{Name: "web", URL: "https://example.com/${REPLAN_TEST_TOKEN}", OAuth: map[string]string{
			"clientId": "id", "clientSecret": "s", "clientMetadataUrl": "https://x.example/c.json", "callbackPort": "8080", "scopes": "a b",
		}},
		{Name: "bare", Command: []string{"x", "y"}},
	}
	if got := p.Pending(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for _, s := range p.Status() {
		if s.State != plan.ServerWaiting {
			t.Errorf("%s is %s", s.Name, s.State)
		}
	}
}

func TestNoIsRememberedUntilTheUserAsksAgain(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	p := project.open(mcpclient.TrustAsk)
	if err := p.Answer(t.Context(), p.Pending(), false); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "own"); got.State != plan.ServerStopped || !got.Declined || !strings.Contains(string(got.Note), "left out") {
		t.Errorf("got %+v", got)
	}
	if got := p.Pending(); len(got) != 0 {
		t.Errorf("the server is still pending: %v", got)
	}
	_ = p.Close()
	for _, mode := range []mcpclient.TrustMode{mcpclient.TrustAsk, mcpclient.TrustNone} {
		p := project.open(mode)
		if got := status(t, p, "own"); got.State != plan.ServerStopped || !got.Declined || len(p.LeftOut()) > 0 {
			t.Errorf("next time: %+v, left out %v", got, p.LeftOut())
		}
		_ = p.Close()
	}
	changed := *project
	changed.server.Args = []string{"-v"}
	if got := changed.state(mcpclient.TrustAsk); got != plan.ServerWaiting {
		t.Errorf("a changed entry is %s", got)
	}

	p = project.open(mcpclient.TrustAsk)
	if err := p.Restart("own"); err != nil || len(p.Pending()) != 1 {
		t.Fatalf("a restart asks about %v (%v)", p.Pending(), err)
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "own"); got.State != plan.ServerReady {
		t.Errorf("after a yes: %+v", got)
	}
	_ = p.Close()
	if got := project.state(mcpclient.TrustNone); got != plan.ServerReady {
		t.Errorf("after that session: %s", got)
	}
}

func TestAnswerCountsForTheEntryThatWasShown(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	p := project.open(mcpclient.TrustAsk)
	shown := p.Pending()
	project.server.Args = []string{"--unsafe"}
	if err := p.Reconfigure([]config.Server{project.server}); err != nil {
		t.Fatal(err)
	}
	if err := p.Answer(t.Context(), shown, true); err != nil {
		t.Fatal(err)
	}
	if got := p.Status()[0].State; got != plan.ServerWaiting {
		t.Errorf("the changed entry is %s", got)
	}
}

func TestChangedValueOfAVariableAsksNothing(t *testing.T) {
	read := func() config.Server {
		t.Helper()
		servers, err := config.Read(pooltest.ConfigFile(t, `{"mcpServers": {"web": {"url": "http://127.0.0.1:1/${REPLAN_TEST_PATH}", "headers": {"Authorization": "Bearer ${REPLAN_TEST_TOKEN}"}}}}`), config.SourceProject, "/work")
		if err != nil {
			t.Fatal(err)
		}
		return servers[0]
	}
	t.Setenv("REPLAN_TEST_PATH", "a")
	t.Setenv("REPLAN_TEST_TOKEN", "first")
	project := newProject(t)
	project.server = read()
	p := project.open(mcpclient.TrustAsk)
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	_ = p.Close()
	t.Setenv("REPLAN_TEST_TOKEN", "second")
	project.server = read()
	p = project.open(mcpclient.TrustNone)
	if left := p.LeftOut(); len(left) > 0 {
		t.Errorf("%v are left out", left)
	}
}

func TestPermissionsOfTheFirstFormatAreKept(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	project.server = config.Server{Name: "web", URL: "http://127.0.0.1:1/", Headers: map[string]string{"A": "b"}, Source: config.SourceProject}
	real, err := filepath.EvalSymlinks(project.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(project.trustFile), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"name":"web","command":"","args":null,"env":null,"dir":"","url":"http://127.0.0.1:1/","headers":{"A":"b"}}`
	file := fmt.Sprintf(`{"allowed": {%q: ["%x"]}}`, real, sha256.Sum256([]byte(text)))
	if err := os.WriteFile(project.trustFile, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := project.open(mcpclient.TrustAsk); len(p.Pending()) > 0 {
		t.Errorf("it asks about %v", p.Pending())
	}
}

func TestApprovalIsSavedInPrivateFile(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	project.approve()
	for _, mode := range []mcpclient.TrustMode{mcpclient.TrustAsk, mcpclient.TrustNone} {
		if got := project.state(mode); got != plan.ServerReady {
			t.Errorf("got state %s next time", got)
		}
	}
	info, err := os.Stat(project.trustFile)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %o, want 600", info.Mode().Perm())
	}
	text, err := os.ReadFile(project.trustFile)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "LEVEL") || strings.Contains(string(text), project.server.Command) {
		t.Errorf("the file contains the command line: %s", text)
	}
}

func TestApprovalCoversOneWorkspaceAndCommand(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*project){
		"other workspace": func(p *project) { p.dir = p.t.TempDir() },
		"other argument":  func(p *project) { p.server.Args = []string{"--unsafe"} },
		"other command":   func(p *project) { p.server.Command = "sh" },
		"other variable":  func(p *project) { p.server.Env = maps.Clone(p.server.Env); p.server.Env["LEVEL"] = "2" },
		"other directory": func(p *project) { p.server.Dir = "sub" },
		"other name":      func(p *project) { p.server.Name = "own2" },
		"url":             func(p *project) { p.server.URL = "http://127.0.0.1:1/" },
		"damaged trust file": func(p *project) {
			if err := os.WriteFile(p.trustFile, []byte("{"), 0o600); err != nil {
				p.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			project := newProject(t)
			project.approve()
			change(project)
			pool := project.open(mcpclient.TrustAsk)
			if got := pool.Pending(); len(got) != 1 {
				t.Errorf("the server is not pending: %+v", pool.Status())
			}
		})
	}
}

func TestApprovalsAreIndependent(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	first := project.server
	project.approve()
	project.server.Args = []string{"-v"}
	project.approve()
	project.server = first
	if got := project.state(mcpclient.TrustNone); got != plan.ServerReady {
		t.Errorf("got state %s, want the first approval kept", got)
	}
}

func TestLinkToWorkspaceSharesItsApproval(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	project.approve()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project.dir, link); err != nil {
		t.Skip(err)
	}
	project.dir = link
	if got := project.state(mcpclient.TrustNone); got != plan.ServerReady {
		t.Errorf("got state %s", got)
	}
}

func TestProjectServerIsLeftOutWithoutUser(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	p := project.open(mcpclient.TrustNone)
	if got := status(t, p, "own"); got.State != plan.ServerStopped || !strings.HasPrefix(string(got.Note), "left out: ") {
		t.Errorf("got %+v", got)
	}
	if got := p.LeftOut(); !slices.Equal(got, []string{"own"}) {
		t.Errorf("got %v", got)
	}
	if got := p.Pending(); len(got) != 0 {
		t.Errorf("got pending servers %v", got)
	}
}

func TestUnsavedApprovalStillCounts(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	if err := os.WriteFile(filepath.Join(project.dir, "state"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := project.open(mcpclient.TrustAsk)
	if err := p.Answer(t.Context(), p.Pending(), true); err == nil {
		t.Error("got no error")
	}
	if got := status(t, p, "own"); got.State != plan.ServerReady {
		t.Errorf("got %+v", got)
	}
}

func TestAnswerAfterCloseStartsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t).open(mcpclient.TrustAsk)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err == nil {
		t.Error("got no error")
	}
}

func TestMoreTrustedSourceWins(t *testing.T) {
	t.Parallel()
	of := func(source config.Source, command string) config.Server {
		return config.Server{Name: "it", Command: command, Source: source, Disabled: source != config.SourceProject}
	}
	project, user, flag := of(config.SourceProject, "p"), of(config.SourceUser, "u"), of(config.SourceFlag, "f")
	for name, c := range map[string]struct {
		servers []config.Server
		pending int
	}{
		"project only":             {[]config.Server{project}, 1},
		"user over project":        {[]config.Server{project, user}, 0},
		"user before project":      {[]config.Server{user, project}, 0},
		"flag over project":        {[]config.Server{project, flag}, 0},
		"first of the same source": {[]config.Server{project, project}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, mcpclient.Config{Servers: c.servers})
			if got := p.Pending(); len(got) != c.pending || len(p.Status()) != 1 {
				t.Errorf("got %+v, %+v", got, p.Status())
			}
		})
	}
}

func TestYesIsTakenBack(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	p := project.open(mcpclient.TrustAsk)
	if err := p.Revoke("own"); err == nil {
		t.Error("a server without a yes lost it")
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	all := p.Ready(t.Context())
	if len(all) == 0 {
		t.Fatal("it offers no tools")
	}
	if err := p.Revoke("own"); err != nil {
		t.Fatal(err)
	}
	if got := p.Status()[0]; got.State != plan.ServerStopped || !got.Declined || len(p.Ready(t.Context())) > 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: all[0]}); err == nil {
		t.Error("its tool was called")
	}
	_ = p.Close()
	p = project.open(mcpclient.TrustAsk)
	if got := status(t, p, "own"); !got.Declined {
		t.Errorf("next time: %+v", got)
	}
	if err := p.Restart("own"); err != nil {
		t.Fatal(err)
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	if got := status(t, p, "own"); got.State != plan.ServerReady {
		t.Errorf("after another yes: %+v", got)
	}
}

func TestServerOfTheUserHasNoYesToTakeBack(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	project.server.Source = config.SourceUser
	p := project.open(mcpclient.TrustAsk)
	if err := p.Revoke("own"); err == nil {
		t.Error("it was stopped")
	}
	if got := status(t, p, "own"); got.State != plan.ServerReady {
		t.Errorf("got %+v", got)
	}
}
