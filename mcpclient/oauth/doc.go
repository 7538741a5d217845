// Package oauth logs in to HTTP servers that want it, and authorizes requests to them. It
// uses the tokens of a login, or the headers that a program prints. It follows the
// authorization chapter of the Model Context Protocol (2025-11-25 and 2026-07-28).
//
// Of mcp-go it uses types and random values. The rest of mcp-go's client takes no
// client id metadata document, checks no iss parameter, and asks for no further
// scopes. It knows no revocation. It takes a failed connection during a refresh for
// a login that has ended.
//
// It imports mcpclient/config, mcpclient/child, and of the internal packages untrusted
// and wholefile. Start with [Login] and [Transport].
package oauth
