// Package partstest tests that parts own their data. A type's fields are private to the few
// files of its part, and whoever needs more asks a method. The tests of both modules call
// [Faults].
//
// It imports no package of this module.
package partstest
