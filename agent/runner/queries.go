package runner

import (
	"context"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Closed returns a session that has ended: it sends no events, ignores commands,
// and answers each query with [session.ErrClosed]. A replay runs on it.
func Closed() *Session {
	s := &Session{done: make(chan struct{})}
	close(s.done)
	return s
}

// sources are what queries read beside the session.
type sources struct {
	store    Store
	model    Model
	tools    Tools
	settings func() session.Settings // nil shows none
	help     InputHelp               // nil completes nothing
}

// query answers a question. prepare collects the inputs on the goroutine that
// owns the session; a worker of the session runs the function it returns.
func query[T any](ctx context.Context, s *Session, prepare func() func(ctx context.Context) (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	var none T
	answer := make(chan reply, 1)
	read := func(owned context.Context) {
		work := prepare()
		s.background.run(func() func() {
			within, cancel := context.WithCancel(owned)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			value, err := work(within)
			answer <- reply{value, err}
			return nil
		})
	}
	select {
	case s.requests <- request{query: read}:
	case <-s.done:
		return none, session.ErrClosed
	case <-ctx.Done():
		return none, ctx.Err()
	}
	select {
	case got := <-answer:
		return got.value, got.err
	case <-s.done:
		return none, session.ErrClosed
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Runs lists the runs, except those that are resumed together with their parent
// run.
func (s *Session) Runs(ctx context.Context) ([]agent.Summary, error) {
	return query(ctx, s, func() func(context.Context) ([]agent.Summary, error) {
		return func(context.Context) ([]agent.Summary, error) {
			runs, err := s.sources.store.RunSummaries()
			return outermost(runs), err
		}
	})
}

// outermost removes the runs that are resumed together with their parent run.
func outermost(runs []agent.Summary) []agent.Summary {
	return slices.DeleteFunc(runs, func(inner agent.Summary) bool {
		return slices.ContainsFunc(runs, func(r agent.Summary) bool { return r.Run == inner.Outer && r.Resumable })
	})
}

// Journal returns the events of a run.
func (s *Session) Journal(ctx context.Context, run string) ([]event.Event, error) {
	return query(ctx, s, func() func(context.Context) ([]event.Event, error) {
		return func(context.Context) ([]event.Event, error) {
			return s.sources.store.ReadRun(run)
		}
	})
}

// Conversations lists the conversations that can be continued.
func (s *Session) Conversations(ctx context.Context) ([]session.Conversation, error) {
	return query(ctx, s, func() func(context.Context) ([]session.Conversation, error) {
		return func(context.Context) ([]session.Conversation, error) {
			list, err := s.sources.store.Conversations()
			for i := range list {
				list[i].Open = list[i].Open || list[i].Session == s.id
			}
			return list, err
		}
	})
}

// Models lists the available models and profiles.
func (s *Session) Models(ctx context.Context) (session.Models, error) {
	return query(ctx, s, func() func(context.Context) (session.Models, error) {
		list := session.Models{
			Models: []prompt.ModelInfo{}, Model: string(s.overview.model()), Planner: string(s.overview.planner()), Think: s.overview.jobConfig().prompting.Think,
			Profile: s.settings.profile(), Profiles: s.settings.choices(),
		}
		return func(ctx context.Context) (session.Models, error) {
			lister, ok := s.sources.model.(ModelLister)
			if !ok {
				list.Problem = "the model server cannot list its models: name the one to use (/model NAME)"
				return list, nil
			}
			models, err := lister.Models(ctx)
			if err != nil {
				list.Problem = untrusted.Text(err.Error())
			} else if len(models) > 0 {
				list.Models = models
			}
			return list, nil
		}
	})
}

// Servers lists the tool servers and their current tools.
func (s *Session) Servers(ctx context.Context) (session.Servers, error) {
	return query(ctx, s, func() func(context.Context) (session.Servers, error) {
		rules, prompting := s.rules.all(), s.overview.jobConfig().prompting
		return func(ctx context.Context) (session.Servers, error) {
			now, cancel := context.WithCancel(ctx)
			cancel() // do not wait for starting servers
			list := session.Servers{Servers: s.sources.tools.Status(), Tools: []session.OfferedTool{}}
			for _, t := range s.sources.tools.Ready(now) {
				list.Tools = append(list.Tools, session.OfferedTool{
					Server: t.Server, Name: t.Name, Description: untrusted.Text(t.Description), ReadOnly: t.ReadOnly, Destructive: t.Destructive,
					Tokens: prompt.OfferTokens(prompting, plan.Catalog{t}), Verdict: verdictOn(rules, t), Changed: t.Changed != "", InputSchema: t.InputSchema,
				})
			}
			return list, nil
		}
	})
}

// verdictOn returns the verdict of the rules on calls of a tool, "" if it depends
// on the arguments.
func verdictOn(rules []rule.Rule, t plan.Tool) rule.Verdict {
	verdict := rule.Verdict("")
	for i, rule := range rule.Matching(rules, t) {
		if i > 0 && rule.Verdict != verdict {
			return ""
		}
		verdict = rule.Verdict
	}
	return verdict
}

// Settings lists the settings in force, after those that are being saved.
func (s *Session) Settings(ctx context.Context) (session.Settings, error) {
	return query(ctx, s, func() func(context.Context) (session.Settings, error) {
		saved := s.saver.saved()
		return func(ctx context.Context) (settings session.Settings, err error) {
			if err := saved(ctx); err != nil || s.sources.settings == nil {
				return settings, err
			}
			return s.sources.settings(), nil
		}
	})
}

// Completions lists the completions of one kind.
func (s *Session) Completions(ctx context.Context, of session.Completing) (session.Completions, error) {
	return query(ctx, s, func() func(context.Context) (session.Completions, error) {
		return func(ctx context.Context) (list session.Completions, err error) {
			list.Of = of
			if s.sources.help != nil {
				list.Items, list.More, err = s.sources.help.Complete(ctx, of)
			}
			return list, err
		}
	})
}

// FileHead returns the beginning of a file of the workspace.
func (s *Session) FileHead(ctx context.Context, name string) (session.FileHead, error) {
	return query(ctx, s, func() func(context.Context) (session.FileHead, error) {
		return func(ctx context.Context) (session.FileHead, error) {
			if s.sources.help == nil {
				return session.FileHead{}, ErrUnnamed
			}
			m, err := s.sources.help.Mention(ctx, name)
			return session.FileHead{Text: untrusted.Text(m.Text), Whole: !m.Cut && !m.Folder}, err
		}
	})
}

// PreviewUndo returns what undoing a run would do.
func (s *Session) PreviewUndo(ctx context.Context, run string) (event.Undo, error) {
	return s.previewUndo(ctx, session.Undo{Run: run})
}

// PreviewRedo returns what taking the last undo of a run back would do.
func (s *Session) PreviewRedo(ctx context.Context, run string) (event.Undo, error) {
	return s.previewUndo(ctx, session.Undo{Run: run, Redo: true})
}

func (s *Session) previewUndo(ctx context.Context, c session.Undo) (event.Undo, error) {
	return query(ctx, s, func() func(context.Context) (event.Undo, error) {
		refused := s.undoRefused(c, true)
		return func(ctx context.Context) (event.Undo, error) {
			if refused != "" {
				return event.Undo{Run: c.Run, Redo: c.Redo, Refused: refused}, nil
			}
			return s.undoer.carryOut(ctx, c, true), nil
		}
	})
}

// PreviewCall returns what the call at an open gate would do with other arguments.
func (s *Session) PreviewCall(ctx context.Context, run, gate string, args map[string]any) (plan.ToolPreview, error) {
	return query(ctx, s, func() func(context.Context) (plan.ToolPreview, error) {
		call, err := s.runs.preview(run, gate, args)
		return func(ctx context.Context) (plan.ToolPreview, error) {
			if err != nil || !call.Tool.Previews && !call.Tool.Commands {
				return plan.ToolPreview{}, err
			}
			return s.sources.tools.Preview(ctx, call)
		}
	})
}

// serverLogs answers queries about the logs of tool servers. They may take as long as
// the session, so they do not keep it from ending.
type serverLogs struct {
	tools Tools
	life  context.Context // of the session; nil if it has ended
}

// ServerLog returns the end of a server's log.
func (l serverLogs) ServerLog(ctx context.Context, server string, after int64) (session.ServerLog, error) {
	log := session.ServerLog{Server: server, Lines: []untrusted.Text{}, At: after}
	if l.life == nil {
		return log, session.ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	lines, at, err := l.tools.Log(ctx, server, after)
	switch {
	case l.life.Err() != nil:
		return log, session.ErrClosed
	case ctx.Err() != nil:
		return log, ctx.Err()
	case err != nil:
		log.Problem = untrusted.Text(err.Error())
		return log, nil
	}
	for _, line := range lines {
		log.Lines = append(log.Lines, untrusted.Text(line))
	}
	log.At = at
	return log, nil
}
