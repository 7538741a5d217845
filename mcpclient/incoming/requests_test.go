package incoming_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"

	"replan/mcpclient/incoming"
)

// streaming answers each request with a stream.
type streaming string

func (s streaming) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

func TestStreamsKeepAnswersAndGiveRequestsAway(t *testing.T) {
	for name, c := range map[string]struct{ stream, want, taken string }{
		"an answer":            {"event: message\ndata: {\"id\":5,\"result\":1}\n\n", "event: message\ndata: {\"id\":5,\"result\":1}\n\n", ""},
		"its number as text":   {"data: {\"id\":\"5\",\"result\":1}\n\n", "data:{\"id\":5,\"result\":1}\n\n", ""},
		"a text as id":         {"data: {\"id\":\"a5\",\"result\":1}\n\n", "data: {\"id\":\"a5\",\"result\":1}\n\n", ""},
		"a request, as text":   {"data: {\"id\":\"5\",\"method\":\"ping\"}\n\n", "\n", "ping"},
		"words":                {"data: hello\n\n", "data: hello\n\n", ""},
		"a notice without ids": {"data: {\"method\":\"x\"}\n\n", "data: {\"method\":\"x\"}\n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			taken := ""
			s := incoming.StreamRequests{RoundTripper: streaming(c.stream), Take: func(r transport.JSONRPCRequest) { taken += r.Method }}
			response, err := s.RoundTrip(nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || string(got) != c.want || taken != c.taken {
				t.Errorf("got %q and took %q, %v", got, taken, err)
			}
		})
	}
}
