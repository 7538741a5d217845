package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"replan/agent/event"
	"replan/cli"
	"replan/distributed/host"
	"replan/distributed/telemetry"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// watch is what others see of a worker.
type watch struct {
	problems  io.Writer
	telemetry *telemetry.Telemetry
	send      func(context.Context) error // the traces that wait
	listener  net.Listener                // nil without --listen
	server    *http.Server
}

// openWatch opens the telemetry, and holds the address for health and metrics.
func openWatch(ctx context.Context, address string, getenv func(string) string, problems io.Writer) (*watch, error) {
	w := &watch{problems: problems}
	if address != "" {
		at := address
		if !strings.Contains(at, ":") {
			at = ":" + at
		}
		name, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, fmt.Errorf("--listen takes [HOST:]PORT, not %.80q", address)
		}
		if name == "" {
			name = "127.0.0.1"
		}
		if w.listener, err = net.Listen("tcp", net.JoinHostPort(name, port)); err != nil {
			return nil, fmt.Errorf("--listen %.80s: %w", address, err)
		}
	}
	var err error
	if w.telemetry, w.send, err = telemetry.Open(ctx, cli.Version, getenv); err != nil {
		if w.listener != nil {
			err = errors.Join(err, w.listener.Close())
		}
		return nil, err
	}
	return w, nil
}

// record takes in events of a run that have just been recorded.
func (w *watch) record(run string, events []event.Event) { w.telemetry.Record(run, events) }

// leave forgets a run that has ended here, or continues elsewhere.
func (w *watch) leave(run string) { w.telemetry.Leave(run) }

// serve serves the health and the metrics of a host until close.
func (w *watch) serve(health func() host.Health) {
	if w.listener == nil {
		return
	}
	const patience = 10 * time.Second
	w.server = &http.Server{Handler: w.routes(health), ReadHeaderTimeout: patience}
	go func() { _ = w.server.Serve(w.listener) }() // until it is closed
	_, _ = fmt.Fprintf(w.problems, "replan-worker: health and metrics are at http://%s\n", w.listener.Addr())
}

func (w *watch) routes(health func() host.Health) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(to http.ResponseWriter, _ *http.Request) {
		now := health()
		if now.Lost {
			http.Error(to, fmt.Sprintf("the database has not answered for %d s", int(now.Silence.Seconds())), http.StatusServiceUnavailable)
			return
		}
		if now.Problem != "" {
			http.Error(to, "the last run could not be opened: "+untrusted.Line(now.Problem), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(to, "the database answers; %s under way\n", english.Count(now.Runs, "run"))
	})
	routes.Handle("GET /metrics", w.telemetry.Handler(
		func() float64 { return float64(health().Runs) },
		func() float64 { return float64(health().TakenUp) },
	))
	return routes
}

// close sends the traces that wait, and ends the server.
func (w *watch) close() {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.send(ctx); err != nil {
		_, _ = fmt.Fprintln(w.problems, "replan-worker: the last traces were not sent:", err)
	}
	switch {
	case w.server != nil:
		_ = w.server.Close()
	case w.listener != nil:
		_ = w.listener.Close()
	}
}
