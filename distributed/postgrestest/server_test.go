package postgrestest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"replan/distributed/postgrestest"
)

// server is of TestMain.
var server = &postgrestest.Server{NoSync: true}

func TestMain(m *testing.M) {
	m.Run()
	server.Stop()
}

// ask returns what a query answers in text.
func ask(t *testing.T, at, query string) (string, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var answer string
	err = conn.QueryRow(t.Context(), query).Scan(&answer)
	return answer, err
}

func TestOwnerWorksInADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	first, second := server.Database(t), server.Database(t)
	if _, err := ask(t, first, "CREATE SCHEMA team CREATE TABLE runs (id text)"); !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	for at, want := range map[string]string{first: "team.runs", second: ""} {
		got, err := ask(t, at, "SELECT coalesce(to_regclass('team.runs')::text, '')")
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("the database holds %q, not %q", got, want)
		}
		if got, err := ask(t, at, "SHOW is_superuser"); got != "off" || err != nil {
			t.Errorf("the owner is a superuser: %s, %v", got, err)
		}
	}
}

func TestDatabaseIsRemovedAfterItsTest(t *testing.T) {
	t.Parallel()
	all := server.Database(t)
	var name string
	t.Run("test", func(test *testing.T) {
		conn, err := pgx.Connect(test.Context(), server.Database(test))
		if err != nil {
			test.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) }) // later
		name = conn.Config().Database
	})
	got, err := ask(t, all, "SELECT count(*)::text FROM pg_database WHERE datname = '"+name+"'")
	if got != "0" || err != nil {
		t.Errorf("the database is still there: %s, %v", got, err)
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(u.User.Username(), "wrong")
	_, err = ask(t, u.String(), "SELECT 'in'")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "28P01" {
		t.Errorf("the server does not refuse the password: %v", err)
	}
}

func TestURLsMayAskForTLS(t *testing.T) {
	t.Parallel()
	off := server.Database(t)
	for _, tt := range []struct{ mode, encrypted string }{
		{"disable", "false"},
		{"require", "true"},
		{"verify-full&sslrootcert=" + url.QueryEscape(server.Certificate()), "true"},
	} {
		at := strings.Replace(off, "sslmode=disable", "sslmode="+tt.mode, 1)
		got, err := ask(t, at, "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
		if got != tt.encrypted || err != nil {
			t.Errorf("sslmode=%s: encrypted is %s, %v", tt.mode, got, err)
		}
	}
	if _, err := ask(t, strings.Replace(off, "disable", "verify-full", 1), "SELECT 'in'"); err == nil {
		t.Error("a certificate that nobody knows was taken")
	}
}

// A server waits for the disk if a test does not say otherwise; figures depend on it.
func TestStoppedServerIsGone(t *testing.T) {
	t.Parallel()
	server.Database(t) // or skip
	var own postgrestest.Server
	t.Cleanup(own.Stop)
	var at string
	t.Run("test", func(t *testing.T) {
		at = own.Database(t)
		if got, err := ask(t, at, "SHOW fsync"); got != "on" || err != nil {
			t.Errorf("fsync is %s, %v", got, err)
		}
	})
	own.Stop()
	isGone(t, at, own.Certificate())
}

func isGone(t *testing.T, at, certificate string) {
	t.Helper()
	if _, err := ask(t, at, "SELECT 'in'"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the server is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(certificate)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its files are still there: %v", err)
	}
}

// TestServerToBeKilled is the child of TestServerEndsWithAKilledTest.
func TestServerToBeKilled(t *testing.T) {
	if os.Getenv("POSTGRESTEST_KILLED") == "" {
		t.Skip("TestServerEndsWithAKilledTest runs it")
	}
	at := server.Database(t)
	if _, err := os.NewFile(3, "parent").WriteString(at + " " + server.Certificate() + "\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or its parent
}

func TestServerEndsWithAKilledTest(t *testing.T) {
	t.Parallel()
	server.Database(t) // or skip
	here, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestServerToBeKilled$")
	child.Env = append(os.Environ(), "POSTGRESTEST_KILLED=1")
	child.ExtraFiles = []*os.File{theirs} // all of the child's processes hold it
	stdin, err := child.StdinPipe()
	if err := errors.Join(err, child.Start(), theirs.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close() })
	lines := bufio.NewReader(here)
	line, err := lines.ReadString('\n')
	if err := errors.Join(err, child.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if _, err := io.Copy(io.Discard, lines); err != nil { // until the last of them has ended
		t.Fatal(err)
	}
	at, certificate, _ := strings.Cut(strings.TrimSpace(line), " ")
	isGone(t, at, certificate)
}

// attempt is a test that may fail.
type attempt struct {
	testing.TB
	failure string
}

func (a *attempt) Fatalf(format string, args ...any) {
	a.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure returns why a server of other programs has no database. They are shell
// scripts.
func failure(t *testing.T, initdb, postgres string) string {
	dir := t.TempDir()
	for name, script := range map[string]string{"initdb": initdb, "postgres": postgres} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Dir(dir), dir, filepath.Join(dir, "initdb"), filepath.Join(dir, "postgres")} {
		if err := os.Chmod(path, 0o777); err != nil { // the user of the server may be another
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var own postgrestest.Server
	a := &attempt{TB: t}
	var test sync.WaitGroup
	test.Go(func() { own.Database(a) })
	test.Wait()
	own.Stop()
	if _, err := os.Stat(filepath.Dir(own.Certificate())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server's files are still there: %v", err)
	}
	return a.failure
}

func TestServerThatDoesNotStartShowsItsLog(t *testing.T) {
	if got := failure(t, "echo the disk is full >&2; exit 1", ""); got != "start PostgreSQL: the disk is full" {
		t.Error(got)
	}
	if got := failure(t, "", "echo no such option >&2; exit 1"); got != "start PostgreSQL: no such option" {
		t.Error(got)
	}
}

func TestServerTakesAnotherPortIfItsPortIsTaken(t *testing.T) {
	got := failure(t, "", `mkdir "${0%/*}/tried" && echo could not bind >&2 || echo ready to accept connections >&2`)
	if !strings.HasPrefix(got, "make a database: ") { // since no server listens
		t.Error(got)
	}
}

func TestWithoutPostgreSQLTestsAreSkipped(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	without := postgrestest.Server{Folders: t.TempDir()}
	var skipped bool
	t.Run("test", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		without.Database(t)
	})
	if !skipped {
		t.Error("a test without PostgreSQL is not skipped")
	}
	without.Stop()
}

func TestNewestProgramsAreFound(t *testing.T) {
	dir := t.TempDir()
	install := func(folder string, programs ...string) string {
		path := filepath.Join(dir, folder)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range programs {
			if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	t.Setenv("PATH", install("path"))
	pattern := filepath.Join(dir, "lib", "*", "bin")
	finds := func(want string) {
		t.Helper()
		if got, err := postgrestest.Find(pattern); got != want || err != nil {
			t.Errorf("found %q, not %q: %v", got, want, err)
		}
	}
	install("lib/18/bin", "initdb")
	install("lib/9.6/bin", "initdb", "postgres")
	finds(install("lib/15/bin", "initdb", "postgres"))
	finds(install("path", "initdb", "postgres"))
}
