package connection

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnlyMessagesAreReadAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	const call, reply, failed = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{"id":"5"}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-1}}`
	long := strings.Repeat("x", 3*maxStrays)
	for name, c := range map[string]struct{ output, want, strays string }{
		"messages":             {call + "\n" + reply + "\r\n" + failed + "\n", call + "\n" + reply + "\r\n" + failed + "\n", ""},
		"words":                {"Starting\n\n" + reply + "\n", reply + "\n", "Starting"},
		"JSON of another kind": {"{\"level\":1}\n[1]\n7\n" + reply + "\n", reply + "\n", "{\"level\":1}|[1]|7"},
		"NaN":                  {`{"id":5,"result":NaN}` + "\n", "", `{"id":5,"result":NaN}`},
		"two in a line":        {call + reply + "\n", "", call + reply},
		"no end":               {reply + "\nlast words", reply + "\n", "last words"},
		"an id as text":        {`{"id":"5","result":1}` + "\n", `{"id":5,"result":1}` + "\n", ""},
		"an id that is a text": {`{"id":"05","result":1}` + "\n", `{"id":"05","result":1}` + "\n", ""},
		"a request's own id":   {`{"id":"5","method":"ping"}` + "\n", `{"id":"5","method":"ping"}` + "\n", ""},
		"a long line":          {long + "\n" + reply + "\n", reply + "\n", long[:maxStrays]},
	} {
		t.Run(name, func(t *testing.T) {
			for size, output := range map[string]io.Reader{"whole": strings.NewReader(c.output), "bytes": iotest.OneByteReader(strings.NewReader(c.output))} {
				var logged []string
				s := &strays{output: output, log: func(line string) { logged = append(logged, line) }}
				got, err := io.ReadAll(s)
				want := strings.FieldsFunc(c.strays, func(r rune) bool { return r == '|' })
				if err != nil || string(got) != c.want || !slices.Equal(logged, want) {
					t.Errorf("%s: got %q and %q, %v", size, got, logged, err)
				}
				if count, end := s.since(0); count != len(want) || len(end) > maxStrays {
					t.Errorf("%s: kept %d lines and %d bytes", size, count, len(end))
				}
			}
		})
	}
}
