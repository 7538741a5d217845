package tree

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"

	"replan/internal/lazyregexp"
)

// FolderHash stands for a folder where a file has its SHA-256.
const FolderHash = "folder"

// Hash returns the SHA-256 of the content in hex. It is empty if there is no file,
// and FolderHash for a folder.
func (f File) Hash() string {
	switch {
	case !f.Exists:
		return ""
	case f.Dir:
		return FolderHash
	}
	sum := sha256.Sum256(f.Data)
	return hex.EncodeToString(sum[:])
}

// TempName matches the temporary files of [WriteAtomic].
var TempName = lazyregexp.New(`^\.replan-[A-Z2-7]{26}\.tmp$`)

// WriteAtomic replaces a file so that readers, and a crash, see either the old
// content or the new. It sets the mode exactly if f.Exists; otherwise the umask
// applies.
func WriteAtomic(root *os.Root, at string, f File) (err error) {
	temp := path.Join(path.Dir(at), ".replan-"+rand.Text()+".tmp") // see tempName
	w, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.Mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", at, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", at, err)
			_ = root.Remove(temp) // the failure itself counts
		}
	}()
	_, err = w.Write(f.Data)
	if f.Exists && err == nil {
		err = w.Chmod(f.Mode)
	}
	if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
		return err
	}
	if err = root.Rename(temp, at); err != nil {
		return err
	}
	SyncFolder(root, path.Dir(at))
	return nil
}

// SyncFolder makes the names in a folder durable if the system can do so.
func SyncFolder(root *os.Root, at string) {
	d, err := root.Open(at)
	if err != nil {
		return
	}
	_ = d.Sync() // some file systems cannot sync a folder; the rename is done anyway
	_ = d.Close()
}
