package client

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner/conformance"
	"replan/agent/session"
	"replan/agent/store"
	"replan/distributed/host"
	"replan/distributed/postgrestest"
	"replan/distributed/records"
	"replan/planning/plan"
)

// server is PostgreSQL, if this machine has it.
var server = &postgrestest.Server{NoSync: true}

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

const version = "test"

// startHost starts a worker, until stop or the end of the test.
func startHost(t *testing.T, address, id string) (stop func()) {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h, err := host.Start(t.Context(), host.Config{
		Database: d, Worker: remote.Worker{ID: id, Version: version}, Rhythm: 20 * time.Millisecond,
		Open: func(_ context.Context, task remote.Task) (host.Opened, error) {
			switch task.Goal {
			case "fail":
				return host.Opened{}, &remote.Problem{Text: "there is no such revision"}
			case "give back":
				return host.Opened{}, errors.New("the disk is full")
			}
			cfg := conformance.Case{}.Config()
			cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
			return host.Opened{Config: cfg, Close: func() error { return nil }}, nil
		},
	})
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	stop = sync.OnceFunc(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// openClient opens a client that looks more often than usual.
func openClient(t *testing.T, address string) *Client {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), d, nil)
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	c.rhythm = rhythm{shortest: time.Millisecond, longest: 4 * time.Millisecond, again: 5 * time.Millisecond, patience: 20 * time.Millisecond, limit: 10 * time.Second, tidying: 10 * time.Second}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// followed is a run that is followed in the background.
type followed struct {
	events chan event.Event
	notes  chan string
	err    chan error
}

func follow(t *testing.T, c *Client, run string) followed {
	const many = 1000
	f := followed{make(chan event.Event, many), make(chan string, many), make(chan error, 1)}
	own := *c
	own.NotesTo(func(text string) error { f.notes <- text; return nil })
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var following sync.WaitGroup
	following.Go(func() {
		f.err <- own.Follow(ctx, run, func(r records.Record, _ bool) error {
			for _, e := range r.Events {
				f.events <- e
			}
			return nil
		})
		close(f.events)
	})
	t.Cleanup(func() { cancel(); following.Wait() })
	return f
}

// await returns the next event with data of type T.
func await[T event.Data](t *testing.T, f followed) (found T) {
	t.Helper()
	for e := range f.events {
		if d, ok := e.Data.(T); ok {
			return d
		}
	}
	t.Fatalf("the run ended without %T: %v", found, <-f.err)
	return found
}

// cable connects clients with a server while it is plugged in.
type cable struct {
	to string

	listener net.Listener
	loses    atomic.Bool // the next answer to an INSERT

	mu      sync.Mutex
	plugged bool
	ends    []net.Conn
	copying sync.WaitGroup
}

// newCable returns a cable, and the address of the database at its other end.
func newCable(t *testing.T, address string) (*cable, string) {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{to: at.Host}
	c.plug(t, "127.0.0.1:0")
	t.Cleanup(c.unplug)
	at.Host = c.listener.Addr().String()
	return c, at.String()
}

func (c *cable) plug(t *testing.T, at string) {
	t.Helper()
	listener, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener, c.plugged = listener, true
	c.copying.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			c.connect(from)
		}
	})
}

func (c *cable) connect(from net.Conn) {
	to, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = from.Close()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.plugged {
		_ = errors.Join(from.Close(), to.Close())
		return
	}
	c.ends = append(c.ends, from, to)
	for _, pair := range [][2]net.Conn{{answers{from, &c.loses}, to}, {to, from}} {
		c.copying.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
		})
	}
}

// answers is a connection that breaks when an answer is to be lost.
type answers struct {
	net.Conn
	loses *atomic.Bool
}

func (a answers) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("INSERT 0 1\x00")) && a.loses.CompareAndSwap(true, false) {
		return 0, errors.Join(io.ErrClosedPipe, a.Close())
	}
	return a.Conn.Write(text)
}

// unplug breaks all connections.
func (c *cable) unplug() {
	c.mu.Lock()
	_ = c.listener.Close()
	c.plugged = false
	for _, end := range c.ends {
		_ = end.Close()
	}
	c.mu.Unlock()
	c.copying.Wait()
}

var gated = plan.Plan{Title: "Gated", Steps: []plan.Step{{Index: "1", Title: "First", Tool: "change", Args: map[string]any{"where": "1"}}}}

func submit(t *testing.T, c *Client, task remote.Task) {
	t.Helper()
	if err := c.Submit(t.Context(), task, version); err != nil {
		t.Fatal(err)
	}
}

func TestFollowerWaitsForALostDatabase(t *testing.T) {
	direct := server.Database(t)
	startHost(t, direct, "w1")
	cable, address := newCable(t, direct)
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
	f := follow(t, c, "r-1")
	gate := await[event.GateRequested](t, f)
	cable.unplug()
	for note := range f.notes {
		if note == "the database cannot be reached; trying again" {
			break
		}
	}
	sent := make(chan error, 1)
	go func() {
		sent <- c.Send(t.Context(), remote.Input{By: "ann@here", Command: session.Resolve{Run: "r-1", Gate: gate.Gate, Call: gate.Call, Decision: event.Allow, Scope: event.ScopeOnce}}, "r-1")
	}()
	cable.plug(t, cable.listener.Addr().String())
	if err := <-sent; err != nil {
		t.Errorf("the command was not sent: %v", err)
	}
	if by := await[event.GateResolved](t, f).By; by != "ann@here" {
		t.Errorf("the gate was answered by %q", by)
	}
	if err := <-f.err; err != nil {
		t.Errorf("the run is not followed to its end: %v", err)
	}
	close(f.notes)
	back := 0
	for note := range f.notes {
		if strings.HasPrefix(note, "the database cannot be") {
			t.Errorf("a further note is %q", note)
		}
		if note == "the database is back" {
			back++
		}
	}
	if back != 1 {
		t.Errorf("%d notes say that the database is back", back)
	}
}

func TestCommandIsSentOnceAlsoIfTheAnswerIsLost(t *testing.T) {
	direct := server.Database(t)
	startHost(t, direct, "w1")()
	cable, address := newCable(t, direct)
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated})
	cable.loses.Store(true)
	for range 2 { // a remark that is given twice is another
		if err := c.Send(t.Context(), remote.Input{Command: session.Steer{Text: "hurry"}}, "r-1"); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("pgx", direct)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // of a test
	sent := 0
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM replan.notifications WHERE destination_uuid = 'r-1'").Scan(&sent); err != nil || sent != 2 || cable.loses.Load() {
		t.Errorf("2 commands were sent %d times, %v", sent, err)
	}
}

func TestFollowerEndsWithAnAnswerOfTheDatabase(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	if err := <-follow(t, c, "r-none").err; err == nil || err.Error() != "the database has no run r-none: replan runs --on lists them" {
		t.Errorf("following ends with %v", err)
	}
}

func TestFollowerThatLeavesDoesNotWaitForALostDatabase(t *testing.T) {
	direct := server.Database(t)
	startHost(t, direct, "w1")
	cable, address := newCable(t, direct)
	c := openClient(t, address)
	cable.unplug()
	ctx, cancel := context.WithCancel(t.Context())
	c.NotesTo(func(string) error { cancel(); return nil })
	err := c.Follow(ctx, "r-1", func(records.Record, bool) error { return nil })
	sent := c.Send(ctx, remote.Input{Command: session.Stop{}}, "r-1")
	if !errors.Is(err, context.Canceled) || !errors.Is(sent, context.Canceled) {
		t.Errorf("following ends with %v, sending with %v", err, sent)
	}
	cable.plug(t, cable.listener.Addr().String()) // for the end of the client
}

func TestFollowerReadsWhatARunWaitsFor(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w0")()
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Attended: true})
	f := follow(t, c, "r-1")
	reads := func(want string) {
		t.Helper()
		note := <-f.notes
		for strings.HasPrefix(note, "the run waits in its queue") || strings.HasSuffix(note, "the run waits for another") { // until the worker has seen it
			note = <-f.notes
		}
		if note != want {
			t.Errorf("the note is %q, not %q", note, want)
		}
	}
	reads("no worker of version test is there: start one with replan-worker work; the run waits for one")
	stop := startHost(t, address, "w1")
	reads("the worker w1 has the run")
	await[event.GateRequested](t, f)
	stop()
	reads("the worker w1 is gone, and no worker of version test is there: start one with replan-worker work")
	startHost(t, address, "w2")
	reads("the worker w2 has taken the run up")
}

func TestFollowerReadsHowManyRunsWaitBeforeIts(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	atOnce, first := 1, remote.Task{Run: "r-1", Plan: &gated, Attended: true}
	if err := c.SetLimits(t.Context(), first, records.Limits{AtOnce: &atOnce}); err != nil {
		t.Fatal(err)
	}
	submit(t, c, first)
	await[event.GateRequested](t, follow(t, c, "r-1"))
	submit(t, c, remote.Task{Run: "r-2", Plan: &gated})
	if note := <-follow(t, c, "r-2").notes; note != "the run waits in its queue and is the next" {
		t.Errorf("the note is %q", note)
	}
	submit(t, c, remote.Task{Run: "r-3", Plan: &gated})
	if note := <-follow(t, c, "r-3").notes; note != "the run waits in its queue behind 1 run" {
		t.Errorf("the note is %q", note)
	}
}

const fullDisk = "the worker w1 could not open the run, which waits for the next attempt: the disk is full"

func TestFollowerReadsWhyARunIsGivenBack(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	submit(t, c, remote.Task{Run: "r-1", Goal: "give back"})
	for f := follow(t, c, "r-1"); ; {
		select {
		case note := <-f.notes:
			if note == fullDisk {
				return
			}
		case err := <-f.err:
			t.Fatalf("the run ended without the note: %v", err)
		}
	}
}

func TestFollowerIsNotToldThatALivingWorkerIsGone(t *testing.T) {
	address := "sqlite:" + t.TempDir() + "/runs.db"
	startHost(t, address, "w1")
	c := openClient(t, address)
	atOnce, first := 1, remote.Task{Run: "r-1", Plan: &gated, Attended: true}
	if err := c.SetLimits(t.Context(), first, records.Limits{AtOnce: &atOnce}); err != nil {
		t.Fatal(err)
	}
	submit(t, c, first)
	await[event.GateRequested](t, follow(t, c, "r-1"))
	submit(t, c, remote.Task{Run: "r-2", Plan: &gated})
	var notes []string
	c.rhythm.patience = 0
	c.NotesTo(func(text string) error { notes = append(notes, text); return nil })
	for _, why := range []*records.NotOpened{{Worker: "w1", Why: "the disk is full"}, nil} {
		w := waitStatus{client: c, database: c.database, rhythm: c.rhythm, run: "r-2", worker: "w1", notOpened: why}
		if err := w.report(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{fullDisk, "the run waits in its queue and is the next"}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestRunThatIsGivenBackCountsAsWaiting(t *testing.T) {
	file := t.TempDir() + "/runs.db"
	startHost(t, "sqlite:"+file, "w0")()
	c := openClient(t, "sqlite:"+file)
	submit(t, c, remote.Task{Run: "r-1", Plan: &gated, Priority: 1})
	submit(t, c, remote.Task{Run: "r-2", Plan: &gated})
	execute(t, file, "UPDATE workflow_status SET status = 'DELAYED' WHERE workflow_uuid = 'r-1'")
	if queues, err := c.Queues(t.Context()); err != nil || len(queues) != 1 || queues[0].Waiting != 2 {
		t.Errorf("the queues are %+v, %v", queues, err)
	}
	second, err := c.database.Row(t.Context(), "r-2")
	if err != nil {
		t.Fatal(err)
	}
	if before, err := c.database.Before(t.Context(), second); err != nil || before != 1 {
		t.Errorf("%d runs wait before it, %v", before, err)
	}
	row := records.Row{Run: "r-1", Status: "DELAYED", Version: version}
	given := []records.Record{{NotOpened: &records.NotOpened{Worker: "w1", Why: "the disk is full"}}}
	s, err := c.summary(t.Context(), row, given, []remote.Worker{{ID: "w1", Version: version, Alive: true}})
	if err != nil || s.Status != agent.StatusWaiting || s.Why != fullDisk {
		t.Errorf("got %s: %q, %v", s.Status, s.Why, err)
	}
}

// execute changes a database of SQLite.
func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
