package postgrestest

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// serve makes the server's files and runs it until its standard input ends.
//
//go:embed serve.sh
var serve string

// Server is a PostgreSQL server for the tests of one package. It starts when a test
// first asks for a database.
type Server struct {
	// Folders is a pattern of folders in which initdb and postgres are looked for if
	// they are not on PATH. If it is empty, it is Debian's.
	Folders string
	// NoSync has the server not wait for the disk. Tests are faster, but figures
	// would be too good.
	NoSync bool

	once      sync.Once
	err       error  // why it did not start
	dir       string // all of its files
	address   string
	password  string // of the superuser
	shell     *exec.Cmd
	stdin     io.Closer // of the shell: it ends the server, as does the end of this process
	databases atomic.Int64
}

// Database makes a database for one test and returns the URL for its owner, who has a
// password and is no superuser. TLS is off in the URL, but the server knows it. The
// database is removed at the end of the test.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.once.Do(func() { s.err = s.start() })
	if errors.Is(s.err, exec.ErrNotFound) {
		t.Skipf("this test needs PostgreSQL: %v", s.err)
	}
	if s.err != nil {
		t.Fatalf("start PostgreSQL: %v", s.err)
	}
	name, password := fmt.Sprintf("test_%d", s.databases.Add(1)), rand.Text()
	if err := s.execute(t.Context(),
		fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", name, password),
		fmt.Sprintf("CREATE DATABASE %s OWNER %[1]s", name)); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.execute(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)", "DROP ROLE "+name); err != nil {
			t.Errorf("remove the database: %v", err)
		}
	})
	return s.url(name, password, name)
}

// Certificate returns the file with the server's certificate, for URLs with
// sslrootcert. It exists when Database has returned.
func (s *Server) Certificate() string {
	return filepath.Join(s.dir, certificateFile)
}

// Stop ends the server, if it has started, and removes its files. TestMain calls it
// after the tests.
func (s *Server) Stop() {
	s.once.Do(func() { s.err = errors.New("the server was stopped") })
	if s.err == nil {
		s.end()
	}
}

func (s *Server) end() {
	_ = s.stdin.Close()
	_ = s.shell.Wait() // of a shell that may not remove the folder itself
	_ = os.RemoveAll(s.dir)
}

func (s *Server) url(role, password, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, password), Host: s.address, Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

// execute carries out statements as the superuser.
func (s *Server) execute(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.url("postgres", s.password, "postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) start() error {
	folders := s.Folders
	if folders == "" {
		folders = "/usr/lib/postgresql/*/bin"
	}
	programs, err := Find(folders)
	if err != nil {
		return err
	}
	s.password = rand.Text()
	// A port cannot be reserved for the server. If another process takes it, the next is tried.
	for range 5 {
		if err = s.startOnce(programs); err == nil || !strings.Contains(err.Error(), "could not bind") {
			break
		}
	}
	return err
}

// startOnce returns when the server accepts connections. If it does not start, the
// error holds its log.
func (s *Server) startOnce(programs string) error {
	var err error
	if s.address, err = freeAddress(); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(s.address)
	if s.dir, err = os.MkdirTemp("", "postgrestest"); err != nil {
		return err
	}
	s.shell = exec.Command("sh", "-c", serve, "serve.sh", //nolint:gosec // the programs that were found
		filepath.Join(programs, "initdb"), filepath.Join(programs, "postgres"),
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+port, "-c", "unix_socket_directories=",
		"-c", "max_connections=300", "-c", "fsync="+strconv.FormatBool(!s.NoSync),
		"-c", "ssl=on", "-c", "ssl_cert_file=../"+certificateFile, "-c", "ssl_key_file=../"+keyFile)
	s.shell.Dir = s.dir
	log, err := s.startShell()
	if err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	var said []string
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "ready to accept connections") {
			// Otherwise a full pipe would hold the server.
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return nil
		}
		said = append(said, lines.Text())
	}
	s.end()
	return errors.New(strings.Join(said, "\n"))
}

// startShell writes what the server reads and starts the shell. It returns the server's
// log.
func (s *Server) startShell() (io.Reader, error) {
	certificate, key, err := selfSigned()
	if err != nil {
		return nil, err
	}
	owned := []string{s.dir}
	for name, content := range map[string][]byte{"password": []byte(s.password), certificateFile: certificate, keyFile: key} {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
		owned = append(owned, path)
	}
	if err := runUnprivileged(s.shell, owned); err != nil {
		return nil, err
	}
	if s.stdin, err = s.shell.StdinPipe(); err != nil {
		return nil, err
	}
	log, err := s.shell.StderrPipe()
	if err != nil {
		return nil, err
	}
	return log, s.shell.Start()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
