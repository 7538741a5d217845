package ollama_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
	"replan/planning/reply"
)

// wholeReply is a reply with everything that a stream can hold.
var wholeReply = ollamatest.Reply{
	Thinking: "é", Text: `"yes" ü`,
	Calls: []ollamatest.Call{{ID: "c", Name: "search", Args: map[string]any{"q": "{}\n", "n": 12}}},
}

// The stream ends after each byte of the body, and the connection breaks after
// every fourth, until the body arrives whole.
func TestReplyBrokenAtAnyByteReturnsError(t *testing.T) {
	const longest = 2000 // bytes; the body is shorter
	for _, tc := range []struct {
		name  string
		step  int // bytes between two breaks
		after func(*ollamatest.Reply, int)
		end   func(*ollamatest.Reply)
	}{
		{"connection breaks", 4, func(r *ollamatest.Reply, n int) { r.BreakAfter = n }, nil},
		{"stream ends", 1, func(r *ollamatest.Reply, n int) { r.StopAfter = n }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var script []ollamatest.Reply
			step := tc.step
			if testing.Short() {
				step = 9
			}
			for n := 0; n < longest; n += step {
				reply := wholeReply
				tc.after(&reply, n)
				if n == 0 {
					tc.after(&reply, -1)
				}
				script = append(script, reply)
			}
			server := serve(t, ollamatest.Script{Model: "m", Capabilities: thinker, Replies: script})
			client := connect(t, ollama.Config{Host: server.URL()})
			broken := 0
			// The lengths of bodies differ by some bytes because of the times in
			// them; the first whole ones lack the line feed at the end.
			for whole := 0; whole < 10; {
				var got pieces
				req := offering("go", search)
				req.Think = true
				reply, err := client.Ask(testContext(t), req, got.delta)
				if wrong := judge(reply, err, got); wrong != "" {
					t.Fatalf("after %d breaks: %s: %+v, error %v", broken, wrong, reply, err)
				}
				if err == nil && reply.Note == "" {
					whole++
				} else {
					broken++
				}
			}
			if broken < 600/step {
				t.Errorf("%d breaks, want one after every %d bytes of five lines", broken, step)
			}
		})
	}
}

// judge returns what is wrong with a reply and its error, or "".
func judge(reply reply.Reply, err error, got pieces) string {
	text, thinking := got.joined()
	if err == nil {
		switch {
		case reply.Note != "": // the body ended between two lines, and the reply says so
			if !strings.HasPrefix(wholeReply.Text, reply.Text) || text != reply.Text {
				return "a short reply has other text"
			}
			return ""
		case reply.Text != wholeReply.Text, reply.Thinking != wholeReply.Thinking, len(reply.Calls) != 1, text != reply.Text, thinking != reply.Thinking:
			return "a short reply counts as whole"
		case plan.CanonicalJSON(reply.Calls[0].Args) != `{"n":12,"q":"{}\n"}`:
			return "the arguments of the call changed"
		}
		return ""
	}
	var cut *ollama.CutStreamError
	switch {
	case !errors.As(err, &cut):
		return "the error is not a CutStreamError"
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("the error wraps %v", cut.Err)
	case cut.Bytes != len(text):
		return "the error has another number of bytes"
	case reply.Text != text || reply.Thinking != thinking:
		return "the reply lacks the text before the error"
	case reply.Calls != nil:
		return "the reply has calls beside the error"
	}
	return ""
}
