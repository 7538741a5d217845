package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// callback receives the answer of an authorization server, which sends the user's
// browser to a local address. It takes one answer, which has the state of the login.
type callback struct {
	address string // for the browser
	state   string
	answers chan callbackAnswer
	closed  chan struct{}
	server  *http.Server
	served  sync.WaitGroup
}

// callbackAnswer is an answer. said takes the outcome, for the page.
type callbackAnswer struct {
	query url.Values
	said  chan<- error
}

const (
	callbackPath  = "/callback"
	callbackLimit = 10 * time.Second // for a browser to send its request and read the page
)

// listen waits for an answer with this state at a port, or any free one if port is 0.
func listen(port int, state string) (*callback, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && port > 0 {
		return nil, fmt.Errorf(`the login needs port %d, the "callbackPort" of the server's configuration: %w`, port, err)
	}
	if err != nil {
		return nil, fmt.Errorf("waiting for the answer of the login: %w", err)
	}
	c := &callback{
		address: "http://" + l.Addr().String() + callbackPath, state: state,
		answers: make(chan callbackAnswer), closed: make(chan struct{}),
	}
	c.server = &http.Server{Handler: c.handler(), ReadHeaderTimeout: callbackLimit, WriteTimeout: callbackLimit}
	c.served.Go(func() { _ = c.server.Serve(l) }) // it returns when it is closed
	return c, nil
}

// redirect returns the address to which the browser brings the answer.
func (c *callback) redirect() string { return c.address }

// answered returns the channel of the one answer.
func (c *callback) answered() <-chan callbackAnswer { return c.answers }

// close ends the server after the page was sent.
func (c *callback) close() {
	close(c.closed)
	ctx, cancel := context.WithTimeout(context.Background(), callbackLimit)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	c.served.Wait()
}

func (c *callback) handler() http.Handler {
	var one sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != callbackPath || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		err := errOtherLogin
		if ofLogin(r.URL.Query(), c.state) { // anybody may send others, which must not end the login
			err = errors.New("this login has been answered already")
			one.Do(func() {
				result := make(chan error, 1)
				select {
				case c.answers <- callbackAnswer{r.URL.Query(), result}:
					err = <-result
				case <-c.closed:
				}
			})
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Connection", "close")
		title, text := "Go back to replan", "It has the answer. You can close this page."
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			title, text = "Not logged in", "Go back to replan, which says why."
		}
		if errors.Is(err, errOtherLogin) {
			text = "This answer belongs to another login. Open the address that replan shows."
		}
		_, _ = io.WriteString(w, page(title, text)) // the browser may be gone
	})
}

// errOtherLogin reports an answer that is none to the login.
var errOtherLogin = errors.New("the answer belongs to another login (its state differs); log in again")

// ofLogin reports whether an answer has the state of a login.
func ofLogin(answer url.Values, state string) bool {
	return subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(state)) == 1
}

func page(title, text string) string {
	return `<!doctype html><html lang="en"><meta charset="utf-8"><title>` + title + ` · replan</title>` +
		`<body style="font: 1.1em/1.5 system-ui, sans-serif; max-width: 30em; margin: 4em auto; padding: 0 1em"><h1>` + title + `</h1><p>` + text + `</p></body></html>` + "\n"
}
