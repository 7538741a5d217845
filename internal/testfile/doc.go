// Package testfile knows the names of test files in several languages. It imports
// no other package of replan. Start reading at [Tested].
package testfile
