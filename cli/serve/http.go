package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Path is where the server answers over HTTP.
const Path = "/mcp"

// DefaultAddress is where the server listens if no address is given.
const DefaultAddress = "127.0.0.1:7373"

// Access says who may talk to a server over HTTP.
type Access struct {
	Token string // every request must bear it
	// Remote lets other machines connect. Names are then the names of this
	// machine that requests may address.
	Remote bool
	Names  []string
	// BodyWithin bounds how long the body of a request may take to come; 0 means 30 s.
	BodyWithin time.Duration
}

// Listen opens a TCP address, which is a port, or a host and a port. Without
// access for other machines the host must be a loopback address.
func Listen(ctx context.Context, address string, access Access) (net.Listener, error) {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		address = net.JoinHostPort("127.0.0.1", address)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address to serve on: give a port, or a host and a port such as %s", address, DefaultAddress)
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("find the address %q to serve on: %w", address, err)
	}
	if !access.Remote && !resolved.IP.IsLoopback() {
		if host == "" {
			host = "every address of this machine"
		}
		return nil, fmt.Errorf("%s can be reached from other machines: serve on 127.0.0.1, or add --allow-remote", host)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", resolved.String())
	if err != nil {
		return nil, fmt.Errorf("serve over HTTP; choose another port with --http ADDR: %w", err)
	}
	return listener, nil
}

// Handler answers MCP over streamable HTTP at [Path].
func (s *Server) Handler(access Access) http.Handler {
	return access.guard(watched(s.streamable()))
}

func (s *Server) streamable(options ...server.StreamableHTTPOption) *server.StreamableHTTPServer {
	const forgotten = 24 * time.Hour // a session without requests
	return server.NewStreamableHTTPServer(s.mcp, append(options, server.WithStateful(true), server.WithSessionIdleTTL(forgotten), server.WithStreamableHTTPLogger(s.cfg.Logger))...)
}

// ServeHTTP answers over HTTP until ctx ends, then stops all runs and answers their
// calls.
func (s *Server) ServeHTTP(ctx context.Context, listener net.Listener, access Access) error {
	const headers, goodbye = 10 * time.Second, 5 * time.Second
	web := &http.Server{ReadHeaderTimeout: headers}
	transport := s.streamable(server.WithStreamableHTTPServer(web))
	web.Handler = access.guard(watched(transport))
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed = web.Serve(listener)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	s.Close()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if transport.Shutdown(within) != nil {
		_ = web.Close() // clients that keep their connections lose them
	}
	<-ended
	if errors.Is(failed, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve over HTTP: %w", failed)
}

// guard lets only those requests pass that address this machine, do not come from
// a foreign web page, and bear the token.
func (a Access) guard(next http.Handler) http.Handler {
	const largest = 4 << 20 // bytes of a request
	within := cmp.Or(a.BodyWithin, 30*time.Second)
	want := sha256.Sum256([]byte(a.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		_ = connection.SetReadDeadline(time.Now().Add(within)) // also for the body of a request that is refused
		// A web page can have its own name resolve to this machine, but cannot
		// change the headers Host and Origin.
		if !a.addresses(r.Host) {
			http.Error(w, "the header Host does not name this machine", http.StatusForbidden)
			return
		}
		if !a.trusts(r.Header) {
			http.Error(w, "requests from web pages of other machines are refused", http.StatusForbidden)
			return
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !strings.EqualFold(scheme, "Bearer") || a.Token == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="replan"`)
			http.Error(w, "send the token that replan serve printed as the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		// mcp-go leaves the header of initialize alone, which negotiates newer versions.
		oldest := slices.Min(mcp.ValidProtocolVersions)
		if version := r.Header.Get(mcp.HeaderProtocolVersion); version != "" && version < oldest {
			http.Error(w, fmt.Sprintf("the header %s names %q; the oldest protocol version served is %s", mcp.HeaderProtocolVersion, version, oldest), http.StatusBadRequest)
			return
		}
		if r.URL.Path != Path {
			http.Error(w, "MCP is at "+Path, http.StatusNotFound)
			return
		}
		if r.Method == http.MethodGet {
			// Without a stream of its own for what the server says unasked, which is
			// nothing, progress goes to the stream of its call, in order.
			w.Header().Set("Allow", "POST, DELETE")
			http.Error(w, "this server has no stream beside those of calls", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, "a request may have at most 4 MB", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the request did not come in time, or could not be read", http.StatusBadRequest)
			return
		}
		_ = connection.SetReadDeadline(time.Time{}) // a call may take long
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// trusts reports whether a request comes from no web page, or from one of this
// machine.
func (a Access) trusts(header http.Header) bool {
	for _, text := range header.Values("Origin") {
		origin, err := url.Parse(text)
		if err != nil || origin.Host == "" || !a.addresses(origin.Host) {
			return false
		}
	}
	return true
}

// addresses reports whether a host, with or without a port, is this machine. An IP
// address cannot be a foreign name that resolves to this machine.
func (a Access) addresses(hostport string) bool {
	host := hostport
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return a.Remote || ip.IsLoopback()
	}
	return host == "localhost" || a.Remote && slices.ContainsFunc(a.Names, func(name string) bool { return strings.EqualFold(name, host) })
}
