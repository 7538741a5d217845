package mcpclient

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"replan/internal/wholefile"
	"replan/mcpclient/config"
)

// era says how to greet a server: the protocols before 2026-07-28 begin with
// initialize, the newer one with server/discover.
type era string

const (
	eraUnknown era = ""
	eraOlder   era = "older" // server/discover ends the server, or is never answered
	eraNewer   era = "newer" // it starts slowly, but does answer server/discover
)

// eras remembers the servers with which the usual handshake fails, for later
// sessions too. It is safe for concurrent use.
type eras struct {
	file *wholefile.JSON[eraFile] // nil remembers for this session only
	log  *slog.Logger

	mu    sync.Mutex
	read  bool
	known map[string]era // by what determines a server
}

// eraFile is the file format.
type eraFile struct {
	V    int            `json:"v"`
	Eras map[string]era `json:"eras"` // SHA-256 in hex of what determines a server
}

const (
	eraVersion  = 1
	eraPatience = 2 * time.Second // for another process that writes the file
)

func newEras(path string, log *slog.Logger) *eras {
	e := &eras{known: map[string]era{}, log: log}
	if path != "" {
		e.file = &wholefile.JSON[eraFile]{
			Path: path, What: "how to greet MCP servers", Empty: eraFile{V: eraVersion},
			Sound: func(f eraFile) bool { return f.V == eraVersion },
		}
	}
	return e
}

// of returns how to greet a server.
func (e *eras) of(s config.Server) era {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.read && e.file != nil {
		file, err := e.file.Read()
		if err != nil {
			e.log.Warn("how to greet MCP servers", "error", err)
		}
		maps.Copy(e.known, file.Eras)
	}
	e.read = true
	return e.known[identity(s)]
}

// learn remembers how to greet a server; eraUnknown forgets it.
func (e *eras) learn(s config.Server, now era) {
	key := identity(s)
	if e.of(s) == now {
		return
	}
	set := func(known map[string]era) {
		if known[key] = now; now == eraUnknown {
			delete(known, key)
		}
	}
	e.mu.Lock()
	set(e.known)
	e.mu.Unlock()
	if e.file == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), eraPatience)
	defer cancel()
	damage, err := e.file.Change(ctx, func(f *eraFile) {
		if f.Eras == nil {
			f.Eras = map[string]era{}
		}
		set(f.Eras)
	})
	if damage != nil || err != nil {
		e.log.Warn("how to greet MCP servers", "damage", damage, "error", err)
	}
}

// identity identifies what a server runs. Its environment, which may hold rotating
// keys, does not change its protocol.
func identity(s config.Server) string {
	return hashOf([]any{s.Command, s.Args, s.Dir, s.URL})
}
