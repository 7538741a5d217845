package fit

import (
	"cmp"
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
	Last  *Attempt // the one made just now; nil before the first
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
	client, err := ollama.New(m.Server)
	if err != nil {
		return Report{}, err //nolint:wrapcheck // it says what is wrong with the host
	}
	defer client.Close() //nolint:errcheck // it only closes idle connections
	var report Report
	var failed error
	for _, info := range models {
		one := measurement{Measurement: m, client: client, info: info}
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

// measurement is the measurement of one model.
type measurement struct {
	Measurement
	client   *ollama.Client
	info     prompt.ModelInfo
	attempts []Attempt
	problem  untrusted.Text // why it was not measured to the end; "" if it was
}

// key identifies results that can be compared: of one model on one server, for the same
// tasks and prompts.
func (m *measurement) key() string {
	name := m.info.Digest
	if name == "" {
		name = prompt.TaggedName(m.info.Name)
	}
	return strings.Join([]string{m.client.Host(), name, fit.Version(), m.Prompts}, " ")
}

// recall reads what is known of the model.
func (m *measurement) recall() (err error) {
	m.attempts, err = recall(m.Attempts, m.key())
	return err
}

func (m *measurement) run(ctx context.Context) error {
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
		if err := m.lost(ctx, err); err != nil {
			return err
		}
		m.problem = untrusted.Text(err.Error())
	}
	return nil
}

// measure makes the attempts that are missing.
func (m *measurement) measure(ctx context.Context) error {
	m.report(nil)
	for {
		trials, _ := m.trials()
		next := slices.IndexFunc(trials, func(t trial) bool { return !m.isMeasured(t) })
		if next < 0 {
			return nil
		}
		a, err := m.try(ctx, trials[next])
		if err != nil {
			return err
		}
		if err := saveAttempt(context.WithoutCancel(ctx), m.Attempts, m.key(), a); err != nil {
			return err
		}
		m.attempts = append(m.attempts, a)
		m.report(&a)
	}
}

// trial is an attempt to make.
type trial struct {
	task     fit.Task
	settings fit.Settings
	pass     int // from 1
}

// trials returns all attempts that the measurement takes, and the settings that the model
// is driven with. Both are as far as is known from the attempts made. It depends on these
// alone, so that a measurement that is continued ends as one that was not interrupted.
//
// A model whose first plans fail at least as often as not in the form that suits its
// size is tried in the other form. It goes on with the better one. A model that thinks
// does so before each turn of an agent only if it fails without.
func (m *measurement) trials() ([]trial, fit.Settings) {
	usual := fit.Settings{Short: ollama.SmallBy(m.info.Parameters)} // what was found before does not decide
	settings, trials := usual, m.pass(usual, 1)
	if first := m.plans(trials); m.whole(trials) && 2*first.Done <= first.Of {
		others := m.pass(fit.Settings{Short: !usual.Short}, 1)
		if m.whole(others) && m.plans(others).Done+m.goals(others).Done > first.Done+m.goals(trials).Done {
			settings = others[0].settings
		}
		trials = append(trials, others...)
	}
	for n := 2; n <= Passes; n++ {
		trials = append(trials, m.pass(settings, n)...)
	}
	for _, think := range m.thinking() {
		with := fit.Settings{Short: settings.Short, Loops: true, Think: think}
		var turns []trial
		for n := 1; n <= Passes; n++ {
			turns = append(turns, trial{fit.AgentTask, with, n})
		}
		trials = append(trials, turns...)
		if share := m.goals(turns); 2*share.Done > Passes {
			return trials, with
		} else if !m.whole(turns) {
			break
		}
	}
	return trials, settings
}

// thinking returns how the model may think in an agent: none if it cannot call tools.
func (m *measurement) thinking() []string {
	switch {
	case !m.info.Tools:
		return nil
	case m.info.Thinks:
		return []string{fit.ThinkOff, ""}
	default:
		return []string{""}
	}
}

// pass returns a trial of every task.
func (m *measurement) pass(settings fit.Settings, n int) []trial {
	var trials []trial
	for _, task := range m.Tasks {
		trials = append(trials, trial{task, settings, n})
	}
	return trials
}

// of returns the attempts that were made at trials, in their order.
func (m *measurement) of(trials []trial) (attempts []Attempt) {
	for _, t := range trials {
		at := slices.IndexFunc(m.attempts, func(a Attempt) bool { return a.Task == t.task.ID && a.Settings == t.settings && a.Pass == t.pass })
		if at >= 0 {
			attempts = append(attempts, m.attempts[at])
		}
	}
	return attempts
}

func (m *measurement) isMeasured(t trial) bool { return m.whole([]trial{t}) }

// whole reports whether all trials were made.
func (m *measurement) whole(trials []trial) bool { return len(m.of(trials)) == len(trials) }

func (m *measurement) plans(trials []trial) (share fit.Share) {
	for _, a := range m.of(trials) {
		share.Add(a.Plan)
	}
	return share
}

func (m *measurement) goals(trials []trial) (share fit.Share) {
	for _, a := range m.of(trials) {
		share.Add(a.Reached)
	}
	return share
}

// try carries out a task in a fresh copy of the project.
func (m *measurement) try(ctx context.Context, t trial) (a Attempt, err error) {
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
	outcome, err := m.Do(ctx, Job{Model: m.info.Name, Settings: t.settings, Folder: work, Goal: t.task.Goal, Agent: t.task.ID == fit.AgentTask.ID})
	if err != nil {
		return a, err
	}
	after, err := contents(os.DirFS(work))
	if err != nil {
		return a, err
	}
	missed := t.task.Missed(outcome.Answer, before, after)
	if missed != "" { // by the model, unless the user or the server ended the attempt
		if err := cmp.Or(ctx.Err(), m.lost(ctx, nil)); err != nil {
			return a, err
		}
	}
	return Attempt{
		Task: t.task.ID, Goal: t.task.Goal, Settings: t.settings, Pass: t.pass, MS: outcome.MS, Speed: outcome.Speed, At: m.Now().UTC().Truncate(time.Second),
		Plan: !outcome.Failed && (t.task.Planned(outcome.Steps) || missed == "" && len(outcome.Steps) == 0), Reached: missed == "", Missed: untrusted.Text(missed), Error: outcome.Error,
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

// report reports the progress.
func (m *measurement) report(last *Attempt) {
	if m.Progress != nil {
		trials, _ := m.trials()
		m.Progress(Progress{Model: m.info.Name, Done: len(m.of(trials)), Of: len(trials), Last: last})
	}
}

// summary sums up the attempts with the settings that were chosen.
func (m *measurement) summary() Model {
	trials, settings := m.trials()
	f := fit.Finding{
		Weights: m.info.Weights, Model: untrusted.Text(m.info.Name), Server: m.client.Host(), Digest: m.info.Digest, Settings: settings,
		Tasks: []fit.TaskResult{}, Replan: m.Version, Source: fit.SourceMeasured,
	}
	all := m.of(trials)
	for _, a := range all {
		if !a.At.Before(f.Measured) {
			f.Speed, f.Measured = a.Speed, a.At
		}
	}
	var times []int64
	var misses []Attempt
	for _, task := range m.Tasks {
		result := fit.TaskResult{ID: task.ID, MS: []int64{}}
		goals := &f.Reads
		if task.Changes() {
			goals = &f.Changes
		}
		for _, a := range all {
			if a.Task != task.ID || a.Settings.Short != settings.Short {
				continue
			}
			result.Plans.Add(a.Plan)
			result.Goals.Add(a.Reached)
			f.Plans.Add(a.Plan)
			goals.Add(a.Reached)
			result.MS = append(result.MS, a.MS)
			if !a.Reached {
				misses = append(misses, a)
			}
		}
		times = append(times, result.MS...)
		f.Tasks = append(f.Tasks, result)
	}
	if slices.Sort(times); len(times) > 0 {
		f.GoalMS = times[len(times)/2]
	}
	for _, a := range all {
		if a.Task == fit.AgentTask.ID && (a.Settings == settings || !settings.Loops) {
			f.Agents.Add(a.Reached)
		}
	}
	return Model{
		Finding: f, Parameters: m.info.Parameters, Made: len(all), Of: len(trials), Whole: m.problem == "" && len(all) == len(trials),
		Cannot: !m.info.Tools, Problem: m.problem, Misses: misses,
	}
}

// lost returns a LostError if the server is gone, nil if it still answers. Err is what
// went wrong, nil if it may be that.
func (m *measurement) lost(ctx context.Context, err error) error {
	if lost, ok := errors.AsType[*LostError](err); ok {
		return lost
	}
	if prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
		return &LostError{err}
	}
	if _, err := m.client.Models(ctx); prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
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
