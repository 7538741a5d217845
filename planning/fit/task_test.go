package fit_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/plan"
)

func tasks(t *testing.T) []fit.Task {
	t.Helper()
	list, err := fit.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// project returns the files of the project by their paths.
func project(t *testing.T) map[string]string {
	t.Helper()
	folder, err := fit.Project()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTasksCanBeChecked(t *testing.T) {
	files, ids := project(t), map[string]bool{}
	all := strings.Join(slices.AppendSeq(slices.Collect(maps.Keys(files)), maps.Values(files)), "\n")
	for at, task := range append(tasks(t), fit.AgentTask) {
		if ids[task.ID] || task.ID == "" || task.Goal == "" {
			t.Errorf("task %d is not named, or has no goal", at+1)
		}
		ids[task.ID] = true
		if task.ID != fit.AgentTask.ID && (len(task.Calls) == 0 || task.Changes() == (at%2 == 0) && at < 6) {
			t.Errorf("%s has no calls, or stands in the wrong place", task.ID)
		}
		if (len(task.Answer) > 0) == task.Changes() {
			t.Errorf("%s is about both an answer and changes, or neither", task.ID)
		}
		for _, call := range task.Calls {
			if _, err := regexp.Compile("(?i)" + call.Args); err != nil || len(call.Tools) == 0 {
				t.Errorf("%s: call %+v: %v", task.ID, call, err)
			}
		}
		for _, want := range task.Answer {
			if pattern, err := regexp.Compile("(?i)" + want); err != nil || !pattern.MatchString(all) {
				t.Errorf("%s: the project does not hold the answer %q: %v", task.ID, want, err)
			}
		}
		for path, check := range task.Files {
			for _, want := range check.Has {
				if _, err := regexp.Compile(want); err != nil {
					t.Errorf("%s: %s: %v", task.ID, path, err)
				}
			}
		}
		if missed := task.Missed("", files, files); missed == "" {
			t.Errorf("%s is reached before anything is done", task.ID)
		}
	}
}

// TestTasksCanBeReached holds the checks of files against what a developer would do.
func TestTasksCanBeReached(t *testing.T) {
	type edit struct{ path, old, new string }
	done := map[string][]edit{
		"constant": {{"greenhouse/beds.py", "MAX_BEDS = 12", "MAX_BEDS = 20"}},
		"ignore":   {{".gitignore", "", "__pycache__/\n*.log\n"}},
		"bug":      {{"greenhouse/sensors.py", "moisture > limit", "moisture < limit"}},
		"list":     {{"MODULES.md", "", "- sensors: readings\n- beds: valves\n- server: answers over HTTP\n"}},
		"count":    {{"greenhouse/beds.py", "\ndef legacy_label", "\ndef count_beds(beds):\n    return len(beds)\n\n\ndef legacy_label"}},
	}
	for _, task := range tasks(t) {
		if !task.Changes() {
			continue
		}
		before := project(t)
		after := maps.Clone(before)
		for _, e := range done[task.ID] {
			if !strings.Contains(after[e.path], e.old) {
				t.Fatalf("%s: %s lacks %q", task.ID, e.path, e.old)
			}
			after[e.path] = strings.Replace(after[e.path], e.old, e.new, 1)
		}
		if missed := task.Missed("", before, after); missed != "" {
			t.Errorf("%s: %s", task.ID, missed)
		}
	}
}

func TestTaskIsMissedForAReason(t *testing.T) {
	task := fit.Task{Answer: []string{"port"}, Files: map[string]fit.FileCheck{"a": {Has: []string{"^1$"}}, "new": {Has: []string{"x"}}}}
	before := map[string]string{"a": "0", "b": "0"}
	for name, c := range map[string]struct {
		answer string
		after  map[string]string
		want   string
	}{
		"all is right":            {"The PORT is 1", map[string]string{"a": "1", "b": "0", "new": "x"}, ""},
		"a wrong answer":          {"It is 1", map[string]string{"a": "1", "b": "0", "new": "x"}, "the answer lacks port"},
		"a wrong change":          {"port", map[string]string{"a": "2", "b": "0", "new": "x"}, "a lacks ^1$"},
		"a missing file":          {"port", map[string]string{"a": "1", "b": "0"}, "new lacks x"},
		"a change of another":     {"port", map[string]string{"a": "1", "b": "1", "new": "x"}, "b was changed"},
		"a file that is too much": {"port", map[string]string{"a": "1", "b": "0", "c": "", "new": "x"}, "c was changed"},
		"a deleted file":          {"port", map[string]string{"a": "1", "new": "x"}, "b was deleted"},
	} {
		if got := task.Missed(c.answer, before, c.after); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestPlanHasTheCallsOfItsTask(t *testing.T) {
	step := func(tool, title, args string) plan.Step {
		s := plan.Step{Tool: tool, Title: untrusted.Text(title)}
		if err := json.Unmarshal([]byte(args), &s.Args); err != nil {
			t.Fatal(err)
		}
		return s
	}
	task := fit.Task{Calls: []fit.Call{{Tools: []string{"fs.read", "fs.search"}, Args: "beds"}, {Tools: []string{"fs.patch"}, Args: `home\.json`}}}
	read, patch := step("fs.read", "Look", `{"path":"Beds.py"}`), step("fs.patch", "Patch", `{"path":"config/home.json"}`)
	for name, c := range map[string]struct {
		steps []plan.Step
		want  bool
	}{
		"both":                   {[]plan.Step{read, patch}, true},
		"the title says it":      {[]plan.Step{step("fs.search", "Find the beds", `{}`), patch}, true},
		"one of them":            {[]plan.Step{read}, false},
		"another tool":           {[]plan.Step{step("fs.list", "Beds", `{}`), patch}, false},
		"the same about another": {[]plan.Step{read, step("fs.patch", "Patch", `{"path":"config/shop.json"}`)}, false},
		"no plan":                {nil, false},
	} {
		if got := task.Planned(c.steps); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
