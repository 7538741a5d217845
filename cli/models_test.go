package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"replan/agent/ollama/ollamatest"
	"replan/cli"
)

// parts of a pull of 1 GB.
var pullSteps = []ollamatest.PullStep{
	{Status: "pulling manifest"},
	{Status: "pulling a", Digest: "sha256:a", Total: 1e9},
	{Status: "pulling b", Digest: "sha256:a", Total: 1e9, Completed: 5e8},
}

// modelServer starts a scripted server with two models and one to pull. The pull waits
// before its end until hold is closed.
func modelServer(t *testing.T, hold <-chan struct{}) string {
	t.Helper()
	server, err := ollamatest.Start(t.Context(), ollamatest.Script{
		Model: "scripted:1b",
		Others: []ollamatest.Model{
			{Name: "sees:2b", Capabilities: []string{"completion", "vision"}, Bytes: 2e9, Parameters: "2.1B", ContextLength: 4096},
		},
		Pulls: []ollamatest.Pull{{Model: ollamatest.Model{Name: "new:3b", Bytes: 1e9}, Steps: pullSteps, Hold: hold}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

// modelCommand runs a command of replan models without a terminal. Errs may be nil.
func modelCommand(ctx context.Context, t *testing.T, host, home string, errs interface{ Write([]byte) (int, error) }, args ...string) (code int, out, told string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	dir := t.TempDir()
	io := cli.IO{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(name string) string { return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": host}[name] },
		Getwd:  func() (string, error) { return dir, nil },
	}
	if errs != nil {
		io.Err = errs
	}
	code = cli.Main(ctx, append([]string{"models"}, args...), io)
	return code, stdout.String(), stderr.String()
}

func TestModelsAreListedWithWhatTheyAreUsedFor(t *testing.T) {
	host, home := modelServer(t, nil), t.TempDir()
	write(t, filepath.Join(home, "config.toml"), "[planning]\nplanner_model = \"sees:2b\"\nagent_model = \"gone:7b\"\n")
	code, out, told := modelCommand(t.Context(), t, host, home, nil)
	if want := "sees:2b\t2.0 GB\t2.1B\t4k\tno tools, images\tplans\t\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("got exit code %d and %q, want %q in it", code, out, want)
	}
	if want := "\ttools\tanswers\t\n"; !strings.Contains(out, want) {
		t.Errorf("got %q, want %q in it", out, want)
	}
	if want := "replan: gone:7b is not installed but is configured for agent explorer; pull it: replan models pull gone:7b\n"; told != want {
		t.Errorf("got %q, want %q", told, want)
	}
	code, out, _ = modelCommand(t.Context(), t, host, home, nil, "list", "--output", "json")
	if code != 0 || !strings.Contains(out, `"name":"sees:2b"`) || !strings.Contains(out, `"used_for":["plans"]`) {
		t.Errorf("got exit code %d and %s", code, out)
	}
}

func TestPullWithoutTerminalTellsItsProgressInLines(t *testing.T) {
	hold := make(chan struct{})
	close(hold)
	host, home := modelServer(t, hold), t.TempDir()
	code, out, told := modelCommand(t.Context(), t, host, home, nil, "pull", "new:3b")
	if want := "✓ pulled new:3b (1.0 GB)\n"; code != 0 || out != want {
		t.Errorf("got exit code %d, %q and %q, want %q", code, out, told, want)
	}
	if want := "replan: new:3b: pulling manifest\nreplan: new:3b: 0%, 1 MB of 1.0 GB\nreplan: new:3b: 50%, 500 MB of 1.0 GB"; !strings.HasPrefix(told, want) {
		t.Errorf("got %q, want it to begin with %q", told, want)
	}
	code, out, _ = modelCommand(t.Context(), t, host, home, nil, "pull", "new:3b", "--output", "json")
	if want := `{"model":"new:3b","done":"pulled","bytes":1000000000}` + "\n"; code != 0 || out != want {
		t.Errorf("got exit code %d and %s, want %s", code, out, want)
	}
	code, _, told = modelCommand(t.Context(), t, host, home, nil, "pull", "none:1b")
	if code != 1 || !strings.Contains(told, "the registry has no model none:1b: check its name") {
		t.Errorf("got exit code %d and %q", code, told)
	}
}

// stopper cancels once it was written a text.
type stopper struct {
	told bytes.Buffer
	at   string
	stop func()
}

// Write takes text.
func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.told.Write(p)
	if strings.Contains(s.told.String(), s.at) {
		s.stop()
	}
	return n, err
}

func TestStoppedPullSaysThatItGoesOn(t *testing.T) {
	host, home := modelServer(t, make(chan struct{})), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := &stopper{at: "50%", stop: cancel}
	code, out, _ := modelCommand(ctx, t, host, home, told, "pull", "new:3b")
	if want := "replan: stopped; what was loaded of new:3b stays: the same command goes on from there\n"; code != 130 || out != "" || !strings.HasSuffix(told.told.String(), want) {
		t.Errorf("got exit code %d, %q and %q, want %q at its end", code, out, told.told.String(), want)
	}
}

func TestModelIsRemovedOnlyWithAYes(t *testing.T) {
	host, home := modelServer(t, nil), t.TempDir()
	for _, c := range []struct {
		args      []string
		code      int
		out, told string
	}{
		{[]string{"remove", "sees:2b"}, 2, "", "replan: replan models remove would delete sees:2b (2.0 GB): add --yes\n"},
		{[]string{"remove", "sees:2", "--yes"}, 2, "", `has no model "sees:2"; did you mean sees:2b?`},
		{[]string{"remove", "nothing", "--yes"}, 2, "", `has no model "nothing"; replan models lists those that it has`},
		{[]string{"remove"}, 2, "", "replan: name one: replan models remove MODEL\n"},
		{[]string{"remove", "sees:2b", "--yes"}, 0, "✓ removed sees:2b (2.0 GB)\n", ""},
		{[]string{"remov", "sees:2b"}, 2, "", `unknown command "remov" for "replan models"; did you mean remove?`},
	} {
		code, out, told := modelCommand(t.Context(), t, host, home, nil, c.args...)
		if code != c.code || out != c.out || !strings.Contains(told, c.told) {
			t.Errorf("%q: got exit code %d, %q and %q, want %d, %q and %q", c.args, code, out, told, c.code, c.out, c.told)
		}
	}
	if _, out, _ := modelCommand(t.Context(), t, host, home, nil); strings.Contains(out, "sees:2b") {
		t.Errorf("it is still there: %s", out)
	}
}

func TestModelsWithoutOllamaSayWhatDoctorSays(t *testing.T) {
	home := t.TempDir()
	_, report, _ := output(t, "doctor")
	for _, args := range [][]string{nil, {"list"}, {"pull", "new:3b"}, {"remove", "new:3b", "--yes"}} {
		code, _, told := modelCommand(t.Context(), t, "127.0.0.1:1", home, nil, args...)
		sentence := strings.TrimSuffix(strings.TrimPrefix(told, "replan: "), "\n")
		if code != 5 || sentence == "" || !strings.Contains(report, sentence) {
			t.Errorf("%q: got exit code %d and %q, want a sentence of\n%s", args, code, told, report)
		}
	}
}
