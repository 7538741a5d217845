package child

import (
	"strings"
	"testing"
)

func TestCutOutputKeepsCharactersWhole(t *testing.T) {
	for size := 2; size < 40; size++ {
		c := &capture{max: size}
		_, _ = c.Write([]byte(strings.Repeat("é日🙂", 20)))
		if text, _, err := c.close(); err != nil || strings.Contains(text, "\uFFFD") {
			t.Errorf("of %d bytes: got %q, %v", size, text, err)
		}
	}
}

func TestFloodedStreamKeepsCharactersWhole(t *testing.T) {
	for more := range 4 {
		var got string
		s := &stream{send: func(chunk string, _ int64) { got = chunk }}
		s.add([]byte(strings.Repeat("日", maxChunk/3) + strings.Repeat("x", more)))
		s.add([]byte("\n"))
		s.flush(false)
		if strings.Contains(got, "\uFFFD") || !strings.HasPrefix(got, "日") {
			t.Errorf("with %d more bytes: got %q…", more, got[:12])
		}
	}
}

func TestBytesThatAreNoTextStayMarked(t *testing.T) {
	c := &capture{max: 100}
	_, _ = c.Write([]byte("caf\xe9 au lait"))
	if text, _, err := c.close(); err != nil || text != "caf\uFFFD au lait" {
		t.Errorf("got %q, %v", text, err)
	}
}
