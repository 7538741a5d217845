// Package pace learns how fast a model reads and writes on a machine, and foresees
// how long requests take. It is pure.
//
// Among the packages of this program it imports planning/reply. Start with
// [Speed.Learn] and [Forecast].
package pace
