package fit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/cli/fit"
	planfit "replan/planning/fit"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// able is a large model with tools, weak one of 1.5 billion parameters.
var (
	able = prompt.ModelInfo{Name: "able:latest", Digest: "a", Parameters: "8.2B", Weights: "Able 8.2B Q4_K_M", Tools: true, Chats: true}
	weak = prompt.ModelInfo{Name: "weak:latest", Digest: "w", Parameters: "1.5B", Weights: "Weak 1.5B Q4_K_M", Tools: true, Chats: true, Small: true}
)

// player stands for the sessions in which attempts are made: it reaches a goal or not.
type player struct {
	t      *testing.T
	jobs   []fit.Job
	reach  func(fit.Job) bool                 // nil: every goal
	before func(fit.Job) (fit.Outcome, error) // an error ends the measurement; may be nil
}

func (p *player) do(_ context.Context, job fit.Job) (fit.Outcome, error) {
	p.jobs = append(p.jobs, job)
	outcome := fit.Outcome{MS: 2000 + 10*int64(len(p.jobs)), Speed: pace.Speed{Read: 120, Write: 15}}
	if p.before != nil {
		if _, err := p.before(job); err != nil {
			return outcome, err
		}
	}
	if p.reach != nil && !p.reach(job) {
		outcome.Answer, outcome.Error = "I do not know.", "no plan"
		return outcome, nil
	}
	switch job.Goal {
	case planfit.AgentTask.Goal:
		outcome.Answer = "GREENHOUSE_PORT"
	case question:
		outcome.Answer = "GREENHOUSE_PORT, 7070 by default"
		outcome.Steps = []plan.Step{{Index: "1", Tool: "fs.search", Title: "Find the port"}}
	case change:
		file := filepath.Join(job.Folder, "greenhouse", "beds.py")
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.Replace(string(data), "MAX_BEDS = 12", "MAX_BEDS = 20", 1)), 0o600)
		}
		outcome.Steps = []plan.Step{{Index: "1", Tool: "fs.patch", Title: "Set MAX_BEDS"}}
		return outcome, err
	default:
		p.t.Errorf("the goal %q is not expected", job.Goal)
	}
	return outcome, nil
}

// The goals of the first two tasks.
const (
	question = "Which environment variable sets the port of the server, and what is the default port?"
	change   = "Set MAX_BEDS to 20 in greenhouse/beds.py."
)

// forms returns how often goals were tried with full and with short plans, and steps with
// agents.
func (p *player) forms() (full, short, agents int) {
	for _, job := range p.jobs {
		switch {
		case job.Agent:
			agents++
		case job.Settings.Short:
			short++
		default:
			full++
		}
	}
	return full, short, agents
}

func serve(t *testing.T) *ollamatest.Server {
	t.Helper()
	server, err := ollamatest.Start(context.WithoutCancel(t.Context()), ollamatest.Script{Model: "able", Others: []ollamatest.Model{{Name: "embeds", Capabilities: []string{"embedding"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// measure returns a measurement of the first two tasks by a player.
func measure(t *testing.T, p *player) fit.Measurement {
	t.Helper()
	tasks, err := planfit.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	p.t = t
	return fit.Measurement{
		Tasks: tasks[:2], Do: p.do, Server: ollama.Config{Host: serve(t).URL()}, Attempts: filepath.Join(t.TempDir(), "attempts.json"),
		Prompts: "these", Version: "1.0", Now: func() time.Time { return time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC) },
	}
}

func run(t *testing.T, m fit.Measurement, models ...prompt.ModelInfo) fit.Report {
	t.Helper()
	report, err := m.Run(t.Context(), models)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestEachTaskIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	p := &player{}
	m := measure(t, p)
	var lines []string
	m.Progress = func(now fit.Progress) { lines = append(lines, now.Line()) }
	found := run(t, m, able).Findings()
	if full, short, agents := p.forms(); full != 6 || short != 0 || agents != 3 {
		t.Errorf("tried %d full plans, %d short ones and %d agents", full, short, agents)
	}
	if len(found) != 1 || found[0].Settings != (planfit.Settings{Loops: true}) || found[0].Goals() != (planfit.Share{Done: 6, Of: 6}) ||
		found[0].Plans != (planfit.Share{Done: 6, Of: 6}) || found[0].Agents != (planfit.Share{Done: 3, Of: 3}) || found[0].GoalMS != 2040 || found[0].Speed.Read != 120 {
		t.Errorf("found %+v", found)
	}
	if folders := len(slices.Compact(slices.Sorted(folders(p.jobs)))); folders != 9 {
		t.Errorf("9 attempts had %d folders", folders)
	}
	for _, job := range p.jobs {
		if _, err := os.Stat(job.Folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", job.Folder, err)
		}
	}
	if want := []string{"able:latest 0/9 begins", "able:latest 1/9 done 2.0s " + question}; !slices.Equal(lines[:2], want) || len(lines) != 10 {
		t.Errorf("the progress is %q", lines)
	}
}

func folders(jobs []fit.Job) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, job := range jobs {
			if !yield(job.Folder) {
				return
			}
		}
	}
}

func TestBetterFormOfPlansIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model       prompt.ModelInfo
		reach       func(fit.Job) bool
		want        planfit.Settings
		full, short int // goals tried
	}{
		"the usual one does":          {able, nil, planfit.Settings{Loops: true}, 6, 0},
		"short for a small model":     {weak, nil, planfit.Settings{Short: true, Loops: true}, 0, 6},
		"short for a large one":       {able, func(j fit.Job) bool { return j.Agent || j.Settings.Short }, planfit.Settings{Short: true, Loops: true}, 2, 6},
		"full for a small one":        {weak, func(j fit.Job) bool { return j.Agent || !j.Settings.Short }, planfit.Settings{Loops: true}, 6, 2},
		"neither is better":           {able, func(j fit.Job) bool { return j.Agent || j.Goal == change }, planfit.Settings{Loops: true}, 6, 2},
		"agents fail":                 {able, func(j fit.Job) bool { return !j.Agent }, planfit.Settings{}, 6, 0},
		"what was found before fails": {found(able, planfit.Settings{Short: true}), func(j fit.Job) bool { return !j.Settings.Short }, planfit.Settings{Loops: true}, 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &player{reach: c.reach}
			got := run(t, measure(t, p), c.model).Findings()
			full, short, _ := p.forms()
			if len(got) != 1 || got[0].Settings != c.want || full != c.full || short != c.short {
				t.Errorf("after %d full plans and %d short ones: %+v", full, short, got)
			}
			if got[0].Goals().Of != 6 {
				t.Errorf("%d attempts count", got[0].Goals().Of)
			}
		})
	}
}

// found returns a model that is driven by an earlier finding.
func found(info prompt.ModelInfo, settings planfit.Settings) prompt.ModelInfo {
	info.Fit, info.Small = &planfit.Finding{Settings: settings}, settings.Short
	return info
}

func TestThinkingIsChosenForAgents(t *testing.T) {
	t.Parallel()
	thinks, toolless := able, able
	thinks.Thinks, toolless.Tools = true, false
	for name, c := range map[string]struct {
		model prompt.ModelInfo
		reach func(fit.Job) bool
		want  planfit.Settings
		share planfit.Share
		tried int
	}{
		"off if that does":    {thinks, nil, planfit.Settings{Loops: true, Think: planfit.ThinkOff}, planfit.Share{Done: 3, Of: 3}, 3},
		"on if it fails":      {thinks, func(j fit.Job) bool { return j.Settings.Think == "" }, planfit.Settings{Loops: true}, planfit.Share{Done: 3, Of: 3}, 6},
		"both fail":           {thinks, func(j fit.Job) bool { return !j.Agent }, planfit.Settings{}, planfit.Share{Of: 6}, 6},
		"it cannot think":     {able, func(j fit.Job) bool { return !j.Agent }, planfit.Settings{}, planfit.Share{Of: 3}, 3},
		"it cannot call them": {toolless, nil, planfit.Settings{}, planfit.Share{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &player{reach: c.reach}
			got := run(t, measure(t, p), c.model).Findings()
			if _, _, tried := p.forms(); len(got) != 1 || got[0].Settings != c.want || got[0].Agents != c.share || tried != c.tried {
				t.Errorf("after %d steps: %+v", tried, got)
			}
		})
	}
}

// TestMeasurementContinuesWhereItStopped interrupts a measurement before each of its
// attempts in turn. It ends as one that nobody interrupted.
func TestMeasurementContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	reach := func(j fit.Job) bool {
		return j.Settings.Short && !j.Agent || j.Settings.Loops && j.Settings.Think == ""
	}
	thinks := able
	thinks.Thinks = true
	whole := &player{reach: reach}
	want := run(t, measure(t, whole), thinks)
	const attempts = 2 + 2 + 4 + 3 + 3
	if len(whole.jobs) != attempts || want.Models[0].Settings != (planfit.Settings{Short: true, Loops: true}) {
		t.Fatalf("after %d attempts: %+v", len(whole.jobs), want.Models)
	}
	p := &player{reach: reach}
	m := measure(t, p)
	for n := range attempts {
		ctx, stop := context.WithCancel(t.Context())
		p.before = func(fit.Job) (fit.Outcome, error) {
			if len(p.jobs) > n+1 {
				p.jobs = p.jobs[:n+1]
				stop()
				return fit.Outcome{}, ctx.Err()
			}
			return fit.Outcome{}, nil
		}
		report, err := m.Run(ctx, []prompt.ModelInfo{thinks})
		stop()
		if n < attempts-1 && (!errors.Is(err, context.Canceled) || report.Best != "" || len(report.Findings()) != 0 || report.Models[0].Made != n+1) {
			t.Fatalf("stopped after %d attempts: %+v, %v", n+1, report.Models, err)
		}
	}
	p.before = nil
	got := run(t, m, thinks)
	for i := range whole.jobs {
		if p.jobs[i].Goal != whole.jobs[i].Goal || p.jobs[i].Settings != whole.jobs[i].Settings {
			t.Errorf("attempt %d is %+v, want %+v", i+1, p.jobs[i], whole.jobs[i])
		}
	}
	if len(p.jobs) != attempts || got.Models[0].Settings != want.Models[0].Settings || got.Models[0].Agents != want.Models[0].Agents || got.Models[0].Plans != want.Models[0].Plans {
		t.Errorf("after %d attempts: %+v", len(p.jobs), got.Models)
	}
	m.Again = true
	if run(t, m, thinks); len(p.jobs) != 2*attempts {
		t.Errorf("measured again: %d attempts", len(p.jobs)-attempts)
	}
}

func TestResultsOfOtherRequestsDoNotCount(t *testing.T) {
	t.Parallel()
	p := &player{}
	m := measure(t, p)
	now := able
	for _, c := range []struct { // in order: each continues from the one before
		name   string
		change func()
		more   int
	}{
		{"the first time", func() {}, 9},
		{"the same", func() {}, 0},
		{"under another name", func() { now.Name = "copy" }, 0},
		{"other prompts", func() { m.Prompts = "others" }, 9},
		{"other content", func() { now.Digest = "b" }, 9},
		{"another server", func() { m.Server.Host = serve(t).URL() }, 9},
		{"a damaged file", func() {
			if err := os.WriteFile(m.Attempts, []byte("{"), 0o600); err != nil {
				t.Error(err)
			}
		}, 9},
	} {
		c.change()
		before := len(p.jobs)
		report := run(t, m, now)
		if got := len(p.jobs) - before; got != c.more || !report.Models[0].Whole {
			t.Errorf("%s: %d attempts, want %d", c.name, got, c.more)
		}
	}
}

func TestServerThatDiesKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	p := &player{}
	m := measure(t, p)
	server := serve(t)
	m.Server.Host = server.URL()
	p.reach = func(fit.Job) bool { // the run of the third attempt fails without an error of the measurement
		if len(p.jobs) == 3 {
			_ = server.Close()
		}
		return len(p.jobs) < 3
	}
	report, err := m.Run(t.Context(), []prompt.ModelInfo{able, weak})
	var lost *fit.LostError
	if !errors.As(err, &lost) || !errors.Is(err, prompt.ErrNoModel) || strings.Count(err.Error(), "the same command continues from there") != 1 {
		t.Fatalf("got the error %v", err)
	}
	if len(p.jobs) != 3 || report.Models[0].Made != 2 || report.Models[0].Goals().Done != 2 || report.Best != "" {
		t.Errorf("after %d attempts: %+v", len(p.jobs), report.Models)
	}
	if text := report.Text(nil); !strings.Contains(text, "able:latest: 2 of 9 attempts made\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestModelThatFailsIsNamedAndTheNextIsMeasured(t *testing.T) {
	t.Parallel()
	p := &player{before: func(job fit.Job) (o fit.Outcome, err error) {
		if job.Model == weak.Name {
			err = errors.New("there is not enough memory for weak: choose a smaller --model")
		}
		return o, err
	}}
	m := measure(t, p)
	report := run(t, m, weak, able)
	if report.Best != able.Name || report.Nothing() || len(report.Findings()) != 1 {
		t.Errorf("got %+v", report)
	}
	if text := report.Text(nil); !strings.Contains(text, "weak:latest: not measured: there is not enough memory for weak") {
		t.Errorf("got\n%s", text)
	}
	if report = run(t, m, weak); !report.Nothing() {
		t.Errorf("got %+v", report)
	}
}

func TestModelThatReachesLittleIsNotTheBest(t *testing.T) {
	t.Parallel()
	p := &player{}
	p.reach = func(fit.Job) bool { return len(p.jobs) == 1 }
	report := run(t, measure(t, p), able)
	if report.Best != "" || len(report.Findings()) != 1 || report.Findings()[0].Expect() != "not fit for work in a project; choose another" {
		t.Errorf("got %+v", report)
	}
}

// mixed measures a model that does most, one that fails at changes and agents, and one
// that cannot call tools.
func mixed(t *testing.T) fit.Report {
	t.Helper()
	p := &player{reach: func(j fit.Job) bool { return j.Model == able.Name || !j.Agent && j.Goal == question }}
	mute := prompt.ModelInfo{Name: "mute:latest", Digest: "m", Chats: true}
	report := run(t, measure(t, p), weak, able, mute)
	for i := range report.Models {
		report.Models[i].Server = "http://127.0.0.1:11434"
	}
	return report
}

func TestModelsAreRanked(t *testing.T) {
	t.Parallel()
	golden.RequireEqual(t, mixed(t).Text(nil))
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	data, err := json.MarshalIndent(mixed(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, data)
}

func TestFindingsCanBeGivenToOthers(t *testing.T) {
	t.Parallel()
	report := run(t, measure(t, &player{}), able)
	mine, theirs := filepath.Join(t.TempDir(), "findings.json"), filepath.Join(t.TempDir(), "findings.json")
	if _, err := fit.Export(mine); err == nil || !strings.Contains(err.Error(), "run replan fit first") {
		t.Errorf("exported nothing: %v", err)
	}
	if err := os.WriteFile(mine, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fit.Store(t.Context(), mine, report.Findings()...); err != nil {
		t.Fatal(err)
	}
	data, err := fit.Export(mine)
	if err != nil || strings.Contains(string(data), "127.0.0.1") {
		t.Fatalf("exported %s, %v", data, err)
	}
	for range 2 { // the second time replaces the first
		if n, err := fit.Load(t.Context(), theirs, data); n != 1 || err != nil {
			t.Fatalf("loaded %d, %v", n, err)
		}
	}
	table, err := fit.Found(theirs)
	if f, ok := table.Of("http://elsewhere:1", "x", able.Weights); err != nil || len(table) != 1 || !ok || f.Source != planfit.SourceLoaded || f.GoalMS != 0 {
		t.Errorf("got %+v, %v", table, err)
	}
	if _, err := fit.Export(theirs); err == nil {
		t.Error("findings of others are exported")
	}
	if _, err := fit.Load(t.Context(), theirs, []byte(`{"v":1,"findings":[{"source":"measured","server":"s","digest":"d","reads":{"done":1,"of":1}}]}`)); err == nil {
		t.Error("a finding without weights is loaded")
	}
	if table, err := fit.Found(theirs); err != nil || len(table) != 1 {
		t.Errorf("got %+v, %v", table, err)
	}
}

func TestSettleSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := serve(t)
	empty, err := ollamatest.Start(t.Context(), ollamatest.Script{})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close() //nolint:errcheck // nothing was asked of it
	for name, c := range map[string]struct {
		host  string
		names []string
		want  string
	}{
		"model is gone":     {server.URL(), []string{"gone"}, "ollama pull gone"},
		"model cannot chat": {server.URL(), []string{"embeds"}, "choose another"},
		"no models":         {empty.URL(), nil, "ollama pull qwen3:8b"},
	} {
		_, err := fit.Settle(t.Context(), ollama.Config{Host: c.host}, c.names)
		if !errors.Is(err, prompt.ErrNoModel) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if models, err := fit.Settle(t.Context(), ollama.Config{Host: server.URL()}, nil); err != nil || len(models) != 1 || models[0].Name != "able:latest" {
		t.Errorf("got %+v, %v", models, err)
	}
}
