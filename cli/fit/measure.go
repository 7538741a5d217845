package fit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"replan/agent/ollama"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Passes is how often each task is tried: one attempt says little of a model that
// chooses its words by chance.
const Passes = 3

// Job is an attempt to make: a goal, or a step for an agent, in a project.
type Job struct {
	Model    string
	Settings fit.Settings
	Folder   string // of the project
	Goal     string
	Agent    bool // the goal is a step that an agent carries out, not a goal to plan
}

// Outcome is what came of a job.
type Outcome struct {
	Steps  []plan.Step // of the first plan
	Failed bool        // one of them failed
	Answer string
	Error  untrusted.Text // why the run did not complete; "" if it did
	MS     int64
	Speed  pace.Speed // as known after it
}

// Measurement is what to measure, and how.
type Measurement struct {
	Tasks    []fit.Task
	Do       func(context.Context, Job) (Outcome, error) // an error means that nothing was measured
	Server   ollama.Config                               // the model is set for each
	Attempts string                                      // the file of attempts
	Prompts  string                                      // identifies the prompts and settings of the program
	Version  string                                      // of the program
	Again    bool                                        // measure what was measured before, too
	Progress func(Progress)                              // called after each change, from one goroutine; may be nil
	Now      func() time.Time
}

// Progress is the state of a measurement.
type Progress struct {
	Model string
	Done  int // attempts
	Of    int
	Last  *Attempt // the one measured just now; nil before the first

	Loading bool // the model is loaded
}

// LostError reports that the model server is gone. What was measured before is kept.
type LostError struct{ Err error }

func (e *LostError) Error() string {
	return fmt.Sprintf("%v; the results so far are kept: the same command continues from there", e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// Run measures the models, one after another, and continues what an earlier
// measurement has left. The report holds what is known when ctx ends or an error
// occurs, too; a model that fails alone is part of the report.
func (m Measurement) Run(ctx context.Context, models []prompt.ModelInfo) (Report, error) {
	var report Report
	var failed error
	for _, info := range models {
		one := measured{Measurement: m, info: info}
		if failed == nil {
			failed = one.run(ctx)
		} else {
			failed = errors.Join(failed, one.recall())
		}
		report.Models = append(report.Models, one.summary())
	}
	report.rank()
	return report, failed
}

// measured is the measurement of one model.
type measured struct {
	Measurement
	info     prompt.ModelInfo
	attempts []Attempt
	settings fit.Settings // that the model is driven with, as far as is known
	speed    pace.Speed
	problem  untrusted.Text // why it was not measured to the end; "" if it was
}

// key identifies results that can be compared: of one model on one server, for the same
// tasks and prompts.
func (m *measured) key() string {
	name := m.info.Digest
	if name == "" {
		name = prompt.TaggedName(m.info.Name)
	}
	return strings.Join([]string{m.Server.Host, name, fit.Version(), m.Prompts}, " ")
}

// recall reads what is known of the model.
func (m *measured) recall() (err error) {
	m.attempts, err = recall(m.Attempts, m.key())
	m.settings = m.bySize()
	return err
}

// bySize returns the settings that the size of the model suggests.
func (m *measured) bySize() fit.Settings {
	if m.info.Fit == nil {
		return fit.Settings{Short: m.info.Small}
	}
	return fit.Settings{Short: ollama.SmallBy(string(m.info.Parameters))} // what was found before does not decide
}

func (m *measured) run(ctx context.Context) error {
	if m.Again {
		if err := forget(ctx, m.Attempts, m.key()); err != nil {
			return err
		}
	}
	if err := m.recall(); err != nil {
		return err
	}
	if err := m.measure(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if gone := m.lost(ctx, err); gone != nil {
			return gone
		}
		m.problem = untrusted.Text(err.Error())
	}
	return nil
}

// measure makes the attempts that are missing. A model whose first plans fail more often
// than not in the form that suits its size is tried in the other form, and goes on with
// the better one.
func (m *measured) measure(ctx context.Context) error {
	m.report(nil, len(m.attempts) == 0)
	if err := m.pass(ctx, 1); err != nil {
		return err
	}
	if first := m.plans(m.settings, 1); 2*first.Done <= first.Of {
		usual, other := m.settings, m.settings
		other.Short = !usual.Short
		m.settings = other
		if err := m.pass(ctx, 1); err != nil {
			return err
		}
		if m.plans(other, 1).Done+m.goals(other, 1).Done <= first.Done+m.goals(usual, 1).Done {
			m.settings = usual
		}
	}
	for n := 2; n <= Passes; n++ {
		if err := m.pass(ctx, n); err != nil {
			return err
		}
	}
	return m.measureAgents(ctx)
}

// measureAgents tries steps of agents. A model that thinks does so before each turn only
// if it fails without.
func (m *measured) measureAgents(ctx context.Context) error {
	if !m.info.Tools {
		return nil
	}
	levels := []string{""}
	if m.info.Thinks {
		levels = []string{string(prompt.ThinkOff), ""}
	}
	for _, level := range levels {
		with := m.settings
		with.Loops, with.Think = true, level
		for n := 1; n <= Passes; n++ {
			if err := m.attempt(ctx, fit.AgentTask, with, n); err != nil {
				return err
			}
		}
		if share := m.goals(with, 0, fit.AgentTask.ID); 2*share.Done > share.Of {
			m.settings = with
			return nil
		}
	}
	return nil
}

// pass tries every task once.
func (m *measured) pass(ctx context.Context, n int) error {
	for _, task := range m.Tasks {
		if err := m.attempt(ctx, task, m.settings, n); err != nil {
			return err
		}
	}
	return nil
}

// attempt tries a task, unless that attempt was made before.
func (m *measured) attempt(ctx context.Context, task fit.Task, settings fit.Settings, pass int) error {
	if slices.ContainsFunc(m.attempts, func(a Attempt) bool { return a.Task == task.ID && a.Settings == settings && a.Pass == pass }) {
		return nil
	}
	a, err := m.try(ctx, task, settings)
	if err != nil {
		return err
	}
	a.Pass = pass
	if err := keep(ctx, m.Attempts, m.key(), a); err != nil {
		return err
	}
	m.attempts = append(m.attempts, a)
	m.report(&a, false)
	return nil
}

// try carries out a task in a fresh copy of the project.
func (m *measured) try(ctx context.Context, task fit.Task, settings fit.Settings) (a Attempt, err error) {
	folder, err := os.MkdirTemp("", "replan-fit-")
	if err != nil {
		return a, fmt.Errorf("create a folder for the tasks; set TMPDIR to a writable folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	project, err := fit.Project()
	if err != nil {
		return a, err //nolint:wrapcheck // it says what was read
	}
	work := filepath.Join(folder, "greenhouse")
	if err := os.CopyFS(work, project); err != nil {
		return a, fmt.Errorf("write the project of the tasks: %w", err)
	}
	before, err := contents(project)
	if err != nil {
		return a, err
	}
	outcome, err := m.Do(ctx, Job{Model: m.info.Name, Settings: settings, Folder: work, Goal: task.Goal, Agent: task.ID == fit.AgentTask.ID})
	if err != nil {
		return a, err
	}
	after, err := contents(os.DirFS(work))
	if err != nil {
		return a, err
	}
	m.speed = outcome.Speed
	missed := task.Missed(outcome.Answer, before, after)
	reached := missed == ""
	if missed == "" && len(task.Calls) > 0 && len(outcome.Steps) == 0 && outcome.Error != "" {
		missed = string(outcome.Error)
	}
	return Attempt{
		Task: task.ID, Goal: task.Goal, Settings: settings, MS: outcome.MS,
		Plan: !outcome.Failed && (task.Planned(outcome.Steps) || reached && len(outcome.Steps) == 0), Reached: reached,
		Missed: untrusted.Text(missed), Error: outcome.Error,
	}, nil
}

// contents returns the files of a folder by their paths, but for those of caches.
func contents(folder fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(folder, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("compare the project of the tasks: %w", err)
	}
	return files, nil
}

// of returns the attempts with some settings in a pass, 0 for all, at the tasks with one
// of the ids, none for all but that of the agent.
func (m *measured) of(settings fit.Settings, pass int, ids ...string) (found []Attempt) {
	for _, a := range m.attempts {
		named := len(ids) == 0 && a.Task != fit.AgentTask.ID || slices.Contains(ids, a.Task)
		if named && a.Settings == settings && (pass == 0 || a.Pass == pass) {
			found = append(found, a)
		}
	}
	return found
}

func (m *measured) plans(settings fit.Settings, pass int, ids ...string) (share fit.Share) {
	for _, a := range m.of(settings, pass, ids...) {
		share.Add(a.Plan)
	}
	return share
}

func (m *measured) goals(settings fit.Settings, pass int, ids ...string) (share fit.Share) {
	for _, a := range m.of(settings, pass, ids...) {
		share.Add(a.Reached)
	}
	return share
}

// wanted is how many attempts the measurement takes, as far as is known.
func (m *measured) wanted() int {
	n := len(m.Tasks) * Passes
	if m.info.Tools {
		n += Passes
	}
	planning := m.settings
	planning.Loops, planning.Think = false, ""
	if others := len(m.attempts) - len(m.of(planning, 0)) - len(m.agents()); others > 0 {
		n += len(m.Tasks)
	}
	return max(n, len(m.attempts))
}

// agents returns the attempts of agents.
func (m *measured) agents() []Attempt {
	return slices.DeleteFunc(slices.Clone(m.attempts), func(a Attempt) bool { return a.Task != fit.AgentTask.ID })
}

// report reports the progress.
func (m *measured) report(last *Attempt, loading bool) {
	if m.Progress != nil {
		m.Progress(Progress{Model: m.info.Name, Done: len(m.attempts), Of: m.wanted(), Last: last, Loading: loading})
	}
}

// summary sums up the attempts at the tasks with the settings that were chosen.
func (m *measured) summary() Model {
	planning := m.settings
	planning.Loops, planning.Think = false, ""
	f := fit.Finding{
		Weights: m.info.Weights, Model: untrusted.Text(m.info.Name), Server: m.Server.Host, Digest: m.info.Digest, Settings: m.settings,
		Speed: m.speed, Measured: m.Now().UTC().Truncate(time.Second), Replan: m.Version, Source: fit.SourceMeasured,
	}
	var times []int64
	var misses []Attempt
	for _, task := range m.Tasks {
		result := fit.TaskResult{ID: task.ID, Plans: m.plans(planning, 0, task.ID), Goals: m.goals(planning, 0, task.ID), MS: []int64{}}
		for _, a := range m.of(planning, 0, task.ID) {
			result.MS = append(result.MS, a.MS)
			if !a.Reached {
				misses = append(misses, a)
			}
		}
		times = append(times, result.MS...)
		goals := &f.Reads
		if task.Changes() {
			goals = &f.Changes
		}
		goals.Done, goals.Of = goals.Done+result.Goals.Done, goals.Of+result.Goals.Of
		f.Plans.Done, f.Plans.Of = f.Plans.Done+result.Plans.Done, f.Plans.Of+result.Plans.Of
		f.Tasks = append(f.Tasks, result)
	}
	if slices.Sort(times); len(times) > 0 {
		f.GoalMS = times[len(times)/2]
	}
	with := m.settings
	with.Loops = true
	for _, a := range m.agents() {
		if a.Settings == with || !m.settings.Loops {
			f.Agents.Add(a.Reached)
		}
	}
	return Model{
		Finding: f, Parameters: m.info.Parameters, Whole: m.problem == "" && len(times) == len(m.Tasks)*Passes, Of: len(m.Tasks) * Passes,
		Cannot: !m.info.Tools, Problem: m.problem, Misses: misses,
	}
}

// lost returns a LostError if the server is gone, nil if it still answers.
func (m *measured) lost(ctx context.Context, err error) error {
	if prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
		return &LostError{err}
	}
	client, wrong := ollama.New(m.Server)
	if wrong != nil {
		return nil
	}
	defer client.Close() //nolint:errcheck // it only closes idle connections
	if _, err := client.Models(ctx); prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
		return &LostError{err}
	}
	return nil
}

// Settle returns the models to measure: the named ones, else all that can answer. An
// error says what to do.
func Settle(ctx context.Context, server ollama.Config, names []string) (models []prompt.ModelInfo, err error) {
	client, err := ollama.New(server)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong with the host
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	installed, err := client.Models(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what to do
	}
	for _, name := range names {
		info, err := client.Describe(ctx, name)
		if err != nil {
			return nil, err //nolint:wrapcheck // it says what to do
		}
		if !slices.ContainsFunc(models, func(m prompt.ModelInfo) bool { return prompt.SameModel(m.Name, info.Name) }) {
			models = append(models, info)
		}
	}
	if len(names) > 0 {
		return models, nil
	}
	for _, info := range installed {
		if info.Chats {
			models = append(models, info)
		}
	}
	if len(models) == 0 {
		if _, err := client.Describe(ctx, ""); err != nil {
			return nil, err //nolint:wrapcheck // it says what to do
		}
	}
	return models, nil
}
