package ollama_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
)

// A server may say in one of two fields that a reply is done, or end its stream as HTTP ends
// one. Nothing else ends a reply.
func TestReplyEndsAtDoneAtItsReasonOrAtTheCleanEndOfItsStream(t *testing.T) {
	const text = `{"message":{"role":"assistant","content":"one two"}}` + "\n"
	for name, c := range map[string]struct {
		lines       string
		closed      bool // the stream has no end but that of its connection
		cutOff      bool
		note, wants string
	}{
		"done":                       {lines: text + `{"message":{},"done":true,"done_reason":"stop"}` + "\n"},
		"done alone":                 {lines: text + `{"message":{},"done":true}` + "\n"},
		"its reason alone":           {lines: text + `{"message":{},"done_reason":"stop"}` + "\n"},
		"its bound":                  {lines: text + `{"message":{},"done_reason":"length"}` + "\n", cutOff: true},
		"no line feed at the end":    {lines: text + `{"message":{},"done_reason":"stop"}`},
		"a clean end":                {lines: text, note: "without saying that it is whole"},
		"its reason, connection cut": {lines: text + `{"message":{},"done_reason":"stop"}` + "\n", closed: true},
		"a cut connection":           {lines: text, closed: true, wants: "ended the stream"},
		"half a line":                {lines: text + `{"message":{"cont`, wants: "in the middle of a line"},
		"an error":                   {lines: text + `{"error":"out of memory"}` + "\n", wants: "out of memory"},
		"no words":                   {lines: `{"message":{"role":"assistant","content":""}}` + "\n", wants: "ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			inner := serve(t, ollamatest.Script{Model: "m"})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/chat" {
					http.Redirect(w, r, inner.URL()+r.URL.Path, http.StatusTemporaryRedirect)
					return
				}
				if c.closed {
					w.Header().Set("Transfer-Encoding", "identity")
				}
				_, _ = fmt.Fprint(w, c.lines)
				w.(http.Flusher).Flush()
			}))
			defer server.Close()
			reply, err := connect(t, ollama.Config{Host: server.URL}).Ask(testContext(t), ask("go"), nil)
			if c.wants != "" {
				var cut *ollama.CutStreamError
				if !errors.As(err, &cut) || !strings.Contains(err.Error(), c.wants) {
					t.Errorf("got %+v, %v, want %q", reply, err, c.wants)
				}
				return
			}
			if err != nil || reply.Text != "one two" || reply.CutOff != c.cutOff || !strings.Contains(reply.Note, c.note) || (c.note == "") != (reply.Note == "") {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
}
