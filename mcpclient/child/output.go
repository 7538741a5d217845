package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	spillName = "output-*.txt" // of spill files
	maxSpill  = 64 << 20       // bytes of output kept in a spill file
	// SpillKept is how long a spill file is kept.
	SpillKept = 7 * 24 * time.Hour // since the last write to it
	// SpillsKept is how many bytes the spill files may have together.
	SpillsKept = 1 << 30
)

// ForgetSpills removes the spill files in dir that were last written before the given
// time. It also removes the oldest of those that have more than most bytes together. It
// does nothing if dir is empty.
func ForgetSpills(dir string, before time.Time, most int64) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	isGone := func(wrong error) bool { return errors.Is(wrong, fs.ErrNotExist) } // another instance may be starting too
	var files []fs.FileInfo
	for _, e := range entries {
		if ours, _ := filepath.Match(spillName, e.Name()); !ours || !e.Type().IsRegular() {
			continue
		}
		info, wrong := e.Info()
		switch {
		case wrong == nil:
			files = append(files, info)
		case !isGone(wrong):
			err = errors.Join(err, wrong)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range files {
		if most -= info.Size(); most >= 0 && !info.ModTime().Before(before) {
			continue
		}
		if wrong := os.Remove(filepath.Join(dir, info.Name())); wrong != nil && !isGone(wrong) {
			err = errors.Join(err, wrong)
		}
	}
	return err
}

const maxLine = 64 << 10 // maximum bytes of a line passed to a line reader

// capture keeps the beginning and the end of the output in memory. If the
// output is larger, capture writes all of it to a file. It passes each line to
// a reader.
type capture struct {
	max   int    // bytes in memory
	dir   string // for the spill file; "" for none
	line  func(string)
	head  []byte
	tail  []byte // the newest bytes beyond head
	total int64
	spill *os.File
	part  []byte // of an unfinished line
	err   error  // the first error writing the spill file
}

// Write never fails, because lost output must not stop the command.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	c.lines(p)
	half := c.max / 2
	if room := half - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		c.toSpill(p[:k])
		p = p[k:]
	}
	c.toSpillBeyond(p)
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*half {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-half:]...)
	}
	return n, nil
}

// toSpillBeyond opens the spill file once memory is full.
func (c *capture) toSpillBeyond(p []byte) {
	if c.spill == nil && c.err == nil && c.dir != "" && len(p) > 0 && c.total > int64(c.max) {
		if c.err = os.MkdirAll(c.dir, 0o700); c.err == nil {
			c.err = ForgetSpills(c.dir, time.Time{}, SpillsKept-maxSpill)
		}
		if c.err == nil {
			c.spill, c.err = os.CreateTemp(c.dir, spillName)
		}
		c.toSpill(c.head)
		c.toSpill(c.tail)
	}
	c.toSpill(p)
}

func (c *capture) toSpill(p []byte) {
	if c.spill == nil || c.err != nil || c.total > maxSpill {
		return
	}
	_, c.err = c.spill.Write(p)
}

// lines passes on the complete lines.
func (c *capture) lines(p []byte) {
	if c.line == nil {
		return
	}
	for _, b := range p {
		if b == '\n' {
			c.line(strings.TrimSuffix(string(c.part), "\r"))
			c.part = c.part[:0]
		} else if len(c.part) < maxLine {
			c.part = append(c.part, b)
		}
	}
}

// close ends the output. It returns the text and the name of the spill file,
// if any.
func (c *capture) close() (text, spilled string, err error) {
	if c.line != nil && len(c.part) > 0 {
		c.line(string(c.part))
	}
	if c.spill != nil {
		spilled = c.spill.Name()
		c.err = errors.Join(c.err, c.spill.Close())
	}
	text = string(c.head) + string(c.tail)
	if c.total > int64(c.max) {
		head, tail := uncut(c.head), uncut(c.tail[max(0, len(c.tail)-c.max/2):])
		where := ""
		switch {
		case spilled != "" && c.total > maxSpill:
			where = "; the beginning of it is in " + spilled
		case spilled != "":
			where = "; all of it is in " + spilled
		}
		text = fmt.Sprintf("%s\n[cut: %d bytes left out%s]\n%s", head, c.total-int64(len(head)+len(tail)), where, tail)
	}
	return strings.ToValidUTF8(text, "\uFFFD"), spilled, c.err
}

// uncut returns a piece of a text without the parts of characters at its ends.
func uncut(piece []byte) []byte {
	for len(piece) > 0 && !utf8.RuneStart(piece[0]) {
		piece = piece[1:]
	}
	for n := 1; n <= min(len(piece), utf8.UTFMax); n++ {
		if last := piece[len(piece)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return piece[:len(piece)-n]
			}
			break
		}
	}
	return piece
}
