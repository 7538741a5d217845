package worker_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/runner/conformance"
	"replan/agent/store"
	"replan/cli"
	"replan/distributed/client"
	"replan/distributed/host"
	"replan/distributed/postgrestest"
	"replan/distributed/records"
	"replan/distributed/worker"
)

// server is PostgreSQL, if this machine has it.
var server = &postgrestest.Server{NoSync: true}

func TestMain(m *testing.M) {
	if exit, ok := cli.Reentered(); ok {
		os.Exit(exit)
	}
	home, err := os.MkdirTemp("", "replan-worker-test-")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		if err := os.Setenv(name, home); err != nil {
			panic(err)
		}
	}
	xdg.Reload()
	code := m.Run()
	server.Stop()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// run runs the program to its end.
func run(t *testing.T, in string, args ...string) (exit int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	exit = worker.Main(t.Context(), args, cli.IO{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Getwd: os.Getwd,
	})
	return exit, stdout.String(), stderr.String()
}

// refused checks that the program says one sentence and exits.
func refused(t *testing.T, want int, sentence string, args ...string) {
	t.Helper()
	exit, out, said := run(t, "", args...)
	if exit != want || out != "" || !strings.HasPrefix(said, "replan-worker: ") || strings.Count(said, "\n") != 1 || !strings.Contains(said, sentence) {
		t.Errorf("%q exits with %d instead of %d and says %q%q", args, exit, want, out, said)
	}
	if strings.Contains(said, "secret") {
		t.Errorf("%q prints the password: %s", args, said)
	}
}

// ask asks replan-worker attach, and returns what it writes.
func ask(t *testing.T, address, line string) (all []remote.Output) {
	t.Helper()
	exit, out, said := run(t, line, "attach", "--on", address)
	if exit != 0 || said != "" {
		t.Errorf("attach exits with %d and says %q", exit, said)
	}
	for line := range strings.Lines(out) {
		var o remote.Output
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// problem checks that the last line is a problem.
func problem(t *testing.T, all []remote.Output, code, sentence string) {
	t.Helper()
	if len(all) == 0 || all[len(all)-1].Problem == nil {
		t.Fatalf("attach reports no problem but %+v", all)
	}
	if p := all[len(all)-1].Problem; p.Code != code || !strings.Contains(string(p.Text), sentence) || strings.Contains(string(p.Text), "secret") {
		t.Errorf("attach reports %s: %s", p.Code, p.Text)
	}
}

func TestWrongOptionsAreRefusedInOneSentence(t *testing.T) {
	t.Parallel()
	here := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	for sentence, args := range map[string][]string{
		"no database is named":          {},
		`not "mysql:"`:                  {"--on", "mysql://ann:secret@db/replan"},
		"for a file use sqlite:runs.db": {"--on", "runs.db"},
		"no file is named":              {"--on", "sqlite:"},
		"special characters as %XX":     {"--on", "postgres://ann:secret%@db/replan"},
		"use lower-case letters":        {"--on", "postgres://ann:secret@db/replan?schema=Team-1"},
		"check its parameters":          {"--on", "postgres://ann:secret@db/replan?sslmode=perhaps"},
		"has a * before its end":        {"--on", here, "--repository", "https://*.example.org/shop"},
		`pattern "" covers no`:          {"--on", here, "--repository", ""},
		`pattern "a b" covers`:          {"--on", here, "--repository", "a b"},
		"--listen takes [HOST:]PORT":    {"--on", here, "--listen", "a:b:c"},
		"--listen 127.0.0.1:nothing":    {"--on", here, "--listen", "127.0.0.1:nothing"},
		"--at-once takes a number from": {"--on", here, "--at-once", "0"},
		"a whole number, not \"10^19\"": {"--on", here, "--at-once", "10^19"},
		"unknown flag: --at-twice":      {"--on", here, "--at-twice"},
		`"stray" is no flag of replan`:  {"--on", here, "--", "stray"},
		"unknown flag --strayflag":      {"--on", here, "--", "--strayflag"},
	} {
		refused(t, 2, sentence, append([]string{"work"}, args...)...)
	}
}

func TestDatabaseThatCannotBeUsedIsToldInOneSentence(t *testing.T) {
	t.Parallel()
	none := "sqlite:" + filepath.Join(t.TempDir(), "none", "runs.db")
	away := "postgres://ann:secret@127.0.0.1:1/replan?sslmode=disable"
	refused(t, 1, "its folder must exist", "work", "--on", none)
	missing := filepath.Join(t.TempDir(), "runs.db")
	problem(t, ask(t, "sqlite:"+missing, `{"runs":{}}`), remote.CodeDatabase, "there is no database "+missing+": start a worker on it first with replan-worker work")
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a client made the database: %v", err)
	}
	refused(t, 1, "the database replan at 127.0.0.1:1 cannot be used: connection refused", "work", "--on", away)
	problem(t, ask(t, away, `{"runs":{}}`), remote.CodeDatabase, "connection refused")
	problem(t, ask(t, "mysql://ann:secret@db/replan", `{"runs":{}}`), remote.CodeUsage, `not "mysql:"`)
}

func TestDoctorNamesTheToolsOfEachServer(t *testing.T) {
	t.Parallel()
	exit, out, said := run(t, "", "doctor")
	if exit != 0 || !strings.Contains(out, "this machine offers the server workspace;") || !strings.Contains(out, "\n  workspace: code.comment, ") || !strings.Contains(out, " more tools\n") {
		t.Errorf("doctor exits with %d and says %q%q", exit, out, said)
	}
}

func TestTablesOfAnotherProgramAreToldWithoutTheWordsOfDBOS(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	execute(t, file, "CREATE TABLE workflow_status (a TEXT)")
	exit, _, said := run(t, "", "work", "--on", "sqlite:"+file)
	if want := "replan-worker: the database cannot be prepared: SQL logic error: table workflow_status already exists (1)\n"; exit != 1 || said != want {
		t.Errorf("work exits with %d and says %q", exit, said)
	}
}

func TestWrongPasswordIsToldWithoutIt(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(at.User.Username(), "secret")
	refused(t, 1, "password authentication failed for user", "work", "--on", at.String())
	problem(t, ask(t, at.String(), `{"runs":{}}`), remote.CodeDatabase, "password authentication failed for user")
}

func TestRoleWithoutASchemaIsToldWhatToGrant(t *testing.T) {
	t.Parallel()
	own, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	own.Path = other.Path
	exit, _, said := run(t, "", "work", "--on", own.String()+"&schema=red")
	if want := "replan-worker: the role " + own.User.Username() + " may not create the schema red, nor change it: have an administrator run CREATE SCHEMA red AUTHORIZATION " + own.User.Username() + "\n"; exit != 1 || said != want {
		t.Errorf("work exits with %d and says %s", exit, said)
	}
}

func TestRoleThatMayNotReadTheRunsIsToldSo(t *testing.T) {
	t.Parallel()
	of, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := hosted(t, of.String(), "w1").Close(); err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	of.User = other.User
	exit, _, said := run(t, "", "queues", "--on", of.String())
	if want := "replan-worker: this role may not use the runs of replan in the database: permission denied for schema replan\n"; exit != 1 || said != want {
		t.Errorf("queues exits with %d and says %s", exit, said)
	}
}

func TestRequestThatCannotBeReadIsAProblem(t *testing.T) {
	t.Parallel()
	for line, sentence := range map[string]string{
		"":             "started by replan",
		"{broken\n":    "the request cannot be read",
		"[]\n":         "the request cannot be read",
		"\x00\xff\n":   "the request cannot be read",
		`{"submit":3}`: "the request cannot be read",
	} {
		problem(t, ask(t, "sqlite:"+filepath.Join(t.TempDir(), "runs.db"), line), remote.CodeUsage, sentence)
	}
}

// hosted starts a host for the cases of the conformance suite.
func hosted(t *testing.T, address, id string) *host.Host {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h, err := host.Start(t.Context(), host.Config{
		Database: d, Worker: remote.Worker{ID: id, Version: cli.Version}, Rhythm: 20 * time.Millisecond,
		Open: func(context.Context, remote.Task) (host.Opened, error) {
			cfg := conformance.Case{}.Config()
			cfg.Store = store.New(store.Dirs{Config: dir, Data: dir, State: dir})
			handBack := func(context.Context, records.Outcome) (string, error) { return "the changes are kept", nil }
			return host.Opened{Config: cfg, HandBack: handBack, Close: func() error { return nil }}, nil
		},
	})
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	return h
}

// carryOut has a host carry out a run.
func carryOut(t *testing.T, address, run string) {
	t.Helper()
	d, err := records.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	of := conformance.Cases(1)[0]
	if err := c.Submit(t.Context(), remote.Task{Run: run, Plan: &of.Plan, Approve: of.Approve, InDoubt: event.DoubtDone}, cli.Version); err != nil {
		t.Fatal(err)
	}
	if err := c.Follow(t.Context(), run, func(records.Record, bool) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// execute changes a database of SQLite.
func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestDatabaseOfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	h := hosted(t, "sqlite:"+file, "w1")
	carryOut(t, "sqlite:"+file, "r-old")
	carryOut(t, "sqlite:"+file, "r-new")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, file, `UPDATE operation_outputs SET output = REPLACE(output, '"v":1', '"v":9') WHERE workflow_uuid = 'r-new'`)
	execute(t, file, `UPDATE workflow_output SET output = REPLACE(output, '"summary"', '"newer"') WHERE workflow_uuid = 'r-new'`)
	all := ask(t, "sqlite:"+file, `{"journal":{"run":"r-new"}}`)
	problem(t, all, remote.CodeVersion, "written in format 9, and this replan reads up to 1; update replan")
	all = ask(t, "sqlite:"+file, `{"runs":{}}`)
	problem(t, all, remote.CodeVersion, "the run r-new cannot be read here")
	if len(all) != 2 || len(all[0].Runs) != 1 || all[0].Runs[0].Run != "r-old" {
		t.Errorf("the other run is not listed, but %+v", all)
	}
	execute(t, file, "UPDATE dbos_migrations SET version = 999")
	refused(t, 2, "the tables of the database are of version 999", "work", "--on", "sqlite:"+file)
	problem(t, ask(t, "sqlite:"+file, `{"runs":{}}`), remote.CodeVersion, "use the version of the other workers")
}

func TestTeamsWithSchemasOfTheirOwnDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	address := server.Database(t)
	for _, team := range []string{"blue", "red"} {
		h := hosted(t, address+"&schema="+team, "worker-of-"+team)
		t.Cleanup(func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	carryOut(t, address+"&schema=red", "r-1")
	for team, want := range map[string]int{"red": 1, "blue": 0} {
		at := address + "&schema=" + team
		if all := ask(t, at, `{"runs":{}}`); len(all[0].Runs) != want {
			t.Errorf("the team %s sees the runs %+v", team, all[0].Runs)
		}
		workers := ask(t, at, `{"workers":{}}`)[0].Workers
		if len(workers) != 1 || workers[0].ID != "worker-of-"+team {
			t.Errorf("the team %s sees the workers %+v", team, workers)
		}
	}
	problem(t, ask(t, address+"&schema=blue", `{"follow":{"run":"r-1"}}`), remote.CodeNotFound, "no run r-1")
	problem(t, ask(t, address+"&schema=green", `{"runs":{}}`), remote.CodeDatabase, "start a worker on it first")
}

func TestDatabaseIsReachedByTLS(t *testing.T) {
	t.Parallel()
	plain := server.Database(t)
	verified := strings.Replace(plain, "sslmode=disable", "sslmode=verify-full&sslrootcert="+url.QueryEscape(server.Certificate()), 1)
	h := hosted(t, verified, "w1")
	if all := ask(t, verified, `{"workers":{}}`); len(all) != 2 || !slices.ContainsFunc(all[0].Workers, func(w remote.Worker) bool { return w.ID == "w1" }) {
		t.Errorf("attach reports %+v", all)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	refused(t, 1, "certificate signed by unknown authority; name the file of its authority in the address, as sslrootcert", "work", "--on", strings.Replace(plain, "disable", "verify-full", 1))
}

func TestWhatBecameOfTheChangesComesBeforeTheEndOfARun(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + filepath.Join(t.TempDir(), "runs.db")
	h := hosted(t, address, "w1")
	carryOut(t, address, "r-1")
	in, typed := io.Pipe() // its end would detach
	go func() { _, _ = io.WriteString(typed, `{"follow":{"run":"r-1"}}`+"\n") }()
	var out bytes.Buffer
	std := cli.IO{In: in, Out: &out, Err: io.Discard, Getenv: func(string) string { return "" }, Getwd: os.Getwd}
	if exit := worker.Main(t.Context(), []string{"attach", "--on", address}, std); exit != 0 || typed.Close() != nil {
		t.Errorf("attach exits with %d", exit)
	}
	var order []string
	for line := range strings.Lines(out.String()) {
		var o remote.Output
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		switch {
		case o.Note == "the changes are kept":
			order = append(order, "note")
		case o.Event != nil && (o.Event.Data.Kind() == event.KindRunCompleted || o.Event.Data.Kind() == event.KindChatReply):
			order = append(order, string(o.Event.Data.Kind()))
		}
	}
	if want := []string{"note", "run.completed", "chat.reply"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
