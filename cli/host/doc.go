// Package host is where runs are carried out: on this machine, or by the workers of
// --on. Commands get a [Host] and do not ask which one it is.
//
// It imports cli/app, cli/lines, cli/screen and agent/remote. Start at [Of]; local.go
// and remote.go are the two hosts.
package host
