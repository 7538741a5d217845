package doctor_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/cli/doctor"
	"replan/mcpclient"
	"replan/planning/fit"
	"replan/planning/pace"
	"replan/planning/prompt"
)

// models is an Ollama with fixed answers.
type models struct {
	all    []prompt.ModelInfo
	chosen prompt.ModelInfo
	err    error
}

func (m models) Host() string { return "http://127.0.0.1:11434" }

func (m models) Models(context.Context) ([]prompt.ModelInfo, error) { return m.all, m.err }

func (m models) Describe(context.Context, string) (prompt.ModelInfo, error) { return m.chosen, m.err }

// unreachable is the error of a server that does not answer.
type unreachable struct{}

func (unreachable) Error() string { return "Ollama does not answer" }
func (unreachable) Unwrap() error { return prompt.ErrNoModel }
func (unreachable) Trouble() prompt.ModelTrouble {
	return prompt.ModelTrouble{Kind: prompt.TroubleUnreachable}
}

func sign(s doctor.State) string {
	return map[doctor.State]string{doctor.OK: "+", doctor.Warning: "!", doctor.Failed: "x", doctor.Off: "-"}[s]
}

func TestReportListsChecksUnderTheirSubjects(t *testing.T) {
	planner := prompt.ModelInfo{
		Name: "qwen3:8b", Parameters: "8.2B", Chats: true, Tools: true, Thinks: true, ContextWindow: 16384, Longest: 40960, Growable: 32768,
		Defect: "qwen3:8b on Ollama 0.17.4 ignores a format with thinking off; replan asks it with thinking on",
	}
	embedder := prompt.ModelInfo{Name: "nomic-embed\x1b[2J", ContextWindow: 2048, Longest: 2048}
	report := doctor.Examine(t.Context(),
		doctor.Ollama(models{all: []prompt.ModelInfo{planner, embedder}, chosen: planner}),
		doctor.ToolServers(mcpclient.Config{}),
		doctor.Terminal(nil, nil, nil, "linux", nil),
		doctor.Configuration("/home/me/config.toml", errors.New("line 3: model.name takes text in quotes")))
	if report.OK {
		t.Error("a report with a failed check is ok")
	}
	golden.RequireEqual(t, report.Text(0, sign))
}

func TestReportSaysWhatTheSpeedMeansForAGoal(t *testing.T) {
	for _, tc := range []struct {
		speed pace.Speed
		state doctor.State
		want  string // "" for nothing
	}{
		{pace.Speed{}, doctor.OK, ""},
		{pace.Speed{Read: 500, Write: 50}, doctor.OK, "m reads 500, writes 50 tokens a second: a plan takes about 8s"},
		{pace.Speed{Read: 25, Write: 6}, doctor.Warning, "m reads 25, writes 6.0 tokens a second: a plan takes about 1m30s"},
	} {
		m := prompt.ModelInfo{Name: "m", Chats: true, Tools: true, ContextWindow: 16384, Longest: 16384, Speed: tc.speed}
		got := doctor.Check{Name: "none"}
		for _, c := range doctor.Ollama(models{all: []prompt.ModelInfo{m}, chosen: m})(t.Context()) {
			if c.Name == "speed" {
				got = c
			}
		}
		if string(got.Detail) != tc.want || tc.want != "" && (got.State != tc.state || (got.Fix != "") != (tc.state == doctor.Warning)) {
			t.Errorf("at %v got %+v, want %q", tc.speed, got, tc.want)
		}
	}
}

func TestReportSaysHowModelsAreDriven(t *testing.T) {
	m := prompt.ModelInfo{Name: "m", Chats: true, Tools: true, ContextWindow: 16384}
	driven := func() string {
		for _, c := range doctor.Ollama(models{all: []prompt.ModelInfo{m}, chosen: m})(t.Context()) {
			if c.Name == "fit" {
				return string(c.Detail)
			}
		}
		return ""
	}
	if got := driven(); got != "" {
		t.Errorf("without a finding: %q", got)
	}
	m.Fit = &fit.Finding{
		Source: fit.SourceMeasured, Settings: fit.Settings{Short: true}, Measured: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC),
		Reads: fit.Share{Done: 11, Of: 12}, Changes: fit.Share{Done: 6, Of: 12},
	}
	if got, want := driven(), "m: reads and answers; changes need your eye (17 of 24 goals); driven with short plans, no agents; measured on 2026-11-29"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReportBreaksLinesBetweenWords(t *testing.T) {
	const wrong = "the configuration has a key that does not exist: planning.reviews"
	text := doctor.Examine(t.Context(), doctor.Configuration("c.toml", errors.New(wrong))).Text(40, sign)
	if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, wrong) {
		t.Errorf("a word is broken:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 41 {
			t.Errorf("%q is longer than 40 cells", line)
		}
	}
}

func TestMissingModelsNameTheCommandThatHelps(t *testing.T) {
	small := prompt.ModelInfo{Name: "tiny", Chats: true}
	narrow := prompt.ModelInfo{Name: "narrow", Chats: true, Tools: true, ContextWindow: 4096, Longest: 4096}
	narrowed := prompt.ModelInfo{Name: "narrowed", Chats: true, Tools: true, ContextWindow: 4096, Longest: 40960}
	for name, c := range map[string]struct {
		models  models
		planner string
		state   doctor.State
		fix     string
	}{
		"no server":              {models{err: unreachable{}}, "", doctor.Failed, "ollama serve"},
		"model lacks tools":      {models{all: []prompt.ModelInfo{small}, chosen: small}, "", doctor.Warning, "--model NAME"},
		"small context":          {models{all: []prompt.ModelInfo{narrow}, chosen: narrow}, "", doctor.Warning, "too small for tools and results: choose another model"},
		"small window":           {models{all: []prompt.ModelInfo{narrowed}, chosen: narrowed}, "", doctor.Warning, "context_window = 16384"},
		"planner model is gone":  {models{all: []prompt.ModelInfo{narrow}, chosen: narrow}, "gone", doctor.Failed, "ollama pull gone"},
		"planner without a chat": {models{all: []prompt.ModelInfo{narrow, {Name: "embed"}}, chosen: narrow}, "embed", doctor.Failed, "--planner-model NAME"},
		"planner without tools":  {models{all: []prompt.ModelInfo{narrow, small}, chosen: narrow}, "tiny:latest", doctor.OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var planners []string
			if c.planner != "" {
				planners = append(planners, c.planner)
			}
			checks := doctor.Ollama(c.models, planners...)(t.Context())
			last := checks[len(checks)-1]
			if at := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == "planner model" }); at >= 0 {
				last = checks[at]
			}
			if last.State != c.state || !last.Fix.Contains(c.fix) {
				t.Errorf("got %+v, want state %s and the fix %q", last, c.state, c.fix)
			}
		})
	}
}

func TestFoldersMustBeWritableAndPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no such modes on Windows")
	}
	root := t.TempDir()
	folder := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { //nolint:gosec // the mode is the case
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o700) }) //nolint:gosec // so that it can be removed
		return path
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		state doctor.State
		fix   string
	}{
		"private":               {folder("private", 0o700), doctor.OK, ""},
		"not there yet":         {filepath.Join(root, "new", "deep"), doctor.OK, ""},
		"readable by others":    {folder("open", 0o755), doctor.Warning, "chmod 700 "},
		"a file in their place": {file, doctor.Failed, "mv "},
		"below a file":          {filepath.Join(file, "replan"), doctor.Failed, ""},
		"not writable":          {folder("sealed", 0o500), doctor.Failed, "chmod u+rwx "},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "not writable" && os.Getuid() == 0 {
				t.Skip("root may write everywhere")
			}
			check := doctor.Folders([]doctor.Folder{{Name: "data", Path: c.path}})(t.Context())[0]
			if check.State != c.state || !check.Fix.Contains(c.fix) {
				t.Errorf("got %+v, want state %s and the fix %q", check, c.state, c.fix)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(root, "private", "*")); err != nil || len(left) > 0 {
		t.Errorf("the check left %v, %v", left, err)
	}
}

func TestSameFolderIsCheckedOnce(t *testing.T) {
	one := t.TempDir()
	if checks := doctor.Folders([]doctor.Folder{{"data", one}, {"state", one}})(t.Context()); len(checks) != 1 {
		t.Errorf("got %d checks, want 1", len(checks))
	}
}

func TestTerminalDescribesItself(t *testing.T) {
	answers := "\x1b]11;rgb:1111/1111/1111\x07\x1bP>|foot(1.19.0)\x1b\\\x1b[?1u\x1b[?62c\x1b[?62c"
	for _, c := range []struct{ name, answers, environ, system, want string }{
		{"answers", answers, "TERM=foot", "linux", "foot, foot(1.19.0)|reports every key|dark background"},
		{"silence", "", "TERM=xterm", "linux", "xterm|use alt+enter for a new line"},
		{"option is no meta key", "", "TERM_PROGRAM=Apple_Terminal", "darwin", "Use Option as Meta key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			in, typed := io.Pipe()
			go func() { _, _ = io.WriteString(typed, c.answers) }()
			defer typed.Close() //nolint:errcheck // a pipe in memory
			for _, check := range doctor.Terminal(in, io.Discard, []string{c.environ}, c.system, func() { t.Error("stopped without ctrl+c") })(t.Context()) {
				all.WriteString(check.Detail.Line() + " " + check.Fix.Line() + "\n")
			}
			for _, want := range strings.Split(c.want, "|") {
				if !strings.Contains(all.String(), want) {
					t.Errorf("got\n%s\nwant %q in it", all.String(), want)
				}
			}
		})
	}
}

func TestCtrlCStopsTheWaitForTheTerminal(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close() //nolint:errcheck // a pipe in memory
	go func() { _, _ = io.WriteString(typed, "x\x03") }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	doctor.Terminal(in, io.Discard, []string{"TERM=xterm"}, "linux", stop)(ctx)
	if ctx.Err() == nil {
		t.Error("ctrl+c did not stop the checks")
	}
}

func TestDoubtAboutConfigurationIsAWarning(t *testing.T) {
	report := doctor.Examine(t.Context(), doctor.Configuration("/home/me/config.toml", nil, `a rule in config.toml: there is no built-in tool "fs.lst"`))
	if text := report.Text(0, sign); !report.OK || !strings.Contains(text, `! rules        a rule in config.toml: there is no built-in tool "fs.lst"`) {
		t.Errorf("OK %t:\n%s", report.OK, text)
	}
}
