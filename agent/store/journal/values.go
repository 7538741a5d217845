package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"replan/agent/event"
	"replan/agent/store/values"
	"replan/internal/wholefile"
)

const valuesSuffix = ".values"

// valueFolder is the folder <run>.values with the values that were taken out of the
// lines of one journal, each in a file of its own.
type valueFolder struct {
	dir  string
	kept map[string]bool // names of files known to be intact; only a writer fills it
}

// valuesOf returns the folder with the values of the journal at path.
func valuesOf(path string) valueFolder {
	return valueFolder{dir: strings.TrimSuffix(path, journalSuffix) + valuesSuffix, kept: map[string]bool{}}
}

// folder returns the path of the folder.
func (v valueFolder) folder() string { return v.dir }

// save writes the values and returns once they are on disk.
func (v *valueFolder) save(taken []values.Value) error {
	if len(taken) == 0 {
		return nil
	}
	if err := v.makeDir(); err != nil {
		return err
	}
	fresh := false
	for _, t := range taken {
		name := t.SHA256 + values.Suffix
		if v.kept[name] {
			continue
		}
		if err := v.put(name, t.JSON); err != nil {
			return err
		}
		v.kept[name] = true
		fresh = true
	}
	if !fresh {
		return nil
	}
	return syncDir(v.dir)
}

// makeDir makes the folder, and its name durable.
func (v valueFolder) makeDir() error {
	err := os.Mkdir(v.dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the folder of large values: %w", err)
	}
	return syncDir(filepath.Dir(v.dir))
}

// attach writes a file of the folder, and returns its whole path once it is on disk.
func (v valueFolder) attach(name string, content io.WriterTo) (path string, err error) {
	if path, err = filepath.Abs(filepath.Join(v.dir, name)); err != nil {
		return "", err
	}
	if err := v.makeDir(); err != nil {
		return "", err
	}
	if err := v.put(name, content); err != nil {
		return "", err
	}
	return path, syncDir(v.dir)
}

// put writes a file of the folder, unless it is there. Its name begins with the hash of
// its content.
func (v valueFolder) put(name string, content io.WriterTo) error {
	path := filepath.Join(v.dir, name)
	// The file may be a leftover of a crash or an earlier run of the program.
	if there, err := hashOfFile(path); err == nil && strings.HasPrefix(name, there) {
		return nil
	}
	if err := wholefile.WriteFrom(path, content); err != nil {
		return fmt.Errorf("keep a large value: %w", err)
	}
	return nil
}

// fetch reads the value with a hash. It opens no pipe, which it could wait for, and reads
// no file of another size, which could be endless.
func (v valueFolder) fetch(sum string, size int) (value []byte, name string, err error) {
	path := filepath.Join(v.dir, sum+values.Suffix)
	name = "the file " + path
	file, err := os.Stat(path)
	if err == nil && (!file.Mode().IsRegular() || file.Size() != int64(size)) {
		return nil, name, nil // which is not the value
	}
	if err == nil {
		value, err = os.ReadFile(path) //nolint:gosec // the name is a hash
	}
	if err != nil {
		return nil, "", fmt.Errorf("its value cannot be read: %w", err)
	}
	return value, name, nil
}

// hashOfFile returns the SHA-256 of a file in hexadecimal digits.
func hashOfFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the name is a hash
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}

// seal adds the lines of events to those of a journal, and keeps their large values.
func (v valueFolder) seal(lines []byte, events []event.Event, codes *authentic) ([]byte, error) {
	var taken []values.Value
	for _, e := range events {
		text, large, err := values.Extract(e)
		if err != nil {
			return nil, fmt.Errorf("the journal: %w", err)
		}
		taken = append(taken, large...)
		lines = seal(lines, codes.sign(text))
	}
	if err := v.save(taken); err != nil {
		return nil, fmt.Errorf("the journal: %w", err)
	}
	return lines, nil
}
