package remote

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Ask starts a worker program with a request and calls see with each output before the
// last. A [*Problem] is an error that the program reports.
func Ask(ctx context.Context, o Options, r Request, see func(Output)) error {
	p, err := start(ctx, o, r)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		out, err := p.next()
		switch {
		case err != nil:
			return cmp.Or(context.Cause(ctx), err)
		case out.End:
			return nil
		default:
			see(out)
		}
	}
}

// Submit submits or resumes a run without following it. note gets news for the user.
func Submit(ctx context.Context, o Options, r Request, note func(untrusted.Text)) (a Accepted, err error) {
	r.Detach = true
	err = Ask(ctx, o, r, func(out Output) {
		switch {
		case out.Accepted != nil:
			a = *out.Accepted
		case out.Note != "":
			note(out.Note)
		}
	})
	if err == nil && a.Run == "" {
		err = errors.New("the worker program did not say whether the database has the run")
	}
	return a, err
}

// Runs lists the newest runs in a database, newest first; 0 is all.
func Runs(ctx context.Context, o Options, newest int) (runs []agent.Summary, err error) {
	err = Ask(ctx, o, Request{Runs: &List{Newest: newest}}, func(out Output) { runs = append(runs, out.Runs...) })
	return runs, err
}

// Journal returns the summary of a run and its events so far, with those of its inner
// runs and its session. run is its id or the end of it; "" is the newest.
func Journal(ctx context.Context, o Options, run string) (s agent.Summary, events []event.Event, err error) {
	err = Ask(ctx, o, Request{Journal: &Follow{Run: run}}, func(out Output) {
		switch {
		case len(out.Runs) > 0:
			s = out.Runs[0]
		case out.Event != nil:
			events = append(events, *out.Event)
		}
	})
	return s, events, err
}

// query answers a question of the screen, in time, unless the session has ended.
func query[T any](ctx context.Context, s *Session, do func(context.Context) (T, error)) (value T, err error) {
	if !s.startQuery() {
		return value, session.ErrClosed
	}
	defer s.queries.Done()
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errors.New("the worker program did not answer in time"))
	defer cancel()
	defer context.AfterFunc(s.open, cancel)()
	value, err = do(ctx)
	if s.open.Err() != nil {
		err = session.ErrClosed
	}
	return value, err
}

// listed is the number of runs that the screen lists.
const listed = 1000

// Runs lists the newest runs in the database, also after the end of the run that the
// screen follows.
func (s *Session) Runs(ctx context.Context) ([]agent.Summary, error) {
	return query(ctx, s, func(ctx context.Context) ([]agent.Summary, error) { return Runs(ctx, s.options, listed) })
}

// Journal returns the events of a run in the database, also one that this run started.
func (s *Session) Journal(ctx context.Context, run string) ([]event.Event, error) {
	return query(ctx, s, func(ctx context.Context) ([]event.Event, error) {
		_, events, err := Journal(ctx, s.options, run)
		if problem, ok := errors.AsType[*Problem](err); ok && problem.Code == CodeNotFound {
			_, events, err = Journal(ctx, s.options, s.run)
		}
		return slices.DeleteFunc(events, func(e event.Event) bool { return e.Run != run }), err
	})
}

// Conversations lists none: a run of a worker is no conversation.
func (s *Session) Conversations(context.Context) ([]session.Conversation, error) { return nil, nil }

// Models says that the worker's models are not known.
func (s *Session) Models(context.Context) (session.Models, error) {
	return session.Models{Problem: untrusted.Text(errNotHere.Error())}, nil
}

// Servers fails: the servers are the worker's.
func (s *Session) Servers(context.Context) (session.Servers, error) {
	return session.Servers{}, errNotHere
}

// ServerLog says that the log is the worker's.
func (s *Session) ServerLog(_ context.Context, server string, _ int64) (session.ServerLog, error) {
	return session.ServerLog{Server: server, Problem: untrusted.Text(errNotHere.Error())}, nil
}

// Settings fails: the settings are the worker's.
func (s *Session) Settings(context.Context) (session.Settings, error) {
	return session.Settings{}, errNotHere
}

// Completions completes nothing: files and commands are the worker's.
func (s *Session) Completions(_ context.Context, of session.Completing) (session.Completions, error) {
	return session.Completions{Of: of}, nil
}

// FileHead fails: the files are the worker's.
func (s *Session) FileHead(context.Context, string) (session.FileHead, error) {
	return session.FileHead{}, errNotHere
}

// PreviewUndo fails: the files are the worker's.
func (s *Session) PreviewUndo(context.Context, string) (event.Undo, error) {
	return event.Undo{}, errNotHere
}

// PreviewRedo fails, too.
func (s *Session) PreviewRedo(context.Context, string) (event.Undo, error) {
	return event.Undo{}, errNotHere
}

// PreviewCall shows nothing and refuses nothing: the worker checks the call.
func (s *Session) PreviewCall(context.Context, string, string, map[string]any) (plan.ToolPreview, error) {
	return plan.ToolPreview{}, nil
}
