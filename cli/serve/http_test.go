package serve_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"replan/cli/serve"
)

const token = "a-token-of-some-length"

// post sends a message to a handler and returns the status of the answer.
func post(t *testing.T, h http.Handler, change func(*http.Request)) (status int, body string) {
	t.Helper()
	message := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:7373"+serve.Path, strings.NewReader(message))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	change(r)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	data, err := io.ReadAll(answer.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Code, string(data)
}

func TestOnlyLocalRequestsWithTokenAreAnswered(t *testing.T) {
	s := serve.New(serve.Config{Version: "1"})
	defer s.Close()
	local, remote := s.Handler(serve.Access{Token: token}), s.Handler(serve.Access{Token: token, Remote: true, Names: []string{"Builder"}})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for name, c := range map[string]struct {
		handler http.Handler
		change  func(*http.Request)
		want    int
	}{
		"right token":               {local, func(*http.Request) {}, http.StatusOK},
		"scheme in small letters":   {local, header("Authorization", "bearer "+token), http.StatusOK},
		"wrong token":               {local, header("Authorization", "Bearer wrong"), http.StatusUnauthorized},
		"beginning of token":        {local, header("Authorization", "Bearer "+token[:10]), http.StatusUnauthorized},
		"no token":                  {local, func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"other scheme":              {local, header("Authorization", "Basic "+token), http.StatusUnauthorized},
		"token in the address":      {local, func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + token }, http.StatusUnauthorized},
		"protocol before the first": {local, header("MCP-Protocol-Version", "1999-01-01"), http.StatusBadRequest},
		"page of this machine":      {local, header("Origin", "http://localhost:6274"), http.StatusOK},
		"foreign page":              {local, header("Origin", "https://evil.example"), http.StatusForbidden},
		"page without origin":       {local, header("Origin", "null"), http.StatusForbidden},
		"name like a local one":     {local, header("Origin", "http://localhost.evil.example"), http.StatusForbidden},
		"foreign host":              {local, host("evil.example:7373"), http.StatusForbidden},
		"localhost":                 {local, host("localhost:7373"), http.StatusOK},
		"IPv6":                      {local, host("[::1]:7373"), http.StatusOK},
		"address of the network":    {local, host("192.168.1.7:7373"), http.StatusForbidden},
		"no host":                   {local, host(""), http.StatusForbidden},
		"remote by address":         {remote, host("192.168.1.7:7373"), http.StatusOK},
		"remote by name":            {remote, host("builder:7373"), http.StatusOK},
		"remote by foreign name":    {remote, host("evil.example:7373"), http.StatusForbidden},
		"remote from its page":      {remote, header("Origin", "http://builder"), http.StatusOK},
		"remote without token":      {remote, func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"stream beside calls":       {local, func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		"other path":                {local, func(r *http.Request) { r.URL.Path = "/" }, http.StatusNotFound},
		"large body": {local, func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`"` + strings.Repeat("x", 5<<20) + `"`))
		}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if got, body := post(t, c.handler, c.change); got != c.want {
				t.Errorf("got %d, want %d: %s", got, c.want, body)
			}
		})
	}
}

func TestServerWithoutTokenAnswersNobody(t *testing.T) {
	s := serve.New(serve.Config{})
	defer s.Close()
	for _, given := range []string{"Bearer ", "Bearer", ""} {
		if got, _ := post(t, s.Handler(serve.Access{}), func(r *http.Request) { r.Header.Set("Authorization", given) }); got != http.StatusUnauthorized {
			t.Errorf("%q: got %d", given, got)
		}
	}
}

func TestOnlyLoopbackAddressesAreServedUnlessAllowed(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:0": "0.0.0.0 can be reached from other machines", "[::]:0": "can be reached from other machines",
		":0": "every address of this machine can be reached", "localhost": "is no address", "": "is no address", "127.0.0.1:no": "find the address",
		"127.0.0.1:0": "", "0": "",
	} {
		listener, err := serve.Listen(context.Background(), address, serve.Access{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", address, err)
		case want == "":
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
	listener, err := serve.Listen(context.Background(), "0.0.0.0:0", serve.Access{Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}
