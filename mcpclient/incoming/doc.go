// Package incoming handles what a server sends unasked. These are questions to the user in
// the middle of a call, requests for the workspace's folder, and log messages.
//
// It imports planning and the packages of internal that it needs. Start with [Handler].
package incoming
