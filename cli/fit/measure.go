package fit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/ollama"
	"replan/agent/runner"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Measurement is what to measure, and how plans are made.
type Measurement struct {
	Set       fit.Set
	Goals     int                // as many of them; 0 means all
	OwnTools  bool               // offer the user's tools beside those of the goals
	Server    ollama.Config      // the model is set for each
	Prompting prompt.Prompting   // as for a goal of the user's
	Limits    event.Limits       // of a run
	File      string             // where results are kept
	Again     bool               // measure what was measured before, too
	Progress  func(now Progress) // called after each change, from one goroutine; may be nil
}

// Progress is the state of a measurement.
type Progress struct {
	Model string
	Done  int // goals
	Of    int
	Last  *Result // the goal measured just now; nil before the first

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
	report := Report{Goals: len(m.goals()), OwnTools: m.OwnTools}
	var failed error
	for _, info := range models {
		one := measured{Measurement: m, info: info, key: m.key(info)}
		if failed == nil {
			failed = one.run(ctx)
		} else {
			failed = errors.Join(failed, one.recall())
		}
		report.Models = append(report.Models, summary(info, one.results, one.problem))
	}
	report.rank()
	return report, failed
}

// goals returns the goals to measure. Those of different sizes alternate, so that a
// few are a fair sample.
func (m Measurement) goals() []fit.Goal {
	if m.Goals > 0 && m.Goals < len(m.Set.Goals) {
		return m.Set.Goals[:m.Goals]
	}
	return m.Set.Goals
}

// measured is the measurement of one model.
type measured struct {
	Measurement
	info    prompt.ModelInfo
	key     string // of its results in the file
	results []Result
	problem untrusted.Text // why it was not measured to the end; "" if it was
}

// recall reads what is known of the model.
func (m *measured) recall() error {
	kept, err := recall(m.File, m.key)
	if err != nil {
		return err
	}
	m.results = nil
	for _, goal := range m.goals() {
		if result, ok := kept[goal.Number]; ok {
			m.results = append(m.results, result)
		}
	}
	return nil
}

func (m *measured) run(ctx context.Context) (err error) {
	if m.Again {
		if err := forget(ctx, m.File, m.key); err != nil {
			return err
		}
	}
	if err := m.recall(); err != nil || len(m.results) == len(m.goals()) {
		return err
	}
	config := m.Server
	config.Model = m.info.Name
	client, err := ollama.New(config)
	if err != nil {
		return err //nolint:wrapcheck // it says what is wrong with the host
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	m.report(nil, true)
	if err := m.load(ctx, client); err != nil {
		return m.unmeasured(ctx, client, err)
	}
	m.report(nil, false)
	done := map[int]bool{}
	for _, r := range m.results {
		done[r.Goal] = true
	}
	for _, goal := range m.goals() {
		if done[goal.Number] {
			continue
		}
		result, err := m.plan(ctx, client, goal)
		if err != nil {
			return m.unmeasured(ctx, client, err)
		}
		if err := keep(ctx, m.File, m.key, result); err != nil {
			return err
		}
		m.results = append(m.results, result)
		m.report(&result, false)
	}
	return nil
}

// report reports the progress.
func (m *measured) report(last *Result, loading bool) {
	if m.Progress != nil {
		m.Progress(Progress{Model: m.info.Name, Done: len(m.results), Of: len(m.goals()), Last: last, Loading: loading})
	}
}

// load loads the model with the context window that the longest of its prompts needs,
// as a session does.
func (m *measured) load(ctx context.Context, client *ollama.Client) error {
	need := 0
	for _, goal := range m.goals() {
		need = max(need, 2*prompt.Opening(prompt.Brief{Goal: goal.Text, Catalogue: m.Set.Catalogue(goal), Prompting: m.Prompting}))
	}
	info, err := client.Grow(ctx, "", need)
	if err == nil {
		m.info.ContextWindow = info.ContextWindow
		err = client.Warm(ctx, "")
	}
	return err //nolint:wrapcheck // it says what to do
}

// unmeasured decides whether an error ends the measurement, or only that of the model.
func (m *measured) unmeasured(ctx context.Context, client *ollama.Client, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if gone := lost(ctx, client, err); gone != nil {
		return gone
	}
	m.problem = untrusted.Text(err.Error())
	return nil
}

// lost returns a LostError if the server is gone, nil if it still answers.
func lost(ctx context.Context, client *ollama.Client, err error) error {
	if prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
		return &LostError{err}
	}
	if _, err := client.Models(ctx); prompt.TroubleOf(err).Kind == prompt.TroubleUnreachable {
		return &LostError{err}
	}
	return nil
}

// plan lets the model plan a goal, as replan plan create does. An error means that the
// goal was not measured.
func (m *measured) plan(ctx context.Context, client *ollama.Client, goal fit.Goal) (Result, error) {
	catalogue, prompting := m.Set.Catalogue(goal), m.Prompting
	prompting.ForcePlan, prompting.SkipPlan = true, false
	model := &witness{Client: client}
	repairs, none := 0, untrusted.Text("")
	outcome, err := runner.Run(ctx, runner.Job{
		ID: "fit", Goal: goal.Text, Model: model, Catalogue: catalogue, Prompting: prompting, Profiles: m.Prompting.Profiles,
		Limits: m.Limits, PlanOnly: true,
		Events: func(e event.Event) {
			switch d := e.Data.(type) {
			case event.ModelRequested:
				if d.Purpose == prompt.PurposeRepair {
					repairs++
				}
			case event.PlanEmpty:
				none = d.Reason
			}
		},
	})
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err != nil:
		return Result{}, err //nolint:wrapcheck // it says what to do
	case model.failed != nil && (!model.replied || lost(ctx, client, model.failed) != nil):
		return Result{}, model.failed
	}
	r := Result{
		Goal: goal.Number, Text: goal.Text, Tools: goal.Tools, Score: goal.Score(catalogue, outcome.Plan),
		Repairs: repairs, Tokens: int(outcome.Usage.Tokens()), MS: outcome.DurationMS,
	}
	if !r.Valid {
		r.Reason = cmp.Or(none, outcome.Error)
	}
	return r, nil
}

// witness is a model that remembers whether it replied, and its last error.
type witness struct {
	*ollama.Client
	replied bool
	failed  error
}

// errNoPlan ends a run in which the model is to answer in the place of a plan.
var errNoPlan = errors.New("there is no plan, and no other answer is wanted")

// Ask implements runner.Model. A planning run asks one question at a time.
func (w *witness) Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	if req.Purpose == prompt.PurposeChat {
		return reply.Reply{}, errNoPlan
	}
	r, err := w.Client.Ask(ctx, req, delta)
	w.replied = w.replied || strings.TrimSpace(r.Text) != ""
	if w.failed = err; err != nil {
		return r, err //nolint:wrapcheck // this is the same call
	}
	return r, nil
}

// key identifies results that can be compared: of one model on one server, for the same
// goals, tools, settings and prompts of the program.
func (m Measurement) key(info prompt.ModelInfo) string {
	name := info.Digest
	if name == "" {
		name = prompt.TaggedName(info.Name)
	}
	goal := m.Set.Goals[0]
	brief := prompt.Brief{Goal: goal.Text, Catalogue: m.Set.Catalogue(goal), Prompting: m.Prompting}
	brief.Prompting.Small = info.Small
	settings, _ := json.Marshal(struct {
		Prompting prompt.Prompting
		Limits    event.Limits
		Window    int
		Requests  [2]prompt.Request // an example
	}{m.Prompting, m.Limits, m.Server.ContextWindow, [2]prompt.Request{prompt.AnalysisRequest(brief), prompt.PlanRequest(brief, reply.Analysis{}, "")}}) // plain data
	return strings.Join([]string{m.Server.Host, name, m.Set.Version(), shortSum(settings)}, " ")
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
