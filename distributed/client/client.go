package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/records"
)

// Client talks to a database.
type Client struct {
	database *records.Database
	dbos     dbos.Client
	rhythm   rhythm
	tell     func(text string) error // see NotesTo; may be nil
}

// Open opens a client of a database that a worker has prepared. Close closes both.
func Open(ctx context.Context, d *records.Database, log *slog.Logger) (*Client, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := d.Check(ctx); err != nil {
		return nil, err
	}
	client, err := d.Client(ctx, log)
	if err != nil {
		return nil, &remote.Problem{Code: remote.CodeDatabase, Text: "the database cannot be used: " + text(err)}
	}
	return &Client{database: d, dbos: client, rhythm: usual}, nil
}

// NotesTo has news for whoever follows a run told, in a sentence each. It is called before
// Follow.
func (c *Client) NotesTo(tell func(text string) error) { c.tell = tell }

// Close closes the client and its database.
func (c *Client) Close() error {
	const patience = 5 * time.Second
	return errors.Join(dbos.Shutdown(c.dbos, patience), c.database.Close())
}

// Submit puts a run into its queue, for workers of the given version.
func (c *Client) Submit(ctx context.Context, t remote.Task, version string) error {
	if at, err := url.Parse(t.Source.Repository); err == nil && at.User != nil && strings.HasPrefix(at.Scheme, "http") {
		return &remote.Problem{Code: remote.CodeUsage, Text: "the address of the repository holds a name or a password, which the database would keep: leave it out; workers log in with their own git configuration"}
	}
	queue, err := records.EnsureQueue(ctx, c.dbos, t)
	if err != nil {
		return err
	}
	const last = 1_000_000 // of the engine's priorities, where lower numbers go first
	priority := t.Priority
	if priority == 0 {
		priority = last
	}
	_, err = dbos.Enqueue[records.Outcome](c.dbos, queue, records.Workflow, t,
		dbos.WithEnqueueWorkflowID(t.Run), dbos.WithEnqueueApplicationVersion(version), dbos.WithEnqueuePriority(priority))
	if err != nil {
		return fmt.Errorf("submit the run: %w", err)
	}
	return nil
}

// Send sends a command to a run, which gets it once. A stop ends a run that no worker has
// begun. While the database cannot be reached it tries again, until ctx ends.
func (c *Client) Send(ctx context.Context, in remote.Input, run string) error {
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	once := dbos.WithIdempotencyKey(rand.Text()) // an answer may be lost, and DBOS sends again too
	for {
		if err := c.reach(ctx); err != nil { // DBOS would not stop with ctx
			return err
		}
		withdrawn, err := false, error(nil)
		if _, stop := in.Command.(session.Stop); stop {
			withdrawn, err = c.database.Withdraw(ctx, run, in.By)
		}
		if err == nil && !withdrawn {
			err = dbos.Send(c.dbos, run, string(line), records.Commands, once)
		}
		if err == nil {
			return nil
		}
		if !records.Lost(err) {
			return fmt.Errorf("send a command to the run %s: %w", run, err)
		}
		if err := pause(ctx, c.rhythm.again); err != nil {
			return err
		}
	}
}

// Resume continues a run that has ended, on new terms. It waits a while for its worker,
// which has the run until it has tidied up.
func (c *Client) Resume(ctx context.Context, run string, terms remote.Terms) error {
	if _, _, err := c.database.Skim(ctx, run); err != nil { // its version is another
		return err
	}
	for until := time.Now().Add(c.rhythm.tidying); ; {
		err := c.database.Rewind(ctx, run, terms)
		if !errors.Is(err, records.ErrTidying) || time.Now().After(until) {
			return err
		}
		if err := pause(ctx, c.rhythm.longest); err != nil {
			return err
		}
	}
}

// status returns the state of a run's workflow.
func (c *Client) status(run string) (dbos.WorkflowStatus, error) {
	found, err := dbos.ListWorkflows(c.dbos, dbos.WithFilterWorkflowIDs(run), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(true)) // with why it failed
	if err != nil {
		return dbos.WorkflowStatus{}, fmt.Errorf("look for the run %s: %w", run, err)
	}
	if len(found) == 0 {
		return dbos.WorkflowStatus{}, records.NoRun(run)
	}
	return found[0], nil
}

// Follow calls see with each record of a run, from its first, until the run ends or
// ctx does. recorded says that the record was there when Follow was called. While the
// database cannot be reached, it tries again.
func (c *Client) Follow(ctx context.Context, run string, see func(r records.Record, recorded bool) error) error {
	f := following{
		client: c, database: c.database, rhythm: c.rhythm, run: run, see: see, after: -1, recorded: true,
		wait: &waitStatus{client: c, database: c.database, rhythm: c.rhythm, run: run},
	}
	return f.follow(ctx)
}

// reach waits until the database can be reached.
func (c *Client) reach(ctx context.Context) error {
	for {
		err := c.look(ctx, c.database.Ping)
		if !errors.Is(err, errLost) || ctx.Err() != nil {
			return err
		}
		if err := pause(ctx, c.rhythm.again); err != nil {
			return err
		}
	}
}

// look limits the time of a look at the database: a connection may break without a word.
// The error is errLost if the database cannot be reached.
func (c *Client) look(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.rhythm.limit)
	defer cancel()
	err := do(ctx)
	if records.Lost(err) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

var errLost = errors.New("the database cannot be reached")

// note tells a note.
func (c *Client) note(text string) error {
	if c.tell == nil {
		return nil
	}
	return c.tell(text)
}

// broken returns why a run ended without saying so.
func (c *Client) broken(run string) error {
	status, err := c.status(run)
	if err != nil {
		return err
	}
	why := "its workflow is " + string(status.Status)
	if status.Error != nil {
		why = status.Error.Error()
	}
	return fmt.Errorf("the run %s broke off, and can be resumed: %s", run, why)
}
