// Package testgarbage lets test programs collect garbage less often, which takes an
// eighth of their time. It imports no other package of replan. Start reading at
// [CollectLess].
package testgarbage
