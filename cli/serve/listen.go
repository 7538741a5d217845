package serve

import (
	"context"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// An answer to subscriptions/listen begins with its acknowledgement. mcp-go hands that to
// another goroutine and does not wait for it. Where nothing can be subscribed to, the result
// often overtakes it, and then it is dropped. So the result waits for the first write.

// begun is a response that tells when its first bytes are written.
type begun struct {
	http.ResponseWriter
	once  sync.Once
	wrote chan struct{}
}

// begunKey is the key of a response in the context of its request.
type begunKey struct{}

// watched passes the response of each request on in its context.
func watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &begun{ResponseWriter: w, wrote: make(chan struct{})}
		next.ServeHTTP(b, r.WithContext(context.WithValue(r.Context(), begunKey{}, b)))
	})
}

// Write writes bytes of the response.
func (b *begun) Write(p []byte) (int, error) {
	defer b.once.Do(func() { close(b.wrote) })
	return b.ResponseWriter.Write(p)
}

// Flush sends what is written.
func (b *begun) Flush() { _ = http.NewResponseController(b.ResponseWriter).Flush() }

// Unwrap returns the response for [http.ResponseController].
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// acknowledged returns the hooks that hold a result of subscriptions/listen back until its
// acknowledgement is written. Over stdio both go through one queue.
func acknowledged() *server.Hooks {
	hooks := &server.Hooks{}
	hooks.AddAfterSubscriptionsListen(func(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
		if b, ok := ctx.Value(begunKey{}).(*begun); ok {
			select {
			case <-b.wrote:
			case <-ctx.Done():
			}
		}
	})
	return hooks
}
