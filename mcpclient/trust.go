package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
	"replan/planning/plan"
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

// trust stores which servers the user allowed in which workspace, and which not.
// With an empty path it stores nothing.
type trust struct {
	path string
	file *wholefile.JSON[trustFile] // of that path
}

func newTrust(path string) trust {
	return trust{path, &wholefile.JSON[trustFile]{
		Path: path, What: "which servers may start", Empty: trustFile{Version: trustVersion},
		Sound: func(f trustFile) bool { return f.Version <= trustVersion },
	}}
}

// trustFile is the file format. A fingerprint covers everything that determines
// what is started or contacted, so a changed command needs permission again.
type trustFile struct {
	Version  int                 `json:"version"`            // 0 in files of the time before it was written
	Allowed  map[string][]string `json:"allowed"`            // workspace → fingerprints or digests
	Declined map[string][]string `json:"declined,omitempty"` // workspace → fingerprints
}

const (
	trustVersion  = 2
	trustPatience = 2 * time.Second // for another process that changes the file
)

// fingerprint is the SHA-256 (hex) of a server as its file writes it, and of the
// programs of the workspace that it starts: a pull may change those. A variable whose
// value changes, such as a token, needs no new permission.
func fingerprint(workspace string, s config.Server) string {
	parts := []any{trustVersion, s.Name, s.SSE, s.AsWritten().Whole()}
	if programs := ownPrograms(workspace, s); len(programs) > 0 {
		parts = append(parts, programs)
	}
	return hashOf(parts)
}

// ownPrograms returns the SHA-256 (hex) of each program and script of the workspace that
// a server names, by path. It leaves out data, which may change at any time.
func ownPrograms(workspace string, s config.Server) map[string]string {
	if !filepath.IsAbs(workspace) || s.Command == "" {
		return nil
	}
	base := s.Dir
	if !filepath.IsAbs(base) {
		base = filepath.Join(workspace, base)
	}
	hashes := map[string]string{}
	for i, word := range append([]string{s.Command}, s.Args...) {
		if _, value, found := strings.Cut(word, "="); found && i > 0 {
			word = value
		}
		isCommand := i == 0 && strings.ContainsAny(word, `/\`)
		if !isCommand && !slices.Contains(scripts, strings.ToLower(filepath.Ext(word))) {
			continue
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(base, word)
		}
		if isWithin(word, workspace) || isWithin(word, base) {
			if hash := hashOfFile(word); hash != "" {
				hashes[word] = hash
			}
		}
	}
	return hashes
}

// scripts are the ends of the names of files that interpreters run.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".pyz", ".sh", ".rb", ".pl", ".php", ".lua", ".jar", ".ps1", ".bat", ".cmd", ".exe", ".go", ".wasm"}

// isWithin reports whether a path lies in a folder. Links of the project may lead out.
func isWithin(name, folder string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(rel)
}

// hashOfFile returns "" for what is no file, or cannot be read.
func hashOfFile(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(name) //nolint:gosec // the user is asked about it
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// digest is what files of version 0 hold in place of a fingerprint: the hash of a
// server with the values of its variables.
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
		OAuth   *config.OAuth     `json:"oauth,omitempty"`
		NoRoots bool              `json:"no_roots,omitempty"`
	}{s.Name, s.Command, s.Args, s.Env, s.Dir, s.URL, s.Headers, s.Inherit, s.HeadersHelper, s.SSE, s.OAuth, s.NoRoots})
}

// hashOf returns the SHA-256 of a value in JSON, in hexadecimal digits.
func hashOf(v any) string {
	text, _ := json.Marshal(v) // cannot fail: only strings
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// allows reports whether the user has allowed a server. Permissions of version 0 are
// kept while the values of variables are the same.
func (f trustFile) allows(workspace string, s config.Server) bool {
	allowed := f.Allowed[workspace]
	return slices.Contains(allowed, fingerprint(workspace, s)) || slices.Contains(allowed, digest(s)) && len(ownPrograms(workspace, s)) == 0
}

// declines reports whether the user has said no to a server.
func (f trustFile) declines(workspace string, s config.Server) bool {
	return slices.Contains(f.Declined[workspace], fingerprint(workspace, s))
}

func (t trust) read() (trustFile, error) {
	if t.path == "" {
		return trustFile{}, nil
	}
	content, err := t.file.Read()
	if err != nil {
		return content, fmt.Errorf("read your answers about the project's servers (replan asks again): %w", err)
	}
	return content, nil
}

// remember stores the user's answer about each server.
func (t trust) remember(workspace string, servers []config.Server, yes bool) error {
	if t.path == "" || len(servers) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("remembering the allowed servers: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), trustPatience)
	defer cancel()
	// Start over with a damaged file: that can only lose answers.
	_, err := t.file.Change(ctx, func(f *trustFile) {
		f.Version = trustVersion
		for _, s := range servers {
			is := func(hash string) bool { return hash == fingerprint(workspace, s) || hash == digest(s) }
			without := func(of map[string][]string) []string { return slices.DeleteFunc(slices.Clone(of[workspace]), is) }
			allowed, declined := without(f.Allowed), without(f.Declined)
			if yes {
				allowed = append(allowed, fingerprint(workspace, s))
			} else {
				declined = append(declined, fingerprint(workspace, s))
			}
			f.Allowed, f.Declined = with(f.Allowed, workspace, allowed), with(f.Declined, workspace, declined)
		}
	})
	return err
}

// with returns a copy of a table with another list; an empty one is left out.
func with(of map[string][]string, key string, list []string) map[string][]string {
	out := map[string][]string{}
	maps.Copy(out, of)
	if out[key] = list; len(list) == 0 {
		delete(out, key)
	}
	return out
}

// asksAgain makes a server that the user said no to ask for permission again. It
// reports whether it is one. The caller holds the mutex.
func (p *Pool) asksAgain(name string) bool {
	at := slices.IndexFunc(p.entries, func(e *entry) bool { return e.server.Name == name && e.declined })
	if at < 0 || p.closed || p.cfg.Trust == TrustNone {
		return false
	}
	e := p.entries[at]
	e.state, e.problem, e.declined = plan.ServerWaiting, "", false
	p.broadcast()
	return true
}

// allowed reports whether a server is the project's own, and the user has allowed it.
// The caller holds the mutex.
func (e *entry) allowed() bool {
	return e.server.Source == config.SourceProject && e.builtin == nil && e.state != plan.ServerWaiting && !e.declined && !e.leftOut && !e.badEntry()
}

// Revoke stops a server of the project's own configuration that the user has allowed,
// and remembers that the user says no to it. Its calls in progress fail. A restart asks
// again. If that cannot be stored, it still counts for this pool, and Revoke returns
// the error.
func (p *Pool) Revoke(name string) error {
	known := readDecisions(p)
	p.mu.Lock()
	old, err := findEntry(p, name)
	switch {
	case err != nil:
		p.mu.Unlock()
		return err
	case !old.allowed():
		p.mu.Unlock()
		return fmt.Errorf("%s is no server of the project that you have allowed", name)
	}
	known.allowed = trustFile{Declined: map[string][]string{p.cfg.Dir: {fingerprint(p.cfg.Dir, old.server)}}}
	e := p.newEntry(old.server, known)
	e.replaces(old)
	if old.end != nil {
		old.end()
	}
	p.entries[slices.Index(p.entries, old)] = e
	p.broadcast()
	p.mu.Unlock()
	p.notify()
	return p.trust.remember(p.cfg.Dir, []config.Server{old.server}, false)
}
