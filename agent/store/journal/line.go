package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"replan/agent"
)

// How a line ends: ,"crc":"01234567"}
const (
	crcOpen  = `,"crc":"`
	crcClose = `"}`
	crcField = len(crcOpen) + 2*crc32.Size + len(crcClose)
)

// eventOpen is how the line of an event begins. Two of them in a line are two
// events whose line break is damaged.
const eventOpen = `{"v":1,"seq":`

// seal appends one event's line to lines, with a last field that is the
// checksum of the line as it would be without that field.
func seal(lines, line []byte) []byte {
	sum := checksum(line)
	lines = append(lines, line[:len(line)-1]...)
	lines = append(lines, crcOpen...)
	lines = append(lines, sum[:]...)
	return append(lines, crcClose+"\n"...)
}

// checksum is the CRC-32C of a line in hexadecimal digits.
func checksum(line []byte) (digits [2 * crc32.Size]byte) {
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(line, castagnoli))
	hex.Encode(digits[:], sum[:])
	return digits
}

// unseal checks one line, without its line break, and returns it as it was
// before it was sealed. It writes into the line.
func unseal(line []byte) ([]byte, error) {
	cut := len(line) - crcField
	if cut < 0 || string(line[cut:cut+len(crcOpen)]) != crcOpen || !bytes.HasSuffix(line, []byte(crcClose)) {
		return nil, errors.New("it has no checksum")
	}
	written := line[cut+len(crcOpen) : len(line)-len(crcClose)]
	line[cut] = '}' // which the field's comma took the place of
	if sum := checksum(line[:cut+1]); !bytes.Equal(sum[:], written) {
		return nil, fmt.Errorf("its checksum is %s where %s was written", sum[:], written)
	}
	return line[:cut+1], nil
}

// envelope is a line as this package writes it, taken apart: everything but
// the data of the event, and where the data begins.
type envelope struct {
	seq  uint64
	time time.Time
	run  string
	kind agent.Kind
	refs []string // JSON Pointers into the data: what lies in files of its own
	data int      // offset in the line; the data ends before the line's last byte
}

// openEnvelope takes apart a line whose fields stand in the order in which
// events are written. It is not ok for any other, which may be a good line all
// the same: encoding/json has to judge it.
func openEnvelope(line string) (e envelope, ok bool) {
	c := cursor{text: line}
	if !c.literal(eventOpen) {
		return e, false
	}
	digits, ok := c.number()
	if !ok {
		return e, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return e, false
	}
	e.seq = seq
	if !c.literal(`,"time":`) {
		return e, false
	}
	at, _, ok := c.token()
	if !ok || e.time.UnmarshalJSON([]byte(at)) != nil {
		return e, false
	}
	if !c.literal(`,"run":`) {
		return e, false
	}
	if e.run, ok = c.str(); !ok || !c.literal(`,"kind":`) {
		return e, false
	}
	kind, ok := c.str()
	if !ok {
		return e, false
	}
	e.kind = agent.Kind(kind)
	if c.literal(refsField) {
		if e.refs, ok = c.strings(); !ok || len(e.refs) == 0 {
			return e, false
		}
	}
	if !c.literal(dataField) || len(line) < c.at+2 || line[len(line)-1] != '}' {
		return e, false
	}
	e.data = c.at
	return e, true
}

// decode returns the event of a line that was unsealed.
func (r *reader) decode(line string) (agent.Event, error) {
	env, ok := openEnvelope(line)
	if !ok {
		return decodeAny(line)
	}
	data := line[env.data : len(line)-1]
	if len(env.refs) > 0 {
		whole, err := r.values.putBack(data, env.refs)
		if err != nil {
			return agent.Event{}, err
		}
		line = line[:env.data] + whole + "}"
		data = whole
	}
	if d, ok := quickData(env.kind, data); ok {
		return agent.Event{Seq: env.seq, Time: env.time, Run: env.run, Data: d}, nil
	}
	return decodeAny(line)
}

// decodeAny reads a line of any form, and says what is wrong with it.
func decodeAny(line string) (agent.Event, error) {
	var e agent.Event
	err := e.UnmarshalJSON([]byte(line))
	return e, err
}
