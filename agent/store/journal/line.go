package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"replan/agent/event"
)

// The end of a line: ,"crc":"01234567"}
const (
	crcOpen  = `,"crc":"`
	crcClose = `"}`
	crcField = len(crcOpen) + 2*crc32.Size + len(crcClose)
)

// eventOpen is the start of an event's line. If it occurs twice in a line, the
// line break between two events is damaged.
const eventOpen = `{"v":1,"seq":`

// seal appends an event's line to lines, with the checksum as its last field.
func seal(lines, line []byte) []byte {
	sum := checksum(line)
	lines = append(lines, line[:len(line)-1]...)
	lines = append(lines, crcOpen...)
	lines = append(lines, sum[:]...)
	return append(lines, crcClose+"\n"...)
}

// checksum returns the CRC-32C of a line in hexadecimal digits.
func checksum(line []byte) (digits [2 * crc32.Size]byte) {
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(line, castagnoli))
	hex.Encode(digits[:], sum[:])
	return digits
}

// unseal verifies a line, given without its line break, and returns it as it was
// before seal. It modifies line.
func unseal(line []byte) ([]byte, error) {
	cut := len(line) - crcField
	if cut < 0 || string(line[cut:cut+len(crcOpen)]) != crcOpen || !bytes.HasSuffix(line, []byte(crcClose)) {
		return nil, errors.New("it has no checksum")
	}
	written := line[cut+len(crcOpen) : len(line)-len(crcClose)]
	line[cut] = '}' // which the comma of the checksum field replaced
	if sum := checksum(line[:cut+1]); !bytes.Equal(sum[:], written) {
		return nil, fmt.Errorf("its checksum is %s where %s was written", sum[:], written)
	}
	return line[:cut+1], nil
}

// decode returns the event of an unsealed line.
func (r *reader) decode(line []byte) (event.Event, error) {
	whole, err := r.known.PutBack(line, r.values.fetch)
	if err != nil {
		return event.Event{}, err
	}
	return whole.Event()
}
