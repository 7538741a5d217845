// Package conformance plays the same random plans on every host of the core. These are a
// session with its journals in files, and the workers of the module distributed. The
// events must be the same, up to times.
//
// It is for tests alone. It imports agent/runner and what that imports. Start with
// [Cases] in cases.go, then world.go.
package conformance
