package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"replan/cli/serve"
)

func TestBodyThatDoesNotComeEndsItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"with token":    {token, http.StatusBadRequest},
		"without token": {"wrong", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve.New(serve.Config{Version: "1"})
			access := serve.Access{Token: token, BodyWithin: time.Millisecond}
			listener, err := serve.Listen(t.Context(), "127.0.0.1:0", access)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.ServeHTTP(ctx, listener, access) }()
			defer func() {
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}()
			connection, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = connection.Close() }()
			request := "POST " + serve.Path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + c.token + "\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
			if _, err := io.WriteString(connection, request); err != nil {
				t.Fatal(err)
			}
			answers := bufio.NewReader(connection)
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if _, err := io.Copy(io.Discard, answers); answer.StatusCode != c.want || err != nil {
				t.Errorf("got %d, want %d; the connection ended with %v", answer.StatusCode, c.want, err)
			}
		})
	}
}
