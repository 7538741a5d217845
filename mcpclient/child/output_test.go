package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCaptureKeepsBothEndsAndSpillsToFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 60).Draw(t, "bytes in memory")
		chunks := rapid.SliceOfN(rapid.StringMatching(`[a-z\n]{0,50}`), 0, 8).Draw(t, "chunks")
		whole := strings.Join(chunks, "")
		var lines []string
		c := &capture{max: size, dir: dir, line: func(l string) { lines = append(lines, l) }}
		for _, chunk := range chunks {
			if n, err := c.Write([]byte(chunk)); n != len(chunk) || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, len(chunk), err)
			}
		}
		text, spilled, err := c.close()
		if err != nil {
			t.Fatalf("%v", err)
		}
		if got := strings.Join(lines, "\n"); got != strings.TrimSuffix(whole, "\n") {
			t.Fatalf("got lines %q of %q", lines, whole)
		}
		if len(whole) <= size {
			if text != whole || spilled != "" {
				t.Fatalf("got %q and file %q of %q", text, spilled, whole)
			}
			return
		}
		half := size / 2
		if !strings.HasPrefix(text, whole[:half]+"\n[cut: ") || !strings.HasSuffix(text, "]\n"+whole[len(whole)-half:]) {
			t.Fatalf("got %q, want both ends of %q", text, whole)
		}
		data, err := os.ReadFile(spilled)
		if err != nil || string(data) != whole {
			t.Fatalf("got file content %q of %q: %v", data, whole, err)
		}
		if err := os.Remove(spilled); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

func TestChunksAreWholeLinesUntilTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent strings.Builder
		ended := false
		var last int64
		s := &stream{send: func(chunk string, total int64) {
			if chunk == "" || !ended && !strings.HasSuffix(chunk, "\n") || total < last {
				t.Fatalf("sent %q after %d bytes", chunk, total)
			}
			last = total
			sent.WriteString(chunk)
		}}
		var whole strings.Builder
		for _, chunk := range rapid.SliceOfN(rapid.StringMatching(`[aé\n]{0,20}`), 0, 20).Draw(t, "chunks") {
			whole.WriteString(chunk)
			s.add([]byte(chunk))
			if rapid.Bool().Draw(t, "flush") {
				s.flush(false)
			}
		}
		ended = true
		s.flush(true)
		if sent.String() != whole.String() {
			t.Fatalf("sent %q of %q", sent.String(), whole.String())
		}
	})
}

func TestFloodedStreamSendsNewestOutput(t *testing.T) {
	var got string
	s := &stream{send: func(chunk string, _ int64) { got = chunk }}
	s.add([]byte(strings.Repeat("a", maxChunk)))
	s.add([]byte("the end\n"))
	s.flush(false)
	if len(got) != maxChunk || !strings.HasSuffix(got, "the end\n") {
		t.Errorf("sent %d bytes", len(got))
	}
}

func TestOldestSpillsGoWhenThereAreTooMany(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"output-1.txt", "output-2.txt", "output-3.txt", "mine.txt"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 10), 0o600); err != nil {
			t.Fatal(err)
		}
		if at := time.Unix(int64(i), 0); os.Chtimes(path, at, at) != nil {
			t.Fatal("the time of a file cannot be set")
		}
	}
	if err := ForgetSpills(dir, time.Time{}, 25); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 || filepath.Base(left[1]) != "output-2.txt" {
		t.Errorf("got %q, %v", left, err)
	}
}
