package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/zalando/go-keyring"

	"replan/internal/wholefile"
)

// grant is one login to a server.
type grant struct {
	Issuer     string          `json:"issuer"`
	Resource   string          `json:"resource"`
	Endpoint   string          `json:"token_endpoint"`
	Revocation string          `json:"revocation_endpoint,omitempty"`
	Client     client          `json:"client"`
	Scopes     []string        `json:"scopes,omitempty"` // granted
	Wanted     []string        `json:"wanted,omitempty"` // that the server has asked for since
	Token      transport.Token `json:"token"`
}

// live reports whether the access token can be used for some time.
func (g *grant) live(now time.Time) bool {
	return g.Token.AccessToken != "" && (g.Token.ExpiresAt.IsZero() || g.Token.ExpiresAt.Sub(now) > expiryMargin)
}

// lacking returns those of some scopes that the login, which may be nil, does not have.
func (g *grant) lacking(scopes []string) []string {
	var all []string
	for _, scope := range scopes {
		if g == nil || !slices.Contains(g.Scopes, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// expiryMargin is how long before its end a token is no longer used.
const expiryMargin = 10 * time.Second

// Keyring keeps secrets for the user.
type Keyring interface {
	Get(service, user string) (string, error) // keyring.ErrNotFound if there is none
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// Store keeps logins: their tokens in the keyring of the system or, without one, in
// files that only the user can read. It is safe for concurrent use, also by several
// processes.
type Store struct {
	dir  string
	ring Keyring // nil is none
}

const (
	service     = "replan" // in the keyring
	ringTimeout = 20 * time.Second
	lockEach    = 20 * time.Millisecond
	recordV     = 1
)

// NewStore returns the logins kept in a folder. ring may be nil.
func NewStore(dir string, ring Keyring) *Store { return &Store{dir, ring} }

// SystemKeyring returns the keyring of the system, nil if there is none.
func SystemKeyring(getenv func(string) string) Keyring {
	switch runtime.GOOS {
	case "darwin", "windows":
		return systemKeyring{}
	}
	// Without an address, the library would start a bus of its own.
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return systemKeyring{}
	}
	return nil
}

type systemKeyring struct{}

// Get returns a secret.
func (systemKeyring) Get(service, user string) (string, error) { return keyring.Get(service, user) }

// Set stores a secret.
func (systemKeyring) Set(service, user, secret string) error {
	return keyring.Set(service, user, secret)
}

// Delete removes a secret.
func (systemKeyring) Delete(service, user string) error { return keyring.Delete(service, user) }

// record is the file of one login.
type record struct {
	V       int    `json:"v"`
	Server  string `json:"server"`
	URL     string `json:"url"`               // without its query
	Keyring bool   `json:"keyring,omitempty"` // holds this login, or an older one if Login is there
	Login   *grant `json:"login,omitempty"`
}

// account identifies a login: the server's name and address.
type account struct{ name, url string }

func (a account) key() string {
	sum := sha256.Sum256([]byte(a.name + "\n" + a.url))
	return hex.EncodeToString(sum[:16])
}

func (s *Store) file(key string) string { return filepath.Join(s.dir, key+".json") }

// read returns a login, nil if there is none.
func (s *Store) read(ctx context.Context, a account) (*grant, error) {
	r, err := s.record(a.key())
	if err != nil || r == nil {
		return nil, err
	}
	if !r.Keyring || r.Login != nil {
		return r.Login, nil
	}
	return s.inRing(ctx, a.key())
}

// inRing returns the login in the keyring, nil if there is none.
func (s *Store) inRing(ctx context.Context, key string) (*grant, error) {
	if s.ring == nil {
		return nil, nil // logged in while there was a keyring
	}
	text, err := s.onRing(ctx, func() (string, error) { return s.ring.Get(service, key) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the login from the keyring: %w", err)
	}
	var g grant
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return nil, errors.New("the login in the keyring is damaged: log in again")
	}
	return &g, nil
}

// record returns the record of a login, nil if there is none.
func (s *Store) record(key string) (*record, error) {
	text, err := os.ReadFile(s.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the login: %w", err)
	}
	var r record
	if json.Unmarshal(text, &r) != nil || r.V != recordV {
		return nil, nil // damaged, or of another version: log in again
	}
	return &r, nil
}

// write stores a login. The caller holds the lock.
func (s *Store) write(ctx context.Context, a account, g *grant) error {
	if s.ring == nil {
		return s.writeFile(ctx, a, g)
	}
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("saving the login: %w", err)
	}
	_, err = s.onRing(ctx, func() (string, error) { return "", s.ring.Set(service, a.key(), string(text)) })
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("saving the login: %w", ctx.Err()) // that says nothing about the keyring
	case err != nil:
		// It is not running, or the tokens are too long for it.
		return s.writeFile(ctx, a, g)
	}
	r := recordOf(a)
	r.Keyring = true
	return s.put(a.key(), r)
}

// writeFile stores a login in its file. The caller holds the lock.
func (s *Store) writeFile(ctx context.Context, a account, g *grant) error {
	r := recordOf(a)
	r.Login = g
	before, _ := s.record(a.key())
	switch {
	case s.ring != nil && ctx.Err() != nil:
		r.Keyring = true // it may still take this one
	case before == nil || !before.Keyring:
	case s.ring == nil:
		r.Keyring = true // the logout finds the old one
	default:
		// The old one must not stay. If the keyring does not answer, it is not read again.
		_, _ = s.onRing(ctx, func() (string, error) { return "", s.ring.Delete(service, a.key()) })
	}
	return s.put(a.key(), r)
}

// recordOf returns the record of a login to a server, without the login.
func recordOf(a account) *record {
	url, _, _ := strings.Cut(a.url, "?")
	return &record{V: recordV, Server: a.name, URL: url}
}

// put writes the record of a login.
func (s *Store) put(key string, r *record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = wholefile.Write(s.file(key), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("saving the login: %w", err)
	}
	return nil
}

// remove deletes a login. One in a keyring that is not there stays, with its record.
// The caller holds the lock.
func (s *Store) remove(ctx context.Context, key string) error {
	r, err := s.record(key)
	if err != nil {
		return err
	}
	if r != nil && r.Keyring && s.ring == nil {
		r.Login = nil
		return errors.Join(fmt.Errorf("the login to %s is in the keyring of the system, which cannot be reached from here: log out again in a desktop session", r.Server), s.put(key, r))
	}
	if r != nil && r.Keyring {
		_, err = s.onRing(ctx, func() (string, error) { return "", s.ring.Delete(service, key) })
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
	}
	if removeErr := os.Remove(s.file(key)); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	if err != nil {
		return fmt.Errorf("deleting the login: %w", err)
	}
	return nil
}

// keys returns the keys of all logins.
func (s *Store) keys() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing the logins: %w", err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), ".json")
	}
	slices.Sort(names)
	return names, nil
}

// lock waits until no other process and no other goroutine changes a login.
func (s *Store) lock(ctx context.Context, key string) (release func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of logins: %w", err)
	}
	lock := flock.New(filepath.Join(s.dir, key+".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockEach); err != nil {
		return nil, fmt.Errorf("waiting for another program that changes the login: %w", err)
	}
	return func() { _ = lock.Unlock() }, nil // the end of the process unlocks it at the latest
}

// onRing calls the keyring, which may first ask the user to unlock it. It returns
// when the context ends; the system's question cannot be canceled.
func (s *Store) onRing(ctx context.Context, call func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := call()
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		return a.text, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("the keyring does not answer: %w", ctx.Err())
	}
}
