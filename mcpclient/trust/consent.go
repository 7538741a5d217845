package trust

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
)

// Mode says how to treat a project's own servers, and other programs, that the user has
// not allowed.
type Mode int

// The modes.
const (
	Ask        Mode = iota // they wait for the user's answer
	AskServers             // servers do; other programs, which come up during a run, are left out
	None                   // all are left out, since no user is there to ask
)

// Consent stores, in a file, which servers and programs the user allowed in which
// workspace, and which not. It is safe for concurrent use, also by several processes.
type Consent struct {
	path string
	file *wholefile.JSON[consentFile] // of that path
}

// NewConsent returns the consent in the file at a path, which need not exist. With an
// empty path it stores nothing.
func NewConsent(path string) Consent {
	return Consent{path, &wholefile.JSON[consentFile]{
		Path: path, What: "which servers may start", Empty: consentFile{Version: consentVersion},
		Sound: func(f consentFile) bool { return f.Version <= consentVersion },
	}}
}

// consentFile is the file format. A fingerprint covers everything that determines
// what is started or contacted, so a changed command needs permission again.
type consentFile struct {
	Version  int                 `json:"version"`            // 0 in files of the time before it was written
	Allowed  map[string][]string `json:"allowed"`            // workspace → fingerprints or digests
	Declined map[string][]string `json:"declined,omitempty"` // workspace → fingerprints
}

const (
	consentVersion  = 2
	consentPatience = 2 * time.Second // for another process that changes the file
)

// fingerprint is the SHA-256 (hex) of a server as its file writes it, and of the programs
// of the workspace that it starts. A pull may change those. A variable whose value
// changes, such as a token, needs no new permission.
func fingerprint(workspace string, s config.Server) string {
	parts := []any{consentVersion, s.Name, s.SSE, s.AsWritten().Whole()}
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

// Answers are what the user has answered so far.
type Answers struct{ content consentFile }

// Allow reports whether the user has allowed a server in a workspace. Permissions of
// version 0 are kept while the values of variables are the same.
func (a Answers) Allow(workspace string, s config.Server) bool {
	allowed := a.content.Allowed[workspace]
	return slices.Contains(allowed, fingerprint(workspace, s)) || slices.Contains(allowed, digest(s)) && len(ownPrograms(workspace, s)) == 0
}

// Decline reports whether the user has said no to a server in a workspace.
func (a Answers) Decline(workspace string, s config.Server) bool {
	return slices.Contains(a.content.Declined[workspace], fingerprint(workspace, s))
}

// With returns the answers with another one about a server, which replaces earlier ones.
func (a Answers) With(workspace string, s config.Server, yes bool) Answers {
	is := func(hash string) bool { return hash == fingerprint(workspace, s) || hash == digest(s) }
	without := func(of map[string][]string) []string { return slices.DeleteFunc(slices.Clone(of[workspace]), is) }
	allowed, declined := without(a.content.Allowed), without(a.content.Declined)
	if yes {
		allowed = append(allowed, fingerprint(workspace, s))
	} else {
		declined = append(declined, fingerprint(workspace, s))
	}
	a.content.Allowed, a.content.Declined = with(a.content.Allowed, workspace, allowed), with(a.content.Declined, workspace, declined)
	return a
}

// Read returns the answers. It returns none together with an error if the file cannot be
// read.
func (c Consent) Read() (Answers, error) {
	if c.path == "" {
		return Answers{}, nil
	}
	content, err := c.file.Read()
	if err != nil {
		return Answers{content}, fmt.Errorf("read your answers about the project's servers (replan asks again): %w", err)
	}
	return Answers{content}, nil
}

// Remember stores the user's answer about each server in a workspace.
func (c Consent) Remember(workspace string, servers []config.Server, yes bool) error {
	if c.path == "" || len(servers) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("remembering the allowed servers: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), consentPatience)
	defer cancel()
	// Start over with a damaged file: that can only lose answers.
	_, err := c.file.Change(ctx, func(f *consentFile) {
		answers := Answers{*f}
		for _, s := range servers {
			answers = answers.With(workspace, s, yes)
		}
		*f = answers.content
		f.Version = consentVersion
	})
	return err
}

// offeredBefore takes the place of the workspace when offers are stored, since
// each is made only once.
const offeredBefore = "*"

// RememberDeclined stores that the user declined offers. No offer is made again,
// whatever the answer was.
func (c Consent) RememberDeclined(offers []config.Server) error {
	return c.Remember(offeredBefore, offers, true)
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
