package ollama

import (
	"context"
	"net"
)

// Parameters is what of an input schema goes to the server.
var Parameters = parameters

// DialWith has a client connect by other means than the network.
func (c *Client) DialWith(dial func(context.Context) (net.Conn, error)) {
	c.http.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
}
