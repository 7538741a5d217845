package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/agent/ollama/ollamatest"
	"replan/cli"
	"replan/planning/fit"
)

// TestFitDrivesModelsByWhatTheyDo measures a model of 8 billion parameters that plans in
// short forms alone, and fails as an agent. Its sessions are real.
func TestFitDrivesModelsByWhatTheyDo(t *testing.T) {
	server, err := ollamatest.Start(t.Context(), ollamatest.Script{
		Others: []ollamatest.Model{{Name: "able", Digest: "d", ContextLength: 16384, Parameters: "8.2B", Basename: "Able", Quantization: "Q4_K_M"}},
		Replies: []ollamatest.Reply{
			{Purpose: "analysis", Times: -1, Text: "I cannot."},
			{Purpose: "plan", Times: -1, TextFor: shortPlan},
			{Purpose: "args", Times: -1, TextFor: shortText},
			{Purpose: "repair", Times: -1, Text: "I cannot."},
			{Purpose: "replan", Times: -1, Text: "I cannot."},
			{Purpose: "step", Times: -1, Text: "I cannot."},
			{Purpose: "answer", Times: -1, Text: "GREENHOUSE_PORT sets the port; the default is 7070. A bed raises a ValueError. is_dry says so below 30."},
			{Times: -1, Text: "I cannot."},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	w := hostileWorld{home: t.TempDir(), folder: t.TempDir(), host: server.URL()}
	t.Setenv("TMPDIR", t.TempDir())
	run := func(terminal bool, args ...string) string {
		t.Helper()
		code, out, errs := w.run(t.Context(), terminal, args...)
		if code != 0 {
			t.Fatalf("replan %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return string(out)
	}
	if out := run(false, "fit", "--goals", "1"); !strings.Contains(out, "able:latest") || !strings.Contains(out, "driven with") {
		t.Errorf("got\n%s", out)
	}
	if out := run(false, "doctor"); strings.Contains(out, "driven with") {
		t.Errorf("a part of the goals is a finding:\n%s", out)
	}
	out := run(false, "fit")
	for _, want := range []string{"short plans, no agents", "\t0 of 3\t", `set name = "able:latest" in [model] of`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if left, err := fs.Glob(os.DirFS(os.Getenv("TMPDIR")), "replan-fit*"); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %q, %v", left, err)
	}
	if left, err := os.ReadDir(w.folder); err != nil || len(left) > 0 {
		t.Errorf("the working folder has %v, %v", left, err)
	}
	if !slices.ContainsFunc(server.Requests(), func(r ollamatest.Request) bool { return r.Purpose == "agent" }) {
		t.Error("no agent was asked")
	}
	asked := len(server.Requests())
	var said bytes.Buffer
	code := cli.Main(t.Context(), []string{"fit", "--plain"}, cli.IO{
		In: strings.NewReader("y\n"), Out: &said, Err: &said, Terminal: true, Getwd: func() (string, error) { return w.folder, nil },
		Getenv: func(name string) string {
			return map[string]string{"REPLAN_HOME": w.home, "OLLAMA_HOST": w.host, "TERM": "xterm-256color"}[name]
		},
	})
	if code != 0 || len(server.Requests()) != asked {
		t.Errorf("exit code %d; what was measured is measured again", code)
	}
	if data, err := os.ReadFile(filepath.Join(w.home, "config.toml")); err != nil || !strings.Contains(string(data), `name = "able:latest"`) {
		t.Errorf("the model is not saved in %q, %v, after\n%s", data, err, said.String())
	}
	if out := run(false, "fit"); !strings.HasSuffix(out, "able:latest is your model already.\n") {
		t.Errorf("got\n%s", out)
	}

	if out := run(false, "doctor"); !strings.Contains(out, "driven with short plans, no agents; measured on ") {
		t.Errorf("doctor says\n%s", out)
	}
	run(false, "run", "Which environment variable sets the port of the server, and what is the default port?", "--planner", "phases")
	if out := run(false, "runs", "show", "last"); !strings.Contains(out, "with short plans, no agents; measured on ") {
		t.Errorf("runs show says\n%s", out)
	}

	exported := run(false, "fit", "--export")
	table, err := fit.Decode([]byte(exported))
	if err != nil || len(table) != 1 || table[0].Weights != "Able 8.2B Q4_K_M" || strings.Contains(exported, server.URL()) || table[0].Goals().Of != 24 {
		t.Fatalf("exported %s, %v", exported, err)
	}
	file := filepath.Join(w.folder, "findings.json")
	if err := os.WriteFile(file, []byte(exported), 0o600); err != nil {
		t.Fatal(err)
	}
	w.home = t.TempDir()
	if out := run(false, "fit", "--load", file); !strings.HasPrefix(out, "loaded the findings of 1 model; ") {
		t.Errorf("got %q", out)
	}
	if out := run(false, "doctor"); !strings.Contains(out, "driven with short plans, no agents; loaded, measured on ") {
		t.Errorf("doctor says\n%s", out)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := w.run(t.Context(), false, "fit", "--load", file); code != 2 || !strings.Contains(string(errs), "export it again") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

// shortPlan plans in short forms alone: the questions and a change of the tasks, and
// nothing for the others.
func shortPlan(r ollamatest.Request) string {
	goal := r.Last()
	steps := "[]"
	switch {
	case strings.Contains(string(r.Format), "expected_outcome"): // the full form
	case strings.Contains(goal, "Which environment variable"):
		steps = `[{"index":"1","title":"Find the port","tool":"fs.search","args":{"query":"GREENHOUSE_PORT","path":"."},"depends_on":[]}]`
	case strings.Contains(goal, "watered for more"), strings.Contains(goal, "the soil"):
		steps = `[{"index":"1","title":"Look at the beds","tool":"fs.read","args":{"path":"greenhouse/beds.py"},"depends_on":[]}]`
	case strings.Contains(goal, "Set MAX_BEDS"):
		steps = `[{"index":"1","title":"Set MAX_BEDS","tool":"fs.patch","args":{"path":"greenhouse/beds.py","old":"MAX_BEDS = 12","new":"MAX_BEDS = 20"},"depends_on":[]}]`
	}
	return `{"steps":` + steps + `}`
}

// shortText writes the text of the new file of the tasks that rules plan.
func shortText(r ollamatest.Request) string {
	if strings.Contains(r.Last(), ".gitignore") {
		return `{"text":"__pycache__/\n*.log\n"}`
	}
	return "I cannot."
}
