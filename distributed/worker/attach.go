package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/cli"
	"replan/distributed/client"
	"replan/distributed/records"
	"replan/internal/untrusted"
)

func (p *program) newAttach() *cobra.Command {
	return &cobra.Command{
		Use: "attach", Short: "Speak for replan with the database, in JSON Lines", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.attach(cmd.Context()) },
	}
}

// attachment is a program that replan has started.
type attachment struct {
	*program
	client   *client.Client
	database *records.Database
	in       *bufio.Reader

	mu  sync.Mutex
	out *remote.Writer
}

// attach implements replan-worker attach. A failed request is reported to replan, and
// is no error.
func (p *program) attach(ctx context.Context) error {
	a := &attachment{program: p, in: bufio.NewReader(p.std.In), out: remote.NewWriter(p.std.Out)}
	err := a.serve(ctx)
	if err == nil {
		return a.write(remote.Output{End: true})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.write(remote.Output{Problem: problemOf(err)})
}

// write writes a line.
func (a *attachment) write(o remote.Output) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.out.Write(o); err != nil {
		return fmt.Errorf("write to replan: %w", err)
	}
	return nil
}

// serve carries out the request of the first line.
func (a *attachment) serve(ctx context.Context) (err error) {
	line, err := a.in.ReadBytes('\n')
	if err != nil && len(line) == 0 {
		return &remote.Problem{Code: remote.CodeUsage, Text: "replan-worker attach is started by replan: use replan --on"}
	}
	var request remote.Request
	if err := json.Unmarshal(line, &request); err != nil {
		return &remote.Problem{Code: remote.CodeUsage, Text: untrusted.Text("the request cannot be read: " + err.Error())}
	}
	if a.database, err = a.open(ctx); err != nil {
		return err
	}
	if a.client, err = client.Open(ctx, a.database, slog.New(slog.DiscardHandler)); err != nil {
		return errors.Join(err, a.database.Close())
	}
	defer func() { err = errors.Join(err, a.client.Close()) }()
	switch {
	case request.Submit != nil:
		return a.submit(ctx, *request.Submit, request)
	case request.Follow != nil, request.Resume != nil:
		return a.again(ctx, request)
	case request.Runs != nil:
		runs, err := a.client.Runs(ctx, request.Runs.Newest)
		return errors.Join(a.write(remote.Output{Runs: runs}), err)
	case request.Journal != nil:
		return a.journal(ctx, request.Journal.Run)
	case request.Workers != nil:
		workers, err := a.client.Workers(ctx)
		if err != nil {
			return err
		}
		return a.write(remote.Output{Workers: workers})
	default:
		return &remote.Problem{Code: remote.CodeUsage, Text: "the request asks for nothing that this replan-worker knows: use the same version of both programs"}
	}
}

// submit puts a run into its queue, and follows it.
func (a *attachment) submit(ctx context.Context, task remote.Task, request remote.Request) error {
	workers, err := a.client.Workers(ctx)
	if err != nil {
		return err
	}
	missing := client.Missing(workers, task, cli.Version)
	if missing != "" && request.NoWait {
		return &remote.Problem{Code: remote.CodeNoWorker, Text: untrusted.Text(missing)}
	}
	if err := a.client.Submit(ctx, task, cli.Version); err != nil {
		return err
	}
	if err := a.accept(task.Run); err != nil {
		return err
	}
	switch {
	case !request.Detach:
		return a.follow(ctx, task.Run)
	case missing != "":
		return a.write(remote.Output{Note: untrusted.Text(missing + "; the run waits for one")})
	default:
		return nil
	}
}

func (a *attachment) accept(run string) error {
	return a.write(remote.Output{Accepted: &remote.Accepted{Run: run, Session: records.SessionID(run)}})
}

// again follows a run that was submitted before, and resumes it first if asked to.
func (a *attachment) again(ctx context.Context, request remote.Request) error {
	name := request.Follow
	if name == nil {
		name = request.Resume
	}
	run, err := a.client.Find(ctx, name.Run)
	if err != nil {
		return err
	}
	if request.Resume != nil {
		if request.Terms == nil {
			return &remote.Problem{Code: remote.CodeUsage, Text: "the request says no terms: use the same version of replan and replan-worker"}
		}
		if err := a.client.Resume(ctx, run, *request.Terms); err != nil {
			return err
		}
	}
	if err := a.accept(run); err != nil || request.Detach {
		return err
	}
	return a.follow(ctx, run)
}

// journal writes the summary of a run, and its events so far.
func (a *attachment) journal(ctx context.Context, name string) error {
	run, err := a.client.Find(ctx, name)
	if err != nil {
		return err
	}
	summary, events, err := a.client.Run(ctx, run)
	if err != nil {
		return err
	}
	if err := a.write(remote.Output{Runs: []agent.Summary{summary}}); err != nil {
		return err
	}
	for _, e := range events {
		if err := a.write(remote.Output{Event: &e, Past: true}); err != nil {
			return err
		}
	}
	return nil
}

// errDetached ends following a run that continues.
var errDetached = errors.New("replan has detached")

// follow writes the events of a run and passes commands on, until the run ends or
// replan closes its end.
func (a *attachment) follow(ctx context.Context, run string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lines := make(chan []byte, waitingCommands)
	go func() { // ends with the standard input, or with the process
		err := a.read(lines)
		time.AfterFunc(leaveTime, func() { cancel(err) }) // the database may be lost
	}()
	go func() { cancel(a.commands(ctx, run, lines)) }()
	a.client.NotesTo(func(text string) error { return a.write(remote.Output{Note: untrusted.Text(text)}) })
	// What became of the changes comes before the end of the run, and that before the answer.
	var ended, answer *remote.Output
	write := func(outputs ...*remote.Output) error {
		for _, o := range outputs {
			if o != nil {
				if err := a.write(*o); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := a.client.Follow(ctx, run, func(r records.Record, recorded bool) error {
		for _, e := range r.Events {
			out := &remote.Output{Event: &e, Past: recorded}
			switch {
			case e.Data.Kind() == event.KindChatReply:
				answer = out
				continue
			case e.Run == run: // a run that was resumed has more than one end
				if err := write(ended); err != nil {
					return err
				}
				ended = nil
			}
			if e.Run == run && e.Data.Kind() == event.KindRunCompleted {
				ended = out
			} else if err := write(out); err != nil {
				return err
			}
		}
		if r.End == nil {
			return nil
		}
		var note *remote.Output
		if r.End.Note != "" {
			note = &remote.Output{Note: r.End.Note}
		}
		return write(note, ended, answer)
	})
	switch why := context.Cause(ctx); {
	case errors.Is(why, errDetached):
		return nil
	case why != nil:
		return why
	default:
		return err
	}
}

const (
	waitingCommands = 1000            // that wait while the database is lost
	leaveTime       = 2 * time.Second // for commands that wait when replan has detached
)

// read reads the lines of commands until replan has detached.
func (a *attachment) read(lines chan<- []byte) error {
	defer close(lines)
	for {
		line, err := a.in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			lines <- line
		}
		switch {
		case errors.Is(err, io.EOF):
			return errDetached
		case err != nil:
			return fmt.Errorf("read from replan: %w", err)
		}
	}
}

// commands passes commands on, in order, until replan has detached.
func (a *attachment) commands(ctx context.Context, run string, lines <-chan []byte) error {
	for line := range lines {
		if err := a.command(ctx, line, run); err != nil {
			return err
		}
	}
	return errDetached
}

// command passes a command on. One that cannot be read is reported, and ignored.
func (a *attachment) command(ctx context.Context, line []byte, run string) error {
	var in remote.Input
	if err := json.Unmarshal(line, &in); err != nil {
		return a.write(remote.Output{Note: untrusted.Text(err.Error())})
	}
	return a.client.Send(ctx, in, run)
}
