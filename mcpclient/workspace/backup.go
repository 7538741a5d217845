package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

const manifest = "manifest.jsonl"

// backups is the folder that keeps what was there before changes. A nil one
// keeps nothing.
type backups struct{ root *os.Root }

// backupLine is one line of manifest.jsonl. Lines with the same change were
// made, and are to be undone, together.
type backupLine struct {
	Time       time.Time `json:"time"`
	Change     string    `json:"change"`
	Path       string    `json:"path,omitempty"`
	BeforeSHA  string    `json:"before_sha,omitempty"` // absent: the file did not exist
	AfterSHA   string    `json:"after_sha,omitempty"`  // absent: the file was removed
	Mode       string    `json:"mode,omitempty"`       // octal permissions before
	RolledBack bool      `json:"rolled_back,omitempty"`
}

func openBackups(dir string) (*backups, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for backups %s: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder for backups %s: %w", dir, err)
	}
	return &backups{root: root}, nil
}

func (b *backups) close() error {
	if b == nil {
		return nil
	}
	return b.root.Close()
}

// keep writes down what the changes are about to replace, before they do. It
// returns the name of the change.
func (b *backups) keep(changes []change) (string, error) {
	id := rand.Text()
	if b == nil {
		return id, nil
	}
	lines := make([]backupLine, len(changes))
	for i, c := range changes {
		lines[i] = backupLine{Time: time.Now().UTC(), Change: id, Path: c.path, BeforeSHA: c.before.hash(), AfterSHA: c.after.hash()}
		if !c.before.exists {
			continue
		}
		lines[i].Mode = fmt.Sprintf("%04o", c.before.mode)
		if _, err := b.root.Stat(lines[i].BeforeSHA); err == nil {
			continue // kept before: the name is the content
		}
		if err := writeAtomic(b.root, lines[i].BeforeSHA, file{data: c.before.data, mode: 0o600}); err != nil {
			return "", fmt.Errorf("keeping a copy of %s: %w", c.path, err)
		}
	}
	return id, b.note(lines...)
}

// rolledBack says that a change did not come about.
func (b *backups) rolledBack(id string) error {
	if b == nil {
		return nil
	}
	return b.note(backupLine{Time: time.Now().UTC(), Change: id, RolledBack: true})
}

func (b *backups) note(lines ...backupLine) error {
	var text []byte
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("writing down a change of %s: %w", l.Path, err)
		}
		text = append(append(text, line...), '\n')
	}
	f, err := b.root.OpenFile(manifest, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the list of backups: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the list of backups: %w", err)
	}
	return nil
}

// hash is the SHA-256 of the content in hex, empty where there is no file.
func (f file) hash() string {
	if !f.exists {
		return ""
	}
	sum := sha256.Sum256(f.data)
	return hex.EncodeToString(sum[:])
}

// writeAtomic puts a file in place so that a reader sees the old content or
// the new, and a crash leaves one of them. The mode is set as it is where the
// file existed, and is subject to the umask where it is new.
func writeAtomic(root *os.Root, at string, f file) (err error) {
	temp := path.Join(path.Dir(at), ".replan-"+rand.Text()+".tmp")
	w, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", at, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", at, err)
			_ = root.Remove(temp) // the failure itself is what counts
		}
	}()
	_, err = w.Write(f.data)
	if f.exists && err == nil {
		err = w.Chmod(f.mode)
	}
	if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
		return err
	}
	if err = root.Rename(temp, at); err != nil {
		return err
	}
	syncFolder(root, path.Dir(at))
	return nil
}

// makeFolders makes the missing folders of a path and returns them, the
// deepest first.
func makeFolders(root *os.Root, dir string) ([]string, error) {
	var made []string
	for at := dir; at != "."; at = path.Dir(at) {
		if _, err := root.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder %s: %w", dir, err)
	}
	return made, nil
}
