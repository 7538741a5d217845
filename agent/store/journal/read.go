package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"replan/agent/event"
	"replan/agent/store/values"
)

// maxLine is the maximum length of a readable line, in bytes.
const maxLine = 64 << 20

// blockSize is the number of bytes of a file that are read at a time and decoded
// by one worker.
const blockSize = 256 << 10

// reader reads a journal in blocks of whole lines, in file order, and decodes
// them in parallel.
type reader struct {
	path   string
	values valueFolder
	known  values.Known
	codes  authentic
}

// contents is the contents of a journal.
type contents struct {
	events []event.Event
	whole  int64 // bytes up to the end of the last complete line
	torn   bool  // followed by an interrupted write
	broken bool  // followed by a complete but damaged line
	last   code  // of the last event's line
}

// damaged returns the event that takes the place of the damaged line.
func (c contents) damaged() event.Event {
	last := c.events[len(c.events)-1]
	return event.Event{Seq: last.Seq + 1, Time: last.Time, Run: last.Run, Data: event.JournalDamaged{Line: len(c.events) + 1}}
}

// miss compares the lines with the number of those that were on disk. A single line that
// is missing or torn was the last one, and counts as damaged: what it recorded can be
// asked about. What several lines recorded is unknown.
func (c contents) miss(path string, lines int) (contents, error) {
	switch missing := lines - len(c.events); {
	case missing > 1:
		return c, &DamageError{path, len(c.events) + 1, fmt.Sprintf(
			"%d lines are missing from here on; to resume without them, and perhaps repeat what they record, delete %s", missing, path+lockSuffix)}
	case missing == 1 && len(c.events) > 0:
		c.broken, c.torn = true, false
	}
	return c, nil
}

// block is a number of complete lines of a journal.
type block struct {
	text   []byte        // released after decoding
	events []event.Event // one per line, up to the first bad line
	good   int           // length in bytes of their lines
	bad    error         // error of the next line, nil if none
	broken bool          // that line ends the block, holds one event and fails its checksum

	// Without the code before the block, that of its first line is verified last.
	first     [sha256.Size]byte // of the first line
	firstCode code
	last      code
}

// read reads a journal to its end.
func (r *reader) read(from io.Reader) (contents, error) {
	var blocks []*block
	jobs := make(chan *block)
	var workers sync.WaitGroup
	tail, err := split(from, func(b *block) {
		blocks = append(blocks, b)
		switch len(blocks) {
		case 1: // most journals are one block and need no other worker
			return
		case 2:
			for range runtime.GOMAXPROCS(0) {
				workers.Go(func() {
					for b := range jobs {
						r.open(b)
					}
				})
			}
			jobs <- blocks[0]
		}
		jobs <- b
	})
	close(jobs)
	if len(blocks) == 1 {
		r.open(blocks[0])
	}
	workers.Wait()
	found, readErr := r.join(blocks, tail)
	switch {
	case readErr != nil:
		return found, readErr
	case errors.Is(err, errLongLine):
		return found, &DamageError{r.path, len(found.events) + 1, err.Error()}
	case err != nil:
		return found, fmt.Errorf("read the journal %s: %w", r.path, err)
	}
	return found, nil
}

var errLongLine = errors.New("it is longer than any line replan writes")

// split reads a file in blocks of complete lines. The tail is the text after the
// last line break.
func split(from io.Reader, emit func(*block)) (tail []byte, err error) {
	buf := make([]byte, 0, blockSize)
	for {
		if len(buf) == cap(buf) {
			if len(buf) > maxLine {
				return buf, errLongLine
			}
			grown := make([]byte, len(buf), 2*len(buf))
			copy(grown, buf)
			buf = grown
		}
		n, readErr := io.ReadFull(from, buf[len(buf):cap(buf)])
		fresh := len(buf)
		buf = buf[:len(buf)+n]
		if end := bytes.LastIndexByte(buf[fresh:], '\n'); end >= 0 {
			end += fresh + 1
			rest := make([]byte, len(buf)-end, max(blockSize, 2*(len(buf)-end)))
			copy(rest, buf[end:])
			emit(&block{text: buf[:end]})
			buf = rest
		}
		if errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) {
			return buf, nil
		}
		if readErr != nil {
			return buf, readErr
		}
	}
}

// open decodes the lines of a block up to the first bad one.
func (r *reader) open(b *block) {
	text := b.text
	b.text = nil
	b.events = make([]event.Event, 0, bytes.Count(text, []byte{'\n'}))
	for b.good < len(text) {
		end := b.good + bytes.IndexByte(text[b.good:], '\n')
		line, err := unseal(text[b.good:end])
		if err != nil {
			b.bad, b.broken = err, end+1 == len(text) && bytes.Count(text[b.good:end], []byte(eventOpen)) <= 1
			return
		}
		line, c, signed := unsign(line)
		var sum [sha256.Size]byte
		if r.codes.verify() {
			sum = sha256.Sum256(line)
		}
		event, err := r.decode(line)
		switch {
		case err != nil:
		case !r.codes.verify():
		case !signed:
			err = errUnsigned
		case b.good == 0:
			b.first, b.firstCode = sum, c
		case r.codes.ofSum(sum, b.last) != c:
			err = errForged
		}
		if err != nil {
			b.bad = err
			return
		}
		b.last = c
		b.events = append(b.events, event)
		b.good = end + 1
	}
}

// join concatenates the blocks up to the first bad line. A line with its line
// break was written completely: if the last one is damaged, it is broken, and
// Open replaces it. An end without a line break is torn. If it lacks nothing but
// the line break, it is broken too; if there is no line before it, the journal is
// empty.
func (r *reader) join(blocks []*block, tail []byte) (contents, error) {
	var found contents
	total := 0
	for _, b := range blocks {
		total += len(b.events)
	}
	found.events = make([]event.Event, 0, total)
	for i, b := range blocks {
		if r.codes.verify() && len(b.events) > 0 && r.codes.ofSum(b.first, found.last) != b.firstCode {
			return found, &DamageError{r.path, len(found.events) + 1, errForged.Error()}
		}
		found.events = append(found.events, b.events...)
		found.whole += int64(b.good)
		if len(b.events) > 0 {
			found.last = b.last
		}
		if b.bad == nil {
			continue
		}
		if b.broken && len(tail) == 0 && i == len(blocks)-1 {
			found.broken = true
			return found, nil
		}
		return found, &DamageError{r.path, len(found.events) + 1, b.bad.Error()}
	}
	if len(tail) > 0 {
		_, err := unseal(tail[:len(tail)-1]) // with a wrong byte in place of the line break
		found.broken = err == nil
		found.torn = !found.broken
	}
	return found, nil
}
