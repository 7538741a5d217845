package handshake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
)

// Kind is the handshake of a server: the protocols before 2026-07-28 begin with
// initialize, the newer one with server/discover.
type Kind string

// The handshakes.
const (
	Usual Kind = ""      // server/discover, then initialize if the server refuses
	Older Kind = "older" // initialize alone: server/discover ends the server, or is never answered
	Newer Kind = "newer" // server/discover alone: the server starts slowly, but answers it
)

// Known remembers the servers with which the usual handshake fails, for later
// sessions too. It is safe for concurrent use.
type Known struct {
	file *wholefile.JSON[format] // nil remembers for this session only
	log  *slog.Logger

	mu    sync.Mutex
	read  bool
	known map[string]Kind // by what determines a server
}

// format is the file format.
type format struct {
	V    int             `json:"v"`
	Eras map[string]Kind `json:"eras"` // SHA-256 in hex of what determines a server
}

const (
	version  = 1
	patience = 2 * time.Second // for another process that writes the file
)

// Load returns what the file at this path remembers, which may not exist. With an
// empty path nothing outlives the process.
func Load(path string, log *slog.Logger) *Known {
	k := &Known{known: map[string]Kind{}, log: log}
	if path != "" {
		k.file = &wholefile.JSON[format]{
			Path: path, What: "the handshakes of MCP servers", Empty: format{V: version},
			Sound: func(f format) bool { return f.V == version },
		}
	}
	return k
}

// Of returns the handshake of a server.
func (k *Known) Of(s config.Server) Kind {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.read && k.file != nil {
		file, err := k.file.Read()
		if err != nil {
			k.log.Warn("the handshakes of MCP servers", "error", err)
		}
		maps.Copy(k.known, file.Eras)
	}
	k.read = true
	return k.known[identity(s)]
}

// Learn remembers the handshake of a server; [Usual] forgets it.
func (k *Known) Learn(s config.Server, now Kind) {
	key := identity(s)
	if k.Of(s) == now {
		return
	}
	set := func(known map[string]Kind) {
		if known[key] = now; now == Usual {
			delete(known, key)
		}
	}
	k.mu.Lock()
	set(k.known)
	k.mu.Unlock()
	if k.file == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	damage, err := k.file.Change(ctx, func(f *format) {
		if f.Eras == nil {
			f.Eras = map[string]Kind{}
		}
		set(f.Eras)
	})
	if damage != nil || err != nil {
		k.log.Warn("the handshakes of MCP servers", "damage", damage, "error", err)
	}
}

// identity identifies what a server runs. Its environment, which may hold rotating
// keys, does not change its protocol.
func identity(s config.Server) string {
	text, _ := json.Marshal([]any{s.Command, s.Args, s.Dir, s.URL}) // cannot fail: only strings
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
