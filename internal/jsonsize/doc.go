// Package jsonsize bounds how many values a JSON text may have, before it is decoded. A
// value of two bytes takes 40 to 400 once it is decoded. It imports no other package of
// replan. Start with [Check].
package jsonsize
