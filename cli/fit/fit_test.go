package fit_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/cli/fit"
	planfit "replan/planning/fit"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// bundled returns the goals beside bundled tools.
var bundled = sync.OnceValues(func() (planfit.Set, error) {
	data, err := os.ReadFile(filepath.Join("..", "..", "planning", "testdata", "tools", "operators.json"))
	if err != nil {
		return planfit.Set{}, err
	}
	var operators plan.Catalogue
	if err := json.Unmarshal(data, &operators); err != nil {
		return planfit.Set{}, err
	}
	return planfit.NewSet(operators, nil)
})

// knownPlan is the reply of a model that makes the known plan of the goal in the
// request.
func knownPlan(t *testing.T, req ollamatest.Request) string {
	set, err := bundled()
	if err != nil {
		t.Error(err)
	}
	for _, goal := range set.Goals {
		if slices.ContainsFunc(req.Messages, func(m ollamatest.Message) bool { return strings.HasSuffix(m.Content, "\n\nGoal: "+goal.Text) }) {
			p := goal.Plans()[0]
			return `{"mode":"plan","task":"x","goal":"y","complexity":"simple","reflect":false,"steps":` + steps(t, p) + `}`
		}
	}
	t.Errorf("no goal in the request %s", req.Last())
	return ""
}

// steps returns the steps of a plan as JSON.
func steps(t *testing.T, p plan.Plan) string {
	data, err := p.MarshalJSON()
	if err != nil {
		t.Error(err)
	}
	var form struct{ Steps json.RawMessage }
	if err := json.Unmarshal(data, &form); err != nil {
		t.Error(err)
	}
	return string(form.Steps)
}

func by(model string) func(ollamatest.Request) bool {
	return func(r ollamatest.Request) bool { return prompt.SameModel(r.Model, model) }
}

// wrongPlan names a tool that does not exist.
const wrongPlan = `{"mode":"plan","task":"x","goal":"y","complexity":"simple","reflect":false,"steps":[{"index":"1","title":"Guess","tool":"no.such"}]}`

// script is a server with a model that makes known plans, one that makes none, and one
// that only embeds.
func script(t *testing.T) ollamatest.Script {
	return ollamatest.Script{
		Model: "good", ContextLength: 16384,
		Others: []ollamatest.Model{
			{Name: "bad", ContextLength: 16384, Digest: "b", Parameters: "1B", Capabilities: []string{"completion"}},
			{Name: "embeds", Capabilities: []string{"embedding"}},
		},
		Replies: []ollamatest.Reply{
			{When: by("good"), Times: -1, TextFor: func(r ollamatest.Request) string { return knownPlan(t, r) }},
			{When: by("bad"), Times: -1, Text: wrongPlan},
		},
	}
}

func serve(t *testing.T, script ollamatest.Script) *ollamatest.Server {
	t.Helper()
	server, err := ollamatest.Start(context.WithoutCancel(t.Context()), script)
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

func measurement(t *testing.T, server *ollamatest.Server, goals int) fit.Measurement {
	t.Helper()
	set, err := bundled()
	if err != nil {
		t.Fatal(err)
	}
	cold := 0.0
	return fit.Measurement{
		Set: set, Goals: goals, Limits: event.DefaultLimits(), File: filepath.Join(t.TempDir(), "fit.json"),
		Server: ollama.Config{Host: server.URL(), Temperature: &cold},
	}
}

// run measures models, all if none is named.
func run(ctx context.Context, t *testing.T, m fit.Measurement, names ...string) (fit.Report, error) {
	t.Helper()
	models, err := fit.Settle(t.Context(), m.Server, names)
	if err != nil {
		t.Fatal(err)
	}
	return m.Run(ctx, models)
}

// steady returns a report with fixed times and tokens, which prompts decide.
func steady(r fit.Report) fit.Report {
	for i := range r.Models {
		r.Models[i].MS, r.Models[i].Tokens = 1200, 2345
		for n := range r.Models[i].Results {
			r.Models[i].Results[n].MS, r.Models[i].Results[n].Tokens = 1200, 2345
		}
	}
	return r
}

func TestModelsAreRanked(t *testing.T) {
	t.Parallel()
	server := serve(t, script(t))
	report, err := run(t.Context(), t, measurement(t, server, 8))
	if err != nil {
		t.Fatal(err)
	}
	if report.Best != "good:latest" || len(report.Models) != 2 {
		t.Fatalf("the best of %d models is %q", len(report.Models), report.Best)
	}
	good, bad := report.Models[0], report.Models[1]
	if good.Measured != 8 || good.Score != 1 || good.Valid != 1 || good.Repairs != 0 || good.Tokens == 0 {
		t.Errorf("the good model scores %+v", good)
	}
	if bad.Measured != 8 || bad.Score != 0 || bad.Valid != 0 || bad.Repairs != 16 || !strings.Contains(string(bad.Results[0].Reason), "no.such") {
		t.Errorf("the bad model scores %+v", bad)
	}
	for _, r := range server.Requests() {
		if r.Options["temperature"] != 0.0 {
			t.Fatalf("a request has the temperature %v", r.Options["temperature"])
		}
		if prose := len(r.Format) == 0; r.Purpose == "analysis" && prose != by("bad")(r) {
			t.Errorf("the analysis of %s is in prose: %t; only a small model's is", r.Model, prose)
		}
	}
	golden.RequireEqual(t, steady(report).Text(nil))
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	report, err := run(t.Context(), t, measurement(t, serve(t, script(t)), 2))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(steady(report), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, data)
}

func TestMeasurementContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	server := serve(t, script(t))
	m := measurement(t, server, 4)
	ctx, stop := context.WithCancel(t.Context())
	var lines []string
	m.Progress = func(now fit.Progress) {
		lines = append(lines, regexp.MustCompile(` [0-9.]+s `).ReplaceAllString(now.Line(), " 1s "))
		if now.Done == 2 {
			stop()
		}
	}
	report, err := run(ctx, t, m, "good", "bad")
	if !errors.Is(err, context.Canceled) || len(report.Models) != 2 || report.Models[0].Measured != 2 || report.Models[1].Measured != 0 || report.Best != "" {
		t.Fatalf("got %+v, %v", report, err)
	}
	if text := report.Text(nil); !strings.Contains(text, "good: 2 of 4 goals measured\n") {
		t.Errorf("got\n%s", text)
	}
	if want := []string{
		"good 0/4 loading the model", "good 0/4 planning", "good 1/4 100% 1s Find every line with TODO below the folder internal", "good 2/4 100% 1s Where is ParseConfig declared?",
	}; !slices.Equal(lines, want) {
		t.Errorf("the progress is %q", lines)
	}
	asked := len(server.Requests())
	m.Progress = nil
	if report, err = run(t.Context(), t, m, "good"); err != nil || report.Models[0].Measured != 4 || report.Best != "good" {
		t.Fatalf("got %+v, %v", report, err)
	}
	if more := len(server.Requests()) - asked; more != 2 {
		t.Errorf("%d requests for the two goals that were left", more)
	}
	if _, err = run(t.Context(), t, m, "good"); err != nil || len(server.Requests()) != asked+2 {
		t.Errorf("what was measured is measured again: %v", err)
	}
	m.Again = true
	if report, err = run(t.Context(), t, m, "good"); err != nil || report.Models[0].Measured != 4 || len(server.Requests()) != asked+6 {
		t.Errorf("nothing was measured again: %+v, %v", report, err)
	}
}

func TestResultsOfOtherRequestsDoNotCount(t *testing.T) {
	t.Parallel()
	script := script(t)
	script.Replies[1].TextFor = func(r ollamatest.Request) string { return knownPlan(t, r) }
	server := serve(t, script)
	m := measurement(t, server, 1)
	models, err := fit.Settle(t.Context(), m.Server, []string{"bad"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct { // in order: each continues from the one before
		name   string
		change func()
	}{
		{"the first time", func() {}},
		{"another analysis", func() { models[0].Small = !models[0].Small }},
		{"another limit of the plan", func() { m.Limits.MaxPlanSteps = 2 }},
	} {
		c.change()
		asked := len(server.Requests())
		if _, err := m.Run(t.Context(), models); err != nil {
			t.Fatal(err)
		}
		if got := len(server.Requests()) - asked; got == 0 {
			t.Errorf("%s: results of other requests were taken", c.name)
		}
	}
}

func TestModelThatGetsNothingRightIsNotTheBest(t *testing.T) {
	t.Parallel()
	script := script(t)
	script.Replies[1].Text = strings.Replace(wrongPlan, `"no.such"`, `"vcs.status","args":{}`, 1)
	report, err := run(t.Context(), t, measurement(t, serve(t, script), 1), "bad")
	if err != nil || report.Models[0].Valid != 1 || report.Best != "" {
		t.Errorf("the best is %q: %+v, %v", report.Best, report.Models, err)
	}
}

func TestServerThatDiesKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	server := serve(t, script(t))
	m := measurement(t, server, 4)
	m.Progress = func(now fit.Progress) {
		if now.Done == 3 {
			_ = server.Close()
		}
	}
	report, err := run(t.Context(), t, m, "good", "bad")
	var lost *fit.LostError
	if !errors.As(err, &lost) || !errors.Is(err, prompt.ErrNoModel) || !strings.Contains(err.Error(), "ollama serve") {
		t.Fatalf("got the error %v", err)
	}
	if report.Models[0].Measured != 3 || report.Models[0].Score != 1 || report.Best != "" {
		t.Errorf("got %+v", report)
	}
}

func TestServerThatDiesWithinAPlanDoesNotCountAgainstTheModel(t *testing.T) {
	t.Parallel()
	var server *ollamatest.Server
	s := script(t)
	s.Replies = []ollamatest.Reply{
		{When: by("good"), TextFor: func(r ollamatest.Request) string { return knownPlan(t, r) }},
		{When: by("good"), Times: -1, TextFor: func(ollamatest.Request) string { go server.Close(); return wrongPlan }}, //nolint:errcheck // it is closed again
	}
	server = serve(t, s)
	report, err := run(t.Context(), t, measurement(t, server, 4), "good")
	var lost *fit.LostError
	if !errors.As(err, &lost) || report.Models[0].Measured != 1 {
		t.Errorf("got %+v, %v", report.Models, err)
	}
}

func TestModelThatFailsIsNamedAndTheNextIsMeasured(t *testing.T) {
	t.Parallel()
	s := script(t)
	s.Others = append(s.Others,
		ollamatest.Model{Name: "huge", Digest: "h", Bytes: 1 << 40, MostBytes: 1 << 30},
		ollamatest.Model{Name: "narrow", Digest: "n", ContextLength: 512},
		ollamatest.Model{Name: "mute", Digest: "m"},
	)
	s.Replies = append(s.Replies, ollamatest.Reply{When: by("mute"), Times: -1, Hold: make(chan struct{})})
	m := measurement(t, serve(t, s), 2)
	m.Prompting.PhaseTimeout = 50 * time.Millisecond
	report, err := run(t.Context(), t, m, "mute")
	if err != nil || report.Best != "" || !report.Nothing() {
		t.Fatalf("got %+v, %v", report, err)
	}
	text := report.Text(nil)
	m.Prompting.PhaseTimeout = 0
	report, err = run(t.Context(), t, m, "huge", "narrow", "good")
	if err != nil || report.Best != "good" {
		t.Fatalf("got %+v, %v", report, err)
	}
	text += report.Text(nil)
	for _, want := range []string{
		"huge: not measured: there is not enough memory for huge: choose a smaller --model",
		"mute: not measured: asking the model at http://127.0.0.1:", "the model was not done within 50ms",
		"narrow: not measured: the prompt does not fit the context window of narrow (512 tokens)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestSettleSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := serve(t, script(t))
	empty := serve(t, ollamatest.Script{})
	for name, c := range map[string]struct {
		server *ollamatest.Server
		model  string
		want   string
	}{
		"model is gone":     {server, "gone", "ollama pull gone"},
		"model cannot chat": {server, "embeds", "choose another"},
		"no models":         {empty, "", "ollama pull qwen3:8b"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			if c.model != "" {
				names = []string{c.model}
			}
			_, err := fit.Settle(t.Context(), ollama.Config{Host: c.server.URL()}, names)
			if !errors.Is(err, prompt.ErrNoModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
