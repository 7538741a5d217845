package fit

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"replan/planning/plan"
)

//go:embed tasks.json
var tasks []byte

//go:embed all:project
var project embed.FS

// Project returns the files of the project that the tasks are about.
func Project() (fs.FS, error) {
	files, err := fs.Sub(project, "project")
	if err != nil {
		return nil, fmt.Errorf("read the project of the tasks: %w", err)
	}
	return files, nil
}

// Task is a goal as developers type it, with the checks of what comes of it.
type Task struct {
	ID   string `json:"id"`
	Goal string `json:"goal"`

	Calls  []Call               `json:"calls"`  // that a good plan has
	Answer []string             `json:"answer"` // regular expressions; a right answer matches all, in any case
	Files  map[string]FileCheck `json:"files"`  // that change, by path; no others may
}

// Call is a call that a plan needs.
type Call struct {
	Tools []string `json:"tools"` // one of them
	Args  string   `json:"args"`  // a regular expression that its title and arguments match, in any case
}

// FileCheck says what a file holds once a goal is reached.
type FileCheck struct {
	Has []string `json:"has"` // regular expressions
}

// AgentTask is the step that an agent is to carry out, and what its result matches.
var AgentTask = Task{
	ID: "agent", Goal: "Find out which environment variable sets the port of the server.",
	Answer: []string{"GREENHOUSE_PORT"},
}

// Tasks returns the tasks in the order in which they are tried. The first ones read and
// change in turn, so that a few are a fair sample.
func Tasks() ([]Task, error) {
	var list []Task
	decoder := json.NewDecoder(bytes.NewReader(tasks))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	return list, nil
}

// Version identifies the tasks and their project. Results of another version cannot be
// compared.
func Version() string {
	sum := sha256.New()
	sum.Write(tasks)
	_ = fs.WalkDir(project, ".", func(path string, d fs.DirEntry, err error) error { // embedded files can be read
		if err == nil && !d.IsDir() {
			data, _ := project.ReadFile(path)
			sum.Write([]byte(path + "\x00"))
			sum.Write(data)
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Changes reports whether the goal asks for changes of files.
func (t Task) Changes() bool { return len(t.Files) > 0 }

// Planned reports whether steps hold the calls that the goal needs.
func (t Task) Planned(steps []plan.Step) bool {
	for _, call := range t.Calls {
		fits := regexp.MustCompile("(?i)" + call.Args)
		if !slices.ContainsFunc(steps, func(s plan.Step) bool {
			return slices.Contains(call.Tools, s.Tool) && fits.MatchString(string(s.Title)+" "+plan.CanonicalJSON(s.Args))
		}) {
			return false
		}
	}
	return true
}

// Missed returns why the goal is not reached, by its answer and the files of the
// project before and after, by path; "" if it is.
func (t Task) Missed(answer string, before, after map[string]string) string {
	for _, want := range t.Answer {
		if !regexp.MustCompile("(?i)" + want).MatchString(answer) {
			return fmt.Sprintf("the answer lacks %s", want)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t.Files)) {
		for _, want := range t.Files[path].Has {
			if !regexp.MustCompile(want).MatchString(after[path]) {
				return fmt.Sprintf("%s lacks %s", path, want)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		_, named := t.Files[path]
		if was, there := before[path]; !named && (!there || was != after[path]) {
			return path + " was changed"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, left := after[path]; !left {
			return path + " was deleted"
		}
	}
	return ""
}
