package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
)

// TrustMode says how to treat a project's own servers, and other programs, that the
// user has not allowed.
type TrustMode int

// The trust modes.
const (
	TrustAsk        TrustMode = iota // they wait for Pool.Answer
	TrustAskServers                  // servers do; other programs, which come up during a run, are left out
	TrustNone                        // all are left out, since nobody is there to ask
)

// trust stores which servers the user allowed in which workspace. With an
// empty path it stores nothing.
type trust struct{ path string }

// trustFile is the file format. A digest covers everything that determines
// what is started or contacted, so a changed command needs permission again.
type trustFile struct {
	Allowed map[string][]string `json:"allowed"` // workspace → digests, SHA-256 in hex
}

func digest(s config.Server) string {
	return hashOf(struct {
		Name    string            `json:"name"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
		Dir     string            `json:"dir"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Inherit []string          `json:"inherit,omitempty"`
		Helper  string            `json:"headers_helper,omitempty"`
		SSE     bool              `json:"sse,omitempty"`
	}{s.Name, s.Command, s.Args, s.Env, s.Dir, s.URL, s.Headers, s.Inherit, s.HeadersHelper, s.SSE})
}

// hashOf returns the SHA-256 of a value in JSON, in hexadecimal digits.
func hashOf(v any) string {
	text, _ := json.Marshal(v) // cannot fail: only strings
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (t trust) read() (trustFile, error) {
	empty := trustFile{Allowed: map[string][]string{}}
	if t.path == "" {
		return empty, nil
	}
	text, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, fmt.Errorf("read the allowed servers: %w", err)
	}
	var file trustFile
	if err := json.Unmarshal(text, &file); err != nil {
		return empty, fmt.Errorf("%s is damaged, so replan asks about the project's servers again: %w", t.path, err)
	}
	if file.Allowed == nil {
		return empty, nil
	}
	return file, nil
}

// remember stores a permission for each server.
func (t trust) remember(workspace string, servers []config.Server) error {
	if t.path == "" {
		return nil
	}
	// Overwrite a damaged file: that can only lose permissions.
	file, _ := t.read()
	for _, s := range servers {
		if d := digest(s); !slices.Contains(file.Allowed[workspace], d) {
			file.Allowed[workspace] = append(file.Allowed[workspace], d)
		}
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("remembering the allowed servers: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("remembering the allowed servers: %w", err)
	}
	if err := wholefile.Write(t.path, append(text, '\n')); err != nil {
		return fmt.Errorf("remembering the allowed servers: %w", err)
	}
	return nil
}
