package ollama

import (
	"context"
	"net"
)

// Parameters converts an input schema to the form that is sent to the server.
var Parameters = parameters

// DialWith makes a client connect with dial instead of the network.
func (c *Client) DialWith(dial func(context.Context) (net.Conn, error)) {
	c.http.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
}
