// Package trust keeps what the user trusts of MCP servers. [Consent] and [Programs]
// hold which of a project's servers and local programs may start. [Pins] holds what
// servers said of their tools when the user accepted them. What a server says now is
// [Description].
//
// It imports planning, mcpclient/config and mcpclient/pin. Start with [Consent], then
// [Pins.Compare].
package trust
