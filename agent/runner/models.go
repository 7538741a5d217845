package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// modelJobs pulls and removes models of the session's server, one pull at a time.
// The goroutine that owns the session calls its methods.
type modelJobs struct {
	pulling string // the model that is pulled; "" is none
	cancel  func() // of that pull; never nil
}

// errNoInstaller reports that models cannot be changed through the session.
const errNoInstaller = "the model server of this session does not install models"

// command carries out a command about models of the server.
func (j *modelJobs) command(ctx context.Context, s *Session, c session.Command) {
	switch c := c.(type) {
	case session.Pull:
		j.pull(ctx, s, c.Model)
	case session.CancelPull:
		j.cancel()
	case session.Remove:
		j.remove(ctx, s, c.Model)
	}
}

// pull starts to download a model.
func (j *modelJobs) pull(ctx context.Context, s *Session, name string) {
	name = strings.TrimSpace(name)
	server, ok := s.cfg.Model.(ModelInstaller)
	problem := untrusted.Text("")
	switch {
	case !ok:
		problem = errNoInstaller
	case name == "":
		problem = "name the model to pull, like qwen3:8b"
	case j.pulling != "":
		problem = untrusted.Text(j.pulling + " is being pulled: wait for its end, or cancel it first")
	}
	if problem != "" {
		_ = s.publish(session.PullProgress{Model: name, Ended: true, Problem: problem})
		return
	}
	pulling, cancel := context.WithCancel(ctx)
	j.pulling, j.cancel = name, cancel
	_ = s.publish(session.PullProgress{Model: name})
	p := s.preparation()
	s.workers.Go(func() {
		m := meter{model: name, now: s.cfg.Now}
		err := server.Pull(pulling, name, func(step string, done, total int64) {
			if report, due := m.read(step, done, total); due {
				p.outcomes <- outcome{events: []event.Data{report}}
			}
		})
		end := m.last
		end.Model, end.Ended, end.Rate, end.Cancelled = name, true, 0, errors.Is(err, context.Canceled)
		if err != nil && !end.Cancelled {
			end.Problem = untrusted.Text(err.Error())
		}
		p.outcomes <- outcome{finish: func() { j.pulled(ctx, s, end) }}
	})
}

// pulled reports the end of a pull. A session without a model looks again.
func (j *modelJobs) pulled(ctx context.Context, s *Session, end session.PullProgress) {
	j.cancel()
	j.pulling, j.cancel = "", func() {}
	_ = s.publish(end)
	if end.Problem == "" && !end.Cancelled && (s.status.Model == "" || prompt.SameModel(end.Model, s.status.Model)) {
		s.look(ctx)
	}
}

// remove deletes a model, then looks what the session works with if it was its
// own.
func (j *modelJobs) remove(ctx context.Context, s *Session, name string) {
	server, ok := s.cfg.Model.(ModelInstaller)
	own := prompt.SameModel(name, s.status.Model)
	switch {
	case !ok:
		_ = s.publish(session.Removed{Model: name, Problem: errNoInstaller})
		return
	case own && s.busy():
		_ = s.publish(session.Removed{Model: name, Problem: untrusted.Text("a run uses " + name + ": wait for its end, or stop it first")})
		return
	}
	p := s.preparation()
	s.workers.Go(func() {
		removed := session.Removed{Model: name}
		if err := server.Remove(ctx, name); err != nil {
			removed.Problem = untrusted.Text(err.Error())
		}
		p.outcomes <- outcome{finish: func() {
			_ = s.publish(removed)
			if own {
				s.look(ctx)
			}
		}}
	})
}

const (
	reportInterval = 100 * time.Millisecond // between two reports of a pull
	rateWindow     = 3 * time.Second        // that the rate is measured over, at least
)

// meter measures a pull. It belongs to the worker that pulls.
type meter struct {
	model string
	now   func() time.Time
	last  session.PullProgress // as reported
	at    time.Time            // of last
	marks [2]mark              // the rate counts from the first; the second replaces it
}

// mark is how many bytes were downloaded at a time.
type mark struct {
	at   time.Time
	done int64
}

// read returns the report of what the server says, and whether it is due: not too
// soon after the last one, unless the server does something else.
func (m *meter) read(step string, done, total int64) (report session.PullProgress, due bool) {
	now := m.now()
	if step == string(m.last.Step) && done < total && now.Sub(m.at) < reportInterval {
		return report, false
	}
	switch {
	case total == 0:
	case m.marks[0].at.IsZero():
		m.marks = [2]mark{{now, done}, {now, done}} // what earlier pulls left does not count
	case now.Sub(m.marks[1].at) >= rateWindow:
		m.marks = [2]mark{m.marks[1], {now, done}}
	}
	m.at, m.last = now, session.PullProgress{Model: m.model, Step: untrusted.Text(step), Done: done, Total: total}
	if passed := now.Sub(m.marks[0].at); total > 0 && passed > 0 {
		m.last.Rate = int64(float64(done-m.marks[0].done) / passed.Seconds())
	}
	return m.last, true
}

// errNoArgs reports that a plan cannot run without a model.
var errNoArgs = errors.New("the plan needs a model")

// unwritten returns why a plan cannot start without a model: a model has to carry
// out a step or fill in its arguments.
func (s preparation) unwritten(ctx context.Context, p *prepared) error {
	if p.job.execute == nil || s.cfg.DryRun {
		return nil
	}
	proposed := p.job.execute.Plan
	var open []string
	for _, step := range proposed.Steps {
		tool, err := p.catalogue.Find(step.Tool)
		if step.Executor != plan.ExecutorTool || err != nil {
			continue
		}
		if missing := plan.MissingArgs(tool, step.Args); len(missing) > 0 {
			what := "all"
			if step.Args != nil {
				what = strings.Join(missing, " and ")
			}
			open = append(open, fmt.Sprintf("%s of step %s (%s)", what, step.Index, step.Tool))
		}
	}
	if len(open) > 0 && p.info.Name == "" && p.unfound == nil { // not looked up yet
		info, err := s.cfg.Model.Describe(ctx, p.jobConfig.model)
		if err != nil && !errors.Is(err, prompt.ErrNoModel) {
			return err
		}
		p.info, p.unfound = info, err
	}
	switch {
	case p.unfound == nil:
		return nil
	case len(open) > 0:
		return fmt.Errorf("%w to fill in args: %s; write them into the plan, or choose a model: %w", errNoArgs, strings.Join(open, ", "), p.unfound)
	default:
		if at := slices.IndexFunc(proposed.Steps, needsWords); at >= 0 {
			step := proposed.Steps[at]
			return fmt.Errorf("step %s (%s) needs a model: %w", step.Index, step.Title, p.unfound)
		}
		return nil
	}
}

// needsWords reports whether only a model can carry out a step. Without one a plan
// with such a step does not start, rather than run halfway.
func needsWords(step plan.Step) bool {
	return step.Executor == plan.ExecutorAgent || step.Executor == plan.ExecutorSelf
}
