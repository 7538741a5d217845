package pin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"replan/internal/wholefile"
)

// Instructions is the key of a server's instructions among its texts. No tool has
// it as its name.
const Instructions = ""

// Server identifies a server. Its pins hold wherever it is used with the same
// identity.
type Server struct {
	Name     string
	Identity string // of what is started or reached, in hexadecimal digits
}

// Folder keeps the pins of a user, a file for each server. It is safe for
// concurrent use, also by several processes.
type Folder struct {
	dir string

	mu    sync.Mutex
	files map[Server]*wholefile.JSON[file]
	held  map[Server]map[string]string // the pins if there is no folder
}

// file is the file format.
type file struct {
	Version int               `json:"version"`
	Server  string            `json:"server"` // its name, for people
	Texts   map[string]string `json:"texts"`  // by tool, and the instructions
}

const (
	version  = 1
	patience = 2 * time.Second // for another process that changes the file
)

// Open returns the pins in a folder, which need not exist. With an empty path they
// are kept in memory.
func Open(dir string) *Folder {
	return &Folder{dir: dir, files: map[Server]*wholefile.JSON[file]{}, held: map[Server]map[string]string{}}
}

// Sum returns the hash of a text, SHA-256 in hexadecimal digits.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Difference is what a server's texts differ from its pins.
type Difference struct {
	Changed map[string]string // pinned text of each key whose text is another now
	New     []string          // keys pinned now, sorted, of a server that was known before
}

// Check compares the texts of a server, by tool, with its pins, and pins those
// without one. A text that is missing now keeps its pin. If the pins cannot be read
// or stored, Check returns the error together with what it knows.
func (f *Folder) Check(ctx context.Context, s Server, now map[string]string) (Difference, error) {
	pinned, err := f.read(s)
	d := Difference{Changed: map[string]string{}}
	fresh := map[string]string{}
	for key, text := range now {
		switch was, known := pinned[key]; {
		case !known:
			fresh[key] = text
		case was != text:
			d.Changed[key] = was
		}
	}
	if len(fresh) == 0 {
		return d, err
	}
	if len(pinned) > 0 {
		d.New = slices.Sorted(maps.Keys(fresh))
	}
	stored := f.change(ctx, s, func(texts map[string]string) {
		for key, text := range fresh {
			// Another process may have pinned it meanwhile; the first text counts.
			if was, known := texts[key]; !known {
				texts[key] = text
			} else if was != text {
				d.Changed[key] = was
			}
		}
	})
	if err == nil {
		err = stored
	}
	return d, err
}

// Accept pins texts of a server in place of the earlier ones.
func (f *Folder) Accept(ctx context.Context, s Server, texts map[string]string) error {
	return f.change(ctx, s, func(all map[string]string) { maps.Copy(all, texts) })
}

// read returns the pins of a server.
func (f *Folder) read(s Server) (map[string]string, error) {
	kept := f.of(s)
	if kept == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		return maps.Clone(f.held[s]), nil
	}
	content, err := kept.Read()
	return content.Texts, err
}

// change changes the pins of a server.
func (f *Folder) change(ctx context.Context, s Server, do func(texts map[string]string)) error {
	kept := f.of(s)
	if kept == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.held[s] == nil {
			f.held[s] = map[string]string{}
		}
		do(f.held[s])
		return nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keep what the tools of %s are: %w", s.Name, err)
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	damage, err := kept.Change(within, func(content *file) {
		texts := map[string]string{}
		maps.Copy(texts, content.Texts)
		do(texts)
		*content = file{Version: version, Server: s.Name, Texts: texts}
	})
	if err == nil {
		err = damage
	}
	return err
}

// of returns the file of a server, nil if there is no folder.
func (f *Folder) of(s Server) *wholefile.JSON[file] {
	if f.dir == "" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files[s] == nil {
		name := s.Name + "-" + s.Identity[:min(len(s.Identity), 16)] + ".json"
		f.files[s] = &wholefile.JSON[file]{
			Path: filepath.Join(f.dir, name), What: "the pinned tools of an MCP server", Empty: file{Version: version},
			Sound: func(c file) bool { return c.Version == version },
		}
	}
	return f.files[s]
}
