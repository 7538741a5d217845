package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyFile is the file with the key of a folder of journals. Only the user can read
// it.
const keyFile = ".key"

// keySize is the length of a key in bytes, and codeSize that of a code.
const (
	keySize  = sha256.Size
	codeSize = 16
)

// The end of a line before its checksum: ,"mac":"0123…"}
const (
	macOpen  = `,"mac":"`
	macClose = `"}`
	macField = len(macOpen) + 2*codeSize + len(macClose)
)

// code authenticates a line and, through the code before it, all earlier lines. It
// is HMAC-SHA256 (RFC 2104) of the earlier code and the SHA-256 of the line,
// shortened to 16 bytes. The zero code is before the first line.
type code [codeSize]byte

// authentic writes and verifies the codes of a journal.
type authentic struct {
	key  []byte // nil verifies none
	last code   // of the last line
}

// authenticate returns the codes of the journals in a folder. It makes the folder's key if
// there is none.
func authenticate(dir string) (authentic, error) {
	path := filepath.Join(dir, keyFile)
	for {
		key, err := os.ReadFile(path) //nolint:gosec // in the folder of journals
		switch {
		case err == nil && len(key) == keySize:
			return authentic{key: key}, nil
		case err == nil:
			return authentic{}, fmt.Errorf("read the key of the journals: %s has %d bytes instead of %d; delete it, and older runs can be read but not resumed", path, len(key), keySize)
		case !errors.Is(err, fs.ErrNotExist):
			return authentic{}, fmt.Errorf("read the key of the journals: %w", err)
		}
		if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return authentic{}, fmt.Errorf("make the key of the journals: %w", err)
		}
	}
}

// makeKey makes a key whole or not at all. If another process makes one at the
// same time, one of them gets fs.ErrExist.
func makeKey(path string) error {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), keyFile+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a file that stays does no harm
	_, err = file.Write(key)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	err = os.Link(file.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		err = os.Rename(file.Name(), path)
	}
	return err
}

// verify reports whether the codes of lines are verified.
func (a authentic) verify() bool { return a.key != nil }

// follow has the next line follow the one with this code.
func (a *authentic) follow(last code) { a.last = last }

// of returns the code of a line after another.
func (a authentic) of(line []byte, before code) (c code) {
	return a.ofSum(sha256.Sum256(line), before)
}

// ofSum is of for a line with this SHA-256.
func (a authentic) ofSum(sum [sha256.Size]byte, before code) (c code) {
	mac := hmac.New(sha256.New, a.key)
	mac.Write(before[:])
	mac.Write(sum[:])
	copy(c[:], mac.Sum(nil))
	return c
}

// sign appends a line with its code as the last field.
func (a *authentic) sign(line []byte) []byte {
	a.last = a.of(line, a.last)
	signed := make([]byte, 0, len(line)+macField)
	signed = append(append(signed, line[:len(line)-1]...), macOpen...)
	return append(hex.AppendEncode(signed, a.last[:]), macClose...)
}

// unsign returns a line as it was before sign, and its code. A line without a
// code is returned as it is.
func unsign(line []byte) (unsigned []byte, c code, signed bool) {
	cut := len(line) - macField
	if cut < 0 || string(line[cut:cut+len(macOpen)]) != macOpen || !bytes.HasSuffix(line, []byte(macClose)) {
		return line, c, false
	}
	if _, err := hex.Decode(c[:], line[cut+len(macOpen):len(line)-len(macClose)]); err != nil {
		return line, c, false
	}
	line[cut] = '}' // which the comma of the field replaced
	return line[:cut+1], c, true
}

// errUnsigned and errForged say why a journal cannot be continued.
var (
	errUnsigned = errors.New("it has no authentication code: an older replan or another program wrote it")
	errForged   = errors.New("its authentication code does not fit: this line or one before it was changed, moved or removed, or the journal comes from another machine")
)
