// Package connection holds one live connection to an MCP server. It is over the standard
// streams of a process, over streamable HTTP or SSE, or within this process. It makes the
// handshakes of both eras, sends requests and calls, and reports what the server says
// unasked. It knows no other server and does not restart any.
//
// It imports planning and the packages below mcpclient that it sends with: config, child,
// box, oauth, handshake, incoming, result and pin. Start with [Dial], then [Connection].
package connection
